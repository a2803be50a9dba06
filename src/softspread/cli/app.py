"""The program ``softspread``: its commands, and how it starts.

    arguments  ->  app  ->  one module of `commands`, wrapped by `runner.command`

Commands import everything heavy when they run, so that ``--help`` answers at once.
"""

import atexit
import gc
from importlib import import_module
from typing import Annotated

import typer

from softspread._common.late_imports import import_when_used
from softspread.cli.runner import CommandWithChoices, GroupWithChoices

# Each is a function in the module of its name; FURTHER in that module lists the commands below it.
COMMANDS = [
    "demo",
    "embed",
    "graph",
    "spread",
    "tune",
    "query",
    "quality",
    "explain",
    "export",
    "serve",
    "plan",
    "reproduce",
    "dcic",
    "bench",
]
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


for _name in COMMANDS:
    _module = import_module(f"softspread.cli.commands.{_name}")
    if _further := getattr(_module, "FURTHER", ()):
        _group = typer.Typer(cls=GroupWithChoices, invoke_without_command=True)
        _group.callback()(getattr(_module, _name))
        for _word, _function in _further:
            _group.command(_word, cls=CommandWithChoices)(_function)
        app.add_typer(_group, name=_name)
    else:
        app.command(cls=CommandWithChoices)(getattr(_module, _name))


def main() -> None:
    """Entry point of the program ``softspread``."""
    gc.set_threshold(MANY_OBJECTS)
    atexit.register(gc.freeze)  # the search for cycles at exit would take half a second and free nothing
    # Half the time of loading scikit-learn, for functions that we never call.
    import_when_used("scipy.stats", functions=("gmean", "rankdata"))
    app()
