"""``softspread demo``: what a few votes are worth, on data that ships with scikit-learn."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from softspread.cli.options import option
from softspread.cli.runner import Run, command

if TYPE_CHECKING:
    from softspread.demo import DemoResult

TABLE_DIGITS = 3  # of the printed table, which has to fit 80 columns; the report and --json have more


@command(own=("out",))
def demo(
    run: Run,
    draws: Annotated[int, option("How many sets of votes to average over.", min=1)] = 5,
    out: Annotated[Path, option("Where to write the report.", "--out", "-o")] = Path("softspread-demo.html"),
) -> None:
    """See what a few votes are worth on 1797 handwritten digits.

    Draws simulated votes, estimates soft labels by SoftLabeler, by the paper's own method and by the
    baselines, prints their errors and writes a report that opens in any browser. Needs no data and no
    network.

    Example: softspread demo --draws 3 --out demo.html
    """
    from softspread._common.atomic import check_target, write_text

    check_target(out)

    from softspread import demo as demos
    from softspread._common.progress import progress_bar

    n_steps = demos.DemoPlan().n_steps(draws)
    with progress_bar("drawing, fitting", n_steps, not run.common.quiet) as advance:
        result = demos.run_demo(run.seed, draws, advance)
    typed = f"softspread demo --seed {run.seed} --draws {draws}"
    write_text(out, demos.demo_page(result, run.seconds, typed))
    run.answer(demos.to_json(result) | {"report": out}, lambda console: _show(console, result, out))


def _show(console: Any, result: "DemoResult", out: Path) -> None:
    from rich.table import Table

    from softspread.demo import score_text

    draws = f"{result.n_draws} draw{'s' if result.n_draws > 1 else ''}"
    spread = " ± std" if result.n_draws > 1 else ""
    table = Table(title=f"RMSE of the soft labels, mean{spread} over {draws} (lower is better)")
    table.add_column("method", no_wrap=True)
    for score in result.rows[0].scores:
        table.add_column(f"{score.n_votes} votes\n{score.budget:.0%} of items", justify="right", no_wrap=True)
    lowest = [verdict.lowest for verdict in result.verdicts]
    for number, row in enumerate(result.rows):
        cells = []
        for score, best in zip(row.scores, lowest, strict=True):
            text = score_text(score, TABLE_DIGITS)
            setting = f"\n[dim]{score.setting}[/]" if score.setting else ""
            cells.append((f"[bold green]{text}[/]" if score is best else text) + setting)
        ends = not row.is_baseline and result.rows[number + 1].is_baseline
        table.add_row(row.title, *cells, end_section=ends)
    console.print(table)
    for verdict in result.verdicts:
        console.print(f"• {verdict.sentence()}", markup=False)
    console.print("Baselines stand with their best setting, known only in hindsight.", style="dim")
    console.print(f"Report: {out}", markup=False, soft_wrap=True)
