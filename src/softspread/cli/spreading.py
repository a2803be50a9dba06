"""`spread`, `graph` and `tune`: files in, soft labels out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from softspread.cli.options import (
    FitOptions,
    GraphOptions,
    IntervalOptions,
    ItemOptions,
    PriorOption,
    VoteOptions,
)
from softspread.cli.runs import Run, command, needed

LITTLE_EVIDENCE = 0.01  # votes' worth; below, a soft label is hardly more than its prior
FLAGGED = "does not follow"  # the flag of an annotator whose votes say nothing


def add_commands(app: typer.Typer) -> None:
    """Register the commands of this file."""

    @command(app)
    def spread(
        run: Run,
        item_options: ItemOptions,
        vote_options: VoteOptions,
        graph_options: GraphOptions,
        fit_options: FitOptions,
        interval_options: IntervalOptions,
        out: Annotated[
            Path | None,
            typer.Option(
                "--out", "-o", help="Where to: .parquet, .csv, .tsv, .jsonl, .json, or a folder's name."
            ),
        ] = None,
        output_format: Annotated[
            str,
            typer.Option(
                "--format", help="auto, parquet, csv, tsv, jsonl, weighted, huggingface or labelstudio."
            ),
        ] = "auto",
        report: Annotated[
            Path | None, typer.Option(help="Also write a page that opens in any browser.")
        ] = None,
        images: Annotated[
            Path | None, typer.Option(help="Folder of the items' images, for the report.")
        ] = None,
        dry_run: Annotated[
            bool, typer.Option("--dry-run", help="Only tell how much memory and time the run would take.")
        ] = False,
    ) -> None:
        """Soft labels with intervals for all items, from votes on some.

        Chooses how far votes travel (alpha) by itself unless told, and says which and why. Writes one row per
        item: item, p_<class>, evidence (how many votes' worth has reached it), lower_<class> and
        upper_<class>.

        Example: softspread spread --embeddings X.npy --votes votes.csv --out soft_labels.parquet --report
        report.html
        """
        from softspread._common.atomic import check_target
        from softspread.cli.early import check_files
        from softspread.io.soft_labels import check_output

        check_files(item_options, vote_options)
        if dry_run:
            from softspread.cli.cost import tell_cost

            tell_cost(run, item_options, vote_options, graph_options, fit_options)
            return
        target = needed(out, "--out")
        chosen_format = check_output(target, output_format)
        if report is not None:
            check_target(report)
        _spread(
            run,
            (item_options, graph_options, vote_options, fit_options),
            interval_options,
            (target, chosen_format),
            (report, images),
        )

    @command(app)
    def graph(
        run: Run,
        item_options: ItemOptions,
        graph_options: GraphOptions,
        out: Annotated[
            Path | None, typer.Option("--out", "-o", help="Save the graph here, for Python.")
        ] = None,
    ) -> None:
        """Build the graph of nearest neighbours and describe it.

        Worth a look before collecting votes: votes cannot cross from one component to another, and an
        isolated item learns only from votes of its own.

        Example: softspread graph --embeddings X.npy --n-neighbors 20 --out graph.softspread
        """
        from softspread._common.atomic import check_target
        from softspread.cli.early import check_files
        from softspread.errors import InputError

        check_files(item_options)
        if graph_options.n_neighbors == "auto":
            raise InputError(
                "--n-neighbors must be a whole number here; 'auto' needs votes, see 'softspread tune'."
            )
        if out is not None:
            check_target(out)

        from softspread.cli import jobs

        made: Any = jobs.tie_items(run, jobs.load_items(run, item_options), graph_options).X
        if out is not None:
            with run.stage("writing"):
                made.save(out)
        run.answer(_graph_facts(run, made, out), lambda console: _show_graph(console, made, out))

    @command(app)
    def tune(
        run: Run,
        item_options: ItemOptions,
        vote_options: VoteOptions,
        graph_options: GraphOptions,
        prior: PriorOption = None,
        score: Annotated[
            str, typer.Option(help="What held-out votes are scored by: brier or log.")
        ] = "brier",
    ) -> None:
        """Show how well each alpha predicts votes that were held out.

        No ground truth is needed.

        Example: softspread tune --embeddings X.npy --votes votes.csv --n-neighbors auto
        """
        from softspread.cli.early import check_files

        check_files(item_options, vote_options)

        from softspread.cli import jobs
        from softspread.tuning.tune import tune

        items = jobs.load_items(run, item_options)
        votes, _ = jobs.load_votes(run, vote_options, items)
        items = jobs.tie_items(run, items, graph_options)
        bandwidth = graph_options.bandwidth
        with run.stage("tuning", own_bars=items.n_items >= jobs.MANY_ITEMS) as tell:
            found = tune(
                items.X,
                votes.votes,
                n_neighbors=jobs.auto_or_number("n-neighbors", graph_options.n_neighbors, int),
                prior=None if prior is None else jobs.make_prior(run, prior, items, votes),
                score=score,
                item_ids=items.item_ids,
                classes=votes.classes,
                bandwidth=bandwidth
                if bandwidth in ("kth", "mean")
                else jobs.number("bandwidth", bandwidth, float),
                index=graph_options.index,
                n_jobs=graph_options.threads,
                random_state=run.common.seed,
                verbose=run.shows_bars and items.n_items >= jobs.MANY_ITEMS,
            )
            tell(f"{len(found.points)} settings")
        document = {
            "command": "tune",
            "best": _point(found.best),
            "how": found.how,
            "score": found.score,
            "points": [_point(point) for point in found.points],
            "warnings": run.warnings,
        }
        run.answer(document, lambda console: _show_tuning(console, found))


# ----------------------------------------------------------------------------------------------------- spread
def _spread(run: Run, inputs: Any, intervals: IntervalOptions, target: Any, page: Any) -> None:
    from dataclasses import replace

    from softspread.cli import jobs
    from softspread.intervals.uncertainty import split_uncertainty_of
    from softspread.io.soft_labels import write_soft_labels

    job = jobs.fit(run, *inputs)
    est = job.est
    with run.stage(f"intervals ({intervals.interval})"):
        labels = est.soft_labels(intervals.confidence, intervals.interval)
        verdicts = split_uncertainty_of(labels).verdict
    facts = jobs.facts_of(job)
    facts["parameters"] |= {"interval": intervals.interval, "confidence_level": intervals.confidence}
    facts["warnings"] = list(run.warnings)
    out, chosen_format = target
    with run.stage("writing") as tell:
        labels = replace(labels, metadata=facts)
        written = write_soft_labels(out, labels, chosen_format)
        tell(", ".join(map(str, written)))
    report, images = page
    if report is not None:
        from softspread.cli.pages import write_report

        write_report(run, job, labels, facts, report, images)
    document = {
        "command": "spread",
        **facts,
        "evidence": _evidence_facts(labels.evidence),
        "verdicts": {
            word: int((verdicts == word).sum()) for word in ("clear", "ambiguous", "not enough votes")
        },
        "annotators_flagged": _flagged(est),
        "out": [str(path) for path in written],
        "report": None if report is None else str(report),
        "reused": [] if run.workspace is None else run.workspace.reused,
        "seconds": round(run.seconds, 3),
    }
    run.answer(document, lambda console: _show_spread(console, document))


def _evidence_facts(evidence: Any) -> dict[str, Any]:
    import numpy as np

    quarters = np.quantile(evidence, [0.25, 0.5, 0.75]).tolist()
    return {
        "quartiles": quarters,
        "least": float(evidence.min()),
        "most": float(evidence.max()),
        "items_with_little": int((evidence < LITTLE_EVIDENCE).sum()),
    }


def _flagged(est: Any) -> list[str]:
    """Annotators whose votes do not follow what others find, where annotators were told apart."""
    if est._weighting is None:
        return []
    table = est.annotators_
    return [str(name) for name in table.loc[table["flag"] == FLAGGED, "annotator"]]


def _show_spread(console: Any, document: dict[str, Any]) -> None:
    from rich.table import Table

    votes, chosen, evidence = document["votes"], document["parameters"], document["evidence"]
    n = document["n_items"]
    by = f" by {votes['annotators']:,} annotators" if votes["annotators"] else ""
    console.print(
        f"[bold]Soft labels of {n:,} items[/] from {votes['used']:,} votes on {votes['items_with_votes']:,} "
        f"of them{by}"
    )
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()

    def row(name: str, text: str) -> None:
        from rich.markup import escape

        table.add_row(name, escape(text))

    how = document["chosen_by"]
    row("alpha", f"{chosen['alpha']:g}" + ("" if how is None else f", chosen: {how.split(': ', 1)[1]}"))
    graph = document["graph"]
    recall = "exact" if graph["recall"] == 1 else f"recall {graph['recall']:.4f}"
    row("graph", f"{chosen['n_neighbors']} neighbours, {graph['components']:,} component(s), {recall}")
    little = evidence["items_with_little"]
    row(
        "evidence",
        f"median {evidence['quartiles'][1]:.3g} votes' worth per item"
        + (f"; {little:,} items have less than {LITTLE_EVIDENCE:g}" if little else ""),
    )
    verdicts = ", ".join(f"{count / n:.0%} {word}" for word, count in document["verdicts"].items())
    row("items", f"{verdicts} (at {chosen['confidence_level']:.0%} confidence)")
    if document["annotators_flagged"]:
        names = document["annotators_flagged"]
        row(
            "annotators",
            f"{len(names)} do not follow the others: {', '.join(names[:5])}{' ...' * (len(names) > 5)}",
        )
    row("written", ", ".join(document["out"] + ([document["report"]] if document["report"] else [])))
    row("time", f"{document['seconds']:.1f} s")
    console.print(table, soft_wrap=False)


# ------------------------------------------------------------------------------------------------ graph, tune
def _graph_facts(run: Run, graph: Any, out: Path | None) -> dict[str, Any]:
    import numpy as np

    counts = np.diff(graph.indptr)
    return {
        "command": "graph",
        "n_items": graph.n_items,
        "n_neighbors": graph.n_neighbors,
        "edges": graph.n_edges // 2,
        "components": graph.n_components,
        "isolated": graph.n_isolated,
        "sigma2": graph.sigma2,
        "recall": graph.recall_,
        "index": graph.index,
        "edges_per_item": {
            "least": int(counts.min()),
            "median": float(np.median(counts)),
            "most": int(counts.max()),
        },
        "out": None if out is None else str(out),
        "reused": [] if run.workspace is None else run.workspace.reused,
        "warnings": run.warnings,
        "seconds": round(run.seconds, 3),
    }


def _show_graph(console: Any, graph: Any, out: Path | None) -> None:
    from softspread.cli.jobs import describe_graph

    console.print(f"[bold]{graph.n_items:,} items[/]: {describe_graph(graph)}")
    if graph.n_components > 1:
        console.print("Votes cannot cross from one component to another: each needs votes of its own.")
    if out is not None:
        console.print(f"Saved: {out}", markup=False, soft_wrap=True)


def _point(point: Any) -> dict[str, Any]:
    names = ("alpha", "n_neighbors", "prior_strength", "score", "standard_error")
    return {name: getattr(point, name) for name in names}


def _show_tuning(console: Any, found: Any) -> None:
    from rich.table import Table

    frame = found.curve()
    several = frame["n_neighbors"].nunique() > 1
    table = Table(title=f"{found.score} score of held-out votes (lower is better)")
    if several:
        table.add_column("neighbours", justify="right")
    table.add_column("alpha", justify="right")
    table.add_column("score", justify="right")
    table.add_column("± std. error", justify="right")
    for row in frame.itertuples():
        best = row.alpha == found.alpha and (not several or row.n_neighbors == found.n_neighbors)
        cells = [f"{row.alpha:g}", f"{row.score:.4f}", f"{row.standard_error:.4f}"]
        table.add_row(
            *([f"{row.n_neighbors:g}"] if several else []), *cells, style="bold green" if best else None
        )
    console.print(table)
    console.print(found.summary(), markup=False)
