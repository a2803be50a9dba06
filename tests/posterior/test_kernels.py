"""Kernel experts: the formula, an item's own votes left out, and when there are none."""

import numpy as np
import pytest

from softspread.posterior.experts import OwnVotes, shares_expert
from softspread.posterior.kernels import KernelRule, kernel_experts, kernel_of_one

RULE = KernelRule(number=2, widest=0.25)


def some_votes(n=30, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    voted = np.sort(rng.permutation(n)[:12])
    counts = rng.integers(0, 3, size=(12, n_classes)).astype(float)
    counts[:, 0] += counts.sum(axis=1) == 0
    return rng.normal(size=(n, 2)), OwnVotes(voted, counts, counts, counts.sum(axis=1).astype(int), n)


def by_formula(X, own, sigma2, width, wider, back_off):
    """One width, item by item."""
    q = np.empty((own.n_items, own.n_classes))
    for i in range(own.n_items):
        K = np.exp(-width * ((X[own.voted] - X[i]) ** 2).sum(axis=1) / (2 * sigma2))
        K[own.voted == i] = 0.0
        Y = K @ own.counts
        q[i] = (Y + back_off * wider[i]) / (Y.sum() + back_off)
    return q


@pytest.mark.parametrize("block", [7, 4_000_000])
def test_predictions_follow_the_formula(block):
    """Each width backs off to the wider one, whatever the size of the blocks."""
    X, own = some_votes()
    shares = shares_expert(own, 1.0).final
    wide, narrow = kernel_experts(X, 0.5, [own], KernelRule(number=2, widest=0.25, block=block))[0]
    first = by_formula(X, own, 0.5, 0.25, shares, RULE.first_back_off)
    np.testing.assert_allclose(wide.final, first, atol=2e-5)
    np.testing.assert_allclose(narrow.final, by_formula(X, own, 0.5, 1.0, first, RULE.back_off), atol=2e-5)
    np.testing.assert_array_equal(narrow.held, narrow.final[own.voted])


def test_own_votes_do_not_speak_for_their_item():
    """Other votes on an item leave the prediction for it as it was."""
    X, own = some_votes()
    changed = own.counts.copy()
    changed[4] = [0, 0, 7]
    other = OwnVotes(own.voted, changed, changed, changed.sum(axis=1).astype(int), own.n_items)
    before = kernel_experts(X, 0.5, [own], RULE)[0][1].held
    after = kernel_experts(X, 0.5, [other], RULE)[0][1].held
    np.testing.assert_array_equal(before[4], after[4])
    assert np.abs(before - after).max() > 0.01


def test_none_where_they_cannot_be_or_would_take_too_long():
    """No features, no width, no votes, or too many pairs: no kernel experts."""
    X, own = some_votes()
    assert kernel_experts(None, 0.5, [own]) == [[]]
    assert kernel_experts(X, None, [own]) == [[]]
    assert kernel_experts(X, 0.0, [own]) == [[]]
    assert kernel_experts(X, 0.5, [own], KernelRule(work=100)) == [[]]


def test_the_kernel_of_one_item_is_its_row_of_the_formula():
    """Width by width."""
    X, own = some_votes()
    squared = ((X[own.voted] - X[4]) ** 2).sum(axis=1)
    for width, K in zip((0.25, 1.0), kernel_of_one(X, 0.7, 4, own.voted, RULE), strict=True):
        np.testing.assert_allclose(K, np.exp(-width * squared / 1.4), rtol=1e-5)
