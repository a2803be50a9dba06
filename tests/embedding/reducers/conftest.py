"""Items for every reducer."""

import numpy as np
import pytest


@pytest.fixture
def curve(rng):
    """200 items along a bent sheet in 8 dimensions."""
    t, u = rng.random((2, 200))
    sheet = np.stack([np.cos(3 * t), np.sin(3 * t), u], axis=1) @ rng.normal(size=(3, 8))
    return sheet.astype(np.float32)
