"""``softspread spread``: soft labels with intervals for all items, from votes on some."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from softspread.cli.options import SOFT_LABELS_OUT, FitInputs, FormatOption, IntervalOptions, needed, option
from softspread.cli.runner import Run, command

if TYPE_CHECKING:
    from softspread.cli.fitting import Fit

LITTLE_EVIDENCE = 0.01  # votes' worth; below, a soft label is hardly more than its prior
FLAGGED = "does not follow"  # the flag of an annotator whose votes say nothing
SHOWN_ANNOTATORS = 5  # by name, of those that are flagged
VERDICTS = ("clear", "ambiguous", "not enough votes")
FILE_LIBRARIES = ("faiss-cpu", "pandas", "pyarrow")  # soft labels from files depend on these too


@command()
def spread(
    run: Run,
    inputs: FitInputs,
    intervals: IntervalOptions,
    out: Annotated[Path | None, SOFT_LABELS_OUT] = None,
    output_format: FormatOption = "auto",
    report: Annotated[Path | None, option("Also write a page that opens in any browser.")] = None,
    images: Annotated[Path | None, option("Folder of the items' images, for the report.")] = None,
    dry_run: Annotated[
        bool, option("Only say how much memory and time the run would take.", "--dry-run")
    ] = False,
) -> None:
    """Estimate soft labels for all items from votes on some.

    Chooses how far votes travel (alpha) by itself unless told, and says which and why. Writes one row per
    item: item, p_<class>, evidence (how many votes' worth has reached it), lower_<class> and
    upper_<class>.

    Example: softspread spread --embeddings X.npy --votes votes.csv --out soft_labels.parquet --report
    report.html
    """
    from softspread._common.atomic import check_target
    from softspread.io.formats import check_output

    inputs.check_files()
    if dry_run:
        from softspread.cli.cost import show_cost

        show_cost(run, inputs)
        return
    target = needed(out, "--out")
    chosen_format = check_output(target, output_format)
    if report is not None:
        check_target(report)
    pictures = None
    if images is not None:
        from softspread.report.pictures import Thumbnails

        pictures = Thumbnails(images)

    from softspread.cli import fitting
    from softspread.io.soft_labels import write_soft_labels

    fit = fitting.fit(run, inputs)
    est = fit.est
    with run.stage(f"intervals ({intervals.interval})"):
        labels = est.soft_labels(intervals.confidence, intervals.interval)
        verdicts = dict.fromkeys(VERDICTS, 0) | Counter(
            () if labels.verdict is None else labels.verdict.tolist()
        )
    facts = _facts(fit)
    facts["parameters"] |= {"interval": intervals.interval, "confidence_level": intervals.confidence}
    labels = replace(labels, metadata=facts | {"warnings": list(run.warnings)})
    with run.stage("writing") as tell:
        written = write_soft_labels(target, labels, chosen_format)
        tell(", ".join(map(str, written)))
    if report is not None:
        from softspread.cli.report import write_report

        write_report(run, fit, labels, verdicts, pictures, report)
    document = {
        **facts,
        "evidence": _evidence_facts(labels.evidence),
        "verdicts": verdicts,
        "out": [str(path) for path in written],
        "report": None if report is None else str(report),
        "reused": run.reused,
        "seconds": run.seconds,
    }
    run.answer(document, lambda console: _show(console, document))


def _facts(fit: "Fit") -> dict[str, Any]:
    """What went in and what was chosen, ready for JSON; the same inputs and versions give the same."""
    from softspread._common.versions import versions
    from softspread.cli.fitting import graph_facts

    est, votes = fit.est, fit.votes.found.table
    tuning, names = est.tuning_, votes.annotators
    rated = None if est._weighting is None else est.annotators_
    return {
        "n_items": fit.items.n_items,
        "classes": est.classes_.tolist(),
        "votes": {
            "read": len(fit.votes.file),
            "used": len(votes),
            "skipped": fit.votes.n_skipped,
            "left_out": dict(fit.votes.file.notes),
            "items_with_votes": int(est.vote_counts_.any(axis=1).sum()),
            "annotators": None if names is None else len({*names.tolist()} - {None}),
            "format": fit.votes.file.votes_format,
        },
        "parameters": {
            "alpha": est.alpha_,
            "n_neighbors": est.n_neighbors_,
            "bandwidth": est.bandwidth,
            "prior": est.prior is not None,
            "prior_strength": est.prior_strength_,
            "annotator_model": est.annotator_model,
            "scaling": est.scaling,
            "tol": est.tol,
            "random_state": est.random_state,
        },
        "annotators_flagged": []
        if rated is None
        else rated.loc[rated["flag"] == FLAGGED, "annotator"].map(str).tolist(),
        "chosen_by": None if tuning is None else tuning.summary(),
        "graph": graph_facts(est.graph_),
        "versions": versions(*FILE_LIBRARIES),
    }


def _evidence_facts(evidence: Any) -> dict[str, Any]:
    import numpy as np

    return {
        "quartiles": np.quantile(evidence, [0.25, 0.5, 0.75]).tolist(),
        "least": float(evidence.min()),
        "most": float(evidence.max()),
        "items_with_little": int((evidence < LITTLE_EVIDENCE).sum()),
    }


def _show(console: Any, document: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    votes, chosen, evidence = document["votes"], document["parameters"], document["evidence"]
    graph, n, how = document["graph"], document["n_items"], document["chosen_by"]
    by = f" by {votes['annotators']:,} annotators" if votes["annotators"] else ""
    console.print(
        f"[bold]Soft labels of {n:,} items[/] from {votes['used']:,} votes on {votes['items_with_votes']:,} "
        f"of them{by}"
    )
    recall = "exact" if graph["recall"] == 1 else f"recall {graph['recall']:.4f}"
    little, names = evidence["items_with_little"], document["annotators_flagged"]
    more = " ..." if len(names) > SHOWN_ANNOTATORS else ""
    verdicts = ", ".join(f"{count / n:.0%} {word}" for word, count in document["verdicts"].items())
    rows = {
        "alpha": f"{chosen['alpha']:g}" + ("" if how is None else f", chosen: {how.split(': ', 1)[1]}"),
        "graph": f"{chosen['n_neighbors']} neighbours, {graph['components']:,} component(s), {recall}",
        "evidence": f"median {evidence['quartiles'][1]:.3g} votes' worth per item"
        + (f"; {little:,} items have less than {LITTLE_EVIDENCE:g}" if little else ""),
        "items": f"{verdicts} (at {chosen['confidence_level']:.0%} confidence)",
        "annotators": f"{len(names)} do not follow the others: {', '.join(names[:SHOWN_ANNOTATORS])}{more}"
        if names
        else "",
        "written": ", ".join(document["out"] + ([document["report"]] if document["report"] else [])),
        "time": f"{document['seconds']:.1f} s",
    }
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    for name, text in rows.items():
        if text:
            table.add_row(name, escape(text))
    console.print(table, soft_wrap=False)
