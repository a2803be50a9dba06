"""Baselines against plain loops."""

import numpy as np
import pytest
from sklearn.base import clone

import reference
from softspread import (
    GaussianKernelRegression,
    InputError,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    VoteHistogram,
    Votes,
)

N, C = 40, 3


@pytest.fixture
def items(rng):
    """Features, a list of votes and their counts."""
    X = rng.normal(size=(N, 4))
    rows, columns = rng.integers(N, size=25), rng.integers(C, size=25)
    weights = rng.uniform(0.1, 3, size=25)
    votes = Votes.from_pairs(rows, columns, weights=weights, classes=range(C))
    return X, votes, reference.vote_counts(rows, columns, weights, N, C)


def uniform(mass):
    """Soft labels without any prior strength."""
    return reference.soft_labels(mass, np.full(mass.shape, 1 / mass.shape[1]), 0.0)


def test_histogram_counts_votes(items):
    """Each item's own votes, the uniform distribution where there are none."""
    X, votes, counts = items
    est = VoteHistogram().fit(X, votes)
    np.testing.assert_allclose(est.predict_freq(), counts, rtol=1e-12)
    np.testing.assert_allclose(est.predict_proba(), uniform(counts), rtol=1e-12)


def test_histogram_is_spreading_without_spreading(items):
    """alpha = 0 is counting."""
    X, votes, _ = items
    spreading = ProbabilisticLabelSpreading(alpha=0.0, n_neighbors=3, prior_strength=0.0).fit(X, votes)
    np.testing.assert_allclose(
        spreading.predict_freq(), VoteHistogram().fit(X, votes).predict_freq(), rtol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_histogram_knows_fitted_items_again(items, dtype):
    """A new item has no votes, unless it is one of the fitted ones, in any precision; -0.0 is 0.0."""
    X, votes, counts = items
    X = X.astype(dtype)
    X[5] = 0.0
    est = VoteHistogram().fit(X, votes)
    np.testing.assert_allclose(est.predict_freq(X), counts, rtol=1e-12)
    np.testing.assert_allclose(est.predict_freq(X.astype(np.float64)), counts, rtol=1e-12)
    np.testing.assert_allclose(est.predict_freq(-X[5:6]), counts[5:6], rtol=1e-12)
    np.testing.assert_allclose(est.predict_proba(X[:2] + 1), np.full((2, C), 1 / C), rtol=1e-14)


def test_histogram_adds_up_coinciding_items():
    """Two fitted items at one place answer together for a new item there."""
    est = VoteHistogram().fit([[1.0], [1.0], [2.0]], [0, 1, 1])
    assert est.predict_freq([[1.0]]).tolist() == [[1, 1]]


@pytest.mark.parametrize("gamma", [0.1, 1.0, 25.0])
def test_kernel_regression_is_a_sum_over_votes(items, rng, gamma):
    """Fitted and new items receive exp(-gamma distance**2) of every vote."""
    X, votes, counts = items
    est = GaussianKernelRegression(gamma=gamma).fit(X, votes)
    queries = rng.normal(size=(7, 4))
    np.testing.assert_allclose(est.predict_freq(), reference.kernel_mass(X, counts, X, gamma), rtol=1e-9)
    np.testing.assert_allclose(
        est.predict_freq(queries), reference.kernel_mass(X, counts, queries, gamma), rtol=1e-9
    )
    np.testing.assert_allclose(est.predict_proba(), uniform(est.predict_freq()), rtol=1e-12)


@pytest.mark.parametrize("entries", [1, 7, 60, 61, 10**9])
def test_kernel_regression_in_blocks_is_kernel_regression(items, entries):
    """The size of a block changes memory, not results."""
    X, votes, counts = items
    est = GaussianKernelRegression(gamma=1.0).fit(X, votes)
    est._block_entries = entries
    np.testing.assert_allclose(est.predict_freq(), reference.kernel_mass(X, counts, X, 1.0), rtol=1e-9)


def test_kernel_regression_is_blind_to_a_common_offset(items):
    """Distances do not change when all items move together, even far."""
    X, votes, _ = items
    near = GaussianKernelRegression(gamma=1.0).fit(X, votes)
    far = GaussianKernelRegression(gamma=1.0).fit(X + 1e7, votes)
    np.testing.assert_allclose(far.predict_freq(), near.predict_freq(), rtol=1e-6)
    np.testing.assert_allclose(far.predict_freq(X + 1e7), near.predict_freq(X), rtol=1e-6)


def test_items_that_nothing_reaches_have_no_evidence_and_no_nan():
    """A kernel that underflows says what it tends to, with a prior the uniform distribution."""
    for strength, far in ((0.0, [1, 0]), (1e-4, [0.5, 0.5])):
        est = GaussianKernelRegression(gamma=10.0, prior_strength=strength)
        est.fit([[0.0], [1e6]], [0, -1], classes=[0, 1])
        np.testing.assert_allclose(est.predict_proba(), [[1, 0], far], atol=1e-4)
        assert est.evidence_[1] == 0
    none = GaussianKernelRegression().fit([[0.0], [1.0]], [-1, -1], classes=[0, 1])
    np.testing.assert_array_equal(none.predict_proba(), np.full((2, 2), 0.5))


@pytest.mark.parametrize("n_neighbors", [1, 3, 1000])
@pytest.mark.parametrize("dimensions", [4, 50])
def test_neighbour_votes_are_counted_in_a_loop(rng, n_neighbors, dimensions):
    """The votes of the nearest voted items, few or all, in few or many dimensions."""
    X = rng.normal(size=(N, dimensions))
    rows, columns = rng.integers(N, size=20), rng.integers(C, size=20)
    counts = reference.vote_counts(rows, columns, np.ones(20), N, C)
    est = KNeighborsVotes(n_neighbors=n_neighbors).fit(X, Votes.from_pairs(rows, columns, classes=range(C)))
    queries = rng.normal(size=(7, dimensions))
    np.testing.assert_array_equal(est.predict_freq(), reference.neighbor_votes(X, counts, X, n_neighbors))
    np.testing.assert_array_equal(
        est.predict_freq(queries), reference.neighbor_votes(X, counts, queries, n_neighbors)
    )


@pytest.mark.parametrize("dimensions", [3, 50])
def test_neighbour_votes_are_exact_far_from_the_origin(rng, dimensions):
    """A common offset must not blur who is near."""
    X = rng.normal(size=(N, dimensions))
    counts = np.eye(N)
    est = KNeighborsVotes(n_neighbors=4).fit(X + 1e7, counts)
    np.testing.assert_array_equal(est.predict_freq(), reference.neighbor_votes(X + 1e7, counts, X + 1e7, 4))


@pytest.mark.parametrize(
    "est", [VoteHistogram(), GaussianKernelRegression(gamma=0.5), KNeighborsVotes(n_neighbors=3)]
)
def test_updates_and_undos_equal_a_fresh_fit(items, est):
    """Votes one by one, some taken back, a class first seen late: as if all had come at once."""
    X, _, _ = items
    live = clone(est).fit(X, Votes.from_pairs([0, 1], ["a", "b"]))
    live.update([2, 2, 3], ["a", "b", "c"], weights=[1, 0.3, 2])
    live.update(4, "a", weights=0.1).update(4, "a", weights=0.2)
    live.undo(4, "a", weights=0.3).undo(3, "c").undo(1, "b")
    fresh = clone(est).fit(X, Votes.from_pairs([0, 2, 2, 3], ["a", "a", "b", "c"], weights=[1, 1, 0.3, 1]))
    assert live.classes_.tolist() == fresh.classes_.tolist()
    np.testing.assert_allclose(live.predict_freq(), fresh.predict_freq(), rtol=1e-12)
    np.testing.assert_allclose(live.predict_proba(), fresh.predict_proba(), rtol=1e-12)


@pytest.mark.parametrize(
    "est", [VoteHistogram(), GaussianKernelRegression(gamma=0.5), KNeighborsVotes(n_neighbors=3)]
)
def test_renumbering_items_permutes_the_answer(items, rng, est):
    """No item is special by its place."""
    X, votes, _ = items
    order = rng.permutation(N)
    rank = np.argsort(order)
    moved = Votes.from_pairs(rank[votes.items], votes.labels, weights=votes.weights, classes=range(C))
    np.testing.assert_allclose(
        clone(est).fit(X[order], moved).predict_proba(),
        clone(est).fit(X, votes).predict_proba()[order],
        rtol=1e-9,
    )


def test_far_items_have_the_limit_of_the_formula(rng):
    """As exp underflows, the printed ratio tends to the nearest votes; longer numbers say the same."""
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(10, 2)) + 60])
    rows, columns = np.arange(20), rng.integers(C, size=20)
    votes = Votes.from_pairs(rows, columns, classes=range(C))
    est = GaussianKernelRegression(gamma=0.5).fit(X, votes)
    assert (est.evidence_[30:] == 0).all()  # exp(-0.5 * 7200) is no double
    distances = ((X[:, None].astype(np.longdouble) - X[None, rows]) ** 2).sum(axis=2)
    weights = np.exp(-0.5 * distances)  # long doubles go down to 1e-4932
    mass = np.stack([weights[:, columns == c].sum(axis=1) for c in range(C)], axis=1)
    assert (mass.sum(axis=1) > 0).all()
    expected = (mass / mass.sum(axis=1, keepdims=True)).astype(float)
    np.testing.assert_allclose(est.predict_proba(), expected, atol=1e-9)
    np.testing.assert_allclose(est.predict_proba(X[30:] + 0.0), expected[30:], atol=1e-9)


def test_a_prior_makes_far_items_uniform(rng):
    """As in the authors' runs: (Y + kappa / C) / (N + kappa)."""
    X = np.array([[0.0], [1.0], [3.0], [90.0]])
    est = GaussianKernelRegression(gamma=1.0, prior_strength=1e-4).fit(X, [0, 1, -1, -1])
    mass = np.exp(-np.array([[9.0, 4.0]]))
    np.testing.assert_allclose(est.predict_proba()[2:3], (mass + 5e-5) / (mass.sum() + 1e-4), rtol=1e-9)
    np.testing.assert_allclose(est.predict_proba()[3], 0.5)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_averaged_histograms_are_a_loop_over_items(items, k):
    """The nearest voted items' histograms, each counted once."""
    X, votes, counts = items
    est = KNeighborsVotes(n_neighbors=k, average="items", n_jobs=1).fit(X, votes)
    voted = np.flatnonzero(counts.any(axis=1))
    for row in range(N):
        nearest = voted[np.argsort(((X[voted] - X[row]) ** 2).sum(axis=1), kind="stable")[:k]]
        expected = np.mean([counts[i] / counts[i].sum() for i in nearest], axis=0)
        np.testing.assert_allclose(est.predict_proba()[row], expected, rtol=1e-9)
    pooled = KNeighborsVotes(n_neighbors=k, n_jobs=1).fit(X, votes)
    np.testing.assert_allclose(est.evidence_, pooled.evidence_, rtol=1e-9)


def test_too_few_voted_items_are_refused_where_asked(items):
    """Nothing is fitted half; the default takes what there is."""
    X, votes, counts = items
    n_voted = int(counts.any(axis=1).sum())
    KNeighborsVotes(n_neighbors=n_voted, too_few="error", n_jobs=1).fit(X, votes)
    with pytest.raises(InputError, match=f"{n_voted} items have votes, fewer than n_neighbors={n_voted + 1}"):
        KNeighborsVotes(n_neighbors=n_voted + 1, too_few="error", n_jobs=1).fit(X, votes)
    KNeighborsVotes(n_neighbors=n_voted + 1, n_jobs=1).fit(X, votes)
