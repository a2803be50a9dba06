"""What a posterior says about all items, and what several questions say together.

    posterior of each question  ->  p, evidence, width, verdict, chance to be ambiguous
    quality, forecast of each question  ->  those of all classes together

Several questions are put together as `SoftLabeler(kind="multilabel")` does it: the root of the mean squared
RMSE, the mean accuracy, clear only where every class is clear. Everything about quality is ready for JSON.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.estimators.multilabel import YES, verdict_of_all
from softspread.intervals.methods import posterior_method
from softspread.intervals.task import IntervalTask, Posteriors
from softspread.intervals.uncertainty import chances, verdicts_of
from softspread.posterior.posterior import Posterior
from softspread.quality.result import Estimate
from softspread.web.project.learner import CONFIDENCE_LEVEL, Learned

ENDS = ("value", "lower", "upper")
Numbers = dict[str, float]  # an estimate with its interval


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """All items as the posterior sees them by now."""

    p: FloatArray  # (n, n_classes)
    evidence: FloatArray  # (n,)
    width: FloatArray  # (n,) of the leading class's interval; of several questions the mean
    verdict: AnyArray  # (n,)
    ambiguous: FloatArray  # (n,) how probable it is that people disagree


def read_posterior(learned: Learned, posterior: Posterior) -> Reading:
    """One question."""
    n_classes = len(learned.labeler.classes_)
    p, evidence = posterior.mean()[:, :n_classes], posterior.evidence()
    task = IntervalTask(p, p, CONFIDENCE_LEVEL, posteriors=lambda: Posteriors(posterior, learned.at_fit))
    lower, upper = posterior_method(task)
    top = p.argmax(axis=1)[:, None]
    width = np.take_along_axis(upper - lower, top, axis=1)[:, 0]
    clear, ambiguous = chances(posterior, n_classes)
    return Reading(p, evidence, width, verdicts_of(clear, ambiguous, CONFIDENCE_LEVEL), ambiguous)


def read_together(each: Sequence[Reading]) -> Reading:
    """Several questions about the same items: P(yes) of each class."""
    return Reading(
        np.column_stack([one.p[:, YES] for one in each]),
        np.mean([one.evidence for one in each], axis=0),
        np.mean([one.width for one in each], axis=0),
        verdict_of_all(np.column_stack([one.verdict for one in each])),
        np.max([one.ambiguous for one in each], axis=0),
    )


# ---------------------------------------------------------------------------------------------------- quality
def plain(estimate: Estimate) -> Numbers | None:
    """An estimate as plain numbers; None where it is not known."""
    if not math.isfinite(estimate.value):
        return None
    return {name: float(getattr(estimate, name)) for name in ENDS}


def quality_together(each: Sequence[dict[str, Any]], classes: Sequence[str]) -> dict[str, Any]:
    """Quality over all classes, and that of each class; notes that all share are said once."""
    measures = {"rmse": _root_mean_square, "accuracy": _mean, "agreement": _mean}
    found: dict[str, Any] = {name: _of_known(each, name, how) for name, how in measures.items()}
    shared = [note for note in each[0]["notes"] if all(note in one["notes"] for one in each)]
    unknown = [name for name, one in zip(classes, each, strict=True) if one["rmse"] is None]
    if unknown and len(unknown) < len(classes):
        shared.append(f"Not known yet, and left out of the numbers above: {', '.join(unknown)}.")
    found["classes"] = [
        one | {"name": name, "notes": [note for note in one["notes"] if note not in shared]}
        for name, one in zip(classes, each, strict=True)
    ]
    votes, repeated = ([one[name] for one in each] for name in ("votes", "repeated"))
    return found | {"votes": max(votes), "repeated": min(repeated), "notes": shared}


def gain_together(each: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    """The effect of further votes over all classes; worthwhile if it is for one of them."""
    known = [one for one in each if one is not None]
    if not known:
        return None
    now, then = (_of_known(known, name, _root_mean_square) for name in ("now", "then"))
    return {
        "more": known[0]["more"],
        "now": now,
        "then": then,
        "gain": _of_known(known, "gain", _mean),
        "worthwhile": any(one["worthwhile"] for one in known),
    }


def _of_known(
    each: Sequence[dict[str, Any]], name: str, mean: Callable[[FloatArray], float]
) -> Numbers | None:
    found = [one[name] for one in each if one[name] is not None]
    if not found:
        return None
    return {end: mean(np.array([one[end] for one in found])) for end in ENDS}


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt((values**2).mean()))


def _mean(values: FloatArray) -> float:
    return float(values.mean())
