"""Calibrated intervals: how far to trust the neighbours is learned from the votes themselves.

    po_i = (Yo_i + kappa pi) / (No_i + kappa)      what other items' votes say about item i
    [neighbour prior]
    nu_i = 1 / R_i - 1                             how many votes that is worth                      [error
    share]
    p_i[c] ~ Beta(a, nu_i + own_i - a),  a = nu_i po_i[c] + own votes for c
    [calibrated]

Yo, No leave the item's own votes out. R_i is the share of the variance of a vote that the neighbours' mean
leaves open,

    Rs_i = 1 / (1 + exp(c + b ln ne_i)),  Rn = expit(logit(mean Rs) + g),  R_i = Rs_i + (1 - Rs_i) Rn

with ne_i = No_i^2 / sum of phi^2 over other items' votes. Two sources tell c, b, g: items with two or more
votes, by the Dirichlet-multinomial likelihood of their votes around po; and the leave-item-out Brier score as
a function of alpha, whose shape separates noise (falls with alpha) from smoothing (grows with it). No ground
truth enters.
Theory: [calibration].
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, expit, gammaln, logit

from softspread._common import validation
from softspread._common.types import FloatArray
from softspread.diffusion.diagonal import own_reach, sampled_diagonal
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.probes import LEAST_SQUARES, RandomSigns, squares_and_reach
from softspread.errors import SoftspreadWarning
from softspread.intervals.vote_sums import SumsOfSquares, sums_of_squares
from softspread.intervals.wilson import SNAP, snap_ends
from softspread.votes.ballots import StandingVotes, standing_votes
from softspread.votes.table import VoteTable

ALPHAS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
BELOW, ABOVE = 3, 2  # neighbours of the alpha in use on this grid at which the Brier score is looked at
WINDOW_TOL = 1e-4  # of the scales at these alphas; only means over many votes are read from them
SOLVE_TOL = 1e-6  # of the solves there
CURVE_KAPPA = 0.01  # prior strength of the scored predictions
CURVE_NOISE = 0.15  # of a difference of scores that the curve's form may miss
CURVE_SLACK = 1e-4  # added to standard errors, so that no difference counts as known exactly
CURVE_GRID = 400
CURVE_POWERS = (
    0.5,
    0.75,
    1.0,
    1.5,
    2.0,
    3.0,
    4.0,
)  # how the smoothing error grows with the reach of a profile
LARGEST_BIAS = 0.9  # share of the score that smoothing may explain
NOISE_FACTOR = 1.3  # neighbours' means are at least this much noisier than their effective size says
SMALLEST_SHARE, LARGEST_CURVE_SHARE, LARGEST_SHARE = 1e-3, 0.9, 0.98

KAPPAS = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0)
# Centres and widths of the priors; chosen once on the datasets of the experiments, then frozen.
KAPPA_PRIOR = (float(np.log(0.05)), 1.5)
LEVEL_PRIOR = (float(np.log(0.4)), 1.0)  # c
SLOPE_PRIOR = (0.9, 0.15)  # b
NUGGET_PRIOR = (-3.0, 1.8)  # g
NUGGET_STARTS = (-3.0, 1.5)  # the likelihood may have two hills
CURVE_PRIOR = 0.3  # how far ln(mean Rs) may be from what the Brier curve says
EXPONENT_RANGE = (-6.0, 9.0)  # keeps Rs away from 0 and 1
SMALLEST_SIZE = 1e-3  # effective number of other votes where none arrived

MOST_REPEATED = 20_000  # items with two or more votes that the likelihood looks at; more would not move it
FEW_REPEATED, ENOUGH_REPEATED = 20, 50  # under the first we warn, the second we recommend

TAIL_SHARE = 0.75  # of delta that a one-sided interval leaves out where the density has its peak at 0 or 1


@dataclass(frozen=True, slots=True, eq=False)
class CalibratedFit:
    """The posterior of every soft label, in the user's order; intervals at any level are quick to read from
    it.
    """

    prior_mean: FloatArray  # (n, n_classes)  po
    prior_votes: FloatArray  # (n,)           nu
    counts: FloatArray  # (n, n_classes)      own votes
    evidence: FloatArray  # (n,)
    kappa: float
    curve_share: float  # what the Brier curve says of the mean error share; NaN where alpha = 0
    parameters: tuple[float, float, float]  # c, b, g
    n_votes: float
    n_repeated: int  # items with two or more votes

    def mean(self) -> FloatArray:
        """(n, n_classes) posterior mean: a soft label that trusts neighbours as far as they have earned
        it.
        """
        total = self.prior_votes + self.counts.sum(axis=1)
        return np.asarray((self.prior_votes[:, None] * self.prior_mean + self.counts) / total[:, None])


def calibrated(
    fit: CalibratedFit, p: FloatArray, confidence_level: float, n_intervals: int = 1
) -> tuple[FloatArray, FloatArray]:
    """Intervals from a :func:`fit_calibrated`.

    Parameters
    ----------
    fit : of the same votes
    p : (n, n_classes) soft labels, which the intervals are widened to contain
    confidence_level : of each interval, or of ``n_intervals`` together (union bound)

    Returns
    -------
    lower, upper : (n, n_classes) in [0, 1]; all of [0, 1] without evidence
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    own = fit.counts.sum(axis=1)
    a = fit.prior_votes[:, None] * fit.prior_mean + fit.counts
    b = np.maximum(
        (fit.prior_votes + own)[:, None] - a, 1e-9
    )  # rounding may leave nothing for the other classes
    lower, upper = beta_interval(a, b, (1 - level) / n_intervals)
    unknown = fit.evidence <= 0
    lower[unknown], upper[unknown] = 0.0, 1.0
    return np.minimum(lower, p), np.maximum(upper, p)


def beta_interval(a: FloatArray, b: FloatArray, delta: float) -> tuple[FloatArray, FloatArray]:
    """Equal tails, one-sided where the density rises without bound at 0 or 1.

    Probabilities closer than 0.005 are not told apart: lower ends below it are 0 and no upper end is, the
    same at 1. Where next to nothing speaks for a class, the quantile itself may be 1e-20, and no true
    probability is that sure.
    """
    left, right = (a < 1) & (a <= b), (b < 1) & (b < a)
    lower, upper = np.zeros_like(a), np.ones_like(a)
    two_sided = ~left
    lower[two_sided] = betaincinv(
        a[two_sided], b[two_sided], np.where(right[two_sided], TAIL_SHARE, 0.5) * delta
    )
    two_sided = ~right
    upper[two_sided] = betaincinv(
        a[two_sided], b[two_sided], 1 - np.where(left[two_sided], TAIL_SHARE, 0.5) * delta
    )
    return snap_ends(np.minimum(lower, 1 - SNAP), np.maximum(upper, SNAP))


def fit_calibrated(
    diffusion: Diffusion,
    votes: VoteTable,
    mass: FloatArray,
    *,
    sums: SumsOfSquares | None = None,
    prior: FloatArray | None = None,
    alphas: Sequence[float] = ALPHAS,
    diffusions: Mapping[float, Diffusion] | None = None,
    weights_are_counts: bool = False,
    random_state: int = 0,
) -> CalibratedFit:
    """Learn from the votes how far the neighbours' mean is from an item's own probabilities.

    Warns with :class:`SoftspreadWarning` where fewer than 20 items have a second vote; about 50 are
    recommended.

    Parameters
    ----------
    diffusion : the graph and alpha with which the votes were spread
    votes : (m,) in the user's numbering
    mass : (n, n_classes) in the user's order, all votes spread
    sums : of these votes, if already known; else computed here
    prior : (n, n_classes), what is believed without votes; None = the overall share of each class
    alphas : grid of which up to five alphas near the one in use are tried
    diffusions : from :func:`nearby_diffusions`, whose scales are then computed once for several fits; None
    makes them
    weights_are_counts : a weight of 3 is three votes (a table of counts), not one vote that counts three
    times
    random_state : seeds the random signs and samples

    Notes
    -----
    Costs three solves (one column per class, and twice 16 of random signs) and the scales of the voted items
    at each further alpha; with many voted items most of these scales are predicted from a sample. Of the
    items with two or more votes at most 20,000 are used.
    """
    n, n_classes = mass.shape
    rng = np.random.default_rng(random_state)
    standing = standing_votes(votes, n_classes, weights_are_counts)
    n_repeated = int(np.count_nonzero(standing.n_votes > 1))
    if sums is None:
        sums = sums_of_squares(diffusion, votes, mass, weights_are_counts=weights_are_counts)
    evidence = mass.sum(axis=1)
    own = own_reach(diffusion, standing.rows)
    others, sizes = _leave_items_out(standing, own, mass, sums)
    counts = np.zeros((n, n_classes))
    counts[standing.rows] = standing.counts
    n_votes = float(standing.totals.sum())
    overall = (counts.sum(axis=0) + 1) / (n_votes + n_classes)
    believed = overall if prior is None else prior
    kappa = _choose_kappa(
        standing, others[standing.rows], believed if prior is None else prior[standing.rows]
    )
    po = _smoothed(others, kappa, believed)
    share, curve_share, parameters = (
        np.full(n, LARGEST_SHARE),
        np.nan,
        (LEVEL_PRIOR[0], SLOPE_PRIOR[0], NUGGET_PRIOR[0]),
    )
    if len(standing.rows):
        if diffusion.alpha > 0:
            known = _Known(diffusion, standing, own, others[standing.rows], overall)
            curve_share = _curve_share(known, alphas, diffusions or {}, rng)
        problem = _Likelihood(standing, np.log(sizes), po, curve_share, rng)
        parameters = problem.best()
        share = np.minimum(
            problem.share(np.log(sizes), parameters) * (1 + 1 / np.sqrt(n_votes)), LARGEST_SHARE
        )
    if n_repeated < FEW_REPEATED:
        warnings.warn(
            f"only {n_repeated} items have a second vote; calibrated intervals learn from such items how "
            "much "
            f"neighbours differ, and may be too narrow with fewer than {FEW_REPEATED}. Ask again about "
            f"{ENOUGH_REPEATED} items that already have a vote.",
            SoftspreadWarning,
            stacklevel=3,
        )
    return CalibratedFit(
        po, 1 / share - 1, counts, evidence, kappa, curve_share, parameters, n_votes, n_repeated
    )


def _leave_items_out(
    standing: StandingVotes, own: FloatArray, mass: FloatArray, sums: SumsOfSquares
) -> tuple[FloatArray, FloatArray]:
    """Mass and effective number of the *other* items' votes at every item: Yo (n, n_classes), ne (n,)."""
    others = mass.copy()
    others[standing.rows] -= standing.counts * own[:, None]
    np.maximum(others, 0.0, out=others)
    # A best guess, not a bound: what the profiles miss is thinner than what they hold, so squares grow like
    # the mass.
    reached = np.maximum(mass.sum(axis=1) - sums.rest, np.finfo(np.float64).tiny)
    squares = np.minimum(sums.squares * (1 + sums.rest / reached), sums.upper)
    squares = np.where(sums.squares > 0, squares, sums.upper)
    squares[standing.rows] -= standing.squares * own**2
    total = others.sum(axis=1)
    return others, _effective_size(total, squares)


def _effective_size(total: FloatArray, squares: FloatArray) -> FloatArray:
    """(sum phi)^2 / sum phi^2, at least 0.001."""
    # As phi <= 1 the sum of squares cannot exceed the sum; rounding of a difference may leave it at 0.
    known = (total > 0) & (squares > LEAST_SQUARES)
    size = np.divide(total * total, squares, out=np.zeros_like(total), where=known)
    return np.maximum(size, SMALLEST_SIZE)


def _smoothed(Y: FloatArray, kappa: float, prior: FloatArray) -> FloatArray:
    return np.asarray((Y + kappa * prior) / (Y.sum(axis=1, keepdims=True) + kappa))


def _choose_kappa(standing: StandingVotes, others: FloatArray, prior: FloatArray) -> float:
    """The prior strength under which leave-item-out predictions give the votes the highest likelihood."""
    best, best_score = KAPPAS[0], np.inf
    for kappa in KAPPAS:
        chances = np.maximum(_smoothed(others, kappa, prior), np.finfo(np.float64).tiny)
        score = -float((standing.counts * np.log(chances)).sum())
        score += 0.5 * ((np.log(kappa) - KAPPA_PRIOR[0]) / KAPPA_PRIOR[1]) ** 2
        if score < best_score:
            best, best_score = kappa, score
    return best


# ---------------------------------------------------------------------------------- what the Brier curve says


@dataclass(frozen=True, slots=True, eq=False)
class _CurvePoint:
    """Leave-item-out predictions at one alpha."""

    brier: FloatArray  # (pairs,)  score of each (voted item, class) with votes
    noise: float  # mean over votes of 1 / effective size
    reach: float  # effective number of other items in a profile


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What is known at the alpha in use."""

    diffusion: Diffusion
    standing: StandingVotes
    own: FloatArray  # (v,)
    others: FloatArray  # (v, n_classes)
    overall: FloatArray  # (n_classes,)  share of each class among all votes


def _curve_share(
    known: _Known, alphas: Sequence[float], diffusions: Mapping[float, Diffusion], rng: np.random.Generator
) -> float:
    """Mean error share from how the leave-item-out Brier score changes with alpha."""
    standing = known.standing
    rows = standing.rows
    window = _window(known.diffusion.alpha, alphas)
    signs = RandomSigns(rng, len(rows), known.diffusion.n_items)  # the same at every alpha
    hint = known.diffusion.diagonal(rows)
    items, classes = np.nonzero(standing.counts)
    points = []
    for alpha in window:
        if alpha == known.diffusion.alpha:
            at, others, own, scales = known.diffusion, known.others, known.own, None
        else:
            at = diffusions.get(alpha) or _at_alpha(known.diffusion, alpha)
            scales, own = sampled_diagonal(at, rows, hint)[0], np.ones(len(rows))
            others = _other_mass(at, standing, scales)
        chances = _smoothed(others, CURVE_KAPPA, known.overall)
        brier = (chances**2).sum(axis=1)[items] - 2 * chances[items, classes] + 1
        squares, reach = squares_and_reach(at, rows, standing.squares, own, signs, scales)
        sizes = _effective_size(others.sum(axis=1), squares)
        noise = float(np.average(1 / np.maximum(sizes, 1.0), weights=standing.totals))
        points.append(_CurvePoint(brier, noise, reach))
    return _fit_curve(points, window.index(known.diffusion.alpha), standing.counts[items, classes])


def nearby_diffusions(diffusion: Diffusion, alphas: Sequence[float] = ALPHAS) -> dict[float, Diffusion]:
    """What :func:`fit_calibrated` needs at the alphas near the one in use; keep it where several fits share a
    graph.
    """
    return {
        alpha: _at_alpha(diffusion, alpha)
        for alpha in _window(diffusion.alpha, alphas)
        if alpha != diffusion.alpha
    }


def _window(alpha: float, alphas: Sequence[float]) -> list[float]:
    ordered = sorted({*alphas, alpha})
    here = ordered.index(alpha)
    return ordered[max(0, here - BELOW) : here + ABOVE + 1]


def _at_alpha(diffusion: Diffusion, alpha: float) -> Diffusion:
    # Scaled by the source, so that a vote's own entry is 1; peaks elsewhere are rare and do not move means.
    return diffusion.at(alpha, scaling="source", tol=WINDOW_TOL)


def _other_mass(diffusion: Diffusion, standing: StandingVotes, scales: FloatArray) -> FloatArray:
    """Mass of other items' votes at each voted item, (v, n_classes)."""
    spread = diffusion.spread(standing.rows, standing.counts, scales=scales, tol=SOLVE_TOL)
    # scaled by the source: a vote's own entry is 1
    return np.asarray(np.maximum(spread.mass(standing.rows) - standing.counts, 0.0))


def _fit_curve(points: list[_CurvePoint], here: int, weights: FloatArray) -> float:
    """Split the score into noise and smoothing by L_k - L_j = G (v_k - v_j) + B ((E_k / E_j)^s - 1)."""
    noise = np.array([point.noise for point in points])
    reach = np.array([point.reach for point in points])
    now = points[here]
    score = float(np.average(now.brier, weights=weights))
    least = NOISE_FACTOR * now.noise / (1 + now.noise)
    elsewhere = np.arange(len(points)) != here
    if elsewhere.any() and reach[here] > 0 and score > 0:
        differences = np.stack([point.brier - now.brier for point in points])[elsewhere]
        means = np.average(differences, axis=1, weights=weights)
        variances = np.average((differences - means[:, None]) ** 2, axis=1, weights=weights)
        errors = np.hypot(np.sqrt(variances / weights.sum()) + CURVE_SLACK, CURVE_NOISE * np.abs(means))
        B = np.linspace(0.0, LARGEST_BIAS * score, CURVE_GRID)
        G = (score - B) / (1 + now.noise)
        best = np.inf
        for power in CURVE_POWERS:
            growth = ((reach / reach[here]) ** power - 1)[elsewhere]
            expected = G[:, None] * (noise - now.noise)[elsewhere] + B[:, None] * growth
            misfit = (((expected - means) / errors) ** 2).sum(axis=1)
            at = int(misfit.argmin())
            if misfit[at] < best:
                best = float(misfit[at])
                share = float((G[at] * now.noise + B[at]) / score)
        least = max(least, share)
    return float(np.clip(least, SMALLEST_SHARE, LARGEST_CURVE_SHARE))


# ------------------------------------------------------------------------------------ what repeated votes say


class _Likelihood:
    """Negative log posterior of (c, b, g)."""

    def __init__(
        self,
        standing: StandingVotes,
        log_sizes: FloatArray,
        po: FloatArray,
        curve_share: float,
        rng: np.random.Generator,
    ) -> None:
        self.curve_share = curve_share
        self.voted_sizes = log_sizes[standing.rows]
        self.voted_weights = standing.totals / standing.totals.sum()
        repeated = np.flatnonzero(standing.n_votes > 1)
        self.scale = 1.0
        if len(repeated) > MOST_REPEATED:
            self.scale = len(repeated) / MOST_REPEATED
            repeated = np.sort(rng.permutation(repeated)[:MOST_REPEATED])
        rows = standing.rows[repeated]
        self.sizes, self.own = log_sizes[rows], standing.totals[repeated]
        counts = standing.counts[repeated]
        self.item, classes = np.nonzero(counts)  # classes without own votes drop out of the likelihood
        self.count = counts[self.item, classes]
        self.po = po[rows[self.item], classes]

    @staticmethod
    def smooth_share(log_sizes: FloatArray, c: float, b: float) -> FloatArray:
        return np.asarray(1 / (1 + np.exp(np.clip(c + b * log_sizes, *EXPONENT_RANGE))))

    def _mean_and_nugget(self, parameters: tuple[float, float, float]) -> tuple[float, float]:
        c, b, g = parameters
        mean = float(self.smooth_share(self.voted_sizes, c, b) @ self.voted_weights)
        return mean, float(expit(logit(mean) + g))

    def share(self, log_sizes: FloatArray, parameters: tuple[float, float, float]) -> FloatArray:
        """R for items with these effective sizes."""
        nugget = self._mean_and_nugget(parameters)[1]
        smooth = self.smooth_share(log_sizes, *parameters[:2])
        return np.asarray(smooth + (1 - smooth) * nugget)

    def __call__(self, parameters: FloatArray) -> float:
        c, b, g = (float(value) for value in parameters)
        mean, _ = self._mean_and_nugget((c, b, g))
        value = sum(
            0.5 * ((x - centre) / width) ** 2
            for x, (centre, width) in zip((c, b, g), (LEVEL_PRIOR, SLOPE_PRIOR, NUGGET_PRIOR), strict=True)
        )
        if not np.isnan(self.curve_share):
            value += 0.5 * (np.log(mean / self.curve_share) / CURVE_PRIOR) ** 2
        if len(self.own):
            nu = 1 / self.share(self.sizes, (c, b, g)) - 1
            a = nu[self.item] * self.po
            fit = (gammaln(nu) - gammaln(nu + self.own)).sum() + (gammaln(a + self.count) - gammaln(a)).sum()
            value -= self.scale * float(fit)
        return float(value)

    def best(self) -> tuple[float, float, float]:
        """The lowest of the hills' feet, from both starts."""
        from scipy.optimize import minimize  # slow to load, and only needed here

        options = {"maxiter": 300, "xatol": 1e-2, "fatol": 1e-2}
        found = [
            minimize(self, [LEVEL_PRIOR[0], SLOPE_PRIOR[0], start], method="Nelder-Mead", options=options)
            for start in NUGGET_STARTS
        ]
        c, b, g = min(found, key=lambda result: float(result.fun)).x
        return float(c), float(b), float(g)
