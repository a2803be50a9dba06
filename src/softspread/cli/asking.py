"""`query`, `quality` and `explain`: what to vote on next, how good the labels are, and where one comes
from.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from softspread.cli.options import FitOptions, GraphOptions, ItemOptions, VoteOptions
from softspread.cli.runs import Run, command
from softspread.queries.registry import STRATEGIES

IN_WORDS = {
    "rmse": "distance from the true soft labels (RMSE)",
    "kl": "divergence from the true soft labels (KL, nats)",
    "accuracy": "most probable class is the true one",
    "agreement": "a further vote names the most probable class",
    "brier": "Brier score against further votes",
    "noise": "part of it that no method can avoid",
}


def add_commands(app: typer.Typer) -> None:
    """Register the commands of this file."""

    @command(app)
    def query(
        run: Run,
        item_options: ItemOptions,
        vote_options: VoteOptions,
        graph_options: GraphOptions,
        fit_options: FitOptions,
        batch_size: Annotated[int, typer.Option("--batch-size", "-n", min=1, help="How many items.")] = 10,
        strategy: Annotated[
            str,
            typer.Option(help=f"{', '.join(STRATEGIES.names())}."),
        ] = "uncertainty",
        exclude: Annotated[
            Path | None, typer.Option(help="Ids never to pick, in a file as for --ids.")
        ] = None,
        out: Annotated[
            Path | None,
            typer.Option("--out", "-o", help="Also write the items: .csv, .jsonl, or .json for tasks."),
        ] = None,
    ) -> None:
        """Say which items to vote on next.

        Example: softspread query --embeddings X.npy --votes votes.csv --batch-size 50 --out next.csv
        """
        from softspread.cli.early import check_files

        check_files(item_options, vote_options)
        _check_query_target(out)

        excluded = _check_picking(strategy, exclude)

        from softspread.cli import jobs

        job = jobs.fit(run, item_options, graph_options, vote_options, fit_options)
        with run.stage("choosing"):
            picked = job.est.query(batch_size, strategy, exclude=excluded, random_state=run.common.seed)
            rows = job.items.rows_of(picked)
            p, evidence = job.est.predict_proba()[rows], job.est.evidence_[rows]
        best = job.est.classes_[p.argmax(axis=1)]
        table = [
            {"item": item, "label": label, "p": float(top), "evidence": float(amount)}
            for item, label, top, amount in zip(
                picked.tolist(), best.tolist(), p.max(axis=1).tolist(), evidence.tolist(), strict=True
            )
        ]
        if out is not None:
            _write_query(out, table)
        document = {
            "command": "query",
            "strategy": strategy,
            "alpha": job.est.alpha_,
            "items": table,
            "out": None if out is None else str(out),
            "warnings": run.warnings,
        }
        run.answer(document, lambda console: _show_query(console, table, out))

    @command(app)
    def quality(
        run: Run,
        item_options: ItemOptions,
        vote_options: VoteOptions,
        graph_options: GraphOptions,
        fit_options: FitOptions,
        test_votes: Annotated[
            Path | None, typer.Option(help="Votes that were not used, best two or more each on random items.")
        ] = None,
        confidence: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9,
    ) -> None:
        """Estimate how good the labels are, without ground truth.

        Holds each vote out in turn, or judges by votes set apart (--test-votes). Telling error from noise
        takes items with two or more votes.

        Example: softspread quality --embeddings X.npy --votes votes.csv
        """
        import dataclasses

        from softspread.cli.early import check_files

        check_files(item_options, vote_options)

        from softspread.cli import jobs

        job = jobs.fit(run, item_options, graph_options, vote_options, fit_options)
        counts = None
        if test_votes is not None:
            options = dataclasses.replace(vote_options, votes=test_votes)
            apart, _ = jobs.load_votes(
                run, options, job.items, [str(name) for name in job.est.classes_.tolist()]
            )
            counts = _counts(job, apart)
        with run.stage("quality"):
            found = job.est.quality(counts, confidence_level=confidence, random_state=run.common.seed)
        measures = {
            row.measure: {"value": row.value, "lower": row.lower, "upper": row.upper}
            for row in found.to_frame().itertuples()
        }
        document = {
            "command": "quality",
            "source": found.source,
            "n_items": found.n_items,
            "n_votes": found.n_votes,
            "items_with_two_or_more": found.n_repeated,
            "confidence_level": found.confidence_level,
            "measures": measures,
            "notes": list(found.notes),
            "alpha": job.est.alpha_,
            "warnings": run.warnings,
        }
        run.answer(document, lambda console: _show_quality(console, found))

    @command(app)
    def explain(
        run: Run,
        item: Annotated[str, typer.Argument(help="The item to explain, by its id or position.")],
        item_options: ItemOptions,
        vote_options: VoteOptions,
        graph_options: GraphOptions,
        fit_options: FitOptions,
        top: Annotated[int, typer.Option(min=1, help="How many votes to show.")] = 10,
    ) -> None:
        """Show the votes behind one soft label.

        A soft label is a weighted mean of votes; these are the heaviest.

        Example: softspread explain 42 --embeddings X.npy --votes votes.csv
        """
        from softspread.cli.early import check_files

        check_files(item_options, vote_options)

        from softspread.cli import jobs

        job = jobs.fit(run, item_options, graph_options, vote_options, fit_options)
        name = job.items.find(item)
        with run.stage("explaining"):
            table = job.est.explain(name, top)
            row = int(job.items.rows_of([name])[0])
            p, evidence = job.est.predict_proba()[row], float(job.est.evidence_[row])
        document = {
            "command": "explain",
            "item": name,
            "soft_label": dict(zip(map(str, job.est.classes_.tolist()), p.tolist(), strict=True)),
            "evidence": evidence,
            "alpha": job.est.alpha_,
            "votes": table.to_dict("records"),
            "warnings": run.warnings,
        }
        run.answer(document, lambda console: _show_explanation(console, document))


def _counts(job: Any, apart: Any) -> Any:
    import numpy as np

    from softspread._common import validation

    votes = apart.votes
    counts = np.zeros((job.items.n_items, len(job.est.classes_)))
    rows = job.items.rows_of(votes.items)
    np.add.at(counts, (rows, validation.columns_of_labels(votes.labels, job.est.classes_)), votes.weights)
    return counts


def _check_picking(strategy: str, exclude: Path | None) -> Any:
    """What would only be looked at after the fit, which may take minutes; the ids to leave out, or None."""
    from softspread.io.embeddings import read_ids

    STRATEGIES.check(strategy)
    return None if exclude is None else read_ids(exclude)


def _check_query_target(out: Path | None) -> None:
    from softspread._common.atomic import check_target
    from softspread.errors import InputError

    if out is None:
        return
    if out.suffix.lower() not in (".csv", ".jsonl", ".json"):
        raise InputError(
            f"{out} ends in {out.suffix or 'nothing'!r}; items may be .csv, .jsonl, or .json for tasks."
        )
    check_target(out)


def _write_query(out: Path, table: list[dict[str, Any]]) -> None:
    import csv
    import io
    import json

    from softspread._common.atomic import write_text

    if out.suffix.lower() == ".json":
        write_text(
            out, json.dumps([{"data": {"item": row["item"]}} for row in table], ensure_ascii=False) + "\n"
        )
    elif out.suffix.lower() == ".jsonl":
        write_text(out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table))
    else:
        text = io.StringIO()
        writer = csv.DictWriter(text, ["item", "label", "p", "evidence"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
        write_text(out, text.getvalue())


def _show_query(console: Any, table: list[dict[str, Any]], out: Path | None) -> None:
    from rich.markup import escape
    from rich.table import Table

    shown = Table(title="Vote on these next")
    shown.add_column("item")
    shown.add_column("now most probable")
    shown.add_column("p", justify="right")
    shown.add_column("evidence", justify="right")
    for row in table:
        shown.add_row(
            escape(str(row["item"])), escape(str(row["label"])), f"{row['p']:.2f}", f"{row['evidence']:.3g}"
        )
    console.print(shown)
    if out is not None:
        console.print(f"Written: {out}", markup=False, soft_wrap=True)


def _show_quality(console: Any, found: Any) -> None:
    from rich.table import Table

    votes = "votes set apart" if found.source == "set apart" else "votes held out in turn"
    table = Table(title=f"Quality, estimated from {found.n_votes:,} {votes}")
    table.add_column("measure")
    table.add_column("estimate", justify="right")
    table.add_column(f"{found.confidence_level:.0%} interval", justify="right")
    for row in found.to_frame().itertuples():
        known = row.value == row.value
        digits = ".1%" if row.measure in ("accuracy", "agreement") else ".4f"
        table.add_row(
            IN_WORDS[row.measure],
            f"{row.value:{digits}}" if known else "unknown",
            f"{row.lower:{digits}} to {row.upper:{digits}}" if known else "",
        )
    console.print(table)
    for note in found.notes:
        console.print(f"• {note}", markup=False)


def _show_explanation(console: Any, document: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    p = sorted(document["soft_label"].items(), key=lambda entry: -entry[1])
    console.print(
        f"[bold]Item {escape(str(document['item']))}[/]: evidence {document['evidence']:.3g} votes' worth"
    )
    for label, value in p[:5]:
        bar = "█" * round(30 * value)
        console.print(f"  {escape(label):<20} {value:6.1%} [blue]{bar}[/]")
    rows = document["votes"]
    if not rows:
        console.print("No vote reaches this item: its soft label is the prior.")
        return
    table = Table(title="The heaviest votes behind it")
    for name in rows[0]:
        table.add_column(name, justify="right" if name == "weight" else "left")
    for row in rows:
        table.add_row(
            *(f"{value:.1%}" if name == "weight" else escape(str(value)) for name, value in row.items())
        )
    console.print(table)
    console.print(f"Together {sum(row['weight'] for row in rows):.0%} of its evidence.")
