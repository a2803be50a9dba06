"""Does another version of softspread give the same results?

    PYTHONPATH=old/src python benchmarks/same_results.py store before.npz --data DIR
    PYTHONPATH=new/src python benchmarks/same_results.py store after.npz --data DIR
    python benchmarks/same_results.py compare before.npz after.npz --tol 1e-12

``store`` runs a fixed list of cases with the softspread that Python finds and keeps what came out, as arrays
named "case/thing". ``compare`` tells what differs and exits with 1 if anything does by more than the
tolerance, or is gone. Meant for changes that should change no result: moving code about, renaming,
new defaults.

* Only names that people use are used: what ``import softspread`` offers, and ``python -m softspread``.
* Every setting is given, so a new default changes nothing here.
* A case that raises is kept as "case/error"; the others still run.
* Sentences (why alpha was chosen, notes, the text of warnings) are left out, and so are times, paths and
  versions. How many warnings a case gave is kept.
* Linear algebra runs on one thread: where distances tie, who is a neighbour hangs on the last digit, and that
  on the number of threads.
* The compiled loops may round differently on another processor: store both files on the same machine, with
  the same version of this script. ``compare`` says where that is not so.

Without ``--data`` all items are simulated or come with scikit-learn. With it, DIR holds the folders cifar10h,
labelme, davidson and mdagreement of the shared data.
"""

import argparse
import dataclasses
import json
import os
import pickle
import platform
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

Things = dict[str, Any]
Case = tuple[str, Callable[[], Things]]

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ABOUT = "about/"
SENTENCES = {"summary", "statement", "how", "chosen_by", "notes", "warnings", "text"}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "pandas")
LEFT_OUT = SENTENCES | {"seconds", "versions", "model_version", "out", "report"}

FIT = {
    "alpha": 0.9,
    "n_neighbors": 10,
    "bandwidth": "kth",
    "scaling": "peak",
    "prior": None,
    "prior_strength": 1e-4,
    "annotator_model": "none",
    "tol": 1e-6,
    "solver": "auto",
    "index": "exact",
    "n_jobs": 1,
    "random_state": 0,
    "verbose": False,
}
TUNE = {
    "alphas": (0.1, 0.5, 0.75, 0.9, 0.95, 0.99),
    "n_neighbors": 10,
    "prior": None,
    "prior_strengths": (1e-4,),
    "score": "brier",
    "truth": None,
    "method": "pls",
    "n_trials": 8,
    "item_ids": None,
    "classes": None,
    "bandwidth": "kth",
    "scaling": "peak",
    "index": "exact",
    "n_jobs": 1,
    "random_state": 0,
    "verbose": False,
}
PLAN = {
    "dimension": 2,
    "epsilon": 0.1,
    "delta": 0.05,
    "n_classes": 2,
    "lipschitz": 1.0,
    "n_items": None,
    "n_votes": None,
    "p_min": 1.0,
    "p_max": 1.0,
    "rho": None,
    "r_0": None,
    "bound": "theorem",
}
SETTINGS = {  # what is tried on every small set of items, one change at a time
    "alpha 0": {"alpha": 0.0},
    "alpha 0.5": {"alpha": 0.5},
    "alpha 0.9": {"alpha": 0.9},
    "alpha 0.99": {"alpha": 0.99},
    "alpha auto": {"alpha": "auto"},
    "all auto": {"alpha": "auto", "n_neighbors": "auto", "prior_strength": "auto"},
    "neighbours auto": {"n_neighbors": "auto"},
    "scaling source": {"scaling": "source"},
    "scaling none": {"scaling": "none"},
    "bandwidth mean": {"bandwidth": "mean"},
    "bandwidth 0.5": {"bandwidth": 0.5},
    "strength 0.3": {"prior_strength": 0.3},
    "strength auto": {"prior_strength": "auto"},
    "tol 1e-8": {"tol": 1e-8},
    "two threads": {"n_jobs": 2},
}
STRATEGIES = ("uncertainty", "uniform", "balanced", "gain", "local", "least_evidence", "entropy", "farthest")


# -------------------------------------------------------------------------------------------- items and votes
@dataclass(frozen=True, eq=False)
class Crowd:
    """Items, what people said about them, and what is to be predicted."""

    X: Any  # (n, d)
    votes: Any  # softspread.Votes
    classes: list[Any]
    X_new: Any  # (n_new, d)
    item_ids: Any = None  # (n,) or None: votes name positions
    truth: Any = None  # (n, n_classes), where it is known
    prior: Any = None  # (n, n_classes) predictions of a mediocre classifier


def draw_votes(truth: Any, n_votes: int, seed: int, spread_over: int | None = None) -> tuple[Any, Any]:
    """Rows of random items and columns of the classes that people named."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(spread_over or len(truth), size=n_votes)
    below = truth[rows].cumsum(axis=1) < rng.random((n_votes, 1))
    return rows, np.minimum(below.sum(axis=1), truth.shape[1] - 1)


def blurred(truth: Any, seed: int) -> Any:
    """Predictions that are better than nothing."""
    noise = np.random.default_rng(seed).dirichlet(np.ones(truth.shape[1]), size=len(truth))
    return 0.6 * truth + 0.4 * noise


@cache
def moons() -> Crowd:
    """Two moons, two classes that mix where the moons are close; votes without names."""
    from softspread import Votes

    rng = np.random.default_rng(1)
    side, angle = rng.integers(2, size=340), rng.random(340) * np.pi
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    X = np.where(side[:, None] == 0, upper, [1.0, 0.5] - upper) + rng.normal(scale=0.1, size=(340, 2))
    first = 0.05 + 0.9 / (1 + np.exp(-6 * (X[:, 1] - 0.25)))
    truth = np.column_stack([first, 1 - first])[:300]
    rows, columns = draw_votes(truth, 220, 2)
    votes = Votes.from_pairs(rows, columns, annotators=None, weights=None, classes=[0, 1])
    return Crowd(X[:300], votes, [0, 1], X[300:], truth=truth, prior=blurred(truth, 3))


@cache
def blobs() -> Crowd:
    """Three Gaussian blobs, named items, classes and annotators, two of whom guess."""
    from softspread import Votes

    rng = np.random.default_rng(4)
    home = rng.integers(3, size=270)
    X = rng.normal(size=(3, 5))[home] * 1.5 + rng.normal(size=(270, 5))
    truth = (0.7 * np.eye(3)[home] + 0.1)[:240]
    classes = np.array(["cat", "dog", "owl"])
    names = np.array([f"ann{number}" for number in range(8)] + ["eve", "mallory"])
    ids = np.array([f"item_{number:03d}" for number in range(240)])
    rows, columns = draw_votes(truth, 620, 5)
    who = rng.integers(len(names), size=620)
    labels = classes[np.where(who >= 8, rng.integers(3, size=620), columns)]
    votes = Votes.from_pairs(ids[rows], labels, annotators=names[who], weights=None, classes=classes)
    return Crowd(X[:240], votes, classes.tolist(), X[240:], ids, truth, blurred(truth, 6))


@cache
def digits() -> Crowd:
    """Handwritten digits, more items than a dense solve takes; noise parts distances that tie."""
    from sklearn.datasets import load_digits

    from softspread import Votes

    found = load_digits()
    X = found.data[:1_150] / 16 + np.random.default_rng(14).normal(scale=1e-3, size=(1_150, 64))
    truth = (0.8 * np.eye(10) + 0.02)[found.target[:1_100]]
    rows, columns = draw_votes(truth, 900, 7)
    votes = Votes.from_pairs(rows, columns, annotators=None, weights=None, classes=range(10))
    return Crowd(X[:1_100], votes, list(range(10)), X[1_100:], truth=truth, prior=blurred(truth, 8))


@cache
def made() -> Crowd:
    """scikit-learn's made-up classes in single precision, a table of fractional counts."""
    from sklearn.datasets import make_classification

    from softspread import Votes

    X, home = make_classification(300, 8, n_informative=6, n_classes=4, random_state=9)
    X = X.astype(np.float32)
    truth = (0.6 * np.eye(4) + 0.1)[home[:260]]
    counts = np.zeros((260, 4))
    rows, columns = draw_votes(truth, 200, 10)
    np.add.at(counts, (rows, columns), np.random.default_rng(11).integers(1, 5, size=200) / 4)
    votes = Votes.from_counts(counts, items=None, classes=list("abcd"))
    return Crowd(X[:260], votes, list("abcd"), X[260:], truth=truth, prior=blurred(truth, 12))


@cache
def sheet(n_items: int, n_classes: int) -> Crowd:
    """A square cut into stripes, one per class; large enough that pushes and blocks replace dense solves."""
    from softspread import Votes

    rng = np.random.default_rng(30)
    X = rng.random((n_items + 50, 2))
    home = np.minimum((X[:, 0] * n_classes).astype(int), n_classes - 1)
    truth = (0.7 * np.eye(n_classes) + 0.3 / n_classes)[home[:n_items]]
    rows, columns = draw_votes(truth, 500, 31, spread_over=350)
    names = np.array([f"ann{number}" for number in range(6)])[rng.integers(6, size=500)]
    votes = Votes.from_pairs(rows, columns, annotators=names, weights=None, classes=range(n_classes))
    return Crowd(X[:n_items], votes, list(range(n_classes)), X[n_items:], truth=truth)


@cache
def cifar10h(data: Path) -> Crowd:
    """2,000 images with votes drawn from those of many people, and a classifier's predictions."""
    from softspread import Votes

    home = data / "cifar10h"
    X, counts = np.load(home / "features_efflite2_umap20.npy"), np.load(home / "counts.npy")[:2_000]
    truth = counts / counts.sum(axis=1, keepdims=True)
    rows, columns = draw_votes(truth, 1_200, 13)
    votes = Votes.from_pairs(rows, columns, annotators=None, weights=None, classes=range(10))
    prior = np.load(home / "classifier_probs.npy")[:2_000].astype(np.float64)
    return Crowd(X[:2_000], votes, list(range(10)), X[2_000:2_050], truth=truth, prior=prior)


@cache
def labelme(data: Path) -> Crowd:
    """1,000 images with the votes of 59 named people."""
    from softspread import Votes

    home = data / "labelme"
    X, said = np.load(home / "features_vgg16_umap20.npy"), np.load(home / "annotations.npy")
    table = pd.DataFrame(said[:950], columns=[f"worker{number}" for number in range(said.shape[1])])
    return Crowd(X[:950], Votes.from_wide(table, classes=range(8)), list(range(8)), X[950:])


@cache
def davidson(data: Path) -> Crowd:
    """2,000 tweets with 3 to 9 votes each."""
    from softspread import Votes

    home = data / "davidson"
    X, counts = np.load(home / "features_minilm_umap20.npy"), np.load(home / "counts.npy")[:2_000]
    votes = Votes.from_counts(counts, items=None, classes=range(3))
    return Crowd(X[:2_000], votes, [0, 1, 2], X[2_000:2_050])


@cache
def mdagreement(data: Path) -> Crowd:
    """2,000 tweets, offensive or not, five votes each by named people."""
    from softspread import Votes

    home = data / "mdagreement"
    X = np.load(home / "features_tfidfsvd50_f16.npy")[:2_050].astype(np.float32)
    table = pd.read_csv(home / "annotations.csv")
    votes = Votes.from_frame(table[table["item"] < 2_000], classes=[0, 1])
    return Crowd(X[:2_000], votes, [0, 1], X[2_000:])


SMALL = {"moons": moons, "blobs": blobs, "digits": digits, "made": made}


# ---------------------------------------------------------------------------------- fitting, and what to keep
def fitted(crowd: Crowd, items: Any = None, votes: Any = None, **changes: Any) -> Any:
    """An estimator on the crowd's items (or a graph of them) and votes (or others)."""
    from softspread import ProbabilisticLabelSpreading

    est = ProbabilisticLabelSpreading(**(FIT | changes))
    return est.fit(
        crowd.X if items is None else items,
        crowd.votes if votes is None else votes,
        item_ids=crowd.item_ids,
        classes=crowd.classes,
    )


def all_answers(est: Any, X_new: Any = None) -> Things:
    """What a fitted estimator says about its items, itself and new items."""
    found = {
        "classes": est.classes_,
        "p": est.predict_proba(),
        "mass": est.predict_freq(),
        "evidence": est.evidence_,
        "transduction": est.transduction_,
        "alpha": est.alpha_,
        "n_neighbors": est.n_neighbors_,
        "prior_strength": est.prior_strength_,
        "error_bound": est.error_bound_,
        "stale": est.stale_,
        "solve_report": est.solve_report_,
        "scale_report": est.scale_report_,
        "annotators": est.annotators_,
        "tuning": None if est.tuning_ is None else tuning_table(est.tuning_),
    }
    return found if X_new is None else found | answers_for_new(est, X_new)


def answers_for_new(est: Any, X_new: Any) -> Things:
    """Soft labels, mass and classes of items that were not fitted."""
    p, mass, label = est.predict_proba(X_new), est.predict_freq(X_new), est.predict(X_new)
    return {"p_new": p, "mass_new": mass, "label_new": label}


def tuning_table(tuning: Any) -> Things:
    """All settings tried, and what was chosen."""
    settings = ("alpha", "n_neighbors", "prior_strength", "gamma")
    facts = ("score", "n_repeats", "vote_noise", "used_truth")
    chosen = {name: getattr(tuning, name) for name in settings + facts}
    return {"table": tuning.to_frame(), "curve": tuning.curve(), "chosen": chosen}


def interval(est: Any, method: str, X: Any = None, **changes: Any) -> Things:
    """Both ends."""
    settings = {"confidence_level": 0.9, "lipschitz": None, "simultaneous": False} | changes
    lower, upper = est.predict_interval(X, method=method, **settings)
    return {"lower": lower, "upper": upper}


def pick(est: Any, strategy: str, exclude: Any = None, size: int = 40) -> Any:
    """Items to vote on next."""
    return est.query(batch_size=size, strategy=strategy, exclude=exclude, random_state=5)


def graph_of(crowd: Crowd, **changes: Any) -> Any:
    """Nearest neighbours of the crowd's items."""
    from softspread import knn_graph

    usual = {"n_neighbors": 10, "bandwidth": "kth", "index": "exact", "normalization": "symmetric"}
    return knn_graph(crowd.X, **(usual | changes), n_jobs=1, random_state=0, verbose=False)


def graph_facts(graph: Any) -> Things:
    """Edges, weights and what is known about a graph."""
    S, affinity = graph.S, graph.affinity
    S.sort_indices()
    affinity.sort_indices()
    names = ("n_items", "n_edges", "n_components", "n_isolated", "kind", "n_neighbors", "sigma2", "recall_")
    return {
        "rows": S.indptr,
        "neighbours": S.indices,
        "S": S.data,
        "affinity": affinity.data,
        "degrees": graph.degrees,
        "facts": {name: getattr(graph, name) for name in names},
    }


# --------------------------------------------------------------------------------------------- cases: fitting
def setting_cases() -> Iterator[Case]:
    """One setting changed at a time, on every small set of items."""
    for name, make in SMALL.items():
        for setting, changes in SETTINGS.items():
            yield f"fit {name}, {setting}", partial(fit_case, make, **changes)
        yield f"fit {name}, prior", partial(fit_case, make, with_prior=True, prior_strength=2.0)
        chosen = {"with_prior": True, "alpha": "auto", "prior_strength": "auto"}
        yield f"fit {name}, prior auto", partial(fit_case, make, **chosen)


def fit_case(make: Callable[[], Crowd], with_prior: bool = False, **changes: Any) -> Things:
    """All answers of one fit."""
    crowd = make()
    prior = crowd.prior if with_prior else None
    return all_answers(fitted(crowd, prior=prior, **changes), crowd.X_new)


def annotator_cases() -> Iterator[Case]:
    """Every annotator model, with alpha given and chosen."""
    chosen = {"with_prior": True, "alpha": "auto", "prior_strength": "auto"}
    for model in ("auto", "consistency", "confusion"):
        fit = partial(fit_case, blobs, annotator_model=model)
        for alpha in (0.5, 0.9, "auto"):
            yield f"annotators {model}, alpha {alpha}", partial(fit, alpha=alpha)
        yield f"annotators {model}, prior", partial(fit, **chosen)
        yield f"annotators {model}, later votes", partial(later_named_votes, model)


def later_named_votes(model: str) -> Things:
    """Votes that come and go after annotators were rated."""
    crowd = blobs()
    est = fitted(crowd, annotator_model=model)
    first = crowd.votes.to_frame().iloc[0]
    est.undo([first["item"]], [first["label"]], annotators=[first["annotator"]], weights=None)
    found = {"undone": all_answers(est)}
    est.update(["item_003", "item_150"], ["dog", "owl"], annotators=["ann2", "newcomer"], weights=None)
    est.update("item_009", "cat", annotators="mallory", weights=None)
    est.refine(tol=None)
    found["updated"] = all_answers(est, crowd.X_new)
    found["too few"] = all_answers(fitted(crowd, votes=first_votes(crowd, 60), annotator_model=model))
    return found


def size_cases() -> Iterator[Case]:
    """What is computed in another way where there are many items or classes."""
    stripes = partial(sheet, 2_300, 4)
    for alpha in (0.9, 0.97):
        yield f"2,300 items, alpha {alpha}", partial(costly_intervals, stripes, alpha)
        yield f"2,300 items, live, alpha {alpha}", partial(live_votes, stripes, alpha)
        yield f"2,300 items, judged, alpha {alpha}", partial(judged, stripes, alpha=alpha)
    for model in ("consistency", "confusion"):
        yield f"2,300 items, {model}", partial(fit_case, stripes, annotator_model=model, alpha="auto")
    yield "2,300 items, picked", lambda: queries(fitted(stripes(), alpha=0.75), [0])
    for n_jobs in (1, 2):
        yield f"13,000 items, {n_jobs} threads", partial(fit_case, partial(sheet, 13_000, 16), n_jobs=n_jobs)
    yield "40 classes", partial(fit_case, partial(sheet, 1_200, 40))


def solver_cases() -> Iterator[Case]:
    """Every solver and every exact or seeded search, on few and on more items."""
    for name, make in (("moons", moons), ("digits", digits)):
        for solver in ("dense", "direct", "cg", "push", "amg"):
            yield f"solver {solver}, {name}", partial(fit_case, make, solver=solver, alpha=0.95)
        for index in ("auto", "tree", "brute", "faiss"):
            yield f"search {index}, {name}", partial(fit_case, make, index=index)
    yield "solver literal, moons", partial(fit_case, moons, solver="literal")


def graph_cases() -> Iterator[Case]:
    """Graphs of every kind in both normalisations, and fits on them."""
    for normalization in ("symmetric", "random_walk"):
        yield f"graph knn, {normalization}", partial(knn_case, normalization)
        yield f"graph epsilon, {normalization}", partial(epsilon_case, normalization)
        yield f"graph affinity, {normalization}", partial(affinity_case, normalization)
    yield "graph saved", saved_graph


def knn_case(normalization: str) -> Things:
    """Nearest neighbours of few and of more items, at several alphas."""
    found = {}
    for name, make in (("moons", moons), ("digits", digits)):
        graph = graph_of(make(), normalization=normalization)
        found[name] = graph_facts(graph)
        for alpha in (0.5, 0.99, "auto"):
            est = fitted(make(), items=graph, alpha=alpha)
            found[f"{name} alpha {alpha}"] = all_answers(est, make().X_new)
        for scaling in ("source", "none"):
            found[f"{name} scaling {scaling}"] = all_answers(fitted(make(), items=graph, scaling=scaling))
    return found


def epsilon_case(normalization: str) -> Things:
    """All items closer than a radius."""
    from softspread import epsilon_graph

    graph = epsilon_graph(moons().X, 0.2, normalization=normalization, n_jobs=1)
    est = fitted(moons(), items=graph, scaling="none", alpha=0.95)
    return {
        "graph": graph_facts(graph),
        "unscaled": all_answers(est),
        "peak": all_answers(fitted(moons(), items=graph, alpha="auto"), moons().X_new),
        "hoeffding": interval(est, "hoeffding", lipschitz=0.5),
        "picked": {strategy: pick(est, strategy) for strategy in STRATEGIES},
    }


def affinity_case(normalization: str) -> Things:
    """Ties of the user's own."""
    from softspread import affinity_graph

    X = blobs().X
    distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    graph = affinity_graph(np.where(distance < 4, np.exp(-distance), 0.0), normalization=normalization)
    est = fitted(blobs(), items=graph)
    strategies = [strategy for strategy in STRATEGIES if strategy != "farthest"]  # it needs features
    return {
        "graph": graph_facts(graph),
        "fit": all_answers(est),
        "rated": all_answers(fitted(blobs(), items=graph, annotator_model="consistency", alpha="auto")),
        "calibrated": interval(est, "calibrated"),
        "picked": {strategy: pick(est, strategy) for strategy in strategies},
    }


def saved_graph() -> Things:
    """A graph that was written and read."""
    from softspread import Graph

    with tempfile.TemporaryDirectory() as folder:
        graph_of(moons(), bandwidth="mean").save(Path(folder) / "graph.softspread")
        graph = Graph.load(Path(folder) / "graph.softspread")
    return {"graph": graph_facts(graph), "fit": all_answers(fitted(moons(), items=graph), moons().X_new)}


# ----------------------------------------------------------------------------------------------- cases: votes
def vote_cases() -> Iterator[Case]:
    """Votes in every form, with weights, fractions and retractions, at once and one by one."""
    yield "votes, forms", vote_forms
    yield "votes, labels and counts", labels_and_counts
    yield "votes, weights", weighted_votes
    yield "votes, retractions", retracted_votes
    for name, make in (("moons", moons), ("digits", digits)):
        for alpha in (0.5, 0.9, 0.99):
            yield f"live {name}, alpha {alpha}", partial(live_votes, make, alpha)
    yield "live, new class", new_class


def vote_forms() -> Things:
    """The same kind of table from every kind of source."""
    from softspread import Votes

    wide = pd.DataFrame({"ann": ["yes", None, "no"], "bob": [None, "no", "no"]}, index=["u", "v", "w"])
    counts = pd.DataFrame([[2, 0.5], [0, 1]], index=["u", "x"], columns=["yes", "no"])
    made_from = {
        "wide": Votes.from_wide(wide, classes=None),
        "counts": Votes.from_counts(counts, items=None, classes=None),
        "frame": Votes.from_frame(blobs().votes.to_frame(), classes=["owl", "cat", "dog"]),
        "pairs": Votes.from_pairs([3, 1], ["b", "a"], annotators=None, weights=[0.5, 2], classes=None),
    }
    made_from["sum"] = made_from["wide"] + made_from["counts"] + made_from["pairs"]
    return {
        name: {"table": votes.to_frame(), "classes": votes.class_names(), "length": len(votes)}
        for name, votes in made_from.items()
    }


def labels_and_counts() -> Things:
    """Votes without a Votes: one label per item, a table of counts."""
    from softspread import ProbabilisticLabelSpreading

    crowd = moons()
    labels = np.where(np.arange(300) % 4, -1, crowd.truth.argmax(axis=1))
    counts = np.random.default_rng(20).integers(0, 3, size=(300, 2)) * (np.arange(300) % 3 == 0)[:, None]
    found = {}
    for name, y in (("labels", labels), ("counts", counts), ("parts", counts / 3)):
        est = ProbabilisticLabelSpreading(**FIT).fit(crowd.X, y, item_ids=None, classes=None)
        found[name] = all_answers(est, crowd.X_new) | {"hoeffding": interval(est, "hoeffding")}
    return found


def weighted_votes() -> Things:
    """Votes that count more or less than one, without and with names."""
    from softspread import Votes

    found = {}
    for name, crowd in (("nobody", moons()), ("named", blobs())):
        table = crowd.votes.to_frame()
        table["weight"] = np.random.default_rng(21).choice([0.25, 1.0, 1.5, 3.0], size=len(table))
        votes = Votes.from_frame(table, classes=crowd.classes)
        models = ("none",) if name == "nobody" else ("none", "consistency", "confusion")
        for model in models:
            est = fitted(crowd, votes=votes, annotator_model=model, alpha="auto")
            found[f"{name} {model}"] = all_answers(est) | every_interval(est)
    return found


def retracted_votes() -> Things:
    """Negative weights take votes back."""
    from softspread import Votes

    found = {}
    for name, crowd, model in (("nobody", moons(), "none"), ("named", blobs(), "consistency")):
        table = crowd.votes.to_frame()
        back = table.iloc[::9].assign(weight=-table["weight"].iloc[::9])
        half = table.iloc[1::9].assign(weight=-0.4)
        votes = Votes.from_frame(pd.concat([table, back, half], ignore_index=True), classes=crowd.classes)
        est = fitted(crowd, votes=votes, annotator_model=model, alpha="auto")
        found[name] = all_answers(est) | every_interval(est) | {"quality": quality_of(est)}
    return found


def live_votes(make: Callable[[], Crowd], alpha: float) -> Things:
    """Votes one by one and many at once, each step kept by itself, then taken back and refined."""
    crowd = make()
    est = fitted(crowd, alpha=alpha)
    rows, columns = draw_votes(crowd.truth, 46, 22)
    found = {}
    for row, column in zip(rows[:5].tolist(), columns[:5].tolist(), strict=True):
        est.update(row, column, annotators=None, weights=None)
    found["one by one"] = all_answers(est)
    found["a few items"] = est.soft_labels_of([0, 7, *rows[:5].tolist()])
    est.update(rows[5:45], columns[5:45], annotators=None, weights=np.linspace(0.5, 1.5, 40))
    found["many"] = all_answers(est)
    est.undo(rows[:3], columns[:3], annotators=None, weights=None)
    found["taken back"] = all_answers(est)
    est.refine(tol=None)
    found["refined"] = all_answers(est)
    est.refine(tol=1e-10)
    found["tighter"] = all_answers(est, crowd.X_new)
    return found


def new_class() -> Things:
    """A class first seen after the fit, with and without a prior; and a fit before any vote."""
    from softspread import Votes

    crowd, found = moons(), {}
    for name, prior in (("plain", None), ("prior", crowd.prior)):
        est = fitted(crowd, prior=prior, prior_strength=0.5)
        found[f"{name}, first query"] = pick(est, "uncertainty")
        est.update([4, 5, 6], [7, 7, 1], annotators=None, weights=None, new_classes="add")
        found[f"{name}, second query"] = pick(est, "uncertainty")
        found[name] = all_answers(est, crowd.X_new)
    votes = Votes.from_pairs([], [], annotators=None, weights=None, classes=[0, 1])
    est = fitted(crowd, votes=votes)
    found["no vote"] = all_answers(est) | {"picked": pick(est, "uncertainty")}
    return found


# ------------------------------------------------------------------ cases: intervals, tuning, what to do next
def interval_cases() -> Iterator[Case]:
    """All intervals of fits with and without names, on few and on more items."""
    yield "intervals moons", partial(interval_case, moons)
    yield "intervals moons, source", partial(interval_case, moons, alpha=0.5, scaling="source")
    yield "intervals moons, prior", partial(interval_case, moons, with_prior=True, prior_strength=3.0)
    yield "intervals blobs", partial(interval_case, blobs, annotator_model="consistency")
    yield "intervals blobs, confusion", partial(interval_case, blobs, annotator_model="confusion")
    yield "intervals made", partial(interval_case, made, alpha=0.75)
    yield "intervals digits", partial(interval_case, digits)


def interval_case(make: Callable[[], Crowd], with_prior: bool = False, **changes: Any) -> Things:
    """All intervals of one fit."""
    crowd = make()
    prior = crowd.prior if with_prior else None
    return every_interval(fitted(crowd, prior=prior, **changes), crowd.X_new)


def every_interval(est: Any, X_new: Any = None) -> Things:
    """Every method, for each class alone and all together; where too uncertain, why."""
    found: Things = {}
    for method in ("wilson", "wilson_floor", "hoeffding", "calibrated"):
        found[method] = interval(est, method)
        found[f"{method}, together"] = interval(est, method, confidence_level=0.95, simultaneous=True)
        found[f"{method}, why"] = est.uncertainty(confidence_level=0.8, method=method)
    for lipschitz in (0.0, 0.3):
        found[f"hoeffding, lipschitz {lipschitz}"] = interval(est, "hoeffding", lipschitz=lipschitz)
    if X_new is not None:
        for method in ("wilson", "wilson_floor", "hoeffding"):
            found[f"{method}, new"] = interval(est, method, X_new)
    return found


def costly_intervals(make: Callable[[], Crowd], alpha: float) -> Things:
    """The two that need more than the mass, once each."""
    est = fitted(make(), alpha=alpha)
    return {method: interval(est, method) for method in ("hoeffding", "calibrated")}


def tuning_cases() -> Iterator[Case]:
    """Searches by held-out votes, with every kind of candidate, and against a known truth."""
    for name, make in SMALL.items():
        for score in ("brier", "log"):
            yield f"tune {name}, {score}", partial(tune_case, make, score=score)
    changes = {
        "neighbours": {"n_neighbors": [5, 10, 20]},
        "neighbours auto": {"n_neighbors": "auto", "bandwidth": "mean"},
        "strengths": {"prior_strengths": (1e-4, 0.1, 1.0)},
        "source": {"scaling": "source"},
        "prior": {"with_prior": True, "prior_strengths": None},
        "truth": {"with_truth": True, "method": "pls"},
        "truth and kernel": {"with_truth": True, "method": "gkr"},
        "truth and neighbours": {"with_truth": True, "method": "knn"},
    }
    for name, change in changes.items():
        yield f"tune moons, {name}", partial(tune_case, moons, **change)
    yield "tune blobs, prior", partial(tune_case, blobs, **changes["prior"])
    for n_votes in (15, 25, 40, 90):
        yield f"tune, {n_votes} votes", partial(tune_with_few, n_votes)


def tune_case(make: Callable[[], Crowd], **changes: Any) -> Things:
    """One search; ``with_prior`` and ``with_truth`` are not settings but say what else is handed over."""
    from softspread import tune

    crowd = make()
    known = {"item_ids": crowd.item_ids, "classes": crowd.classes}
    known |= {"prior": crowd.prior} if changes.pop("with_prior", False) else {}
    known |= {"truth": crowd.truth} if changes.pop("with_truth", False) else {}
    return tuning_table(tune(crowd.X, crowd.votes, **(TUNE | known | changes)))


def tune_with_few(n_votes: int) -> Things:
    """Where several settings score alike, the usual one stays."""
    from softspread import tune

    found = {}
    for name, make in (("moons", moons), ("blobs", blobs), ("made", made)):
        crowd = make()
        votes = first_votes(crowd, n_votes)
        known = {"item_ids": crowd.item_ids, "classes": crowd.classes}
        found[name] = tuning_table(tune(crowd.X, votes, **(TUNE | known)))
    return found


def first_votes(crowd: Crowd, n_votes: int) -> Any:
    """The votes that came first."""
    from softspread import Votes

    return Votes.from_frame(crowd.votes.to_frame().iloc[:n_votes], classes=crowd.classes)


def query_cases() -> Iterator[Case]:
    """Every strategy before and after votes have warmed it up, at alphas inside and outside its own."""
    yield "query moons", lambda: queries(fitted(moons()), [0, 1, 2, 3])
    yield "query moons, 30 votes", partial(few_votes, 30)
    yield "query moons, 60 votes", partial(few_votes, 60)
    yield "query moons, alpha 0.99", lambda: queries(fitted(moons(), alpha=0.99), [0])
    rated = partial(fitted, annotator_model="consistency")
    yield "query blobs", lambda: queries(rated(blobs()), ["item_004", "item_100"])
    yield "query digits", lambda: queries(fitted(digits()), [5])
    yield "query digits, alpha 0.5", lambda: queries(fitted(digits(), alpha=0.5), [5])


def queries(est: Any, exclude: Any) -> Things:
    """Picks of all strategies, then those after a further vote."""
    found = {strategy: pick(est, strategy, exclude) for strategy in STRATEGIES}
    item = found["uncertainty"][:1]
    est.update(item, [est.classes_[0]], annotators=None, weights=None)
    return found | {"after a vote": pick(est, "uncertainty")}


def few_votes(n_votes: int) -> Things:
    """Picks before there are enough votes for anything."""
    est = fitted(moons(), votes=first_votes(moons(), n_votes), alpha="auto")
    return queries(est, None) | {"fit": all_answers(est), "quality": quality_of(est)}


def quality_cases() -> Iterator[Case]:
    """How good labels are, when to stop, and where a soft label comes from."""
    yield "quality moons", partial(judged, moons)
    yield "quality blobs", partial(judged, blobs)
    yield "quality blobs, consistency", partial(judged, blobs, annotator_model="consistency")
    yield "quality blobs, confusion", partial(judged, blobs, annotator_model="confusion")
    yield "quality digits", partial(judged, digits)
    yield "quality moons, prior", lambda: judged(moons, prior=moons().prior, prior_strength=2.0)


def judged(make: Callable[[], Crowd], **changes: Any) -> Things:
    """By held-out votes, by votes set apart, and looking ahead; the votes behind some soft labels."""
    crowd = make()
    est = fitted(crowd, **changes)
    apart = np.zeros(crowd.truth.shape, dtype=int)
    np.add.at(apart, draw_votes(crowd.truth, 150, 23, spread_over=50), 1)
    some = [0, 1, 57] if crowd.item_ids is None else crowd.item_ids[[0, 1, 57]].tolist()
    return {
        "held out": quality_of(est),
        "set apart": quality_of(est, apart),
        "forecast": forecast_of(est, 200),
        "explained": {str(item): est.explain(item, top=10) for item in some},
        "explained in full": est.explain(some[1], top=None),
        "annotators": est.annotators_,
    }


def quality_of(est: Any, counts: Any = None) -> Things:
    """Estimates with their intervals and what they rest on."""
    quality = est.quality(counts, confidence_level=0.9, random_state=6)
    names = ("source", "n_items", "n_votes", "n_repeated", "confidence_level")
    return {"table": quality.to_frame(), "facts": {name: getattr(quality, name) for name in names}}


def forecast_of(est: Any, more: int) -> Things:
    """What further votes would bring."""
    forecast = est.forecast(more, confidence_level=0.9, random_state=7)
    names = ("n_votes", "more", "rmse_now", "rmse_then", "gain", "points", "exponent")
    return {name: getattr(forecast, name) for name in names} | {"worthwhile": forecast.worthwhile(0.02)}


# --------------------------------------------------------------------------------- cases: all that is besides
def other_cases() -> Iterator[Case]:
    """Baselines, files of estimators, priors, plans, metrics, spaces."""
    yield "baselines", baselines
    for model in ("none", "consistency", "confusion"):
        changes = {"annotator_model": model, "alpha": "auto"}
        yield f"saved blobs, {model}", partial(round_trip, blobs, **changes)
    yield "saved moons", lambda: round_trip(moons, prior=moons().prior, prior_strength="auto")
    yield "saved digits", partial(round_trip, digits)
    yield "priors", priors
    yield "plans", plans
    yield "metrics", all_metrics
    yield "spaces", spaces


def baselines() -> Things:
    """What spreading is compared with."""
    from softspread import GaussianKernelRegression, KNeighborsVotes, VoteHistogram

    found = {}
    for name, make in SMALL.items():
        crowd = make()
        for est in (
            VoteHistogram(),
            GaussianKernelRegression(gamma=0.5, n_jobs=1, verbose=False),
            KNeighborsVotes(n_neighbors=7, n_jobs=1),
        ):
            est.fit(crowd.X, crowd.votes, item_ids=crowd.item_ids, classes=crowd.classes)
            loaded = saved_and_loaded(est)
            loaded.update(crowd.votes.items[:4], crowd.votes.labels[1:5], annotators=None, weights=None)
            found[f"{name} {type(est).__name__}"] = {
                "p": est.predict_proba(),
                "mass": est.predict_freq(),
                "label": est.predict(),
                "wilson": interval(est, "wilson"),
                "floor": interval(est, "wilson_floor", simultaneous=True),
                "updated": loaded.predict_proba(),
                **answers_for_new(est, np.vstack([crowd.X_new, crowd.X[:20]])),
            }
    return found


def saved_and_loaded(est: Any) -> Any:
    """A copy that has been in a file."""
    from softspread import load, save

    with tempfile.TemporaryDirectory() as folder:
        save(est, Path(folder) / "fit.softspread")
        return load(Path(folder) / "fit.softspread")


def round_trip(make: Callable[[], Crowd], **changes: Any) -> Things:
    """Copies, by a file and by pickle, that answer and learn on."""
    crowd = make()
    est = fitted(crowd, **changes)
    first = crowd.votes.to_frame().iloc[2]
    found = {}
    for name, copied in (("file", saved_and_loaded(est)), ("pickle", pickle.loads(pickle.dumps(est)))):
        found[f"{name}, at once"] = all_answers(copied, crowd.X_new)
        copied.undo([first["item"]], [first["label"]], annotators=first_name(first), weights=None)
        found[f"{name}, learned"] = all_answers(copied) | {"hoeffding": interval(copied, "hoeffding")}
        found[f"{name}, picked"] = pick(copied, "uncertainty")
    return found


def first_name(vote: Any) -> Any:
    """Who cast a vote, as a list; None where nobody is named."""
    return [vote["annotator"]] if "annotator" in vote else None


def priors() -> Things:
    """A classifier of the votes as a prior, and whether it helps."""
    from softspread import better_of, classifier_prior

    found = {}
    for name, make in SMALL.items():
        crowd = make()
        settings = {"item_ids": crowd.item_ids, "classes": crowd.classes, "n_folds": 5, "random_state": 8}
        prior = classifier_prior(crowd.X, crowd.votes, **settings)
        plain = fitted(crowd, alpha="auto", prior_strength="auto")
        helped = fitted(crowd, alpha="auto", prior_strength="auto", prior=prior)
        better = better_of(plain, helped) is helped
        found[name] = {"prior": prior, "helped": better, "fit": all_answers(helped)}
    return found


def plans() -> Things:
    """What the theory promises."""
    from softspread import plan

    asked = {
        "needed": {},
        "refined": {"bound": "refined", "n_classes": 5},
        "line": {"dimension": 1, "epsilon": 0.3, "delta": 0.1},
        "given": {"dimension": 1, "n_items": 10_000, "n_votes": 5_000},
        "dense": {"p_min": 0.5, "p_max": 2.0, "rho": 0.2, "r_0": 0.4, "lipschitz": 2.0},
        "twenty": {"dimension": 20},
    }
    derived = ("holds", "alpha", "radius", "zeta", "failure", "failure_closed", "log10_failure")
    counts = ("votes_per_item", "votes_per_item_counting")
    found = {}
    for name, changes in asked.items():
        made_plan = plan(**(PLAN | changes))
        found[name] = dataclasses.asdict(made_plan) | {"constants": made_plan.constants()}
        found[name] |= {fact: getattr(made_plan, fact) for fact in derived + counts}
    return found


def all_metrics() -> Things:
    """Every measure of distance, and the split of uncertainty."""
    from softspread import metrics, uncertainty_split

    measures = ("rmse", "mae", "kl_divergence", "total_variation", "accuracy")
    found: Things = {}
    for name, make in SMALL.items():
        crowd = make()
        p = crowd.prior
        lower, upper = np.maximum(p - 0.1, 0), np.minimum(p + 0.15, 1)
        found[name] = {measure: getattr(metrics, measure)(crowd.truth, p) for measure in measures}
        sure = np.eye(p.shape[1])[p.argmax(axis=1)]
        found[name]["kl of zeros"] = metrics.kl_divergence(crowd.truth, sure)
        found[name]["coverage"] = metrics.interval_coverage(crowd.truth, lower, upper)
        split = uncertainty_split(p, lower, upper, 10 * p[:, 0], agreement=0.6, narrow=0.2)
        found[name]["split"] = split.to_frame()
    return found


def spaces() -> Things:
    """Which of several spaces votes are better spread in."""
    from softspread import compare_spaces

    crowd = blobs()
    settings = {"votes": crowd.votes, "classes": crowd.truth.argmax(axis=1), "item_ids": crowd.item_ids}
    settings |= {"n_neighbors": 10, "n_jobs": 1, "random_state": 0}
    return {"table": compare_spaces({"all": crowd.X, "two": crowd.X[:, :2]}, **settings)}


# ------------------------------------------------------------------------------------------- cases: real data
def real_cases(data: Path) -> Iterator[Case]:
    """People's votes on images and tweets."""
    auto = {"alpha": "auto", "prior_strength": "auto"}
    for alpha in (0.5, 0.9, 0.99, "auto"):
        yield f"cifar10h, alpha {alpha}", partial(real_fit, cifar10h, data, alpha=alpha)
    yield "cifar10h, prior", lambda: real_fit(cifar10h, data, prior=cifar10h(data).prior, **auto)
    yield "cifar10h, answers", partial(real_answers, cifar10h, data)
    for name, make in (("labelme", labelme), ("mdagreement", mdagreement)):
        for model in ("none", "auto", "consistency", "confusion"):
            yield f"{name}, {model}", partial(real_fit, make, data, annotator_model=model)
        rated = {"annotator_model": "consistency"}
        yield f"{name}, alpha auto", partial(real_fit, make, data, alpha="auto", **rated)
        yield f"{name}, answers", partial(real_answers, make, data, **rated)
    for alpha in (0.5, "auto"):
        yield f"davidson, alpha {alpha}", partial(real_fit, davidson, data, alpha=alpha)
    yield "davidson, all auto", partial(real_fit, davidson, data, n_neighbors="auto", **auto)
    yield "davidson, answers", partial(real_answers, davidson, data, alpha=0.75)


def real_fit(make: Callable[[Path], Crowd], data: Path, **changes: Any) -> Things:
    """All answers of one fit with 20 neighbours."""
    return all_answers(fitted(make(data), **({"n_neighbors": 20} | changes)), make(data).X_new)


def real_answers(make: Callable[[Path], Crowd], data: Path, **changes: Any) -> Things:
    """Intervals, picks, quality and forecast."""
    crowd = make(data)
    est = fitted(crowd, **({"n_neighbors": 20} | changes))
    return {
        "wilson": interval(est, "wilson"),
        "hoeffding": interval(est, "hoeffding", crowd.X_new),
        "calibrated": interval(est, "calibrated"),
        "why": est.uncertainty(confidence_level=0.9, method="calibrated"),
        "picked": {strategy: pick(est, strategy) for strategy in STRATEGIES},
        "quality": quality_of(est),
        "forecast": forecast_of(est, 500),
        "explained": est.explain(3, top=20),
    }


# ------------------------------------------------------------------------------------ cases: the command line
ITEMS = ["--embeddings", "X.npy", "--ids", "ids.txt"]
VOTES = ["--votes", "votes.csv", "--votes-format", "long", "--classes", "cat,dog,owl"]
GRAPH = ["--n-neighbors", "10", "--bandwidth", "kth", "--index", "exact", "--threads", "1"]
SPREAD = ["--alpha", "0.9", "--prior-strength", "1e-4", "--annotator-model", "none"]
SEED = ["--seed", "0", "--json"]
LEVEL = ["--interval", "wilson", "--confidence", "0.9"]


def command_cases(folder: Path) -> Iterator[Case]:
    """Files in, files and JSON out. A later option wins over the same one before it."""
    whole = [*ITEMS, *VOTES, *GRAPH, *SPREAD, *paper_method()]
    spread = ["spread", *whole, *LEVEL]
    rated = ["--annotator-model", "consistency", "--alpha", "auto"]
    prior = ["--prior", "prior.npy", "--prior-strength", "auto"]
    learned = ["--prior", "votes", "--prior-strength", "auto", "--alpha", "auto"]
    more = ["--prior", "prior.npy", "--n-neighbors", "auto"]
    apart = ["--votes", "wide.csv", "--votes-format", "wide"]
    counts = ["--votes", "counts.csv", "--votes-format", "counts"]
    vectors = ["--embeddings", "vectors.parquet", "--votes", "tasks.json", "--votes-format", "labelstudio"]
    promise = ["--epsilon", "0.2", "--delta", "0.1", "--n-classes", "4"]
    spread_runs = {
        "parquet": [*spread, *rated, "--out", "soft.parquet"],
        "csv": [*spread, *apart, "--interval", "hoeffding", "--out", "soft.csv"],
        "tsv": [*spread, *learned, "--out", "soft.tsv"],
        "jsonl": [*spread, *counts, *prior, "--out", "soft.jsonl"],
        "labelstudio": [*without_ids(spread), *vectors, "--format", "labelstudio", "--out", "tasks_out.json"],
        "huggingface": [*spread, "--interval", "calibrated", "--format", "huggingface", "--out", "dataset"],
    }
    for name, words in spread_runs.items():
        yield f"command spread, {name}", partial(run_and_read, folder, words, words[-1])
    answers = {
        "tune": ["tune", *ITEMS, *VOTES, *GRAPH, "--score", "brier"],
        "tune, log and more": ["tune", *ITEMS, *VOTES, *GRAPH, *more, "--score", "log"],
        "quality": ["quality", *whole, *rated, "--confidence", "0.9"],
        "quality, set apart": ["quality", *whole, *apart, "--test-votes", "wide.csv", "--confidence", "0.8"],
        "explain": ["explain", "item_005", *whole, "--top", "8"],
        "plan": ["plan", "--dimension", "3", *promise, "--lipschitz", "1.0", "--bound", "theorem"],
        "demo": ["demo", "--draws", "1", "--out", "demo.html"],
    }
    for name, words in answers.items():
        yield f"command {name}", partial(run_and_read, folder, words, None)
    asked = ["--strategy", "uncertainty", "--batch-size", "15", "--exclude", "exclude.txt"]
    query = ["query", *whole, *asked, "--out", "next.csv"]
    yield "command query", partial(run_and_read, folder, query, "next.csv")
    graph = ["graph", *ITEMS, *GRAPH, "--out", "graph.softspread"]
    yield "command graph", partial(graph_command, folder, graph)
    yield "command export", partial(export_command, folder, spread)
    yield "command with a workspace", partial(workspace_commands, folder, spread, whole)


def paper_method() -> list[str]:
    """Names the paper's method, in versions that know another."""
    try:
        return ["--method", "pls"] if find_spec("softspread.estimators.methods") else []
    except ModuleNotFoundError:  # of the package around it
        return []


def last_of_each(words: list[str]) -> list[str]:
    """Every option once, with its last value: some may be repeated, and would be taken together."""
    found: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            found.pop(word, None)
            found[word] = []
        else:
            found.setdefault(next(reversed(found), ""), []).append(word)
    return [word for name, values in found.items() for word in [name, *values] if word]


def without_ids(words: list[str]) -> list[str]:
    """The same command for embeddings that bring their own ids."""
    at = words.index("--ids")
    return words[:at] + words[at + 2 :]


def make_files(folder: Path) -> None:
    """Embeddings, votes of every form and a prior, all of the blobs."""
    crowd = blobs()
    votes = crowd.votes.to_frame()
    np.save(folder / "X.npy", crowd.X)
    np.save(folder / "prior.npy", crowd.prior)
    (folder / "ids.txt").write_text("\n".join(crowd.item_ids) + "\n", encoding="utf-8")
    (folder / "exclude.txt").write_text("item_000\nitem_017\n", encoding="utf-8")
    pd.DataFrame({"item": crowd.item_ids, "vector": list(crowd.X)}).to_parquet(folder / "vectors.parquet")
    votes[["item", "label", "annotator"]].to_csv(folder / "votes.csv", index=False)
    single = votes.drop_duplicates(["item", "annotator"])
    wide = single.pivot_table(index="item", columns="annotator", values="label", aggfunc="first")
    wide.reset_index().to_csv(folder / "wide.csv", index=False)
    pd.crosstab(votes["item"], votes["label"]).reset_index().to_csv(folder / "counts.csv", index=False)
    by_item = enumerate(single.groupby("item"))
    tasks = [label_studio_task(number, item, part) for number, (item, part) in by_item]
    (folder / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")


def label_studio_task(number: int, item: Any, votes: Any) -> Things:
    """An item with its votes as Label Studio exports them."""
    annotations = []
    for place, vote in enumerate(votes.itertuples()):
        choice = {"from_name": "label", "to_name": "item", "type": "choices"}
        choice |= {"value": {"choices": [vote.label]}}
        who = {"id": 1_000 * number + place, "completed_by": {"email": vote.annotator}}
        annotations.append(who | {"was_cancelled": False, "result": [choice]})
    return {"id": number, "data": {"item": item}, "annotations": annotations}


def run_command(folder: Path, words: list[str]) -> Things:
    """The answer of ``python -m softspread`` in a process of its own, from the same place as ours."""
    import softspread

    source = str(Path(softspread.__file__).resolve().parents[1])
    path = os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "softspread", *last_of_each(words), *SEED],
        cwd=folder,
        env=os.environ | ONE_THREAD | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"softspread {words[0]} exited with {done.returncode}: {done.stderr[-500:]}")
    answer = json.loads(done.stdout)
    return answer | {"n_warnings": len(answer.get("warnings", []))}


def run_and_read(folder: Path, words: list[str], out: str | None) -> Things:
    """The answer of a command and what it wrote."""
    found = {"answer": run_command(folder, words)}
    if out is None:
        return found
    facts = folder / f"{out}.meta.json"
    if facts.exists():
        found["facts"] = json.loads(facts.read_text(encoding="utf-8"))
    return found | {"file": read_output(folder / out)}


def read_output(path: Path) -> Any:
    """A table that a command wrote; for Label Studio the tasks, one below the other."""
    if path.is_dir():
        return read_dataset(path)
    if path.suffix == ".parquet":
        return read_parquet(path)
    if path.suffix == ".jsonl":
        return pd.read_json(path, lines=True, precise_float=True, convert_dates=False)
    if path.suffix == ".json":
        tasks = json.loads(path.read_text(encoding="utf-8"))
        return pd.json_normalize(tasks, "predictions", [["data", "item"]])
    separator = "\t" if path.suffix == ".tsv" else ","
    return pd.read_csv(path, sep=separator, float_precision="round_trip")


def read_parquet(path: Path) -> Things:
    """The table and the facts inside."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return {"table": table.to_pandas(), "facts": json.loads(table.schema.metadata[b"softspread"])}


def read_dataset(folder: Path) -> Things:
    """A folder for Hugging Face datasets, read without them."""
    import pyarrow as pa

    found = {}
    for path in sorted(folder.glob("*.arrow")):
        with pa.memory_map(str(path)) as source:
            frame = pa.ipc.open_stream(source).read_all().to_pandas()
        found[path.stem] = {name: np.array(frame[name].tolist()) for name in frame.columns}
    return found


def graph_command(folder: Path, words: list[str]) -> Things:
    """A graph that the command line made."""
    from softspread import Graph

    answer = run_command(folder, words)
    return {"answer": answer, "graph": graph_facts(Graph.load(folder / "graph.softspread"))}


def export_command(folder: Path, spread: list[str]) -> Things:
    """Soft labels turned into weighted rows, those with little evidence left out."""
    run_command(folder, [*spread, "--interval", "wilson_floor", "--out", "source.parquet"])
    kept = ["--format", "weighted", "--least-evidence", "20"]
    words = ["export", "source.parquet", "--out", "weighted.tsv", *kept]
    found = run_and_read(folder, words, "weighted.tsv")
    return found | {"source": read_parquet(folder / "source.parquet")}


def workspace_commands(folder: Path, spread: list[str], whole: list[str]) -> Things:
    """Runs that go on from what earlier ones kept."""
    kept = ["--workspace", "kept", "--annotator-model", "confusion"]
    first = run_and_read(folder, [*spread, *kept, "--out", "first.csv"], "first.csv")
    second = run_and_read(folder, [*spread, *kept, "--out", "second.csv"], "second.csv")
    asked = ["--batch-size", "10", "--strategy", "uncertainty"]
    return {"first": first, "second": second, "query": run_command(folder, ["query", *whole, *kept, *asked])}


# ---------------------------------------------------------------------------------------- running and storing
def all_cases(folder: Path, data: Path | None) -> Iterator[Case]:
    """Everything, in order."""
    yield from setting_cases()
    yield from annotator_cases()
    yield from size_cases()
    yield from solver_cases()
    yield from graph_cases()
    yield from vote_cases()
    yield from interval_cases()
    yield from tuning_cases()
    yield from query_cases()
    yield from quality_cases()
    yield from other_cases()
    yield from command_cases(folder)
    if data is not None:
        yield from real_cases(data)


def store(target: Path, data: Path | None, only: str, show_times: bool) -> int:
    """Run the cases whose name contains ``only`` and keep what they gave; how many failed."""
    import softspread

    print(f"softspread from {Path(softspread.__file__).parent}")
    begin, entries, n_cases, failed = time.perf_counter(), {}, 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        for case, work in all_cases(folder, data):
            if only not in case:
                continue
            started = time.perf_counter()
            found = run_case(case, work)
            n_cases += 1
            failed += [case] if "error" in found else []
            entries.update({f"{case}/{thing}": array for thing, array in flat(found)})
            if show_times:
                print(f"{time.perf_counter() - started:7.2f} s  {case}", flush=True)
    with target.open("wb") as file:  # numpy would add an ending to a name without one
        np.savez_compressed(file, **entries, **circumstances())
    print(f"{n_cases} cases, {len(entries):,} entries in {time.perf_counter() - begin:.0f} s: {target}")
    for case in failed:
        print(f"FAILED: {case}")
    return len(failed)


def circumstances() -> dict[str, np.ndarray]:
    """What results hang on besides softspread; told by ``compare``, not judged."""
    facts = {name: version(name) for name in LIBRARIES} | {"python": platform.python_version()}
    facts |= {"this script": sha256(Path(__file__).read_bytes()).hexdigest()[:12]}
    facts |= {"processor": platform.machine(), "cores": str(os.cpu_count())}
    return {f"{ABOUT}{name}": np.array(fact) for name, fact in facts.items()}


def run_on_one_thread() -> None:
    """Start again where libraries might take more threads: they read these variables once, when loaded."""
    if any(os.environ.get(name) != number for name, number in ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | ONE_THREAD)


def run_case(case: str, work: Callable[[], Things]) -> Things:
    """What a case gives and how often it warned; where it fails, the error."""
    from softspread import SoftspreadWarning

    np.random.seed(0)  # noqa: NPY002 - pyamg draws from numpy's old generator
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SoftspreadWarning)
        try:
            found = work()
        except Exception as error:  # noqa: BLE001 - one broken case must not hide the others
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {error}"}
    return found | {"warnings given": len(told)}


def flat(value: Any, name: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Nested results as named arrays: "thing/part"."""
    if value is None:
        return
    if dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
        value = pd.DataFrame(list(value))
    if isinstance(value, pd.DataFrame):
        value = {str(column): value[column].tolist() for column in value.columns}
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key not in LEFT_OUT:
                yield from flat(part, f"{name}/{key}" if name else str(key))
        return
    yield name, as_array(value)


def as_array(value: Any) -> np.ndarray:
    """Numbers as numbers, None among them as not a number, and everything else as text."""
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        return np.array([json.dumps(part) for part in value])
    if array.dtype.kind in "biufU":
        return array
    entries = [np.nan if entry is None else entry for entry in array.ravel().tolist()]
    if all(isinstance(entry, int | float) and not abs(entry) >= 2**63 for entry in entries):
        return np.array(entries, dtype=np.float64).reshape(array.shape)
    return np.array([str(entry) for entry in entries]).reshape(array.shape)


# -------------------------------------------------------------------------------------------------- comparing
def compare(before: Path, after: Path, tol: float) -> int:
    """Print what differs; how many entries differ by more than ``tol``, are unequal, or are gone."""
    with np.load(before, allow_pickle=False) as old, np.load(after, allow_pickle=False) as new:
        tell_circumstances(old, new)
        gone = [name for name in results(old) if name not in new.files]
        fresh = [name for name in results(new) if name not in old.files]
        both = [name for name in results(old) if name in new.files]
        differences = {name: difference(old[name], new[name]) for name in both}
    changed = {name: found for name, found in differences.items() if found != 0}
    too_far = [name for name, found in changed.items() if isinstance(found, str) or found > tol]
    show_changes(changed, too_far)
    for title, names in (("gone", gone), ("new", fresh)):
        for name in names:
            print(f"{title}: {name}")
    same, close = len(both) - len(changed), len(changed) - len(too_far)
    print(f"{len(both):,} entries in both: {same:,} the same to the last digit, {close:,} within {tol:g}")
    print(f"{len(too_far):,} further apart or unequal, {len(gone):,} gone, {len(fresh):,} new")
    return len(too_far) + len(gone)


def results(file: Any) -> list[str]:
    """Names of all entries but the circumstances."""
    return [name for name in file.files if not name.startswith(ABOUT)]


def tell_circumstances(old: Any, new: Any) -> None:
    """Say what else was not the same."""
    for name in sorted({*old.files, *new.files} - {*results(old), *results(new)}):
        first, second = (str(file[name]) if name in file.files else "unknown" for file in (old, new))
        if first != second:
            print(f"note: {name.removeprefix(ABOUT)} was {first}, is {second}")


def difference(old: np.ndarray, new: np.ndarray) -> float | str:
    """The largest absolute difference of two entries, or in words why there is none."""
    if old.shape != new.shape:
        return f"shape {old.shape} became {new.shape}"
    numbers = [array.dtype.kind in "biuf" for array in (old, new)]
    if not any(numbers):
        unequal = int((old != new).sum())
        return f"{unequal} of {old.size} texts differ" if unequal else 0.0
    if not all(numbers):
        return "numbers became text" if numbers[0] else "text became numbers"
    if (old == new).all():
        return 0.0
    first, second = old.astype(np.float64), new.astype(np.float64)
    finite = np.isfinite(first) & np.isfinite(second)
    if not np.array_equal(first[~finite], second[~finite], equal_nan=True):
        return "other entries are not finite"
    return float(np.abs(first[finite] - second[finite]).max(initial=0.0))


def show_changes(changed: Mapping[str, float | str], too_far: list[str]) -> None:
    """One line per entry that differs, the largest differences last, where they are seen."""
    if not changed:
        return
    print("largest absolute difference    entry")
    in_words = {name: found for name, found in changed.items() if isinstance(found, str)}
    in_numbers = {name: found for name, found in changed.items() if not isinstance(found, str)}
    for name in [*sorted(in_numbers, key=in_numbers.__getitem__), *in_words]:
        found = changed[name]
        shown = found if isinstance(found, str) else f"{found:.3e}"
        print(f"{'! ' if name in too_far else '  '}{shown:<28} {name}")


def main() -> int:
    """Read the command line; the exit code."""
    parser = argparse.ArgumentParser(description="Does another version of softspread give the same results?")
    commands = parser.add_subparsers(dest="command", required=True)
    storing = commands.add_parser("store", help="run all cases and keep the results")
    storing.add_argument("file", type=Path)
    storing.add_argument("--data", type=Path, default=None, help="folder of the shared data")
    storing.add_argument("--only", default="", help="only cases whose name contains this")
    storing.add_argument("--times", action="store_true", help="print how long each case takes")
    comparing = commands.add_parser("compare", help="show where two files of results differ")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    comparing.add_argument("--tol", type=float, default=1e-12)
    given = parser.parse_args()
    if given.command == "store":
        run_on_one_thread()
        return int(store(given.file, given.data, given.only, given.times) > 0)
    return int(compare(given.before, given.after, given.tol) > 0)


if __name__ == "__main__":
    sys.exit(main())
