"""The built-in interval methods: each reads what its formula needs from the task."""

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import InputError
from softspread.graph.extension import tie_newcomers
from softspread.intervals.calibrated.model import CalibratedFit, calibrated, fit_calibrated
from softspread.intervals.hoeffding import estimate_lipschitz, hoeffding
from softspread.intervals.task import IntervalTask, SpreadFit
from softspread.intervals.vote_sums import SumsOfSquares, sums_for_newcomers, sums_of_squares
from softspread.intervals.wilson import wilson
from softspread.votes.ballots import Ballots

Interval = tuple[FloatArray, FloatArray]


def wilson_method(task: IntervalTask) -> Interval:
    """Mass read as votes, theory [wilson]; widened to contain the soft label, which a strong prior moves."""
    lower, upper = wilson(task.mass, task.confidence_level, task.n_intervals)
    return np.minimum(lower, task.p), np.maximum(upper, task.p)


def wilson_floor_method(task: IntervalTask) -> Interval:
    """Mass rounded down to whole votes first, as the paper does."""
    return wilson(task.mass, task.confidence_level, task.n_intervals, rounded=True)


def hoeffding_method(task: IntervalTask) -> Interval:
    """Holds for any soft labels that change slowly from item to item, theory [hoeffding]."""
    return hoeffding(task.p, task.mass, _sums(task), task.confidence_level, task.n_intervals)


def _sums(task: IntervalTask) -> SumsOfSquares:
    """Sums of squares over the votes, of the fitted items or of new ones."""
    fit = task.spread_fit()
    state, graph = fit.state, fit.state.diffusion.graph
    evidence, p = fit.fitted()
    mass, lipschitz = evidence.mass, task.lipschitz
    if lipschitz is None:
        lipschitz = estimate_lipschitz(graph, p, evidence.total)
    sums = sums_of_squares(
        state.diffusion,
        Ballots.of(state.votes, state.n_classes),
        mass,
        lipschitz=lipschitz,
        mass_error=mass.shape[1] * evidence.error_bound,
    )
    if task.new_items is None:
        return sums
    ties = tie_newcomers(graph, task.new_items, state.diffusion.workers)
    return sums_for_newcomers(graph, state.diffusion.alpha, ties, task.new_items, mass, sums)


class CalibratedMethod:
    """Learns from items with two or more votes how far neighbours can be trusted."""

    needs_refined = True

    def __call__(self, task: IntervalTask) -> Interval:
        fit = task.spread_fit()
        if task.new_items is not None:
            raise InputError(
                "calibrated intervals exist for the fitted items only; 'wilson' and 'hoeffding' also take "
                "new ones."
            )
        if "calibrated" not in fit.kept:
            fit.kept["calibrated"] = self._learn(fit)
        return calibrated(fit.kept["calibrated"], task.p, task.confidence_level, task.n_intervals)

    @staticmethod
    def _learn(fit: SpreadFit) -> CalibratedFit:
        state = fit.cast_state()
        return fit_calibrated(
            state.diffusion,
            Ballots.of(state.votes, state.n_classes),
            state.mass(),
            prior=fit.prior,
        )


calibrated_method = CalibratedMethod()
