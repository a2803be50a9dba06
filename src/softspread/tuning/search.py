"""Choosing alpha, the number of neighbours and the strength of a prior from the votes themselves.

    for each graph:  walk over alphas, warm-started  ->  score of held-out votes for each strength  ->  lowest
    of the alphas that score as well, up to 1.5 standard errors of the difference:  the closest to the default

theory: [leave one out], [score]. Scales above alpha 0.95 cost far more than all others: the walk starts in
the middle and goes on, both ways, only while the score falls. Where few votes judge, a single surprising one
may decide; the rule of level scores leaves the default only where several votes agree that it is worse.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray
from softspread.errors import SoftspreadWarning
from softspread.graph.graph import Graph
from softspread.heldout.masses import ACCURACY, SAMPLE, ScaleMemory, VotedMass, voted_mass
from softspread.heldout.scores import LIKELIHOOD, SCORES, BrierScore, Judge, LogScore, standard_error
from softspread.heldout.split import ENOUGH_VOTES, hold_out
from softspread.tuning.candidates import DEFAULT_ALPHA, CandidateGraphs, SearchSpace, SpreadOptions
from softspread.tuning.result import Choice, Tuning, TuningPoint
from softspread.votes.ballots import Ballots
from softspread.votes.repeats import REPEATS, RepeatRule, repeat_advice


@dataclass(frozen=True, slots=True)
class TuningRule:
    """How the search proceeds and chooses; figures behind the numbers: docs/measurements-tuning.md."""

    fewest_votes: int = ENOUGH_VOTES  # with fewer, the defaults stay
    start: float = 0.75  # first alpha: both ways are cheap, and above 0.95 each step costs ten times the last
    level: float = 1.5  # standard errors of a paired difference: alphas worse by less count as level ...
    level_with_prior: float = 0.0  # ... but its chosen strength goes with the best alpha where one is given
    clear_rise: float = 2.0  # standard errors of a paired difference: beyond, the walk turns after one step
    patience: int = 2  # steps uphill before the walk turns
    # Largest n_voted * (rows of a local solve) / sqrt(1 - alpha), which grow near 1: a minute on two cores
    largest_work: float = 5e8
    usual_strength: float = 3.0  # a good prediction counts as a few votes: log(kappa / 3) ~ Cauchy
    repeats: RepeatRule = REPEATS  # how many second votes show the noise of votes well enough
    blind_share: float = 0.2  # of all items: where more have votes, and few a second one, we warn


RULE = TuningRule()


def choose_parameters(
    items: AnyArray | Graph,
    ballots: Ballots,
    space: SearchSpace | None = None,
    *,
    prior: FloatArray | None = None,
    score: str = "brier",
    options: SpreadOptions | None = None,
    start: float | None = None,
    memory: ScaleMemory | None = None,
    rule: TuningRule = RULE,
) -> Choice:
    """Alpha, number of neighbours and prior strength by the score of held-out votes.

    Parameters
    ----------
    items : (n, d) features, or a Graph (then ``space.neighbors`` is not used)
    space : candidates; what has one candidate stays
    prior : (n, n_classes), rows summing to 1; None = uniform
    score : "brier" or "log"
    start : where the search over alphas begins; None = as the rule says
    memory : of earlier searches, so that scales they have found are not found again
    """
    validation.choice("score", score, SCORES)
    space = SearchSpace() if space is None else space
    options = SpreadOptions() if options is None else options
    graphs = CandidateGraphs(items, space.neighbors, options)
    if ballots.n_votes < rule.fewest_votes:
        return _defaults(graphs, ballots, space, score, rule)
    judge = _judge(ballots, graphs.n_items, space.strengths, prior, score, rule)
    level = rule.level if prior is None else rule.level_with_prior
    search = _Search(judge, ballots, options, ScaleMemory() if memory is None else memory, rule)
    start = rule.start if start is None else start
    for number in sorted(graphs.numbers, key=lambda number: number != graphs.first):
        search.walk(number, graphs.build(number), space.alphas, start)
        start = search.best_key()[1]
    _warn_if_blind(ballots, graphs.n_items, rule)
    number, alpha = search.chosen_key(level)
    points, best = search.points(space.strengths, (number, alpha))
    noise = judge.vote_noise if isinstance(judge, BrierScore) else None
    words = _in_words(ballots, best, points, score, noise)
    if search.too_costly is not None:
        words += f" alpha {search.too_costly:g} and above were not tried: they would take minutes."
    tuning = Tuning(best, points, score, words, False, ballots.n_repeats, noise)
    return Choice(graphs.build(number), alpha, float(best.prior_strength or 0.0), tuning)


def _judge(
    ballots: Ballots,
    n_items: int,
    strengths: Sequence[float],
    prior: FloatArray | None,
    score: str,
    rule: TuningRule,
) -> BrierScore | LogScore:
    n_classes, penalties = ballots.n_classes, np.zeros(len(strengths))
    if prior is None:
        rows = np.full((len(ballots.voted), n_classes), 1 / n_classes)
    else:
        rows, penalties = prior[ballots.voted], _penalties(strengths, ballots.n_votes, score, rule)
    if score == "brier":
        return BrierScore(ballots, n_items, rows, strengths, penalties)
    return LogScore(hold_out(ballots, n_items), rows, strengths, penalties)


def _penalties(strengths: Sequence[float], n_votes: int, score: str, rule: TuningRule) -> FloatArray:
    """Penalty of a strength far from the usual, per vote: -log of a Cauchy density of log(strength)."""
    smallest = np.finfo(np.float64).tiny  # a strength of 0 has no logarithm
    distance = np.log(np.maximum(np.asarray(strengths, dtype=np.float64), smallest) / rule.usual_strength)
    return np.asarray(np.log1p(distance**2) / (LIKELIHOOD[score] * n_votes))


def _defaults(
    graphs: CandidateGraphs, ballots: Ballots, space: SearchSpace, score: str, rule: TuningRule
) -> Choice:
    """The defaults, where votes are too few."""
    alpha, strength, graph = space.first_alpha, space.first_strength, graphs.build(graphs.first)
    point = TuningPoint(alpha, graph.n_neighbors, strength, None, np.nan, np.nan)
    words = (
        f"defaults; {ballots.n_votes} votes are too few to choose by, at least {rule.fewest_votes} needed."
    )
    tuning = Tuning(point, (point,), score, words, False, ballots.n_repeats)
    return Choice(graph, alpha, strength, tuning)


def _in_words(
    ballots: Ballots, best: TuningPoint, points: Sequence[TuningPoint], score: str, noise: float | None
) -> str:
    lowest = min(points, key=lambda point: point.objective)
    place = "lowest"
    if best is not lowest:
        place = f"level with the lowest ({lowest.score:.4f} at alpha {lowest.alpha:g}):"
    repeated = noise is not None and ballots.n_repeated > 0  # else the noise is an assumption
    found = f" Two votes on one item differ in about {noise:.0%} of cases." if repeated else ""
    return (
        f"{place} {score} score of {ballots.n_votes} held-out votes, {best.score:.4f} (standard error "
        f"{best.standard_error:.4f}), of {len(points)} settings; no ground truth was used.{found}"
    )


def _warn_if_blind(ballots: Ballots, n_items: int, rule: TuningRule) -> None:
    """Warn where many items have votes of their own and hardly any has a second one."""
    advice = repeat_advice(ballots.n_repeated, n_items, rule.repeats)
    if advice is not None and len(ballots.voted) > rule.blind_share * n_items:
        warnings.warn(advice, SoftspreadWarning, stacklevel=4)


_Key = tuple[int, float]  # number of neighbours (0 for a given graph), alpha


class _Search:
    """Settings tried so far; every alpha is spread once per graph."""

    def __init__(
        self, judge: Judge, ballots: Ballots, options: SpreadOptions, memory: ScaleMemory, rule: TuningRule
    ) -> None:
        self.judge, self.ballots, self.options, self.memory, self.rule = judge, ballots, options, memory, rule
        self._tried: dict[_Key, int | None] = {}  # n_neighbors of the graph
        self.too_costly: float | None = None  # first alpha that would take too long

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
                if uphill >= self.rule.patience or (uphill and self._rises(key, best, self.rule.clear_rise)):
                    break

    def _affordable(self, graph: Graph, alpha: float) -> bool:
        """Whether the scales of all voted items take about a minute, judged by the work of a sample."""
        if alpha < SAMPLE.costly_alpha or self.options.scaling == "none":
            return True
        most = self.rule.largest_work * (1 - alpha) ** 0.5 / len(self.ballots.voted)
        if graph.n_items <= most:  # nor could the largest local solve take longer
            return True
        return bool(self.memory.rows_per_scale(self.options.diffusion(graph, alpha)) <= most)

    def _spread(self, number: int, graph: Graph, alpha: float, before: VotedMass | None) -> VotedMass:
        voted, weights = self.ballots.voted, self.ballots.counts
        accuracy = ACCURACY.of_scales(alpha, len(voted) / graph.n_items)
        diffusion = self.options.diffusion(graph, alpha).at(accuracy=accuracy)
        with diffusion.workers:
            rough = isinstance(self.judge, BrierScore)
            scales = self.memory.scales(diffusion, voted, before, rough=rough)
            tol = ACCURACY.of_solve(len(voted))
            held = voted_mass(diffusion, voted, weights, scales=scales, tol=tol, before=before)
        self.judge.add((number, alpha), held)
        self._tried[number, alpha] = graph.n_neighbors
        return held

    def _objective(self, key: _Key) -> float:
        return self.judge.scored(key).objective

    def _rises(self, key: _Key, best: _Key, errors: float) -> bool:
        """Whether a setting is worse than the best by more than this many standard errors, item by item."""
        difference = self.judge.scored(key).parts - self.judge.scored(best).parts
        rise = self._objective(key) - self._objective(best)
        return rise > errors * standard_error(self.judge.weights, difference)

    def best_key(self) -> _Key:
        """The graph and alpha with the lowest score so far."""
        return min(self._tried, key=self._objective)

    def chosen_key(self, level: float) -> _Key:
        """Of the alphas level with the best on its graph, the closest to the default (in log(1 - alpha))."""
        best = self.best_key()
        mine = [key for key in self._tried if key[0] == best[0] and not self._rises(key, best, level)]
        return min(mine, key=lambda key: abs(np.log((1 - key[1]) / (1 - DEFAULT_ALPHA))))

    def points(self, strengths: Sequence[float], chosen: _Key) -> tuple[tuple[TuningPoint, ...], TuningPoint]:
        """All settings, and the best of those at the chosen graph and alpha."""
        found = {
            key: [
                TuningPoint(key[1], n_neighbors, kappa, None, float(mean), float(error), float(penalty))
                for kappa, mean, error, penalty in zip(strengths, *self.judge.scored(key).table, strict=True)
            ]
            for key, n_neighbors in self._tried.items()
        }
        best = min(found[chosen], key=lambda point: point.objective)
        return tuple(point for points in found.values() for point in points), best
