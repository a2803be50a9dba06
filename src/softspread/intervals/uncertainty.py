"""Two kinds of uncertainty: people disagree, or too few votes have arrived."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray, FloatArray
from softspread.errors import InputError
from softspread.spreading.evidence import SoftLabels

CLEAR, AMBIGUOUS, TOO_FEW = "clear", "ambiguous", "not enough votes"


@dataclass(frozen=True, slots=True, eq=False)
class UncertaintySplit:
    """Why an item is uncertain: because people disagree, or because too few were asked.

    Attributes
    ----------
    aleatoric : (n,) array
        Entropy of p over its largest value: 0 = all agree, 1 = all classes alike.
    epistemic : (n,) array
        Mean width of the item's intervals: 0 = known, 1 = unknown.
    evidence : (n,) array
        Virtual votes.
    verdict : (n,) array
        "clear", "ambiguous" or "not enough votes".

    See Also
    --------
    uncertainty_split : Makes one.

    Examples
    --------
    >>> split = UncertaintySplit(np.zeros(1), np.zeros(1), np.ones(1), np.array(["clear"]))
    >>> split.to_frame()["verdict"].tolist()
    ['clear']
    """

    aleatoric: FloatArray  # (n,)  entropy of p over its largest value: 0 = all agree, 1 = all classes alike
    epistemic: FloatArray  # (n,)  mean width of the item's intervals: 0 = known, 1 = unknown
    evidence: FloatArray  # (n,)   virtual votes
    verdict: AnyArray  # (n,)      "clear", "ambiguous" or "not enough votes"

    def to_frame(self) -> pd.DataFrame:
        """One row per item.

        Returns
        -------
        pandas.DataFrame
            Columns aleatoric, epistemic, evidence and verdict.

        Examples
        --------
        >>> UncertaintySplit(np.zeros(1), np.zeros(1), np.ones(1), np.array(["clear"])).to_frame().shape
        (1, 4)
        """
        columns = ("aleatoric", "epistemic", "evidence", "verdict")
        return pd.DataFrame({name: getattr(self, name) for name in columns})


def split_uncertainty_of(labels: SoftLabels) -> UncertaintySplit:
    """The same for soft labels with intervals, see :func:`uncertainty_split`."""
    if labels.lower is None or labels.upper is None:
        raise InputError("these soft labels have no intervals, without which no verdict can be given.")
    return uncertainty_split(labels.p, labels.lower, labels.upper, labels.evidence)


def uncertainty_split(
    p: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    evidence: FloatArray,
    *,
    agreement: float = 0.7,
    narrow: float = 0.2,
) -> UncertaintySplit:
    """Tell items on which people truly disagree from items on which too few votes were cast.

    Parameters
    ----------
    p : array
        Soft labels.
    lower : array
        (n, n_classes) soft labels and their intervals.
    upper : array
        (n, n_classes) soft labels and their intervals.
    evidence : array
        Virtual votes of each item.
    agreement : float, default 0.7
        An item is clear if a class has at least this probability.
    narrow : float, default 0.2
        An item whose widest interval is at most this is known; its p alone decides.

    Returns
    -------
    UncertaintySplit
        Verdict "clear": some lower end reaches ``agreement``; "ambiguous": no upper end does, so more
        votes would not change it; "not enough votes": the interval leaves both open and is not narrow,
        or no evidence arrived.

    See Also
    --------
    ProbabilisticLabelSpreading.uncertainty : The same for a fitted estimator.

    Examples
    --------
    >>> p = np.array([[0.95, 0.05], [0.5, 0.5], [0.5, 0.5]])
    >>> half = np.array([[0.05], [0.1], [0.4]])
    >>> uncertainty_split(p, p - half, p + half, np.array([50.0, 80.0, 2.0])).verdict.tolist()
    ['clear', 'ambiguous', 'not enough votes']
    """
    agreement = validation.between_0_and_1("agreement", agreement)
    narrow = validation.not_negative("narrow", narrow)
    if not p.shape == lower.shape == upper.shape or evidence.shape != p.shape[:1]:
        raise InputError(
            f"p, lower and upper must have one shape and evidence one entry per item, got {p.shape}, "
            f"{lower.shape}, {upper.shape} and {evidence.shape}."
        )
    n_classes = p.shape[1]
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    entropy = np.maximum(-(p * logs).sum(axis=1), 0.0)
    aleatoric = np.minimum(entropy / np.log(n_classes), 1.0) if n_classes > 1 else np.zeros(len(p))
    width = upper - lower
    known: BoolArray = width.max(axis=1) <= narrow
    clear = (lower.max(axis=1) >= agreement) | (known & (p.max(axis=1) >= agreement))
    ambiguous = ~clear & ((upper.max(axis=1) < agreement) | known)
    verdict = np.where(clear, CLEAR, np.where(ambiguous, AMBIGUOUS, TOO_FEW))
    verdict = np.where(evidence > 0, verdict, TOO_FEW)
    return UncertaintySplit(aleatoric, np.asarray(width.mean(axis=1)), np.asarray(evidence), verdict)
