"""Isomap agrees with scikit-learn and with geometry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.reducers.isomap import IsomapReducer
from softspread.errors import InputError


def test_isomap_equals_scikit_learns(curve):
    """Up to the signs of the axes; also for new items."""
    from sklearn.manifold import Isomap

    theirs = Isomap(n_components=2).fit(curve[:150])
    reducer, X = IsomapReducer.fit(curve[:150], 2, 0)
    signs = np.sign((X * theirs.embedding_).sum(axis=0))
    assert_allclose(X * signs, theirs.embedding_, atol=1e-3)
    assert_allclose(reducer.transform(curve[150:]) * signs, theirs.transform(curve[150:]), atol=1e-3)
    assert_allclose(reducer.transform(curve[:150]), X, atol=1e-3)


def test_isomap_ties_components_together(rng):
    """Far groups get finite places, and stay far."""
    groups = np.concatenate(
        [rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 100, rng.normal(size=(30, 4)) - 100]
    )
    _, X = IsomapReducer.fit(groups.astype(np.float32), 2, 0)
    assert np.isfinite(X).all()
    assert np.linalg.norm(X[:30].mean(axis=0) - X[30:60].mean(axis=0)) > 50


def test_isomap_copes_with_equal_items():
    """Coinciding points are neighbours at distance 0, not strangers."""
    F = np.repeat(np.arange(12, dtype=np.float32)[:, None], 4, axis=0) @ np.ones((1, 3), dtype=np.float32)
    _, X = IsomapReducer.fit(F, 1, 0)
    assert_allclose(np.abs(np.diff(X[::4, 0])), np.sqrt(3), rtol=1e-3)


def test_isomap_of_too_many_items_is_refused(curve):
    """Its matrix would not fit; the error names another way."""
    with pytest.raises(InputError, match="use 'umap'"):
        IsomapReducer.fit(curve, 2, 0, most_items=100)
