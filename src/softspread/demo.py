"""The demo: what a few votes are worth on scikit-learn's digits, against the baselines, with known truth.

    digits  ->  pixels, simulated p_true  ->  PCA, graph  ->  votes  ->  RMSE of each method at each budget
    ->  page

Everything is computed here and nothing is printed; the command line prints, and `demo_page` makes the HTML.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from softspread import report
from softspread._common import validation
from softspread._common.progress import Advance
from softspread._common.types import AnyArray, FloatArray
from softspread._common.versions import versions
from softspread.datasets import digits
from softspread.estimators.baselines import GaussianKernelRegression, KNeighborsVotes, VoteHistogram
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.metrics import rmse
from softspread.report.layout import LayoutRule, lay_out
from softspread.simulate import N_TREES, draw_votes
from softspread.votes.votes import Votes

SPREADING = "Spreading"
CHOSEN = "alpha from the votes"  # the setting chosen from held-out votes, without the truth


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """What the demo runs; on the digits, the best setting of each baseline lies inside its range."""

    budgets: tuple[float, ...] = (0.01, 0.1, 1.0)  # votes as a share of the items
    alphas: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
    n_neighbors: int = 20
    gammas: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    neighbor_counts: tuple[int, ...] = (2, 5, 10, 20, 40)
    shown_budget: int = 1  # the maps open with the middle budget
    n_items: int | None = None  # of the digits; None = all
    n_trees: int = N_TREES  # whose class probabilities are the truth
    layout: LayoutRule = field(default_factory=LayoutRule)  # of the map

    def methods(self) -> list[tuple[str, str, Callable[[], Any]]]:
        """Method, setting, and how to make its estimator."""
        pls = ProbabilisticLabelSpreading
        spreading = [(SPREADING, f"alpha {alpha:g}", partial(pls, alpha=alpha)) for alpha in self.alphas]
        kernels = [
            ("Gaussian kernel", f"gamma {gamma:g}", partial(GaussianKernelRegression, gamma=gamma))
            for gamma in self.gammas
        ]
        nearest = [
            ("Nearest votes", f"k {k}", partial(KNeighborsVotes, n_neighbors=k)) for k in self.neighbor_counts
        ]
        return [
            *spreading,
            (SPREADING, CHOSEN, partial(pls, alpha="auto")),
            ("Own votes only", "", VoteHistogram),
            *kernels,
            *nearest,
        ]

    def n_steps(self, n_draws: int) -> int:
        """How often :func:`run_demo` reports progress."""
        return 1 + n_draws * len(self.budgets)


@dataclass(frozen=True, slots=True, eq=False)
class DemoData:
    """Items with everything that does not depend on the votes."""

    images: AnyArray  # (n, 8, 8) bytes
    digits: AnyArray  # (n,) the true digit
    embedding: FloatArray  # (n, 20)
    p_true: FloatArray  # (n, 10)
    graph: Graph
    positions: FloatArray  # (n, 2) for the eye only; no method sees them
    truth: str  # where p_true comes from


@dataclass(frozen=True, slots=True)
class Score:
    """One method at one budget: its RMSE in every draw."""

    method: str
    setting: str
    budget: float
    n_votes: int
    rmse: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean RMSE over the draws."""
        return float(np.mean(self.rmse))

    @property
    def std(self) -> float | None:
        """Sample standard deviation over the draws; None for a single draw."""
        return float(np.std(self.rmse, ddof=1)) if len(self.rmse) > 1 else None

    @property
    def name(self) -> str:
        """Method and setting."""
        return f"{self.method} ({self.setting})" if self.setting else self.method


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the result: a method at all budgets; a baseline has its best setting at each."""

    title: str
    spreads: bool
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Spreading against the best baseline at one budget."""

    spreading: Score  # the best alpha of those tried
    baseline: Score  # the best baseline with its best setting
    chosen: Score  # spreading with alpha chosen from the votes alone

    @property
    def spreading_wins(self) -> bool:
        """Whether spreading has the lower mean over the draws."""
        return self.spreading.mean < self.baseline.mean

    @property
    def winner(self) -> Score:
        """The score with the lower mean."""
        return self.spreading if self.spreading_wins else self.baseline

    @property
    def loser(self) -> Score:
        """The score with the higher mean."""
        return self.baseline if self.spreading_wins else self.spreading

    @property
    def margin(self) -> float:
        """By which share the winner's RMSE is lower."""
        return 1 - self.winner.mean / self.loser.mean if self.loser.mean > 0 else 0.0

    @property
    def draws_ahead(self) -> int:
        """In how many draws the winner's RMSE is the lower one."""
        return sum(won < lost for won, lost in zip(self.winner.rmse, self.loser.rmse, strict=True))

    @property
    def chosen_change(self) -> float:
        """RMSE with the chosen alpha against the best baseline's: -0.1 is a tenth lower."""
        return self.chosen.mean / self.baseline.mean - 1 if self.baseline.mean > 0 else 0.0

    def sentence(self) -> str:
        """The verdict in words."""
        won, lost = self.winner, self.loser
        return (
            f"{won.n_votes} votes ({won.budget:.0%} of the items): {won.name} wins, RMSE {won.mean:.4f}, "
            f"{self.margin:.0%} below {lost.name} at {lost.mean:.4f}; ahead in {self.draws_ahead} of "
            f"{len(won.rmse)} "
            f"draws. Spreading with alpha chosen from the votes alone is {abs(self.chosen_change):.0%} "
            f"{'below' if self.chosen_change < 0 else 'above'} the best baseline."
        )


@dataclass(frozen=True, slots=True, eq=False)
class DemoResult:
    """What the demo found."""

    seed: int
    n_draws: int
    data: DemoData
    rows: tuple[Row, ...]
    views: tuple[report.View, ...]  # the chosen alpha after the first draw's votes, one per budget
    plan: DemoPlan

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict per budget."""
        return tuple(self._verdict(column) for column in range(len(self.plan.budgets)))

    def _verdict(self, column: int) -> Verdict:
        spreading = [row.scores[column] for row in self.rows if row.spreads]
        baselines = [row.scores[column] for row in self.rows if not row.spreads]
        chosen = next(score for score in spreading if score.setting == CHOSEN)
        return Verdict(_lowest(spreading), _lowest(baselines), chosen)


# -------------------------------------------------------------------------------------------------- computing
def run_demo(
    seed: int = 0,
    n_draws: int = 5,
    advance: Advance = lambda steps: None,
    plan: DemoPlan | None = None,
) -> DemoResult:
    """Score spreading and the baselines on votes drawn from known soft labels.

    Parameters
    ----------
    seed : fixes soft labels, votes and the map; further draws leave the earlier ones as they are
    n_draws : independent sets of votes
    advance : called with 1 after each of ``plan.n_steps(n_draws)`` steps
    plan : budgets, methods and their settings
    """
    validation.count("seed", seed)
    validation.count("draws", n_draws, smallest=1)
    data_seed, *draw_seeds = np.random.SeedSequence(seed).spawn(1 + n_draws)
    plan = DemoPlan() if plan is None else plan
    data = load_data(np.random.default_rng(data_seed), plan)
    advance(1)
    n = len(data.digits)
    budgets = [(share, max(1, round(share * n))) for share in plan.budgets]
    found: dict[tuple[str, str, float], list[float]] = {}
    views: list[report.View] = []
    # One estimator per alpha takes in each draw's votes as they come and gives them back: scales are found
    # only once.
    nothing = draw_votes(data.p_true, 0, 0)
    spreaders = {
        name: make().fit(data.graph, nothing)
        for _, name, make in plan.methods()
        if name.startswith("alpha ") and name != CHOSEN
    }
    for number, draw_seed in enumerate(draw_seeds):
        votes = draw_votes(data.p_true, budgets[-1][1], np.random.default_rng(draw_seed))
        for (share, n_votes), n_before in zip(budgets, [0] + [m for _, m in budgets], strict=False):
            first, new = _part(votes, 0, n_votes), _part(votes, n_before, n_votes)
            for method, setting, make in plan.methods():
                if setting in spreaders:
                    estimator = spreaders[setting].update(new.items, new.labels).refine()
                else:
                    estimator = make().fit(data.graph if method == SPREADING else data.embedding, first)
                p = estimator.predict_proba()
                found.setdefault((method, setting, share), []).append(rmse(data.p_true, p))
                if number == 0 and setting == CHOSEN:
                    own = np.bincount(first.items, minlength=n)
                    name = f"{n_votes} votes ({share:.0%}), alpha {estimator.alpha_:g}"
                    views.append(report.View(name, p, estimator.evidence_, own))
            advance(1)
        for spreader in spreaders.values():
            spreader.undo(votes.items, votes.labels)
    return DemoResult(seed, n_draws, data, _rows(found, budgets, plan), tuple(views), plan)


def load_data(rng: np.random.Generator, plan: DemoPlan) -> DemoData:
    """The digits with simulated soft labels, and what the demo adds to them: a graph and a map."""
    found = digits.digits(random_state=rng, n_items=plan.n_items, n_trees=plan.n_trees)
    embedding = np.asarray(found.X)
    graph = knn_graph(embedding, plan.n_neighbors)
    positions = lay_out(graph, embedding[:, :2], rng, plan.layout)
    return DemoData(
        np.asarray(found.images),
        np.asarray(found.labels),
        embedding,
        np.asarray(found.p_true),
        graph,
        positions,
        found.note,
    )


def _part(votes: Votes, start: int, stop: int) -> Votes:
    chosen = slice(start, stop)
    return Votes(votes.items[chosen], votes.labels[chosen], votes.weights[chosen], classes=votes.classes)


def _rows(
    found: Mapping[tuple[str, str, float], Sequence[float]],
    budgets: Sequence[tuple[float, int]],
    plan: DemoPlan,
) -> tuple[Row, ...]:
    def at(method: str, setting: str) -> list[Score]:
        return [
            Score(method, setting, share, m, tuple(found[method, setting, share])) for share, m in budgets
        ]

    methods = [(method, setting) for method, setting, _ in plan.methods()]
    rows = [Row(f"{m}, {s}", True, tuple(at(m, s))) for m, s in methods if m == SPREADING]
    for title in dict.fromkeys(m for m, _ in methods if m != SPREADING):
        tried = [at(m, s) for m, s in methods if m == title]
        best = tuple(_lowest([scores[column] for scores in tried]) for column in range(len(budgets)))
        rows.append(Row(title if len(tried) == 1 else f"{title}, best of {len(tried)}", False, best))
    return tuple(rows)


def _lowest(scores: Sequence[Score]) -> Score:
    return min(scores, key=lambda score: score.mean)


# ------------------------------------------------------------------------------------------------- presenting
def to_json(result: DemoResult) -> dict[str, Any]:
    """All figures as plain values; the same seed gives the same."""
    return {
        "command": "demo",
        "seed": result.seed,
        "draws": result.n_draws,
        "n_items": len(result.data.digits),
        "parameters": _parameters(result.plan),
        "versions": versions(),
        "results": [
            {
                "row": row.title,
                "method": score.method,
                "setting": score.setting,
                "budget": score.budget,
                "n_votes": score.n_votes,
                "rmse_mean": score.mean,
                "rmse_std": score.std,
                "rmse": list(score.rmse),
            }
            for row in result.rows
            for score in row.scores
        ],
        "verdicts": [
            {
                "budget": verdict.winner.budget,
                "n_votes": verdict.winner.n_votes,
                "winner": verdict.winner.name,
                "rival": verdict.loser.name,
                "spreading_wins": verdict.spreading_wins,
                "margin": verdict.margin,
                "draws_ahead": verdict.draws_ahead,
                "chosen_change": verdict.chosen_change,
                "text": verdict.sentence(),
            }
            for verdict in result.verdicts
        ],
    }


def _parameters(plan: DemoPlan) -> dict[str, Any]:
    names = ("alphas", "gammas", "neighbor_counts", "budgets")
    single = {"n_components": digits.DIGITS_DIMENSION, "n_neighbors": plan.n_neighbors}
    return single | {name: list(getattr(plan, name)) for name in names}


def demo_page(result: DemoResult, seconds: float, command: str) -> str:
    """The report: what wins, the maps, the table, the evidence, and how to get it again."""
    n = len(result.data.digits)
    draws = f"{result.n_draws} draw{'s' if result.n_draws > 1 else ''}"
    return report.page(
        "softspread demo",
        report.heading(
            "What are a few votes worth?",
            f"{n} handwritten digits, each vote one simulated annotator's answer for one of them. Soft "
            "labels for all "
            "items are estimated from the votes and compared with the truth that the votes were drawn from.",
        ),
        report.cards([_card(verdict) for verdict in result.verdicts]),
        report.section(
            "Where the votes went, and how far they reached",
            report.item_map(_map(result)),
            note="One draw of votes, spread with the alpha that the votes themselves ask for. Items that "
            "lie together are neighbours in the graph; large numbers stand in the middle of each digit. "
            "Point at an item to see its soft label and the truth.",
        ),
        report.section(
            "Error of the soft labels",
            report.table(_header(result), _table_rows(result)),
            report.bullets([verdict.sentence() for verdict in result.verdicts]),
            note=f"RMSE over all items and classes, mean ± standard deviation over {draws}; lower is better, "
            "★ marks the lowest. Baselines stand with the setting that turned out best at each budget, "
            "which nobody knows in advance; so does spreading where it is said to win with one alpha of "
            "several.",
        ),
        report.section(
            "Evidence per item",
            report.histograms(
                {view.name: view.evidence for view in result.views}, "votes' worth of evidence"
            ),
            note="How many items (height) have received how much (logarithmic), same draw. Few votes must "
            "travel far to reach every item, many need not, so evidence is comparable within one budget "
            "only. Little evidence means a soft label to check first.",
        ),
        report.section("What was run", report.facts(_facts(result, seconds)), report.code(command)),
        footer="Votes spread as in arXiv:2602.04574. This file is complete in itself and loads nothing.",
    )


def _card(verdict: Verdict) -> report.Card:
    ours, theirs = verdict.spreading, verdict.baseline
    change = ours.mean / theirs.mean - 1
    return report.Card(
        f"{ours.n_votes} votes, {ours.budget:.0%} of the items",
        f"{abs(change):.0%} {'lower' if change < 0 else 'higher'} error",
        f"{ours.name} against the best baseline, {theirs.name}: RMSE {ours.mean:.3f} to {theirs.mean:.3f}; "
        f"{'spreading' if verdict.spreading_wins else 'the baseline'} is ahead in {verdict.draws_ahead} of "
        f"{len(ours.rmse)} draws.",
        good=verdict.spreading_wins,
    )


def _map(result: DemoResult) -> report.ItemMap:
    data = result.data
    classes = np.unique(data.digits).tolist()
    middles = {str(c): tuple(np.median(data.positions[data.digits == c], axis=0).tolist()) for c in classes}
    return report.ItemMap(
        data.positions, classes, result.views, result.plan.shown_budget, data.p_true, data.images, middles
    )


def _header(result: DemoResult) -> list[str]:
    return ["Method", *(f"{score.n_votes} votes ({score.budget:.0%})" for score in result.rows[0].scores)]


def _table_rows(result: DemoResult) -> list[list[report.Cell]]:
    lowest = [verdict.winner for verdict in result.verdicts]
    return [
        [report.Cell(row.title)]
        + [
            report.Cell(score_text(score), "" if row.spreads else score.setting, score is best)
            for score, best in zip(row.scores, lowest, strict=True)
        ]
        for row in result.rows
    ]


def score_text(score: Score, digits: int = 4) -> str:
    """Write mean and spread."""
    return f"{score.mean:.{digits}f}" + ("" if score.std is None else f" ± {score.std:.{digits}f}")


def _facts(result: DemoResult, seconds: float) -> dict[str, Any]:
    data = result.data
    return {
        "Items": f"scikit-learn's digits, {len(data.digits)} images of 8 x 8 pixels",
        "Embedding": f"PCA of the pixels to {digits.DIGITS_DIMENSION} dimensions",
        "Truth": data.truth,
        "Votes": "item uniform with replacement, class from its true soft label; smaller budgets are the "
        "first votes",
        "Graph": f"{result.plan.n_neighbors} nearest neighbours, in {data.graph.n_components} component(s)",
        "Spreading": "alpha "
        + ", ".join(f"{alpha:g}" for alpha in result.plan.alphas)
        + ", and the one with the best leave-one-vote-out score",
        "Gaussian kernel": "gamma " + ", ".join(f"{gamma:g}" for gamma in result.plan.gammas),
        "Nearest votes": "k " + ", ".join(map(str, result.plan.neighbor_counts)),
        "Draws": result.n_draws,
        "Seed": result.seed,
        "Time": f"{seconds:.1f} s",
        "Versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
    }
