"""What models that vote beside people are worth, and what bad ones cost.

    python -m experiments.models --data DIR --draws 2

People's votes are drawn from human counts, one per item drawn at random. Beside them vote a good model
(asked five times per item), a panel of nine that mostly err together, a panel of five that guess, and one
that always says the same class. Four answers, at equal human budget: people alone, people and models, models
alone, and models taken for people. Design sets (their results shaped the rules): davidson and simulated
clouds. Judging sets, looked at only once the rules stood: cifar10h, whose good model is a CIFAR-10 classifier
whose probabilities are sampled, and mdagreement. The error is the RMSE to the share of all human votes.
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from experiments.stored import store

from softspread import Graph, SoftLabeler, SoftspreadWarning, Votes, knn_graph
from softspread.metrics import rmse

SIZE = 1_000
BUDGETS = (100, 400)
SAMPLES = 5  # of the good model, per item
SETS = {
    "davidson": ("design", "features_minilm_umap20.npy"),
    "clouds": ("design", None),
    "cifar10h": ("judging", "features_efflite2_umap20.npy"),
    "mdagreement": ("judging", "features_tfidfsvd50_f16.npy"),
}


class Task(NamedTuple):
    """Items with known soft labels, and what a good model says about them."""

    name: str
    graph: Graph
    truth: Any  # (n, n_classes)
    good: Any  # (n, n_classes)  probabilities of the good model


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit everything and store the tables."""
    parser = argparse.ArgumentParser(prog="python -m experiments.models", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", SoftspreadWarning)
    rows: dict[str, list[dict[str, Any]]] = {"design": [], "judging": []}
    for name in options.sets:
        role = SETS[name][0]
        for draw in range(options.draws):
            rows[role] += measured(load(name, options.data, np.random.default_rng(draw)), draw)
        table = summed_up(pd.DataFrame(rows[role]))
        print(f"\n{role}\n{table.to_string(index=False)}")
        store("models", {f"models beside people, {role} sets": table})


def load(name: str, folder: Path, rng: np.random.Generator) -> Task:
    """A random part of a dataset."""
    if SETS[name][1] is None:
        return clouds(rng)
    counts = np.load(folder / name / "counts.npy").astype(np.float64)
    rows = np.sort(rng.choice(len(counts), min(SIZE, len(counts)), replace=False))
    X = np.load(folder / name / str(SETS[name][1]))[rows].astype(np.float64)
    truth = counts[rows] / counts[rows].sum(axis=1, keepdims=True)
    graph = knn_graph(X, 20, random_state=0, n_jobs=1)
    if name == "cifar10h":
        good = np.load(folder / name / "classifier_probs.npy")[rows].astype(np.float64)
        return Task(name, graph, truth, good / good.sum(axis=1, keepdims=True))
    return Task(name, graph, truth, blurred(truth, rng))


def clouds(rng: np.random.Generator) -> Task:
    """Four clouds in three dimensions; soft labels change smoothly between them."""
    centres = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2.0]])
    X = np.concatenate([rng.normal(centre, 0.9, size=(SIZE // 4, 3)) for centre in centres])
    near = np.exp(-((X[:, None] - centres) ** 2).sum(axis=2))
    truth = near / near.sum(axis=1, keepdims=True)
    return Task("clouds", knn_graph(X, 20, random_state=0, n_jobs=1), truth, blurred(truth, rng))


def blurred(truth: Any, rng: np.random.Generator) -> Any:
    """A model that is too sure of itself and wrong about one item in eight."""
    sharp = truth**2 / (truth**2).sum(axis=1, keepdims=True)
    wrong = rng.random(len(truth)) < 0.125
    return np.where(wrong[:, None], sharp[:, rng.permutation(truth.shape[1])], sharp)


# ----------------------------------------------------------------------------------------------------- models
def drawn(p: Any, rng: np.random.Generator) -> Any:
    """One label per row."""
    return (np.cumsum(p, axis=1) < rng.random(len(p))[:, None] * p.sum(axis=1)[:, None]).sum(axis=1)


def good(task: Task, rng: np.random.Generator) -> list[Any]:
    """One model, asked several times about every item."""
    return [np.stack([drawn(task.good, rng) for _ in range(SAMPLES)])]


def together(task: Task, rng: np.random.Generator) -> list[Any]:
    """Nine models; on a quarter of the items all of them say the same wrong class nine times out of ten."""
    n, n_classes = task.truth.shape
    best = task.truth.argmax(axis=1)
    fooled, wrong = rng.random(n) < 0.25, (best + rng.integers(1, n_classes, n)) % n_classes
    said = []
    for _ in range(9):
        own = np.where(rng.random(n) < 0.9, np.where(fooled, wrong, best), rng.integers(n_classes, size=n))
        said.append(own[None])
    return said


def guessing(task: Task, rng: np.random.Generator) -> list[Any]:
    """Five models that say anything."""
    return [rng.integers(task.truth.shape[1], size=(1, len(task.truth))) for _ in range(5)]


def stuck(task: Task, rng: np.random.Generator) -> list[Any]:
    """One model that always says the rarest class."""
    return [np.full((1, len(task.truth)), task.truth.sum(axis=0).argmin())]


PANELS: dict[str, Callable[[Task, np.random.Generator], list[Any]]] = {
    "a good one, 5 samples": good,
    "9 that err together": together,
    "5 that guess": guessing,
    "1 that always says the same": stuck,
}


# -------------------------------------------------------------------------------------------------- measuring
def measured(task: Task, draw: int) -> list[dict[str, Any]]:
    """One line per budget and panel."""
    rng = np.random.default_rng(1_000 + draw)
    panels = {name: model_votes(make(task, rng)) for name, make in PANELS.items()}
    n, rows = len(task.truth), []
    alone = {name: error(task, None, said) for name, said in panels.items()}
    for budget in BUDGETS:
        items = rng.integers(n, size=budget)
        people = Votes.from_pairs(items, drawn(task.truth[items], rng), [f"p{i}" for i in range(budget)])
        before = error(task, people, None)
        for name, said in panels.items():
            both = error(task, people, said)
            row = {"set": task.name, "votes": budget, "models": name, "draw": draw, "people": before}
            row |= {"people + models": both, "models alone": alone[name]}
            row["models as people"] = error(task, people, said, as_people=True)
            rows.append(row)
            print(" ".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row.values()), flush=True)
    return rows


def model_votes(said: list[Any]) -> Votes:
    """Votes of every model on every item."""
    parts = []
    for number, labels in enumerate(said):
        items = np.tile(np.arange(labels.shape[1]), len(labels))
        parts.append(Votes.from_pairs(items, labels.ravel(), [f"model {number}"] * len(items)))
    return sum(parts[1:], parts[0])


def error(task: Task, people: Votes | None, models: Votes | None, as_people: bool = False) -> float:
    """RMSE of the soft labels of one fit."""
    given = [votes for votes in (people, models) if votes is not None]
    votes = sum(given[1:], given[0])
    names = [] if models is None or as_people else list(dict.fromkeys(models.annotators.tolist()))
    lab = SoftLabeler(n_jobs=1, random_state=0)
    lab.fit(task.graph, votes, classes=range(task.truth.shape[1]), model_annotators=names)
    return rmse(lab.predict_proba(), task.truth)


def summed_up(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean errors per set, budget and panel; the ratio to people alone on average and in the worst draw."""
    runs = runs.assign(ratio=runs["people + models"] / runs["people"])
    grouped = runs.groupby(["set", "votes", "models"], sort=False)
    means = grouped[["people", "people + models", "models alone", "models as people"]].mean()
    ratio = means["people + models"] / means["people"]
    table = means.assign(ratio=ratio, worst=grouped["ratio"].max()).reset_index()
    return table.rename(columns={"ratio": "to people alone", "worst": "worst draw"})


if __name__ == "__main__":
    main()
