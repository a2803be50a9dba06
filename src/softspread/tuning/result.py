"""What tuning hands back: the settings that were tried, how they scored, and what was chosen."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from softspread.graph.graph import Graph

SETTINGS = ("alpha", "n_neighbors", "prior_strength", "gamma")


@dataclass(frozen=True, slots=True)
class TuningPoint:
    """One setting and how it scored; a setting that does not apply is None."""

    alpha: float | None
    n_neighbors: int | None
    prior_strength: float | None
    gamma: float | None
    score: float  # lower is better
    standard_error: float  # NaN where the score is measured against a truth
    penalty: float = 0.0  # what an unusual strength of a given prior costs; vanishes with many votes

    @property
    def objective(self) -> float:
        """What is made small: score + penalty."""
        return self.score + self.penalty


@dataclass(frozen=True, slots=True)
class Tuning:
    """What was tried, what was chosen, and by what.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import Votes
    >>> from softspread.tuning.tune import tune
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> items = rng.integers(100, size=120)
    >>> tuning = tune(X, Votes.from_pairs(items, items // 50), n_neighbors=10)
    >>> tuning.used_truth, 0 < tuning.alpha < 1, tuning.to_frame().columns.tolist()[:2]
    (False, True, ['alpha', 'n_neighbors'])
    """

    best: TuningPoint
    points: tuple[TuningPoint, ...]
    score: str  # "brier" or "log" of held-out votes; "rmse" against a truth
    how: str  # in words
    used_truth: bool
    n_repeats: int = 0  # second, third, ... votes on an item: they show how noisy a vote is
    vote_noise: float | None = None  # estimated: how often two votes on one item differ; only with "brier"
    method: str = "pls"

    @property
    def alpha(self) -> float | None:
        """The chosen spreading intensity."""
        return self.best.alpha

    @property
    def n_neighbors(self) -> int | None:
        """The chosen number of neighbours; None where a graph was given that does not know its own."""
        return self.best.n_neighbors

    @property
    def prior_strength(self) -> float | None:
        """The chosen strength of the prior."""
        return self.best.prior_strength

    @property
    def gamma(self) -> float | None:
        """The chosen decay of kernel regression."""
        return self.best.gamma

    def to_frame(self) -> pd.DataFrame:
        """All settings tried, one per row, with score, standard_error, penalty and whether it was chosen."""
        names = (*SETTINGS, "score", "standard_error", "penalty")
        frame = pd.DataFrame({name: [getattr(point, name) for point in self.points] for name in names})
        frame["chosen"] = [point is self.best for point in self.points]
        return frame

    def curve(self) -> pd.DataFrame:
        """The best score for each alpha and number of neighbours, in order: the curve to look at."""
        keys = {"pls": ["n_neighbors", "alpha"], "gkr": ["gamma"], "knn": ["n_neighbors"]}[self.method]
        frame = self.to_frame()
        frame = frame.iloc[(frame["score"] + frame["penalty"]).argsort(kind="stable")]
        return frame.drop_duplicates(keys).sort_values(keys, kind="stable").reset_index(drop=True)

    def plot(self, axes: Any) -> None:
        """Draw the curve with its standard errors into matplotlib axes, and mark what was chosen.

        Standard errors are those of each score. Settings are judged by the same votes, so their differences
        are known better than the bars suggest.
        """
        frame = self.curve()
        across = {"pls": "alpha", "gkr": "gamma", "knn": "n_neighbors"}[self.method]
        if self.used_truth:  # settings drawn at random: no line joins them
            axes.plot(frame[across], frame["score"], "o")
        else:
            for number, part in frame.groupby(frame["n_neighbors"].fillna(0), sort=True):
                label = f"{number:g} neighbours" if number else None
                axes.errorbar(
                    part[across], part["score"], yerr=part["standard_error"], marker="o", label=label
                )
        if across == "gamma":
            axes.set_xscale("log")
        axes.axvline(getattr(self.best, across), linestyle=":", color="grey")
        axes.set_xlabel(across)
        axes.set_ylabel(f"{self.score}, lower is better")

    def summary(self) -> str:
        """What was chosen and how, in a sentence or two."""
        values = [f"{name}={getattr(self, name):g}" for name in SETTINGS if getattr(self, name) is not None]
        return f"{', '.join(values)}: {self.how}"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The chosen setting, with its graph."""

    graph: Graph
    alpha: float
    prior_strength: float
    tuning: Tuning
