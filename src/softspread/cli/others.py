"""`plan`, `export`, `bench` and `demo`: commands that need no fit of the user's data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.cli.runs import Run, command

if TYPE_CHECKING:
    from softspread.demo import DemoResult

TABLE_DIGITS = 3  # of the printed table, which has to fit 80 columns; the report and --json have more


def add_commands(app: typer.Typer) -> None:
    """Register the commands of this file."""

    @command(app)
    def plan(
        run: Run,
        dimension: Annotated[
            int, typer.Option("--dimension", "-d", min=1, help="Dimension of the embedding.")
        ],
        epsilon: Annotated[float, typer.Option(help="Largest error of a soft label.")] = 0.1,
        delta: Annotated[float, typer.Option(help="Probability with which it may be exceeded.")] = 0.05,
        n_classes: Annotated[int, typer.Option(min=2, help="Number of classes.")] = 2,
        lipschitz: Annotated[
            float, typer.Option(help="How fast soft labels change per unit of distance.")
        ] = 1.0,
        n_items: Annotated[
            int | None, typer.Option(min=2, help="Items; else the smallest number that works.")
        ] = None,
        n_votes: Annotated[int | None, typer.Option(min=1, help="Votes; else the theorem's budget.")] = None,
        bound: Annotated[
            str, typer.Option(help="Which form of the bound: see docs/guarantees.md.")
        ] = "theorem",
    ) -> None:
        """How many items and votes the theory asks for.

        A worst case over all data: practice needs far less, see 'softspread quality'.

        Example: softspread plan --dimension 2 --epsilon 0.2 --n-classes 3
        """
        import dataclasses

        from softspread.guarantees.theorem import plan as make_plan

        found = make_plan(
            dimension=dimension,
            epsilon=epsilon,
            delta=delta,
            n_classes=n_classes,
            lipschitz=lipschitz,
            n_items=n_items,
            n_votes=n_votes,
            bound=bound,
        )
        document = {
            "command": "plan",
            **dataclasses.asdict(found),
            "holds": found.holds,
            "alpha": found.alpha,
            "radius": found.radius,
            "failure": found.failure,
            "votes_per_item": found.votes_per_item,
            "summary": found.summary(),
        }
        run.answer(document, lambda console: console.print(found.summary(), markup=False, soft_wrap=True))

    @command(app)
    def export(
        run: Run,
        source: Annotated[
            Path, typer.Argument(help="Soft labels: .parquet, .csv, .tsv, .jsonl or a datasets folder.")
        ],
        out: Annotated[
            Path,
            typer.Option(
                "--out", "-o", help="Where to: .parquet, .csv, .tsv, .jsonl, .json, or a folder's name."
            ),
        ],
        output_format: Annotated[
            str,
            typer.Option(
                "--format", help="auto, parquet, csv, tsv, jsonl, weighted, huggingface or labelstudio."
            ),
        ] = "auto",
        least_evidence: Annotated[float, typer.Option(help="Leave out items with less evidence.")] = 0.0,
        item_field: Annotated[
            str, typer.Option(help="Label Studio: field of the data for the item.")
        ] = "item",
        from_name: Annotated[str, typer.Option(help="Label Studio: name of the Choices tag.")] = "label",
        to_name: Annotated[
            str, typer.Option(help="Label Studio: name of the tag that shows the item.")
        ] = "item",
    ) -> None:
        """Turn a file of soft labels into another format.

        'weighted' has one row per item and class with a weight, for any trainer that takes sample weights. A
        name without ending becomes a folder for Hugging Face datasets, .json a list of Label Studio tasks
        with predictions.

        Example: softspread export soft_labels.parquet --out train.csv --format weighted
        """
        from softspread.io.soft_labels import (
            LabelStudioNames,
            check_output,
            read_soft_labels,
            with_evidence,
            write_soft_labels,
        )

        chosen = check_output(out, output_format)
        with run.stage("reading") as tell:
            read = read_soft_labels(source)
            labels = with_evidence(read, least_evidence)
            tell(f"{len(read):,} items, {len(labels.classes)} classes")
        with run.stage("writing"):
            written = write_soft_labels(out, labels, chosen, LabelStudioNames(item_field, from_name, to_name))
        document = {
            "command": "export",
            "n_items": len(labels),
            "left_out": len(read) - len(labels),
            "format": chosen,
            "out": [str(path) for path in written],
        }
        text = f"{len(labels):,} items as {chosen}: {', '.join(map(str, written))}"
        run.answer(document, lambda console: console.print(text, markup=False, soft_wrap=True))

    @command(app)
    def bench(
        run: Run,
        n_items: Annotated[int, typer.Option(min=100, help="Items of the made-up data.")] = 5_000,
        n_votes: Annotated[int, typer.Option(min=10, help="Votes on them.")] = 500,
        n_classes: Annotated[int, typer.Option(min=2, help="Classes.")] = 10,
        dimension: Annotated[int, typer.Option(min=1, help="Dimensions of the embedding.")] = 20,
        alpha: Annotated[float, typer.Option(help="How far votes travel.")] = 0.9,
        threads: Annotated[
            int | None, typer.Option(min=1, help="How many to use; all cores unless given.")
        ] = None,
    ) -> None:
        """Time a fit here, beside the loop with one solve per vote.

        Both give the same soft labels; the largest difference is shown. The second is the paper's loop as
        written.

        Example: softspread bench --n-items 10000 --n-votes 1000
        """
        from softspread.cli.bench import run_bench, show_bench

        found = run_bench(run, n_items, n_votes, n_classes, dimension, alpha, threads)
        run.answer(found, lambda console: show_bench(console, found))

    @command(app)
    def demo(
        run: Run,
        draws: Annotated[int, typer.Option(min=1, help="How many sets of votes to average over.")] = 5,
        out: Annotated[Path, typer.Option("--out", "-o", help="Where to write the report.")] = Path(
            "softspread-demo.html"
        ),
    ) -> None:
        """See what a few votes are worth on 1797 handwritten digits.

        Draws simulated votes, estimates soft labels by spreading and by the baselines, prints their errors
        and writes a report that opens in any browser. Needs no data and no network.

        Example: softspread demo --draws 3 --out demo.html
        """
        from softspread._common.atomic import check_target, write_text

        check_target(out)

        from softspread import demo as demos
        from softspread._common.progress import progress_bar

        seed = run.common.seed
        n_steps = demos.DemoPlan().n_steps(draws)
        with progress_bar("drawing, spreading", n_steps, not run.common.quiet) as advance:
            result = demos.run_demo(seed, draws, advance)
        typed = f"softspread demo --seed {seed} --draws {draws}"
        write_text(out, demos.demo_page(result, run.seconds, typed))
        run.answer(
            demos.to_json(result) | {"report": str(out)}, lambda console: _show_demo(console, result, out)
        )


def _show_demo(console: Any, result: "DemoResult", out: Path) -> None:
    from rich.table import Table

    from softspread.demo import score_text

    draws = f"{result.n_draws} draw{'s' if result.n_draws > 1 else ''}"
    spread = " ± std" if result.n_draws > 1 else ""
    table = Table(title=f"RMSE of the soft labels, mean{spread} over {draws} (lower is better)")
    table.add_column("method", no_wrap=True)
    for score in result.rows[0].scores:
        table.add_column(f"{score.n_votes} votes\n{score.budget:.0%} of items", justify="right", no_wrap=True)
    lowest = [verdict.winner for verdict in result.verdicts]
    for number, row in enumerate(result.rows):
        cells = []
        for score, best in zip(row.scores, lowest, strict=True):
            text = score_text(score, TABLE_DIGITS)
            setting = "" if row.spreads or not score.setting else f"\n[dim]{score.setting}[/]"
            cells.append((f"[bold green]{text}[/]" if score is best else text) + setting)
        table.add_row(row.title, *cells, end_section=row.spreads and not result.rows[number + 1].spreads)
    console.print(table)
    for verdict in result.verdicts:
        console.print(f"• {verdict.sentence()}", markup=False)
    console.print("Winning settings are the best of those tried, known only in hindsight.", style="dim")
    console.print(f"Report: {out}", markup=False, soft_wrap=True)
