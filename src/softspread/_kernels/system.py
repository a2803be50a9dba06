"""What all kernels share: the system as they see it, and how they are compiled."""

from typing import Any, NamedTuple

from softspread._common.types import FloatArray, IndexArray, IntArray

COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"contract", "reassoc", "nsz", "arcp"}}


class System(NamedTuple):
    """(I - alpha S) by rows of S; signed indices would cost a wrap-around test per edge."""

    indptr: IntArray  # (n + 1,)
    indices: IndexArray  # (edges,)
    weights: FloatArray  # (edges,)
    root: FloatArray  # (n,)  sqrt(d), 1 for isolated items
    alpha: float
