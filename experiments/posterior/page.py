"""The page docs/measurements-posterior.md, from what was run.

DIR/table_*.csv, DIR/runs.log  ->  Markdown
"""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
from experiments.posterior.store import read
from experiments.posterior.tables import LEVEL, MEASURES

Text = Callable[[pd.Series], str]
INTRODUCTION = """\
# Measured: SoftLabeler's soft labels and intervals

1,200 items per dataset, votes drawn from the true soft labels on items drawn uniformly with replacement,
four draws per cell unless said otherwise. Columns are votes per item. `SoftLabeler()` is fitted as a user
would, with no setting changed. **PLS auto** is `ProbabilisticLabelSpreading()` as it comes; **peers** are
kernel regression, k-NN, histograms, spreading at any alpha, scikit-learn's LabelSpreading, Laplace and
Poisson learning, logistic regressions, neural networks and CROWDLAB, each at the best of its settings *in
hindsight*, chosen by cell: nobody could choose that well.

**Which data.** *Design* sets were looked at as often as we liked. *Judging* sets (chaosnli, mdagreement)
chose no constant. Strictly unseen they are no longer: results of two earlier versions on them were known
when this one was made. cifar10h_pca and labelme_pca are the same images as 50 main directions without a
map. moons, gaussians and sine come from a formula. The truth of labelme and davidson is the share of 2 to 9
votes, that of digits a random forest's.

**Goals.** RMSE and KL at most 1.05, 1.00 and .97 of the best peer up to 2 %, at 10 to 30 % and from 100 %
on. Coverage at .9: every cell at least .86 on average, no draw below .82; true p > .05 at least .82, true p
in (0, .05] at least .75; other levels in proportion. Misses are counted in the tables, not left out.

How it was run (`python -m experiments.posterior ...`, then `tables` and `page`):"""
TITLES = {"design": "Design sets", "judge": "Judging sets"}
CAPTIONS = {
    "widths": "Mean width at .9 against intervals of spreading alone:",
    "pls_coverage_goals": "Coverage of intervals of spreading alone:",
    "prior_goals": "Coverage with a classifier as prior:",
    "named_goals": "Coverage where the votes carry the names of 20 honest people:",
    "spammers_goals": "Coverage where 4 of these 20 people vote at random:",
    "repeats": "One vote on each item and second votes on a few:",
    "quality": "Quality: share of runs in which the interval holds, bias and width:",
}


def markdown(table: pd.DataFrame) -> str:
    """Rows with bars; numbers without a leading zero."""
    rows = [list(table.columns), ["---"] * len(table.columns), *table.astype(object).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(number(cell) for cell in row) + " |" for row in rows)


def number(value: object) -> str:
    """Three decimals: .912, 1.052; nothing where there is nothing."""
    if not isinstance(value, float):
        return str(value)
    if pd.isna(value):
        return ""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def matrix(table: pd.DataFrame, columns: str, text: Text) -> str:
    """One line per dataset, one column per budget."""
    cells = table.assign(text=[text(row) for _, row in table.iterrows()])
    wide = cells.pivot_table(index="dataset", columns=columns, values="text", aggfunc="first", sort=False)
    wide = wide[sorted(wide.columns)]
    wide.columns = [f"{name:g}" for name in wide.columns]
    return markdown(wide.fillna("").reset_index())


def with_worst(mean: str, worst: str) -> Text:
    """A mean with the worst draw behind it."""
    return lambda row: "" if pd.isna(row[mean]) else f"{number(row[mean])} ({number(row[worst])})"


def labels(folder: Path, role: str) -> list[str]:
    """Soft labels against peers and against spreading alone."""
    groups, cells = (_of(read(folder / f"table_{name}.csv"), role) for name in ("groups", "cells"))
    parts = [markdown(groups)] if len(groups) else []
    for measure in MEASURES if len(cells) else ():
        some = cells[cells["measure"] == measure]
        name = measure.upper()
        parts += [
            f"{name}, mean over draws:",
            matrix(some, "budget", lambda row: number(row["labeler"])),
            f"{name} as a ratio to the best peer in hindsight (worst draw against that draw's best):",
            matrix(some, "budget", with_worst("of peer", "worst draw of peer")),
            f"{name} as a ratio to PLS auto (worst draw):",
            matrix(some, "budget", with_worst("of pls auto", "worst draw of pls auto")),
        ]
    return parts


def intervals(folder: Path, role: str) -> list[str]:
    """Coverage and width."""
    goals, cells = (_of(read(folder / f"table_{name}.csv"), role) for name in ("coverage_goals", "coverage"))
    if not len(goals):
        return []
    at = cells[cells["level"] == LEVEL]
    parts = [markdown(goals.drop(columns="method"))]
    for kind, words in (("all", "all entries"), ("large", "true p > .05"), ("small", "true p in (0, .05]")):
        parts += [
            f"Coverage at .9, {words}, mean (lowest draw):",
            matrix(at, "budget", with_worst(kind, f"{kind}_worst")),
        ]
    return [*parts, "Mean width at .9:", matrix(at, "budget", lambda row: number(row["width"]))]


def others(folder: Path, role: str) -> list[str]:
    """Second votes, widths against other intervals, quality."""
    parts = []
    for name, caption in CAPTIONS.items():
        table = _of(read(folder / f"table_{name}.csv"), role)
        if len(table):
            parts += [caption, markdown(table)]
    return parts


def _of(table: pd.DataFrame, role: str) -> pd.DataFrame:
    return table[table["role"] == role].drop(columns="role") if len(table) else table


def how_it_was_run(folder: Path) -> str:
    """The commands, with commit and date; where data and results lay is of no interest."""
    log = folder / "runs.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return "\n".join(f"- `{line}`" for line in lines)


def write_page(folder: Path, page: Path) -> None:
    """Write the whole page."""
    parts = [INTRODUCTION, how_it_was_run(folder)]
    for role, title in TITLES.items():
        parts += [f"## {title}", *labels(folder, role), *intervals(folder, role), *others(folder, role)]
    page.write_text("\n\n".join(part for part in parts if part) + "\n")
