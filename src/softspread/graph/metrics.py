"""Places: the points between which Euclidean distances are taken, theory [metric].

euclidean: x        cosine: x / |x|, so that |x - y|^2 becomes 2 (1 - cos(x, y))

Everything that measures distances (neighbours, weights, ties of new items, the bias of intervals) does so
between places, so a metric is known here and nowhere else.
"""

import numpy as np

from softspread._common.types import AnyArray
from softspread.errors import InputError
from softspread.graph.registry import COSINE

SHOWN_ROWS = 5  # of those that have no direction


def place_items(X: AnyArray, metric: str) -> AnyArray:
    """The places of items, (n, d), in the precision of X."""
    return _directions(X) if metric == COSINE else X


def _directions(X: AnyArray) -> AnyArray:
    largest = np.abs(X).max(axis=1, keepdims=True)
    nowhere = np.flatnonzero(largest == 0)
    if len(nowhere):
        shown = ", ".join(map(str, nowhere[:SHOWN_ROWS])) + (", ..." if len(nowhere) > SHOWN_ROWS else "")
        raise InputError(
            f"metric='cosine' compares directions, and {len(nowhere)} of {len(X)} rows are all zero and have "
            f"none (rows {shown}); leave these items out, or use metric='euclidean'."
        )
    scaled = X / largest  # first to about 1: squares of tiny or huge features would vanish or overflow
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True), dtype=X.dtype)
