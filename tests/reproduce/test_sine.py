"""The sine curve with a stretch of few votes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from small_plans import one_trial
from softspread.errors import InputError
from softspread.reproduce.sine import SPARSE, SPARSE_SHARE, sine_estimate


def estimate(kind):
    return sine_estimate(one_trial(measure="intervals", options={"interval": kind}))


def test_items_lie_along_the_curve_with_few_votes_on_the_stretch():
    """The truth is (1 + sin x) / 2; votes are one for each item, on the stretch one for every twenty."""
    found = estimate("wilson")
    assert (np.diff(found.x) > 0).all()
    assert_allclose(found.truth, (1 + np.sin(found.x)) / 2)
    assert_array_equal(found.sparse, (found.x >= SPARSE[0]) & (found.x <= SPARSE[1]))
    assert found.n_votes == found.votes_per_item.sum()
    assert found.n_votes == round((~found.sparse).sum() + SPARSE_SHARE * found.sparse.sum())
    assert found.votes_per_item[found.sparse].mean() < found.votes_per_item[~found.sparse].mean() / 2


def test_the_bias_bound_widens_and_unknown_intervals_are_refused():
    """With the true slope, Hoeffding's interval contains the one without it."""
    wide, narrow = estimate("hoeffding"), estimate("hoeffding_no_bias")
    assert_array_equal(wide.estimate, narrow.estimate)
    assert (wide.lower <= narrow.lower).all()
    assert (wide.upper >= narrow.upper).all()
    assert (wide.upper - wide.lower).mean() > (narrow.upper - narrow.lower).mean()
    with pytest.raises(InputError, match="hoeffding_no_bias"):
        estimate("magic")
