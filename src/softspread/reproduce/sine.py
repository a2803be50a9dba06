"""Intervals on the sine curve: one vote for twenty items on a stretch of it, one for each item elsewhere.

P(Y = 1 | x) = (1 + sin x) / 2,   x uniform on [0, 10]                     theory: [sine curve]
"""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import BoolArray, FloatArray
from softspread.datasets.sine_curve import SINE_LIPSCHITZ, sine_curve
from softspread.errors import InputError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.reproduce.plan import Trial
from softspread.simulate import draw_columns
from softspread.votes.votes import Votes

SPARSE = (4.0, 6.0)  # the stretch with few votes
SPARSE_SHARE = 1 / 20  # votes per item there
METHODS = ("wilson", "wilson_floor", "goodman", "sison_glaz", "dirichlet", "hoeffding", "hoeffding_no_bias")


@dataclass(frozen=True, slots=True, eq=False)
class SineEstimate:
    """Truth, estimate and interval of the second class for each item, ordered along the curve."""

    x: FloatArray
    truth: FloatArray
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    sparse: BoolArray
    votes_per_item: FloatArray
    n_votes: int


def sine_estimate(trial: Trial) -> SineEstimate:
    """Draw items and votes, spread, and build the interval that the trial's option ``interval`` names."""
    kind = str(trial.options["interval"])
    if kind not in METHODS:
        raise InputError(f"interval must be one of {', '.join(METHODS)}, got {kind!r}.")
    rng = np.random.default_rng([trial.seed, trial.draw])
    data = sine_curve(int(trial.dataset.get("n_items", 2_000)), rng)
    if data.X is None or data.p_true is None:
        raise InputError("the sine curve came without items.")
    x = data.X[:, 0]
    sparse = (x >= SPARSE[0]) & (x <= SPARSE[1])
    wanted = np.where(sparse, SPARSE_SHARE, 1.0)
    items = rng.choice(len(x), size=round(wanted.sum()), p=wanted / wanted.sum())
    columns = draw_columns(data.p_true, items, rng.random(len(items)))
    votes = Votes.from_pairs(items, columns, classes=[0, 1])
    estimator = ProbabilisticLabelSpreading(**trial.parameters, annotator_model="none", n_jobs=1).fit(
        data.X, votes
    )
    level = float(trial.options.get("level", 0.95))
    if kind.startswith("hoeffding"):
        slope = 0.0 if kind == "hoeffding_no_bias" else SINE_LIPSCHITZ
        lower, upper = estimator.predict_interval(confidence_level=level, method="hoeffding", lipschitz=slope)
    else:
        lower, upper = estimator.predict_interval(confidence_level=level, method=kind)
    order = np.argsort(x)
    second = estimator.predict_proba()[:, 1]
    per_item = np.bincount(items, minlength=len(x)).astype(np.float64)
    return SineEstimate(
        x[order],
        data.p_true[order, 1],
        second[order],
        lower[order, 1],
        upper[order, 1],
        sparse[order],
        per_item[order],
        len(items),
    )
