"""Soft labels read off a posterior are those of the estimator."""

import numpy as np
import pytest

from softspread import SoftLabeler, Votes
from softspread.intervals.labels import labels_in
from softspread.intervals.task import Posteriors

N_ITEMS = 40
X = np.random.default_rng(0).normal(size=(N_ITEMS, 2))


@pytest.mark.parametrize("classes", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_a_few_items_get_the_soft_labels_and_intervals_of_all(classes):
    """Also where one class is all that was ever named."""
    rng = np.random.default_rng(1)
    labels = np.array(classes)[rng.integers(len(classes), size=30)]
    lab = SoftLabeler(n_neighbors=5).fit(
        X, Votes.from_pairs(rng.integers(N_ITEMS, size=30), labels), classes=classes
    )
    rows, whole, live = np.array([3, 8, 21]), lab.soft_labels(), lab._live
    found = labels_in(Posteriors(live.of_rows(rows), live.at_fit), rows, lab.classes_, 0.9)
    assert found.verdict.tolist() == whole.verdict[rows].tolist()
    for name in ("p", "evidence", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name)[rows], atol=1e-5)
