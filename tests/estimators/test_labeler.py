"""The recommended estimator: laws of its soft labels, intervals and live votes."""

import numpy as np

from softspread import SoftLabeler, Votes

N = 90


def clusters(seed=0):
    """Three clusters in the plane, and the number of each item's cluster."""
    rng = np.random.default_rng(seed)
    truth = np.arange(N) % 3
    return 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth] + rng.normal(size=(N, 2)), truth


X, TRUTH = clusters()


def crowd(n_votes, seed=1, wrong=0.2):
    """Rows and columns of votes, most of them for the item's cluster."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, N, n_votes)
    columns = np.where(rng.random(n_votes) < wrong, rng.integers(0, 3, n_votes), TRUTH[rows])
    return rows, columns


def fitted(n_votes=60, **parameters):
    """Fitted to votes of a crowd."""
    rows, columns = crowd(n_votes)
    return SoftLabeler(n_neighbors=8, **parameters).fit(X, Votes.from_pairs(rows, columns), classes=[0, 1, 2])


def test_rows_sum_to_one_and_intervals_contain_the_soft_label():
    """At every level; nothing is NaN."""
    lab = fitted()
    p = lab.predict_proba()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    for level in (0.5, 0.9, 0.99):
        lower, upper = lab.predict_interval(confidence_level=level)
        assert ((lower >= 0) & (lower <= p) & (p <= upper) & (upper <= 1)).all()


def test_intervals_narrow_with_votes():
    """From few votes to many."""
    widths = [np.mean(np.subtract(*fitted(n).predict_interval()[::-1])) for n in (10, 60, 600)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.5 * widths[0]


def test_soft_labels_find_the_clusters():
    """More often right than the votes that they are made from."""
    lab = fitted(60)
    rows, columns = crowd(60)
    assert (lab.predict() == TRUTH).mean() > (columns == TRUTH[rows]).mean()
