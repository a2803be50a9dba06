"""Ratings of annotators, and the factor of each one's votes."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from softspread._common.notebook import ShownAsTable
from softspread._common.types import AnyArray, FloatArray
from softspread._common.wording import counted


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnnotatorReport(ShownAsTable):
    """How well each named annotator agrees with the crowd, in order of names.

    Attributes
    ----------
    annotator : (a,) array
        Names.
    votes : (a,) array
        Total weight of the votes that stand.
    agreement : (a,) array
        Share of them for the class that all others find most probable; NaN if alone.
    consistency : (a,) array
        Posterior mean of the annotator's consistency: 1 votes as the crowd would, 0 regardless of the item.
    lower, upper : (a,) array
        Its 5 % and 95 % quantiles.
    p_not_following : (a,) array
        Probability that the consistency is below 0.4.
    flag : (a,) array
        "ok"; "check": probably does not follow, too few votes to be sure; "does not follow"; "unknown".

    See Also
    --------
    ProbabilisticLabelSpreading : Its ``annotators_`` is this report as a table.

    Examples
    --------
    >>> r = np.ones(1)
    >>> report = AnnotatorReport(np.array(["ann"]), 9 * r, r, r, r, r, 0 * r, np.array(["ok"]))
    >>> report.flag.tolist()
    ['ok']
    """

    annotator: AnyArray
    votes: FloatArray
    agreement: FloatArray
    consistency: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_not_following: FloatArray
    flag: AnyArray

    def __repr__(self) -> str:
        flags, counts = np.unique(self.flag.astype(str), return_counts=True)
        found = ", ".join(f"{count:,} {flag}" for flag, count in zip(flags, counts, strict=True))
        return f"AnnotatorReport({counted(len(self.annotator), 'annotator')}: {found})"

    def to_frame(self) -> pd.DataFrame:
        """One row per annotator.

        Returns
        -------
        pandas.DataFrame
            One column per attribute.

        Examples
        --------
        >>> r = np.ones(1)
        >>> report = AnnotatorReport(np.array(["ann"]), 9 * r, r, r, r, r, 0 * r, np.array(["ok"]))
        >>> report.to_frame().shape
        (1, 8)
        """
        return pd.DataFrame({name: getattr(self, name) for name in self.__dataclass_fields__})


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorFit:
    """Ratings of annotators from their votes, and how much each vote should count."""

    weights: FloatArray  # (m,) factor of each row of the vote table, 1 without a name
    soft_votes: FloatArray | None  # (m, n_classes) what each row stands for; None = the class that was named
    report: AnnotatorReport
    alpha: float
    kappa: float
    reason: str = ""  # why all votes count the same; empty where the model was applied
    newcomer_weight: float = 1.0  # factor for an annotator not seen yet
    confusion: FloatArray | None = field(default=None, repr=False)  # (a, true class, named class)
    annotator_weights: FloatArray = field(default_factory=lambda: np.empty(0), repr=False)  # (a,)

    @property
    def applied(self) -> bool:
        """Whether votes are weighted by annotator."""
        return not self.reason

    def weights_for(self, annotators: AnyArray | None, n_votes: int) -> FloatArray:
        """Factors of any votes, (n_votes,): as fitted, ``newcomer_weight`` for new names, 1 without name."""
        if annotators is None:
            return np.ones(n_votes)
        names = pd.Index(self.report.annotator, dtype=object)
        found = names.get_indexer(pd.Index(annotators, dtype=object))
        known = np.append(self.annotator_weights, self.newcomer_weight)[found]  # -1 takes the last
        return np.where(pd.isna(annotators), 1.0, known)
