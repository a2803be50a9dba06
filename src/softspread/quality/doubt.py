"""Worlds of the posterior, weighed by how well they predict votes that were held out.

    B = e^a D_w + e^b N_w + noise of few votes,    error of the items = e^a |p - t|^2_w    theory: [quality]

A model can be wrong in every world it allows. So each world may be off by factors e^a (error), e^b (noise)
and more, of heavy tails; pairs of world and factors are weighed by how well they predict the held-out scores
and, where items are a random sample, how often two votes on an item differ. Where votes say much, they
decide; where they say little, the posterior does, and the factors keep its intervals wide.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.types import FloatArray
from softspread.quality.accuracy import TINY
from softspread.quality.result import Estimate
from softspread.quality.worlds import Worlds


@dataclass(frozen=True, slots=True)
class DoubtRule:
    """How far a world may be off; design runs: docs/measurements-quality.md."""

    # Scales of the logarithms of the factors. On the design sets the worlds' squared error was right to about
    # e^0.15 where people's votes left much of it. The smaller the error beside the noise of votes, the more
    # a slightly wrong picture of that noise matters: doubt grows with noise / error. There is more room
    # towards smaller errors, as some truths are smoother than the posterior dares to believe.
    squared: float = 0.1
    squared_by_noise: float = 0.01
    squared_below: float = 1.3
    most_noise: float = 40.0  # times the error: more would only add doubt where nothing is known
    noise: float = 0.05  # is measured more directly
    # KL and entropy follow squared error and noise up to these. Where nobody knows whether small
    # probabilities are 0 or merely small, worlds take them for 0, which makes KL too large: it may be smaller
    # by more.
    kl: float = 0.1
    kl_by_noise: float = 0.008
    kl_below: float = 2.0
    entropy: float = 0.2
    # Of odds, which keeps shares below 1:
    differ: float = 0.18  # votes for another class than the one shown
    wrong: float = 0.22  # wrong classes, given these
    wrong_add: float = 0.005  # and in absolute terms: none of a thousand is not none
    tails: float = 2.5  # degrees of freedom of Student's t: some models are far off, and then votes decide
    furthest: float = 20.0  # logarithm of a factor: beyond it numbers overflow, and no vote can tell
    least_error: float = 0.02  # of a held-out score, which no bootstrap may claim to know better
    per_world: int = 500  # draws of the factors: enough of them far out where votes contradict all worlds
    # Draws that an interval rests on at least: where all worlds contradict the votes, what the votes say is
    # taken less literally until that many are left. A single survivor would know no doubt.
    fewest: int = 100


RULE = DoubtRule()


class Seen(NamedTuple):
    """A number seen in the votes, with its standard error."""

    value: float
    error: float

    def misfit(self, expected: FloatArray, least: float) -> FloatArray:
        """Log likelihood of an expectation; the error is at least this share of the value."""
        return np.asarray(-0.5 * ((self.value - expected) / np.hypot(self.error, least * self.value)) ** 2)


class SeenShare(NamedTuple):
    """A share seen among votes, with its standard error and how many uniform votes they are worth."""

    value: float
    error: float
    number: float

    def misfit(self, expected: FloatArray, least: float) -> FloatArray:
        """As Wilson's interval: the error is that of the expectation, where few heavy votes show less."""
        variance = expected * (1 - expected) / self.number + (0.5 / self.number) ** 2
        variance = np.maximum(variance, self.error**2) + (least * self.value) ** 2
        return np.asarray(-0.5 * (self.value - expected) ** 2 / variance)


class SeenRange(NamedTuple):
    """A number of which the votes show a range, with the standard error of its ends."""

    lower: float
    upper: float
    error: float

    def misfit(self, expected: FloatArray) -> FloatArray:
        """Log likelihood of an expectation: flat within the range."""
        outside = np.maximum(np.maximum(self.lower - expected, expected - self.upper), 0.0)
        return np.asarray(-0.5 * (outside / self.error) ** 2)


class Checks(NamedTuple):
    """Held-out scores that worlds must agree with."""

    brier: Seen
    cross: Seen
    differ: SeenShare  # share of votes for another class than the one shown
    noise: Seen | None  # None where the items with several votes are not a random sample
    entropy: SeenRange | None


class Measures(NamedTuple):
    """Estimates that need to separate error from noise."""

    rmse: Estimate
    kl: Estimate
    accuracy: Estimate
    agreement: Estimate  # of further votes with what is shown, which has seen all votes so far
    noise: Estimate


def weigh_worlds(
    worlds: Worlds,
    checks: Checks,
    n_classes: int,
    level: float,
    rng: np.random.Generator,
    rule: DoubtRule = RULE,
) -> Measures:
    """Intervals of all measures from worlds, factors of doubt and what the votes say."""
    n_draws = len(worlds.squared) * rule.per_world
    worlds = worlds.at(np.repeat(np.arange(len(worlds.squared)), rule.per_world))

    error = np.maximum(worlds.trial_brier - worlds.trial_noise, 0.0)
    least_seen = np.maximum(worlds.trial_noise / rule.most_noise, TINY)
    noise_per_error = worlds.trial_noise / np.maximum(error, least_seen)

    def doubt(scale: float, by_noise: float = 0.0, below: float = 1.0) -> FloatArray:
        drawn = np.hypot(scale, by_noise * noise_per_error) * rng.standard_t(rule.tails, n_draws)
        return np.clip(np.where(drawn < 0, below, 1.0) * drawn, -rule.furthest, rule.furthest)

    least = rule.least_error
    squared, noise = doubt(rule.squared, rule.squared_by_noise, rule.squared_below), doubt(rule.noise)
    fit = checks.brier.misfit(np.exp(squared) * error + np.exp(noise) * worlds.trial_noise, least)
    if checks.noise is not None:
        fit = fit + checks.noise.misfit(np.exp(noise) * worlds.repeat_noise, least)
    kl, entropy = squared + doubt(rule.kl, rule.kl_by_noise, rule.kl_below), noise + doubt(rule.entropy)
    error = np.maximum(worlds.trial_cross - worlds.trial_entropy, 0.0)
    fit_kl = fit + checks.cross.misfit(np.exp(kl) * error + np.exp(entropy) * worlds.trial_entropy, least)
    if checks.entropy is not None:
        fit_kl = fit_kl + checks.entropy.misfit(np.exp(entropy) * worlds.repeat_entropy)
    differ = doubt(rule.differ)
    fit_class = checks.differ.misfit(_times_odds(worlds.trial_differ, differ), least)
    wrong = _times_odds(worlds.wrong, differ + doubt(rule.wrong))
    wrong = wrong + rule.wrong_add * rng.standard_normal(n_draws)
    fit, fit_kl, fit_class = (_tempered(logs, rule.fewest) for logs in (fit, fit_kl, fit_class))
    return Measures(
        quantiles_of(np.sqrt(np.exp(squared) * worlds.squared / n_classes), fit, level),
        quantiles_of(np.exp(kl) * worlds.kl, fit_kl, level),
        quantiles_of(1 - np.clip(wrong, 0.0, 1.0), fit_class, level),
        quantiles_of(1 - _times_odds(worlds.differ, differ), fit_class, level),
        quantiles_of(np.minimum(np.exp(noise) * worlds.noise, 1 - 1 / n_classes), fit, level),
    )


def _tempered(log_weights: FloatArray, fewest: int) -> FloatArray:
    """The largest power of the weights, at most 1, that leaves at least ``fewest`` effective draws."""
    below_best = log_weights - log_weights.max()

    def left(halvings: float) -> float:
        weights = np.exp(0.5**halvings * below_best)
        return float(weights.sum() ** 2 / (weights**2).sum())

    if left(0.0) >= fewest:
        return log_weights
    low, high = 0.0, 200.0  # 2^-200 makes any weights equal
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if left(middle) >= fewest else (middle, high)
    return np.asarray(0.5**high * below_best)


def _times_odds(share: FloatArray, factor: FloatArray) -> FloatArray:
    """A share whose odds are multiplied by e^factor."""
    odds = np.exp(factor) * share
    return np.asarray(odds / (odds + 1 - share))


def quantiles_of(values: FloatArray, log_weights: FloatArray, level: float) -> Estimate:
    """Weighted median and ends of the interval.

    Examples
    --------
    >>> quantiles_of(np.arange(101.0), np.zeros(101), 0.9)
    Estimate(value=50.0, lower=5.0, upper=95.0)
    """
    order = np.argsort(values, kind="stable")
    total = np.cumsum(np.exp(log_weights - log_weights.max())[order])
    shares = np.array([0.5, (1 - level) / 2, (1 + level) / 2])
    places = np.searchsorted(total, shares * total[-1]).clip(max=len(values) - 1)
    value, lower, upper = values[order][places].tolist()
    return Estimate(value, lower, upper)
