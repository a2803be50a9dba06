"""Measures of a trial: from its description to rows of numbers.

    trial  ->  dataset, votes drawn from its soft labels  ->  method  ->  distance to the truth

Every measure takes a trial and the bench it runs on, and returns one or several rows; what they share with
the other measures (dataset, method, seed, versions) is added by :mod:`softspread.reproduce.run`.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softspread import datasets, metrics
from softspread._common.types import FloatArray, IntArray
from softspread.datasets.dataset import Dataset, LackingError, normalized_entropy
from softspread.datasets.digits import largest_dimension, reduced, split_technique
from softspread.datasets.registry import ZERO_SHOT_NOTE
from softspread.errors import InputError
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.reproduce.methods.methods import (
    TRUTH,
    TRUTH_TRIALS,
    Outcome,
    Task,
    Tuned,
    check_soft_labels,
    find_method,
)
from softspread.reproduce.plan import Trial, fingerprint
from softspread.simulate import draw_crowd_votes, draw_votes, make_crowd
from softspread.votes.votes import Votes

if TYPE_CHECKING:
    from softspread.reproduce.dcic.benchmark import Opened

Row = dict[str, Any]
MOST_KEPT = 3  # datasets in memory at once
SILHOUETTE_ITEMS = 3_000  # more would not change the mean
CROWDS: dict[str, dict[str, Any]] = {  # options of `make_crowd`; "plain" votes have no names
    "honest": {},
    "mixed": {"reliability": (0.4, 1.0), "spammer_share": 0.2, "uneven": 0.5},
    "spammers": {"reliability": (0.7, 1.0), "spammer_share": 0.6, "uneven": 0.5},
}
N_ANNOTATORS = 40  # of a simulated crowd
ENTROPY_BINS = 20  # bars of the histogram of entropies
# Gaussian clouds that touch, as embeddings of images do
CLUSTERS, CLUSTER_DIMENSION, CLUSTER_SPREAD = 10, 20, 1.0
PAPER_TOL = 1e-6  # the relative residual that the paper's solver stops at
FEW_ITEMS = 10_000  # above, an approximate search is quicker by far; the graph is not what is timed
FEW_BOOTSTRAPS = 20  # the fewest allowed: only the estimate is used, not its interval


class Bench:
    """Datasets and graphs that several trials share; belongs to one process."""

    def __init__(self, data: Path | None = None) -> None:
        self.data = data
        self._datasets: dict[str, Dataset] = {}
        self._graphs: dict[str, dict[tuple[int, str], Graph]] = {}
        self._numbers: dict[str, float] = {}
        self._benchmarks: dict[str, Opened] = {}
        self._tuned: dict[tuple[str, int, int], Tuned] = {}
        self._reduced: dict[str, FloatArray] = {}

    def dataset(self, description: Any) -> Dataset:
        """Load a dataset by its description, once."""
        key = fingerprint(dict(description))
        if key not in self._datasets:
            while len(self._datasets) >= MOST_KEPT:
                oldest = next(iter(self._datasets))
                del self._datasets[oldest]
                self._graphs = {
                    name: kept for name, kept in self._graphs.items() if not name.startswith(oldest)
                }
            self._datasets[key] = self._load(dict(description))
        return self._datasets[key]

    def _load(self, description: dict[str, Any]) -> Dataset:
        """A dataset as the plan describes it; features "clip+pca20" are those named first, reduced."""
        name = str(description.pop("name"))
        base, plus, technique = str(description.get("features", "")).partition("+")
        if not plus:
            return datasets.load(name, self.data, **description)
        del description["features"]
        if base == "pixels":
            found = datasets.load(name, self.data, **description)
            X = flat_pixels(found)
        else:
            found = datasets.load(name, self.data, **description, features=base)
            if found.X is None:
                raise LackingError(f"{name} has no features {base}.")
            X = found.X
        key = fingerprint([name, description, base])
        return found.with_features(self._reduce(key, X, technique), f"{base}+{technique}")

    def _reduce(self, key: str, X: FloatArray, technique: str) -> FloatArray:
        """Features reduced; of techniques whose dimensions are nested the first ones are taken."""
        kind, dimension = split_technique(technique)
        largest = largest_dimension(kind, X, dimension)
        kept = f"{key}-{kind}{largest}"
        if kept not in self._reduced:
            self._reduced = {kept: reduced(X, f"{kind}{largest}")}  # one at a time: they are large
        return np.ascontiguousarray(self._reduced[kept][:, :dimension])

    def task(self, trial: Trial) -> tuple[Task, IntArray | None]:
        """Items and votes of a trial, and the rows that may be voted on if not all."""
        data, key = self.dataset(trial.dataset), fingerprint(dict(trial.dataset))
        rng = np.random.default_rng([trial.seed, trial.draw, trial.votes_key])
        n_items = trial.design.get("n_items")
        if n_items is not None and n_items < data.n_items:
            data = data.subset(np.sort(rng.permutation(data.n_items)[:n_items]))
            key += f"-{n_items}-{trial.draw}-{trial.votes_key}"
        among = _allowed(data.n_items, trial, rng)
        votes = draw(data, trial, rng, among)
        task = Task(data, votes, int(rng.integers(2**31 - 1)), self._graphs.setdefault(key, {}))
        if TRUTH in trial.parameters.values():
            task.tuned = self._search(trial, data, among, key)
        return task, among

    def _search(self, trial: Trial, data: Dataset, among: IntArray | None, key: str) -> Tuned:
        """The search of a row with a star: one for all draws of a dataset at a budget."""
        n_trials = int(trial.options.get("truth_trials", TRUTH_TRIALS))
        kept = (key, trial.tuning_key, n_trials)
        if kept not in self._tuned:

            def fresh(number: int) -> Votes:
                return draw(data, trial, np.random.default_rng([trial.seed, number, trial.tuning_key]), among)

            self._tuned[kept] = Tuned(fresh, n_trials, trial.seed)
        return self._tuned[kept]

    def cluster_graph(self, X: FloatArray, key: str) -> Graph:
        """Graph of points made for timing, built once for all ways of spreading."""
        if key not in self._graphs:
            index = "exact" if len(X) <= FEW_ITEMS else "cells"
            self._graphs = {key: {(20, "kth"): knn_graph(X, 20, index=index, n_jobs=1, random_state=0)}}
        return self._graphs[key][20, "kth"]

    def benchmark(self, trial: Trial) -> "Opened":
        """The trial's dataset of the DCIC benchmark; the last one is kept."""
        from softspread.reproduce.dcic.benchmark import open_dataset

        key = fingerprint([dict(trial.dataset), trial.options.get("side"), trial.seed])
        if key not in self._benchmarks:
            self._benchmarks = {key: open_dataset(trial, self.data, lambda: self.dataset({"name": "digits"}))}
        return self._benchmarks[key]

    def silhouette(self, trial: Trial) -> float:
        """Mean silhouette of the hard labels in the features, on at most 3,000 items."""
        key = fingerprint(dict(trial.dataset))
        if key not in self._numbers:
            from sklearn.metrics import silhouette_score

            data = self.dataset(trial.dataset)
            if data.X is None or data.labels is None:
                return float("nan")
            size = min(SILHOUETTE_ITEMS, len(data.X))
            self._numbers[key] = float(
                silhouette_score(data.X, data.labels, sample_size=size, random_state=0)
            )
        return self._numbers[key]


def flat_pixels(data: Dataset) -> FloatArray:
    """Pixels of every image as one row of numbers from 0 to 1."""
    if data.images is None:
        raise LackingError(f"{data.name} has no images in its folder, so there are no pixels to reduce.")
    return np.asarray(data.images, dtype=np.float64).reshape(data.n_items, -1) / 255


def _allowed(n: int, trial: Trial, rng: np.random.Generator) -> IntArray | None:
    share = trial.design.get("subset_share", trial.design.get("train_share"))
    if share is None:
        return None
    return np.sort(rng.permutation(n)[: max(1, round(share * n))])


def draw(data: Dataset, trial: Trial, rng: np.random.Generator, among: IntArray | None) -> Votes:
    """Draw the votes of a trial."""
    if data.p_true is None:
        raise LackingError(
            f"{data.name} has no soft labels to draw votes from; give it features or soft_labels.npy."
        )
    n_votes = (
        trial.n_votes if trial.n_votes is not None else max(1, round((trial.budget or 0) * data.n_items))
    )
    crowd = trial.design.get("crowd", "plain")
    if crowd == "plain":
        return draw_votes(data.p_true, n_votes, rng, classes=data.classes, among=among)
    if crowd == "real":
        return _some_real_votes(data, n_votes, rng)
    if crowd not in CROWDS:
        raise InputError(f"crowd must be plain, real or one of {', '.join(CROWDS)}, got {crowd!r}.")
    people = make_crowd(
        trial.design.get("n_annotators", N_ANNOTATORS), len(data.classes), rng, **CROWDS[crowd]
    )
    burst = trial.design.get("burst", 1)
    return draw_crowd_votes(data.p_true, n_votes, rng, people, classes=data.classes, among=among, burst=burst)


def _some_real_votes(data: Dataset, n_votes: int, rng: np.random.Generator) -> Votes:
    if data.votes is None:
        raise LackingError(f"{data.name} has no real votes.")
    votes = data.votes
    chosen = np.sort(rng.permutation(len(votes))[:n_votes])
    people = None if votes.annotators is None else votes.annotators[chosen]
    return Votes(
        votes.items[chosen],
        votes.labels[chosen],
        votes.weights[chosen],
        people,
        classes=votes.class_names(),
        repeats=votes.repeats,
    )


def _run_method(trial: Trial, task: Task) -> tuple[Outcome, float]:
    method = find_method(trial.method)
    if trial.method == "pls" and isinstance(
        trial.parameters.get("n_neighbors", 0), int
    ):  # the graph is not timed
        task.graph(trial.parameters.get("n_neighbors", 20), trial.parameters.get("bandwidth", "kth"))
    started = time.perf_counter()
    outcome = method(task, **trial.parameters)
    return outcome, time.perf_counter() - started


def answer(outcome: Outcome, task: Task) -> FloatArray:
    """The soft labels of an outcome, which must have some."""
    if outcome.p is None:
        raise LackingError(f"a method without an answer: {outcome.undefined}.")
    return check_soft_labels(outcome.p, task.data.n_items, task.n_classes)


def errors(p_true: FloatArray, p: FloatArray) -> Row:
    """Measure all distances to the truth."""
    return {
        "rmse": metrics.rmse(p_true, p),
        "mae": metrics.mae(p_true, p),
        "kl": metrics.kl_divergence(p_true, p),
        "total_variation": metrics.total_variation(p_true, p),
        "accuracy": metrics.accuracy(p_true, p),
    }


# ----------------------------------------------------------------------------------------------- the measures
def scores(trial: Trial, bench: Bench) -> list[Row]:
    """Measure how far a method's soft labels are from the truth."""
    task, among = bench.task(trial)
    outcome, seconds = _run_method(trial, task)
    n = task.data.n_items
    row: Row = {"features": task.data.features, "n_items": n, "votes": len(task.votes), "seconds": seconds}
    if outcome.p is None:
        return [row | {"undefined": outcome.undefined}]
    p = answer(outcome, task)
    row |= errors(task.p_true, p)
    if outcome.evidence is not None:
        row["mean_evidence"] = float(outcome.evidence.mean())
    if outcome.chosen:
        row["chosen"] = dict(outcome.chosen)
    stand_in = task.data.stand_in or _model_stand_in(trial.method, task.data)
    if stand_in:
        row["stand_in"] = stand_in
    if "train_share" in trial.design and among is not None:
        test = np.setdiff1d(np.arange(n), among)
        row["rmse_train"] = metrics.rmse(task.p_true[among], p[among])
        row["rmse_test"] = metrics.rmse(task.p_true[test], p[test])
    if trial.options.get("silhouette"):
        row["silhouette"] = bench.silhouette(trial)
        row["dimension"] = int(task.X.shape[1])
    return [row]


def _model_stand_in(method: str, data: Dataset) -> str:
    """Why a row of model predictions is not the paper's zero-shot row; empty where it is."""
    if method != "model" or data.prior_note == ZERO_SHOT_NOTE:
        return ""
    return f"predictions are {data.prior_note or 'unknown'}, not zero-shot"


def estimated_rmse(trial: Trial, bench: Bench) -> list[Row]:
    """Estimate the RMSE on held-out items from a small annotated set.

    By histograms, as in the paper, and with the noise of the votes taken off.

    Options: ``sizes`` and ``votes_per_item``, lists in a list.
    """
    task, among = bench.task(trial)
    outcome, seconds = _run_method(trial, task)
    p = answer(outcome, task)
    if among is None:
        raise InputError("estimated_rmse needs a train_share in the design.")
    test = np.setdiff1d(np.arange(len(p)), among)
    truth = metrics.rmse(task.p_true[test], p[test])
    rng = np.random.default_rng([task.seed, 1])
    rows = []
    for size in trial.options["sizes"]:
        if size > len(test):
            continue
        for number in trial.options["votes_per_item"]:
            chosen = rng.permutation(test)[:size]
            counts = rng.multinomial(number, task.p_true[chosen]).astype(np.float64)
            row = {
                "n_items": len(p),
                "size": size,
                "votes_per_item": number,
                "votes": size * number,
                "rmse": truth,
            }
            row["estimate"] = metrics.rmse(counts / number, p[chosen])
            if number > 1:
                row["corrected"] = _corrected(p[chosen], counts, rng)
            rows.append(row | {"seconds": seconds})
    return rows


def _corrected(p: FloatArray, counts: FloatArray, rng: np.random.Generator) -> float:
    """Estimate the RMSE from votes without their own noise; 0 where that would be negative."""
    from softspread.quality.estimate import estimate_quality

    return float(estimate_quality(p, counts, rng=rng, n_bootstrap=FEW_BOOTSTRAPS).rmse.value)


def growing_votes(trial: Trial, bench: Bench) -> list[Row]:
    """Score soft labels after the first votes of one sequence; option ``steps``: [[1, 2, 5, ...]]."""
    task, _ = bench.task(trial)
    rows = []
    for step in trial.options["steps"]:
        part = replace(task, votes=first_votes(task.votes, step))
        outcome, seconds = _run_method(trial, part)
        p = answer(outcome, part)
        rows.append({"n_items": len(p), "votes": step, **errors(task.p_true, p), "seconds": seconds})
    return rows


def first_votes(votes: Votes, number: int) -> Votes:
    """The first votes of a sequence."""
    return Votes(votes.items[:number], votes.labels[:number], votes.weights[:number], classes=votes.classes)


def entropy(trial: Trial, bench: Bench) -> list[Row]:
    """Measure how uncertain a dataset's soft labels are, and how often their mode is the hard label."""
    data = bench.dataset(trial.dataset)
    if data.p_true is None:
        raise LackingError(f"{data.name} has no soft labels; give it features or soft_labels.npy.")
    values = normalized_entropy(data.p_true)
    heights, _ = np.histogram(values, bins=ENTROPY_BINS, range=(0.0, 1.0))
    row: Row = {"n_items": data.n_items, "n_classes": len(data.classes), "mean_entropy": float(values.mean())}
    row |= {f"entropy_q{q}": float(np.quantile(values, q / 100)) for q in (50, 75, 90, 99)}
    row["histogram"] = (heights / len(values)).tolist()
    if data.labels is not None:
        row["accuracy"] = float(np.mean(data.p_true.argmax(axis=1) == data.labels))
    return [row | {"soft_labels": data.note}]


def runtime(trial: Trial, bench: Bench) -> list[Row]:
    """Time a vote, graph excluded: all votes together, live one by one, and one solve per vote.

    Options: ``way`` "batch", "live" or "literal"; ``most`` votes for the slow ways. The loop, one solve per
    vote, has the tolerance of the paper's.
    """
    from softspread.diffusion.diffusion import Diffusion
    from softspread.diffusion.literal import literal_mass
    from softspread.estimators.spreading import ProbabilisticLabelSpreading
    from softspread.votes.table import VoteTable

    n, way = int(trial.design["n_items"]), trial.options["way"]
    rng = np.random.default_rng([trial.seed, n, trial.draw])
    centres = rng.normal(size=(CLUSTERS, CLUSTER_DIMENSION)) * CLUSTER_SPREAD
    own = rng.integers(CLUSTERS, size=n)
    X = centres[own] + rng.normal(size=(n, CLUSTER_DIMENSION))
    graph = bench.cluster_graph(X, f"clusters-{n}-{trial.draw}-{trial.seed}")
    m = max(1, round((trial.budget or 0.1) * n))
    items = rng.integers(n, size=m)
    if way != "batch":
        items = items[: int(trial.options.get("most", 50))]
    if way == "literal":
        diffusion = Diffusion(graph, float(trial.parameters["alpha"]), n_jobs=1)
        table = VoteTable(items, own[items], np.ones(len(items)))
        literal_mass(diffusion, table.take(slice(1)), CLUSTERS, tol=PAPER_TOL)  # loads the compiled code
        started = time.perf_counter()
        literal_mass(diffusion, table, CLUSTERS, tol=PAPER_TOL)
        return [_timed(n, len(items), time.perf_counter() - started)]
    estimator = ProbabilisticLabelSpreading(**trial.parameters, annotator_model="none", n_jobs=1)
    # a first fit loads the compiled code, and for "live" is the state that votes come to
    estimator.fit(graph, Votes.from_pairs(items[:1], own[items[:1]], classes=list(range(CLUSTERS))))
    started = time.perf_counter()
    if way == "live":
        for item in items[1:]:
            estimator.update([item], [own[item]])
    else:
        estimator.fit(graph, Votes.from_pairs(items, own[items], classes=list(range(CLUSTERS))))
    seconds = time.perf_counter() - started
    n_done = len(items) - 1 if way == "live" else len(items)
    return [_timed(n, n_done, seconds)]


def _timed(n: int, n_votes: int, seconds: float) -> Row:
    return {
        "n_items": n,
        "votes": n_votes,
        "seconds": seconds,
        "ms_per_vote": 1e3 * seconds / max(1, n_votes),
    }


def consistency(trial: Trial, bench: Bench) -> list[Row]:
    """Measure the largest error and the RMSE of one draw, at the theorem's rates."""
    from softspread.guarantees.simulation import simulate_consistency

    seed = np.random.SeedSequence([trial.seed, trial.draw, trial.votes_key]).generate_state(1)[0]
    started = time.perf_counter()
    (point,) = simulate_consistency(
        int(trial.options["dimension"]),
        [int(trial.design["n_items"])],
        graph=str(trial.options["graph"]),
        n_draws=1,
        random_state=int(seed),
    )
    return [
        {
            "n_items": point.n_items,
            "votes": point.n_votes,
            "votes_per_item": point.votes_per_item,
            "largest_error": point.largest_error,
            "rmse": point.rmse,
            "seconds": time.perf_counter() - started,
        }
    ]


def intervals(trial: Trial, bench: Bench) -> list[Row]:
    """Measure coverage and width of intervals on the sine curve, where votes are few and elsewhere."""
    from softspread.reproduce.sine import sine_estimate

    found = sine_estimate(trial)
    rows = []
    for region, inside in (("sparse", found.sparse), ("dense", ~found.sparse)):
        covered = (found.lower <= found.truth) & (found.truth <= found.upper)
        width = found.upper - found.lower
        row = {"region": region, "n_items": len(found.truth), "votes": found.n_votes}
        row["coverage"] = float(covered[inside].mean())
        row["width"] = float(width[inside].mean())
        row["rmse"] = float(np.sqrt(np.mean((found.estimate - found.truth)[inside] ** 2)))
        rows.append(row)
    return rows


def dcic(trial: Trial, bench: Bench) -> list[Row]:
    """The Data-Centric Image Classification benchmark, see :mod:`softspread.reproduce.dcic.benchmark`."""
    from softspread.reproduce.dcic.benchmark import run_trial

    return run_trial(trial, bench.benchmark(trial))


def quoted(trial: Trial, bench: Bench) -> list[Row]:
    """Numbers of the paper's tables beside the means of the authors' runs."""
    from softspread.reproduce.quoted import compare_with_runs

    rows = []
    for one in compare_with_runs():
        row = asdict(one)
        row["dataset_of_table"] = row.pop("dataset")
        rows.append(row | {"errors_apart": one.errors_apart, "disagrees": one.disagrees})
    return rows


MEASURES: dict[str, Callable[[Trial, Bench], list[Row]]] = {
    "scores": scores,
    "estimated_rmse": estimated_rmse,
    "growing_votes": growing_votes,
    "entropy": entropy,
    "runtime": runtime,
    "consistency": consistency,
    "intervals": intervals,
    "dcic": dcic,
    "quoted": quoted,
}


def measure(trial: Trial, bench: Bench) -> list[Row]:
    """Compute one trial."""
    if trial.measure not in MEASURES:
        raise InputError(f"measure {trial.measure!r} is unknown; there are {', '.join(MEASURES)}.")
    return MEASURES[trial.measure](trial, bench)
