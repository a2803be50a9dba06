"""Tables of measurements, drawn from stored JSON: the directive ``measurement``.

    ```{measurement} posterior
    ```

draws every table of ``experiments/results/posterior.json``, with the commands, commits and dates behind them;
a title after the name draws one table. ``experiments/stored.py`` writes these files.
"""

import json
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LONG = 40  # characters
RESULTS = Path(__file__).parents[2] / "experiments" / "results"


def shown(value: Any) -> str:
    """A number with three decimals, four below 0.1; text as it is; nothing where there is nothing."""
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return (
        f"{value:g}" if value == round(value, 2) else f"{value:.4f}" if abs(value) < 0.1 else f"{value:.3f}"
    )


class Measurement(SphinxDirective):
    """One stored result, or one of its tables."""

    required_arguments = 1
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        name, *title = self.arguments
        path = RESULTS / f"{name}.json"
        self.env.note_dependency(str(path))
        stored = json.loads(path.read_text())
        tables = [table for table in stored["tables"] if not title or table["title"] == title[0]]
        if not tables:
            raise self.error(
                f"{path.name} has no table {title[0]!r}; it has {[t['title'] for t in stored['tables']]}"
            )
        return [node for table in tables for node in (nodes.rubric("", table["title"]), drawn(table))] + runs(
            stored
        )


def drawn(table: dict[str, Any]) -> nodes.Node:
    """A table that scrolls by itself on narrow screens."""
    head, *body = [table["columns"], *table["rows"]]
    group = nodes.tgroup("", *[nodes.colspec("", colwidth=1) for _ in head], cols=len(head))
    group += nodes.thead("", line(head))
    group += nodes.tbody("", *[line(row) for row in body])
    return nodes.container("", nodes.table("", group), classes=["measured"])


def line(cells: list[Any]) -> nodes.row:
    """One row."""
    return nodes.row("", *[nodes.entry("", text(shown(cell))) for cell in cells])


def text(cell: str) -> nodes.paragraph:
    """What a cell says; sentences may be broken into lines, numbers with their ± may not."""
    return nodes.paragraph("", cell, classes=["sentence"] if len(cell) > LONG else [])


def runs(stored: dict[str, Any]) -> list[nodes.Node]:
    """The commands behind the figures."""
    items = [
        nodes.list_item(
            "",
            nodes.paragraph(
                "",
                "",
                nodes.literal("", run["command"]),
                nodes.Text(f" on {run['date']}, commit {run['commit']}"),
            ),
        )
        for run in stored["runs"]
    ]
    return [nodes.paragraph("", "How it was run:"), nodes.bullet_list("", *items)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("measurement", Measurement)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
