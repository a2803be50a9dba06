"""How good are the soft labels? From votes alone, without ground truth.

    E|p - f|^2 = |p - t|^2 + var(f),   |p - t|^2 ~ p.p - 2 p.f + sum_c k_c (k_c - 1) / (r (r - 1))

theory: [quality]. f = k / r are the shares of r votes on an item, t is its true soft label. Comparing p with
f counts the noise of few votes as error; pairs of votes on the same item measure that noise, and it is taken
off.
"""

from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import FloatArray
from softspread.errors import InputError
from softspread.heldout.masses import mass_of_state
from softspread.heldout.scores import brier as brier_score
from softspread.heldout.split import hold_out
from softspread.intervals.wilson import wilson
from softspread.metrics import KL_FLOOR, ROW_SUM
from softspread.quality.accuracy import estimate_accuracy
from softspread.quality.entropy import entropy_from_moments, entropy_range, vote_moments
from softspread.quality.result import (
    N_BOOTSTRAP,
    Estimate,
    Quality,
    Trials,
    bootstrap,
    interval_of,
)
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.votes.ballots import Ballots
from softspread.votes.repeats import repeat_advice
from softspread.votes.table import VoteTable

UNKNOWN_NOISE = 0.5  # without repeats anything from none to all of the Brier score may be noise: take half


def estimate_quality(
    p: Any,
    counts: Any,
    *,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Quality:
    """Quality of soft labels, from items with votes of their own that were not used for the soft labels.

    Parameters
    ----------
    p : (items, n_classes) soft labels of a random sample of items, made without the votes in ``counts``
    counts : (items, n_classes) whole votes on these items, two or more on most; single ones help ``brier``
    confidence_level : of the intervals, which come from a bootstrap over items

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet([0.3, 0.3, 0.3], size=500)
    >>> votes = np.array([rng.multinomial(3, row) for row in truth])
    >>> quality = estimate_quality(0.8 * truth + 0.2 / 3, votes, rng=rng)
    >>> quality.rmse.lower < 0.067 < quality.rmse.upper < 0.2  # 0.067 is true
    True
    """
    table, votes = _checked_pair(p, counts)
    level = validation.between_0_and_1("confidence_level", confidence_level)
    n_items, size = len(votes), votes.sum(axis=1)
    table, votes, size = table[size > 0], votes[size > 0], size[size > 0]
    if not len(size):
        raise InputError("counts holds no votes; quality needs items with two or more votes each.")
    n_bootstrap = validation.count("n_bootstrap", n_bootstrap, smallest=20)
    trials = Trials(table, votes, np.ones(len(size)), np.arange(len(size)), votes)
    return _estimate(trials, n_items, "set apart", level, rng, n_bootstrap)


def held_out_quality(
    state: SpreadState,
    prior: FloatArray,
    prior_strength: float,
    *,
    cast: VoteTable | None = None,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Quality:
    """Quality of the soft labels of all items, from the votes behind them, each held out in turn.

    A vote held out on an item with j + 1 votes judges for the items with j votes. Right for votes on items
    drawn at random; votes on items chosen for their ambiguity overstate the error.

    Parameters
    ----------
    state : the fitted state, refined
    prior : (n, n_classes)
    cast : the votes before annotators were weighted, of those who can be trusted: they show the noise of
        votes, which weights hide; None where all votes count as they were cast
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    n_bootstrap = validation.count("n_bootstrap", n_bootstrap, smallest=20)
    rng = np.random.default_rng() if rng is None else rng
    n, n_classes = state.diffusion.n_items, state.n_classes
    if not len(state.votes):
        raise InputError("there are no votes to hold out; quality needs votes.")
    ballots = Ballots.of(state.votes, n_classes)
    trials, voted = hold_out(ballots, n, rng), ballots.voted
    judged, at = trials.content.toarray(), trials.position
    left = mass_of_state(state, voted).without(judged, at)
    p = soft_labels(left, prior[voted][at], prior_strength)
    whole = _whole_votes(ballots if cast is None else Ballots.of(cast, n_classes), n)[voted]
    return _estimate(Trials(p, judged, trials.shares, at, whole), n, "held out", level, rng, n_bootstrap)


def _whole_votes(ballots: Ballots, n_items: int) -> FloatArray:
    """(n_items, n_classes) votes that show the noise of votes.

    Soft and heavy votes, and several of one annotator on an item, do not: such items count as without votes.
    """
    whole = np.round(ballots.counts)
    plain = (np.abs(whole - ballots.counts) <= ROW_SUM).all(axis=1)
    plain &= whole.sum(axis=1) == ballots.opinions.number
    votes = np.zeros((n_items, ballots.n_classes))
    votes[ballots.voted[plain]] = whole[plain]
    return votes


def _checked_pair(p: Any, counts: Any) -> tuple[FloatArray, FloatArray]:
    try:
        table, votes = np.asarray(p, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("p and counts must be tables of numbers, items by classes.") from error
    if table.ndim != 2 or table.shape != votes.shape:
        raise InputError(
            f"p and counts must have one shape (items, n_classes), got {table.shape} and {votes.shape}."
        )
    if not np.isfinite(table).all() or (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > ROW_SUM).any():
        raise InputError("the rows of p must be probabilities: not negative, summing to 1.")
    if not np.isfinite(votes).all() or (votes < 0).any() or (votes != np.round(votes)).any():
        raise InputError(
            "counts must be whole numbers of votes, 0 or more; soft votes cannot show the noise of votes."
        )
    return table, votes


def _estimate(
    trials: Trials, n_items: int, source: str, level: float, rng: np.random.Generator | None, n_bootstrap: int
) -> Quality:
    """Quality of ``n_items`` items from the trials on some of them."""
    rng = np.random.default_rng() if rng is None else rng
    n_judged, n_classes = trials.votes.shape
    times = bootstrap(n_judged, n_bootstrap, rng)
    f = trials.judged / trials.judged.sum(axis=1, keepdims=True)
    top = trials.p.argmax(axis=1)
    brier = _mean(trials, brier_score(trials.p, f), times)
    agreement = interval_of(_mean(trials, f[np.arange(len(top)), top], times), level)
    # a bootstrap of items that all agree knows no doubt
    agreed = n_judged * agreement.value
    lower, upper = (float(ends[0, 0]) for ends in wilson(np.array([[agreed, n_judged - agreed]]), level))
    agreement = Estimate(agreement.value, min(agreement.lower, lower), max(agreement.upper, upper))
    repeated = trials.votes.sum(axis=1) >= 2
    n_repeated = int(repeated.sum())
    cross = _mean(trials, -(f * np.log(np.maximum(trials.p, KL_FLOOR))).sum(axis=1), times)
    notes: tuple[str, ...] = ()
    advice = repeat_advice(n_repeated, n_items)
    if advice is None:
        moments = vote_moments(trials.votes, times)
        noise = interval_of(moments[0], level)
        rmse = interval_of(np.sqrt(np.maximum(brier - moments[0], 0.0) / n_classes), level)
        kl = _kl(cross, moments, n_classes, level)
        accuracy = interval_of(estimate_accuracy(trials, repeated, times, rng), level)
    else:
        rmse, kl, accuracy, noise = _all_possible(brier, cross, agreement, n_classes, level)
        possible = (
            "The intervals of RMSE, KL and accuracy hold all that is possible, their values are a guess. "
            f"RMSE is at most about {rmse.upper:.3f}."
        )
        notes = advice, possible
    return Quality(
        rmse,
        kl,
        accuracy,
        agreement,
        interval_of(brier, level),
        noise,
        source,
        n_judged,
        int(trials.votes.sum()),
        n_repeated,
        level,
        notes,
    )


def _kl(cross: FloatArray, moments: FloatArray, n_classes: int, level: float) -> Estimate:
    """Cross entropy less entropy; the interval holds every entropy that the moments allow."""
    least, most = entropy_range(moments[:, 0], n_classes)
    entropy = entropy_from_moments(moments)
    moved = float(np.clip(entropy[0], least, most))
    plain = interval_of(np.maximum(cross - entropy + (entropy[0] - moved), 0.0), level)
    lower, upper = plain.lower - (most - moved), plain.upper + (moved - least)
    return Estimate(plain.value, max(0.0, lower), upper)


def _all_possible(
    brier: FloatArray, cross: FloatArray, agreed: Estimate, n_classes: int, level: float
) -> tuple[Estimate, Estimate, Estimate, Estimate]:
    """RMSE, KL, accuracy and noise where noise and error cannot be separated; intervals hold both extremes.

    A predicted class that does not lead has a share of at most 1/2: agreement <= (1 + accuracy) / 2.
    """
    score, information = interval_of(brier, level), interval_of(cross, level)
    squared = (1 - UNKNOWN_NOISE) * score.value / n_classes
    return (
        Estimate(float(np.sqrt(squared)), 0.0, float(np.sqrt(score.upper / n_classes))),
        Estimate((1 - UNKNOWN_NOISE) * information.value, 0.0, information.upper),
        Estimate(agreed.value, max(0.0, 2 * agreed.lower - 1), 1.0),
        Estimate(UNKNOWN_NOISE * score.value, 0.0, score.upper),
    )


def _mean(trials: Trials, values: FloatArray, times: FloatArray) -> FloatArray:
    """Weighted mean over trials for each row of ``times``."""
    n_items = len(trials.votes)
    total = np.bincount(trials.item, trials.weights * values, n_items)
    weight = np.bincount(trials.item, trials.weights, n_items)
    return np.asarray((times @ total) / np.maximum(times @ weight, np.finfo(np.float64).tiny))
