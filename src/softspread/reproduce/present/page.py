"""One page per run: question, table, figure, findings, and how ours differ from the paper's.

<out>/<experiment>/{trials.csv, table.md, table.tex, figure.png, .pdf, .svg}  ->  <out>/report.html, report.md
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from softspread import report
from softspread.errors import MissingExtraError
from softspread.reproduce.plan import Plan
from softspread.reproduce.present.drawing import FORMATS
from softspread.reproduce.present.figures import draw_figure
from softspread.reproduce.present.findings import Finding, check_findings
from softspread.reproduce.present.tables import Table, make_table

FIGURE = "figure.png"


@dataclass(frozen=True, slots=True)
class Shown:
    """One experiment, ready for the page."""

    plan: Plan
    frame: pd.DataFrame
    table: Table | None
    figure: Path | None
    missing: str  # why there is no figure, if so


def present(plan: Plan, frame: pd.DataFrame, out: Path) -> Shown:
    """Write an experiment's table and figure beside its trials."""
    home = out / plan.name
    table = make_table(plan, frame)
    if table is not None:
        report.write_text(home / "table.md", f"# {plan.title}\n\n{table.to_markdown()}")
        report.write_text(home / "table.tex", table.to_latex())
    path, missing = home / FIGURE, ""
    try:
        drawn = draw_figure(plan, frame, path)
    except MissingExtraError as error:
        drawn, missing = False, str(error)
    return Shown(plan, frame, table, path if drawn else None, missing)


def write_page(
    shown: Sequence[Shown], out: Path, command: str, skipped: Mapping[str, int], options: str = ""
) -> list[Finding]:
    """Write report.html, report.md and findings.json, and return the findings.

    Parameters
    ----------
    command : what was typed
    options : of the command; with the name of an experiment they give its numbers again
    """
    found = check_findings({one.plan.name: one.frame for one in shown})
    report.write_text(out / "findings.json", json.dumps([one.to_json() for one in found], indent=2) + "\n")
    report.write_text(out / "report.html", _html(shown, found, command, skipped, options))
    report.write_text(out / "report.md", _markdown(shown, found, command, skipped, options))
    return found


def _sizes(one: Shown) -> str:
    n = len(one.frame)
    datasets = ", ".join(dict.fromkeys(map(str, one.frame["dataset"]))) if n else "none"
    return f"{one.plan.paper or 'not in the paper'}. {n} rows; datasets: {datasets}."


def _command(one: Shown, options: str) -> str:
    """The command for the numbers of one experiment."""
    return " ".join(["softspread reproduce", one.plan.name, *([options] if options else [])])


def _verdict(found: Sequence[Finding]) -> str:
    return f"{sum(one.holds for one in found)} of {len(found)} statements hold"


def _html(
    shown: Sequence[Shown],
    found: Sequence[Finding],
    command: str,
    skipped: Mapping[str, int],
    options: str,
) -> str:
    lines = [one.line() for one in sorted(found, key=lambda one: one.holds)]  # what fails first
    blocks = [
        report.heading(
            "The paper, rerun",
            "Every table and figure of arXiv:2602.04574 from plans, seeds and one command.",
        ),
        report.section(f"Findings: {_verdict(found)}", report.bullets(lines), note=NOTE_FINDINGS),
    ]
    if len(shown) > 1:
        blocks.append(report.section("Experiments", _contents(shown)))
    for one in shown:
        if one.frame.empty:
            continue
        parts = [report.paragraph(one.plan.question)] if one.plan.question else []
        parts.append(report.code(_command(one, options)))
        if one.table is not None:
            cells = [[report.Cell(cell.text, best=cell.best) for cell in row] for row in one.table.rows]
            parts.append(report.table(one.table.header, cells))
            parts.append(report.paragraph(one.table.note))
        if one.figure is not None:
            parts.append(_image(one.figure, one.plan.title))
            names = ", ".join(f"{one.plan.name}/figure.{kind}" for kind in FORMATS)
            parts.append(report.paragraph(f"For print: {names}."))
        if one.missing:
            parts.append(report.paragraph(one.missing))
        own = [finding.line() for finding in found if finding.experiment == one.plan.name]
        if own:
            parts.append(report.bullets(own))
        if one.plan.differs:
            parts.append(report.paragraph("Where ours differ: " + " ".join(one.plan.differs.split())))
        blocks.append(_anchored(one.plan.name, report.section(one.plan.title, *parts, note=_sizes(one))))
    blocks.append(report.section("What was run", report.code(command), report.bullets(_left_out(skipped))))
    return report.page(
        "softspread reproduce", *blocks, footer="This file is complete in itself and loads nothing."
    )


NOTE_FINDINGS = (
    "What the paper says in words, checked on every dataset that was run, what fails first. Each names its "
    "experiment, whose section has the command."
)


def _anchored(name: str, markup: str) -> str:
    return f"<div id='{report.escape(name)}'>{markup}</div>"


def _contents(shown: Sequence[Shown]) -> str:
    """Links to the experiments that have rows; the others in one line."""
    links = [
        "<li><a style='color:inherit' "
        f"href='#{report.escape(one.plan.name)}'>{report.escape(one.plan.title)}</a></li>"
        for one in shown
        if len(one.frame)
    ]
    empty = [one.plan.name for one in shown if not len(one.frame)]
    rest = (
        report.paragraph(f"Nothing to show for {', '.join(empty)}: see what was left out, below.")
        if empty
        else ""
    )
    return f"<ul>{''.join(links)}</ul>{rest}"


def _image(path: Path, title: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return f"<img style='max-width:100%' alt='{report.escape(title)}' src='data:image/png;base64,{data}'>"


def _left_out(skipped: Mapping[str, int]) -> list[str]:
    return [f"{number} trials left out: {reason}" for reason, number in skipped.items()] or [
        "Nothing was left out."
    ]


def _markdown(
    shown: Sequence[Shown],
    found: Sequence[Finding],
    command: str,
    skipped: Mapping[str, int],
    options: str,
) -> str:
    lines = ["# The paper, rerun", "", f"`{command}`", "", f"## Findings: {_verdict(found)}", ""]
    lines += [f"- {one.line()}" for one in found]
    for one in shown:
        lines += ["", f"## {one.plan.title}", "", f"`{_command(one, options)}`", "", _sizes(one), ""]
        if one.plan.question:
            lines += [one.plan.question, ""]
        if one.table is not None:
            lines += [one.table.to_markdown()]
        if one.figure is not None:
            lines += [f"![{one.plan.title}]({one.plan.name}/{FIGURE})", ""]
        if one.plan.differs:
            lines += ["Where ours differ: " + " ".join(one.plan.differs.split()), ""]
        lines += [f"- {finding.line()}" for finding in found if finding.experiment == one.plan.name]
    lines += ["", "## Left out", "", *(f"- {text}" for text in _left_out(skipped))]
    return "\n".join(lines) + "\n"
