"""The reference: Algorithm 1 vote by vote, with solves so tight that what is left of an error is ours.

    phi_q = (I - alpha S)^-1 e_q, Y[:, c] += phi_q / max(phi_q) for each vote (q, c), p = (Y + kappa / C) / (N
    + kappa)

theory: [profile], [mass], [soft label]. Nothing here uses the solvers under test, with one exception that
:func:`sampled_error` names. Rows are in the graph's inner numbering.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from softspread.graph.graph import Graph

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

PRIOR_STRENGTH = 1e-4  # the estimator's default
LEAST_EVIDENCE = 1e-3  # below, a soft label is mostly prior and nobody should read it
TIGHT = 1e-10  # relative residual of the reference solves
# Certified share of a scale where tight local solves stand in for solves over the whole graph
TIGHT_SCALE = 1e-7
COLUMNS_AT_ONCE = 32
SAMPLED_ITEMS = 32
SCALES_AT_ONCE = 128
CHECKED_SCALES = 8  # tight local scales that are compared with solves over the whole graph
MAX_STEPS = 2000


@dataclass(frozen=True)
class VoteArrays:
    """Votes as numbers."""

    rows: IntArray  # (m,) inner numbering
    columns: IntArray  # (m,)
    n_classes: int


def system_matrix(graph: Graph, alpha: float) -> csr_array:
    """I - alpha S in the inner numbering."""
    return csr_array(eye_array(graph.n_items) - alpha * graph.inner_operator())


def solve_columns(A: csr_array, rows: IntArray, tol: float = TIGHT) -> FloatArray:
    """M e_q for a few q, (n, len(rows)), by conjugate gradients on all columns at once."""
    B = np.zeros((A.shape[0], len(rows)))
    B[rows, np.arange(len(rows))] = 1.0
    X, R, P = np.zeros_like(B), B.copy(), B.copy()
    squares = np.ones(len(rows))
    for _ in range(MAX_STEPS):
        if (squares <= tol * tol).all():
            break
        AP = A @ P
        step = squares / np.maximum(np.einsum("ij,ij->j", P, AP), np.finfo(np.float64).tiny)
        X += step * P
        R -= step * AP
        previous, squares = squares, np.einsum("ij,ij->j", R, R)
        P *= squares / previous
        P += R
    left = np.linalg.norm(B - A @ X, axis=0).max()
    if left > 10 * tol:  # the recursive residual may drift from the true one by rounding, not by more
        raise RuntimeError(f"the reference solve reached a residual of {left:.1e} only, asked {tol:.0e}.")
    return X


def soft_labels(mass: FloatArray) -> FloatArray:
    """Soft labels with a uniform prior, (Y + kappa / C) / (N + kappa)."""
    prior = PRIOR_STRENGTH / mass.shape[1]
    return np.asarray((mass + prior) / (mass.sum(axis=1, keepdims=True) + PRIOR_STRENGTH))


def literal_mass(graph: Graph, alpha: float, votes: VoteArrays) -> FloatArray:
    """Y of Algorithm 1, (n, n_classes): one solve per vote, divided by its largest entry."""
    A = system_matrix(graph, alpha)
    mass = np.zeros((graph.n_items, votes.n_classes))
    for first in range(0, len(votes.rows), COLUMNS_AT_ONCE):
        part = slice(first, first + COLUMNS_AT_ONCE)
        phi = solve_columns(A, votes.rows[part])
        phi /= phi.max(axis=0)
        for number, column in enumerate(votes.columns[part].tolist()):
            mass[:, column] += phi[:, number]
    return mass


def largest_difference(p: FloatArray, mass: FloatArray) -> float:
    """Largest |p - p_literal| over the items with evidence above 1e-3."""
    judged = mass.sum(axis=1) > LEAST_EVIDENCE
    return float(np.abs(p - soft_labels(mass))[judged].max(initial=0.0))


def sampled_error(
    graph: Graph,
    alpha: float,
    votes: VoteArrays,
    p: FloatArray,
    scales: FloatArray,
    time_limit: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Largest |p - p_literal| on a sample of items.

    For sizes at which one tight solve per vote would take hours.

    S is symmetric, so one tight solve from item i gives M_iq for the votes on all q. Exact scales are found
    for the votes that matter most, in the order of their largest share in any sampled item, by local solves
    of the package itself with a proven error of at most 1e-7, until the time is up; some are checked here
    against solves over the whole graph. The remaining votes keep the scale that the estimator used:
    ``covered`` says how much of the evidence of the worst item has an exact scale, ``unseen`` what the rest
    could hide if all its scales were as far off as the worst known one.

    Parameters
    ----------
    p : (n, n_classes) soft labels under test
    scales : (m,) the scale that the estimator used for each vote
    """
    from softspread.diffusion.diffusion import Diffusion
    from softspread.diffusion.scales import ScaleFinder

    A = system_matrix(graph, alpha)
    candidates = rng.permutation(graph.n_items)[: 4 * SAMPLED_ITEMS]
    reach, items = [], []
    for first in range(0, len(candidates), COLUMNS_AT_ONCE):
        part = candidates[first : first + COLUMNS_AT_ONCE]
        found = solve_columns(A, part)[votes.rows].T  # (items, m)  M_iq by symmetry
        judged = (found / scales).sum(axis=1) > LEAST_EVIDENCE
        reach.append(found[judged])
        items.append(part[judged])
        if sum(map(len, items)) >= SAMPLED_ITEMS:
            break
    M, sample = np.concatenate(reach)[:SAMPLED_ITEMS], np.concatenate(items)[:SAMPLED_ITEMS]
    share = M / scales
    share /= share.sum(axis=1, keepdims=True)
    by_weight = np.argsort(-share.max(axis=0), kind="stable")

    diffusion = Diffusion(graph, alpha)
    finder = ScaleFinder(graph, alpha, "peak", "certified", TIGHT_SCALE, diffusion.solver, diffusion.workers)
    exact = scales.copy()
    begin, done = time.perf_counter(), 0
    while done < len(by_weight) and (done == 0 or time.perf_counter() - begin < time_limit):
        part = by_weight[done : done + SCALES_AT_ONCE]
        exact[part] = finder.scales(votes.rows[part])
        done += len(part)
    known = by_weight[:done]
    checked = known[np.linspace(0, done - 1, min(done, CHECKED_SCALES)).astype(int)]
    check = solve_columns(A, votes.rows[checked]).max(axis=0)
    off = float(np.abs(scales[known] / exact[known] - 1).max())
    covered = float(share[:, known].sum(axis=1).min())

    mass = np.zeros((len(sample), votes.n_classes))
    np.add.at(mass.T, votes.columns, (M / exact).T)
    return {
        "error": float(np.abs(p[sample] - soft_labels(mass)).max()),
        "compared": "sample",
        "items": len(sample),
        "exact_scales": done,
        "covered": covered,
        "largest_scale_error": off,
        "unseen": (1 - covered) * off,
        "scale_check": float(np.abs(exact[checked] / check - 1).max()),
    }
