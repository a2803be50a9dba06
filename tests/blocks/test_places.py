"""Sets of places are those of sorting."""

import numpy as np
import pytest

from softspread.blocks.job import Layout
from softspread.blocks.places import NOBODY, PlaceSet


@pytest.mark.parametrize("sizes", [[5], [3, 0, 4, 1, 7], [1, 1, 1]])
def test_places_and_numbers_are_those_of_sorting(sizes):
    """Distinct, ascending; nobody is left out, and what is outside has no number."""
    layout, rng = Layout.of(np.array(sizes)), np.random.default_rng(0)
    n = sum(sizes)
    for _ in range(20):
        parts = [rng.integers(NOBODY, n, size=(rng.integers(0, 4), 2)) for _ in range(2)]
        wanted = np.unique(np.concatenate([part.ravel() for part in parts]))
        wanted = wanted[wanted != NOBODY]
        found = PlaceSet.of(layout, *parts)
        assert found.places.tolist() == wanted.tolist()
        asked = np.arange(NOBODY, n)
        numbers = {place: number for number, place in enumerate(wanted.tolist())}
        assert found.numbers(asked).tolist() == [numbers.get(place, NOBODY) for place in asked.tolist()]
