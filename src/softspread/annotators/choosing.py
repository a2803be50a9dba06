"""Alpha and prior strength by leaving weighted votes out, where nothing else chooses them."""

from collections.abc import Callable, Sequence

import numpy as np

from softspread._common.types import FloatArray
from softspread.diffusion.diagonal import own_reach
from softspread.diffusion.diffusion import Diffusion
from softspread.votes.table import VoteTable

KAPPAS = (0.01, 0.1, 0.3, 1.0)  # prior strengths to choose from
RISES = (
    2  # the held-out score has one valley over alpha: after so many rises in a row no larger alpha is tried
)

DiffusionAt = Callable[[float], Diffusion]


def choose_alpha_kappa(
    diffusion_at: DiffusionAt,
    votes: VoteTable,
    factors: FloatArray,
    n_classes: int,
    alphas: Sequence[float],
    kappas: Sequence[float],
    prior: FloatArray | None = None,
) -> tuple[float, float]:
    """The pair with the best leave-one-vote-out Brier score, every vote counting with its factor.

    Parameters
    ----------
    votes : (m,) weights above 0; of a weight above 1 one vote at a time is held out
    factors : (m,)
    prior : (n, n_classes) or None = uniform
    """
    if len(votes) == 0:
        return float(alphas[0]), float(kappas[0])
    best: tuple[float, float, float] | None = None
    rises, last = 0, np.inf
    for alpha in sorted(alphas):
        scores = held_out_scores(diffusion_at(alpha), votes, factors, n_classes, kappas, prior)
        chosen = int(np.argmin(scores))
        if best is None or scores[chosen] < best[0]:
            best = float(scores[chosen]), float(alpha), float(kappas[chosen])
        rises = rises + 1 if scores[chosen] > last else 0
        last = scores[chosen]
        if rises >= RISES:
            break
    assert best is not None
    return best[1], best[2]


def held_out_scores(
    diffusion: Diffusion,
    votes: VoteTable,
    factors: FloatArray,
    n_classes: int,
    kappas: Sequence[float],
    prior: FloatArray | None = None,
) -> FloatArray:
    """Weighted mean Brier score of each vote predicted without it, per kappa, theory [leave one out]."""
    choices = np.eye(n_classes)[votes.columns]
    spread = diffusion.spread_entries(votes.rows, votes.columns, votes.weights * factors, n_classes)
    mass = spread.mass(votes.rows)
    single = np.minimum(votes.weights, 1.0) * factors * own_reach(diffusion, votes.rows)
    held_out = np.maximum(mass - choices * single[:, None], 0.0)
    expected = np.full((1, n_classes), 1 / n_classes) if prior is None else prior[votes.rows]
    weight = votes.weights * factors
    scores = []
    for kappa in kappas:
        p = held_out + kappa * expected
        p /= np.maximum(p.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        scores.append(float(weight @ ((p - choices) ** 2).sum(axis=1)) / float(weight.sum()))
    return np.asarray(scores)
