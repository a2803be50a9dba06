"""What every command does besides its work: options, workspace, progress, warnings, errors, the answer.

Errors go to standard error in a line or two that say what to do. Exit code 2: bad input or an output that
cannot be written; 1: a failure; 130: interrupted. ``--debug`` shows the traceback instead. Progress and
warnings go to standard error, the answer to standard output.
"""

import dataclasses
import functools
import inspect
import os
import sys
import time
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from softspread.cli.options import CommonOptions
from softspread.errors import InputError, MissingExtraError, SoftspreadError, SoftspreadWarning, StoreError

if TYPE_CHECKING:
    from softspread.io.workspace import Workspace

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
WORDS = {bool: "true or false", int: "a whole number", float: "a number"}
WIDTH_WITHOUT_TERMINAL = 100  # columns of tables that go to a file or a pipe


@dataclass(slots=True)
class Run:
    """One call of a command."""

    name: str
    common: CommonOptions
    workspace: "Workspace | None" = None
    started: float = field(default_factory=time.monotonic)
    warnings: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Since the command began."""
        return time.monotonic() - self.started

    @property
    def shows_bars(self) -> bool:
        """Whether somebody is watching."""
        return not self.common.quiet and sys.stderr.isatty()

    @contextmanager
    def stage(self, name: str, *, own_bars: bool = False) -> Iterator[Callable[[str], None]]:
        """A step of the work, told on standard error; the yielded function adds what came out.

        Parameters
        ----------
        own_bars : the step shows its own progress, so nothing else may be drawn meanwhile
        """
        if self.common.quiet:
            yield lambda text: None
            return
        begin, told = time.monotonic(), [""]

        def tell(text: str) -> None:
            told[0] = f": {text}"

        with ExitStack() as stack:
            if self.shows_bars and not own_bars:
                from rich.console import Console

                stack.enter_context(Console(stderr=True).status(f"{name} ..."))
            yield tell
        print(f"{name}{told[0]} ({time.monotonic() - begin:.1f} s)", file=sys.stderr)

    def note(self, text: str) -> None:
        """Something worth knowing, on standard error."""
        if not self.common.quiet:
            print(text, file=sys.stderr)

    def warn(self, text: str) -> None:
        """Something to look at; also part of the answer."""
        if text not in self.warnings:
            self.warnings.append(text)
            if not self.common.quiet:
                print(f"softspread: warning: {text}", file=sys.stderr)

    def answer(self, document: Mapping[str, Any], show: Callable[[Any], None]) -> None:
        """Print the document as JSON, or let ``show`` print it for people with a rich console."""
        if self.common.as_json:
            import json

            print(json.dumps(plain(document), indent=2, ensure_ascii=False))
        elif not self.common.quiet:
            show(make_console())


def make_console() -> Any:
    """A rich console on standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH_WITHOUT_TERMINAL
    return Console(highlight=False, width=width)


def plain(value: Any) -> Any:
    """Anything as values that JSON knows; NaN and infinity become null.

    Examples
    --------
    >>> plain({"a": float("nan"), "b": (1, Path("x"))})
    {'a': None, 'b': [1, 'x']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return plain(value.tolist())
    if isinstance(value, float):
        return value if value - value == 0 else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def needed(value: Any, option: str) -> Any:
    """An option that may also come from a workspace, but must come."""
    if value is None:
        raise InputError(f"{option} is missing; give it, or set it in the softspread.toml of a --workspace.")
    return value


# --------------------------------------------------------------------------------------------------- commands
def command(app: typer.Typer, **settings: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command; its parameters of a dataclass type become the options of that group.

    The function gets a :class:`Run` first. Options that are not given are taken from the workspace, where
    there is one.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        hints = typing.get_type_hints(function, include_extras=True)
        groups: dict[str, Any] = {
            name: kind for name, kind in hints.items() if dataclasses.is_dataclass(kind) and kind is not Run
        }
        parameters = []
        for name, parameter in inspect.signature(function).parameters.items():
            if name in groups:
                parameters += _fields(groups[name])
            elif hints[name] is not Run:
                kind = inspect.Parameter.KEYWORD_ONLY
                parameters.append(parameter.replace(kind=kind, annotation=hints[name]))
        parameters += _fields(CommonOptions)
        parameters.append(
            inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        )

        @functools.wraps(function)
        def call(context: typer.Context, **options: Any) -> None:
            with ExitStack() as stack:
                workspace = None
                if options.get("workspace") is not None:
                    from softspread.io.workspace import open_workspace

                    workspace = stack.enter_context(open_workspace(options["workspace"]))
                    options |= _from_workspace(context, workspace, options, call.__annotations__)
                run = Run(function.__name__, CommonOptions(**_taken(options, CommonOptions)), workspace)
                stack.enter_context(_warnings_told(run))
                arguments = {name: kind(**_taken(options, kind)) for name, kind in groups.items()}
                function(run, **arguments, **options)

        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        del call.__wrapped__  # or the original signature would be read
        app.command(**settings)(explains_errors(call))
        return function

    return register


def _fields(group: Any) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            entry.name, inspect.Parameter.KEYWORD_ONLY, default=entry.default, annotation=hints[entry.name]
        )
        for entry in dataclasses.fields(group)
    ]


def _taken(options: dict[str, Any], group: Any) -> dict[str, Any]:
    return {
        entry.name: options.pop(entry.name) for entry in dataclasses.fields(group) if entry.name in options
    }


def _from_workspace(
    context: typer.Context, workspace: "Workspace", options: Mapping[str, Any], kinds: Mapping[str, Any]
) -> dict[str, Any]:
    """Values of the workspace's settings for options of this command that were not given."""
    everything: Any = context.find_root().command
    known = {entry.name for one in everything.commands.values() for entry in one.params}
    found: dict[str, Any] = {}
    for written, value in workspace.options.items():
        name = {"json": "as_json"}.get(written, written.replace("-", "_"))
        if name not in options:
            if name not in known:
                raise InputError(
                    f"{workspace.folder / 'softspread.toml'}: no command has an option {written!r}; see "
                    "'softspread "
                    f"{context.info_name} --help'."
                )
            continue
        source = context.get_parameter_source(name)
        if source is not None and source.name in ("DEFAULT", "DEFAULT_MAP"):
            found[name] = _typed(workspace, written, value, kinds[name])
    return found


def _typed(workspace: "Workspace", written: str, value: Any, kind: Any) -> Any:
    """A setting in the type of its option; paths start at the workspace."""
    bare = typing.get_args(kind)[0] if typing.get_origin(kind) is typing.Annotated else kind
    wanted = next((part for part in typing.get_args(bare) if part is not type(None)), bare)
    if wanted is Path:
        return workspace.folder / str(value)
    try:
        if isinstance(value, bool) != (wanted is bool):
            raise ValueError
        return wanted(value)
    except ValueError as error:
        raise InputError(
            f"{workspace.folder / 'softspread.toml'}: {written} must be {WORDS.get(wanted, 'a text')}, got "
            f"{value!r}."
        ) from error


@contextmanager
def _warnings_told(run: Run) -> Iterator[None]:
    """Our own warnings as single lines; those of libraries only with ``--debug``."""

    def tell(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if issubclass(category, SoftspreadWarning):
            run.warn(str(message))
        elif run.common.debug:
            print(f"{category.__name__}: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = tell
        yield


def explains_errors(function: Callable[..., None]) -> Callable[..., None]:
    """Turn exceptions into a message and an exit code, unless the command was called with ``--debug``."""

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> None:
        try:
            function(*args, **options)
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
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # or the interpreter complains while closing
        return FAILURE
    if isinstance(error, SoftspreadError):
        print(f"softspread: {error}", file=sys.stderr)
        return BAD_INPUT if isinstance(error, InputError | StoreError | MissingExtraError) else FAILURE
    if isinstance(error, MemoryError):
        print(f"softspread: out of memory ({error}). --dry-run tells how much a run needs.", file=sys.stderr)
        return FAILURE
    print(f"softspread: unexpected {type(error).__name__}: {error}", file=sys.stderr)
    print("Run again with --debug and report what it shows.", file=sys.stderr)
    return FAILURE
