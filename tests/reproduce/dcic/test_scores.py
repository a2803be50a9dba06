"""Scores and report are the benchmark's own, checked against its formulas told again with scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import sem
from sklearn.metrics import classification_report, confusion_matrix

from softspread.reproduce.dcic.scores import difference_rows, evaluate, report_row


def benchmark_scores(y_true, y_pred, epsilon=1e-5, num_bins=10):
    """KL, macro F1, macro accuracy and ECE as the benchmark's report computes them."""
    y, x = np.clip(y_true, epsilon, 1 - epsilon), np.clip(y_pred, epsilon, 1 - epsilon)
    kl = np.mean(np.sum(y * np.log(y / x), axis=1))
    hard = np.argmax(y_true, axis=1)
    correct = (np.argmax(y_pred, axis=-1) == hard).astype(np.float64)
    sure = np.max(y_pred, axis=-1)
    bins = np.digitize(sure, bins=np.linspace(0, 1.0, num_bins), right=True)
    gap = sum(np.abs(np.sum(correct[bins == b] - sure[bins == b])) for b in range(num_bins))
    said = np.argmax(y_pred, axis=1)
    matrix = confusion_matrix(hard, said, normalize="true", labels=np.arange(y_true.shape[1]))
    report = classification_report(hard, said, output_dict=True, zero_division=0)
    return kl, report["macro avg"]["f1-score"], np.trace(matrix) / y_true.shape[1], gap / len(y_pred)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [5, 60])
def test_scores_are_the_benchmarks(seed, n):
    """Also where a class never occurs in the truth but is said, or occurs and is never said."""
    rng = np.random.default_rng(seed)
    truth, p = rng.dirichlet([0.3] * 4, size=n), rng.dirichlet([0.3] * 4, size=n)
    found = evaluate(truth, p)
    expected = benchmark_scores(truth, p)
    assert_allclose([found.kl, found.macro_f1, found.macro_accuracy, found.ece], expected)


def test_calibration_error_by_hand():
    """70 % sure, 50 % right."""
    assert_allclose(evaluate(np.eye(2)[[0] * 5 + [1] * 5], np.tile([0.7, 0.3], (10, 1))).ece, 0.2)


def rows(entries, budget=0.1, classifier="small"):
    return pd.DataFrame(
        [
            {"budget": budget, "dataset": name, "method": method, "kl": kl, "classifier": classifier}
            for name, method, kl in entries
        ]
    )


def test_the_report_is_the_benchmarks(rng):
    """Median over datasets of the mean over slices; mean and standard error over all slices."""
    entries, raw, means = [], [], []
    for name in ("a", "b", "c", "d"):
        base, ours = rng.normal(size=3) + 3, rng.normal(size=3) + 2
        entries += [(name, "baseline", kl) for kl in base] + [(name, "pls", kl) for kl in ours]
        raw += (ours - base.mean()).tolist()
        means.append(np.mean(ours) - base.mean())
    assert_allclose(report_row(rows(entries)), [np.median(means), np.mean(raw), sem(raw)])


def test_real_datasets_are_never_averaged_with_miniatures():
    """Miniatures stand alone, and say that they are not comparable; with real ones they are left out."""
    mini = [("mini_size", "baseline", 5.0), ("mini_size", "pls", 1.0)]
    real = [
        ("Pig", "baseline", 1.0),
        ("Pig", "pls", 0.9),
        ("Turkey", "baseline", 1.0),
        ("Turkey", "pls", 0.7),
    ]
    (title,) = difference_rows(rows(mini))
    assert "1 miniatures, not comparable" in title
    ((title, found),) = difference_rows(rows(mini + real)).items()
    assert "2 of the 10 datasets" in title
    assert_allclose(found["0.1"][:2], [-0.2, -0.2])


def test_classifiers_are_kept_apart():
    """A small network and a large one are two rows."""
    entries = [("Pig", "baseline", 1.0), ("Pig", "pls", 0.9)]
    frame = pd.concat([rows(entries), rows(entries, classifier="microsoft/resnet-50")])
    assert len(difference_rows(frame)) == 2
