"""Three ways to a graph, against the formulas in plain loops."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import reference
from softspread import InputError, SoftspreadWarning, affinity_graph, epsilon_graph, knn_graph
from softspread._common.threads import Workers
from softspread._common.types import Neighbors
from softspread.graph import builders
from softspread.graph.builders import gaussian_weights, symmetric_affinity

NORMALIZATIONS = ["symmetric", "random_walk"]


def assert_is_graph_of(graph, A, normalization="symmetric"):
    """Affinity, degrees, S and the facts agree with a dense affinity."""
    np.testing.assert_allclose(graph.affinity.toarray(), A, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(graph.degrees, A.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        graph.S.toarray(), reference.operator(A, normalization), rtol=1e-10, atol=1e-300
    )
    assert np.isfinite(graph.S.data).all()
    assert (graph.S.diagonal() == 0).all()
    assert graph.n_isolated == int((A.sum(axis=1) == 0).sum())
    assert graph.n_components == count_components(A)
    np.testing.assert_array_equal(graph.isolated, A.sum(axis=1) == 0)


def count_components(A):
    """Components by walking from item to item."""
    left, count = set(range(len(A))), 0
    while left:
        count += 1
        waiting = [left.pop()]
        while waiting:
            tied = {j for j in left if A[waiting[-1], j] > 0}
            waiting.pop()
            left -= tied
            waiting.extend(tied)
    return count


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("bandwidth", ["kth", "mean", 0.3, 7])
@pytest.mark.parametrize("index", ["tree", "brute"])
def test_a_neighbour_graph_follows_the_formulas(rng, index, bandwidth, normalization):
    """Weights, bandwidth, symmetrisation and normalisation equal the dense loops."""
    X = rng.normal(size=(30, 3))
    graph = knn_graph(X, 4, bandwidth, index, normalization=normalization)
    A, sigma2 = reference.knn_affinity(X, 4, bandwidth)
    assert graph.sigma2 == pytest.approx(sigma2, rel=1e-12)
    assert_is_graph_of(graph, A, normalization)
    assert (graph.kind, graph.n_neighbors, graph.index, graph.recall_) == ("knn", 4, index, 1.0)


def test_single_precision_features_give_the_same_graph(rng):
    """Features in single precision are measured in double."""
    X = rng.normal(size=(30, 3)).astype(np.float32)
    np.testing.assert_array_equal(knn_graph(X, 4).S.toarray(), knn_graph(X.astype(np.float64), 4).S.toarray())


def test_an_approximate_graph_is_nearly_the_exact_one(rng):
    """With full recall the graph is the same; the report is on the graph."""
    X = rng.normal(size=(600, 3))
    exact, found = knn_graph(X, 5), knn_graph(X, 5, index="faiss", random_state=0)
    assert found.index == "faiss"
    assert found.recall_ > 0.99
    assert found.details["probes"] >= 1
    share = (abs(exact.S - found.S) > 1e-3).sum() / exact.S.nnz
    assert share < 0.02 + 4 * (1 - found.recall_)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_tiny_sets_use_all_others_and_warn(rng, n, normalization):
    """n items have n - 1 neighbours each; one item alone is isolated."""
    X = rng.normal(size=(n, 2))
    with pytest.warns(SoftspreadWarning, match=f"n_neighbors=20 but there are only {n} items; using {n - 1}"):
        graph = knn_graph(X, normalization=normalization)
    assert graph.n_neighbors == n - 1
    A = reference.knn_affinity(X, n - 1)[0] if n > 1 else np.zeros((1, 1))
    assert_is_graph_of(graph, A, normalization)


@pytest.mark.parametrize("bandwidth", ["kth", "mean"])
@pytest.mark.parametrize("index", ["tree", "brute", "faiss"])
def test_coinciding_points_have_weight_1(index, bandwidth):
    """sigma = 0: every neighbour counts the same and nothing is NaN."""
    graph = knn_graph(np.ones((60, 2)), 3, bandwidth, index)
    assert graph.sigma2 == 0
    assert set(graph.affinity.data.round(12)) <= {0.5, 1.0}
    assert np.isfinite(graph.S.data).all()
    assert graph.n_isolated == 0


def test_triplicated_points_have_no_ties_to_themselves(rng):
    """Each copy is tied to the other two copies with full weight, never to itself."""
    X = np.repeat(rng.normal(size=(20, 2)), 3, axis=0)
    graph = knn_graph(X, 2, bandwidth=1.0)
    assert (graph.S.diagonal() == 0).all()
    assert graph.n_components == 20
    np.testing.assert_allclose(graph.degrees, 2.0)


def test_an_outlier_whose_weights_underflow_is_isolated(rng):
    """A far item keeps an empty row, poisons nobody, and the user is told."""
    X = np.concatenate([rng.normal(size=(20, 2)), [[1e6, 1e6]]])
    with pytest.warns(
        SoftspreadWarning, match="1 of 21 items have no neighbour and learn only from votes of their own"
    ):
        graph = knn_graph(X, 3, bandwidth=1.0)
    assert graph.n_isolated == 1
    assert graph.isolated[20]
    assert graph.S[[20]].nnz == graph.S[:, [20]].nnz == 0
    np.testing.assert_allclose(
        graph.S.toarray()[:20, :20], knn_graph(X[:20], 3, bandwidth=1.0).S.toarray(), rtol=1e-10
    )


@pytest.mark.parametrize("distance", [35.0, 37.0, 37.6])
@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_weights_just_above_underflow_are_kept(distance, normalization):
    """A tie of 1e-300 is a tie: rows of the random walk sum to 1, S stays symmetric and below 1."""
    X = np.array([[0.0], [0.1], [0.2], [distance], [distance + 0.1 + distance]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)  # the last item may be isolated
        graph = knn_graph(X, 2, bandwidth=1.0, normalization=normalization)
    S = graph.S.toarray()
    assert np.isfinite(S).all()
    assert not graph.isolated[3]
    if normalization == "random_walk":
        np.testing.assert_allclose(S.sum(axis=1)[~graph.isolated], 1.0, rtol=1e-9)
    else:
        np.testing.assert_allclose(S, S.T, rtol=1e-12)
        assert np.abs(np.linalg.eigvalsh(S)).max() <= 1 + 1e-9


def test_components_and_isolated_items_are_counted():
    """Two pairs and a loner are three components, one of them isolated."""
    with pytest.warns(SoftspreadWarning, match="1 of 5 items"):
        graph = epsilon_graph([[0.0], [1.0], [10.0], [11.0], [50.0]], radius=1.5)
    assert (graph.n_items, graph.n_components, graph.n_isolated, graph.n_edges) == (5, 3, 1, 4)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("radius", [0.3, 1.0, 3.0])
@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
def test_a_radius_graph_ties_all_pairs_within(rng, radius, normalization):
    """Unit weights for pairs up to the radius, the same as the loop."""
    X = rng.normal(size=(30, 2))
    graph = epsilon_graph(X, radius, normalization=normalization)
    assert_is_graph_of(graph, reference.epsilon_affinity(X, radius), normalization)
    assert graph.details["radius"] == radius


def test_a_radius_includes_its_end_and_copies():
    """A distance equal to the radius is within it, and so is 0."""
    graph = epsilon_graph([[0.0], [1.0], [1.0], [3.0], [4.0]], radius=1.0)
    np.testing.assert_array_equal(graph.affinity.toarray()[0], [0, 1, 1, 0, 0])
    np.testing.assert_array_equal(graph.degrees, [2, 2, 2, 1, 1])


def test_a_radius_that_ties_too_many_pairs_is_refused(rng):
    """Before memory runs out, the message says how many pairs there would be."""
    with pytest.raises(InputError, match=r"ties 1,023,968,000 pairs, more than .*; take a smaller radius"):
        epsilon_graph(rng.normal(size=(32_000, 2)), 100.0)


FORMATS = {
    "list": lambda A: A.tolist(),
    "dense": lambda A: A,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "lil": sparse.lil_matrix,
}


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("form", FORMATS)
def test_an_affinity_is_used_as_it_is(rng, form, normalization):
    """Dense or sparse of any format, with or without a diagonal; no warning, and the input is not changed."""
    A = rng.uniform(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.4)
    A = A + A.T + np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1)  # nobody is isolated
    given = FORMATS[form](A.copy())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = affinity_graph(given, normalization=normalization)
    expected = A - np.diag(np.diag(A))
    assert_is_graph_of(graph, expected, normalization)
    after = given.toarray() if sparse.issparse(given) else np.asarray(given)
    np.testing.assert_array_equal(after, A)
    assert graph.features is None
    assert graph.sigma2 is None


def test_duplicate_entries_of_a_sparse_affinity_add_up():
    """A coordinate list may name a pair twice."""
    A = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_allclose(affinity_graph(A).affinity.toarray(), [[0, 3], [3, 0]], rtol=1e-14)


def test_whole_and_true_false_affinities_are_taken():
    """An adjacency matrix needs no conversion."""
    adjacency = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    for given in (adjacency, adjacency.astype(bool), sparse.csr_array(adjacency.astype(bool))):
        np.testing.assert_allclose(affinity_graph(given).affinity.toarray(), adjacency, rtol=1e-14)


def test_rounding_of_an_affinity_is_forgiven_and_removed():
    """Asymmetry of 1e-9 is rounding; S comes out symmetric to the last digits."""
    graph = affinity_graph([[0, 1 + 1e-9, 0.5], [1, 0, 0.2], [0.5, 0.2, 0]])
    S = graph.S.toarray()
    np.testing.assert_allclose(S, S.T, rtol=1e-15)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300, 8e307])
def test_the_size_of_an_affinity_does_not_matter(size):
    """Only ratios of weights enter S, down to the smallest numbers there are."""
    graph = affinity_graph([[0, size], [size, 0]])
    np.testing.assert_allclose(graph.S.toarray(), [[0, 1], [1, 0]], rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_an_affinity_without_ties_is_n_items_alone(n):
    """All isolated: defined, counted, and told where there is more than one item."""
    if n > 1:
        with pytest.warns(SoftspreadWarning, match=f"{n} of {n} items have no neighbour"):
            graph = affinity_graph(np.zeros((n, n)))
    else:
        graph = affinity_graph(np.zeros((n, n)))
    assert_is_graph_of(graph, np.zeros((n, n)))


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_renumbering_items_is_invisible(rng, normalization):
    """Items in another order give S and degrees in that order, for all three kinds."""
    X = rng.normal(size=(40, 3))
    order = rng.permutation(40)
    A = reference.knn_affinity(X, 5)[0]
    for make, given in (
        (lambda x: knn_graph(x, 5, normalization=normalization), X),
        (lambda x: epsilon_graph(x, 2.0, normalization=normalization), X),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)
            one, other = make(given), make(given[order])
        np.testing.assert_allclose(other.S.toarray(), one.S.toarray()[np.ix_(order, order)], rtol=1e-10)
        np.testing.assert_allclose(other.degrees, one.degrees[order], rtol=1e-12)
        np.testing.assert_array_equal(other.isolated, one.isolated[order])
        assert other.n_components == one.n_components
    one, other = affinity_graph(A), affinity_graph(A[np.ix_(order, order)])
    np.testing.assert_allclose(other.S.toarray(), one.S.toarray()[np.ix_(order, order)], rtol=1e-10)


def test_moving_and_scaling_all_items_leaves_s_alone(rng):
    """With a bandwidth taken from the data only ratios of distances matter."""
    X = rng.normal(size=(40, 3))
    S = knn_graph(X, 5).S.toarray()
    np.testing.assert_allclose(knn_graph(X * 1e8, 5).S.toarray(), S, rtol=1e-10)
    np.testing.assert_allclose(knn_graph(X * 1e-8 + 1, 5).S.toarray(), S, rtol=1e-5)


def test_gaussian_weights_by_hand():
    """1 at distance 0, exp(-1/2) at one sigma, exactly 0 below the smallest normal number."""
    weights = gaussian_weights(np.array([0.0, 4.0, 1e6]), 4.0)
    np.testing.assert_allclose(weights, [1.0, np.exp(-0.5), 0.0])
    np.testing.assert_array_equal(gaussian_weights(np.array([0.0, 0.0]), 0.0), [1.0, 1.0])


def neighbor_lists(rng, case, n=60):
    """Each item's neighbours and squared distances, without regard to where items are."""
    k = 0 if case == "no neighbours" else 7
    others = np.stack([rng.permutation(np.setdiff1d(np.arange(n), [row]))[:k] for row in range(n)])
    squared = rng.random((n, k)) * 4
    if case == "one-sided":
        others = np.tile(np.arange(k), (n, 1)) + k * (np.arange(n)[:, None] < k)
    elif case == "underflow":
        squared[::3] = 1e6
    elif case in ("as far from each other", "listed twice"):
        others[:, 1] = others[:, 1 - (case == "listed twice")]
        squared = (np.arange(n)[:, None] + others) / n
    return Neighbors(others, squared, "made up", 1.0)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    "case", ["random", "as far from each other", "listed twice", "one-sided", "underflow", "no neighbours"]
)
def test_the_affinity_is_half_the_sum_of_the_weights_and_their_transpose(rng, case, threads, monkeypatch):
    """Entry by entry and bit by bit what scipy adds up, however rows are cut into pieces."""
    monkeypatch.setattr(builders, "ROWS_OF_A_PIECE", 13)
    found = neighbor_lists(rng, case)
    n, k = found.indices.shape
    halves = gaussian_weights(found.squared, 1.5).ravel() / 2
    W = sparse.csr_array((halves, found.indices.ravel(), np.arange(n + 1) * k), shape=(n, n))
    expected = sparse.csr_array(W + W.T)
    expected.sort_indices()
    with Workers(threads) as workers:
        A = symmetric_affinity(found, 1.5, workers)
    assert A.has_canonical_format
    A.eliminate_zeros()
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(A, name), getattr(expected, name))


def test_threads_and_seeds_do_not_change_an_exact_graph(rng):
    """The exact graph is one graph."""
    X = rng.normal(size=(200, 3))
    S = knn_graph(X, 5).S.toarray()
    for settings in ({"n_jobs": 1}, {"n_jobs": 2}, {"n_jobs": -1}, {"random_state": 3}):
        np.testing.assert_array_equal(knn_graph(X, 5, **settings).S.toarray(), S)


@pytest.mark.shared
def test_real_embeddings_give_a_proper_graph(shared_data):
    """Real data: symmetric S with eigenvalues in [-1, 1], row sums of the random walk 1."""
    files = sorted(shared_data.glob("cifar10h/*.npy")) + sorted(shared_data.glob("cifar10h/*.npz"))
    tables = [table for table in (_first_table(path) for path in files) if table is not None]
    if not tables:
        pytest.skip("no embedding among the shared data")
    X = tables[0][:2000]
    graph = knn_graph(X, 20, normalization="random_walk", n_jobs=1)
    np.testing.assert_allclose(np.asarray(graph.S.sum(axis=1))[~graph.isolated], 1.0, rtol=1e-9)
    largest = sparse.linalg.eigsh(graph.inner_operator(), k=1, return_eigenvectors=False)
    assert largest[0] == pytest.approx(1.0, abs=1e-8)


def _first_table(path):
    loaded = np.load(path)
    arrays = [loaded] if isinstance(loaded, np.ndarray) else [loaded[name] for name in loaded.files]
    tables = [
        a for a in arrays if a.ndim == 2 and a.shape[0] >= 2000 and a.dtype.kind == "f" and a.shape[1] > 10
    ]
    return tables[0] if tables else None
