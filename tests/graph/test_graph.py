"""The operator S, its facts, and its file."""

import numpy as np
import pytest

from softspread import Graph, StoreError, affinity_graph, epsilon_graph, knn_graph
from softspread._common.archive import read_archive, write_archive
from softspread.graph.graph import FORMAT_VERSION


def test_path_of_5_by_hand(path_of_5):
    """Degrees 1 2 2 2 1 and weights 1 / sqrt(d_i d_j)."""
    assert path_of_5.degrees.tolist() == [1, 2, 2, 2, 1]
    S = path_of_5.S.toarray()
    assert S[0, 1] == pytest.approx(1 / np.sqrt(2))
    assert S[1, 2] == pytest.approx(0.5)
    assert np.count_nonzero(S) == path_of_5.n_edges == 8
    assert (path_of_5.n_items, path_of_5.n_components, path_of_5.n_isolated) == (5, 1, 0)


def test_two_cliques_and_a_loner_by_hand(two_cliques_and_a_loner):
    """Inside a clique of m items every weight is 1 / (m - 1); the loner's row is empty."""
    graph = two_cliques_and_a_loner
    S = graph.S.toarray()
    assert graph.n_components == 3
    assert graph.isolated.tolist() == [False] * 7 + [True]
    np.testing.assert_allclose(S[:3, :3], (np.ones((3, 3)) - np.eye(3)) / 2)
    np.testing.assert_allclose(S[3:7, 3:7], (np.ones((4, 4)) - np.eye(4)) / 3)
    assert S[7].sum() == S[:, 7].sum() == S[:3, 3:].sum() == 0


@pytest.fixture(params=["symmetric", "random_walk"])
def graph(request, rng):
    """A graph of two clouds that do not touch."""
    X = np.concatenate([rng.normal(size=(25, 2)), rng.normal(size=(15, 2)) + 1000])
    return knn_graph(X, 4, normalization=request.param)


def test_eigenvalues_lie_between_minus_1_and_1(graph):
    """S never makes anything larger; 1 appears once per component."""
    eigenvalues = np.linalg.eigvals(graph.S.toarray()).real
    assert np.abs(eigenvalues).max() <= 1 + 1e-12
    assert np.count_nonzero(eigenvalues > 1 - 1e-9) == graph.n_components


def test_both_forms_are_similar_matrices(rng):
    """D^-1 A = D^-1/2 (D^-1/2 A D^-1/2) D^1/2."""
    X = rng.normal(size=(25, 2))
    symmetric, walk = knn_graph(X, 4), knn_graph(X, 4, normalization="random_walk")
    root = np.sqrt(symmetric.degrees)
    np.testing.assert_allclose(walk.S.toarray(), symmetric.S.toarray() * root / root[:, None], rtol=1e-12)
    np.testing.assert_allclose(symmetric.S.toarray(), symmetric.S.toarray().T, rtol=1e-15)
    np.testing.assert_allclose(walk.S.sum(axis=1), 1.0, rtol=1e-12)


def test_order_and_rank_are_inverse(graph, rng):
    """Inner and user numbering translate into each other."""
    n = graph.n_items
    np.testing.assert_array_equal(graph.order[graph.rank], np.arange(n))
    np.testing.assert_array_equal(graph.rank[graph.order], np.arange(n))
    values = rng.normal(size=(n, 2))
    np.testing.assert_array_equal(graph.to_user_order(values[graph.order]), values)


def test_looking_at_s_changes_nothing(graph):
    """What S hands out is a copy."""
    before = graph.S.toarray()
    graph.S.data[:] = 0
    graph.affinity.data[:] = 0
    np.testing.assert_array_equal(graph.S.toarray(), before)


def test_printing_a_graph_is_short(graph):
    """The facts show, the arrays do not."""
    assert len(repr(graph)) < 500
    assert "2 components" in repr(graph)


@pytest.mark.parametrize("kind", ["knn", "epsilon", "affinity", "faiss"])
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_a_graph_survives_a_file(tmp_path, rng, kind, normalization):
    """Every array and every fact comes back, with its type."""
    X = rng.normal(size=(30, 2)).astype(np.float32)
    graph = {
        "knn": lambda: knn_graph(X, 3, normalization=normalization),
        "faiss": lambda: knn_graph(X, 3, index="faiss", normalization=normalization),
        "epsilon": lambda: epsilon_graph(X, 2.5, normalization=normalization),
        "affinity": lambda: affinity_graph(np.ones((6, 6)), normalization=normalization),
    }[kind]()
    graph.save(tmp_path / "graph.softspread")
    again = Graph.load(tmp_path / "graph.softspread")
    assert again.facts() == graph.facts()
    assert again.arrays().keys() == graph.arrays().keys()
    for name, array in graph.arrays().items():
        np.testing.assert_array_equal(again.arrays()[name], array)
        assert again.arrays()[name].dtype == array.dtype
    np.testing.assert_array_equal(again.S.toarray(), graph.S.toarray())
    assert [entry.name for entry in tmp_path.iterdir()] == ["graph.softspread"]


def test_damaged_and_later_graph_files_are_refused(tmp_path, path_of_5):
    """Cut files, files with a part missing and files of a later version are errors that say so."""
    path = tmp_path / "graph"
    path_of_5.save(str(path))
    content = path.read_bytes()
    for size in range(0, len(content), 61):
        path.write_bytes(content[:size])
        with pytest.raises(StoreError, match=r"damaged or cut short|was not written by softspread"):
            Graph.load(path)
    path.write_bytes(content)
    header, arrays = read_archive(path, "graph", FORMAT_VERSION)
    for name in ("indptr", "indices", "weights", "inner_degrees", "order"):
        rest = {key: value for key, value in arrays.items() if key != name}
        write_archive(path, "graph", FORMAT_VERSION, {"facts": header["facts"]}, rest)
        with pytest.raises(StoreError, match="lacks a part of a saved graph"):
            Graph.load(path)
    write_archive(path, "graph", FORMAT_VERSION, {}, arrays)
    with pytest.raises(StoreError, match="lacks a part of a saved graph"):
        Graph.load(path)
    write_archive(path, "graph", FORMAT_VERSION + 1, {"facts": header["facts"]}, arrays)
    with pytest.raises(StoreError, match="upgrade softspread"):
        Graph.load(path)
