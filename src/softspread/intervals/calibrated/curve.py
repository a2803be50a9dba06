"""The mean error share from the leave-item-out Brier score as a function of alpha.

    L_k - L_j = G (v_k - v_j) + B ((E_k / E_j)^s - 1),   share = (G v_j + B) / L_j       theory: [calibration]

v: noise of the neighbours' mean, which falls with alpha; E: reach of a profile, with which smoothing grows.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from softspread._common.types import FloatArray
from softspread.diffusion.diagonal import RULE, OwnScales, sampled_scales
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.random_signs import RandomSigns, squares_and_reach
from softspread.heldout.masses import voted_mass
from softspread.intervals.calibrated.constants import MODEL, CalibrationModel
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots


@dataclass(frozen=True, slots=True, eq=False)
class CurvePoint:
    """Leave-item-out predictions at one alpha."""

    brier: FloatArray  # (pairs,)  score of each (voted item, class) with votes
    noise: float  # mean over votes of 1 / effective size
    reach: float  # effective number of other items in a profile


@dataclass(frozen=True, slots=True, eq=False)
class Present:
    """Score and reach at the alpha in use."""

    diffusion: Diffusion
    ballots: Ballots
    scales: OwnScales
    others: FloatArray  # (v, n_classes)  mass of other items' votes


def effective_size(total: FloatArray, squares: FloatArray, model: CalibrationModel = MODEL) -> FloatArray:
    """(sum phi)^2 / sum phi^2, at least ``smallest_size``."""
    # As phi <= 1 the sum of squares cannot exceed the sum; rounding of a difference may leave it at 0.
    known = (total > 0) & (squares > model.least_squares)
    size = np.divide(total * total, squares, out=np.zeros_like(total), where=known)
    return np.maximum(size, model.smallest_size)


def window(alpha: float, model: CalibrationModel = MODEL) -> list[float]:
    """The alpha in use and its neighbours on the grid."""
    ordered = sorted({*model.alphas, alpha})
    here = ordered.index(alpha)
    return ordered[max(0, here - model.below) : here + model.above + 1]


def nearby_diffusions(diffusion: Diffusion, model: CalibrationModel = MODEL) -> dict[float, Diffusion]:
    """The graph at the alphas near the one in use; keep it where several fits share a graph.

    Scaled by the source, so that a vote's own entry is 1; peaks elsewhere are rare and do not move means.
    """
    return {
        alpha: diffusion.at(alpha, scaling="source", tol=model.window_tol)
        for alpha in window(diffusion.alpha, model)
        if alpha != diffusion.alpha
    }


def curve_share(
    present: Present,
    overall: FloatArray,
    nearby: Mapping[float, Diffusion] | None,
    rng: np.random.Generator,
    model: CalibrationModel = MODEL,
) -> float:
    """Mean error share from how the leave-item-out Brier score changes with alpha.

    Parameters
    ----------
    overall : (n_classes,) share of each class among all votes
    nearby : from :func:`nearby_diffusions`; None makes them
    """
    ballots, here = present.ballots, present.diffusion
    nearby = nearby_diffusions(here, model) if nearby is None else nearby
    signs = RandomSigns(rng, len(ballots.voted), here.n_items, model.signs)  # the same at every alpha
    hint = here.diagonal(ballots.voted)
    tol = model.accuracy.of_solve(len(ballots.voted))
    sample = RULE if len(ballots.voted) < model.accuracy.many_voted else model.scales_of_many
    items, classes = np.nonzero(ballots.counts)
    points = []
    alphas = window(here.alpha, model)
    for alpha in alphas:
        at, scales, others = here, present.scales, present.others
        if alpha != here.alpha:
            at = nearby[alpha]
            scales = sampled_scales(at, ballots.voted, hint, sample)._replace(noise=0.0)
            held = voted_mass(at, ballots.voted, ballots.counts, scales=scales, tol=tol)
            others = held.without(ballots.counts)
        q = soft_labels(others, overall, model.curve_kappa)
        brier = (q**2).sum(axis=1)[items] - 2 * q[items, classes] + 1
        squares, reach = squares_and_reach(
            at, ballots.voted, ballots.opinions.squares, scales.reach, signs, scales.scales
        )
        sizes = effective_size(others.sum(axis=1), squares, model)
        noise = float(np.average(1 / np.maximum(sizes, 1.0), weights=ballots.totals))
        points.append(CurvePoint(brier, noise, reach))
    return fit_curve(points, alphas.index(here.alpha), ballots.counts[items, classes], model)


def fit_curve(
    points: list[CurvePoint], here: int, weights: FloatArray, model: CalibrationModel = MODEL
) -> float:
    """Split the score into noise and smoothing; the share of the error at the alpha in use."""
    noise = np.array([point.noise for point in points])
    reach = np.array([point.reach for point in points])
    now = points[here]
    score = float(np.average(now.brier, weights=weights))
    share = model.noise_factor * now.noise / (1 + now.noise)
    elsewhere = np.arange(len(points)) != here
    if elsewhere.any() and reach[here] > 0 and score > 0:
        differences = np.stack([point.brier - now.brier for point in points])[elsewhere]
        means = np.average(differences, axis=1, weights=weights)
        variances = np.average((differences - means[:, None]) ** 2, axis=1, weights=weights)
        slack = np.sqrt(variances / weights.sum()) + model.curve_slack
        errors = np.hypot(slack, model.curve_noise * np.abs(means))
        B = np.linspace(0.0, model.largest_bias * score, model.curve_grid)
        G = (score - B) / (1 + now.noise)
        fits = []
        for power in model.curve_powers:
            growth = ((reach / reach[here]) ** power - 1)[elsewhere]
            expected = G[:, None] * (noise - now.noise)[elsewhere] + B[:, None] * growth
            misfit = (((expected - means) / errors) ** 2).sum(axis=1)
            at = int(misfit.argmin())
            fits.append((float(misfit[at]), float((G[at] * now.noise + B[at]) / score)))
        share = max(share, min(fits, key=lambda fit: fit[0])[1])
    return float(np.clip(share, model.smallest_share, model.largest_curve_share))
