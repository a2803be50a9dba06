"""How noisy one vote is: an item's own second votes say, and what all items say fills in."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.heldout.noise import NoiseModel, find_noise
from voting import ballots_of


def test_the_noise_of_many_votes_is_how_often_two_of_them_differ():
    """With many votes an item's own estimate rules; without repeats the noise is a share of the loss."""
    many = ballots_of([0] * 1000, [0] * 600 + [1] * 400)
    assert_allclose(find_noise(many, np.array([0.5])).expected, 0.48, atol=1e-3)
    single = find_noise(ballots_of([0, 1], [0, 1]), np.array([0.5, 0.1]))
    belief = NoiseModel().belief
    mean = belief / (belief + 1)  # of a share with density s^(belief - 1) on [0, 1]
    assert_allclose(single.expected, mean * np.array([0.5, 0.1]), rtol=0.02)
    differing = ballots_of([0, 0, 1], [0, 1, 1])
    assert find_noise(differing, np.array([0.1, 0.1])).expected[1] <= 0.1


@pytest.mark.parametrize("agreeing", [0, 10, 40])
def test_more_repeats_leave_fewer_shares_possible(agreeing):
    """40 repeats on items of loss 1/2: all differ, ten or all agree; the likely share is what they say."""
    rows, shares = np.repeat(np.arange(40), 2), NoiseModel().shares
    columns = np.arange(80) % 2 * (rows >= agreeing)
    noise = find_noise(ballots_of(rows, columns), np.full(40, 0.5))
    assert_allclose(noise.chances.sum(), 1.0)
    likely = np.clip((40 - agreeing) / 20, shares[0], shares[-1])
    assert noise.chances @ shares == pytest.approx(likely, abs=0.1)
    few = find_noise(ballots_of(rows[-8:], columns[-8:]), np.full(4, 0.5))
    assert noise.chances.max() > few.chances.max()


def test_another_model_changes_the_answer():
    """The belief before second votes, and how much all items count, are arguments."""
    single, loss = ballots_of([0, 1], [0, 1]), np.array([0.4, 0.4])
    sure = find_noise(single, loss, NoiseModel(belief=50.0)).expected
    assert_allclose(sure, 50 / 51 * loss, rtol=0.02)
    repeated = ballots_of([0, 0, 1], [0, 1, 1])
    alone = find_noise(repeated, loss, NoiseModel(pooled_votes=1e-9)).expected
    assert_allclose(alone[0], 1.0, rtol=1e-6)  # two votes that differ
