"""Words shared by every layer: array types and the results that travel between layers."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.uint32]
AnyArray = NDArray[Any]
RandomState = int | np.random.Generator | np.random.RandomState | None  # what a seed may be


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The nearest other items of each item, nearest first."""

    indices: NDArray[np.int64]  # (n, k)
    squared: FloatArray  # (n, k)  squared distances
    index: str  # which search found them
    recall: float  # measured share of true neighbours; 1.0 for an exact search
    details: dict[str, float | int | str] = field(default_factory=dict)
