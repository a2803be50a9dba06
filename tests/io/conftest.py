"""Soft labels that every format must carry."""

import numpy as np
import pytest

from softspread.spreading.evidence import SoftLabels

FACTS = {"classes": ["cat", "dog"], "parameters": {"alpha": 0.9}, "versions": {"softspread": "0.1.0"}}


@pytest.fixture
def labels():
    """Three items with awkward names, intervals and facts."""
    p = np.array([[0.25, 0.75], [0.1, 0.9], [1.0, 0.0]])
    return SoftLabels(
        np.array(["007", 'b "x", é', "c\nd"], dtype=object),
        np.array(["cat", "dog"], dtype=object),
        p,
        np.array([2.0, 0.001, 30.0]),
        np.maximum(p - 0.1, 0),
        np.minimum(p + 0.1, 1),
        FACTS,
        np.array(["not enough votes", "clear", "ambiguous"]),
    )
