"""Choosing alpha, the number of neighbours and the strength of a prior from the votes themselves.

    for each graph:  walk over alphas, warm-started  ->  score of held-out votes for each strength  ->  the
    lowest
    of the alphas that score as well, up to 1.5 standard errors of the difference:  the one closest to the
    default

theory: [leave one out], [score]. Scales above alpha 0.95 cost far more than all others: the walk starts in
the middle and goes on, both ways, only while the score falls. Where few votes judge, one that surprises may
decide; the rule of level scores leaves the default only where several votes agree that it is worse.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError, SoftspreadWarning
from softspread.graph.graph import Graph
from softspread.heldout.masses import (
    COSTLY_ALPHA,
    LARGEST_DELTA,
    NOISE_SHARE,
    SMALLEST_DELTA,
    Mass,
    ScaleMemory,
    spread_votes,
)
from softspread.heldout.scores import LIKELIHOOD, SCORES, BrierScore, Judge, LogScore, standard_error
from softspread.heldout.split import ENOUGH_VOTES, OwnVotes, hold_out, own_votes
from softspread.tuning.candidates import DEFAULT_NEIGHBORS, Graphs, Spreading
from softspread.tuning.result import Choice, Tuning, TuningPoint
from softspread.votes.table import VoteTable

ALPHAS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
START_ALPHA = (
    0.75  # the search starts here: both ways are cheap, and above 0.95 each step costs ten times the last
)
NEIGHBORS = (10, 20, 40)
STRENGTHS = (
    1e-4,
    1e-3,
    1e-2,
    0.03,
    0.1,
    0.3,
    1.0,
)  # without a prior: 1e-4 only breaks ties, 1 smooths strongly
PRIOR_STRENGTHS = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)
USUAL_STRENGTH = (
    3.0  # a prediction worth having counts as a few votes: log(kappa / 3) ~ Cauchy, which votes outweigh
)
DEFAULT_ALPHA, DEFAULT_STRENGTH = 0.9, 1e-4  # where votes are too few to choose anything
FIRM_REPEATS = 40  # so many second votes tell the noise of votes well enough, see docs/tuning.md
BLIND_SHARE = 0.2  # of all items: where more have votes of their own, and few a second one, we warn
LEVEL_ERRORS = (
    1.5  # standard errors of a paired difference: alphas that score worse by less count as level ...
)
LEVEL_WITH_PRIOR = (
    0.0  # ... but not where a prior is given: its strength is chosen too, and goes with the best alpha
)
CLEAR_RISE = 2.0  # standard errors of a paired difference: beyond, the search turns back after one step
PATIENCE = 2  # steps uphill before the search turns back
LARGEST_WORK = 5e8  # rows of local solves / sqrt(1 - alpha), which grow near 1: about a minute on two cores
ALMOST_ONE = 1e-6  # smallest 1 - alpha in an estimate of evidence


def alpha_candidates(alpha: float | str) -> Sequence[float]:
    """What an estimator's ``alpha`` allows: itself, or for "auto" the grid."""
    if isinstance(alpha, str) and alpha != "auto":
        raise InputError(f"alpha must be at least 0 and below 1, or 'auto', got {alpha!r}.")
    return ALPHAS if isinstance(alpha, str) else (validation.alpha(alpha),)


def neighbor_candidates(n_neighbors: int | str | Sequence[int]) -> Sequence[int]:
    """What an estimator's ``n_neighbors`` allows: itself, several, or for "auto" 10, 20 and 40."""
    if isinstance(n_neighbors, str):
        validation.choice("n_neighbors", n_neighbors, ("auto",), "or a whole number")
        return NEIGHBORS
    several = [n_neighbors] if np.ndim(n_neighbors) == 0 else some_of("n_neighbors", n_neighbors)
    return [validation.count("n_neighbors", number, smallest=1) for number in several]


def strength_candidates(prior_strength: float | str, has_prior: bool) -> Sequence[float]:
    """What an estimator's ``prior_strength`` allows: itself, or for "auto" a grid, longer where a prior is
    given.
    """
    if isinstance(prior_strength, str):
        validation.choice("prior_strength", prior_strength, ("auto",), "or a number, 0 or above")
        return PRIOR_STRENGTHS if has_prior else STRENGTHS
    return (validation.not_negative("prior_strength", prior_strength),)


def some_of(name: str, values: Any) -> list[Any]:
    """A list of candidates that is not empty."""
    listed = list(np.atleast_1d(values).tolist()) if not isinstance(values, str) else []
    if not listed:
        raise InputError(f"{name} must list at least one candidate, got {values!r}.")
    return listed


def choose_parameters(
    items: AnyArray | Graph,
    votes: VoteTable,
    n_classes: int,
    *,
    alphas: Sequence[float] = ALPHAS,
    neighbors: Sequence[int] = (DEFAULT_NEIGHBORS,),
    prior: FloatArray | None = None,
    strengths: Sequence[float] = (DEFAULT_STRENGTH,),
    score: str = "brier",
    how: Spreading | None = None,
    groups: IntArray | None = None,
    fewest_votes: int = ENOUGH_VOTES,
    start: float = START_ALPHA,
    memory: ScaleMemory | None = None,
) -> Choice:
    """Alpha, number of neighbours and prior strength by the score of held-out votes; what has one candidate
    stays.

    Parameters
    ----------
    items : (n, d) features, or a Graph (then ``neighbors`` is not used)
    votes : in the user's numbering
    prior : (n, n_classes), rows summing to 1, in the user's numbering; None = uniform
    score : "brier" or "log"
    groups : (m,) votes with the same number are one soft vote, see :func:`~softspread.heldout.split.hold_out`
    fewest_votes : with fewer, nothing is chosen: the default stays, or the first candidate where it is not
    among them
    start : where the search over alphas begins
    memory : of earlier searches, so that scales they have found are not found again
    """
    validation.choice("score", score, SCORES)
    how = Spreading() if how is None else how
    graphs = Graphs(items, neighbors, how)
    own = own_votes(votes, n_classes, groups)
    if own.n_votes < fewest_votes:
        return _defaults(graphs, own, alphas, strengths, score, fewest_votes)
    rows_of_prior = np.full((len(own.voted), n_classes), 1 / n_classes) if prior is None else prior[own.voted]
    penalties = np.zeros(len(strengths)) if prior is None else _unusual(strengths, own, score)
    judge: BrierScore | LogScore
    if score == "brier":
        judge = BrierScore(own, graphs.n_items, rows_of_prior, strengths, penalties)
    else:
        held = hold_out(votes, graphs.n_items, n_classes, groups=groups)
        judge = LogScore(held, rows_of_prior, strengths, penalties)
    level = LEVEL_ERRORS if prior is None else LEVEL_WITH_PRIOR
    search = _Search(judge, own, penalties, how, ScaleMemory() if memory is None else memory, level)
    for number in sorted(graphs.numbers, key=lambda number: number != graphs.first):
        search.walk(number, graphs.build(number), alphas, start)
        start = search.best_key()[1]
    _warn_if_blind(own, graphs.n_items)
    number, alpha = search.chosen_key()
    points, best = search.points(strengths)
    noise = judge.vote_noise if isinstance(judge, BrierScore) else None
    words = _in_words(own, best, points, score, noise)
    if search.too_costly is not None:
        words += f" alpha {search.too_costly:g} and above were not tried: they would take minutes."
    tuning = Tuning(best, points, score, words, used_truth=False, n_repeats=own.n_repeats, vote_noise=noise)
    return Choice(graphs.build(number), alpha, float(best.prior_strength or 0.0), tuning)


def _defaults(
    graphs: Graphs,
    own: OwnVotes,
    alphas: Sequence[float],
    strengths: Sequence[float],
    score: str,
    fewest: int,
) -> Choice:
    """What stands where votes are too few."""
    alpha = DEFAULT_ALPHA if DEFAULT_ALPHA in alphas else alphas[0]
    strength = DEFAULT_STRENGTH if DEFAULT_STRENGTH in strengths else strengths[0]
    graph = graphs.build(graphs.first)
    point = TuningPoint(alpha, graph.n_neighbors, strength, None, np.nan, np.nan)
    words = f"defaults; {own.n_votes} votes are too few to choose by, at least {fewest} are needed."
    tuning = Tuning(point, (point,), score, words, used_truth=False, n_repeats=own.n_repeats)
    return Choice(graph, alpha, strength, tuning)


def _unusual(strengths: Sequence[float], own: OwnVotes, score: str) -> FloatArray:
    """What a strength far from the usual costs, per vote: -log of a Cauchy density of log(strength)."""
    smallest = np.finfo(np.float64).tiny  # a strength of 0 has no logarithm
    distance = np.log(np.maximum(np.asarray(strengths, dtype=np.float64), smallest) / USUAL_STRENGTH)
    return np.asarray(np.log1p(distance**2) / (LIKELIHOOD[score] * own.n_votes))


def _in_words(
    own: OwnVotes, best: TuningPoint, points: Sequence[TuningPoint], score: str, noise: float | None
) -> str:
    lowest = min(points, key=lambda point: point.objective)
    place = (
        "lowest"
        if best is lowest
        else f"level with the lowest ({lowest.score:.4f} at alpha {lowest.alpha:g}):"
    )
    found = "" if noise is None else f" Two votes on one item differ in about {noise:.0%} of cases."
    return (
        f"{place} {score} score of {own.n_votes} held-out votes, {best.score:.4f} (standard error "
        f"{best.standard_error:.4f}), of {len(points)} settings; no ground truth was used.{found}"
    )


def _warn_if_blind(own: OwnVotes, n_items: int) -> None:
    """Many items with votes of their own, and next to nothing that tells how much such a vote is worth."""
    share = len(own.voted) / n_items
    if share > BLIND_SHARE and own.n_repeats < FIRM_REPEATS:
        warnings.warn(
            f"{share:.0%} of the items have votes of their own, but only {own.n_repeats} votes are second "
            "votes on an "
            "item: how far one vote can be trusted is largely a guess, and with it alpha. Collect about "
            f"{FIRM_REPEATS} second votes, or set alpha yourself.",
            SoftspreadWarning,
            stacklevel=4,
        )


_Key = tuple[int, float]  # number of neighbours (0 for a given graph), alpha


class _Search:
    """Settings tried so far; every alpha is spread once per graph."""

    def __init__(
        self,
        judge: Judge,
        own: OwnVotes,
        penalties: FloatArray,
        how: Spreading,
        memory: ScaleMemory,
        level_errors: float = LEVEL_ERRORS,
    ) -> None:
        self.judge, self.own, self.penalties, self.how, self.memory = judge, own, penalties, how, memory
        self._level_errors = level_errors
        self._tried: dict[_Key, int | None] = {}  # n_neighbors of the graph
        self.too_costly: float | None = (
            None  # the alpha that was not tried because a fit with it would take too long
        )

    def walk(self, number: int, graph: Graph, alphas: Sequence[float], start: float) -> None:
        """Evaluate alphas from the start outwards, each way until the score has turned."""
        ordered = sorted(set(alphas))
        first = min(range(len(ordered)), key=lambda place: abs(ordered[place] - start))
        middle = self._spread(number, graph, ordered[first], None)
        mine = [(number, ordered[first])]
        for way in (ordered[first + 1 :], ordered[:first][::-1]):
            uphill, last = 0, middle
            for alpha in way:
                if not self._affordable(graph, alpha):
                    self.too_costly = alpha
                    break
                last, key = self._spread(number, graph, alpha, last), (number, alpha)
                best = min(mine, key=self._objective)
                mine.append(key)
                uphill = uphill + 1 if self._objective(key) >= self._objective(best) else 0
                if uphill >= PATIENCE or (uphill and self._rises(key, best, CLEAR_RISE)):
                    break

    def _affordable(self, graph: Graph, alpha: float) -> bool:
        """Whether the scales of all voted items could be found in about a minute, judged by the work of a
        sample.
        """
        if alpha < COSTLY_ALPHA or self.how.scaling == "none":
            return True
        work = self.memory.rows_per_scale(self.how.diffusion(graph, alpha))
        return bool(len(self.own.voted) * work <= LARGEST_WORK * (1 - alpha) ** 0.5)

    def _spread(self, number: int, graph: Graph, alpha: float, before: Mass | None) -> Mass:
        own = self.own
        from_others = len(own.voted) / graph.n_items * alpha / max(1 - alpha, ALMOST_ONE)
        accuracy = min(LARGEST_DELTA, max(SMALLEST_DELTA, NOISE_SHARE * from_others))
        diffusion = self.how.diffusion(graph, alpha).at(accuracy=accuracy)
        with diffusion.workers:
            spread = spread_votes(diffusion, own.voted, own.weight, before, self.memory)
        self.judge.add((number, alpha), spread)
        self._tried[number, alpha] = graph.n_neighbors
        return spread

    def _objective(self, key: _Key) -> float:
        scored = self.judge.scored(key)
        return float((scored.means + self.penalties)[scored.best])

    def _rises(self, key: _Key, best: _Key, errors: float) -> bool:
        """Whether a setting is worse than the best by more than so many standard errors, item by item."""
        difference = self.judge.scored(key).parts - self.judge.scored(best).parts
        rise = self._objective(key) - self._objective(best)
        return rise > errors * standard_error(self.judge.weights, difference)

    def best_key(self) -> _Key:
        """The graph and alpha with the lowest score so far."""
        return min(self._tried, key=self._objective)

    def chosen_key(self) -> _Key:
        """Of the alphas level with the best on its graph, the one closest to the default (in log(1 -
        alpha)).
        """
        best = self.best_key()
        level = [
            key for key in self._tried if key[0] == best[0] and not self._rises(key, best, self._level_errors)
        ]
        return min(level, key=lambda key: abs(np.log((1 - key[1]) / (1 - DEFAULT_ALPHA))))

    def points(self, strengths: Sequence[float]) -> tuple[tuple[TuningPoint, ...], TuningPoint]:
        """All settings, and the chosen one."""
        points, mine, chosen = [], [], self.chosen_key()
        for key, n_neighbors in self._tried.items():
            scored, alpha = self.judge.scored(key), key[1]
            numbers = zip(strengths, scored.means, scored.errors, self.penalties, strict=True)
            here = [
                TuningPoint(alpha, n_neighbors, kappa, None, float(mean), float(error), float(penalty))
                for kappa, mean, error, penalty in numbers
            ]
            points += here
            if key == chosen:
                mine = here
        return tuple(points), min(mine, key=lambda point: point.objective)
