"""The built-in interval methods: each reads what its formula needs from the task."""

import warnings

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import InputError, SoftspreadWarning
from softspread.graph.extension import tie_newcomers
from softspread.intervals.calibrated.model import CalibratedFit, calibrated, fit_calibrated
from softspread.intervals.hoeffding import hoeffding
from softspread.intervals.multinomial import dirichlet, goodman, whole_votes, widened_sison_glaz
from softspread.intervals.slope import estimate_lipschitz
from softspread.intervals.task import IntervalTask, SpreadFit
from softspread.intervals.vote_sums import SumsOfSquares, sums_for_newcomers, sums_of_squares
from softspread.intervals.wilson import wilson
from softspread.posterior.tail import tail_of
from softspread.votes.ballots import Ballots

Interval = tuple[FloatArray, FloatArray]
TELLING_WIDTH = 0.9  # wider intervals, on average, leave next to nothing out


def wilson_method(task: IntervalTask) -> Interval:
    """Mass read as votes, theory [wilson]; widened to contain the soft label, which a strong prior moves."""
    return _with_soft_label(task, wilson(task.mass, task.confidence_level, task.n_intervals))


def wilson_floor_method(task: IntervalTask) -> Interval:
    """Mass rounded down to whole votes first, as the paper does."""
    return wilson(task.mass, task.confidence_level, task.n_intervals, rounded=True)


def goodman_method(task: IntervalTask) -> Interval:
    """Holds for all classes of an item together, theory [goodman]; widened to contain the soft label."""
    return _with_soft_label(task, goodman(task.mass, task.confidence_level))


def sison_glaz_method(task: IntervalTask) -> Interval:
    """The same by whole votes, all classes alike, theory [sison-glaz]; widened to contain the soft label."""
    return _with_soft_label(task, widened_sison_glaz(whole_votes(task.mass), task.confidence_level))


def dirichlet_method(task: IntervalTask) -> Interval:
    """The same by quantiles of a Dirichlet posterior, theory [dirichlet]; contains the soft label."""
    return _with_soft_label(task, dirichlet(task.mass, task.confidence_level))


def _with_soft_label(task: IntervalTask, ends: Interval) -> Interval:
    return np.minimum(ends[0], task.p), np.maximum(ends[1], task.p)


def hoeffding_method(task: IntervalTask) -> Interval:
    """Holds for any soft labels that change slowly from item to item, theory [hoeffding].

    Warns with :class:`SoftspreadWarning` where an estimated Lipschitz constant leaves next to nothing out.
    """
    lower, upper = hoeffding(task.p, task.mass, _sums(task), task.confidence_level, task.n_intervals)
    width = float(np.mean(upper - lower)) if lower.size else 0.0
    if task.lipschitz is None and width > TELLING_WIDTH:
        warnings.warn(
            f"Hoeffding intervals leave next to nothing out here (mean width {width:.2f}): the votes do not "
            "establish how little soft labels change from item to item. Pass lipschitz if you know it, or "
            "choose another method.",
            SoftspreadWarning,
            stacklevel=4,
        )
    return lower, upper


def _sums(task: IntervalTask) -> SumsOfSquares:
    """Sums of squares over the votes, of the fitted items or of new ones."""
    fit = task.spread_fit()
    state, graph = fit.state, fit.state.diffusion.graph
    evidence = fit.fitted()[0]
    mass, lipschitz = evidence.mass, task.lipschitz
    if lipschitz is None:
        lipschitz = estimate_lipschitz(fit.cast_state())
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


class PosteriorMethod:
    """Quantiles of the posterior of every item, theory [posterior], with a tail that holds, see ``tail``."""

    needs_refined = True

    def __call__(self, task: IntervalTask) -> Interval:
        if task.posteriors is None:
            raise InputError(
                "posterior intervals need votes that were spread over a graph, and this estimator spreads "
                "none; use method='wilson' or 'wilson_floor'."
            )
        found, n_classes = task.posteriors(), task.p.shape[1]
        tail = tail_of(found.fitted, 1 - (1 - task.confidence_level) / task.n_intervals)
        lower, upper = found.asked.interval(tail)
        return np.minimum(lower[:, :n_classes], task.p), np.maximum(upper[:, :n_classes], task.p)


posterior_method = PosteriorMethod()


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
        workers = fit.state.diffusion.workers
        learned, level = fit.kept["calibrated"], task.confidence_level
        return calibrated(learned, task.p, level, task.n_intervals, workers=workers)

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
