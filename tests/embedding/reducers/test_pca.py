"""PCA agrees with its definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.reducers.pca import PcaReducer


def test_pca_is_the_projection_on_the_largest_directions(curve):
    """Distances within the first components equal those of the full decomposition."""
    reducer, X = PcaReducer.fit(curve, 3, 0)
    centred = curve - curve.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    expected = centred @ directions[:3].T
    assert_allclose(np.abs(X), np.abs(expected), atol=1e-4)
    assert_allclose(reducer.transform(curve), X, atol=1e-6)
    assert reducer.facts()["explained_variance"] == pytest.approx(
        1.0, abs=1e-4
    )  # the sheet lies in 3 dimensions
