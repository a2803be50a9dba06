"""The command line: parse, call one function, print.

    options  ->  runs.command  ->  one file per group of commands: spreading, asking, others

Everything heavy is imported inside the commands, so that ``--help`` answers at once.
"""

import atexit
import gc
from typing import Annotated

import typer

from softspread.cli import asking, others, spreading
from softspread.cli.late import load_late
from softspread.cli.runs import explain, explains_errors
from softspread.embedding import command as embedding
from softspread.reproduce import command as reproduction
from softspread.web import command as web

__all__ = ["app", "explain", "explains_errors", "main"]

MANY_OBJECTS = (
    100_000  # new ones before Python looks for cycles: loading libraries makes as many that all stay
)

app = typer.Typer(
    name="softspread",
    help="Reliable soft labels for a whole dataset, from few and noisy votes.\n\nStart with: softspread demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # --debug shows Python's own traceback
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from softspread import __version__

        print(f"softspread {__version__}")
        raise typer.Exit


@app.callback()
def softspread(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and stop."),
    ] = False,
) -> None:
    """Reliable soft labels for a whole dataset, from few and noisy votes.

    Start with: softspread demo
    """


for part in (spreading, asking, others):
    part.add_commands(app)
for other in (embedding, web, reproduction):  # light modules of larger parts
    other.add_commands(app, explains_errors)


def main() -> None:
    """Entry point of the command ``softspread``."""
    gc.set_threshold(MANY_OBJECTS)
    atexit.register(gc.freeze)  # nothing left at the end is worth a search for cycles: half a second
    load_late(
        "scipy.stats"
    )  # half of the time that loading scikit-learn takes, for one function that we never call
    app()
