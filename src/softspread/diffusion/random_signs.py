"""Sums of squares over whole profiles by random signs.

    E (sum_j sign_j a_j)^2 = sum_j a_j^2   for independent signs, for every item in one solve

Exact up to 2000 items, by the dense inverse; above, a push to an affordable floor would lose
the wide profiles of alpha 0.99.
"""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import RULE, ProfileRule, dense_inverse

LEAST_SQUARES = 1e-12  # a sum of squares below this is what rounding leaves of a difference


@dataclass(frozen=True, slots=True)
class SignRule:
    """How many columns of signs are solved for, and how well.

    Measured on a million items, 100,000 of them voted, at alpha 0.25 to 0.99: with two columns for the votes,
    three for the items and the loose solves of many voted items the mean of squares / (sum of phi)^2 over the
    votes is off by at most 1.2 %, and how reach changes with alpha by 1 %.
    """

    probes: int = 16  # a sum of squares is known to sqrt(2 / 16), its mean over many items far better
    tol: float = 1e-4  # of the solves, whose squares are estimates anyway
    # ----- from this many voted items on
    many_voted: int = 20_000
    # Signs in all columns together: what profiles far apart say is independent, so more items need fewer
    # columns. With 8 columns and 21,000 voted items the share of the error that calibrated intervals read
    # from them varies by 1.5 % with the signs, their mean width by .3 %
    signs: int = 160_000
    few_votes: int = 3  # columns of signs of votes at least ...
    few_items: int = 4  # ... and of items
    tol_of_many: float = 3e-3
    # Items of like profiles whose sums of squares are taken together, so that few columns do not bias 1 / sum
    alike: int = 50


SIGNS = SignRule()


class RandomSigns:
    """Signs for voted items and for all items; drawn once, so that alphas are compared with the same."""

    def __init__(self, rng: np.random.Generator, n_voted: int, n_items: int, rule: SignRule = SIGNS) -> None:
        many = n_voted >= rule.many_voted
        votes = max(rule.few_votes, -(-rule.signs // max(1, n_voted)))
        items = max(rule.few_items, -(-rule.signs // n_items))
        self.voted = _signs(rng, n_voted, votes if many else rule.probes)
        self.inner_items = _signs(rng, n_items, items if many else rule.probes)
        self.tol = rule.tol_of_many if many else rule.tol
        self.alike = rule.alike if many else 1


def _signs(rng: np.random.Generator, n: int, n_probes: int) -> FloatArray:
    return np.where(rng.random((n, n_probes)) < 0.5, -1.0, 1.0)


def squares_and_reach(
    diffusion: Diffusion,
    rows: IntArray,
    squares: FloatArray,
    own: FloatArray,
    signs: RandomSigns,
    scales: FloatArray | None = None,
    rule: ProfileRule = RULE,
) -> tuple[FloatArray, float]:
    """Sum of w^2 phi^2 over other items' votes at each voted item, (v,), and the mean reach of the items.

    Reach is the effective number of other items in a profile, (sum_i M_iq)^2 / sum_i M_iq^2 over i != q.

    Parameters
    ----------
    rows : (v,) distinct voted items
    squares : (v,) sum of the squared weights of their votes
    own : (v,) phi_qq
    scales : (v,) instead of the items' own
    """
    graph, n = diffusion.graph, diffusion.n_items
    sources = diffusion.sources(rows, scales=scales)
    factor = diffusion.inner_error_factor()[graph.rank[rows]]
    diagonal = own / (sources * factor)
    if n <= rule.dense_items:
        M = dense_inverse(diffusion)[rows]
        phi = M[:, rows] * sources * factor[:, None]
        received = (phi * phi) @ squares - squares * own**2
        total, total_squares = M.sum(axis=1) - diagonal, (M * M).sum(axis=1) - diagonal**2
    else:
        amounts = signs.voted * np.sqrt(squares)[:, None]
        B = np.column_stack([np.zeros((n, amounts.shape[1])), signs.inner_items, np.ones(n)])
        inner, n_first = graph.rank[rows], amounts.shape[1]
        B[inner, :n_first] = amounts * sources[:, None]
        X, own_entries = diffusion.solver.solve(B, signs.tol).X[inner], B[inner]
        arrived = X[:, :n_first] * factor[:, None]
        received = ((arrived - amounts * own[:, None]) ** 2).mean(axis=1)
        left = X[:, n_first:] - diagonal[:, None] * own_entries[:, n_first:]
        total, total_squares = left[:, -1], (left[:, :-1] ** 2).mean(axis=1)
    return np.maximum(received, 0.0), _reach_of_groups(total, total_squares, signs.alike)


def _reach_of_groups(total: FloatArray, squares: FloatArray, size: int) -> float:
    """Mean of total^2 / squares, both added up over groups of this many items with like totals."""
    order, starts = np.argsort(total, kind="stable"), np.arange(0, len(total), size)
    sums, sums_of_squares = (np.add.reduceat(each[order], starts) for each in (total**2, squares))
    known = sums_of_squares > LEAST_SQUARES
    reach = np.divide(sums, sums_of_squares, out=np.zeros(len(starts)), where=known)
    return float(np.average(reach, weights=np.diff([*starts, len(total)])))
