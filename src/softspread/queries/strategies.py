"""The built-in query strategies: each takes a pool and returns rows, best first.

    gain(q) = sum_i phi_iq^g v_i^(2g - 1) / ((N_i + 1) (N_i + 1 + phi_iq^g)),   g = 1 + min(1, m / 0.3 n)

theory: [query]. The default draws five random items among those with the fewest votes and takes the one with
the largest gain. While votes are few (g near 1), that is what a vote brings to the whole neighbourhood;
later, when ambiguities are reliable (g = 2), what it brings to the ambiguous items nearby, itself above all.
"""

import heapq
from collections.abc import Callable

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.queries.expected import pick_by_coverage, pick_by_expected_error
from softspread.queries.pool import CandidatePool, FewestVotes, Repeats


def uncertainty(pool: CandidatePool, batch_size: int) -> list[int]:
    """By the posterior's expected error where there is one, else by gain; the first votes by coverage."""
    if pool.n_votes < pool.lottery.coverage_votes:
        return pick_by_coverage(pool, batch_size)
    if pool.posterior is not None:
        return pick_by_expected_error(pool, pool.posterior, batch_size)
    return _largest_gains(pool, batch_size, pool.rule.sharpest)


def gain(pool: CandidatePool, batch_size: int) -> list[int]:
    """Like :func:`uncertainty` with g = 1 throughout."""
    return _largest_gains(pool, batch_size, 1.0)


def local(pool: CandidatePool, batch_size: int) -> list[int]:
    """Repeats, else of five the item about which neighbours say least: the largest v / (N + 0.1)^2."""
    if pool.warming_up:
        return balanced(pool, batch_size)
    v = pool.ambiguity()

    def take_best(candidates: IntArray) -> int:
        score = v[candidates] / (pool.evidence[candidates] + pool.rule.local_offset) ** 2
        return pool.take(int(candidates[int(np.argmax(score))]))

    return _repeat_or_take(pool, batch_size, pool.rule.n_candidates, take_best, v)


def balanced(pool: CandidatePool, batch_size: int) -> list[int]:
    """Repeats, else a random item among those with the fewest votes."""

    def close(candidates: IntArray) -> int:
        pool.open[candidates] = False
        return int(candidates[0])

    return _repeat_or_take(pool, batch_size, 1, close)


def uniform(pool: CandidatePool, batch_size: int) -> list[int]:
    """Every set of open items equally likely, whatever votes there are: the paper's way, batch by batch."""
    rows = pool.open_rows()
    if pool.probabilities is not None:
        pool.probabilities.extend((1 / np.arange(len(rows), len(rows) - batch_size, -1)).tolist())
    return [int(row) for row in pool.rng.choice(rows, batch_size, replace=False)]


def least_evidence(pool: CandidatePool, batch_size: int) -> list[int]:
    """The item that has received least, then the least given the votes that the picks would bring."""
    return _lowest_first(pool, batch_size, lambda rows: pool.evidence[rows])


def entropy(pool: CandidatePool, batch_size: int) -> list[int]:
    """The item with the largest entropy; a pick lowers the score of its neighbourhood."""
    entropies, start = pool.entropy(), pool.evidence.copy()
    return _lowest_first(
        pool, batch_size, lambda rows: -entropies[rows] / (1 + pool.evidence[rows] - start[rows])
    )


class Farthest:
    """Repeats, else the item farthest from all voted ones, of a random sample with the fewest votes."""

    needs_features = True

    def __call__(self, pool: CandidatePool, batch_size: int) -> list[int]:
        fewest, repeats = FewestVotes(pool), Repeats(pool)
        features = pool.features
        rows = fewest.draw_many(max(batch_size, pool.rule.farthest_candidates))
        places = np.asarray(features[rows], dtype=np.float64)
        distance = self._to_voted(pool, places)
        picked: list[int] = []
        for _ in range(batch_size):
            again = repeats.draw()
            if len(again):
                row = int(again[0])
                distance[rows == row] = -1.0
            else:
                best = int(np.argmax(distance))
                row = int(rows[best])
                distance = np.minimum(distance, np.linalg.norm(places - places[best], axis=1))
                distance[best] = -1.0  # where items coincide, none comes twice
            pool.open[row] = False
            picked.append(row)
        return picked

    @staticmethod
    def _to_voted(pool: CandidatePool, places: FloatArray) -> FloatArray:
        """From each place to the nearest voted item; infinite without votes."""
        from scipy.spatial import cKDTree

        voted = np.asarray(pool.features[pool.vote_counts > 0], dtype=np.float64)
        return cKDTree(voted).query(places)[0] if len(voted) else np.full(len(places), np.inf)


farthest = Farthest()


def _largest_gains(pool: CandidatePool, batch_size: int, sharpest: float) -> list[int]:
    if pool.warming_up:
        return balanced(pool, batch_size)
    v, g = pool.ambiguity(), pool.rule.sharpness(pool.n_votes / pool.n_items, sharpest)
    worth = v ** (2 * g - 1)

    def take_best(candidates: IntArray) -> int:
        reaches = pool.reach(candidates)
        best = int(np.argmax([gain_of_vote(pool.evidence, worth, g, *reach) for reach in reaches]))
        return pool.take(int(candidates[best]), reaches[best])

    return _repeat_or_take(pool, batch_size, pool.rule.n_candidates, take_best, v)


def gain_of_vote(
    evidence: FloatArray, worth: FloatArray, g: float, reached: IntArray, phi: FloatArray
) -> float:
    """sum_i phi_i^g worth_i / ((N_i + 1) (N_i + 1 + phi_i^g)) over the items reached, theory [query]."""
    before, sharp = evidence[reached] + 1, phi if g == 1 else phi**g
    return float(np.sum(sharp * worth[reached] / (before * (before + sharp))))


def _repeat_or_take(
    pool: CandidatePool,
    batch_size: int,
    n_candidates: int,
    take_best: Callable[[IntArray], int],
    v: FloatArray | None = None,
) -> list[int]:
    """Repeats, else what ``take_best`` takes of a few random items with the fewest votes."""
    fewest, repeats = FewestVotes(pool), Repeats(pool, v)
    picked: list[int] = []
    for _ in range(batch_size):
        again = repeats.draw()
        picked.append(take_best(again if len(again) else fewest.draw(n_candidates)))
    return picked


def _lowest_first(
    pool: CandidatePool, batch_size: int, score_of: Callable[[AnyArray], AnyArray]
) -> list[int]:
    """Greedy picks by a score that never falls when evidence grows; ties are broken at random.

    An item leaves the top of the heap only if its score is still what the heap believes.
    """
    picked: list[int] = []
    while len(picked) < batch_size:
        rows = pool.rng.permutation(pool.open_rows())
        scores = score_of(rows)
        rule = pool.rule
        room = max(rule.smallest_shortlist, rule.shortlist_per_pick * (batch_size - len(picked)))
        limit = np.inf
        if room < len(rows):
            near = np.argpartition(scores, room)
            limit = float(scores[near[room]])
            rows, scores = rows[near[:room]], scores[near[:room]]
        heap = list(zip(scores.tolist(), range(len(rows)), rows.tolist(), strict=True))
        heapq.heapify(heap)
        while heap and len(picked) < batch_size:
            believed, number, row = heapq.heappop(heap)
            score = float(score_of(row))
            if score > believed:
                heapq.heappush(heap, (score, number, row))
            elif score > limit and picked:
                break  # an item outside the shortlist may be lower by now: look again
            else:
                picked.append(pool.take(row))
    return picked
