"""Where the rows that were chosen stand among themselves."""

import numpy as np

from softspread._common.types import IntArray


def places(rows: IntArray, n: int) -> IntArray:
    """(n,) the place of every row among ``rows``, -1 for those that are not there.

    Examples
    --------
    >>> places(np.array([4, 1]), 5).tolist()
    [-1, 1, -1, -1, 0]
    """
    found = np.full(n, -1)
    found[rows] = np.arange(len(rows))
    return found
