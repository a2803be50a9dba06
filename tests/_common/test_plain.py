"""Values for JSON."""

import json
from pathlib import Path

import numpy as np
import pytest

from softspread._common.plain import plain


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), None),
        (-float("inf"), None),
        (np.float32(0.5), 0.5),
        (np.arange(3), [0, 1, 2]),
        (np.array([1.0, np.nan]), [1.0, None]),
        ({1: (True, Path("x"))}, {"1": [True, "x"]}),
        (None, None),
    ],
)
def test_anything_becomes_what_json_holds(value, expected):
    """And reads back the same."""
    assert plain(value) == expected
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == expected
