"""How much each expert counts: convex weights by held-out votes, drawn to what was believed before.

    min over w >= 0, sum w = 1:   sum_i |sum_e w_e q_e,i - y_i|^2 + r s |w - w0|^2       theory: [stack]

y_i is the mean vote of item i, s the mean |q|^2: the belief w0 counts like r voted items.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from softspread._common.types import FloatArray
from softspread.posterior.experts import Expert


@dataclass(frozen=True, slots=True)
class StackRule:
    """How weights are found."""

    belief_items: float = 1.0  # the belief counts like this many voted items
    sum_weight: float = 1e4  # how heavy the condition sum w = 1 is, against the largest entry of the loss
    block: int = 20_000  # items whose products are summed at once


RULE = StackRule()


def stack_weights(experts: Sequence[Expert], mean_vote: FloatArray, rule: StackRule = RULE) -> FloatArray:
    """(experts,) weights, at least 0, sum 1; the belief itself where there are no votes."""
    belief = np.array([expert.belief for expert in experts])
    belief = belief / belief.sum()
    if not len(mean_vote):
        return np.asarray(belief)
    G, h = np.zeros((len(experts), len(experts))), np.zeros(len(experts))
    for first in range(0, len(mean_vote), rule.block):
        part = slice(first, first + rule.block)
        rows = np.stack([expert.held[part].ravel() for expert in experts]).astype(np.float64)
        G += rows @ rows.T
        h += rows @ mean_vote[part].ravel()
    pull = rule.belief_items * np.trace(G) / len(G) / len(mean_vote)
    return _minimum(G + pull * np.eye(len(G)), h + pull * belief, rule.sum_weight)


def _minimum(G: FloatArray, h: FloatArray, sum_weight: float) -> FloatArray:
    """Least w G w / 2 - h w over w >= 0 with sum 1: nonnegative least squares, a heavy row for the sum."""
    root = np.linalg.cholesky(G)
    heavy = sum_weight * np.abs(root).max()
    rows = np.vstack([root.T, np.full(len(G), heavy)])
    w, _ = nnls(rows, np.append(solve_triangular(root, h, lower=True), heavy))
    return np.asarray(w / w.sum())
