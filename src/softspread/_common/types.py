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


@dataclass(frozen=True, slots=True)
class SolveReport:
    """What a solve of (I - alpha S) X = B reached, measured on the answer itself."""

    solver: str
    iterations: int
    residual: float  # largest |b - (I - alpha S) x|_2 / |b|_2 over the columns
    bound: float  # proven: no entry of X is further than this from the true one (rounding apart)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """X with (I - alpha S) X = B, and what is left over."""

    X: FloatArray  # (n, columns)
    R: FloatArray  # (n, columns)  B - (I - alpha S) X
    report: SolveReport


@dataclass(frozen=True, slots=True)
class ScaleReport:
    """How well the scales of the voted items are known, as shares of the scale."""

    method: str  # "exact", "certified", "calibrated" or "none"
    certified: float  # proven: no scale is further off than this
    # largest error on a sample solved far more tightly; equals ``certified`` where nothing was sampled
    estimated: float
    global_solves: int = 0  # how many items needed a solve over the whole graph


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The nearest other items of each item, nearest first."""

    indices: NDArray[np.int64]  # (n, k)
    squared: FloatArray  # (n, k)  squared distances
    index: str  # which search found them
    recall: float  # measured share of true neighbours; 1.0 for an exact search
    details: dict[str, float | int | str] = field(default_factory=dict)
