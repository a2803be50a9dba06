"""How much each expert counts: convex weights by held-out votes, drawn to what was believed before.

    min over w >= 0, sum w = 1:   sum_i |sum_e w_e q_e,i - y_i|^2 + r s |w - w0|^2       theory: [stack]

y_i is the mean vote of item i, s the mean |q|^2: the belief w0 counts like r voted items. The weights are the
mean of the minima for several resamples of the voted items: which of two experts that say nearly the same
counts is then not left to a few votes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from softspread._common.types import FloatArray, IntArray
from softspread.posterior.experts import Expert


@dataclass(frozen=True, slots=True)
class StackRule:
    """How weights are found."""

    belief_items: float = 1.0  # the belief counts like this many voted items
    sum_weight: float = 1e4  # how heavy the condition sum w = 1 is, against the largest entry of the loss
    block: int = 20_000  # items whose products are summed at once
    parts: int = 50  # of the voted items, which resamples weigh at random
    resamples: int = 30  # over which weights are averaged


RULE = StackRule()


def stack_weights(
    experts: Sequence[Expert],
    mean_vote: FloatArray,
    rule: StackRule = RULE,
    deal: IntArray | None = None,
) -> FloatArray:
    """(experts,) weights, at least 0, sum 1; the belief itself where there are no votes.

    ``deal`` (v,) is the order in which voted items are dealt into parts; None = as they come.
    """
    belief = np.array([expert.belief for expert in experts])
    belief = belief / belief.sum()
    if not len(mean_vote):
        return np.asarray(belief)
    G, h = _products(experts, mean_vote, np.arange(len(mean_vote)) if deal is None else deal, rule)
    pull = rule.belief_items * np.trace(G.sum(axis=0)) / len(belief) / len(mean_vote)
    ridge, drawn = pull * np.eye(len(belief)), pull * belief
    found = [
        _minimum(np.tensordot(times, G, 1) + ridge, times @ h + drawn, rule.sum_weight)
        for times in _resamples(len(G), rule)
    ]
    return np.asarray(np.mean(found, axis=0))


def _products(
    experts: Sequence[Expert], mean_vote: FloatArray, deal: IntArray, rule: StackRule
) -> tuple[FloatArray, FloatArray]:
    """Sums of products (parts, experts, experts) and (parts, experts), voted items dealt into parts."""
    n_parts = min(rule.parts, len(mean_vote))
    G, h = np.zeros((n_parts, len(experts), len(experts))), np.zeros((n_parts, len(experts)))
    for part in range(n_parts):
        for first in range(part, len(mean_vote), n_parts * rule.block):
            some = deal[first : first + n_parts * rule.block : n_parts]
            rows = np.stack([expert.held[some].ravel() for expert in experts]).astype(np.float64)
            G[part] += rows @ rows.T
            h[part] += rows @ mean_vote[some].ravel()
    return G, h


def _resamples(n_parts: int, rule: StackRule) -> FloatArray:
    """(resamples, parts) how often each part counts, n_parts in all: a Bayesian bootstrap."""
    if rule.resamples == 0:
        return np.ones((1, n_parts))
    return n_parts * np.random.default_rng(0).dirichlet(np.ones(n_parts), rule.resamples)


def _minimum(G: FloatArray, h: FloatArray, sum_weight: float) -> FloatArray:
    """Least w G w / 2 - h w over w >= 0 with sum 1: nonnegative least squares, a heavy row for the sum."""
    root = np.linalg.cholesky(G)
    heavy = sum_weight * np.abs(root).max()
    rows = np.vstack([root.T, np.full(len(G), heavy)])
    w, _ = nnls(rows, np.append(solve_triangular(root, h, lower=True), heavy))
    return np.asarray(w / w.sum())
