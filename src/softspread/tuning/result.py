"""The result of tuning: the settings tried, their scores, and the choice."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from softspread._common.notebook import ShownAsTable
from softspread._common.wording import counted
from softspread.graph.graph import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETTINGS = ("alpha", "n_neighbors", "prior_strength", "gamma")


@dataclass(frozen=True, slots=True)
class TuningPoint:
    """One setting and how it scored; a setting that does not apply is None.

    Attributes
    ----------
    alpha : float or None
        Spreading intensity.
    n_neighbors : int or None
        Neighbours per item.
    prior_strength : float or None
        Strength of the prior, in votes.
    gamma : float or None
        Decay of kernel regression.
    score : float
        Lower is better.
    standard_error : float
        Of the score; NaN where it is measured against a truth.
    penalty : float
        What an unusual strength of a given prior costs; vanishes with many votes.

    See Also
    --------
    Tuning : All settings that were tried.

    Examples
    --------
    >>> TuningPoint(0.9, 20, 1e-4, None, score=0.25, standard_error=0.01, penalty=0.5).objective
    0.75
    """

    alpha: float | None
    n_neighbors: int | None
    prior_strength: float | None
    gamma: float | None
    score: float
    standard_error: float
    penalty: float = 0.0

    @property
    def objective(self) -> float:
        """The quantity minimised: score + penalty."""
        return self.score + self.penalty


@dataclass(frozen=True, slots=True, repr=False)
class Tuning(ShownAsTable):
    """The settings tried, the one chosen, and the score behind the choice.

    Attributes
    ----------
    best : TuningPoint
        The chosen setting.
    points : tuple of TuningPoint
        All settings that were tried.
    score : str
        "brier" or "log" of held-out votes; "rmse" against a truth.
    how : str
        How the choice was made, in words.
    used_truth : bool
        Whether settings were compared with a truth instead of held-out votes.
    n_repeats : int
        Second, third, ... votes on an item: they show how noisy a vote is.
    vote_noise : float or None
        Estimate of how often two votes on one item differ; only with "brier".
    method : str
        "pls", "gkr" or "knn".

    See Also
    --------
    tune : Makes one.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import Votes
    >>> from softspread.tuning.tune import tune
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> items = rng.integers(100, size=200)
    >>> tuning = tune(X, Votes.from_pairs(items, items // 50), n_neighbors=10)
    >>> tuning.used_truth, 0 < tuning.alpha < 1, tuning.to_frame().columns.tolist()[:2]
    (False, True, ['alpha', 'n_neighbors'])
    """

    best: TuningPoint
    points: tuple[TuningPoint, ...]
    score: str
    how: str
    used_truth: bool
    n_repeats: int = 0
    vote_noise: float | None = None
    method: str = "pls"

    def __repr__(self) -> str:
        return f"Tuning({self.summary().rstrip('.')}; {counted(len(self.points), 'setting')} tried)"

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
        """All settings that were tried, one per row.

        Returns
        -------
        pandas.DataFrame
            Columns alpha, n_neighbors, prior_strength, gamma, score, standard_error, penalty and chosen.

        See Also
        --------
        Tuning.curve : Only the best row of each alpha and number of neighbours.

        Examples
        --------
        >>> point = TuningPoint(0.9, 20, 1e-4, None, 0.25, 0.01)
        >>> Tuning(point, (point,), "brier", "one setting", used_truth=False).to_frame()["chosen"].tolist()
        [True]
        """
        names = (*SETTINGS, "score", "standard_error", "penalty")
        frame = pd.DataFrame({name: [getattr(point, name) for point in self.points] for name in names})
        frame["chosen"] = [point is self.best for point in self.points]
        return frame

    def curve(self) -> pd.DataFrame:
        """The best score for each alpha and number of neighbours, in order: the curve to look at.

        Returns
        -------
        pandas.DataFrame
            Columns as in :meth:`to_frame`.

        See Also
        --------
        Tuning.plot : Draws it.

        Examples
        --------
        >>> low, high = (TuningPoint(alpha, 20, 1e-4, None, 0.25, 0.01) for alpha in (0.5, 0.9))
        >>> Tuning(low, (high, low), "brier", "two settings", used_truth=False).curve()["alpha"].tolist()
        [0.5, 0.9]
        """
        keys = {"pls": ["n_neighbors", "alpha"], "gkr": ["gamma"], "knn": ["n_neighbors"]}[self.method]
        frame = self.to_frame()
        frame = frame.iloc[(frame["score"] + frame["penalty"]).argsort(kind="stable")]
        return frame.drop_duplicates(keys).sort_values(keys, kind="stable").reset_index(drop=True)

    def plot(self, axes: "Axes") -> None:
        """Draw the curve with its standard errors, and mark what was chosen.

        Standard errors are those of each score. Settings are judged by the same votes, so their differences
        are known better than the bars suggest.

        Parameters
        ----------
        axes : matplotlib.axes.Axes
            Where to draw.

        See Also
        --------
        Tuning.curve : The numbers.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> point, axes = TuningPoint(0.9, 20, 1e-4, None, 0.25, 0.01), Figure().subplots()
        >>> Tuning(point, (point,), "brier", "one setting", used_truth=False).plot(axes)
        >>> axes.get_xlabel()
        'alpha'
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
        """The choice and its reason, in a sentence or two.

        Returns
        -------
        str
            The chosen settings, then how.

        Examples
        --------
        >>> point = TuningPoint(0.9, 20, None, None, 0.25, 0.01)
        >>> Tuning(point, (point,), "brier", "the only one tried.", used_truth=False).summary()
        'alpha=0.9, n_neighbors=20: the only one tried.'
        """
        values = [f"{name}={getattr(self, name):g}" for name in SETTINGS if getattr(self, name) is not None]
        return f"{', '.join(values)}: {self.how}"


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The chosen setting, with its graph."""

    graph: Graph
    alpha: float
    prior_strength: float
    tuning: Tuning
