"""Run methods on datasets, budgets and draws; every row is kept as soon as it is finished.

peers      every peer at every setting
labeler    SoftLabeler: soft labels, intervals at four levels and quality, all read off one fit
prior      the same with a classifier as prior
named      the same with votes of people with names, all honest or some voting at random
intervals  the intervals of spreading alone (PLS auto), for comparison
repeats    one vote on each item and a few second votes: where intervals could collapse
quality    SoftLabeler's quality where its own queries chose the items
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from experiments.posterior import draws, measures, peers
from experiments.posterior.datasets import Dataset, load, seed_of
from experiments.posterior.store import Store, log_run

import softspread
from softspread import ProbabilisticLabelSpreading, SoftspreadWarning, Votes, classifier_prior, metrics
from softspread._common.progress import progress_bar
from softspread._common.types import FloatArray
from softspread.simulate import draw_columns

LEVELS = (0.5, 0.9, 0.95, 0.99)
CELL = ("dataset", "budget", "draw")
LABELS = ("rmse", "kl", "accuracy")
COVERAGE = ("all", "large", "small", "width")
ESTIMATES = ("rmse", "kl", "accuracy", "agreement")
REFERENCE_DRAWS = 4  # in which spreading alone is fitted too; intervals are judged on all draws
QUERY_ROUNDS = 5  # of equal size, after a tenth of the votes fell uniformly


@dataclass(frozen=True)
class Plan:
    """What to run on what."""

    data: Path
    out: Path
    datasets: Sequence[str]
    budgets: Sequence[float]
    draws: Sequence[int]
    size: int
    levels: Sequence[float] = LEVELS

    def cells(self) -> int:
        """Fits to do."""
        return len(self.datasets) * len(self.budgets) * len(self.draws)

    def start(self, what: str) -> None:
        """Say what is run on what, on the screen and beside the results."""
        print(log_run(self.out))
        print(
            f"{what}: {' '.join(self.datasets)}; {self.size} items; budgets "
            f"{' '.join(f'{b:g}' for b in self.budgets)}; draws {self.draws[0]} to {self.draws[-1]}",
            flush=True,
        )

    def each(self) -> Iterator[tuple[Dataset, float, int]]:
        """Every dataset, budget and draw; a dataset is loaded once."""
        for name in self.datasets:
            dataset = load(name, self.data, self.size)
            for budget in self.budgets:
                yield from ((dataset, budget, draw) for draw in self.draws)


def run_peers(plan: Plan) -> None:
    """Every peer at every setting."""
    plan.start("peers")
    store = Store(plan.out / "peers.csv", (*CELL, "method"), (*LABELS, "seconds"))
    space = None
    with progress_bar("peers", plan.cells(), True, "cells") as advance:
        for dataset, budget, draw in plan.each():
            if space is None or space.dataset is not dataset:
                space = peers.Space(dataset)
            counts = draws.uniform(dataset, budget, draw)
            for name, method in peers.methods(space):
                key = (dataset.name, budget, draw, name)
                if not store.has(*key):
                    start = time.perf_counter()
                    p = method(space, counts)
                    took = round(time.perf_counter() - start, 3)
                    store.add(key, measures.of_labels(dataset.truth, p) | {"seconds": took})
            advance(1)


# ----------------------------------------------------------------------------------------------- SoftLabeler
class Results:
    """Where soft labels and intervals of SoftLabeler go."""

    def __init__(self, out: Path, name: str, levels: Sequence[float]) -> None:
        self.levels = levels
        self.labels = Store(out / f"{name}.csv", CELL, (*LABELS, "repeated", "seconds"))
        self.intervals = Store(out / f"{name}_intervals.csv", (*CELL, "method", "level"), COVERAGE)

    def has(self, *key: object) -> bool:
        """Whether everything about a fit is there."""
        kept = (self.intervals.has(*key, "labeler", level) for level in self.levels)
        return self.labels.has(*key) and all(kept)


def fit_labeler(
    dataset: Dataset, votes: FloatArray | Votes, prior: FloatArray | None = None
) -> "softspread.SoftLabeler":
    """Fit as a user would, with the features where there are any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        lab = softspread.SoftLabeler(prior=prior, n_jobs=1, random_state=0)
        return lab.fit(dataset.X, votes, features=dataset.features)


def judge(
    results: Results,
    key: tuple[object, ...],
    dataset: Dataset,
    votes: FloatArray | Votes,
    prior: FloatArray | None = None,
) -> None:
    """Fit one SoftLabeler and keep its soft labels and intervals."""
    truth = dataset.truth
    start = time.perf_counter()
    lab = fit_labeler(dataset, votes, prior)
    p = np.asarray(lab.predict_proba())
    took = round(time.perf_counter() - start, 3)
    repeated = int((np.asarray(lab.vote_counts_).sum(axis=1) > 1).sum())
    if not results.labels.has(*key):
        row = measures.of_labels(truth, p) | {"repeated": repeated, "seconds": took}
        results.labels.add(key, row)
    for level in results.levels:
        if not results.intervals.has(*key, "labeler", level):
            ends = _interval(lab, level)
            results.intervals.add((*key, "labeler", level), measures.of_intervals(truth, *ends))


def _interval(lab: "softspread.SoftLabeler", level: float) -> tuple[FloatArray, FloatArray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)  # few second votes: the study is about that
        lower, upper = lab.predict_interval(confidence_level=level)
    return np.asarray(lower), np.asarray(upper)


def run_labeler(plan: Plan) -> None:
    """SoftLabeler on uniform votes."""
    plan.start("SoftLabeler")
    results = Results(plan.out, "labeler", plan.levels)
    with progress_bar("SoftLabeler", plan.cells(), True, "fits") as advance:
        for dataset, budget, draw in plan.each():
            key = (dataset.name, budget, draw)
            if not results.has(*key):
                judge(results, key, dataset, draws.uniform(dataset, budget, draw))
            advance(1)


def run_prior(plan: Plan) -> None:
    """SoftLabeler with a classifier as prior: a model's predictions, or a classifier of the same votes."""
    plan.start("SoftLabeler with a classifier as prior")
    results = Results(plan.out, "prior", plan.levels)
    with progress_bar("with a prior", plan.cells(), True, "fits") as advance:
        for dataset, budget, draw in plan.each():
            key = (dataset.name, budget, draw)
            if not results.has(*key):
                counts = draws.uniform(dataset, budget, draw)
                prior = dataset.prior
                if prior is None:
                    prior = classifier_prior(peers.Space(dataset).inputs["x"], counts, random_state=0)
                judge(results, key, dataset, counts, prior)
            advance(1)


def run_named(plan: Plan) -> None:
    """SoftLabeler on the votes of 20 people with names: all honest, or 4 of them voting at random."""
    plan.start("SoftLabeler on named votes")
    crowds = [(Results(plan.out, "named", plan.levels), 0), (Results(plan.out, "spammers", plan.levels), 4)]
    with progress_bar("named", plan.cells(), True, "cells") as advance:
        for dataset, budget, draw in plan.each():
            key = (dataset.name, budget, draw)
            for results, spammers in crowds:
                if not results.has(*key):
                    judge(results, key, dataset, draws.named(dataset, budget, draw, spammers))
            advance(1)


def run_repeats(plan: Plan) -> None:
    """One vote on each item, and second votes on as many items as the "budget" says."""
    plan.start("one vote on each item and second votes")
    results = Results(plan.out, "repeats", plan.levels)
    spread = Store(plan.out / "repeats_pls.csv", (*CELL, "method"), (*LABELS, "seconds"))
    with progress_bar("second votes", plan.cells(), True, "fits") as advance:
        for dataset, second, draw in plan.each():
            key = (dataset.name, int(second), draw)
            counts = draws.once(dataset, draw, int(second))
            if not results.has(*key):
                judge(results, key, dataset, counts)
            if draw < REFERENCE_DRAWS:
                references(spread, key, dataset, counts)
            advance(1)


def references(store: Store, key: tuple[object, ...], dataset: Dataset, counts: FloatArray) -> None:
    """What spreading alone says on the same votes."""
    space = peers.Space(dataset)
    for name, method in peers.methods(space):
        if name.startswith(peers.REFERENCES) and not store.has(*key, name):
            start = time.perf_counter()
            p = method(space, counts)
            took = round(time.perf_counter() - start, 3)
            store.add((*key, name), measures.of_labels(dataset.truth, p) | {"seconds": took})


# --------------------------------------------------------------------------------------------------- quality
def run_quality(plan: Plan) -> None:
    """Estimated against true quality, with uniform votes and with votes on items that queries chose."""
    plan.start("quality")
    columns = [f"{m}_{part}" for m in ESTIMATES for part in ("value", "lower", "upper", "true")]
    store = Store(plan.out / "quality.csv", (*CELL, "items"), columns)
    with progress_bar("quality", plan.cells(), True, "cells") as advance:
        for dataset, budget, draw in plan.each():
            key = (dataset.name, budget, draw)
            if not store.has(*key, "uniform"):
                lab = fit_labeler(dataset, draws.uniform(dataset, budget, draw))
                store.add((*key, "uniform"), estimates(dataset, lab, None))
            if not store.has(*key, "chosen"):
                store.add((*key, "chosen"), estimates(dataset, *fit_chosen(dataset, budget, draw)))
            advance(1)


def estimates(
    dataset: Dataset, lab: "softspread.SoftLabeler", probabilities: FloatArray | None
) -> dict[str, float]:
    """Estimates with their intervals beside what is true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        quality = lab.quality(probabilities=probabilities)
    truth, p = dataset.truth, np.asarray(lab.predict_proba())
    real = measures.of_labels(truth, p) | {
        "kl": metrics.kl_divergence(truth, p),
        "agreement": float(np.take_along_axis(truth, p.argmax(axis=1)[:, None], axis=1).mean()),
    }
    row = {}
    for name in ESTIMATES:
        estimate = getattr(quality, name)
        row |= {f"{name}_{part}": getattr(estimate, part) for part in ("value", "lower", "upper")}
        row[f"{name}_true"] = real[name]
    return row


def fit_chosen(dataset: Dataset, budget: float, draw: int) -> tuple["softspread.SoftLabeler", FloatArray]:
    """A tenth of the votes uniformly, the others where queries want them, with every vote's probability."""
    rng = np.random.default_rng([draw, round(budget * 1_000), seed_of("chosen " + dataset.name)])
    n, n_classes = dataset.truth.shape
    total = max(20, round(budget * n))
    rows = rng.integers(n, size=max(10, total // 10))
    chances = np.full(len(rows), 1 / n)
    columns = draw_columns(dataset.truth, rows, rng.random(len(rows)))
    for number in range(QUERY_ROUNDS):
        lab = fit_labeler(dataset, _counts(rows, columns, (n, n_classes)))
        size = max(1, (total - len(chances)) // (QUERY_ROUNDS - number))
        chosen, chance = lab.query(size, return_probabilities=True)
        rows, chances = np.concatenate([rows, chosen]), np.concatenate([chances, chance])
        columns = np.concatenate([columns, draw_columns(dataset.truth, chosen, rng.random(len(chosen)))])
    return fit_labeler(dataset, Votes.from_pairs(rows, columns, classes=range(n_classes))), chances


def _counts(rows: FloatArray, columns: FloatArray, shape: tuple[int, int]) -> FloatArray:
    counts = np.zeros(shape)
    np.add.at(counts, (rows, columns), 1.0)
    return counts


# ------------------------------------------------------------------------------------------- spreading alone
def run_intervals(plan: Plan, methods: Sequence[str]) -> None:
    """Intervals of spreading alone."""
    plan.start(f"intervals of PLS auto ({' '.join(methods)})")
    store = Store(plan.out / "pls_intervals.csv", (*CELL, "method", "level"), COVERAGE)
    with progress_bar("intervals", plan.cells(), True, "fits") as advance:
        for dataset, budget, draw in plan.each():
            todo = [
                (method, level)
                for method in methods
                for level in plan.levels
                if not store.has(dataset.name, budget, draw, method, level)
            ]
            if todo:
                cover(store, dataset, budget, draw, todo)
            advance(1)


def cover(store: Store, dataset: Dataset, budget: float, draw: int, todo: list[tuple[str, float]]) -> None:
    """Intervals of one fit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        est = ProbabilisticLabelSpreading(annotator_model="none", n_jobs=1, random_state=0)
        est.fit(dataset.X, draws.uniform(dataset, budget, draw))
        for method, level in todo:
            lower, upper = est.predict_interval(confidence_level=level, method=method)
            key = (dataset.name, budget, draw, method, level)
            store.add(key, measures.of_intervals(dataset.truth, lower, upper))
