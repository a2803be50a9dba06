"""Features as they are."""

import pytest

from softspread.embedding.reducers.unreduced import Unreduced
from softspread.errors import InputError


def test_features_pass_unchanged(curve):
    """Fitted, restored, transformed: the same numbers, whatever dim says."""
    reducer, X = Unreduced.fit(curve, 2, 0)
    assert X is curve
    again = Unreduced.restore(reducer.facts(), reducer.arrays())
    assert (again.transform(curve) == curve).all()
    with pytest.raises(InputError, match="fitted on 8 features, got 3"):
        again.transform(curve[:, :3])
