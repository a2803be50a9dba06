"""Mass of items that receive next to nothing, to as many digits as that of any other item.

    (I - alpha S_TT) x_T = B_T + alpha S_TA x_A        T: faint items, A: the others         theory: [faint]

A solver's error is small beside all votes, not beside the 1e-12 that an item far from every vote receives,
and without a prior the soft label of that item is a ratio of two such numbers. So the items that are known
well enough are fixed, the others are solved for by themselves, and those still too faint once more. S and B
have no negative entry: an error of the share e on the held items becomes an error of at most the share e on
the others.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import BoolArray, FloatArray
from softspread.diffusion.cg import most_steps
from softspread.diffusion.solver import ROUNDING, entry_bound


@dataclass(frozen=True, slots=True)
class FaintRule:
    """How well faint items are solved for."""

    share: float = 1e-5  # error of an item's mass, over all classes, as a share of its evidence
    tol: float = 1e-12  # relative residual of each round: what double precision gives
    smallest_strength: float = 1e-4  # a prior this strong outweighs the errors of every ordinary solve
    lost_in_rounding: float = 1e-12  # what taking a vote back can leave of it, as a share of the largest vote


RULE = FaintRule()


@dataclass(frozen=True, slots=True, eq=False)
class Faint:
    """Y with every row known to a share of itself, as far as double precision goes."""

    Y: FloatArray  # (n, columns)
    bound: FloatArray  # (n,) of the error of a row's sum


def solve_faint(
    S: csr_array,
    alpha: float,
    B: FloatArray,
    Y: FloatArray,
    bound: FloatArray,
    floor: FloatArray,
    rule: FaintRule = RULE,
) -> Faint:
    """Solve again for the rows of Y that are not known to ``rule.share`` of their sum plus ``floor``.

    Parameters
    ----------
    S : (n, n) symmetric, no negative entry
    B : (n, columns), no negative entry
    Y : (n, columns) solution of (I - alpha S) Y = B to some tolerance
    bound : (n,) of the error of each row's sum
    floor : (n,) what is added to an item's evidence anyway

    Returns
    -------
    Faint : where a row's bound is still too large, no solve in double precision settles it
    """
    Y, bound = np.maximum(Y, 0.0), bound.copy()
    B = np.where(rule.lost_in_rounding * B.max(initial=0.0) < B, B, 0.0)
    tol = max(rule.tol, ROUNDING / (1 - alpha))
    total = Y.sum(axis=1) + floor
    known = bound <= rule.share * total
    inherited = _largest_share(bound[known], total[known])
    while not known.all():
        rows = np.flatnonzero(~known)
        part = S[rows]
        right = B[rows] + alpha * (part[:, np.flatnonzero(known)] @ Y[known])
        scale = right.max(initial=0.0)
        if scale == 0.0:  # no vote reaches them at all
            Y[rows], bound[rows] = 0.0, 0.0
            break
        X, error = _conjugate_gradients(part[:, rows], alpha, right / scale, tol)
        X, error = np.maximum(X, 0.0) * scale, error * scale
        total = X.sum(axis=1) + floor[rows]
        settled: BoolArray = error <= rule.share * total
        Y[rows], bound[rows] = X, error + inherited * total
        if not settled.any():
            break
        known[rows[settled]] = True
        inherited += _largest_share(np.full(int(settled.sum()), error), total[settled])
    return Faint(Y, bound)


def _largest_share(error: FloatArray, total: FloatArray) -> float:
    """Largest error / total; nothing at all has no error."""
    return float((error / np.where(total > 0, total, 1.0)).max(initial=0.0))


def _conjugate_gradients(S: csr_array, alpha: float, B: FloatArray, tol: float) -> tuple[FloatArray, float]:
    """X with (I - alpha S) X = B, column by column in lockstep, and a bound on the error of a row's sum."""
    X, R = np.zeros_like(B), B.copy()
    P, squares = R.copy(), np.einsum("ij,ij->j", R, R)
    target = (0.5 * tol) ** 2 * squares
    for _ in range(most_steps(alpha, tol)):
        unsolved = np.flatnonzero(squares > target)
        if not len(unsolved):
            break
        AP = P[:, unsolved] - alpha * (S @ P[:, unsolved])
        step = squares[unsolved] / np.einsum("ij,ij->j", P[:, unsolved], AP)
        X[:, unsolved] += step * P[:, unsolved]
        R[:, unsolved] -= step * AP
        before, squares = squares.copy(), np.einsum("ij,ij->j", R, R)
        P[:, unsolved] = (
            R[:, unsolved] + (squares / np.where(before > 0, before, 1.0))[unsolved] * P[:, unsolved]
        )
    left = np.linalg.norm(B - (X - alpha * (S @ X)), axis=0)  # measured on the answer, not as it was updated
    return X, entry_bound(alpha, float(left.sum()))


def needed(prior_strength: float, rule: FaintRule = RULE) -> bool:
    """Whether the prior is too weak to outweigh the errors of an ordinary solve."""
    return prior_strength < rule.smallest_strength
