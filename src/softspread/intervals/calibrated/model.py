"""Calibrated intervals: fit the model of the package, then read intervals at any level from it."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from softspread._common import validation
from softspread._common.threads import Workers
from softspread._common.types import FloatArray
from softspread.diffusion.diagonal import OwnScales
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadWarning
from softspread.heldout.masses import VotedMass, exact_scales
from softspread.intervals.calibrated.constants import MODEL, CalibrationModel
from softspread.intervals.calibrated.curve import Present, curve_share, effective_size
from softspread.intervals.calibrated.ends import RULE, beta_interval
from softspread.intervals.calibrated.likelihood import Likelihood, Parameters
from softspread.intervals.vote_sums import SumsOfSquares, sums_of_squares
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots
from softspread.votes.repeats import repeat_advice

PART = 16_384  # items whose quantiles one task of a thread looks for


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedFit:
    """The posterior of every soft label; intervals at any level are quick to read from it."""

    prior_mean: FloatArray  # (n, n_classes)  po
    prior_votes: FloatArray  # (n,)           nu
    counts: FloatArray  # (n, n_classes)      own votes
    evidence: FloatArray  # (n,)
    kappa: float
    curve_share: float  # what the Brier curve says of the mean error share; NaN where alpha = 0
    parameters: Parameters
    n_votes: float
    n_repeated: int  # items with two or more votes

    def mean(self) -> FloatArray:
        """(n, n_classes) posterior mean: a soft label that trusts neighbours as far as they have earned."""
        total = self.prior_votes + self.counts.sum(axis=1)
        return np.asarray((self.prior_votes[:, None] * self.prior_mean + self.counts) / total[:, None])


def calibrated(
    fit: CalibratedFit,
    p: FloatArray,
    confidence_level: float,
    n_intervals: int = 1,
    model: CalibrationModel = MODEL,
    workers: Workers | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Intervals from a :func:`fit_calibrated`.

    Parameters
    ----------
    fit : of the same votes
    p : (n, n_classes) soft labels, which the intervals are widened to contain
    confidence_level : of each interval, or of ``n_intervals`` together (union bound)
    workers : threads to use; None = the caller's alone

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence. Of a million entries or more
        they are read off tables, within 1e-5
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    n, n_classes = fit.prior_mean.shape
    tabulated = n * n_classes >= RULE.from_entries
    lower, upper = np.empty((n, n_classes)), np.empty((n, n_classes))

    def work(rows: slice) -> None:
        total = fit.prior_votes[rows] + fit.counts[rows].sum(axis=1)
        a = fit.prior_votes[rows, None] * fit.prior_mean[rows] + fit.counts[rows]
        b = np.maximum(total[:, None] - a, 1e-9)  # rounding may leave nothing for the other classes
        ends = beta_interval(a, b, (1 - level) / n_intervals, model, tabulated=tabulated)
        unknown = fit.evidence[rows] <= 0
        ends[0][unknown], ends[1][unknown] = 0.0, 1.0
        np.minimum(ends[0], p[rows], out=lower[rows])
        np.maximum(ends[1], p[rows], out=upper[rows])

    parts = [slice(first, first + PART) for first in range(0, n, PART)]
    (Workers(1) if workers is None else workers).run(work, parts)
    return lower, upper


def fit_calibrated(
    diffusion: Diffusion,
    ballots: Ballots,
    mass: FloatArray,
    *,
    sums: SumsOfSquares | None = None,
    prior: FloatArray | None = None,
    nearby: Mapping[float, Diffusion] | None = None,
    random_state: int = 0,
    model: CalibrationModel = MODEL,
) -> CalibratedFit:
    """Learn from the votes how far the neighbours' mean is from an item's own probabilities.

    Warns with :class:`SoftspreadWarning` where fewer than 40 items have a second vote: intervals may then be
    too narrow.

    Parameters
    ----------
    diffusion : the graph and alpha with which the votes were spread
    mass : (n, n_classes), all votes spread
    sums : of these votes, if already known; else computed here
    prior : (n, n_classes), what is believed without votes; None = the overall share of each class
    nearby : from :func:`~softspread.intervals.calibrated.curve.nearby_diffusions`, whose scales are then
        computed once for several fits; None makes them
    random_state : seeds the random signs and samples

    Notes
    -----
    Costs two solves (one column per class, 33 of random signs) and the scales of the voted items at each
    further alpha, most of them read off a sample where there are many. From 20,000 voted items on fewer
    columns of random signs, eight at 100,000, and looser solves give the same means. Of the items with two or
    more votes at most 20,000 are used.
    """
    n, n_classes = mass.shape
    rng = np.random.default_rng(random_state)
    voted, n_votes = ballots.voted, float(ballots.totals.sum())
    sums = sums_of_squares(diffusion, ballots, mass) if sums is None else sums
    scales = exact_scales(diffusion, voted)
    others, sizes = _leave_items_out(ballots, mass, sums, scales, model)
    counts = np.zeros((n, n_classes))
    counts[voted] = ballots.counts
    overall = (counts.sum(axis=0) + 1) / (n_votes + n_classes)
    believed = np.broadcast_to(overall, (n, n_classes)) if prior is None else prior
    kappa = _choose_kappa(ballots, others[voted], believed[voted], model)
    po = soft_labels(others, believed, kappa)
    share, from_curve = np.full(n, model.largest_share), np.nan
    parameters = (model.level_prior[0], model.slope_prior[0], model.nugget_prior[0])
    if len(voted):
        if diffusion.alpha > 0:
            present = Present(diffusion, ballots, scales, others[voted])
            from_curve = curve_share(present, overall, nearby, rng, model)
        problem = Likelihood(ballots, np.log(sizes), po, from_curve, rng, model)
        parameters = problem.best()
        found = problem.share(np.log(sizes), parameters) * (1 + 1 / np.sqrt(n_votes))
        share = np.minimum(found, model.largest_share)
    advice = repeat_advice(ballots.n_repeated, n, model.repeats)
    if advice is not None:
        warnings.warn(advice, SoftspreadWarning, stacklevel=3)
    evidence = mass.sum(axis=1)
    return CalibratedFit(
        po, 1 / share - 1, counts, evidence, kappa, from_curve, parameters, n_votes, ballots.n_repeated
    )


def _leave_items_out(
    ballots: Ballots, mass: FloatArray, sums: SumsOfSquares, scales: OwnScales, model: CalibrationModel
) -> tuple[FloatArray, FloatArray]:
    """Mass and effective number of the *other* items' votes at every item: Yo (n, n_classes), ne (n,)."""
    others = mass.copy()
    others[ballots.voted] = VotedMass(mass[ballots.voted], scales).without(ballots.counts)
    # A best guess, not a bound: what the profiles miss is thinner than what they hold, so squares grow like
    # the mass.
    reached = np.maximum(mass.sum(axis=1) - sums.rest, np.finfo(np.float64).tiny)
    squares = np.minimum(sums.squares * (1 + sums.rest / reached), sums.upper)
    squares = np.where(sums.squares > 0, squares, sums.upper)
    squares[ballots.voted] -= ballots.opinions.squares * scales.reach**2
    return others, effective_size(others.sum(axis=1), squares, model)


def _choose_kappa(ballots: Ballots, others: FloatArray, prior: FloatArray, model: CalibrationModel) -> float:
    """The prior strength under which leave-item-out predictions give the votes the highest likelihood."""
    centre, width = model.kappa_prior

    def badness(kappa: float) -> float:
        """Negative log posterior."""
        chances = np.maximum(soft_labels(others, prior, kappa), np.finfo(np.float64).tiny)
        unusual = 0.5 * ((np.log(kappa) - centre) / width) ** 2
        return float(unusual - (ballots.counts * np.log(chances)).sum())

    return min(model.kappas, key=badness)
