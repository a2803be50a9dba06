"""From ratings to the mean rating of every item: how far people differ, how far neighbours can be trusted.

    r_ij = mu_i + e_ij,   mu_i ~ N(m_i, t^2 / size_i^b),   e_ij ~ N(0, h_i s^2)         theory: [rating]

m_i is what others say, without the item's own ratings, and size_i how many ratings speak through it; t how
far off it is; s how far people differ, h_i how that varies from place to place. Which part of the errors is s
and which t shows in items with two or more ratings; without any, all parts are equally probable and intervals
are wide. The mean averages over everything open, its variance over the half that trusts neighbours less.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import ndtri

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion


@dataclass(frozen=True, slots=True)
class RatingRule:
    """All constants in one place."""

    people: tuple[float, ...] = tuple(np.linspace(0.03, 1.2, 27))  # s^2 over the whole error ...
    neighbors: tuple[float, ...] = tuple(np.logspace(-3, 0.1, 16))  # ... t^2 over it ...
    powers: tuple[float, ...] = (0.0, 0.5, 1.0)  # ... and b, that are weighed
    judges: int = 4_000  # rated items that weigh them; more say nothing new
    negligible: float = 1e-3  # of the largest chance; less probable splits are left out
    sizes: tuple[float, float] = (0.05, 20.0)  # over the median size; beyond, the end counts
    local: float = 20.0  # degrees of freedom that the mean of h over all items counts like
    alpha: float = 0.9  # at which h, and annotators' consensus, is spread
    passes: int = 4  # over offsets and scales of annotators
    shrink: float = 5.0  # ratings that an annotator like all others counts for


RULE = RatingRule()


@dataclass(frozen=True, slots=True, eq=False)
class OwnRatings:
    """The ratings of every rated item, ascending."""

    rated: IntArray  # (v,)
    number: FloatArray  # (v,)
    mean: FloatArray  # (v,)
    within: FloatArray  # (v,)  sum of squares about the item's mean

    @classmethod
    def of(cls, rows: IntArray, values: FloatArray) -> "OwnRatings":
        """Sum up by item."""
        rated, place = np.unique(rows, return_inverse=True)
        number = np.bincount(place).astype(np.float64)
        mean = np.bincount(place, values) / number
        within: FloatArray = np.bincount(place, (values - mean[place]) ** 2).astype(np.float64)
        return cls(rated, number, mean, within)


@dataclass(frozen=True, slots=True, eq=False)
class RatingNoise:
    """How far people differ and neighbours are off: several possibilities with their probabilities."""

    chances: FloatArray  # (k,)
    people: FloatArray  # (k,)  s^2
    neighbors: FloatArray  # (k,)  t^2 at the usual size
    powers: FloatArray  # (k,)  b
    usual: float  # log size of the median rated item
    sizes: tuple[float, float]

    @property
    def variance(self) -> float:
        """s^2, expected."""
        return float(self.chances @ self.people)

    def doubtful(self) -> "RatingNoise":
        """The half of the splits, by chance, that trusts neighbours less: what intervals must hold in."""
        order = np.argsort(-self.neighbors, kind="stable")
        before = np.cumsum(self.chances[order]) - self.chances[order]
        left = np.clip(0.5 - before, 0.0, self.chances[order])
        chances = np.zeros(len(order))
        chances[order] = left / left.sum()
        return replace(self, chances=chances)

    def over_usual(self, log_size: FloatArray) -> FloatArray:
        """How many ratings speak through each item, over the usual number."""
        return np.asarray(np.clip(np.exp(log_size - self.usual), *self.sizes))


def fit_noise(
    own: OwnRatings, held: FloatArray, log_size: FloatArray, rule: RatingRule = RULE
) -> RatingNoise:
    """Weigh every split of the errors into people and neighbours by its likelihood.

    Parameters
    ----------
    own : the ratings
    held : (v,) predictions of the rated items without their own ratings
    log_size : (v,) logarithm of how many ratings speak through each
    """
    off, free = (own.mean - held) ** 2, own.number - 1
    # The error of a single rating. Held-out predictions may be perfect, and all ratings equal.
    whole = max(float(np.mean(off + own.within / own.number)), np.finfo(float).tiny)
    people, neighbors, powers = (
        part.ravel() for part in np.meshgrid(rule.people, rule.neighbors, rule.powers, indexing="ij")
    )
    usual = float(np.median(log_size))
    every = RatingNoise(np.ones(1), people * whole, neighbors * whole, powers, usual, rule.sizes)
    some = np.linspace(0, len(held) - 1, min(len(held), rule.judges)).astype(np.int64)
    size, number = every.over_usual(log_size[some]), own.number[some]
    inside, freedom = float(own.within[some].sum()), float(free[some].sum())
    # t is believed to be anything alike: a step of the grid of t^2 is as wide as t
    logs = 0.5 * np.log(neighbors) - 0.5 * (freedom * np.log(every.people) + inside / every.people)
    for k, (s2, t2, b) in enumerate(zip(every.people, every.neighbors, powers, strict=True)):
        spread = t2 * size**-b + s2 / number
        logs[k] -= 0.5 * float((np.log(spread) + off[some] / spread).sum())
    chances = np.exp(logs - logs.max())
    kept = chances > rule.negligible
    chances = chances[kept] / chances[kept].sum()
    s2, t2, b = every.people[kept], every.neighbors[kept], powers[kept]
    return RatingNoise(chances, s2, t2, b, usual, rule.sizes)


def local_noise(
    diffusion: Diffusion, own: OwnRatings, held: FloatArray, noise: RatingNoise, rule: RatingRule = RULE
) -> FloatArray:
    """(n,) h: how much more or less people differ about each item, the mean over ratings near 1."""
    squares, free = own.within / noise.variance, own.number - 1
    if free.sum() < rule.local:  # hardly any repeats: where predictions are off people may differ
        expected = float(noise.chances @ noise.neighbors) + noise.variance / own.number
        squares, free = (own.mean - held) ** 2 / expected, np.ones(len(held))
    mass = diffusion.at(rule.alpha).spread(own.rated, np.column_stack([squares, free])).mass()
    return (np.maximum(mass[:, 0], 0.0) + rule.local) / (np.maximum(mass[:, 1], 0.0) + rule.local)


@dataclass(frozen=True, slots=True, eq=False)
class MeanRatings:
    """Posterior of the mean rating of every item."""

    mean: FloatArray  # (n,)
    variance: FloatArray  # (n,)  of the mean
    std: FloatArray  # (n,)  between people

    @property
    def evidence(self) -> FloatArray:
        """(n,) how many ratings the mean is worth."""
        return np.asarray(self.std**2 / np.maximum(self.variance, np.finfo(float).tiny))

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Ends of the intervals of the mean."""
        half = ndtri(0.5 + level / 2) * np.sqrt(self.variance)
        return self.mean - half, self.mean + half


def mean_ratings(
    m: FloatArray,
    log_size: FloatArray,
    noise: RatingNoise,
    local: FloatArray,
    own: OwnRatings | None = None,
    between: float = 0.0,
) -> MeanRatings:
    """Posterior of mu: what others say, and the item's own ratings where it has some.

    Parameters
    ----------
    m : (n,) what others say
    local : (n,) h
    own : None = of new items
    between : variance of the mean offset of the people who happened to rate
    """
    number, given = np.zeros((2, len(m)))
    if own is not None:
        number[own.rated], given[own.rated] = own.number, own.mean
    mean = _moments(m, log_size, noise, local, number, given)[0]
    variance = _moments(m, log_size, noise.doubtful(), local, number, given)[1]
    return MeanRatings(mean, variance + between, np.sqrt(noise.variance * local))


def _moments(
    m: FloatArray,
    log_size: FloatArray,
    noise: RatingNoise,
    local: FloatArray,
    number: FloatArray,
    given: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of mu, averaged over the splits."""
    size = noise.over_usual(log_size)
    first, second = np.zeros((2, len(m)))
    for chance, s2, t2, b in zip(noise.chances, noise.people, noise.neighbors, noise.powers, strict=True):
        trust, mine = size**b / t2, number / (s2 * local)
        mu = (m * trust + given * mine) / (trust + mine)
        first += chance * mu
        second += chance * (1 / (trust + mine) + mu**2)
    return first, np.maximum(second - first**2, 0.0)


def annotator_lines(
    diffusion: Diffusion, rows: IntArray, values: FloatArray, annotators: AnyArray, rule: RatingRule = RULE
) -> pd.DataFrame:
    """Offset and scale of each annotator against others' ratings of the same items and their neighbours.

    Returns
    -------
    DataFrame
        annotator, ratings, offset and scale: r = offset + centre + scale (mu - centre); their means, weighted
        by ratings, are 0 and 1.
    """
    codes, names = pd.factorize(pd.Series(annotators, dtype=object))
    named, n = codes >= 0, len(names)
    number = np.bincount(codes[named], minlength=n).astype(np.float64)
    offset, scale = np.zeros(n), np.ones(n)
    centre = float(values.mean())
    here, ones = diffusion.at(rule.alpha), np.ones(len(rows))
    for _ in range(rule.passes):
        even = corrected(values, codes, offset, scale, centre)
        mass = here.spread(rows, np.column_stack([even, ones])).mass(rows)
        others = mass - np.column_stack([even, ones])  # a vote brings 1 to its own item
        heard = named & (others[:, 1] > 0.05)
        consensus = others[heard, 0] / others[heard, 1] - centre
        who, given = codes[heard], values[heard] - centre
        count, total = np.bincount(who, minlength=n), np.bincount(who, consensus, n)
        mean = total / np.maximum(count, 1)
        at = consensus - mean[who]
        usual = float(at @ at) / max(len(at), 1) * rule.shrink
        spread = np.bincount(who, at**2, n) + usual
        both = np.bincount(who, at * given, n) + usual
        slope = np.divide(both, spread, out=np.ones(n), where=spread > 0)  # one rating each tells no scale
        scale = np.maximum(slope / np.average(slope, weights=number), 0.1)
        beyond = np.bincount(who, given - scale[who] * consensus, n) / (count + rule.shrink)
        offset = beyond - np.average(beyond, weights=number)
    return pd.DataFrame(
        {"annotator": np.asarray(names), "ratings": number.astype(int), "offset": offset, "scale": scale}
    )


def corrected(
    values: FloatArray, codes: IntArray, offset: FloatArray, scale: FloatArray, centre: float
) -> FloatArray:
    """Ratings without their annotators' offset and scale; those of nobody (code -1) stay."""
    line = np.where(codes < 0, 0.0, offset[codes]), np.where(codes < 0, 1.0, scale[codes])
    return np.asarray(centre + (values - centre - line[0]) / line[1])
