"""The program ``softspread``: its commands, and how it starts.

    arguments  ->  app  ->  one module of `commands`, wrapped by `runner.command`

Commands import everything heavy when they run, so that ``--help`` answers at once.
"""

import atexit
import gc
from typing import Annotated

import typer

from softspread.cli.commands.bench import bench
from softspread.cli.commands.demo import demo
from softspread.cli.commands.embed import embed
from softspread.cli.commands.explain import explain
from softspread.cli.commands.export import export
from softspread.cli.commands.graph import graph
from softspread.cli.commands.plan import plan
from softspread.cli.commands.quality import quality
from softspread.cli.commands.query import query
from softspread.cli.commands.reproduce import reproduce
from softspread.cli.commands.serve import serve
from softspread.cli.commands.spread import spread
from softspread.cli.commands.tune import tune
from softspread.cli.runner import CommandWithChoices
from softspread.cli.startup import import_when_used

MANY_OBJECTS = 100_000  # before Python looks for cycles: libraries create about as many, and all of them stay

app = typer.Typer(
    name="softspread",
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


for _function in (
    demo,
    embed,
    graph,
    spread,
    tune,
    query,
    quality,
    explain,
    export,
    serve,
    plan,
    reproduce,
    bench,
):
    app.command(cls=CommandWithChoices)(_function)


def main() -> None:
    """Entry point of the program ``softspread``."""
    gc.set_threshold(MANY_OBJECTS)
    atexit.register(gc.freeze)  # the search for cycles at exit would take half a second and free nothing
    import_when_used("scipy.stats")  # half the time of loading scikit-learn, for a function we never call
    app()
