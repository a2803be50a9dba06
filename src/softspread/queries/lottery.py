"""Draws whose probabilities are known: repeats, uniform picks, and the best of a few random candidates.

    P(q) = r [q voted] / n_voted + u / n_open + (1 - r - u) P(q is the best of k random open items)

    P(q is the best of k) = (C(n_open - above, k) - C(n_open - above - tied, k)) / C(n_open, k) / tied

with ``above`` the open items of a larger score and ``tied`` those of the same, q included. Each probability
is that of the draw at its step, given the picks before it. Theory: [query probability].
"""

import numpy as np

from softspread._common.types import FloatArray
from softspread.queries.pool import CandidatePool, RandomDraws


class Lottery:
    """Draws open items by their scores; higher scores may be set between two draws.

    Work per draw does not depend on the number of items, unless the pool keeps probabilities: then each draw
    makes one pass over the items.
    """

    def __init__(self, pool: CandidatePool, n_candidates: int, uniform: float, repeats: float) -> None:
        self._pool, self._n_candidates, self._uniform = pool, n_candidates, uniform
        rows = pool.open_rows()
        voted = rows[pool.vote_counts[rows] > 0]
        self._n_open, self._n_voted = len(rows), len(voted)
        self._repeats = repeats
        self._all, self._voted = RandomDraws(rows, pool), RandomDraws(voted, pool)

    def draw(self, scores: FloatArray) -> int:
        """One open item, which stays open until the caller closes it by ``pool.take``."""
        rng = self._pool.rng
        repeats = self._repeats if self._n_voted else 0.0
        ticket = rng.random()
        if ticket < repeats:
            row = int(self._voted.draw(1)[0])
        elif ticket < repeats + self._uniform:
            row = int(self._all.draw(1)[0])
        else:
            row = self._best(scores)
        if self._pool.probabilities is not None:
            self._pool.probabilities.append(self.probability(row, scores))
        self._n_open -= 1
        self._n_voted -= int(self._pool.vote_counts[row] > 0)
        return row

    def _best(self, scores: FloatArray) -> int:
        candidates = self._all.draw(self._n_candidates)  # in random order: the first of equals is any of them
        return int(candidates[int(np.argmax(scores[candidates]))])

    def probability(self, row: int, scores: FloatArray) -> float:
        """Probability that the next draw gives this open item."""
        standing, score = self._pool.open, scores[row]
        above, tied = (int(np.count_nonzero(found & standing)) for found in (scores > score, scores == score))
        best = best_of_few(self._n_open, above, tied, self._n_candidates)
        repeats = self._repeats if self._n_voted else 0.0
        again = repeats / self._n_voted if repeats and self._pool.vote_counts[row] > 0 else 0.0
        return again + self._uniform / self._n_open + (1 - repeats - self._uniform) * best


def best_of_few(n_open: int, above: int, tied: int, n_candidates: int) -> float:
    """Probability that an item is the best of a few random ones, ties broken at random.

    Parameters
    ----------
    n_open : how many items there are
    above : how many of them have a larger score
    tied : how many have the same score, the item itself included
    n_candidates : how many are drawn, without replacement; all if there are fewer

    Examples
    --------
    >>> [round(best_of_few(4, above, 1, 2), 3) for above in range(4)]
    [0.5, 0.333, 0.167, 0.0]
    """
    drawn = np.arange(min(n_candidates, n_open))
    none_above, none_as_good = (
        float(np.prod(np.maximum(n_open - missed - drawn, 0) / (n_open - drawn)))
        for missed in (above, above + tied)
    )
    return (none_above - none_as_good) / tied
