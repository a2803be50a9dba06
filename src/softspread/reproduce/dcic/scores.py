"""The DCIC benchmark's own scores and report.

KL: both clipped to [1e-5, 1 - 1e-5], mean over images;   macro F1 over all classes that occur or are said;
macro accuracy: mean recall over all classes;   ECE: bins between 10 equally spaced edges, right ends included

report: median over datasets of the mean over slices, mean and standard error over all slices, of the
difference to the dataset's mean without an algorithm at the same budget
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from softspread._common.types import FloatArray

CLIP = 1e-5  # smallest probability in a logarithm, the benchmark's own
ECE_EDGES = 10  # equally spaced, of the bins of confidence; the benchmark's own
MINIATURE = "mini_"  # how names of our own small datasets begin


@dataclass(frozen=True, slots=True)
class Scores:
    """How a classifier does on the test images."""

    kl: float
    macro_f1: float
    macro_accuracy: float
    ece: float


def evaluate(p_true: FloatArray, p: FloatArray) -> Scores:
    """Score predictions against complete soft labels.

    Examples
    --------
    >>> evaluate(np.eye(2), np.eye(2)).macro_f1
    1.0
    """
    truth, found = np.clip(p_true, CLIP, 1 - CLIP), np.clip(p, CLIP, 1 - CLIP)
    kl = float(np.mean(np.sum(truth * np.log(truth / found), axis=1)))
    right, said = p_true.argmax(axis=1), p.argmax(axis=1)
    f1, recalls = [], np.zeros(p_true.shape[1])
    for column in np.union1d(right, said):
        hits = float(np.sum((right == column) & (said == column)))
        n_right, n_said = float(np.sum(right == column)), float(np.sum(said == column))
        recalls[column] = hits / n_right if n_right else 0.0
        f1.append(2 * hits / (n_right + n_said))
    return Scores(kl, float(np.mean(f1)), float(recalls.mean()), _calibration_error(right, p))


def _calibration_error(right: FloatArray, p: FloatArray) -> float:
    """How far confidence and accuracy lie apart, over bins of confidence."""
    sure, hit = p.max(axis=1), p.argmax(axis=1) == right
    bins = np.digitize(sure, np.linspace(0, 1, ECE_EDGES), right=True)
    gaps = np.abs(np.bincount(bins, weights=hit - sure))
    return float(gaps.sum() / len(p))


def difference_rows(frame: pd.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Compare the KL with improved labels to the KL without.

    Real datasets alone where there are any, else the miniatures; classifiers apart.

    Returns ``{title: {budget: [median, mean, SEM]}}``.
    """
    frame = frame.assign(classifier=frame.get("classifier", "small"))
    small = frame["dataset"].str.startswith(MINIATURE)
    chosen = frame[small] if small.all() else frame[~small]
    found: dict[str, dict[str, list[float]]] = {}
    for classifier, rows in chosen.groupby("classifier"):
        n = rows["dataset"].nunique()
        what = f"{n} miniatures, not comparable" if small.all() else f"{n} of the 10 datasets"
        budgets = {
            f"{float(str(budget)):g}": report_row(part) for budget, part in rows.groupby("budget", sort=True)
        }
        found[f"PLS, here ({what}; classifier {classifier})"] = budgets
    return found


def report_row(rows: pd.DataFrame) -> list[float]:
    """Median, mean and standard error of the difference, as the benchmark reports one budget."""
    baseline = rows[rows["method"] == "baseline"].groupby("dataset")["kl"].mean()
    improved = rows[rows["method"] == "pls"]
    difference = improved["kl"] - improved["dataset"].map(baseline)
    median = float(difference.groupby(improved["dataset"]).mean().median())
    error = float(difference.std(ddof=1) / np.sqrt(len(difference))) if len(difference) > 1 else float("nan")
    return [median, float(difference.mean()), error]
