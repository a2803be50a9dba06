"""Tables of results, in Markdown and LaTeX, with the paper's numbers beside ours where it has them.

trials  ->  mean (standard deviation) over draws  ->  rows: methods, columns: datasets, budgets, crowds
"""

import json
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from softspread.errors import InputError
from softspread.reproduce.methods.methods import MAIN_PARAMETER, method_title, setting_text
from softspread.reproduce.plan import Plan
from softspread.reproduce.run import each, setting

DASH = "-"
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """One entry of a table."""

    text: str
    best: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table that can be written as Markdown and as LaTeX."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def to_markdown(self) -> str:
        """Write the table with pipes; the best of a column is bold."""
        lines = [_pipes(self.header), _pipes(["---", *["---:"] * (len(self.header) - 1)])]
        lines += [
            _pipes([f"**{cell.text}**" if cell.best else cell.text for cell in row]) for row in self.rows
        ]
        return "\n".join(lines) + "\n" + (f"\n{self.note}\n" if self.note else "")

    def to_latex(self) -> str:
        """Write the table as a tabular with booktabs' rules."""
        lines = [
            f"% {self.title}",
            r"\begin{tabular}{l" + "r" * (len(self.header) - 1) + "}",
            r"\toprule",
            " & ".join(map(_latex, self.header)) + r" \\",
            r"\midrule",
        ]
        for row in self.rows:
            cells = [rf"\textbf{{{_latex(cell.text)}}}" if cell.best else _latex(cell.text) for cell in row]
            lines.append(" & ".join(cells) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _latex(text: str) -> str:
    for plain, safe in (("\\", r"\textbackslash "), ("%", r"\%"), ("&", r"\&"), ("_", r"\_"), ("#", r"\#")):
        text = text.replace(plain, safe)
    return text.replace("±", r"$\pm$").replace("✓", r"$\checkmark$")


# -------------------------------------------------------------------------------------------------- the paper
def paper_numbers(name: str) -> dict[str, dict[str, list[float]]]:
    """Read a table of the paper: method -> dataset or budget -> numbers.

    Examples
    --------
    >>> paper_numbers("rmse_10")["pls_0.9"]["cifar10h"]
    [0.1098, 0.0009]
    """
    text = (files("softspread.reproduce") / "paper.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    if name not in tables:
        raise InputError(f"there is no table {name!r} of the paper; there are {', '.join(tables)}.")
    found: dict[str, dict[str, list[float]]] = tables[name]
    return found


def paper_key(method: str, parameters: str) -> str:
    """Name of a method in the paper's tables, such as "pls_0.9"."""
    value = setting(parameters, MAIN_PARAMETER.get(method, ""))
    return method if value is None else f"{method}_{setting_text(value)}"


# ------------------------------------------------------------------------------------------------ summarising
def labelled(frame: pd.DataFrame) -> pd.DataFrame:
    """Add readable labels of dataset and method to the trials."""
    frame = frame.copy()
    frame["dataset_label"] = _dataset_labels(frame)
    titles = [
        method_title(m, json.loads(p)) for m, p in zip(frame["method"], frame["parameters"], strict=True)
    ]
    frame["method_label"] = titles
    frame["paper_key"] = [paper_key(m, p) for m, p in zip(frame["method"], frame["parameters"], strict=True)]
    return frame


def _dataset_labels(frame: pd.DataFrame) -> list[str]:
    """A dataset's name, and what sets it apart where it occurs in several versions."""
    several = {name for name, part in frame.groupby("dataset") if part["features"].nunique() > 1}
    labels = []
    for name, features in zip(frame["dataset"], frame["features"], strict=True):
        labels.append(f"{name}, {features or 'default'}" if name in several else str(name))
    return labels


def column_labels(frame: pd.DataFrame) -> list[str]:
    """Dataset, budget and crowd of every trial, as far as they differ within the table."""
    crowds = each(frame, "design", "crowd") if len(frame) else pd.Series(dtype=object)
    votes = frame["votes"] if "votes" in frame and frame["budget"].isna().all() else None
    labels = []
    for row in range(len(frame)):
        words = []
        if frame["dataset_label"].nunique() > 1:
            words.append(frame["dataset_label"].iloc[row])
        if votes is not None and votes.nunique() > 1:
            words.append(f"{int(votes.iloc[row]):,} votes")
        elif frame["budget"].nunique() > 1:
            words.append(percent(float(frame["budget"].iloc[row])))
        if crowds.nunique() > 1:
            words.append(str(crowds.iloc[row]))
        labels.append(", ".join(words) or str(frame["dataset_label"].iloc[row]))
    return labels


def percent(share: float) -> str:
    """Write a share in percent, without needless digits.

    Examples
    --------
    >>> percent(0.1), percent(0.0025), percent(10.0)
    ('10 %', '0.25 %', '1000 %')
    """
    return f"{100 * share:.10g} %"


def mean_and_spread(values: Any, digits: int = DIGITS) -> str:
    """Mean and standard deviation as text; a single number stands alone."""
    numbers = np.asarray(
        [value for value in values if value is not None and not math.isnan(value)], dtype=np.float64
    )
    if not len(numbers):
        return DASH
    if len(numbers) == 1:
        return f"{numbers[0]:.{digits}f}"
    return f"{numbers.mean():.{digits}f} ± {numbers.std(ddof=1):.{digits}f}"


def by_method(plan: Plan, frame: pd.DataFrame, value: str = "rmse") -> Table:
    """Methods against datasets, budgets and crowds; the paper's columns beside ours."""
    frame = labelled(frame)
    frame["column"] = column_labels(frame)
    columns = list(dict.fromkeys(frame["column"]))
    paper = paper_numbers(plan.reference) if plan.reference else {}
    beside = {column: _paper_column(frame, column, paper) for column in columns}
    means = frame.groupby(["method_label", "column"])[value].mean()
    lowest = means.groupby("column").min()
    header = ["Method"]
    for column in columns:
        header += [column, *(["paper", "within"] if beside[column] else [])]
    rows = []
    for label, part in frame.groupby("method_label", sort=False):
        key = part["paper_key"].iloc[0]
        row = [Cell(str(label))]
        for column in columns:
            values = part.loc[part["column"] == column, value]
            mean = means.get((label, column), float("nan"))
            row.append(Cell(mean_and_spread(values), bool(mean == lowest.get(column))))
            if beside[column]:
                here = part[part["column"] == column]
                row += _beside(None if is_stand_in(here).any() else beside[column].get(key), float(mean))
        rows.append(tuple(row))
    note = "RMSE, mean ± standard deviation over the draws; bold: lowest of the column."
    if any(beside.values()):
        note += " Within: ours lies within one standard deviation of the paper's mean."
    note += stand_ins_in_words(frame)
    return Table(plan.title, tuple(header), tuple(rows), note)


def _paper_column(
    frame: pd.DataFrame, column: str, paper: dict[str, dict[str, list[float]]]
) -> dict[str, list[float]]:
    """The paper's numbers for one of our columns, by method; none beside stand-ins."""
    part = frame[frame["column"] == column]
    if is_stand_in(part).all():
        return {}
    names = (str(part["dataset"].iloc[0]), str(int(part["votes"].iloc[0])) if "votes" in part else "")
    found = {}
    for method, numbers in paper.items():
        for name in names:
            if numbers.get(name):
                found[method] = numbers[name]
    return found


def is_stand_in(frame: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows must not stand beside the paper's: their truth or predictions are made otherwise."""
    if "stand_in" not in frame:
        return pd.Series(False, index=frame.index)
    return frame["stand_in"].fillna("").astype(bool)


def stand_ins_in_words(frame: pd.DataFrame) -> str:
    """Which datasets and methods are not set beside the paper's, and why."""
    marked = frame[is_stand_in(frame)]
    if marked.empty:
        return ""
    reasons: dict[str, list[str]] = {}
    for (dataset, reason), part in marked.groupby(["dataset", "stand_in"], sort=False):
        whole = len(part) == (frame["dataset"] == dataset).sum()
        named = dataset if whole else f"{dataset}, {', '.join(dict.fromkeys(part['method_label']))}"
        reasons.setdefault(str(reason), []).append(str(named))
    listed = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
    return f" Not set beside the paper's: {listed}."


def _beside(numbers: list[float] | None, ours: float) -> list[Cell]:
    if not numbers:
        return [Cell(DASH), Cell("")]
    if len(numbers) == 1:
        return [Cell(f"{numbers[0]:.{DIGITS}f}"), Cell("")]
    mean, spread = numbers
    within = "yes" if abs(ours - mean) <= spread else "no"
    return [Cell(f"{mean:.{DIGITS}f} ± {spread:.{DIGITS}f}"), Cell("" if math.isnan(ours) else within)]


def by_features(plan: Plan, frame: pd.DataFrame) -> Table:
    """Features against alpha, with the paper's CIFAR-10-H rows below."""
    frame = labelled(frame)
    methods = list(dict.fromkeys(frame["paper_key"]))
    titles = list(dict.fromkeys(frame["method_label"]))
    rows = []
    for (name, features), part in frame.groupby(["dataset", "features"], sort=False):
        means = [part.loc[part["paper_key"] == key, "rmse"] for key in methods]
        rows.append((Cell(f"{name}: {features}"), *(Cell(mean_and_spread(values)) for values in means)))
    for name, numbers in paper_numbers(plan.reference or "features").items():
        cells = [Cell(f"{numbers[key][0]:.3f}" if key in numbers else DASH) for key in methods]
        rows.append((Cell(f"paper, CIFAR-10-H: {name}"), *cells))
    note = "RMSE, mean ± standard deviation over the draws."
    return Table(plan.title, ("Features", *titles), tuple(rows), note)


def of_intervals(plan: Plan, frame: pd.DataFrame) -> Table:
    """Coverage and width of every interval, inside and outside the sparse region."""
    frame = frame.assign(interval=each(frame, "options", "interval"))
    rows = []
    for kind, part in frame.groupby("interval", sort=False):
        row = [Cell(str(kind))]
        for region in ("dense", "sparse"):
            here = part[part["region"] == region]
            row += [Cell(mean_and_spread(here["coverage"], 3)), Cell(mean_and_spread(here["width"], 3))]
        rows.append(tuple(row))
    level = setting(frame["options"].iloc[0], "level", 0.95)
    header = ("Interval", "coverage, dense", "width, dense", "coverage, sparse", "width, sparse")
    return Table(plan.title, header, tuple(rows), f"Asked for: {level:.0%} of the items covered.")


def of_datasets(plan: Plan, frame: pd.DataFrame) -> Table:
    """Size, entropy and accuracy of every dataset's soft labels."""
    rows = []
    for _, row in frame.iterrows():
        accuracy = row.get("accuracy")
        known = accuracy is not None and not (isinstance(accuracy, float) and math.isnan(accuracy))
        rows.append(
            (
                Cell(str(row["dataset"])),
                Cell(f"{int(row['n_items']):,}"),
                Cell(str(int(row["n_classes"]))),
                Cell(f"{row['mean_entropy']:.3f}"),
                Cell(f"{row['entropy_q90']:.3f}"),
                Cell(f"{accuracy:.3f}" if known else DASH),
            )
        )
    header = ("Dataset", "items", "classes", "mean entropy", "90 % quantile", "accuracy")
    note = "Entropy is normalised: 0 certain, 1 uniform. Accuracy: the most probable class is the hard label."
    note += (
        " Soft labels: "
        + "; ".join(f"{row['dataset']}, {row['soft_labels']}" for _, row in frame.iterrows())
        + "."
    )
    return Table(plan.title, header, tuple(rows), note)


def of_runtime(plan: Plan, frame: pd.DataFrame) -> Table:
    """Milliseconds per vote over the number of items."""
    frame = frame.assign(way=each(frame, "options", "way"))
    sizes = sorted(frame["n_items"].unique())
    rows = []
    for way, part in frame.groupby("way", sort=False):
        cells = [Cell(mean_and_spread(part.loc[part["n_items"] == n, "ms_per_vote"], 3)) for n in sizes]
        rows.append((Cell(str(way)), *cells))
    header = ("Way", *(f"{int(n):,} items" for n in sizes))
    return Table(plan.title, header, tuple(rows), "Milliseconds per vote on one core, graph excluded.")


def of_dcic(plan: Plan, frame: pd.DataFrame) -> Table:
    """Difference to the fully supervised baseline over datasets, with the paper's rows."""
    from softspread.reproduce.dcic.benchmark import difference_rows

    budgets = ("0.1", "1", "10")
    rows = []
    for name, numbers in [*difference_rows(frame).items(), *_paper_dcic()]:
        row = [Cell(name)]
        for budget in budgets:
            found = numbers.get(budget) or []
            row += (
                [Cell(f"{found[0]:.2f}"), Cell(f"{found[1]:.2f} ({found[2]:.2f})")]
                if len(found) == 3
                else [Cell(DASH)] * 2
            )
        rows.append(tuple(row))
    header = ["Method"]
    for budget in budgets:
        header += [f"{percent(float(budget))}: median", "mean (SEM)"]
    note = "Difference of the KL divergence to the fully supervised baseline; lower is better."
    return Table(plan.title, tuple(header), tuple(rows), note)


def _paper_dcic() -> list[tuple[str, dict[str, list[float]]]]:
    return [(f"paper: {name}", numbers) for name, numbers in paper_numbers("dcic").items()]


TABLES: dict[str, Callable[[Plan, pd.DataFrame], Table]] = {
    "methods": by_method,
    "competitors": by_method,
    "crowds": by_method,
    "budgets": by_method,
    "features": by_features,
    "intervals": of_intervals,
    "datasets": of_datasets,
    "runtime": of_runtime,
    "dcic": of_dcic,
}


def make_table(plan: Plan, frame: pd.DataFrame) -> Table | None:
    """The table that a plan asks for; None where it asks for none or nothing was run."""
    if not plan.table or frame.empty:
        return None
    if plan.table not in TABLES:
        raise InputError(f"table {plan.table!r} is unknown; there are {', '.join(TABLES)}.")
    return TABLES[plan.table](plan, frame)
