"""The reference of the command line, written from the program itself.

commands of softspread.cli.app  ->  reference/cli.md, one section per command and group of options
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx
from sphinx.config import Config

from softspread.cli.app import app as program
from softspread.cli.runner import fill_in

HEAD = """\
# Commands and options

Generated from the program itself. [The command line](../cli.md) explains how the commands work together.
"""


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command with its full name, groups before their members.

    Typer brings classes of its own in place of click's, so a group is what has commands.
    """
    yield name, command
    for short, part in getattr(command, "commands", {}).items():
        if not part.hidden:
            yield from commands(part, f"{name} {short}")


def section(name: str, command: Any) -> str:
    """Heading, purpose and options of one command."""
    context = command.context_class(command, info_name=name)
    lines = [f"## {name}" if " " in name else "## Every command", ""]
    help_text = (command.help or "").replace("\b\n", "").split("\f")[0].strip()
    lines += [f"```text\n{command.get_usage(context)}\n\n{help_text}\n```", ""]
    shown: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None and parameter.param_type_name == "argument":
            record = (parameter.make_metavar(context), getattr(parameter, "help", None) or "")
        if record is not None:
            panel = getattr(parameter, "rich_help_panel", None) or "Options"
            shown.setdefault(panel, []).append((record[0], fill_in(record[1])))
    for panel, records in shown.items():
        lines += [f"**{panel}**", "", "| option | meaning |", "|---|---|"]
        lines += [
            f"| `{cell(option)}` | {cell(meaning).replace('<', '&lt;')} |" for option, meaning in records
        ]
        lines.append("")
    return "\n".join(lines)


def cell(text: str) -> str:
    """One line that a Markdown table can hold."""
    return " ".join(text.split()).replace("|", "\\|")


def reference() -> str:
    """The whole page."""
    root = typer.main.get_command(program)
    return HEAD + "\n" + "\n".join(section(name, command) for name, command in commands(root, "softspread"))


def write(app: Sphinx, config: Config) -> None:
    """Write the page unless it is as it should be."""
    page = reference()
    target = Path(app.srcdir) / "reference" / "cli.md"
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text() != page:
        target.write_text(page)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before Sphinx looks for pages."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
