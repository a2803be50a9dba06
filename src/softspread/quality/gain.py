"""How much further votes would improve a posterior, in closed form.

    error of an item = noise / (votes that it is worth),    now nu + t,  then nu' + t + j     theory: [gain]
    1 / nu = 1 / ne + rest        nu' : ne grows like the votes, the rest falls much more slowly

t are the item's own votes, j those to come, nu what the others' word is worth and ne the votes behind it.
What others say is off for two reasons: few votes behind it, which further votes mend, and items that differ
from their neighbours, which they hardly do. Nothing is fitted again: a million items take a moment.
"""

from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd
from scipy.special import gammaln, ndtri, pdtrik, xlogy

from softspread._common import validation
from softspread._common.types import FloatArray, IntArray
from softspread._kernels.beta_mixture import Mixtures
from softspread.errors import InputError
from softspread.posterior.experts import Float32Array
from softspread.quality.estimate import FittedBlend
from softspread.quality.result import Estimate, GainForecast, estimate_with


@dataclass(frozen=True, slots=True)
class GainRule:
    """How errors fall with votes; design runs: docs/measurements-quality.md."""

    # Exponent with which the rest falls: .1 met the gains on five sets of people's and digits' votes, smooth
    # made-up truths fell faster.
    usual_fall: float = 0.1
    fall_spread: float = 0.15
    # A real gain differs from the expected one by chance: in units of sqrt(1 - votes now / votes then), and
    # more where the error is that of few votes, which the next ones replace.
    chance: float = 0.05
    chance_of_few: float = 0.3
    tails: float = 4.0  # degrees of freedom of Student's t: some draws of votes are far off
    worlds: int = 100
    items: int = 2_000  # on which worlds are looked at
    draws: int = 20  # of chance, per world
    ahead: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0)  # further points of the curve, as shares of the votes
    most_points: float = 1e-6  # probability of more further votes on an item than are looked at


RULE = GainRule()


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """Some items in one world: how much each component of their posterior weighs, and what it is worth."""

    noise: FloatArray  # (r, k)  weight times noise of a vote
    nus: FloatArray  # (k,)
    own: FloatArray  # (r, 1)
    size: FloatArray  # (r, 1)  votes behind what others say

    @classmethod
    def of(cls, mixtures: Mixtures, log_size: Float32Array) -> "Standing":
        """Read some items' mixtures; noise is 1 - E|p|^2 of each component."""
        place, rows = mixtures.own_place, np.flatnonzero(mixtures.own_place >= 0)
        m, nus = mixtures.means.astype(np.float64), mixtures.nus
        own, cross, squares = np.zeros((3, len(m), 1))
        y = mixtures.own[place[rows]]
        own[rows, 0], squares[rows, 0] = y.sum(axis=1), (y * y).sum(axis=1)
        cross[rows, 0] = (m[rows] * y).sum(axis=1)
        worth = nus + own
        mean_squared = (nus**2 * (m * m).sum(axis=1)[:, None] + 2 * nus * cross + squares) / worth**2
        noise = (1 - mean_squared) * worth / (worth + 1)
        weights = mixtures.weights[mixtures.place]
        return cls(weights * noise, nus, own, np.exp(log_size.astype(np.float64))[:, None])

    def few(self) -> FloatArray:
        """(r, k) the part of 1 / nu that is owed to few votes."""
        return np.asarray(np.minimum(1 / self.size, 1 / self.nus))

    def error(self) -> float:
        """Mean expected |p - t|^2."""
        return float((self.noise / (self.nus + self.own)).sum(axis=1).mean())

    def share_of_few(self) -> float:
        """Share of the error that is owed to few votes."""
        errors = self.noise / (self.nus + self.own)
        return float((errors * self.few() * self.nus).sum() / max(errors.sum(), np.finfo(np.float64).tiny))

    def error_after(self, growth: float, arriving: FloatArray, fall: float) -> float:
        """The same once all votes have grown by a factor.

        Parameters
        ----------
        arriving : probability of 0, 1, ... further votes on an item
        fall : exponent with which the part that is not owed to few votes falls
        """
        few = self.few()
        worth = 1 / (few / growth + (1 / self.nus - few) * growth**-fall) + self.own
        error = sum(chance * (self.noise / (worth + j)) for j, chance in enumerate(arriving.tolist()))
        return float(np.asarray(error).sum(axis=1).mean())


def forecast_gain(
    fitted: FittedBlend,
    now: Estimate,
    n_votes: int,
    more: int,
    *,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    rule: GainRule = RULE,
) -> GainForecast:
    """How far ``more`` further votes on random items would lower the RMSE of a blend.

    Parameters
    ----------
    fitted : the blend, and the posterior of all items
    now : RMSE as of now, with its interval at the same level
    n_votes : votes so far
    more : number of further votes

    Notes
    -----
    The interval is that of the gain of one further draw of votes: over worlds of the posterior, over how fast
    the rest falls, over chance, and over the RMSE as of now.
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    more = validation.count("more", more, smallest=1)
    if n_votes < 1:
        raise InputError("a forecast needs votes; there are none.")
    rng = np.random.default_rng() if rng is None else rng
    ahead = np.array(
        sorted({n_votes + max(1, round(n_votes * share)) for share in rule.ahead} | {n_votes + more})
    )
    shares = _relative_gains(fitted, n_votes, ahead, rng, rule)  # (worlds x draws, ahead)
    base = _split_normal(now, level, len(shares), rng)
    rmse = np.maximum(base[:, None] * (1 - shares), 0.0)
    middle = np.median(shares, axis=0)
    points = [(n_votes, *astuple(now), "measured"), (n_votes, *astuple(now), "predicted")]
    for votes, share, drawn in zip(ahead.tolist(), middle.tolist(), rmse.T, strict=True):
        points.append((votes, *astuple(estimate_with(now.value * (1 - share), drawn, level)), "predicted"))
    at = int(np.flatnonzero(ahead == n_votes + more)[0])
    exponent = -np.log1p(-min(middle[at], 1 - 1e-9)) / np.log1p(more / n_votes)
    return GainForecast(
        n_votes,
        more,
        now,
        estimate_with(now.value * (1 - middle[at]), rmse[:, at], level),
        estimate_with(now.value * middle[at], base * shares[:, at], level),
        pd.DataFrame(points, columns=["votes", "rmse", "lower", "upper", "kind"]),
        float(exponent),
    )


def _relative_gains(
    fitted: FittedBlend, n_votes: int, ahead: IntArray, rng: np.random.Generator, rule: GainRule
) -> FloatArray:
    """(draws, ahead) falls of the RMSE as shares of it."""
    posterior, n = fitted.posterior, fitted.posterior.n_items
    rows = np.sort(rng.choice(n, min(n, rule.items), replace=False))
    arriving = [_poisson((votes - n_votes) / n, rule) for votes in ahead.tolist()]
    falls = rng.normal(rule.usual_fall, rule.fall_spread, rule.worlds)
    found = []
    for (law, variant), fall in zip(posterior.draw_worlds(rule.worlds, rng), falls.tolist(), strict=True):
        mixtures = posterior.under(law, posterior.variants[variant], rows)
        standing = Standing.of(mixtures, fitted.blend.log_size[rows])
        error = max(standing.error(), np.finfo(np.float64).tiny)
        after = [
            standing.error_after(votes / n_votes, chances, fall)
            for votes, chances in zip(ahead.tolist(), arriving, strict=True)
        ]
        chance = rule.chance + rule.chance_of_few * standing.share_of_few()
        spread = chance * np.sqrt(1 - n_votes / ahead)
        expected = 1 - np.sqrt(np.array(after) / error)
        found.append(expected + spread * rng.standard_t(rule.tails, (rule.draws, 1)))
    return np.concatenate(found)


def _poisson(mean: float, rule: GainRule) -> FloatArray:
    """Probabilities of 0, 1, ... votes on an item, up to what hardly ever happens."""
    counts = np.arange(int(np.ceil(pdtrik(1 - rule.most_points, mean))) + 1)
    chances = np.exp(xlogy(counts, mean) - mean - gammaln(counts + 1))
    return np.asarray(chances / chances.sum())


def _split_normal(estimate: Estimate, level: float, number: int, rng: np.random.Generator) -> FloatArray:
    """Draws of a number whose interval is known: normal on either side of its value, never below 0."""
    z = rng.standard_normal(number) / ndtri((1 + level) / 2)
    below, above = estimate.value - estimate.lower, estimate.upper - estimate.value
    return np.asarray(np.maximum(estimate.value + z * np.where(z < 0, below, above), 0.0))
