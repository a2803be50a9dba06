"""The command line: parse, call one function, print.

Errors go to standard error in a line or two that say what to do. Exit code 2: bad input or an output that cannot be
written; 1: a failure; 130: interrupted. ``--debug`` shows the traceback instead. Everything heavy is imported inside
the commands, so that ``--help`` answers at once.
"""

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.errors import InputError, MissingExtraError, SoftspreadError, StoreError

if TYPE_CHECKING:
    from softspread.demo import DemoResult

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
TABLE_DIGITS = 3  # of the printed table, which has to fit 80 columns; the report and --json have more

app = typer.Typer(
    name="softspread",
    help="Reliable soft labels for a whole dataset, from few and noisy votes.\n\nStart with: softspread demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # --debug shows Python's own traceback
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table; errors still show.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of the table.")]


def explains_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Turn exceptions into a message and an exit code, unless the command was called with ``--debug``."""

    @functools.wraps(command)
    def guarded(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            sys.stdout.flush()
        except (Exception, KeyboardInterrupt) as error:
            if options.get("debug") or isinstance(error, typer.Exit | typer.Abort):
                raise
            raise typer.Exit(explain(error)) from None

    return guarded


def explain(error: BaseException) -> int:
    """Say on standard error what went wrong; the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print("softspread: interrupted; nothing was left half written.", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):  # the reader of our output left, as ``| head`` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains while closing
        return FAILURE
    if isinstance(error, SoftspreadError):
        print(f"softspread: {error}", file=sys.stderr)
        return BAD_INPUT if isinstance(error, InputError | StoreError | MissingExtraError) else FAILURE
    print(f"softspread: unexpected {type(error).__name__}: {error}", file=sys.stderr)
    print("Run again with --debug and report what it shows.", file=sys.stderr)
    return FAILURE


def _show_version(wanted: bool) -> None:
    if wanted:
        from softspread import __version__

        print(f"softspread {__version__}")
        raise typer.Exit


@app.callback()
def softspread(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Reliable soft labels for a whole dataset, from few and noisy votes.

    Start with: softspread demo
    """


@app.command()
@explains_errors
def demo(
    seed: Annotated[int, typer.Option(min=0, help="Fixes soft labels, votes and the map.")] = 0,
    draws: Annotated[int, typer.Option(min=1, help="How many sets of votes to average over.")] = 5,
    out: Annotated[Path, typer.Option(help="Where to write the report.")] = Path("softspread-demo.html"),
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    debug: DebugOption = False,
) -> None:
    """See what a few votes are worth on 1797 handwritten digits.

    Draws simulated votes, estimates soft labels by spreading and by the baselines, prints their errors and writes a
    report that opens in any browser. Needs no data and no network.

    Example: softspread demo --draws 3 --out demo.html
    """
    import json
    import time

    from softspread import report

    started = time.monotonic()
    report.check_target(out)

    from softspread.demo import demo_page, n_steps, run_demo, to_json
    from softspread.parallel import progress_bar

    with progress_bar("drawing, spreading", n_steps(draws), not quiet) as advance:
        result = run_demo(seed, draws, advance)
    command = f"softspread demo --seed {seed} --draws {draws}"
    report.write_text(out, demo_page(result, time.monotonic() - started, command))
    if as_json:
        print(json.dumps(to_json(result) | {"report": str(out)}, indent=2))
    elif not quiet:
        _print_demo(result, out)


def _print_demo(result: "DemoResult", out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from softspread.demo import score_text

    console = Console(highlight=False)
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


def main() -> None:
    """Entry point of the command ``softspread``."""
    app()
