"""SoftLabeler's forecast against the real gain of further votes.

    votes  ->  forecast of 5, 25 and 100 % more  ->  the same votes and these  ->  real gain

Real gains are those of one further draw of votes, with all their chance.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from experiments.posterior import draws
from experiments.posterior.datasets import Dataset, role_of
from experiments.posterior.run import CELL, Plan, fit_labeler
from experiments.posterior.store import Store

from softspread import metrics
from softspread._common.progress import progress_bar
from softspread._common.types import FloatArray, IntArray

MORE = (0.05, 0.25, 1.0)  # further votes, as shares of those so far
ASKED = (0.02, 0.05, 0.1)  # smallest gains that a user may find worthwhile
CLEAR = 2.0  # a gain of twice what was asked is clearly above it
COLUMNS = ("now", "then", "now_estimate", "gain", "lower", "upper")


def run_forecast(plan: Plan) -> None:
    """Forecasts beside real gains, with uniform votes."""
    plan.start("forecast")
    store = Store(plan.out / "forecast.csv", (*CELL, "more"), COLUMNS)
    with progress_bar("forecast", plan.cells(), True, "cells") as advance:
        for dataset, budget, draw in plan.each():
            key = (dataset.name, budget, draw)
            if not all(store.has(*key, share) for share in MORE):
                _compare(store, key, dataset)
            advance(1)


def _compare(store: Store, key: tuple[str, float, int], dataset: Dataset) -> None:
    _, budget, draw = key
    n_votes = max(30, round(budget * len(dataset.truth)))
    rows, columns = draws.stream(dataset, budget, draw, 2 * n_votes)
    lab = fit_labeler(dataset, _counts(rows[:n_votes], columns[:n_votes], dataset.truth.shape))
    now = metrics.rmse(dataset.truth, lab.predict_proba())
    for share in MORE:
        if store.has(*key, share):
            continue
        more = max(1, round(share * n_votes))
        found = lab.forecast(more)
        upto = slice(n_votes + more)
        later = fit_labeler(dataset, _counts(rows[upto], columns[upto], dataset.truth.shape))
        store.add(
            (*key, share),
            {
                "now": now,
                "then": metrics.rmse(dataset.truth, later.predict_proba()),
                "now_estimate": found.rmse_now.value,
                "gain": found.gain.value,
                "lower": found.gain.lower,
                "upper": found.gain.upper,
            },
        )


def _counts(rows: IntArray, columns: IntArray, shape: tuple[int, ...]) -> FloatArray:
    counts = np.zeros(shape)
    np.add.at(counts, (rows, columns), 1.0)
    return counts


# ---------------------------------------------------------------------------------------------------- tables
def gains(found: pd.DataFrame) -> pd.DataFrame:
    """Real and predicted gain as shares of the RMSE, and how often the interval of the gain held."""
    table = pd.DataFrame(
        {
            "role": found["dataset"].map(role_of),
            "dataset": found["dataset"],
            "more": found["more"],
            "real": 1 - found["then"] / found["now"],
            "predicted": found["gain"] / found["now_estimate"],
            "held": (found["lower"] <= found["now"] - found["then"])
            & (found["now"] - found["then"] <= found["upper"]),
            "runs": 1,
        }
    )
    everything = table.assign(dataset="all " + table["role"])
    grouped = pd.concat([table, everything]).groupby(["role", "dataset", "more"], sort=False)
    return grouped.agg({"runs": "sum", "real": "mean", "predicted": "mean", "held": "mean"}).reset_index()


def stops(found: pd.DataFrame, asked: Sequence[float] = ASKED) -> pd.DataFrame:
    """What ``worthwhile`` said where the real gain was below and above what was asked."""
    real, said = 1 - found["then"] / found["now"], found["gain"] / found["now_estimate"]
    rows = []
    for role in sorted(set(found["dataset"].map(role_of))):
        mine = found["dataset"].map(role_of) == role
        for least in asked:
            below, stop, clear = real < least, said < least, real > CLEAR * least
            counts = {
                "below, stop": (below & stop)[mine].sum(),
                "below, go on": (below & ~stop)[mine].sum(),
                "above, stop": (~below & stop)[mine].sum(),
                "above, go on": (~below & ~stop)[mine].sum(),
                "clearly above": clear[mine].sum(),
                "clearly above, stop": (clear & stop)[mine].sum(),
            }
            rows.append(
                {"role": role, "asked": least, **{name: int(value) for name, value in counts.items()}}
            )
    return pd.DataFrame(rows)
