"""Annotator models side by side: majority, Dawid-Skene, spreading, consistency, confusion.

    python experiments/annotators.py --data FOLDER [--only labelme|cifar10h|flags|failures] [--crowd NAME]
    [--draws 3]

``FOLDER`` holds ``labelme`` and ``cifar10h``. labelme: error and Brier score against the gold labels.
cifar10h: 40 simulated annotators, one vote an item, root mean squared error to the soft labels of about 50
real people. Dawid-Skene is crowd-kit's (``pip install crowd-kit``, which brings no torch); where that is not
installed its column stays empty.
"""

import argparse
import time
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from softspread import knn_graph
from softspread._common.types import FloatArray, IntArray
from softspread.annotators.fit import KAPPAS, fit_annotators
from softspread.annotators.report import AnnotatorFit
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.graph.graph import Graph
from softspread.spreading.evidence import soft_labels
from softspread.tuning.candidates import SearchSpace
from softspread.tuning.search import choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable

ALPHAS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
METHODS = ("majority", "dawid-skene", "plain", "consistency", "confusion")
N_ANNOTATORS = 40
# how many of the 40 are honest, noisy (40 % at random), uniform spammers, one-class spammers, confusers
CROWDS = {
    "mixed crowd": (20, 8, 6, 3, 3),
    "85 % spammers": (6, 0, 24, 10, 0),
    "all honest": (40, 0, 0, 0, 0),
}
Score = Callable[[FloatArray], list[float]]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--only", choices=("labelme", "cifar10h", "flags", "failures"))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--crowd", choices=CROWDS, help="of cifar10h; all of them by default")
    parser.add_argument("--features", default="features_efflite2_umap20", help="of cifar10h")
    given = parser.parse_args()
    wanted = (given.only,) if given.only else ("labelme", "cifar10h", "flags", "failures")
    if find_spec("crowdkit") is None:
        print("Dawid-Skene is skipped: crowd-kit is not installed (pip install crowd-kit).")
    chosen = {name: kinds for name, kinds in CROWDS.items() if given.crowd in (None, name)}
    if "labelme" in wanted:
        show_labelme(given.data / "labelme", given.draws)
    if "cifar10h" in wanted:
        show_simulated(given.data / "cifar10h", given.features, given.draws, chosen)
    if "flags" in wanted:
        show_flags(given.data / "labelme", given.draws)
    if "failures" in wanted:
        show_failures(given.data / "labelme", given.draws)


# ---------------------------------------------------------------------------------------------------- methods
def diffusions(graph: Graph) -> Callable[[float], Diffusion]:
    """One diffusion per alpha, kept."""
    return lru_cache(maxsize=None)(lambda alpha: Diffusion(graph, alpha, tol=1e-5))


def spread(
    at: Callable[[float], Diffusion], votes: VoteTable, n_classes: int, alpha: float, kappa: float
) -> FloatArray:
    """Soft labels of all items, in the user's order."""
    diffusion = at(alpha)
    mass = diffusion.spread_entries(votes.rows, votes.columns, votes.weights, n_classes, 1e-7).mass()
    return soft_labels(mass, np.full((1, n_classes), 1 / n_classes), kappa)


def majority(votes: VoteTable, n: int, n_classes: int) -> FloatArray:
    """Share of an item's own votes."""
    return soft_labels(votes.counts(n, n_classes), np.full((1, n_classes), 1 / n_classes), 1e-4)


def dawid_skene(votes: VoteTable, n: int, n_classes: int) -> FloatArray | None:
    """Crowd-kit's, None where it is not installed; items without votes get the class shares."""
    if find_spec("crowdkit") is None:
        return None
    from crowdkit.aggregation import DawidSkene

    table = pd.DataFrame({"task": votes.rows, "worker": votes.annotators, "label": votes.columns})
    found = DawidSkene(n_iter=100).fit_predict_proba(table)
    shares = np.bincount(votes.columns, minlength=n_classes) / len(votes)
    out = np.tile(shares, (n, 1))
    out[found.index] = found.reindex(columns=range(n_classes), fill_value=0.0).to_numpy()
    return out


def fit(
    at: Callable[[float], Diffusion], votes: VoteTable, n_classes: int, confusion: bool = False
) -> AnnotatorFit:
    """Annotators rated, alpha and strength chosen by held-out votes."""
    space = SearchSpace(alphas=ALPHAS, strengths=KAPPAS)

    def choose(ballots: Ballots, _: bool) -> tuple[Diffusion, float]:
        found = choose_parameters(at(ALPHAS[0]).graph, ballots, space)
        return at(found.alpha), found.prior_strength

    return fit_annotators(at(ALPHAS[0]), votes, n_classes, choose=choose, confusion=confusion)


def all_methods(
    at: Callable[[float], Diffusion], votes: VoteTable, n_classes: int, score: Score
) -> list[list[float]]:
    """Scores of METHODS, in order."""
    n = at(ALPHAS[0]).graph.n_items
    unnamed = VoteTable(votes.rows, votes.columns, votes.weights)
    plain = fit(at, unnamed, n_classes)
    soft = fit(at, votes, n_classes, confusion=True)
    start = time.perf_counter()
    rated = fit(at, votes, n_classes)
    print(
        f"    plain alpha {plain.alpha}, rated alpha {rated.alpha} kappa {rated.kappa}, "
        f"{len(rated.report.annotator)} annotators, {len(votes)} votes, consistency fit "
        f"{time.perf_counter() - start:.1f} s",
        flush=True,
    )
    answers: list[FloatArray | None] = [majority(votes, n, n_classes), dawid_skene(votes, n, n_classes)]
    for found in (plain, rated, soft):
        counted = Weighting(found, votes).apply(votes)
        answers.append(spread(at, counted, n_classes, found.alpha, found.kappa))
    return [[] if p is None else score(p) for p in answers]


def show(title: str, draws: list[list[list[float]]]) -> None:
    """One line: mean over draws."""
    means = [np.mean(scores, axis=0) for scores in zip(*draws, strict=True)]
    cells = [
        " / ".join(f"{value:.4f}" for value in np.atleast_1d(mean)) if np.size(mean) else "-"
        for mean in means
    ]
    print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


# ---------------------------------------------------------------------------------------------------- labelme
def load_labelme(folder: Path) -> tuple[Graph, VoteTable, IntArray]:
    """Graph, votes and gold labels."""
    table = np.load(folder / "annotations.npy")
    rows, who = np.nonzero(table >= 0)
    votes = VoteTable(rows, table[rows, who].astype(np.int64), np.ones(len(rows)), who.astype(object))
    return (
        knn_graph(np.load(folder / "features_vgg16_umap20.npy")),
        votes,
        np.load(folder / "labels.npy").astype(np.int64),
    )


def subset(votes: VoteTable, kept: IntArray) -> VoteTable:
    """Some of the votes."""
    names = None if votes.annotators is None else votes.annotators[kept]
    return VoteTable(votes.rows[kept], votes.columns[kept], votes.weights[kept], names)


def gold_score(gold: IntArray, n_classes: int) -> Score:
    """Error and Brier score."""
    truth = np.eye(n_classes)[gold]
    return lambda p: [float((p.argmax(axis=1) != gold).mean()), float(((p - truth) ** 2).sum(axis=1).mean())]


def show_labelme(folder: Path, n_draws: int) -> None:
    """All votes, and one vote an item."""
    graph, votes, gold = load_labelme(folder)
    at, score = diffusions(graph), gold_score(gold, 8)
    print("| error / Brier | " + " | ".join(METHODS) + " |")
    show("labelme, all votes", [all_methods(at, votes, 8, score)])
    draws = []
    for seed in range(n_draws):
        order = np.random.default_rng(seed).permutation(len(votes))
        first = order[np.unique(votes.rows[order], return_index=True)[1]]
        draws.append(all_methods(at, subset(votes, first), 8, score))
    show(f"labelme, 1 vote an item, {n_draws} draws", draws)


# ------------------------------------------------------------------------------------------ simulated crowds
def simulate(soft: FloatArray, crowd: tuple[int, int, int, int, int], rng: np.random.Generator) -> VoteTable:
    """One vote an item; who votes on what is drawn at random."""
    n, n_classes = soft.shape
    who = rng.permutation(np.arange(n) % N_ANNOTATORS)
    honest = (rng.random((n, 1)) > np.cumsum(soft, axis=1)).sum(axis=1).clip(0, n_classes - 1)
    uniform = rng.integers(0, n_classes, n)
    favourite = rng.integers(0, n_classes, N_ANNOTATORS)[who]
    swapped = honest ^ 1  # a confuser takes each class of a pair for the other ...
    half = rng.random(n) < 0.5  # ... every other time
    kind = np.repeat(np.arange(5), crowd)[who]
    noisy = np.where(rng.random(n) < 0.4, uniform, honest)
    columns = np.choose(kind, [honest, noisy, uniform, favourite, np.where(half, swapped, honest)])
    return VoteTable(np.arange(n), columns, np.ones(n), who.astype(object))


def show_simulated(
    folder: Path, features: str, n_draws: int, crowds: dict[str, tuple[int, int, int, int, int]]
) -> None:
    """Root mean squared error to the real soft labels."""
    counts = np.load(folder / "counts.npy").astype(np.float64)
    soft = counts / counts.sum(axis=1, keepdims=True)
    at = diffusions(knn_graph(np.load(folder / f"{features}.npy")))
    print(f"| RMSE, {features} | " + " | ".join(METHODS) + " |")
    for name, crowd in crowds.items():
        draws = []
        for seed in range(n_draws):
            votes = simulate(soft, crowd, np.random.default_rng(seed))
            draws.append(all_methods(at, votes, 10, lambda p: [float(np.sqrt(((p - soft) ** 2).mean()))]))
        show(f"cifar10h, {name}, {n_draws} draws", draws)


# ---------------------------------------------------------------------------------------- flags and failures
def planted(votes: VoteTable, n: int, columns: IntArray, rows: IntArray, name: str) -> VoteTable:
    """The votes and those of one more annotator."""
    names = np.append(votes.annotators, np.full(len(rows), name, dtype=object))
    return VoteTable(
        np.append(votes.rows, rows), np.append(votes.columns, columns), np.ones(len(votes) + len(rows)), names
    )


def show_flags(folder: Path, n_draws: int) -> None:
    """How often a planted uniform spammer, and a planted honest annotator, is flagged."""
    graph, votes, gold = load_labelme(folder)
    at = diffusions(graph)
    print("| votes | spammers flagged | honest flagged | real annotators flagged (mean) |")
    for size in (20, 40, 80):
        caught, wronged, others = 0, 0, 0
        for seed in range(5 * n_draws):
            rng = np.random.default_rng(seed)
            rows = rng.choice(1000, (2, size), replace=False)
            both = planted(votes, 1000, rng.integers(0, 8, size), rows[0], "spammer")
            wrong = rng.random(size) < 0.2
            honest = np.where(wrong, rng.integers(0, 8, size), gold[rows[1]])
            both = planted(both, 1000, honest, rows[1], "honest")
            names, flag = _flags(at, both)
            caught += bool(flag[names == "spammer"][0])
            wronged += bool(flag[names == "honest"][0])
            others += int(flag.sum()) - bool(flag[names == "spammer"][0]) - bool(flag[names == "honest"][0])
        total = 5 * n_draws
        print(f"| {size} | {caught} of {total} | {wronged} of {total} | {others / total:.2f} |", flush=True)


def _flags(at: Callable[[float], Diffusion], votes: VoteTable) -> tuple[np.ndarray, np.ndarray]:
    report = fit(at, votes, 8).report
    return report.annotator, report.flag == "does not follow"


def show_failures(folder: Path, n_draws: int) -> None:
    """Collusion (everyone in the ring names the next class) and a confusion half the crowd shares."""
    graph, votes, gold = load_labelme(folder)
    at, score = diffusions(graph), gold_score(gold, 8)
    print("| error / Brier | " + " | ".join(METHODS) + " |")
    for share in (0.2, 0.35, 0.45, 0.55):
        draws = []
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            ring = rng.random(59) < share
            columns = np.where(ring[votes.annotators.astype(int)], (gold[votes.rows] + 1) % 8, votes.columns)
            draws.append(
                all_methods(at, VoteTable(votes.rows, columns, votes.weights, votes.annotators), 8, score)
            )
        show(f"labelme, {share:.0%} collude", draws)
    draws = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        half = rng.random(59) < 0.5
        fooled = half[votes.annotators.astype(int)] & (gold[votes.rows] == 2)
        columns = np.where(fooled, 3, votes.columns)
        draws.append(
            all_methods(at, VoteTable(votes.rows, columns, votes.weights, votes.annotators), 8, score)
        )
    show("labelme, half of the crowd takes class 2 for 3", draws)


if __name__ == "__main__":
    main()
