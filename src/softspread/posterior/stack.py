"""How much each expert counts: convex weights by held-out votes, shrunk towards a prior.

    min over w >= 0, sum w = 1:   sum_i |sum_e w_e q_e,i - y_i|^2 + r s |w - w0|^2       theory: [stack]

y_i is the mean vote of item i, s the mean |q|^2: the belief w0 counts like r voted items. The weights are the
mean of the minima for several resamples of the voted items: which of two experts that say nearly the same
counts is then not left to a few votes. Of ordered classes q and y hold P(y <= c) and P(y > c) of every
threshold c instead: the ranked probability score, which for two classes is the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from softspread._common.types import FloatArray, IntArray
from softspread.posterior.experts import Expert, Float32Array


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
    ordered: bool = False,
) -> FloatArray:
    """(experts,) weights, at least 0, sum 1; the belief itself where there are no votes.

    ``deal`` (v,) is the order in which voted items are dealt into parts; None = as they come. ``ordered``
    scores thresholds instead of classes.
    """
    belief = np.array([expert.belief for expert in experts])
    belief = belief / belief.sum()
    if not len(mean_vote):
        return np.asarray(belief)
    held = [_thresholds(expert.held) if ordered else expert.held for expert in experts]
    said = _thresholds(mean_vote) if ordered else mean_vote
    G, h = _products(held, said, np.arange(len(said)) if deal is None else deal, rule)
    pull = rule.belief_items * np.trace(G.sum(axis=0)) / len(belief) / len(mean_vote)
    ridge, drawn = pull * np.eye(len(belief)), pull * belief
    found = [
        _minimum(np.tensordot(times, G, 1) + ridge, times @ h + drawn, rule.sum_weight)
        for times in _resamples(len(G), rule)
    ]
    return np.asarray(np.mean(found, axis=0))


def _thresholds(q: Any) -> Any:
    """(v, 2 (n_classes - 1)) probability of at most, and of more than, each class but the last."""
    above = np.tri(q.shape[1], q.shape[1] - 1, -1, dtype=q.dtype)  # 1 where a class is above the threshold
    return np.hstack([q @ (1 - above), q @ above])


def _products(
    held: Sequence[Float32Array], mean_vote: FloatArray, deal: IntArray, rule: StackRule
) -> tuple[FloatArray, FloatArray]:
    """Sums of products (parts, experts, experts) and (parts, experts), voted items dealt into parts."""
    n_parts = min(rule.parts, len(mean_vote))
    G, h = np.zeros((n_parts, len(held), len(held))), np.zeros((n_parts, len(held)))
    for part in range(n_parts):
        for first in range(part, len(mean_vote), n_parts * rule.block):
            some = deal[first : first + n_parts * rule.block : n_parts]
            rows = np.stack([q[some].ravel() for q in held]).astype(np.float64)
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
