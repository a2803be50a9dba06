"""Tables of results, in Markdown and LaTeX, with the paper's numbers beside ours where it has them.

trials  ->  mean (standard deviation) over draws  ->  rows: methods, columns: datasets, budgets, crowds
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from softspread.errors import InputError
from softspread.reproduce.methods.methods import MAIN_PARAMETER, method_title, setting_text
from softspread.reproduce.plan import Plan
from softspread.reproduce.present.beside import (
    Ours,
    pair_text,
    reference_column,
    runs_column,
    summarise,
)
from softspread.reproduce.quoted import ENCODERS, ITEMS, authors_numbers, paper_numbers
from softspread.reproduce.run import each, setting

DASH = "-"
NOT_DEFINED = "not defined"
DIGITS = 4  # after the point, as the paper prints them
QUOTED_REASON = (
    "MTSD is quoted: its shape labels belong to a company and were not published, so nothing here can be set "
    "beside them."
)


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
    """Methods against datasets, budgets and crowds; the paper's and the authors' columns beside ours."""
    frame = labelled(frame)
    frame["column"] = column_labels(frame)
    columns = [_Column(frame, name, plan.reference, value) for name in dict.fromkeys(frame["column"])]
    header = ["Method"]
    for column in columns:
        header += column.header()
    quoted = _quoted_columns(plan)
    header += [name for name, _ in quoted]
    rows = []
    for label, part in frame.groupby("method_label", sort=False):
        row = [Cell(str(label))]
        for column in columns:
            row += column.cells(str(label), part)
        key = str(part["paper_key"].iloc[0])
        row += [Cell(pair_text(numbers.get(key), DIGITS)) for _, numbers in quoted]
        rows.append(tuple(row))
    return Table(plan.title, tuple(header), tuple(rows), _note(plan, frame, columns))


class _Column:
    """One dataset, budget or crowd, with what others have for it."""

    def __init__(self, frame: pd.DataFrame, name: str, reference: str, value: str) -> None:
        self.name, self.value = name, value
        self.part = frame[frame["column"] == name]
        dataset = str(self.part["dataset"].iloc[0])
        votes = int(self.part["votes"].iloc[0]) if "votes" in self.part else None
        comparable = not is_stand_in(self.part).all()  # a truth made otherwise never stands beside theirs
        self.paper = reference_column(reference, dataset, votes) if comparable else {}
        self.runs = runs_column(reference, dataset) if comparable else {}
        self.source = "authors" if reference == "authors" else "paper"
        groups = self.part.groupby("method_label")
        self.ours = {str(label): summarise(part, value) for label, part in groups}
        known = [one.mean for one in self.ours.values() if not math.isnan(one.mean)]
        self.lowest = min(known, default=float("nan"))

    @property
    def over_points(self) -> bool:
        """Whether the spread is over draws of the points."""
        return any(one.over_points for one in self.ours.values())

    def header(self) -> list[str]:
        """Names of the columns in the table."""
        beside = [self.source, "agrees"] if self.paper else []
        return [self.name, *beside, *(["authors' runs"] if self.runs else [])]

    def cells(self, label: str, rows: pd.DataFrame) -> list[Cell]:
        """Ours, theirs, and whether they agree."""
        here = rows[rows["column"] == self.name]
        ours = self.ours.get(label, Ours(float("nan"), float("nan"), 0, False))
        text = ours.text(DIGITS) if not _undefined(here) else NOT_DEFINED
        found = [Cell(text, bool(ours.mean == self.lowest))]
        key = str(rows["paper_key"].iloc[0])
        comparable = not is_stand_in(here).any()
        if self.paper:
            theirs = self.paper.get(key) if comparable else None
            agrees = ours.agrees_with(theirs)
            verdict = "" if agrees is None else "yes" if agrees else "no"
            found += [Cell(pair_text(theirs, DIGITS)), Cell(verdict)]
        if self.runs:
            found.append(Cell(pair_text(self.runs.get(key) if comparable else None, DIGITS)))
        return found


def _undefined(part: pd.DataFrame) -> bool:
    return "undefined" in part and len(part) > 0 and bool(part["undefined"].notna().all())


def _note(plan: Plan, frame: pd.DataFrame, columns: Sequence[_Column]) -> str:
    """The meaning of the table's numbers."""
    note = "RMSE, mean ± standard deviation over the draws of votes; bold: lowest of the column."
    points = [column.name for column in columns if column.over_points]
    if points:
        note += (
            f" {', '.join(dict.fromkeys(points))}: mean ± standard deviation over draws of the points, each "
            "the mean of its draws of votes."
        )
    if any(column.paper for column in columns):
        note += " Agrees: ours lies within one of their standard deviations"
        note += (
            "; where points were drawn several times, theirs lies where one more draw would (95 %)."
            if points
            else "."
        )
    if any(
        _undefined(column.part[column.part["method_label"] == label])
        for column in columns
        for label in column.ours
    ):
        note += (
            f" {NOT_DEFINED}: fewer items have votes than neighbours are asked for; the paper has no number "
            "either."
        )
    if _quoted_columns(plan):
        note += f" {QUOTED_REASON}"
    return note + stand_ins_in_words(frame)


def _quoted_columns(plan: Plan) -> list[tuple[str, dict[str, list[float]]]]:
    """MTSD as the paper and the authors' files have it, in tables that the paper has it in."""
    if plan.reference not in ("rmse_10", "rmse_1"):
        return []
    paper = reference_column(plan.reference, "mtsd", None)
    return [("mtsd, paper", paper), ("mtsd, authors' runs", runs_column(plan.reference, "mtsd"))]


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


def by_features(plan: Plan, frame: pd.DataFrame) -> Table:
    """Features and alpha against datasets, as in Table 2; the paper and the authors' runs beside ours.

    Where the truth is a stand-in and the paper has the dataset, ours are left to ``trials.csv``.
    """
    everything = labelled(frame)
    frame = everything[~(is_stand_in(everything) & everything["dataset"].isin(list(ITEMS)))]
    datasets = list(dict.fromkeys([*frame["dataset"], *ITEMS]))
    datasets = [name for name in datasets if name != "two_moons"]
    paper = paper_numbers("features")
    ours = {
        (str(features), str(key), str(dataset)): summarise(part)
        for (features, key, dataset), part in frame.groupby(["features", "paper_key", "dataset"])
    }
    printed = {f"{short}_umap20": title for title, short in ENCODERS.items()}
    run = set(frame["dataset"])
    header = ["Features"]
    for name in datasets:
        header += [name] if name in run else []
        header += [f"{name}, paper", f"{name}, authors' runs"] if name in ITEMS else []
    rows = []
    for features in dict.fromkeys([*printed, *frame["features"]]):
        for key in dict.fromkeys(frame["paper_key"]):
            title = printed.get(str(features), str(features))
            row = [Cell(f"{title} ({str(key).removeprefix('pls_')})")]
            for name in datasets:
                found = ours.get((str(features), str(key), name))
                row += [Cell(found.text(DIGITS) if found else DASH)] if name in run else []
                row += _quoted_features(paper, title, str(features), str(key), name) if name in ITEMS else []
            rows.append(tuple(row))
    note = f"RMSE at a budget of 10 %, mean ± standard deviation over the draws. {QUOTED_REASON}"
    return Table(plan.title, tuple(header), tuple(rows), note + stand_ins_in_words(everything))


def _quoted_features(paper: Any, title: str, features: str, key: str, dataset: str) -> list[Cell]:
    printed = paper.get(title, {}).get(dataset, {}).get(key)
    runs = authors_numbers("features", dataset, features=features.replace("_umap", "+umap"))
    numbers = runs.get(key, {}).get(str(int(0.1 * ITEMS[dataset])))
    return [Cell(DASH if printed is None else f"{printed:.3f}"), Cell(pair_text(numbers, DIGITS))]


def of_quoted(plan: Plan, frame: pd.DataFrame) -> Table:
    """The numbers in which a table and the runs differ by more than chance and rounding."""
    rows = []
    for _, row in frame[frame["disagrees"].astype(bool)].iterrows():
        spread = row["printed_spread"]
        printed = [row["printed"]] + ([] if pd.isna(spread) else [float(spread)])
        apart = row["errors_apart"]
        rows.append(
            (
                Cell(str(row["table"])),
                Cell(str(row["dataset_of_table"])),
                Cell(str(row["row"])),
                Cell(pair_text(printed, DIGITS)),
                Cell(
                    pair_text(
                        [row["runs_mean"], row["runs_spread"]] if row["n_runs"] > 1 else [row["runs_mean"]],
                        DIGITS,
                    )
                ),
                Cell(str(int(row["n_runs"]))),
                Cell("no spread" if pd.isna(apart) else f"{apart:.1f}"),
            )
        )
    header = ("Table", "dataset", "row", "printed", "mean of the runs", "runs", "standard errors apart")
    agree = int((~frame["disagrees"].astype(bool)).sum())
    note = f"{len(frame)} printed numbers have runs; {agree} agree, the {len(rows)} above do not."
    return Table(plan.title, header, tuple(rows), note)


def of_sweeps(plan: Plan, frame: pd.DataFrame) -> Table:
    """The best setting of each baseline at each budget, and its number in the authors' runs."""
    frame = labelled(frame)
    frame["variant"] = [_variant(m, p) for m, p in zip(frame["method"], frame["parameters"], strict=True)]
    budgets = sorted(frame["budget"].unique())
    rows = []
    for (dataset, variant), part in frame.groupby(["dataset", "variant"], sort=False):
        cells = []
        for budget in budgets:
            means = part[part["budget"] == budget].groupby("paper_key")["rmse"].mean().dropna()
            best = means.idxmin() if len(means) else None
            cells.append(
                Cell(DASH if best is None else f"{means[best]:.{DIGITS}f} ({str(best).partition('_')[2]})")
            )
        rows.append((Cell(f"{dataset}: {variant}"), *cells))
    for study, title in (("sweep_gkr", "GKR"), ("sweep_knn", "kNN")):
        numbers = authors_numbers(study, "cifar10h")
        cells = []
        for budget in budgets:
            votes = str(round(budget * ITEMS["cifar10h"]))
            known = {key: found[votes][0] for key, found in numbers.items() if votes in found}
            best = min(known, key=lambda key: known[key]) if known else None
            cells.append(
                Cell(DASH if best is None else f"{known[best]:.{DIGITS}f} ({best.partition('_')[2]})")
            )
        rows.append((Cell(f"authors, cifar10h with CLIP: {title}"), *cells))
    header = ("Baseline", *(percent(budget) for budget in budgets))
    return Table(
        plan.title, header, tuple(rows), "Lowest mean RMSE over gamma or k in hindsight, with that value."
    )


def _variant(method: str, parameters: str) -> str:
    settings = json.loads(parameters)
    settings.pop(MAIN_PARAMETER[method], None)
    return method_title(method, settings)


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
    from softspread.reproduce.dcic.scores import difference_rows

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
    note = (
        "Difference of the KL divergence to the classifier that was trained on the annotated images alone; "
        "lower is better. Median over datasets, mean and standard error over datasets and slices, as the "
        "benchmark reports."
    )
    return Table(plan.title, tuple(header), tuple(rows), note)


def _paper_dcic() -> list[tuple[str, dict[str, list[float]]]]:
    return [(f"paper: {name}", numbers) for name, numbers in paper_numbers("dcic").items()]


TABLES: dict[str, Callable[[Plan, pd.DataFrame], Table]] = {
    "methods": by_method,
    "competitors": by_method,
    "crowds": by_method,
    "budgets": by_method,
    "features": by_features,
    "quoted": of_quoted,
    "sweeps": of_sweeps,
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
