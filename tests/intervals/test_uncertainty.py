"""Disagreement against ignorance."""

import numpy as np
import pytest

from softspread import InputError, uncertainty_split
from softspread.intervals.uncertainty import split_uncertainty_of
from softspread.spreading.evidence import SoftLabels

P = np.array([[0.9, 0.1, 0.0], [0.4, 0.3, 0.3]])


def test_epistemic_uncertainty_is_the_mean_width():
    """Of all classes of an item, not of the widest one."""
    half = np.array([[0.05, 0.05, 0.2], [0.1, 0.1, 0.1]])
    split = uncertainty_split(P, P - half, P + half, np.ones(2))
    np.testing.assert_allclose(split.epistemic, [0.2, 0.2])


def test_soft_labels_with_intervals_are_split_alike_and_others_refused():
    """One object in place of four arrays."""
    labels = SoftLabels(np.arange(2), np.arange(3), P, np.array([9.0, 9.0]), P - 0.1, P + 0.1)
    split = uncertainty_split(P, P - 0.1, P + 0.1, labels.evidence)
    assert split_uncertainty_of(labels).to_frame().equals(split.to_frame())
    with pytest.raises(InputError, match="no intervals"):
        split_uncertainty_of(SoftLabels(labels.ids, labels.classes, P, labels.evidence))
