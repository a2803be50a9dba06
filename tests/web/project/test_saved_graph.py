"""The graph, saved once it is built."""

import numpy as np

from softspread._common.digests import digest_array
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.web.project.saved_graph import load_or_build
from web.conftest import N_ITEMS, three_clusters


def test_a_saved_graph_is_read_and_another_sets_is_not(tmp_path):
    """Other items, other neighbours or a damaged file build it again; the features are always those given."""
    X, path = three_clusters()[0], tmp_path / "graph.npz"
    mark = digest_array(X).hex()
    first = load_or_build(path, X, mark, 5, 0)
    again = load_or_build(path, X, mark, 5, 0)
    assert Graph.load(path).features is None
    np.testing.assert_array_equal(again.features, first.features)
    np.testing.assert_array_equal(again.weights, first.weights)
    assert load_or_build(path, X, mark, 4, 0).n_neighbors == 4
    assert load_or_build(path, X[:9], digest_array(X[:9]).hex(), 4, 0).n_items == 9
    path.write_bytes(b"PK nonsense")
    assert load_or_build(path, X, mark, 5, 0).n_items == N_ITEMS


def test_the_neighbour_search_has_the_seed_that_the_page_was_started_with(tmp_path, monkeypatch):
    """Large sets are searched approximately: only with one seed do page and `softspread spread` agree."""
    X, path = three_clusters()[0], tmp_path / "graph.npz"
    mark, seeds = digest_array(X).hex(), []

    def searched(X, n_neighbors, *, random_state):
        seeds.append(random_state)
        return knn_graph(X, n_neighbors, random_state=random_state)

    monkeypatch.setattr("softspread.web.project.saved_graph.knn_graph", searched)
    for seed in (7, 7, 8):
        load_or_build(path, X, mark, 5, seed)
    assert seeds == [7, 8]


def test_a_fingerprint_sees_every_number(rng):
    """One changed entry, another shape or another precision is another set."""
    X = rng.normal(size=(50, 3))
    other = X.copy()
    other[49, 2] += 1e-9
    marks = {digest_array(part).hex() for part in (X, other, X[:49], X.reshape(25, 6), X.astype(np.float32))}
    assert len(marks) == 5
    assert digest_array(X.copy()).hex() in marks
