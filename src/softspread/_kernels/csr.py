"""What all kernels share: the operator as they see it, and how they are compiled."""

from typing import Any, NamedTuple

from softspread._common.types import FloatArray, IndexArray, IntArray

COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"contract", "reassoc", "nsz", "arcp"}}


class Csr(NamedTuple):
    """S by rows; signed indices would cost a wrap-around test per edge."""

    indptr: IntArray  # (n + 1,)
    indices: IndexArray  # (edges,)
    weights: FloatArray  # (edges,)
