"""One number per annotator: how far does it vote like everybody else?

    P(c_v | r) = r p*_v(c_v) + (1 - r) u_a(c_v)  on a grid of r,   p*_v: p_v sharpened   theory: [consistency]

How sharp, the prior of r and a factor common to all r are averaged over as far as votes leave them open.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from softspread._common.types import BoolArray, FloatArray
from softspread.heldout.crowd import Crowd


@dataclass(frozen=True, slots=True)
class ConsistencyModel:
    """Assumptions about annotators; source: docs/annotators.md, chosen on simulated and real crowds."""

    grid_size: int = 81  # values of r between 0 and 1
    # Diffusion blurs p_v, and annotators see the item itself: p_v moved away from the class shares ...
    stretches: tuple[float, ...] = (1.0, 1.3)
    tempers: tuple[float, ...] = (1.0, 1.4, 2.0, 3.0)  # ... and to a power
    # p_v is noisy too, which only the crowd's mean r shows: all r by a common factor
    factors: tuple[float, ...] = (1.0, 0.85, 0.7)
    prior_means: tuple[float, ...] = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    prior_sizes: tuple[float, ...] = (2.0, 4.0, 8.0, 16.0, 50.0)
    spammer_shares: tuple[float, ...] = (0.03, 0.1, 0.3)  # of the crowd: people who name classes blindly ...
    spammer_limit: float = 0.1  # ... r at most this
    uniform_share: float = 0.02  # of the crowd: r anywhere, so that no r is impossible
    usual_mean: float = 0.8  # weak opinion on the crowd's mean, felt only with few annotators ...
    usual_spread: float = 0.3  # ... and how weak
    habit_strength: float = 10.0  # of the class shares in u_a
    least_weight: float = 1e-6  # keeps an item that only a spammer voted on above no evidence at all
    least_likelihood: float = 1e-6  # one impossible vote must not decide
    # Of the class shares in p_v: an item hardly anybody else reaches proves nothing
    least_strength: float = 0.3

    @property
    def sharpenings(self) -> list[tuple[float, float]]:
        """All pairs of stretch and temper."""
        return list(product(self.stretches, self.tempers))

    def strength(self, kappa: float) -> float:
        """Of the class shares in p_v."""
        return max(kappa, self.least_strength)

    @property
    def grid(self) -> FloatArray:
        """(grid_size,) values of r."""
        return np.linspace(0.0, 1.0, self.grid_size)

    def priors(self) -> "Priors":
        """All candidates."""
        inside = np.clip(self.grid, 0.005, 0.995)  # a Beta density may be infinite at its ends
        candidates = np.meshgrid(self.prior_means, self.prior_sizes, self.spammer_shares, indexing="ij")
        means, sizes, spammers = (axis.ravel() for axis in candidates)
        a, b = (means * sizes)[:, None], ((1 - means) * sizes)[:, None]
        usual = np.exp(xlogy(a - 1, inside) + xlog1py(b - 1, -inside) - betaln(a, b))  # Beta(a, b)
        usual /= usual.sum(axis=1, keepdims=True)
        blind = (self.grid <= self.spammer_limit) / np.count_nonzero(self.grid <= self.spammer_limit)
        shapes = (1 - self.uniform_share) * ((1 - spammers)[:, None] * usual + spammers[:, None] * blind)
        opinions = np.exp(-0.5 * ((means - self.usual_mean) / self.usual_spread) ** 2)
        return Priors(shapes + self.uniform_share / self.grid_size, np.log(opinions / opinions.sum()), means)


@dataclass(frozen=True, slots=True, eq=False)
class Priors:
    """Priors of r in a crowd."""

    shapes: FloatArray  # (k, grid_size) probability of each r
    opinions: FloatArray  # (k,) log probability of each candidate
    means: FloatArray  # (k,) of those who are not spammers


CONSISTENCY = ConsistencyModel()


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Posterior of r for each annotator."""

    density: FloatArray  # (a, grid) probability of each r
    sharpening: tuple[float, float]  # the likeliest stretch and temper
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
    """Posterior of r per annotator, averaged over sharpenings, factors and priors as votes support them."""
    own_habits, priors = habits(crowd, model), model.priors()
    logliks = log_likelihoods(crowd, others, own_habits, model)
    evidence = log_evidence(logliks, priors, model)
    chances = np.exp(evidence - evidence.max())
    chances /= chances.sum()
    density = np.zeros_like(logliks[0])
    for loglik, by_factor in zip(logliks, chances, strict=True):
        for factor, chance in zip(model.factors, by_factor, strict=True):
            likelihood, _ = _stretched(loglik, factor)
            density += likelihood * ((chance / (likelihood @ priors.shapes.T)) @ priors.shapes)
    density /= density.sum(axis=1, keepdims=True)
    same = (others.argmax(axis=1) == crowd.columns).astype(np.float64)
    counted = crowd.per_annotator(np.stack([same, np.ones_like(same)], axis=1))
    agreement, mean = counted[:, 0] / counted[:, 1], float(chances.sum(axis=(0, 1)) @ priors.means)
    likeliest = model.sharpenings[int(chances.sum(axis=(1, 2)).argmax())]
    return Posterior(density, likeliest, mean, own_habits, agreement, model)


def habits(crowd: Crowd, model: ConsistencyModel = CONSISTENCY) -> FloatArray:
    """u_a: the classes each annotator names, (a, n_classes)."""
    counts = model.habit_strength * crowd.class_shares + crowd.per_annotator(crowd.choices[crowd.named])
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def log_evidence(logliks: list[FloatArray], priors: Priors, model: ConsistencyModel) -> FloatArray:
    """Log probability of all votes and of what was assumed, (sharpenings, factors, priors)."""
    out = np.empty((len(logliks), len(model.factors), len(priors.means)))
    for row, loglik in enumerate(logliks):
        for column, factor in enumerate(model.factors):
            likelihood, top = _stretched(loglik, factor)
            out[row, column] = (np.log(likelihood @ priors.shapes.T) + top).sum(axis=0) + priors.opinions
    return np.asarray(out - np.log(out.shape[0] * out.shape[1]))


def _stretched(loglik: FloatArray, factor: float) -> tuple[FloatArray, FloatArray]:
    """Likelihood of r where the votes show min(1, r * factor), up to exp(top), and top (a, 1)."""
    last = loglik.shape[1] - 1
    place = np.minimum(np.arange(last + 1) * factor, last)
    low = np.minimum(place.astype(np.int64), last - 1)
    shown = loglik[:, low] * (1 - place + low) + loglik[:, low + 1] * (place - low)
    top = shown.max(axis=1, keepdims=True)
    return np.exp(shown - top), top


def sharpened(p: FloatArray, shares: FloatArray, stretch: float, temper: float) -> FloatArray:
    """Rows of p moved away from the class shares, then to a power, summing to 1 again."""
    powers = np.maximum(shares + stretch * (p - shares), 0.0) ** temper
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def log_likelihoods(
    crowd: Crowd,
    others: FloatArray,
    own_habits: FloatArray,
    model: ConsistencyModel,
    judged: BoolArray | None = None,
) -> list[FloatArray]:
    """One (a, grid) per sharpening; a vote not in ``judged`` (named,) counts as a habit, whatever r is."""
    columns = crowd.columns
    by_habit, out = own_habits[crowd.who, columns], []
    for stretch, temper in model.sharpenings:
        p = sharpened(others, crowd.class_shares, stretch, temper)
        by_crowd = np.take_along_axis(p, columns[:, None], axis=1)[:, 0]
        by_crowd = by_crowd if judged is None else np.where(judged, by_crowd, by_habit)
        out.append(log_likelihood(crowd, by_crowd, by_habit, model))
    return out


def log_likelihood(
    crowd: Crowd, by_crowd: FloatArray, by_habit: FloatArray, model: ConsistencyModel
) -> FloatArray:
    """(a, grid) log probability of all votes of each annotator; one r at a time keeps memory small."""
    out = np.empty((crowd.ballots.n_annotators, model.grid_size))
    for number, r in enumerate(model.grid.tolist()):
        probability = np.maximum(r * by_crowd + (1 - r) * by_habit, model.least_likelihood)
        out[:, number] = crowd.per_annotator(np.log(probability)[:, None])[:, 0]
    return out
