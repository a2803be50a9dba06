"""``softspread spread``: soft labels with intervals for all items, from votes on some."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

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
    from softspread._common.atomic import check_target
    from softspread.io.formats import check_output

    inputs.check(ratings=True)
    size.check()
    if size.in_blocks:
        if inputs.votes.kind != SINGLE:
            raise InputError(
                f"a run in blocks takes one class per vote; leave out --kind {inputs.votes.kind}."
            )
        from softspread.cli.any_size import spread_any_size

        others = {"--report": report, "--images": images, "--format": None if output_format == "auto" else 1}
        spread_any_size(run, inputs, intervals, size, out, others, dry_run=dry_run)
        return
    intervals.check(inputs.fit.method)
    if dry_run:
        from softspread.cli.cost import show_cost

        show_cost(run, inputs)
        return
    target = needed(out, "--out")
    if inputs.votes.kind == RATING:
        from softspread.cli.ratings import spread_ratings

        if report is not None or images is not None or output_format != "auto":
            raise InputError("--kind rating writes a table; leave --report, --images and --format out.")
        return spread_ratings(run, inputs, target, intervals.confidence)
    chosen_format = check_output(target, output_format)
    if report is not None:
        check_target(report)
    pictures = None
    if images is not None:
        if report is None:
            raise InputError("--images are pictures for the report; add --report, or leave --images out.")
        from softspread.report.pictures import Thumbnails

        pictures = Thumbnails(images)

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
