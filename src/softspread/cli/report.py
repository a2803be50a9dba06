"""The page of ``softspread spread --report``."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softspread._common.atomic import write_text
from softspread.cli.fitting import Fit
from softspread.cli.runner import Run
from softspread.cli.summary import trust_in_words
from softspread.errors import SoftspreadError
from softspread.estimators.labeler import SoftLabeler
from softspread.report.learned import Learned
from softspread.report.pictures import Thumbnails
from softspread.report.run import RunContent, run_page
from softspread.spreading.evidence import SoftLabels

SHOWN_CLASSES = 20


def write_report(
    run: Run,
    fit: Fit,
    labels: SoftLabels,
    verdicts: Mapping[str, int],
    pictures: Thumbnails | None,
    path: Path,
) -> None:
    """Gather what the page shows and write it."""
    est, facts = fit.est, labels.metadata
    annotators, quality = None, _quality(run, est)
    if fit.matched.found.table.annotators is not None:
        with run.stage("annotators"):
            annotators = est.annotators_

    def thumbnail(row: int) -> str | None:
        return None if pictures is None else pictures(labels.ids[row : row + 1].tolist()[0])

    with run.stage("report") as tell:
        content = RunContent(
            labels=labels,
            vote_counts=est.vote_counts_,
            verdicts=verdicts,
            features=est.graph_.features,
            inputs=_inputs(fit, facts),
            settings=_settings(facts),
            command=shlex.join(["softspread", *sys.argv[1:]]),
            confidence_level=facts["parameters"]["confidence_level"],
            annotators=annotators,
            n_annotators=facts["votes"]["annotators"],
            learned=_learned(est, facts),
            tuning=None if isinstance(est, SoftLabeler) else est.tuning_,
            advice=facts.get("advice"),
            quality=quality,
            warnings=run.warnings,
            thumbnail=thumbnail,
            seed=run.seed,
        )
        write_text(path, run_page(content))
        tell(str(path))


def _quality(run: Run, est: Any) -> Any:
    with run.stage("quality"):
        try:
            found = est.quality(random_state=run.seed)
        except SoftspreadError as error:  # the labels stand without it
            run.warn(f"quality could not be estimated: {error}")
            return None
    return found


def _inputs(fit: Fit, facts: Mapping[str, Any]) -> dict[str, Any]:
    votes = facts["votes"]
    classes = [str(label) for label in facts["classes"]]
    named = ", ".join(classes[:SHOWN_CLASSES]) + (" ..." if len(classes) > SHOWN_CLASSES else "")
    features = fit.est.graph_.features
    dimensions = "" if features is None else f" in {features.shape[1]} dimensions"
    files = ", ".join(path.name for path in fit.matched.file.paths)
    shown = {
        "Items": f"{facts['n_items']:,}{dimensions}; {fit.items.source}",
        "Ids": "positions in the file" if fit.items.item_ids is None else "from the file",
        "Votes": f"{votes['used']:,} of {votes['read']:,} in {files}, format {votes['format']}",
        "Voted items": f"{votes['items_with_votes']:,}",
        "Annotators": "not named" if votes["annotators"] is None else f"{votes['annotators']:,}",
        "Classes": f"{len(classes)}: {named}",
        "Graph": fit.est.graph_.describe(),
    }
    left = [f"{count:,} {what}" for what, count in votes["left_out"].items()]
    left += [f"{votes['skipped']:,} votes on unknown items or classes"] if votes["skipped"] else []
    return shown | ({"Left out": "; ".join(left)} if left else {})


def _learned(est: Any, facts: Mapping[str, Any]) -> Learned | None:
    if not isinstance(est, SoftLabeler):
        return None
    return Learned(facts["weights"], est.trust_, trust_in_words(facts["trust"]))


def _settings(facts: Mapping[str, Any]) -> dict[str, Any]:
    chosen = facts["parameters"]
    return {
        **_method_settings(facts),
        "Neighbours": chosen["n_neighbors"],
        "Annotators": chosen["annotator_model"],
        "Intervals": f"{chosen['interval']}, {chosen['confidence_level']:.0%}",
        "Seed": chosen["random_state"],
        "Versions": ", ".join(f"{name} {number}" for name, number in facts["versions"].items()),
    }


def _method_settings(facts: Mapping[str, Any]) -> dict[str, Any]:
    chosen = facts["parameters"]
    if "weights" in facts:
        extras = [name for name in ("prior", "features") if chosen[name]]
        alpha = "several, weighed by held-out votes" if chosen["alpha"] == "auto" else f"{chosen['alpha']:g}"
        return {
            "Method": "blend of experts (SoftLabeler)" + (f", with {' and '.join(extras)}" if extras else ""),
            "Alpha": alpha,
        }
    by = "chosen by held-out votes" if facts["chosen_by"] else "given"
    return {
        "Method": "probabilistic label spreading",
        "Alpha": f"{chosen['alpha']:g} ({by})",
        "Prior strength": f"{chosen['prior_strength']:g} votes",
    }
