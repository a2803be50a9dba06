"""The one engine behind every estimate of quality: scores of trials, and what is believed, in; numbers out.

    trials  ->  held-out scores, bootstrapped over items  |
    beliefs ->  worlds                                     ->  worlds weighed  ->  RMSE, KL, accuracy, noise

Without beliefs the votes speak alone; without enough second votes intervals hold all that is possible.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from softspread._common import validation
from softspread._common.places import places
from softspread._common.types import FloatArray, IntArray
from softspread.heldout.scores import brier as brier_score
from softspread.intervals.wilson import wilson
from softspread.metrics import KL_FLOOR
from softspread.quality.accuracy import estimate_accuracy
from softspread.quality.chosen import Importance
from softspread.quality.doubt import Checks, Measures, Seen, SeenRange, SeenShare, weigh_worlds
from softspread.quality.entropy import entropy_from_moments, entropy_range, vote_moments
from softspread.quality.result import Estimate, Quality, Trials, bootstrap, interval_of
from softspread.quality.worlds import Beliefs, Worlds, draw_worlds
from softspread.votes.repeats import repeat_advice


@dataclass(frozen=True, slots=True)
class JudgeRule:
    """Sizes of samples, and assumptions where votes say nothing."""

    most_items: int = 20_000  # voted items that judge: more would not narrow any interval that counts
    most_trials: int = 4_000  # held-out votes that every world has to predict
    unknown_noise: float = 0.5  # without repeats any share of the Brier score may be noise: take half
    entropy_error: float = 0.01  # standard error of an entropy's range, at least: moments are cut off
    least_count: float = 0.5  # votes by which a score may be off: none of a hundred is not none


RULE = JudgeRule()


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All that an estimate of quality rests on."""

    trials: Trials
    n_items: int  # all items, voted or not
    source: str  # "set apart" or "held out"
    beliefs: Beliefs | None = None  # None = the votes speak alone
    importance: Importance | None = None  # None = the items were drawn uniformly


def judge(
    evidence: Evidence,
    confidence_level: float,
    rng: np.random.Generator | None,
    n_bootstrap: int,
    rule: JudgeRule = RULE,
) -> Quality:
    """All measures, from trials on some items and what is believed about all of them."""
    level = validation.between_0_and_1("confidence_level", confidence_level)
    n_bootstrap = validation.count("n_bootstrap", n_bootstrap, smallest=20)
    rng = np.random.default_rng() if rng is None else rng
    per_item = evidence.trials.votes.sum(axis=1)
    evidence = _some_items(evidence, rng, rule.most_items)
    trials = evidence.trials
    scores = _Scores.of(trials, bootstrap(len(trials.votes), n_bootstrap, rng))
    agreement = _agreement(scores.agreement, len(trials.votes), level)
    repeated = np.flatnonzero(trials.votes.sum(axis=1) >= 2)
    worlds, checked = None, trials
    if evidence.beliefs is not None:
        checked, beliefs = _some_trials(trials, evidence.beliefs, rng, rule.most_trials)
        worlds = draw_worlds(beliefs, checked, repeated, rng)
    advice = repeat_advice(int((per_item >= 2).sum()), evidence.n_items)
    notes: tuple[str, ...] = ()
    if advice is not None:
        found = _all_possible(scores, agreement, trials.p.shape[1], level, worlds, rule)
        possible = (
            "Error and accuracy are guesses so far; their intervals hold all that is possible. "
            f"The error (RMSE) is at most about {found.rmse.upper:.3f}."
        )
        notes = advice, possible
    elif worlds is None:
        found = _votes_alone(trials, scores, agreement, repeated, level, rng)
    else:
        checks = _checks(checked, scores.times, evidence.importance is None, rule)
        found = weigh_worlds(worlds, checks, trials.p.shape[1], level, rng)
    if evidence.importance is not None:
        notes = *notes, evidence.importance.note
    return Quality(
        found.rmse,
        found.kl,
        found.accuracy,
        found.agreement,
        interval_of(scores.brier, level),
        found.noise,
        evidence.source,
        len(per_item),
        int(per_item.sum()),
        int((per_item >= 2).sum()),
        level,
        notes,
    )


class _Scores(NamedTuple):
    """Scores of held-out votes, (samples,): first those of the items as they are, then of a bootstrap."""

    brier: FloatArray
    cross: FloatArray
    agreement: FloatArray
    times: FloatArray  # (samples, items)  how often each item counts

    @classmethod
    def of(cls, trials: Trials, times: FloatArray) -> "_Scores":
        f = trials.judged / trials.judged.sum(axis=1, keepdims=True)
        top = trials.p.argmax(axis=1)
        return cls(
            _mean(trials, brier_score(trials.p, f), times),
            _mean(trials, -(f * np.log(np.maximum(trials.p, KL_FLOOR))).sum(axis=1), times),
            _mean(trials, f[np.arange(len(top)), top], times),
            times,
        )


def _agreement(drawn: FloatArray, n_judged: int, level: float) -> Estimate:
    """Where all items agree a bootstrap has no spread; Wilson's interval has."""
    found = interval_of(drawn, level)
    agreed = n_judged * found.value
    lower, upper = (float(ends[0, 0]) for ends in wilson(np.array([[agreed, n_judged - agreed]]), level))
    return Estimate(found.value, min(found.lower, lower), max(found.upper, upper))


def _some_items(evidence: Evidence, rng: np.random.Generator, most: int) -> Evidence:
    """A random sample of the voted items where there are many, half of it with two or more votes.

    Each half speaks for all items of its kind.
    """
    trials = evidence.trials
    if len(trials.votes) <= most:
        return evidence
    repeated = trials.votes.sum(axis=1) >= 2
    kinds = [np.flatnonzero(repeated), np.flatnonzero(~repeated)]
    taken = [kind if len(kind) <= most // 2 else rng.choice(kind, most // 2, replace=False) for kind in kinds]
    items = np.sort(np.concatenate(taken))
    factor = np.zeros(len(trials.votes))
    for kind, some in zip(kinds, taken, strict=True):
        factor[some] = len(kind) / max(1, len(some))
    place = places(items, len(trials.votes))
    mine = np.flatnonzero(place[trials.item] >= 0)
    weights = (trials.weights * factor[trials.item])[mine]
    sampled = replace(
        _taken(trials, mine), weights=weights, item=place[trials.item[mine]], votes=trials.votes[items]
    )
    beliefs = evidence.beliefs
    if beliefs is not None:
        beliefs = replace(beliefs, trials=beliefs.trials.part(mine), voted=beliefs.voted.part(items))
    return replace(evidence, trials=sampled, beliefs=beliefs)


def _some_trials(
    trials: Trials, beliefs: Beliefs, rng: np.random.Generator, most: int
) -> tuple[Trials, Beliefs]:
    """A random sample of the trials, where there are more than every world should predict."""
    if len(trials.p) <= most:
        return trials, beliefs
    mine = np.sort(rng.choice(len(trials.p), most, replace=False))
    return _taken(trials, mine), replace(beliefs, trials=beliefs.trials.part(mine))


def _taken(trials: Trials, mine: IntArray) -> Trials:
    parts = {name: getattr(trials, name)[mine] for name in ("p", "judged", "weights", "item")}
    return replace(trials, **parts)


def _checks(trials: Trials, times: FloatArray, uniform: bool, rule: JudgeRule) -> Checks:
    """Checks from the held-out votes; pairs of votes speak for all items only where these are uniform."""
    scores, n_trials = _Scores.of(trials, times), len(trials.p)
    of_trials = scores.brier, scores.cross, 1 - scores.agreement
    brier, cross, differ = (_seen(drawn, n_trials, rule) for drawn in of_trials)
    worth = float(trials.weights.sum() ** 2 / (trials.weights**2).sum())
    checks = Checks(brier, cross, SeenShare(*differ, worth), None, None)
    if not uniform:
        return checks
    moments, n_repeated = vote_moments(trials.votes, times), int((trials.votes.sum(axis=1) >= 2).sum())
    entropy = _seen(entropy_from_moments(moments), n_repeated, rule)
    ends = entropy_range(moments[:, 0], trials.p.shape[1])
    return checks._replace(
        noise=_seen(moments[0], n_repeated, rule),
        entropy=SeenRange(*ends, entropy.error + rule.entropy_error),
    )


def _seen(drawn: FloatArray, number: int, rule: JudgeRule) -> Seen:
    """The first, with the standard error that the others show; a bootstrap of equals knows no doubt."""
    return Seen(float(drawn[0]), float(np.hypot(np.nanstd(drawn[1:]), rule.least_count / number)))


def _votes_alone(
    trials: Trials,
    scores: _Scores,
    agreed: Estimate,
    repeated: IntArray,
    level: float,
    rng: np.random.Generator,
) -> Measures:
    """Without a posterior: error is the score less the noise that pairs of votes show."""
    n_classes = trials.p.shape[1]
    moments = vote_moments(trials.votes, scores.times)
    accuracy = estimate_accuracy(trials, np.isin(np.arange(len(trials.votes)), repeated), scores.times, rng)
    return Measures(
        interval_of(np.sqrt(np.maximum(scores.brier - moments[0], 0.0) / n_classes), level),
        _kl(scores.cross, moments, n_classes, level),
        interval_of(accuracy, level),
        agreed,
        interval_of(moments[0], level),
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
    scores: _Scores,
    agreed: Estimate,
    n_classes: int,
    level: float,
    worlds: Worlds | None,
    rule: JudgeRule,
) -> Measures:
    """Where noise and error cannot be separated; intervals hold both extremes, values are a guess inside.

    A predicted class that does not lead has a share of at most 1/2: agreement <= (1 + accuracy) / 2.
    """
    score, information = interval_of(scores.brier, level), interval_of(scores.cross, level)
    if worlds is None:
        error = 1 - rule.unknown_noise
        squared, kl, right = error * score.value, error * information.value, agreed.value
    else:
        squared, kl, right = (float(np.median(x)) for x in (worlds.squared, worlds.kl, 1 - worlds.wrong))
    return Measures(
        _within(np.sqrt(squared / n_classes), 0.0, np.sqrt(score.upper / n_classes)),
        _within(kl, 0.0, information.upper),
        _within(right, max(0.0, 2 * agreed.lower - 1), 1.0),
        agreed,
        _within(score.value - squared, 0.0, score.upper),
    )


def _within(value: float, lower: float, upper: float) -> Estimate:
    return Estimate(float(np.clip(value, lower, upper)), float(lower), float(upper))


def _mean(trials: Trials, values: FloatArray, times: FloatArray) -> FloatArray:
    """Weighted mean over trials for each row of ``times``."""
    n_items = len(trials.votes)
    total = np.bincount(trials.item, trials.weights * values, n_items)
    weight = np.bincount(trials.item, trials.weights, n_items)
    return np.asarray((times @ total) / np.maximum(times @ weight, np.finfo(np.float64).tiny))
