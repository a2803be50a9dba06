"""The constants are one frozen object."""

from dataclasses import FrozenInstanceError

import pytest

from softspread.intervals.calibrated.constants import MODEL


def test_constants_cannot_be_changed_in_place():
    """Another model is made with ``dataclasses.replace`` and passed down."""
    with pytest.raises(FrozenInstanceError):
        MODEL.tail_share = 0.5
    assert sorted(MODEL.alphas) == list(MODEL.alphas)
