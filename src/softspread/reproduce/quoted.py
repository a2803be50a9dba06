"""Numbers of others: the paper's tables, means of the authors' published runs, and where the two disagree.

paper.toml    tables of arXiv:2602.04574, as printed
authors.csv   means over the authors' raw results, made by experiments/authors_numbers.py
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import pandas as pd

from softspread.errors import InputError

Numbers = dict[str, dict[str, list[float]]]  # method -> dataset, votes or budget -> mean and spread

ITEMS = {  # in the authors' runs
    "two_moons": 10_000,
    "animals10": 26_179,
    "emnist_digits": 240_000,
    "cifar10": 50_000,
    "cifar10h": 10_000,
    "tiny_imagenet": 100_000,
    "mtsd": 59_559,
}
ENCODERS = {
    "CLIP": "clip",
    "ResNet-101": "resnet",
    "ViT-B/32": "vit",
}  # Table 2's rows, and our names of them
ROUNDING = {"features": 5e-4}  # of the printed numbers; the others have four digits
USUAL_ROUNDING = 5e-5  # of four digits
FAR_APART = 3.0  # standard errors of the difference of two means of runs


def paper_numbers(name: str) -> Numbers:
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
    found: Numbers = tables[name]
    return found


@cache
def authors_runs() -> pd.DataFrame:
    """Means over the authors' runs, one row per setting; not to be changed."""
    with (files("softspread.reproduce") / "authors.csv").open("rb") as file:
        found: pd.DataFrame = pd.read_csv(file).rename(columns={"mean": "average"})
    return found.assign(
        key=[_key(method, value) for method, value in zip(found["method"], found["value"], strict=True)]
    )


def _key(method: str, value: float) -> str:
    if method == "model":
        return method
    return "histogram" if method == "pls" and value == 0 else f"{method}_{value:g}"


def authors_numbers(study: str, dataset: str, **where: float | str) -> Numbers:
    """Mean, standard deviation and number of runs by method and votes, of one of the authors' files.

    Parameters
    ----------
    study : "evaluate" for their runs on all datasets, or a study of ``authors.csv``
    where : further columns, such as ``graph_k=20``

    Examples
    --------
    >>> authors_numbers("evaluate", "cifar10h")["pls_0.9"]["1000"]
    [0.109142, 0.000816, 10.0]
    """
    runs = authors_runs()
    part = runs[runs["study"].str.startswith(study) & (runs["dataset"] == dataset)]
    for column, value in where.items():
        part = part[part[column] == value]
    found: Numbers = {}
    columns = (part[name].tolist() for name in ("key", "votes", "average", "spread", "runs"))
    for key, votes, *numbers in zip(*columns, strict=True):
        found.setdefault(str(key), {})[str(int(votes))] = [float(number) for number in numbers]
    return found


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One number of a table beside the mean of the authors' runs."""

    table: str
    dataset: str
    row: str
    printed: float
    printed_spread: float | None
    runs_mean: float
    runs_spread: float
    n_runs: int

    @property
    def errors_apart(self) -> float:
        """Difference in standard errors, after what rounding explains; the table's means are of 10 runs."""
        rounding = ROUNDING.get("features" if self.table == "Table 2" else "", USUAL_ROUNDING)
        gap = max(0.0, abs(self.printed - self.runs_mean) - rounding)
        spreads = (self.printed_spread or self.runs_spread) ** 2 / 10 + self.runs_spread**2 / max(
            1, self.n_runs
        )
        if spreads == 0:
            return float("inf") if gap > 0 else 0.0
        return float(gap / np.sqrt(spreads))

    @property
    def disagrees(self) -> bool:
        """Whether chance does not explain the difference."""
        return self.errors_apart > FAR_APART


def compare_with_runs() -> list[Disagreement]:
    """Every number of Tables 1, 2 and A.2 for which the authors' files have runs.

    Two moons is left out: the tables have 1,000 points, the files 10,000.
    """
    found = []
    for table, name, share in (("Table 1", "rmse_10", 0.1), ("Table A.2", "rmse_1", 0.01)):
        for row, numbers in paper_numbers(name).items():
            for dataset, printed in numbers.items():
                if dataset == "two_moons":
                    continue
                runs = _runs_of(row, dataset, share)
                if runs is not None:
                    spread = printed[1] if len(printed) > 1 else None
                    found.append(Disagreement(table, dataset, row, printed[0], spread, *runs))
    for encoder, by_dataset in paper_numbers("features").items():
        for dataset, by_alpha in by_dataset.items():
            where = {"features": f"{ENCODERS[encoder]}+umap20"}
            runs_here = authors_numbers("features", dataset, **where)
            for row, printed_value in by_alpha.items():  # type: ignore[attr-defined]
                votes = str(int(0.1 * ITEMS[dataset]))
                mean, spread, n_runs = runs_here[row][votes]
                found.append(
                    Disagreement(
                        "Table 2",
                        dataset,
                        f"{encoder}, {row}",
                        printed_value,
                        None,
                        mean,
                        spread,
                        int(n_runs),
                    )
                )
    return found


def _runs_of(row: str, dataset: str, share: float) -> tuple[float, float, int] | None:
    study, votes = ("zero_shot", "0") if row == "model" else ("evaluate", str(int(share * ITEMS[dataset])))
    numbers = authors_numbers(study, dataset).get(row, {}).get(votes)
    if numbers is None:
        return None
    mean, spread, n_runs = numbers
    return mean, 0.0 if np.isnan(spread) else spread, int(n_runs)
