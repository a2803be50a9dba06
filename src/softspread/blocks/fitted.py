"""What an estimator holds after a fit in blocks: the mass of its items, read from the parts of the run.

    parts (p, evidence)  ->  mass = p (N + kappa) - kappa prior, in the user's rows      theory: [soft label]

Everything else that an estimator may ask of its state needs the graph of all items, and is refused.
"""

from typing import Any

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.blocks.spread import IN_BLOCKS, BlockResult
from softspread.diffusion.solver import SolveReport
from softspread.errors import InputError
from softspread.votes.reading import Names

STORED = 2.0**-22  # rounding of a mass whose p and N are stored in single precision, as a share of N + kappa


class MassInBlocks:
    """Mass of the items of a run in blocks; read again for every question, as it may be large."""

    def __init__(self, result: BlockResult, names: Names, prior: FloatArray) -> None:
        self.result, self.names, self.prior = result, names, prior

    @property
    def prior_strength(self) -> float:
        """How many votes the prior counts as."""
        return float(self.result.facts["prior_strength"])

    @property
    def solve_report(self) -> SolveReport:
        """What the solve reached."""
        return SolveReport(**self.result.facts["solve"])

    def mass(self, rows: IntArray | None = None) -> FloatArray:
        """(n, n_classes) mass of all items, or of some."""
        labels = self.result.read()
        order = np.empty(len(labels), dtype=np.int64)
        order[self.names.rows(labels.ids)] = np.arange(len(labels))
        mine = labels.take(order if rows is None else order[rows])
        prior = self.prior if rows is None else self.prior[rows]
        kappa = self.prior_strength
        return np.maximum(mine.p * (mine.evidence + kappa)[:, None] - kappa * prior, 0.0)

    def error_bound(self) -> FloatArray:
        """(n,) bound on the numerical error of every entry of an item's mass."""
        total = self.mass().sum(axis=1)
        return np.asarray(self.solve_report.bound + STORED * (total + self.prior_strength))

    def recover(self, n_classes: int) -> None:
        """Nothing has changed: further votes are refused."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise InputError(
            "this estimator was fitted in blocks and does not hold the graph of its items, which this "
            "needs. It answers about the fitted items: predict, predict_proba, predict_freq, evidence_, "
            "soft_labels_of, and predict_interval or soft_labels with method="
            f"{' or '.join(map(repr, IN_BLOCKS))}. For everything else fit without out, memory_limit and "
            "client."
        )
