"""Results about quality: numbers with intervals, and where they come from."""

from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.notebook import ShownAsTable
from softspread._common.types import FloatArray, IntArray

MANY_ITEMS = 20_000  # from here on drawing items is several times as quick as drawing how often each counts
N_BOOTSTRAP = 400  # the ends of a 90 % interval are then known to about a tenth of its width


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with an interval.

    Attributes
    ----------
    value : float
        The estimate.
    lower, upper : float
        Ends of the interval.

    See Also
    --------
    Quality : Holds several.

    Examples
    --------
    >>> f"{Estimate(0.1, 0.05, 0.2):.2f}"
    '0.10 (0.05 to 0.20)'
    """

    value: float
    lower: float
    upper: float

    def __format__(self, spec: str) -> str:
        spec = spec or ".4f"
        return f"{self.value:{spec}} ({self.lower:{spec}} to {self.upper:{spec}})"


@dataclass(frozen=True, slots=True, repr=False)
class Quality(ShownAsTable):
    """Estimated distance of soft labels from the unknown truth.

    ``brier`` compares held-out votes with labels that have not seen them and needs no repeats. ``rmse``,
    ``kl``, ``accuracy`` and ``agreement`` are about the soft labels as they are: they come from the
    posterior, checked against held-out votes, and need 40 items with two or more votes. With fewer,
    ``agreement`` is that of the held-out votes, the intervals of the others hold all that is possible, their
    values are a point inside, and ``notes`` says so.

    Attributes
    ----------
    rmse, kl : Estimate
        Distance from the true soft labels.
    accuracy : Estimate
        Share of items whose truly most probable class is predicted.
    agreement : Estimate
        Share of further votes that name the predicted class.
    brier : Estimate
        Mean squared distance of held-out votes from the soft label without them.
    noise : Estimate
        The part of ``brier`` that no method can avoid: the chance that two votes on an item differ.
    source : str
        "set apart" or "held out": the votes that judged.
    n_items, n_votes : int
        Items and votes that judged.
    n_repeated : int
        Items with two or more votes.
    confidence_level : float
        Of the intervals.
    notes : tuple of str
        What to keep in mind.

    See Also
    --------
    SoftLabeler.quality : Makes one.
    GainForecast : The expected effect of further votes.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import ProbabilisticLabelSpreading, Votes
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> votes = Votes.from_pairs(np.repeat(np.arange(60), 2), np.repeat(np.arange(60) // 30, 2))
    >>> quality = ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=5).fit(X, votes).quality(random_state=0)
    >>> quality.source, quality.n_repeated
    ('held out', 60)
    """

    rmse: Estimate
    kl: Estimate
    accuracy: Estimate
    agreement: Estimate
    brier: Estimate
    noise: Estimate
    source: str
    n_items: int
    n_votes: int
    n_repeated: int
    confidence_level: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Quality(RMSE {self.rmse:.3f}, accuracy {self.accuracy:.0%}, a further vote agrees "
            f"{self.agreement:.0%}; {self.confidence_level:.0%} intervals by {self.n_votes:,} votes "
            f"{self.source})"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per measure.

        Returns
        -------
        pandas.DataFrame
            Columns measure, value, lower and upper.

        Examples
        --------
        >>> number = Estimate(0.1, 0.05, 0.2)
        >>> Quality(*[number] * 6, "held out", 10, 20, 5, 0.9).to_frame()["measure"].tolist()
        ['rmse', 'kl', 'accuracy', 'agreement', 'brier', 'noise']
        """
        names = ("rmse", "kl", "accuracy", "agreement", "brier", "noise")
        rows = [(name, *astuple(getattr(self, name))) for name in names]
        return pd.DataFrame(rows, columns=["measure", "value", "lower", "upper"])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GainForecast(ShownAsTable):
    """The expected effect of further votes.

    Attributes
    ----------
    n_votes : int
        Votes so far.
    more : int
        Further votes.
    rmse_now, rmse_then : Estimate
        Error before and after them.
    gain : Estimate
        ``rmse_now`` less ``rmse_then``.
    points : pandas.DataFrame
        The curve: votes, rmse, lower, upper, and kind ("measured" or "predicted").
    exponent : float
        How fast the error falls with the number of votes m: g of m^-g for the RMSE of a SoftLabeler, of
        a + c m^-g for the held-out scores of spreading.

    See Also
    --------
    SoftLabeler.forecast : Makes one.
    Quality : How good the soft labels are now.

    Examples
    --------
    >>> now, then, gain = Estimate(0.2, 0.15, 0.25), Estimate(0.1, 0.05, 0.15), Estimate(0.1, 0.05, 0.15)
    >>> GainForecast(500, 500, now, then, gain, pd.DataFrame(), 0.5).worthwhile()
    True
    """

    n_votes: int
    more: int
    rmse_now: Estimate
    rmse_then: Estimate
    gain: Estimate
    points: pd.DataFrame
    exponent: float

    def __repr__(self) -> str:
        return (
            f"GainForecast(after {self.more:,} further votes RMSE {self.rmse_then:.3f}, now "
            f"{self.rmse_now:.3f}; {'worthwhile' if self.worthwhile() else 'not worthwhile'})"
        )

    def to_frame(self) -> pd.DataFrame:
        """The error before and after, and the gain.

        Returns
        -------
        pandas.DataFrame
            Columns measure, value, lower and upper.

        Examples
        --------
        >>> now, then, gain = Estimate(0.2, 0.15, 0.25), Estimate(0.1, 0.05, 0.15), Estimate(0.1, 0.05, 0.15)
        >>> GainForecast(500, 500, now, then, gain, pd.DataFrame(), 0.5).to_frame()["value"].tolist()
        [0.2, 0.1, 0.1]
        """
        rows = [(name, *astuple(getattr(self, name))) for name in ("rmse_now", "rmse_then", "gain")]
        return pd.DataFrame(rows, columns=["measure", "value", "lower", "upper"])

    def worthwhile(self, smallest_share: float = 0.02) -> bool:
        """Whether the further votes are expected to lower the RMSE by at least this share.

        Judged by the predicted gain itself; its interval says how far a single draw of votes may be off.

        Parameters
        ----------
        smallest_share : float, default 0.02
            Smallest gain worth the votes, as a share of ``rmse_now``.

        Returns
        -------
        bool
            False means stop.

        Examples
        --------
        >>> now, then, gain = Estimate(0.2, 0.15, 0.25), Estimate(0.1, 0.05, 0.15), Estimate(0.1, 0.05, 0.15)
        >>> GainForecast(500, 500, now, then, gain, pd.DataFrame(), 0.5).worthwhile(0.9)
        False
        """
        return bool(
            self.gain.value >= validation.not_negative("smallest_share", smallest_share) * self.rmse_now.value
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
    return estimate_with(values[0], drawn if len(drawn) else values[:1], level)


def estimate_with(value: float, drawn: FloatArray, level: float) -> Estimate:
    """An estimate with the quantiles of what was drawn, which contain it."""
    lower, upper = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(value), float(min(lower, value)), float(max(upper, value)))


def bootstrap(n_items: int, n_samples: int, rng: np.random.Generator) -> FloatArray:
    """(1 + n_samples, n_items) how often each item counts: once for the estimate itself, then resampled."""
    if n_items < MANY_ITEMS:
        drawn = rng.multinomial(n_items, np.full(n_items, 1 / n_items), n_samples)
        return np.vstack([np.ones(n_items), drawn])
    times = np.ones((1 + n_samples, n_items))
    for sample in times[1:]:
        sample[:] = np.bincount(rng.integers(n_items, size=n_items), minlength=n_items)
    return times
