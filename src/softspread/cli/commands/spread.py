"""``softspread spread``: soft labels with intervals for all items, from votes on some."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from softspread._common.kinds import RATING, SINGLE
from softspread.cli.options import (
    SOFT_LABELS_OUT,
    FitInputs,
    FormatOption,
    IntervalOptions,
    SizeOptions,
    needed,
    option,
)
from softspread.cli.runner import Run, command
from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.report.pictures import Thumbnails


@command()
def spread(
    run: Run,
    inputs: FitInputs,
    intervals: IntervalOptions,
    size: SizeOptions,
    out: Annotated[Path | None, SOFT_LABELS_OUT] = None,
    output_format: FormatOption = "auto",
    report: Annotated[Path | None, option("Also write a page that opens in any browser.")] = None,
    images: Annotated[Path | None, option("Folder of the items' images, for the report.")] = None,
    dry_run: Annotated[
        bool, option("Only say how much memory and time the run would take.", "--dry-run")
    ] = False,
) -> None:
    """Estimate soft labels for all items from votes on some.

    Several experts predict each item: votes that travel over the graph, and classifiers of the votes.
    Held-out votes say how much each counts, second votes how far all can be trusted; --method pls is the
    paper's spreading alone. Writes one row per item: item, p_<class>, evidence (how many votes' worth has
    reached it), lower_<class>, upper_<class> and verdict.

    Example: softspread spread --embeddings X.npy --votes votes.csv --out soft_labels.parquet --report
    report.html

    More items than fit in memory: add --method pls --interval wilson --memory-limit 8GB (or --cluster local);
    --out is then a folder of Parquet parts, and a run that was stopped goes on when it is repeated.
    """
    from softspread.io.formats import check_output

    inputs.check(ratings=True)
    size.check()
    own = {"--report": report, "--images": images, "--format": None if output_format == "auto" else 1}
    if _goes_another_way(run, inputs, intervals, size, out, own, dry_run=dry_run):
        return
    target = needed(out, "--out")
    chosen_format = check_output(target, output_format)
    pictures = _pictures(report, images)

    from softspread.cli import fitting, summary
    from softspread.io.soft_labels import write_soft_labels
    from softspread.report.fitted import count_verdicts

    fit = fitting.fit(run, inputs)
    with run.stage(f"intervals ({intervals.interval})"):
        labels = fit.est.soft_labels(intervals.confidence, intervals.interval)
        verdicts = count_verdicts(labels)
    facts = summary.run_facts(fit)
    facts["parameters"] |= {"interval": intervals.interval, "confidence_level": intervals.confidence}
    labels = replace(labels, metadata=facts | {"warnings": list(run.warnings)})
    with run.stage("writing") as tell:
        written = write_soft_labels(target, labels, chosen_format)
        tell(", ".join(map(str, written)))
    if report is not None:
        from softspread.cli.report import write_report

        write_report(run, fit, labels, pictures, report)
    document = {
        **facts,
        "evidence": summary.evidence_facts(labels.evidence),
        "verdicts": verdicts,
        "out": [str(path) for path in written],
        "report": None if report is None else str(report),
        "reused": run.reused,
        "seconds": run.seconds,
    }
    run.answer(document, lambda console: summary.show_summary(console, document))


def _goes_another_way(
    run: Run,
    inputs: FitInputs,
    intervals: IntervalOptions,
    size: SizeOptions,
    out: Path | None,
    own: Mapping[str, Any],
    *,
    dry_run: bool,
) -> bool:
    """Whether that was a run in blocks, a look at the cost or one for ratings; ``own`` are other options."""
    if size.in_blocks:
        if inputs.votes.kind != SINGLE:
            raise InputError(
                f"a run in blocks takes one class per vote; leave out --kind {inputs.votes.kind}."
            )
        from softspread.cli.any_size import spread_any_size

        spread_any_size(run, inputs, intervals, size, out, own, dry_run=dry_run)
        return True
    intervals.check(inputs.fit.method)
    if dry_run:
        from softspread.cli.cost import show_cost

        show_cost(run, inputs)
    elif inputs.votes.kind == RATING:
        from softspread.cli.ratings import spread_ratings

        target = needed(out, "--out")
        if any(value is not None for value in own.values()):
            raise InputError("--kind rating writes a table; leave --report, --images and --format out.")
        spread_ratings(run, inputs, target, intervals.confidence)
    return dry_run or inputs.votes.kind == RATING


def _pictures(report: Path | None, images: Path | None) -> "Thumbnails | None":
    """The pictures of a report; it and they are checked before any work."""
    from softspread._common.atomic import check_target

    if report is not None:
        check_target(report)
    if images is None:
        return None
    if report is None:
        raise InputError("--images are pictures for the report; add --report, or leave --images out.")
    from softspread.report.pictures import Thumbnails

    return Thumbnails(images)
