"""How good are the soft labels? From votes alone, without ground truth.

    E|p - f|^2 = |p - t|^2 + var(f),   |p - t|^2 ~ p.p - 2 p.f + sum_c k_c (k_c - 1) / (r (r - 1))

theory: [quality]. f = k / r are the shares of r votes on an item, t is its true soft label. Comparing p with
f counts the noise of few votes as error; pairs of votes on the same item measure that noise, and it is taken
off. Where there is a posterior, it speaks too: its worlds are weighed by how well they predict the held-out
votes, see :mod:`~softspread.quality.doubt`.
"""

from typing import Any, NamedTuple

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import InputError
from softspread.heldout.masses import mass_of_state
from softspread.heldout.split import HeldOut, hold_out, hold_out_in_turn
from softspread.metrics import ROW_SUM
from softspread.posterior.blend import Blend
from softspread.posterior.posterior import Posterior
from softspread.quality.chosen import Importance
from softspread.quality.judge import Evidence, judge
from softspread.quality.result import N_BOOTSTRAP, Quality, Trials
from softspread.quality.worlds import apart_beliefs, held_out_beliefs
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


class FittedBlend(NamedTuple):
    """A blend and the posterior of all items that it gives."""

    blend: Blend
    posterior: Posterior


def estimate_quality(
    p: Any,
    counts: Any,
    *,
    posterior: Posterior | None = None,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Quality:
    """Quality of soft labels, from items with votes of their own that were not used for the soft labels.

    Parameters
    ----------
    p : (items, n_classes) soft labels of a random sample of items, made without the votes in ``counts``
    counts : (items, n_classes) whole votes on these items, two or more on most; single ones help ``brier``
    posterior : of the same items, made without these votes; None = the votes speak alone
    confidence_level : of the intervals

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.dirichlet([0.3, 0.3, 0.3], size=500)
    >>> votes = np.array([rng.multinomial(3, row) for row in truth])
    >>> quality = estimate_quality(0.8 * truth + 0.2 / 3, votes, rng=rng)
    >>> quality.rmse.lower < 0.067 < quality.rmse.upper < 0.2  # 0.067 is true
    True
    """
    table, votes = _checked_pair(p, counts)
    voted = np.flatnonzero(votes.sum(axis=1) > 0)
    if not len(voted):
        raise InputError("counts holds no votes; quality needs items with two or more votes each.")
    trials = Trials(table[voted], votes[voted], np.ones(len(voted)), np.arange(len(voted)), votes[voted])
    beliefs = None if posterior is None else apart_beliefs(posterior, table, voted)
    return judge(Evidence(trials, len(votes), "set apart", beliefs), confidence_level, rng, n_bootstrap)


def held_out_quality(
    state: SpreadState,
    prior: FloatArray,
    prior_strength: float,
    *,
    fitted: FittedBlend | None = None,
    cast: VoteTable | None = None,
    probabilities: Any = None,
    confidence_level: float = 0.9,
    rng: np.random.Generator | None = None,
    n_bootstrap: int = N_BOOTSTRAP,
) -> Quality:
    """Quality of the soft labels of spreading: :func:`held_out_evidence`, judged."""
    rng = np.random.default_rng() if rng is None else rng
    evidence = held_out_evidence(
        state, prior, prior_strength, rng, fitted=fitted, cast=cast, probabilities=probabilities
    )
    return judge(evidence, confidence_level, rng, n_bootstrap)


def held_out_evidence(
    state: SpreadState,
    prior: FloatArray,
    prior_strength: float,
    rng: np.random.Generator,
    *,
    fitted: FittedBlend | None = None,
    cast: VoteTable | None = None,
    probabilities: Any = None,
) -> Evidence:
    """Evidence about the soft labels of spreading from their own votes, each held out in turn.

    A vote held out on an item with j + 1 votes judges for the items with j votes; on chosen items it is the
    (j + 1)-th, held out with those after it.

    Parameters
    ----------
    state : the fitted state, refined
    prior : (n, n_classes)
    fitted : a blend of the same votes with this spreading alone; None = the votes speak alone
    cast : the votes before annotators were weighted, of those who can be trusted: they show the noise of
        votes, which weights hide; None where all votes count as they were cast
    probabilities : with which the item of each vote was drawn, see :func:`blend_evidence`
    """
    n, n_classes = state.diffusion.n_items, state.n_classes
    ballots, importance = _read(state.votes, n_classes, n, probabilities)
    held, voted = _held_out(ballots, n, rng, importance), ballots.voted
    judged, at = held.judged.toarray(), held.position
    left = mass_of_state(state, voted).without(held.content.toarray(), at)
    p = soft_labels(left, prior[voted][at], prior_strength)
    whole = _whole_votes(ballots if cast is None else Ballots.of(cast, n_classes), n)[voted]
    beliefs = None
    if fitted is not None and n_classes > 1:
        shown = soft_labels(state.mass(), prior, prior_strength)
        beliefs = held_out_beliefs(*fitted, shown, ballots, held)
    return Evidence(Trials(p, judged, held.shares, at, whole), n, "held out", beliefs, importance)


def blend_evidence(
    fitted: FittedBlend,
    votes: VoteTable,
    rng: np.random.Generator,
    *,
    cast: VoteTable | None = None,
    probabilities: Any = None,
) -> Evidence:
    """Evidence about a blend's soft labels from its own votes, each held out in turn.

    Parameters
    ----------
    fitted : the blend, and the posterior of all items
    votes : the votes of the fit with their annotators' weights, for the classes they name
    cast : the votes before annotators were weighted, of those who can be trusted; None where all votes count
        as they were cast
    probabilities : (m,) with which the item of each vote was drawn at its step, as ``query(...,
        return_probabilities=True)`` gives them; None = all items were equally probable
    """
    posterior = fitted.posterior
    n, n_classes = posterior.n_items, posterior.n_classes
    ballots, importance = _read(votes, n_classes, n, probabilities)
    held = _held_out(ballots, n, rng, importance)
    beliefs = held_out_beliefs(*fitted, posterior.mean(), ballots, held)
    whole = _whole_votes(ballots if cast is None else Ballots.of(cast, n_classes), n)[ballots.voted]
    trials = Trials(beliefs.trials.mean(), held.judged.toarray(), held.shares, held.position, whole)
    return Evidence(trials, n, "held out", beliefs, importance)


def _read(
    votes: VoteTable, n_classes: int, n_items: int, probabilities: Any
) -> tuple[Ballots, Importance | None]:
    if not len(votes):
        raise InputError("there are no votes to hold out; quality needs votes.")
    ballots = Ballots.of(votes, n_classes)
    if not ballots.n_votes:
        raise InputError("all votes were taken back; quality needs votes that stand.")
    if probabilities is None:
        return ballots, None
    importance = Importance.read(probabilities, votes, ballots, n_items)
    return ballots, None if importance.is_uniform else importance


def _held_out(
    ballots: Ballots, n_items: int, rng: np.random.Generator, importance: Importance | None
) -> HeldOut:
    """Votes on chosen items judge in turn: what they said decided which items got more of them."""
    if importance is None:
        return hold_out(ballots, n_items, rng)
    return hold_out_in_turn(ballots, n_items, importance.of_votes)


def _whole_votes(ballots: Ballots, n_items: int) -> FloatArray:
    """(n_items, n_classes) votes that show the noise of votes.

    Soft and heavy votes, and several of one annotator on an item, do not: such items count as without votes.
    """
    whole = np.round(ballots.counts)
    plain = (np.abs(whole - ballots.counts) <= ROW_SUM).all(axis=1)
    plain &= whole.sum(axis=1) == ballots.opinions.number
    votes = np.zeros((n_items, ballots.n_classes))
    votes[ballots.voted[plain]] = whole[plain]
    return votes


def _checked_pair(p: Any, counts: Any) -> tuple[FloatArray, FloatArray]:
    try:
        table, votes = np.asarray(p, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("p and counts must be tables of numbers, items by classes.") from error
    if table.ndim != 2 or table.shape != votes.shape:
        raise InputError(
            f"p and counts must have one shape (items, n_classes), got {table.shape} and {votes.shape}."
        )
    if not np.isfinite(table).all() or (table < 0).any() or (np.abs(table.sum(axis=1) - 1) > ROW_SUM).any():
        raise InputError("the rows of p must be probabilities: not negative, summing to 1.")
    if not np.isfinite(votes).all() or (votes < 0).any() or (votes != np.round(votes)).any():
        raise InputError(
            "counts must be whole numbers of votes, 0 or more; soft votes cannot show the noise of votes."
        )
    return table, votes
