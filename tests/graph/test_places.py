"""Cosine is Euclidean between directions, from the search to the ties of new items."""

import numpy as np
import pytest

from softspread import (
    Graph,
    InputError,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    StoreError,
    knn_graph,
    load,
    save,
)
from softspread._common.threads import Workers
from softspread.graph.extension import tie_newcomers
from softspread.graph.growing import with_items, without_items
from softspread.graph.places import place_items
from softspread.graph.registry import METRICS


def directions(X):
    """Rows of length 1."""
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture
def X(rng):  # noqa: N802 - the symbol of the formulas
    """Items at very different distances from the origin."""
    return rng.normal(size=(200, 5)) * rng.lognormal(size=(200, 1), sigma=3)


def test_squared_distances_of_places_are_those_of_the_metric(X):
    """2 (1 - cos) for cosine; Euclidean items stay where they are."""
    cosine = place_items(X, "cosine")
    squared = ((cosine[:, None] - cosine[None]) ** 2).sum(axis=2)
    cos = X @ X.T / np.outer(*[np.linalg.norm(X, axis=1)] * 2)
    np.testing.assert_allclose(squared, 2 * (1 - cos), atol=1e-12)
    assert place_items(X, "euclidean") is X


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e150])
def test_directions_survive_any_scale(X, scale):
    """Neither underflow nor overflow of squares."""
    np.testing.assert_allclose(place_items(X * scale, "cosine"), directions(X), rtol=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_precision_is_kept(X, metric):
    """Single stays single."""
    X = directions(X)
    assert place_items(X.astype(np.float32), metric).dtype == np.float32


def test_cosine_is_euclidean_between_directions(X):
    """The same graph; it keeps the features as they came."""
    graph = knn_graph(X, 7, metric="cosine")
    plain = knn_graph(directions(X), 7)
    np.testing.assert_allclose(graph.affinity.toarray(), plain.affinity.toarray(), rtol=1e-9)
    np.testing.assert_array_equal(graph.features, X)
    assert graph.metric == "cosine"


def test_the_length_of_items_does_not_matter(X, rng):
    """Each may be stretched by a factor of its own."""
    stretched = X * rng.uniform(0.5, 2, size=(200, 1))
    one, other = (knn_graph(items, 7, metric="cosine").affinity.toarray() for items in (X, stretched))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_new_items_follow_the_metric(X, rng):
    """A new item in the direction of a fitted one is tied to it, wherever it lies."""
    graph = knn_graph(X, 7, metric="cosine")
    new = X[:9] * rng.uniform(0.1, 10, size=(9, 1))
    ties = tie_newcomers(graph, new, Workers(1))
    expected = tie_newcomers(knn_graph(directions(X), 7), directions(new), Workers(1))
    np.testing.assert_allclose(ties.toarray(), expected.toarray(), rtol=1e-6)
    assert all(ties[[row]].toarray()[0, row] > 0 for row in range(9))


def test_added_and_removed_items_follow_the_metric(X):
    """The graph grown from a part is the graph of all, and shrunk it is the part's."""
    part = knn_graph(X[:180], 7, metric="cosine")
    with Workers(1) as workers:
        grown = with_items(part, X[180:], None, workers)
        shrunk = without_items(grown, np.arange(200) < 180, workers)
    whole = knn_graph(X, 7, metric="cosine")
    np.testing.assert_allclose(grown.affinity.toarray(), whole.affinity.toarray(), rtol=1e-9)
    np.testing.assert_allclose(shrunk.affinity.toarray(), part.affinity.toarray(), rtol=1e-9)
    assert grown.metric == shrunk.metric == "cosine"


def test_an_item_without_direction_is_refused(X):
    """The message names the rows; Euclidean takes them."""
    X[[3, 17]] = 0
    with pytest.raises(InputError, match=r"2 of 200 rows are all zero .* \(rows 3, 17\)"):
        knn_graph(X, 5, metric="cosine")
    assert knn_graph(X, 5).n_items == 200
    graph = knn_graph(X[50:], 5, metric="cosine")
    with pytest.raises(InputError, match="all zero"):
        tie_newcomers(graph, np.zeros((1, 5)), Workers(1))


def test_an_unknown_metric_is_refused(X):
    """With those there are."""
    with pytest.raises(
        InputError,
        match=r"metric must be one of 'euclidean', .*'inner_product' or a function .*, got 'manhattan'",
    ):
        knn_graph(X, 5, metric="manhattan")


def test_the_inner_product_of_items_of_one_length_orders_their_neighbours(X):
    """The largest products are the neighbours, whatever the length; half precision is enough."""
    items = 7.5 * directions(X)
    graph = knn_graph(items.astype(np.float16).astype(np.float64), 7, metric="inner_product", index="exact")
    product = items @ items.T
    np.fill_diagonal(product, -np.inf)
    nearest = np.argsort(-product, axis=1)[:, :7]
    tied = np.zeros((200, 200), dtype=bool)
    np.put_along_axis(tied, nearest, True, axis=1)
    assert ((graph.affinity.toarray() > 0) == (tied | tied.T)).mean() > 0.999
    exact = knn_graph(items, 7, metric="inner_product").affinity.toarray()
    np.testing.assert_allclose(exact, knn_graph(items, 7, metric="cosine").affinity.toarray(), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_the_inner_product_of_items_of_different_length_is_refused(X, scale):
    """The message says how long they are, and what to use."""
    items = directions(X) * scale
    items[3] *= 2
    with pytest.raises(InputError, match=r"from \S+ to 2\S* long: .* metric='cosine'"):
        knn_graph(items, 5, metric="inner_product")


def test_a_saved_graph_keeps_its_metric(X, tmp_path):
    """New items of a loaded graph are placed as before."""
    graph = knn_graph(X, 5, metric="cosine")
    graph.save(tmp_path / "graph.npz")
    again = Graph.load(tmp_path / "graph.npz")
    assert again.metric == "cosine"
    one, other = (tie_newcomers(made, X[:5] + 0.1, Workers(1)).toarray() for made in (graph, again))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("estimator", [ProbabilisticLabelSpreading, SoftLabeler])
def test_estimators_with_cosine_are_those_on_directions(X, estimator, tmp_path):
    """Fitted items, new items, intervals, and all that after saving."""
    y = np.where(np.arange(200) % 3 == 0, (X[:, 0] > 0).astype(int), -1)
    new = X[:6] * 3 + 0.01
    est = estimator(alpha=0.9, n_neighbors=7, metric="cosine", random_state=0).fit(X, y)
    plain = estimator(alpha=0.9, n_neighbors=7, random_state=0).fit(directions(X), y)
    save(est, tmp_path / "est.softspread")
    for cosine in (est, load(tmp_path / "est.softspread")):
        np.testing.assert_allclose(cosine.predict_proba(), plain.predict_proba(), atol=1e-6)
        np.testing.assert_allclose(cosine.predict_proba(new), plain.predict_proba(directions(new)), atol=1e-6)
    for one, other in zip(est.predict_interval(), plain.predict_interval(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_the_bias_of_intervals_is_measured_by_the_metric(X):
    """Hoeffding intervals with a slope depend on directions alone."""
    y = np.where(np.arange(200) % 3 == 0, (X[:, 0] > 0).astype(int), -1)
    new = X[:4] * 2 + 0.1
    cases = (X, new, "cosine"), (directions(X), directions(new), "euclidean")
    found = [
        ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=7, metric=metric)
        .fit(items, y)
        .predict_interval(others, method="hoeffding", lipschitz=0.3)
        for items, others, metric in cases
    ]
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


def mahalanobis(X):
    """Places whose distances weigh the first feature nine times."""
    return X * np.array([3.0, 1, 1, 1, 1], dtype=X.dtype)


@pytest.mark.parametrize("estimator", [ProbabilisticLabelSpreading, SoftLabeler])
@pytest.mark.parametrize(("metric", "place"), [(mahalanobis, mahalanobis), ("cosine", directions)])
def test_fitted_new_and_added_items_follow_the_metric(X, estimator, metric, place):
    """Each answer is that of the places with Euclidean distances."""
    y = np.where(np.arange(200) % 3 == 0, (X[:, 0] > 0).astype(int), -1)
    X = place(X) * 2
    est = estimator(alpha=0.9, n_neighbors=7, metric=metric, random_state=0).fit(X[:190], y[:190])
    plain = estimator(alpha=0.9, n_neighbors=7, random_state=0).fit(place(X[:190]), y[:190])
    new = X[:6] + 0.01
    np.testing.assert_allclose(est.predict_proba(), plain.predict_proba(), atol=1e-6)
    np.testing.assert_allclose(est.predict_proba(new), plain.predict_proba(place(new)), atol=1e-6)
    est.add_items(X[190:])
    plain.add_items(place(X[190:]))
    np.testing.assert_allclose(est.predict_proba(), plain.predict_proba(), atol=1e-6)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda X: X[0], r"of \(200, 5\) it made \(5,\)"),
        (lambda X: X - X.mean(axis=0), "place each item by itself"),
        (lambda X: X / 0.0, "finite places"),
        (lambda a, b: abs(a - b).sum(), "distances between two items at a time are not taken"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_function_that_cannot_be_a_metric_is_refused(X, metric, message):
    """The message says what it must do."""
    with pytest.raises(InputError, match=message):
        knn_graph(X, 5, metric=metric)


def test_a_function_as_metric_is_not_saved(X, tmp_path):
    """No file appears; the message says what to do."""
    graph = knn_graph(X, 5, metric=mahalanobis)
    with pytest.raises(StoreError, match="metric='euclidean'"):
        graph.save(tmp_path / "graph.npz")
    assert not (tmp_path / "graph.npz").exists()
