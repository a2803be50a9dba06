"""Soft labels read off a posterior, of all items or of a few.

posterior of the items asked about, posterior of the fit (tail of intervals)  ->  SoftLabels
"""

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.intervals.methods import posterior_method
from softspread.intervals.task import IntervalTask, Posteriors
from softspread.intervals.uncertainty import verdicts
from softspread.posterior.posterior import Posterior
from softspread.spreading.evidence import Evidence, SoftLabels


def evidence_in(posterior: Posterior, n_classes: int) -> tuple[Evidence, FloatArray]:
    """Soft labels, before them what they are worth; no error bound is known for a blend.

    One class alone has a second column in the posterior, for whatever else there may be.
    """
    p = posterior.mean()[:, :n_classes]
    p /= p.sum(axis=1, keepdims=True)
    return Evidence(posterior.evidence()[:, None] * p, np.full(len(p), np.nan)), p


def labels_in(found: Posteriors, ids: AnyArray, classes: AnyArray, level: float) -> SoftLabels:
    """Soft labels with intervals and verdicts of the items asked about; ``ids`` are theirs."""
    evidence, p = evidence_in(found.asked, len(classes))
    lower, upper = posterior_method(IntervalTask(p, evidence.mass, level, posteriors=lambda: found))
    verdict = verdicts(found.asked, level, len(classes))
    return SoftLabels(ids, classes, p, evidence.total, lower, upper, verdict=verdict)
