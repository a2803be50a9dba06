"""The demo: what a few votes are worth on scikit-learn's digits, against the baselines, with known truth.

    digits  ->  pixels, simulated p_true  ->  PCA, graph  ->  votes
            ->  RMSE of each method at each budget  ->  page

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
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.metrics import rmse
from softspread.report.layout import LayoutRule, lay_out
from softspread.simulate import N_TREES, draw_votes
from softspread.votes.votes import Votes

OURS, PAPER = "SoftLabeler", "Spreading alone"
FOOTER = (
    "Spreading alone is the method of arXiv:2602.04574; SoftLabeler builds on it. This file is complete in "
    "itself and loads nothing."
)


@dataclass(frozen=True, slots=True)
class DemoPlan:
    """Settings of the demo; on the digits, the best setting of each baseline lies inside its range."""

    budgets: tuple[float, ...] = (0.01, 0.1, 1.0)  # votes as a share of the items
    n_neighbors: int = 20
    gammas: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    neighbor_counts: tuple[int, ...] = (2, 5, 10, 20, 40)
    shown_budget: int = 1  # the maps open with the middle budget
    n_items: int | None = None  # of the digits; None = all
    n_trees: int = N_TREES  # whose class probabilities are the truth
    layout: LayoutRule = field(default_factory=LayoutRule)  # of the map

    def methods(self) -> list[tuple[str, str, Callable[[], Any]]]:
        """Method, setting, and how to make its estimator; the first two choose all by themselves."""
        kernels = [
            ("Gaussian kernel", f"gamma {gamma:g}", partial(GaussianKernelRegression, gamma=gamma))
            for gamma in self.gammas
        ]
        nearest = [
            ("Nearest votes", f"k {k}", partial(KNeighborsVotes, n_neighbors=k)) for k in self.neighbor_counts
        ]
        return [
            (OURS, "", SoftLabeler),
            (PAPER, "", ProbabilisticLabelSpreading),
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
    is_baseline: bool
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The error at one budget, against the best baseline in hindsight and the paper's own method."""

    ours: Score
    paper: Score
    baseline: Score  # the best baseline with its best setting

    @property
    def better(self) -> bool:
        """Whether SoftLabeler has a lower mean than the best baseline."""
        return self.ours.mean < self.baseline.mean

    @property
    def lowest(self) -> Score:
        """The lowest mean of all methods."""
        return _lowest([self.ours, self.paper, self.baseline])

    @property
    def change(self) -> float:
        """RMSE of SoftLabeler against the best baseline's: -0.1 is a tenth lower."""
        return self.ours.mean / self.baseline.mean - 1 if self.baseline.mean > 0 else 0.0

    @property
    def draws_ahead(self) -> int:
        """In how many draws SoftLabeler has the lower RMSE."""
        return sum(ours < theirs for ours, theirs in zip(self.ours.rmse, self.baseline.rmse, strict=True))

    def sentence(self) -> str:
        """The verdict in words."""
        ours, theirs = self.ours, self.baseline
        but = ", which is lower" if self.paper.mean < ours.mean else ""
        return (
            f"{ours.n_votes} votes ({ours.budget:.0%} of the items): {ours.name} has RMSE {ours.mean:.4f}, "
            f"{abs(self.change):.0%} {'below' if self.better else 'above'} the best baseline, {theirs.name}, "
            f"at {theirs.mean:.4f}; lower in {self.draws_ahead} of {len(ours.rmse)} draws. Spreading "
            f"alone, the paper's own method, has {self.paper.mean:.4f}{but}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class DemoResult:
    """Results of the demo."""

    seed: int
    n_draws: int
    data: DemoData
    rows: tuple[Row, ...]
    views: tuple[report.View, ...]  # what SoftLabeler says after the first draw's votes, one per budget
    plan: DemoPlan

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict per budget."""
        return tuple(self._verdict(column) for column in range(len(self.plan.budgets)))

    def _verdict(self, column: int) -> Verdict:
        ours, paper = self.rows[0].scores[column], self.rows[1].scores[column]
        return Verdict(ours, paper, _lowest([row.scores[column] for row in self.rows if row.is_baseline]))


# -------------------------------------------------------------------------------------------------- computing
def run_demo(
    seed: int = 0,
    n_draws: int = 5,
    advance: Advance = lambda steps: None,
    plan: DemoPlan | None = None,
) -> DemoResult:
    """Score SoftLabeler, the paper's own method and the baselines on votes drawn from known soft labels.

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
    for number, draw_seed in enumerate(draw_seeds):
        votes = draw_votes(data.p_true, budgets[-1][1], np.random.default_rng(draw_seed))
        for share, n_votes in budgets:
            first = _first(votes, n_votes)
            for method, setting, make in plan.methods():
                estimator = make().fit(data.graph if method in (OURS, PAPER) else data.embedding, first)
                p = estimator.predict_proba()
                found.setdefault((method, setting, share), []).append(rmse(data.p_true, p))
                if number == 0 and method == OURS:
                    own = np.bincount(first.items, minlength=n)
                    name = f"{n_votes} votes ({share:.0%})"
                    views.append(report.View(name, p, estimator.evidence_, own))
            advance(1)
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


def _first(votes: Votes, number: int) -> Votes:
    chosen = slice(number)
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
    rows = []
    for title in dict.fromkeys(method for method, _ in methods):
        tried = [at(m, s) for m, s in methods if m == title]
        best = tuple(_lowest([scores[column] for scores in tried]) for column in range(len(budgets)))
        shown = title if len(tried) == 1 else f"{title}, best of {len(tried)}"
        rows.append(Row(shown, title not in (OURS, PAPER), best))
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
                "budget": verdict.ours.budget,
                "n_votes": verdict.ours.n_votes,
                "baseline": verdict.baseline.name,
                "better": verdict.better,
                "change": verdict.change,
                "draws_ahead": verdict.draws_ahead,
                "lowest": verdict.lowest.name,
                "text": verdict.sentence(),
            }
            for verdict in result.verdicts
        ],
    }


def _parameters(plan: DemoPlan) -> dict[str, Any]:
    names = ("gammas", "neighbor_counts", "budgets")
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
            note="One draw of votes and what SoftLabeler makes of it. Items that lie together are neighbours "
            "in the graph; large numbers stand in the middle of each digit. Point at an item to see its soft "
            "label and the truth.",
        ),
        report.section(
            "Error of the soft labels",
            report.table(_header(result), _table_rows(result)),
            report.bullets([verdict.sentence() for verdict in result.verdicts]),
            note=f"RMSE over all items and classes, mean ± standard deviation over {draws}; lower is better, "
            "★ marks the lowest. SoftLabeler and spreading alone, the paper's own method, learn all their "
            "settings from the votes; baselines stand with the setting that turned out best at each budget, "
            "which nobody knows in advance.",
        ),
        report.section(
            "Evidence per item",
            report.histograms(
                {view.name: view.evidence for view in result.views}, "votes' worth of evidence"
            ),
            note="How many items (height) have how much (logarithmic), same draw: how many votes on the item "
            "itself its soft label is worth. It grows with the votes, and with what repeated votes say about "
            "how far neighbours can be trusted. Little evidence means a soft label to check first.",
        ),
        report.section("What was run", report.facts(_facts(result, seconds)), report.code(command)),
        footer=FOOTER,
    )


def _card(verdict: Verdict) -> report.Card:
    ours, theirs = verdict.ours, verdict.baseline
    return report.Card(
        f"{ours.n_votes} votes, {ours.budget:.0%} of the items",
        f"{abs(verdict.change):.0%} {'lower' if verdict.better else 'higher'} error",
        f"{ours.name} against the best baseline, {theirs.name}: RMSE {ours.mean:.3f} to {theirs.mean:.3f}; "
        f"lower in {verdict.draws_ahead} of {len(ours.rmse)} draws. {PAPER}: {verdict.paper.mean:.3f}.",
        good=verdict.better,
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
    lowest = [verdict.lowest for verdict in result.verdicts]
    return [
        [report.Cell(row.title)]
        + [
            report.Cell(score_text(score), score.setting, score is best)
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
        OURS: "spreading at several alphas and classifiers, weighed by held-out votes",
        PAPER: "the paper's own method, at the one alpha that predicts held-out votes best",
        "Gaussian kernel": "gamma " + ", ".join(f"{gamma:g}" for gamma in result.plan.gammas),
        "Nearest votes": "k " + ", ".join(map(str, result.plan.neighbor_counts)),
        "Draws": result.n_draws,
        "Seed": result.seed,
        "Time": f"{seconds:.1f} s",
        "Versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
    }
