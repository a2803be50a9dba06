"""Two kinds of uncertainty: people disagree, or too few votes have arrived.

posterior  ->  expected entropy, mutual information, P(a class has at least .7)        [two uncertainties]
intervals  ->  entropy of p, mean width, whether the interval of a class reaches .7
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.entropy import entropy, largest_entropy
from softspread._common.notebook import ShownAsTable
from softspread._common.types import AnyArray, BoolArray, FloatArray
from softspread._common.wording import counted
from softspread.errors import InputError
from softspread.posterior.posterior import Posterior
from softspread.posterior.summary import expected_entropy
from softspread.spreading.evidence import SoftLabels

CLEAR, AMBIGUOUS, TOO_FEW = "clear", "ambiguous", "not enough votes"
ITEM_VERDICTS = (CLEAR, AMBIGUOUS, TOO_FEW)
AGREEMENT = 0.7  # an item is clear if one class has this probability; above .5, so at most one class can


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UncertaintySplit(ShownAsTable):
    """Why an item is uncertain: because people disagree, or because too few were asked.

    Attributes
    ----------
    aleatoric : (n,) array
        Entropy of the soft label over its largest value: 0 = all agree, 1 = all classes alike. Under a
        posterior its expectation, from intervals that of p.
    epistemic : (n,) array
        0 = known, 1 = unknown. Under a posterior what one more vote would tell about the true soft label
        (mutual information), over the largest entropy; from intervals their mean width.
    evidence : (n,) array
        Virtual votes.
    verdict : (n,) array
        "clear", "ambiguous" or "not enough votes".

    See Also
    --------
    uncertainty_split : Makes one from intervals.
    ProbabilisticLabelSpreading.uncertainty : The same for a fitted estimator.

    Examples
    --------
    >>> split = UncertaintySplit(np.zeros(1), np.zeros(1), np.ones(1), np.array(["clear"]))
    >>> split.to_frame()["verdict"].tolist()
    ['clear']
    """

    aleatoric: FloatArray  # (n,)  0 = all agree, 1 = all classes alike
    epistemic: FloatArray  # (n,)  0 = known, 1 = unknown
    evidence: FloatArray  # (n,)   virtual votes
    verdict: AnyArray  # (n,)      "clear", "ambiguous" or "not enough votes"

    def __repr__(self) -> str:
        words, counts = np.unique(self.verdict.astype(str), return_counts=True)
        found = ", ".join(f"{count:,} {word}" for word, count in zip(words, counts, strict=True))
        return f"UncertaintySplit({counted(len(self.verdict), 'item')}: {found})"

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


def split_posterior(
    posterior: Posterior, level: float, n_classes: int, agreement: float = AGREEMENT
) -> UncertaintySplit:
    """Both kinds of uncertainty and the verdict as the posterior sees them, theory [two uncertainties].

    Parameters
    ----------
    level : how sure a verdict must be
    n_classes : one class alone has a second column in the posterior, for whatever else there may be
    """
    p, largest = posterior.mean(), largest_entropy(posterior.n_classes)
    aleatoric = np.clip(expected_entropy(posterior.mixtures, posterior.workers) / largest, 0.0, 1.0)
    epistemic = np.maximum(entropy(p) / largest - aleatoric, 0.0)
    verdict = verdicts(posterior, level, n_classes, agreement)
    return UncertaintySplit(aleatoric, epistemic, posterior.evidence(), verdict)


def verdicts(posterior: Posterior, level: float, n_classes: int, agreement: float = AGREEMENT) -> AnyArray:
    """(n,) what is known about each item, with probability ``level`` or more.

    "clear": one class, named, has at least ``agreement``; "ambiguous": no class has; else "not enough votes".
    """
    return verdicts_of(*chances(posterior, n_classes, agreement), level)


def chances(
    posterior: Posterior, n_classes: int, agreement: float = AGREEMENT
) -> tuple[FloatArray, FloatArray]:
    """(n,) how probable it is that one class, the same each time, has ``agreement``, and that none has."""
    reaches = 1 - posterior.below(agreement)[:, :n_classes]
    none = 1 - reaches.sum(axis=1)  # at most one class can reach it, so chances add up
    return np.asarray(reaches.max(axis=1)), np.asarray(none)


def verdicts_of(clear: FloatArray, ambiguous: FloatArray, level: float) -> AnyArray:
    """(n,) verdicts from the chances that an item is clear and that it is ambiguous."""
    return np.where(clear >= level, CLEAR, np.where(ambiguous >= level, AMBIGUOUS, TOO_FEW))


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
    agreement: float = AGREEMENT,
    narrow: float = 0.2,
) -> UncertaintySplit:
    """Distinguish items on which people truly disagree from items with too few votes.

    Parameters
    ----------
    p : (n, n_classes) array
        Soft labels.
    lower : (n, n_classes) array
        Lower ends of their intervals.
    upper : (n, n_classes) array
        Upper ends of their intervals.
    evidence : (n,) array
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
    aleatoric = np.minimum(entropy(p) / largest_entropy(p.shape[1]), 1.0)
    width = upper - lower
    known: BoolArray = width.max(axis=1) <= narrow
    clear = (lower.max(axis=1) >= agreement) | (known & (p.max(axis=1) >= agreement))
    ambiguous = ~clear & ((upper.max(axis=1) < agreement) | known)
    verdict = np.where(clear, CLEAR, np.where(ambiguous, AMBIGUOUS, TOO_FEW))
    verdict = np.where(evidence > 0, verdict, TOO_FEW)
    return UncertaintySplit(aleatoric, np.asarray(width.mean(axis=1)), np.asarray(evidence), verdict)
