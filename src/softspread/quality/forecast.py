"""Are more votes worthwhile? What further votes would bring, from the votes so far.

thin the votes  ->  held-out scores improve as a + c m^-g  ->  continue  ->  add own votes to come
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import pandas as pd
from scipy.special import gammaln, pdtrik, xlogy

from softspread._common import validation
from softspread._common.types import FloatArray
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import InputError
from softspread.heldout.masses import LOOSE, HeldOutAccuracy, VotedMass, exact_scales, voted_mass
from softspread.heldout.scores import brier
from softspread.quality.result import N_BOOTSTRAP, Estimate, GainForecast, bootstrap, interval_of
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


@dataclass(frozen=True, slots=True)
class ForecastModel:
    """How the learning curve is measured and continued."""

    shares: tuple[float, ...] = (0.35, 0.5, 0.7, 0.85, 1.0)  # of the votes, for the learning curve
    thinnings: int = 3  # random subsets per share ...
    many_votes: int = (
        20_000  # ... of fewer votes; of more, one subset's score is known as well as three's of a third
    )
    exponents: tuple[float, float, int] = (0.1, 1.5, 29)  # g in a + c m^-g: first, last, how many
    usual_exponent: float = 0.6  # keeps g sane where the curve is too noisy ...
    exponent_spread: float = 0.4
    prior_misfit: float = 0.02  # ... at this share of the curve's variance per squared spread
    curve_doubt: float = 0.25  # of the predicted gain, by which real ones missed it
    noise_shares: int = 200  # steps of the share of the held-out score that may be noise
    ahead: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0)  # further points of the curve, as shares of the votes
    fewest_votes: int = 30  # a learning curve needs some votes to thin
    solve_share: float = 0.1  # of the tolerance: where evidence is small, soft labels need more digits
    accuracy: HeldOutAccuracy = LOOSE  # of the solves of many votes


MODEL = ForecastModel()


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """One subset of the votes, as seen by every voted item with its own votes left out."""

    brier: FloatArray  # (v,)  of the others' prediction against all votes of the item
    evidence: FloatArray  # (v,)  of the others and the prior
    reach: FloatArray  # (v,)  phi_qq
    share: FloatArray  # of all items, with 0, 1, ... votes in the subset


def predict_gain(
    diffusions: Sequence[Diffusion],
    votes: VoteTable,
    n_classes: int,
    more: int,
    *,
    prior: FloatArray | None = None,
    prior_strength: float = 1e-4,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
    whole: Sequence[VotedMass] | None = None,
    model: ForecastModel = MODEL,
) -> GainForecast:
    """How far ``more`` further votes on random items would lower the RMSE.

    Parameters
    ----------
    diffusions : the graph at the alpha in use, or at several: each number of votes then takes its best one
    votes : whole votes
    more : number of further votes
    prior : (n, n_classes); None = uniform
    whole : per diffusion the mass of the voted items with all votes, where that is known

    Notes
    -----
    Cost: 13 solves per diffusion; from 20,000 votes on 5 looser ones, 4 with ``whole``. Votes are thinned at
    random to 35, 50, 70 and 85 %, three times each or, of 20,000 votes or more, once; each subset's held-out
    Brier score, every voted item judged without its own votes, is fitted by a + c m^-g. Continued to more
    votes, it gives the error before own votes, theory [expected error] the error with them. The intervals
    come from a bootstrap over voted items, draws of the noise of votes, and a quarter of the gain for the
    form of the curve.
    """
    level = validation.between_0_and_1("confidence_level", confidence_level)
    more = validation.count("more", more, smallest=1)
    rng = np.random.default_rng() if rng is None else rng
    ballots, n = Ballots.of(votes, n_classes), diffusions[0].n_items
    counts, voted = ballots.counts, ballots.voted
    if (counts != np.round(counts)).any():
        raise InputError("a forecast needs whole votes; some of these have fractional weights.")
    if counts.sum() < model.fewest_votes:
        raise InputError(f"a forecast needs at least {model.fewest_votes} votes, got {counts.sum():g}.")
    share = np.full(n_classes, 1 / n_classes) if prior is None else prior
    given = np.broadcast_to(share, (n, n_classes))[voted]
    times = bootstrap(len(voted), n_bootstrap, rng)
    subsets = _thin(counts, rng, model)
    many = counts.sum() >= model.many_votes
    parts = []
    for number, diffusion in enumerate(diffusions):
        scales = exact_scales(diffusion, voted)
        tol = model.accuracy.of_solve(len(voted)) if many else model.solve_share * diffusion.tol
        held = [voted_mass(diffusion, voted, subset, scales=scales, tol=tol) for subset in subsets[:-1]]
        last = whole[number] if many and whole is not None else None
        if last is None:
            last = voted_mass(diffusion, voted, subsets[-1], scales=scales, tol=tol)
        pairs = zip([*held, last], subsets, strict=True)
        parts.append([_judge(mass, subset, counts, given, prior_strength, n) for mass, subset in pairs])
    noise = _noise(counts, times, parts, rng, model)
    errors = np.array([[_error(part, noise, times) for part in one] for one in parts])
    best = errors[:, :, 0].argmin(axis=0)  # errors: (alphas, subsets, samples)
    curve = _root(errors[best, np.arange(len(subsets))], n_classes)
    m = np.array([subset.sum() for subset in subsets])
    ahead = np.array(sorted({round(m[-1] * (1 + share)) for share in model.ahead} | {round(m[-1]) + more}))
    continued = [_continue(m, one, noise, times, ahead, n, model) for one in parts]
    future = np.array([error for error, _ in continued])  # (alphas, ahead, samples)
    best = future[:, :, 0].argmin(axis=0)
    rmse = _root(future[best, np.arange(len(ahead))], n_classes)
    exponent = continued[int(best[ahead == round(m[-1]) + more][0])][1]
    return _forecast(m, curve, ahead, rmse, more, level, exponent, model)


def _root(error: FloatArray, n_classes: int) -> FloatArray:
    return np.asarray(np.sqrt(np.maximum(error, 0.0) / n_classes))


def _continue(
    m: FloatArray,
    parts: list[_Judged],
    noise: FloatArray,
    times: FloatArray,
    ahead: FloatArray,
    n_items: int,
    model: ForecastModel,
) -> tuple[FloatArray, float]:
    """Expected errors with more votes, (ahead, samples), and the exponent of the fall of held-out scores."""
    scores = np.array([times @ part.brier for part in parts]) / times.sum(axis=1)
    fitted, exponent = _fit_power(m, scores, np.append(ahead, m[-1]), model)
    now = np.maximum(fitted[-1], np.finfo(np.float64).tiny)
    last, errors = parts[-1], []
    for votes, value in zip(ahead.tolist(), fitted, strict=False):
        mean = (votes - m[-1]) / n_items  # further votes on one item
        counts = np.arange(int(np.ceil(pdtrik(1 - np.finfo(np.float64).eps, mean))) + 1)
        arriving = np.exp(xlogy(counts, mean) - mean - gammaln(counts + 1))  # Poisson
        share = np.convolve(last.share, arriving)
        part = _Judged(last.brier, last.evidence * votes / m[-1], last.reach, share / share.sum())
        errors.append(_error(part, noise, times, value / now))
    return np.array(errors), exponent


def _thin(counts: FloatArray, rng: np.random.Generator, model: ForecastModel) -> list[FloatArray]:
    """Random subsets of the votes, (v, n_classes) each, the last one holding all."""
    rows, columns = np.nonzero(counts)
    times = counts[rows, columns].astype(np.int64)
    votes = np.repeat(np.arange(len(rows)), times)
    thinnings = model.thinnings if len(votes) < model.many_votes else 1
    subsets = []
    for share in model.shares:
        for _ in range(thinnings if share < 1 else 1):
            kept = rng.permutation(votes)[: round(share * len(votes))]
            subset = np.zeros_like(counts)
            subset[rows, columns] = np.bincount(kept, minlength=len(rows))
            subsets.append(subset)
    return subsets


def _judge(
    held: VotedMass, subset: FloatArray, counts: FloatArray, prior: FloatArray, strength: float, n_items: int
) -> _Judged:
    left = held.without(subset)
    p = soft_labels(left, prior, strength)
    loss = brier(p, counts / counts.sum(axis=1, keepdims=True))
    own = np.bincount(subset.sum(axis=1).astype(np.int64)).astype(np.float64)
    own[0] += n_items - len(counts)
    return _Judged(loss, left.sum(axis=1) + strength, held.reach, own / n_items)


def _noise(
    votes: FloatArray,
    times: FloatArray,
    parts: list[list[_Judged]],
    rng: np.random.Generator,
    model: ForecastModel,
) -> FloatArray:
    """The chance that two votes on an item differ, (samples,): from repeats, at most the lowest score.

    Before repeats are seen, any share of the held-out score is equally likely to be noise. The first sample
    takes the posterior mean, the others draw from the posterior.
    """
    lowest = np.min([times @ one[-1].brier / times.sum(axis=1) for one in parts], axis=0)
    size = votes.sum(axis=1)
    pairs = np.maximum(size - 1, 0.0)
    same = (votes * (votes - 1)).sum(axis=1) / np.maximum(size, 1.0)  # (r - 1) times the share of equal pairs
    differing = float((pairs - same).sum())
    share = (np.arange(model.noise_shares) + 0.5) / model.noise_shares
    chance = np.clip(share * lowest[0], np.finfo(np.float64).tiny, 1 - np.finfo(np.float64).eps)
    log_likelihood = differing * np.log(chance) + (float(pairs.sum()) - differing) * np.log1p(-chance)
    posterior = np.exp(log_likelihood - log_likelihood.max())
    posterior /= posterior.sum()
    drawn = rng.choice(share, size=len(times), p=posterior)
    drawn[0] = posterior @ share
    return np.asarray(drawn * lowest)


def _error(
    part: _Judged, noise: FloatArray, times: FloatArray, factor: FloatArray | float = 1.0
) -> FloatArray:
    """Expected sum_c (p - t)^2 of an item, (samples,), theory [expected error].

    With others' prediction q and j own votes of total mass j phi_qq, p = (1 - w) q + w f and
    E|p - t|^2 = (1 - w)^2 |q - t|^2 + w^2 noise / j; averaged over j as it is among all items. ``factor``
    multiplies the held-out scores.
    """
    loss, chance = np.zeros((2, len(part.brier)))
    for j, share in enumerate(part.share.tolist()):
        if share == 0:
            continue
        w = j * part.reach / (part.evidence + j * part.reach) if j else np.zeros_like(part.brier)
        kept = (1 - w) ** 2
        loss += share * kept * part.brier
        chance += share * (w**2 / max(j, 1) - kept)
    of_loss, of_chance = (times @ np.column_stack([loss, chance])).T / times.sum(axis=1)
    return np.asarray(factor * of_loss + noise * of_chance)


def _forecast(
    m: FloatArray,
    curve: FloatArray,
    ahead: FloatArray,
    rmse: FloatArray,
    more: int,
    level: float,
    exponent: float,
    model: ForecastModel,
) -> GainForecast:
    """Measured RMSE (subsets, samples) and predicted (ahead, samples), in words and a frame."""
    n_votes = round(m[-1])
    now, then = curve[-1], rmse[ahead == n_votes + more][0]
    gain = interval_of(now - then, level)
    doubt = model.curve_doubt * abs(gain.value)
    gain = Estimate(gain.value, gain.lower - doubt, gain.upper + doubt)
    points = [(votes, curve[m == votes].mean(axis=0), "measured") for votes in np.unique(m)]
    points += [(n_votes, now, "predicted")]
    points += [(votes, row, "predicted") for votes, row in zip(ahead, rmse, strict=True)]
    rows = [(int(votes), *astuple(interval_of(row, level)), kind) for votes, row, kind in points]
    frame = pd.DataFrame(rows, columns=["votes", "rmse", "lower", "upper", "kind"])
    return GainForecast(
        n_votes, more, interval_of(now, level), interval_of(then, level), gain, frame, exponent
    )


def _fit_power(
    m: FloatArray, curve: FloatArray, ahead: FloatArray, model: ForecastModel = MODEL
) -> tuple[FloatArray, float]:
    """Least squares of a + c m^-g with a, c >= 0, for each sample; values at ``ahead``, g of the first."""
    unit = float(m[-1])
    weight = np.sqrt(m / unit)  # more votes, less noise
    n_samples = curve.shape[1]
    best, values = np.full(n_samples, np.inf), np.zeros((len(ahead), n_samples))
    exponent = model.usual_exponent
    scale = np.var(curve - curve.mean(axis=0), axis=0) + np.finfo(np.float64).tiny
    for g in np.linspace(*model.exponents).tolist():
        x = (m / unit) ** -g
        slope = _covariance(x, curve, weight) / _covariance(x, x[:, None], weight)
        slope = np.maximum(slope, 0.0)
        middle = np.average(curve, axis=0, weights=weight**2)
        level = middle - slope * np.average(x, weights=weight**2)
        sunk = level < 0  # then the curve through 0 that fits best
        through = ((weight**2 * x) @ curve) / float((weight**2 * x) @ x)
        slope, level = np.where(sunk, through, slope), np.where(sunk, 0.0, level)
        misfit = ((weight[:, None] * (curve - level - np.outer(x, slope))) ** 2).mean(axis=0) / scale
        score = misfit + model.prior_misfit * ((g - model.usual_exponent) / model.exponent_spread) ** 2
        better = score < best
        best = np.where(better, score, best)
        values[:, better] = level[better] + np.outer((ahead / unit) ** -g, slope[better])
        if better[0]:
            exponent = g
    return values, exponent


def _covariance(x: FloatArray, Y: FloatArray, weight: FloatArray) -> FloatArray:
    w = weight**2 / (weight**2).sum()
    return np.asarray((w * (x - w @ x)) @ (Y - w @ Y))
