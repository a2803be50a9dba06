"""Shared by all commands: options, workspace, progress, warnings, errors, the answer.

Errors go to standard error in a line or two that say what to do. Exit code 2: bad input or an output that
cannot be written; 1: a failure; 130: interrupted. ``--debug`` shows the traceback instead. Progress and
warnings go to standard error, the answer to standard output.
"""

import copy
import dataclasses
import functools
import inspect
import json
import os
import sys
import time
import typing
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
import typer.core

from softspread._common.plain import plain
from softspread.cli.options import CommonOptions, fill_in
from softspread.errors import InputError, MissingExtraError, SoftspreadError, SoftspreadWarning, StoreError

if TYPE_CHECKING:
    from softspread.io.workspace import Workspace

KEYWORD = inspect.Parameter.KEYWORD_ONLY
BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130  # exit codes
WORDS = {bool: "true or false", int: "a whole number", float: "a number"}
OFTEN = (  # options that stand first in the help of every command that has them
    *("embeddings", "votes", "out", "report", "classes", "method", "confidence", "workspace"),
    *("seed", "as_json"),
)
WIDTH_WITHOUT_TERMINAL = 100  # columns of tables that go to a file or a pipe
Made = TypeVar("Made")


@dataclass(slots=True)
class Run:
    """One call of a command."""

    name: str
    common: CommonOptions
    workspace: "Workspace | None" = None
    release_workspace: Callable[[], None] = lambda: None  # for a command that runs on without it
    started: float = field(default_factory=time.monotonic)
    warnings: list[str] = field(default_factory=list)
    _digests: dict[Path, str] = field(default_factory=dict)

    @property
    def seed(self) -> int:
        """Fixes every random choice."""
        return self.common.seed

    @property
    def seconds(self) -> float:
        """Time since the command began."""
        return round(time.monotonic() - self.started, 3)

    @property
    def shows_bars(self) -> bool:
        """Whether progress is shown, on a terminal."""
        return not self.common.quiet and sys.stderr.isatty()

    @property
    def reused(self) -> list[str]:
        """Names of results taken from the workspace instead of being computed."""
        return [] if self.workspace is None else self.workspace.reused

    @contextmanager
    def stage(self, name: str, *, own_bars: bool = False) -> Iterator[Callable[[str], None]]:
        """A step of the work, reported on standard error; the yielded function adds its result.

        Parameters
        ----------
        own_bars : the step shows its own progress, so nothing else may be drawn meanwhile
        """
        begin, result = time.monotonic(), [""]
        spinner: Any = nullcontext()
        if self.shows_bars and not own_bars:
            from rich.console import Console

            spinner = Console(stderr=True).status(f"{name} ...")
        with spinner:
            yield lambda text: result.append(f": {text}")
        self.note(f"{name}{result[-1]} ({time.monotonic() - begin:.1f} s)")

    def note(self, text: str) -> None:
        """Print a note on standard error."""
        if not self.common.quiet:
            print(text, file=sys.stderr)

    def warn(self, text: str) -> None:
        """Print something to look at on standard error, once; it is also part of the answer."""
        if text not in self.warnings:
            self.warnings.append(text)
            self.note(f"softspread: warning: {text}")

    def answer(self, document: Any, shown: str | Callable[[Any], None]) -> None:
        """Print the document as JSON, or ``shown`` for people: a text, or a function of a rich console."""
        if self.common.as_json:
            if isinstance(document, Mapping):
                document = {"command": self.name, **document, "warnings": self.warnings}
            print(json.dumps(plain(document), indent=2, ensure_ascii=False))
        elif not self.common.quiet:
            if isinstance(shown, str):
                print(shown)
            else:
                shown(make_console())
        sys.stdout.flush()  # now, to notice a reader that has left

    def remember(
        self,
        kind: str,
        inputs: Sequence[Any],
        load: Callable[[Path], Any],
        make: Callable[[], Made],
        store: Callable[[Made, Path], object],
    ) -> Made:
        """Load an entry of the workspace, or make and store it; without a workspace just make it.

        The warnings that were given when it was made are given again when it is loaded.

        Parameters
        ----------
        inputs : all that the entry depends on: plain values, and paths of files whose content counts
        """
        if self.workspace is None:
            return make()
        from softspread._common.atomic import write_text
        from softspread._common.digests import hash_values

        key = hash_values(*(self._digest(part) if isinstance(part, Path) else part for part in inputs))
        warnings_file = self.workspace.entry("warnings", f"{kind}-{key}")

        def make_and_keep_warnings(_: Path) -> Made:
            n_before = len(self.warnings)
            made = make()
            write_text(warnings_file, json.dumps(self.warnings[n_before:]))
            return made

        def load_with_warnings(path: Path) -> Made:
            texts = json.loads(warnings_file.read_text(encoding="utf-8"))
            found: Made = load(path)
            for text in texts:
                self.warn(text)
            return found

        def put(path: Path, made: Made) -> None:
            store(made, path)

        return self.workspace.cached(kind, key, load_with_warnings, make_and_keep_warnings, put)

    def _digest(self, path: Path) -> str:
        """The digest of a file's content, computed once per run."""
        from softspread._common.digests import hash_file

        if path not in self._digests:
            self._digests[path] = hash_file(path)
        return self._digests[path]


def make_console() -> Any:
    """A rich console on standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH_WITHOUT_TERMINAL
    return Console(highlight=False, width=width)


def print_table(
    console: Any,
    title: str,
    left: Sequence[str],
    right: Sequence[str],
    rows: Iterable[Sequence[Any]],
    best: Container[int] = (),
) -> None:
    """Print rows under columns that are aligned to the left or to the right; the ``best`` rows stand out."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(*left, title=title)
    for name in right:
        table.add_column(name, justify="right", no_wrap=True)
    for number, row in enumerate(rows):
        table.add_row(*(escape(str(cell)) for cell in row), style="bold green" if number in best else None)
    console.print(table)


# --------------------------------------------------------------------------------------------------- commands
class CommandWithChoices(typer.core.TyperCommand):
    """Its help lists the choices that are installed, which are looked up only then."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _fill_in_options(self.params)
        super().format_help(ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Print the options by topic, the most common ones first."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for entry in self.get_params(ctx):
            record = entry.get_help_record(ctx)
            if record is not None:
                argument = entry.param_type_name == "argument"
                heading = "Arguments" if argument else getattr(entry, "rich_help_panel", None) or "Options"
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


class GroupWithChoices(typer.core.TyperGroup):
    """The same for a command that has further ones below it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _fill_in_options(self.params)
        super().format_help(ctx, formatter)


def _fill_in_options(params: Iterable[Any]) -> None:
    for option in params:
        if isinstance(option, typer.core.TyperOption):
            option.help = fill_in(option.help or "")


def command(*, own: Container[str] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Turn a function into a command with the options that all commands share.

    The function gets a :class:`Run` first. A parameter whose type is a dataclass becomes the options of that
    group. Options that were not typed are taken from the workspace, if there is one.

    Parameters
    ----------
    own : options that mean something else in other commands: a workspace sets them in a table of this command
    """

    def wrap(function: Callable[..., None]) -> Callable[..., None]:
        hints = typing.get_type_hints(function, include_extras=True)
        del hints["run"], hints["return"]
        given = inspect.signature(function).parameters
        parameters = [inspect.Parameter("context", KEYWORD, annotation=typer.Context)]
        for name, kind in hints.items():
            if dataclasses.is_dataclass(kind):
                parameters += _fields(kind)
            else:
                parameters.append(given[name].replace(kind=KEYWORD, annotation=kind))
        parameters += _fields(CommonOptions)
        parameters.sort(key=lambda entry: OFTEN.index(entry.name) if entry.name in OFTEN else len(OFTEN))
        kinds = {parameter.name: parameter.annotation for parameter in parameters}

        @functools.wraps(function)
        def call(context: typer.Context, **options: Any) -> None:
            with _errors_explained(options), ExitStack() as stack:
                if context.invoked_subcommand is not None:
                    _check_nothing_typed(context)
                    return
                held = stack.enter_context(ExitStack())
                workspace = None
                if options["workspace"] is not None:
                    from softspread.io.workspace import open_workspace

                    workspace = held.enter_context(open_workspace(options["workspace"]))
                    options.update(_from_workspace(context, workspace, kinds, own))
                common = _filled({"common": CommonOptions}, options)
                run = Run(function.__name__, **common, workspace=workspace, release_workspace=held.close)
                stack.enter_context(_warnings_told(run))
                function(run, **_filled(hints, options))

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = kinds
        del call.__wrapped__  # or the original signature would be read
        return call

    return wrap


def _check_nothing_typed(context: typer.Context) -> None:
    """Refuse options in front of a further command, which would not see them."""
    for option in context.command.params:
        source: Any = context.get_parameter_source(option.name or "")
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"{option.opts[-1]} comes after the name: softspread {context.info_name} "
                f"{context.invoked_subcommand} ... {option.opts[-1]} ..."
            )


def _fields(group: Any) -> list[inspect.Parameter]:
    """The options of a group and of the groups inside it; the help lists them under the group's topic."""
    about = (group.__doc__ or "").splitlines()[0].rstrip(".")
    found = []
    for name, kind in typing.get_type_hints(group, include_extras=True).items():
        if dataclasses.is_dataclass(kind):
            found += _fields(kind)
        else:
            default = group.__dataclass_fields__[name].default
            placed = kind if name in OFTEN else _under(about, kind)
            found.append(inspect.Parameter(name, KEYWORD, default=default, annotation=placed))
    return found


def _under(heading: str, kind: Any) -> Any:
    """The same option under a heading; a copy, as groups may share it."""
    value, given = typing.get_args(kind)
    placed = copy.copy(given)
    placed.rich_help_panel = heading
    return typing.Annotated[value, placed]


def _filled(hints: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Values for the parameters of a command or of a group."""

    def value(name: str, kind: Any) -> Any:
        is_group = dataclasses.is_dataclass(kind)
        return kind(**_filled(typing.get_type_hints(kind), options)) if is_group else options[name]

    return {name: value(name, kind) for name, kind in hints.items()}


def _from_workspace(
    context: typer.Context, workspace: "Workspace", kinds: Mapping[str, Any], own: Container[str]
) -> dict[str, Any]:
    """Values of the workspace's settings for options of this command that were not typed."""
    everything: Any = context.find_root().command
    known = {name: {entry.name for entry in one.params} for name, one in everything.commands.items()}
    known[""] = set().union(*known.values())  # settings outside of any table are for all commands
    file, found = workspace.folder / "softspread.toml", dict[str, Any]()
    for table, settings in workspace.tables():
        if table not in known:
            raise InputError(f"{file}: no command is called {table!r}; see 'softspread --help'.")
        for written, value in settings.items():
            name = {"json": "as_json"}.get(written, written.replace("-", "_"))
            if name not in known[table]:
                whose = f"the command {table!r} has no" if table else "no command has an"
                hint = f"'softspread {table or context.info_name} --help'"
                raise InputError(f"{file}: {whose} option {written!r}; see {hint}.")
            mine = table == _top_command(context)
            ours = name in kinds and (mine or (not table and name not in own))
            source: Any = context.get_parameter_source(name)
            if ours and source is not None and source.name in ("DEFAULT", "DEFAULT_MAP"):
                try:
                    found[name] = _typed(workspace.folder, value, kinds[name])
                except ValueError as error:
                    raise InputError(f"{file}: {written} must be {error}, got {value!r}.") from error
    return found


def _top_command(context: typer.Context) -> str | None:
    """The command right after the program's name; its table is for those below it too."""
    words = context.command_path.split()[len(context.find_root().command_path.split()) :]
    return words[0] if words else None


def _typed(folder: Path, value: Any, kind: Any) -> Any:
    """A setting in the type of its option; paths start at the workspace."""
    bare, option = typing.get_args(kind)
    wanted = next((part for part in typing.get_args(bare) if part is not type(None)), bare)
    if wanted == list[Path]:
        return [folder / str(one) for one in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        raise ValueError("a single value")
    if wanted is Path:
        return folder / str(value)
    try:
        if isinstance(value, bool) != (wanted is bool):
            raise ValueError
        typed = wanted(value)
    except ValueError:
        raise ValueError(WORDS.get(wanted, "a text")) from None
    if option.min is not None and typed < option.min:
        raise ValueError(f"at least {option.min}")
    return typed


@contextmanager
def _warnings_told(run: Run) -> Iterator[None]:
    """Print our own warnings as single lines; those of libraries only with ``--debug``."""

    def tell(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if issubclass(category, SoftspreadWarning):
            run.warn(str(message))
        elif run.common.debug:
            print(f"{category.__name__}: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell
        yield


@contextmanager
def _errors_explained(options: Mapping[str, Any]) -> Iterator[None]:
    """Turn exceptions into a message and an exit code, unless ``--debug`` is set."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        if options["debug"] or isinstance(error, typer.Exit | typer.Abort):
            raise
        raise typer.Exit(explain(error)) from None


def explain(error: BaseException) -> int:
    """Say on standard error what went wrong, and return the exit code."""
    if isinstance(error, KeyboardInterrupt):
        print("softspread: interrupted; nothing was left half written.", file=sys.stderr)
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):  # the reader of our output left, as ``| head`` does
        # or the interpreter complains while closing
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    if isinstance(error, SoftspreadError):
        print(f"softspread: {error}", file=sys.stderr)
        return BAD_INPUT if isinstance(error, InputError | StoreError | MissingExtraError) else FAILURE
    if isinstance(error, MemoryError):
        print(f"softspread: out of memory: {str(error) or _held()}.", file=sys.stderr)
        print("'softspread spread --dry-run' says how much a run needs.", file=sys.stderr)
        return FAILURE
    print(f"softspread: unexpected {type(error).__name__}: {error}", file=sys.stderr)
    print("Run again with --debug and report what it shows.", file=sys.stderr)
    return FAILURE


def _held() -> str:
    """How much memory the run took, where an error does not say how much it wanted."""
    try:
        import resource
    except ImportError:  # not on Windows
        return "the system gave no more"
    unit = 1 if sys.platform == "darwin" else 2**10  # bytes there, KiB elsewhere
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
    return f"the run held {held:.1f} GiB when the system gave no more"
