"""One number per annotator: how far does it vote like everybody else?

P(c_v | r) = r p_v^tau(c_v) + (1 - r) u_a(c_v) on a grid of r; prior and tau by likelihood    theory:
[consistency]
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from softspread._common.types import FloatArray
from softspread.annotators.crowd import Crowd

CONSISTENCIES = np.linspace(0.0, 1.0, 81)
TEMPERS = (1.0, 1.3, 1.7, 2.2, 3.0)  # diffusion blurs: annotators see the item itself and are surer than p_v
PRIOR_MEANS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PRIOR_SIZES = (2.0, 4.0, 8.0, 16.0, 50.0)
PRIOR_SHARE = (
    0.95  # the rest of the prior is uniform: a spammer in a crowd of honest people must stay possible
)
USUAL_MEAN, USUAL_SPREAD = 0.8, 0.3  # weak opinion on the crowd's mean, felt only with few annotators
HABIT_STRENGTH = 10.0  # of the class shares in u_a
LEAST_WEIGHT = 1e-6  # keeps an item that only a spammer voted on above no evidence at all
LEAST_LIKELIHOOD = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What is known about r of each annotator."""

    density: FloatArray  # (a, 81) probability of each of CONSISTENCIES
    temper: float
    prior_mean: float
    habits: FloatArray  # (a, n_classes) u_a
    agreement: FloatArray  # (a,)

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.density @ CONSISTENCIES)

    def quantile(self, level: float) -> FloatArray:
        """(a,) smallest r with at least this probability at or below it."""
        below = (np.cumsum(self.density, axis=1) < level).sum(axis=1)
        return np.asarray(CONSISTENCIES[np.minimum(below, len(CONSISTENCIES) - 1)])

    def weights(self) -> FloatArray:
        """(a,) factor of the annotator's votes."""
        return self.mean**2 + LEAST_WEIGHT


def rate_annotators(crowd: Crowd, kappa: float, rounds: int) -> Posterior:
    """Start from equal votes; rate, weight, and rate again by what the weighted votes say."""
    cells = crowd.cells
    amounts = cells.choices() * cells.weights[:, None]
    own = crowd.own_as_cast  # an annotator's factor is common to all own votes, so once is enough
    factors = np.ones(len(cells.rows))
    for number in range(rounds):
        scale = factors[:, None]
        others = crowd.others(crowd.spread(amounts * scale), own * scale, kappa)
        posterior = consistency_posterior(crowd, others)
        if number + 1 < rounds:
            factors = cells.spread_to_cells(posterior.weights())
    return posterior


def consistency_posterior(crowd: Crowd, others: FloatArray) -> Posterior:
    """Posterior of r per annotator; temper and prior maximise the likelihood of all votes, theory
    [consistency].
    """
    cells = crowd.cells
    columns = cells.columns[cells.named]
    habits = HABIT_STRENGTH * crowd.class_shares + _per_annotator(crowd, cells.choices()[cells.named])
    habits /= habits.sum(axis=1, keepdims=True)
    by_habit = habits[cells.who[cells.named], columns]
    priors, opinions, means = _priors()
    best: tuple[float, FloatArray, float, float] | None = None
    for temper in TEMPERS:
        by_crowd = np.take_along_axis(tempered(others, temper), columns[:, None], axis=1)[:, 0]
        loglik = _log_likelihood(crowd, by_crowd, by_habit)
        top = loglik.max(axis=1, keepdims=True)
        likelihood = np.exp(loglik - top)
        evidence = (np.log(likelihood @ priors.T) + top).sum(axis=0) + opinions
        chosen = int(np.argmax(evidence))
        if best is None or evidence[chosen] > best[0]:
            density = likelihood * priors[chosen]
            density /= density.sum(axis=1, keepdims=True)
            best = float(evidence[chosen]), density, temper, float(means[chosen])
    assert best is not None
    same = (others.argmax(axis=1) == columns).astype(np.float64)
    counted = _per_annotator(crowd, np.stack([same, np.ones_like(same)], axis=1))
    return Posterior(best[1], best[2], best[3], habits, counted[:, 0] / counted[:, 1])


def tempered(p: FloatArray, temper: float) -> FloatArray:
    """Rows of p to a power, summing to 1 again."""
    if temper == 1.0:
        return p
    powers = p**temper
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _per_annotator(crowd: Crowd, values: FloatArray) -> FloatArray:
    """Sums of (named cells, k) values over each annotator's cells, each counted as far as it is trusted."""
    return np.asarray(np.add.reduceat(values * crowd.trust[:, None], crowd.starts, axis=0))


def _log_likelihood(crowd: Crowd, by_crowd: FloatArray, by_habit: FloatArray) -> FloatArray:
    """(a, 81) log probability of all votes of each annotator; one r at a time, so memory stays that of the
    votes.
    """
    out = np.empty((crowd.cells.n_annotators, len(CONSISTENCIES)))
    for number, r in enumerate(CONSISTENCIES.tolist()):
        probability = np.maximum(r * by_crowd + (1 - r) * by_habit, LEAST_LIKELIHOOD)
        out[:, number] = _per_annotator(crowd, np.log(probability)[:, None])[:, 0]
    return out


def _priors() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Candidate priors over CONSISTENCIES (k, 81), the opinion on each (k,), and its mean (k,)."""
    inside = np.clip(CONSISTENCIES, 0.005, 0.995)  # a Beta density may be infinite at its ends
    means = np.repeat(PRIOR_MEANS, len(PRIOR_SIZES))
    sizes = np.tile(PRIOR_SIZES, len(PRIOR_MEANS))
    a, b = (means * sizes)[:, None], ((1 - means) * sizes)[:, None]
    shapes = np.exp(xlogy(a - 1, inside) + xlog1py(b - 1, -inside) - betaln(a, b))  # densities of Beta(a, b)
    shapes /= shapes.sum(axis=1, keepdims=True)
    priors = PRIOR_SHARE * shapes + (1 - PRIOR_SHARE) / len(CONSISTENCIES)
    return priors, -0.5 * ((means - USUAL_MEAN) / USUAL_SPREAD) ** 2, means
