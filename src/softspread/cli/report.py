"""The page of ``softspread spread --report``."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softspread._common.atomic import write_text
from softspread.cli.fitting import Fit
from softspread.cli.runner import Run
from softspread.errors import SoftspreadError
from softspread.report.fitted import classes_in_words, fitted_content
from softspread.report.pictures import Thumbnails
from softspread.report.run import run_page
from softspread.spreading.evidence import SoftLabels


def write_report(run: Run, fit: Fit, labels: SoftLabels, pictures: Thumbnails | None, path: Path) -> None:
    """Gather what the page shows and write it."""
    est, facts = fit.est, labels.metadata
    quality = _quality(run, est)

    def thumbnail(row: int) -> str | None:
        return None if pictures is None else pictures(labels.ids[row : row + 1].tolist()[0])

    with run.stage("report") as tell:
        content = fitted_content(
            est,
            labels,
            quality,
            inputs=_inputs(fit, facts),
            settings=_settings(facts),
            command=shlex.join(["softspread", *sys.argv[1:]]),
            confidence_level=facts["parameters"]["confidence_level"],
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
    features = fit.est.graph_.features
    dimensions = "" if features is None else f" in {features.shape[1]} dimensions"
    files = ", ".join(path.name for path in fit.matched.file.paths)
    shown = {
        "Items": f"{facts['n_items']:,}{dimensions}; {fit.items.source}",
        "Ids": "positions in the file" if fit.items.item_ids is None else "from the file",
        "Votes": f"{votes['used']:,} of {votes['read']:,} in {files}, format {votes['format']}",
        "Voted items": f"{votes['items_with_votes']:,}",
        "Annotators": "not named" if votes["annotators"] is None else f"{votes['annotators']:,}",
        "Classes": classes_in_words(facts["classes"]),
        "Graph": fit.est.graph_.describe(),
    }
    left = [f"{count:,} {what}" for what, count in votes["left_out"].items()]
    left += [f"{votes['skipped']:,} votes on unknown items or classes"] if votes["skipped"] else []
    return shown | ({"Left out": "; ".join(left)} if left else {})


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
