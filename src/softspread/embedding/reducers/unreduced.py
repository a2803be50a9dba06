"""No reduction: the features are the space."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from softspread._common.types import AnyArray
from softspread.embedding.reducers.reducer import Features, check_features


@dataclass(frozen=True, slots=True, eq=False)
class Unreduced:
    """Features as they are."""

    n_features: int
    name: ClassVar[str] = "none"

    @classmethod
    def fit(cls, F: Features, dim: int, seed: int) -> "tuple[Unreduced, Features]":
        """The features themselves; ``dim`` and ``seed`` change nothing."""
        del dim, seed
        return cls(F.shape[1]), F

    @classmethod
    def restore(cls, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> "Unreduced":
        """From what was saved."""
        del arrays
        return cls(int(facts["n_features"]))

    def transform(self, F: AnyArray) -> Features:
        """New features as they are."""
        return check_features(F, self.n_features)

    def facts(self) -> dict[str, Any]:
        """Number of features."""
        return {"n_features": self.n_features}

    def arrays(self) -> dict[str, AnyArray]:
        """Nothing was learnt."""
        return {}
