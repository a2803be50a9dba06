"""PCA: (f - mean) components^T."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from softspread._common.types import AnyArray
from softspread.embedding.reducers.reducer import Features, check_features
from softspread.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class PcaReducer:
    """Projection on the directions of largest variance."""

    mean: AnyArray  # (d,)
    components: AnyArray  # (dim, d)
    explained: AnyArray  # (dim,) share of the variance
    name: ClassVar[str] = "pca"

    @classmethod
    def fit(cls, F: Features, dim: int, seed: int) -> "tuple[PcaReducer, Features]":
        """By scikit-learn, randomized where a few of many directions are wanted."""
        from sklearn.decomposition import PCA

        largest = min(F.shape)
        if dim > largest:
            raise InputError(
                f"PCA of {F.shape[0]} items with {F.shape[1]} features has at most {largest} dimensions, got "
                f"dim={dim}."
            )
        pca = PCA(dim, svd_solver="randomized" if dim < largest else "full", random_state=seed).fit(F)
        reducer = cls(
            np.asarray(pca.mean_, dtype=np.float32),
            np.asarray(pca.components_, dtype=np.float32),
            np.asarray(pca.explained_variance_ratio_, dtype=np.float64),
        )
        return reducer, reducer.transform(F)

    @classmethod
    def restore(cls, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "PcaReducer":
        """From what was saved."""
        del facts
        return cls(arrays["mean"], arrays["components"], arrays["explained"])

    def transform(self, F: AnyArray) -> Features:
        """Project new items."""
        checked = check_features(F, len(self.mean))
        return np.asarray((checked - self.mean) @ self.components.T, dtype=np.float32)

    def facts(self) -> dict[str, Any]:
        """Share of the variance that is kept."""
        return {"explained_variance": float(self.explained.sum())}

    def arrays(self) -> dict[str, AnyArray]:
        """Mean, directions and their shares of the variance."""
        return {"mean": self.mean, "components": self.components, "explained": self.explained}
