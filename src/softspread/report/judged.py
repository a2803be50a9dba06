"""Sections about models that voted beside people, and about whether neighbours may speak for others."""

from typing import Any

import numpy as np
import pandas as pd

from softspread.annotators.judges import JudgeReport
from softspread.quality.smoothness import CONTRADICT, FOLLOW, NO_LINK, UNKNOWN, Smoothness
from softspread.report.markup import Cell, paragraph, section, table

SHOWN = 30  # models, pairs of classes, classes
VERDICTS = {
    FOLLOW: "votes go with their neighbours",
    CONTRADICT: "votes contradict their neighbours more than chance allows",
    NO_LINK: "neighbours say hardly more than chance",
    UNKNOWN: "too few votes to tell",
}


def judges_section(report: JudgeReport) -> str:
    """Agreement, calibration and confusion of every model."""
    rows = [
        [
            Cell(str(row["annotator"])),
            Cell(f"{row['items']:,}", f"{row['votes']:,} votes"),
            Cell(f"{row['compared']:,}"),
            _between(row, "agreement"),
            Cell(f"{row['confidence']:.0%}" if np.isfinite(row["confidence"]) else "not known"),
            _between(row, "overconfidence"),
        ]
        for row in report.models.head(SHOWN).to_dict("records")
    ]
    titles = [
        "Model",
        "Items",
        "Also voted on by people",
        "Agreement with people",
        "Its confidence",
        "Too sure by",
    ]
    parts = [table(titles, rows)]
    errors = report.confusion[report.confusion["model"] != report.confusion["people"]]
    worst = errors[errors["items"] > 0].sort_values("lower", ascending=False, kind="stable").head(SHOWN)
    if len(worst):
        cells = [
            [
                Cell(str(row["annotator"])),
                Cell(str(row["model"])),
                Cell(str(row["people"])),
                _between(row, "share"),
            ]
            for row in worst.to_dict("records")
        ]
        parts.append(table(["Model", "Where it says", "people say", "this often"], cells))
    return section(
        "Models that voted",
        *parts,
        paragraph(report.summary() + "."),
        note="Votes of models never count as votes of people. All votes of one model on an item are one soft "
        "vote; how much models count is decided by people's held-out votes. 90 % intervals.",
    )


def _between(row: dict[Any, Any], name: str) -> Cell:
    if not np.isfinite(row[name]):
        return Cell("not known")
    lower, upper = (
        (row["lower"], row["upper"]) if name == "share" else (row[f"{name}_lower"], row[f"{name}_upper"])
    )
    return Cell(f"{row[name]:.0%}", f"{lower:.0%} to {upper:.0%}")


def smoothness_section(found: Smoothness) -> str:
    """Agreement with neighbours, by class."""
    frame: pd.DataFrame = found.to_frame()
    whole = frame.iloc[[-1]]
    each = frame.iloc[:-1].sort_values("link", kind="stable").head(SHOWN)
    rows = [
        [
            Cell(str(row["class"])),
            Cell(f"{row['votes']:,.0f}"),
            Cell(f"{row['agreement']:.0%}"),
            Cell(f"{row['by_chance']:.0%}"),
            Cell(f"{row['link']:.2f}"),
            Cell(VERDICTS[row["verdict"]]),
        ]
        for row in pd.concat([whole, each]).to_dict("records")
    ]
    return section(
        "Do votes go with their neighbours?",
        *([paragraph(found.warning)] if found.warning else []),
        table(["Class", "Votes", "Neighbours agree", "by chance", "Link", "Verdict"], rows),
        note="All spreading rests on this. A permutation test: each vote is held out and compared with the "
        "votes on neighbouring items; by chance is the same with votes dealt to items at random. A link of 0 "
        "says no more than chance, 1 says all, below 0 neighbours say the opposite. A contradiction "
        "is a false alarm with a chance of 5 %.",
    )
