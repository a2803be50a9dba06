"""Results about quality: numbers with intervals, and where they come from."""

from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.types import FloatArray, IntArray

N_BOOTSTRAP = 400  # the ends of a 90 % interval are then known to about a tenth of its width
FEWEST_REPEATED = 20  # items with two or more votes; below, the noise of votes is not known well enough


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with an interval."""

    value: float
    lower: float
    upper: float

    def __format__(self, spec: str) -> str:
        spec = spec or ".4f"
        return f"{self.value:{spec}} ({self.lower:{spec}} to {self.upper:{spec}})"


@dataclass(frozen=True, slots=True)
class Quality:
    """Estimated distance of soft labels from the unknown truth.

    ``brier`` and ``agreement`` compare with single votes and need no repeats. ``rmse``, ``kl`` and
    ``accuracy`` compare with the truth and need 20 items with two or more votes; with fewer, their intervals
    hold all that is possible, their values are a point inside, and ``notes`` says so.
    """

    rmse: Estimate
    kl: Estimate
    accuracy: Estimate  # against the truly most probable class
    agreement: Estimate  # share of further votes that name the predicted class
    brier: Estimate  # mean of sum_c (p_c - vote_c)^2 over further votes
    # the part of ``brier`` that no method can avoid: the chance that two votes on an item differ
    noise: Estimate
    source: str  # "set apart" or "held out"
    n_items: int
    n_votes: int
    n_repeated: int  # items with two or more votes
    confidence_level: float
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per measure: measure, value, lower, upper."""
        names = ("rmse", "kl", "accuracy", "agreement", "brier", "noise")
        rows = [(name, *astuple(getattr(self, name))) for name in names]
        return pd.DataFrame(rows, columns=["measure", "value", "lower", "upper"])


@dataclass(frozen=True, slots=True, eq=False)
class GainForecast:
    """What further votes are expected to bring."""

    n_votes: int
    more: int
    rmse_now: Estimate
    rmse_then: Estimate
    gain: Estimate  # rmse_now - rmse_then
    points: pd.DataFrame  # votes, rmse, lower, upper, kind ("measured" or "predicted")
    exponent: float  # g of a + c m^-g, the curve of held-out scores

    def worthwhile(self, smallest_share: float = 0.02) -> bool:
        """Whether the further votes may lower the RMSE by at least this share; False = stop.

        Judged by the upper end of the gain's interval: stop only when a worthwhile gain is unlikely.
        """
        return bool(
            self.gain.upper >= validation.not_negative("smallest_share", smallest_share) * self.rmse_now.value
        )


@dataclass(frozen=True, slots=True, eq=False)
class Trials:
    """Predictions, the votes that judge them, and all votes of the items they belong to."""

    p: FloatArray  # (t, n_classes)
    judged: FloatArray  # (t, n_classes)  votes that judge; not in p
    weights: FloatArray  # (t,)
    item: IntArray  # (t,)  0 .. items - 1
    votes: FloatArray  # (items, n_classes)  whole votes


def interval_of(values: FloatArray, level: float) -> Estimate:
    """The estimate (first) and the bootstrap's quantiles."""
    drawn = values[1:][np.isfinite(values[1:])]
    if not len(drawn):
        return Estimate(float(values[0]), float(values[0]), float(values[0]))
    lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(values[0]), float(min(lower, values[0])), float(max(upper, values[0])))


def bootstrap(n_items: int, n_samples: int, rng: np.random.Generator) -> FloatArray:
    """(1 + n_samples, n_items) how often each item counts: once for the estimate itself, then resampled."""
    drawn = rng.multinomial(n_items, np.full(n_items, 1 / n_items), n_samples)
    return np.vstack([np.ones(n_items), drawn])
