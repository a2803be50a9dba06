"""Types that every room shares."""

import numpy as np

from softspread._common import types


def test_array_types_name_their_numbers():
    """Double precision, 64-bit rows, and unsigned 32-bit indices, which compile to faster loops."""
    wanted = {"FloatArray": np.float64, "IntArray": np.int64, "BoolArray": np.bool_, "IndexArray": np.uint32}
    for name, kind in wanted.items():
        assert getattr(types, name).__args__[1].__args__[0] is kind
