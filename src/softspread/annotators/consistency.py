"""One number per annotator: how far does it vote like everybody else?

    P(c_v | r) = r p_v^tau(c_v) + (1 - r) u_a(c_v)  on a grid of r                       theory: [consistency]

The prior of r and tau maximise the likelihood of all votes.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from softspread._common.types import FloatArray
from softspread.heldout.crowd import Crowd


@dataclass(frozen=True, slots=True)
class ConsistencyModel:
    """What is assumed about annotators; source: docs/annotators.md, chosen on simulated and real crowds."""

    grid_size: int = 81  # values of r between 0 and 1
    tempers: tuple[float, ...] = (1.0, 1.3, 1.7, 2.2, 3.0)  # annotators see the item, and are surer than p_v
    prior_means: tuple[float, ...] = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    prior_sizes: tuple[float, ...] = (2.0, 4.0, 8.0, 16.0, 50.0)
    prior_share: float = 0.95  # the rest is uniform: a spammer among honest people must stay possible
    usual_mean: float = 0.8  # weak opinion on the crowd's mean, felt only with few annotators ...
    usual_spread: float = 0.3  # ... and how weak
    habit_strength: float = 10.0  # of the class shares in u_a
    least_weight: float = 1e-6  # keeps an item that only a spammer voted on above no evidence at all
    least_likelihood: float = 1e-6  # one impossible vote must not decide
    least_strength: float = (
        0.3  # of the class shares in p_v: an item hardly anybody else reaches proves nothing
    )

    def strength(self, kappa: float) -> float:
        """Of the class shares in p_v."""
        return max(kappa, self.least_strength)

    @property
    def grid(self) -> FloatArray:
        """(grid_size,) values of r."""
        return np.linspace(0.0, 1.0, self.grid_size)

    def priors(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Candidate priors over the grid (k, grid_size), the opinion on each (k,), and its mean (k,)."""
        inside = np.clip(self.grid, 0.005, 0.995)  # a Beta density may be infinite at its ends
        means = np.repeat(self.prior_means, len(self.prior_sizes))
        sizes = np.tile(self.prior_sizes, len(self.prior_means))
        a, b = (means * sizes)[:, None], ((1 - means) * sizes)[:, None]
        shapes = np.exp(xlogy(a - 1, inside) + xlog1py(b - 1, -inside) - betaln(a, b))  # Beta(a, b)
        shapes /= shapes.sum(axis=1, keepdims=True)
        priors = self.prior_share * shapes + (1 - self.prior_share) / self.grid_size
        return priors, -0.5 * ((means - self.usual_mean) / self.usual_spread) ** 2, means


CONSISTENCY = ConsistencyModel()


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What is known about r of each annotator."""

    density: FloatArray  # (a, grid) probability of each r
    temper: float
    prior_mean: float
    habits: FloatArray  # (a, n_classes) u_a
    agreement: FloatArray  # (a,)
    model: ConsistencyModel

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.density @ self.model.grid)

    def quantile(self, level: float) -> FloatArray:
        """(a,) smallest r with at least this probability at or below it."""
        below = (np.cumsum(self.density, axis=1) < level).sum(axis=1)
        return np.asarray(self.model.grid[np.minimum(below, self.model.grid_size - 1)])

    def weights(self) -> FloatArray:
        """(a,) factor of the annotator's votes."""
        return self.mean**2 + self.model.least_weight


def rate_annotators(
    crowd: Crowd, kappa: float, rounds: int, model: ConsistencyModel = CONSISTENCY
) -> Posterior:
    """Start from equal votes; rate, weight, and rate again by what the weighted votes say."""
    own = crowd.own_as_cast  # an annotator's factor is common to all own votes, so once is enough
    factors = np.ones(len(crowd.ballots.weight))
    for number in range(rounds):
        scaled = crowd.cast * factors[:, None], own * factors[crowd.named][:, None]
        posterior = consistency_posterior(crowd, crowd.others(*scaled, model.strength(kappa)), model)
        if number + 1 < rounds:
            factors = crowd.ballots.per_entry(posterior.weights())
    return posterior


def consistency_posterior(
    crowd: Crowd, others: FloatArray, model: ConsistencyModel = CONSISTENCY
) -> Posterior:
    """Posterior of r per annotator; temper and prior maximise the likelihood of all votes."""
    columns = crowd.columns
    habits = model.habit_strength * crowd.class_shares + crowd.per_annotator(crowd.choices[crowd.named])
    habits /= habits.sum(axis=1, keepdims=True)
    by_habit = habits[crowd.who, columns]
    priors, opinions, means = model.priors()
    found = []
    for temper in model.tempers:
        by_crowd = np.take_along_axis(tempered(others, temper), columns[:, None], axis=1)[:, 0]
        loglik = log_likelihood(crowd, by_crowd, by_habit, model)
        top = loglik.max(axis=1, keepdims=True)
        likelihood = np.exp(loglik - top)
        evidence = (np.log(likelihood @ priors.T) + top).sum(axis=0) + opinions
        chosen = int(np.argmax(evidence))
        found.append((float(evidence[chosen]), chosen, temper, likelihood))
    _, chosen, temper, likelihood = max(found, key=lambda candidate: candidate[0])
    density = likelihood * priors[chosen]
    density /= density.sum(axis=1, keepdims=True)
    same = (others.argmax(axis=1) == columns).astype(np.float64)
    counted = crowd.per_annotator(np.stack([same, np.ones_like(same)], axis=1))
    agreement = counted[:, 0] / counted[:, 1]
    return Posterior(density, temper, float(means[chosen]), habits, agreement, model)


def tempered(p: FloatArray, temper: float) -> FloatArray:
    """Rows of p to a power, summing to 1 again."""
    if temper == 1.0:
        return p
    powers = p**temper
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def log_likelihood(
    crowd: Crowd, by_crowd: FloatArray, by_habit: FloatArray, model: ConsistencyModel
) -> FloatArray:
    """(a, grid) log probability of all votes of each annotator; one r at a time keeps memory small."""
    out = np.empty((crowd.ballots.n_annotators, model.grid_size))
    for number, r in enumerate(model.grid.tolist()):
        probability = np.maximum(r * by_crowd + (1 - r) * by_habit, model.least_likelihood)
        out[:, number] = crowd.per_annotator(np.log(probability)[:, None])[:, 0]
    return out
