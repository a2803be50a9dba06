"""The page of any fitted estimator with a posterior: ``est.report(path)`` and ``softspread spread --report``.

fitted estimator + its soft labels  ->  RunContent  ->  one offline page

What an estimator knows is gathered here once; the command line adds what it knows about files.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from softspread._common.versions import versions
from softspread.annotators.judges import JudgeReport
from softspread.intervals.uncertainty import ITEM_VERDICTS
from softspread.quality.result import Quality
from softspread.report.learned import Learned, trust_in_words, trust_quantiles
from softspread.report.run import RunContent
from softspread.spreading.evidence import SoftLabels

SHOWN_CLASSES = 20  # names in the list of settings
SHOWN_VALUE = 60  # letters of a parameter


def fitted_content(
    est: Any,
    labels: SoftLabels,
    quality: Quality | pd.DataFrame | None,
    *,
    inputs: Mapping[str, Any],
    settings: Mapping[str, Any],
    command: str,
    confidence_level: float,
    **more: Any,
) -> RunContent:
    """Contents of the page about a fitted estimator.

    Parameters
    ----------
    labels : of the fitted items, with intervals and verdicts
    quality : None where it could not be estimated
    inputs, settings, command : what went in, what was chosen, and how to get the page again
    more : further fields of :class:`RunContent`: warnings, thumbnail, seed
    """
    annotators = est.annotators_
    return RunContent(
        labels=labels,
        vote_counts=est.vote_counts_,
        verdicts=count_verdicts(labels),
        features=est.graph_.features,
        inputs=inputs,
        settings=settings,
        command=command,
        confidence_level=confidence_level,
        annotators=annotators,
        n_annotators=None if annotators is None else annotators["annotator"].nunique(),
        learned=learned_of(est),
        judges=judges_of(est),
        smoothness=est.smoothness(random_state=0),
        tuning=getattr(est, "tuning_", None),
        advice=getattr(est, "advice_", None),
        quality=quality,
        **more,
    )


def count_verdicts(labels: SoftLabels) -> dict[str, int]:
    """How many items have each verdict."""
    found = () if labels.verdict is None else labels.verdict.tolist()
    return dict.fromkeys(ITEM_VERDICTS, 0) | Counter(found)


def judges_of(est: Any) -> JudgeReport | None:
    """How good models are that voted beside people; None where there are none, or a report per class."""
    if not getattr(est, "model_annotators_", ()) or getattr(est, "questions_", None) is not None:
        return None
    report: JudgeReport = est.judge_report()
    return report


def learned_of(est: Any) -> Learned | None:
    """Weights and trust of a blend of experts; None of any other estimator."""
    if not hasattr(est, "trust_"):
        return None
    trust: pd.DataFrame = est.trust_
    return Learned(est.weights_[est.weights_ > 0].to_dict(), trust, trust_in_words(trust_quantiles(trust)))


def classes_in_words(names: list[Any]) -> str:
    """How many classes, and the first of them.

    Examples
    --------
    >>> classes_in_words(["cat", "dog"])
    '2: cat, dog'
    """
    more = " ..." if len(names) > SHOWN_CLASSES else ""
    return f"{len(names)}: {', '.join(map(str, names[:SHOWN_CLASSES]))}{more}"


def inputs_of(est: Any) -> dict[str, Any]:
    """The inputs of a fitted estimator."""
    features, annotators = est.graph_.features, est.annotators_
    dimensions = "" if features is None else f" in {features.shape[1]} dimensions"
    counts = est.vote_counts_
    return {
        "Items": f"{est.n_items_:,}{dimensions}",
        "Votes": f"{counts.sum():,.0f}",
        "Voted items": f"{(counts.sum(axis=1) > 0).sum():,}",
        "Annotators": "not named" if annotators is None else f"{annotators['annotator'].nunique():,}",
        "Classes": classes_in_words(est.classes_.tolist()),
        "Graph": est.graph_.describe(),
    }


def settings_of(est: Any, interval: str, confidence_level: float) -> dict[str, Any]:
    """The estimator's parameters that are not as usual, its intervals, and the versions."""
    usual = type(est)().get_params()
    changed = {
        name: _in_short(value)
        for name, value in est.get_params().items()
        if name != "verbose" and not (value is usual[name] or repr(value) == repr(usual[name]))
    }
    return {
        "Method": type(est).__name__,
        **{f"Parameter {name}": value for name, value in changed.items()},
        "Intervals": f"{interval}, {confidence_level:.0%}",
        "Versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
    }


def _in_short(value: Any) -> str:
    shape = getattr(value, "shape", None)
    text = repr(value) if shape is None else f"{type(value).__name__} {shape}"
    return text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 3] + "..."
