"""Places of chosen rows."""

import numpy as np
import pytest

from softspread._common.places import places


@pytest.mark.parametrize("n_chosen", [0, 1, 7, 20])
def test_places_are_the_inverse_of_the_choice(n_chosen, rng):
    """Whoever was chosen finds itself at its place; nobody else has one."""
    rows = rng.permutation(20)[:n_chosen]
    found = places(rows, 20)
    np.testing.assert_array_equal(found[rows], np.arange(n_chosen))
    assert (np.delete(found, rows) == -1).all()
