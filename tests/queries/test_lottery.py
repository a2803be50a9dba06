"""Draws with known probabilities: frequencies match them."""

from itertools import combinations

import numpy as np
import pytest

from softspread.diffusion.diffusion import Diffusion
from softspread.queries.lottery import Lottery, best_of_few
from softspread.queries.pool import CandidatePool
from softspread.queries.rule import QueryRule
from voted_graph import N, four_clusters

N_DRAWS = 40_000
OPEN = 30


@pytest.fixture(scope="module")
def diffusion():
    return Diffusion(four_clusters(), 0.9, n_jobs=1)


def small_pool(diffusion, seed, n_voted=8):
    """Thirty open items, some of them voted on."""
    counts, allowed = np.zeros(N), np.zeros(N, dtype=bool)
    allowed[:OPEN], counts[:n_voted] = True, 1.0
    pool = CandidatePool(
        diffusion, np.ones((N, 2)), counts, allowed, np.random.default_rng(seed), QueryRule()
    )
    pool.probabilities = []
    return pool


@pytest.mark.parametrize("n_candidates", [1, 3, 7, 20])
def test_best_of_few_counts_all_sets_of_candidates(n_candidates):
    """Against every set of candidates, ties shared equally."""
    scores = np.array([5, 4, 4, 2, 1, 1, 1])
    size = min(n_candidates, len(scores))
    wins, sets = np.zeros(len(scores)), list(combinations(range(len(scores)), size))
    for members in sets:
        best = [i for i in members if scores[i] == scores[list(members)].max()]
        wins[best] += 1 / len(best)
    for row, score in enumerate(scores):
        found = best_of_few(
            len(scores), int((scores > score).sum()), int((scores == score).sum()), n_candidates
        )
        assert found == pytest.approx(wins[row] / len(sets), abs=1e-12)


def test_probabilities_of_all_open_items_sum_to_one(diffusion):
    """At every step, with ties, after items were closed, and when no voted item is left."""
    pool = small_pool(diffusion, 0)
    scores = np.round(np.random.default_rng(1).random(N), 1)
    lottery = Lottery(pool, 5, uniform=0.1, repeats=0.4)
    for _ in range(OPEN):
        rows = np.flatnonzero(pool.open)
        assert sum(lottery.probability(row, scores) for row in rows) == pytest.approx(1)
        pool.take(lottery.draw(scores))
    assert len(pool.probabilities) == OPEN
    assert pool.probabilities[-1] == pytest.approx(1)


def test_frequencies_match_probabilities(diffusion):
    """Of the first draw, for every item within four standard errors."""
    scores = np.round(np.random.default_rng(2).random(N), 1)
    pool = small_pool(diffusion, 3)
    rows = np.empty(N_DRAWS, dtype=np.int64)
    expected = np.array([Lottery(pool, 5, 0.1, 0.2).probability(row, scores) for row in range(OPEN)])
    pool.probabilities = None
    for number in range(N_DRAWS):
        rows[number] = Lottery(pool, 5, 0.1, 0.2).draw(scores)
    frequency = np.bincount(rows, minlength=OPEN)[:OPEN] / N_DRAWS
    assert (np.abs(frequency - expected) < 4 * np.sqrt(expected / N_DRAWS)).all()


def test_inverse_probabilities_make_picks_speak_for_all_items(diffusion):
    """The mean of value / (n p) over picks is the mean over all items, though picks prefer large values."""
    scores = np.random.default_rng(4).random(N)
    plain, weighted = [], []
    for seed in range(3_000):
        pool = small_pool(diffusion, seed)
        row = Lottery(pool, 5, 0.2, 0.1).draw(scores)
        plain.append(scores[row])
        weighted.append(scores[row] / (OPEN * pool.probabilities[0]))
    truth, error = scores[:OPEN].mean(), np.std(weighted) / np.sqrt(len(weighted))
    assert np.mean(plain) > truth + 0.15
    assert abs(np.mean(weighted) - truth) < 4 * error


def test_no_repeats_without_voted_items(diffusion):
    """The share of repeats goes to the other picks."""
    pool = small_pool(diffusion, 5, n_voted=0)
    lottery = Lottery(pool, 5, uniform=0.0, repeats=1.0)
    assert lottery.draw(np.arange(float(N))) < OPEN
    assert 0 < pool.probabilities[0] < 1
