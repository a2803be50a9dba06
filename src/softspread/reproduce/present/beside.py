"""Our numbers beside others': how far two means may lie apart, and what others have in a column.

    many draws of the votes on one dataset     ours within one of their standard deviations
    many draws of the points                   theirs where one more draw of the points would lie (95 %)

The authors' two moons are one draw of the points and the network, which they did not publish. Results on
1,000 points move far more with that draw than with the votes, so their numbers are held against the spread
over draws of points: t(.975, J - 1) * sd * sqrt(1 + 1/J) around our mean, J draws.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from softspread.reproduce.quoted import ITEMS, Numbers, authors_numbers, paper_numbers

LEVEL = 0.95  # of the interval in which one more draw of the points lies
SHARES = {"rmse_10": 0.1, "rmse_1": 0.01}  # budget of the paper's tables
POINTS = "random_state"  # the dataset's option that draws the points


@dataclass(frozen=True, slots=True)
class Ours:
    """Mean and standard deviation of our results, over draws of points where there are several."""

    mean: float
    spread: float
    n: int
    over_points: bool

    def text(self, digits: int) -> str:
        """As tables show it; a single number stands alone."""
        if math.isnan(self.mean):
            return "-"
        return f"{self.mean:.{digits}f}" + (f" ± {self.spread:.{digits}f}" if self.n > 1 else "")

    @property
    def reach(self) -> float:
        """How far from the mean one more draw of the points lies at most, with a probability of 95 %."""
        if not self.over_points or self.n < 2:
            return float("nan")
        return float(student.ppf((1 + LEVEL) / 2, self.n - 1) * self.spread * math.sqrt(1 + 1 / self.n))

    def agrees_with(self, theirs: list[float] | None) -> bool | None:
        """Whether their mean could be ours; None where that cannot be said."""
        if not theirs or len(theirs) < 2 or math.isnan(self.mean):
            return None
        gap = abs(self.mean - theirs[0])
        if self.over_points:
            return bool(gap <= self.reach)
        return bool(gap <= theirs[1])


def summarise(part: pd.DataFrame, value: str = "rmse") -> Ours:
    """Mean over all rows, standard deviation over draws of points where there are several, else of votes."""
    rows = part.dropna(subset=[value])
    if rows.empty:
        return Ours(float("nan"), float("nan"), 0, False)
    points = draws_of_points(rows)
    several = points.nunique() > 1
    numbers = rows.groupby(points)[value].mean() if several else rows[value]
    values = np.asarray(numbers, dtype=np.float64)
    spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return Ours(float(values.mean()), spread, len(values), several)


def draws_of_points(frame: pd.DataFrame) -> "pd.Series[Any]":
    """The draw of the points of each row."""
    if "dataset_options" not in frame:
        return pd.Series(0, index=frame.index)
    return frame["dataset_options"].map(lambda text: json.loads(text).get(POINTS, 0) if text else 0)


def reference_column(reference: str, dataset: str, votes: int | None) -> dict[str, list[float]]:
    """Numbers of the paper or of the authors' files for a dataset and a number of votes, by method."""
    if not reference:
        return {}
    numbers: Numbers = (
        authors_numbers("evaluate", dataset) if reference == "authors" else paper_numbers(reference)
    )
    names = (dataset, str(votes))
    return {method: found[name][:2] for method, found in numbers.items() for name in names if found.get(name)}


def runs_column(reference: str, dataset: str) -> dict[str, list[float]]:
    """The authors' runs behind a column of the paper's tables; none for two moons, which has other points."""
    if reference not in SHARES or dataset == "two_moons" or dataset not in ITEMS:
        return {}
    votes = str(int(SHARES[reference] * ITEMS[dataset]))
    found = {
        key: numbers[votes]
        for key, numbers in authors_numbers("evaluate", dataset).items()
        if votes in numbers
    }
    zero_shot = authors_numbers("zero_shot", dataset).get("model", {}).get("0")
    return found | ({"model": zero_shot} if zero_shot else {})


def pair_text(numbers: list[float] | None, digits: int) -> str:
    """Mean and spread of others; a dash where they have none."""
    if not numbers:
        return "-"
    spread = numbers[1] if len(numbers) > 1 and not math.isnan(numbers[1]) else None
    return f"{numbers[0]:.{digits}f}" + ("" if spread is None else f" ± {spread:.{digits}f}")
