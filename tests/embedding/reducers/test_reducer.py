"""What reducers share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.embed import embed
from softspread.embedding.reducers.reducer import nearest
from softspread.errors import InputError


def test_nearest_is_exact(rng):
    """As sorting all distances, also far from the origin where quick distances round."""
    fitted, new = (rng.normal(size=(n, 6)).astype(np.float32) + 50 for n in (80, 30))
    indices, distances = nearest(fitted, new, 7)
    full = np.sqrt(((new[:, None].astype(float) - fitted[None]) ** 2).sum(axis=2))
    assert_allclose(distances, np.sort(full, axis=1)[:, :7], rtol=1e-9)
    assert (indices == np.argsort(full, axis=1)[:, :7]).all()


def test_blocks_do_not_change_the_neighbours(rng):
    """Memory is bounded without changing the answer."""
    fitted, new = rng.normal(size=(50, 4)).astype(np.float32), rng.normal(size=(23, 4)).astype(np.float32)
    whole = nearest(fitted, new, 5)
    assert (nearest(fitted, new, 5, block_entries=200)[0] == whole[0]).all()


def test_new_items_need_the_same_features(curve):
    """A wrong width is explained."""
    space = embed(curve, encoder="none", reduce="pca", dim=2)
    with pytest.raises(InputError, match="fitted on 8 features, got 3"):
        space.transform(curve[:, :3])
