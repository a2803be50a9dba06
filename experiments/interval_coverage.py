"""Measure what intervals cover: simulated votes on data whose true soft labels are known.

    python experiments/interval_coverage.py [--data FOLDER] [--only NAME ...] [--draws N] [--budget B]

For each dataset and budget: draws of votes, uniformly with replacement (the sine curve has a region with few votes),
alpha by the leave-one-vote-out Brier score (sine curve: 0.99, as in the paper), then per method and level the share of
entries (item and class) that lie in their interval, the same for entries with a true probability above 0.05, and the
mean width; for the level 0.9 also the coverage in each decile of evidence, and that of entries that are truly
0. Means over the draws, and for the calibrated interval the lowest and highest draw. Prints Markdown. Several classes:
one to three minutes for each case on a quiet core.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import cross_val_predict
from sklearn.neural_network import MLPClassifier

from softspread import knn_graph
from softspread.calibration import ALPHAS, EXACT_ALPHA, calibrated, fit_calibrated
from softspread.data import FloatArray, IntArray
from softspread.errors import SoftspreadWarning
from softspread.graph.operator import Graph
from softspread.intervals import estimate_lipschitz, hoeffding, sums_of_squares, wilson
from softspread.spreading import Diffusion, soft_labels
from softspread.votes import VoteTable

LEVELS = (0.5, 0.9, 0.95, 0.99)
METHODS = ("wilson", "wilson, not snapped", "wilson_floor", "hoeffding, no bias", "hoeffding", "calibrated")
NOTICEABLE = 0.05  # entries above: most others are 0, and any interval that starts at 0 covers them
PRIOR_STRENGTH = 1e-4
SOLVE_TOL = 1e-7
SMALL = 2000  # items; above, alphas beyond 0.95 are not tried: their scales take minutes (mnist would gain by 0.99)
DEFAULT_DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"


@dataclass(frozen=True)
class Case:
    """Items with known soft labels, and where votes fall."""

    name: str
    X: FloatArray
    truth: FloatArray
    budgets: tuple[float, ...]
    draws: int
    alpha: float | None = None  # None = by leave-one-vote-out
    chances: FloatArray | None = None  # (n,)  how likely a vote falls on an item, uniform if None
    second_votes: int = 0  # votes set aside for items that have one already


class Spreader:
    """Diffusions of one graph, kept over all draws."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.at = {alpha: Diffusion(graph, alpha, scaling="source", n_jobs=1) for alpha in ALPHAS}
        self.choices = [alpha for alpha in ALPHAS if graph.n_items <= SMALL or alpha <= EXACT_ALPHA]

    def mass(self, alpha: float, votes: VoteTable, n_classes: int) -> FloatArray:
        diffusion = self.at[alpha]
        rows = diffusion.rank[votes.rows]
        B = np.zeros((self.graph.n_items, n_classes))
        np.add.at(B, (rows, votes.columns), diffusion.sources(rows, votes.weights))
        inner = np.maximum(diffusion.mass(diffusion.solve(B, SOLVE_TOL).X), 0.0)
        return np.asarray(self.graph.to_user_order(inner))

    def choose(self, votes: VoteTable, n_classes: int) -> tuple[float, FloatArray]:
        """The alpha with the best leave-one-vote-out Brier score, and its mass."""
        best: tuple[float, float, FloatArray] | None = None
        for alpha in self.choices:
            mass = self.mass(alpha, votes, n_classes)
            held_out = mass[votes.rows]
            held_out[np.arange(len(votes)), votes.columns] -= 1.0
            chances = soft_labels(held_out, np.full(n_classes, 1 / n_classes), PRIOR_STRENGTH)
            hit = chances[np.arange(len(votes)), votes.columns]
            score = float(((chances**2).sum(axis=1) - 2 * hit + 1).mean())
            if best is None or score < best[0]:
                best = (score, alpha, mass)
        assert best is not None
        return best[1], best[2]


def draw_votes(case: Case, budget: float, rng: np.random.Generator) -> VoteTable:
    """Items with replacement, classes from the true soft labels."""
    n, n_classes = case.truth.shape
    chances = None if case.chances is None else case.chances / case.chances.sum()
    rows = rng.choice(n, size=round(budget * n), p=chances)
    if case.second_votes:
        rows = np.concatenate([rows, rng.choice(np.unique(rows), case.second_votes, replace=False)])
    steps = case.truth[rows].cumsum(axis=1)
    columns = np.minimum((rng.random((len(rows), 1)) > steps).sum(axis=1), n_classes - 1)
    return VoteTable(rows.astype(np.int64), columns.astype(np.int64), np.ones(len(rows)))


def all_intervals(
    spreader: Spreader, alpha: float, votes: VoteTable, mass: FloatArray
) -> tuple[FloatArray, Callable[[str, float], tuple[FloatArray, FloatArray]]]:
    """Soft labels, and a function that gives the interval of a method at a level."""
    n_classes = mass.shape[1]
    p = soft_labels(mass, np.full(n_classes, 1 / n_classes), PRIOR_STRENGTH)
    diffusion = spreader.at[alpha]
    lipschitz = estimate_lipschitz(spreader.graph, p, mass.sum(axis=1))
    biased = sums_of_squares(diffusion, votes, mass, lipschitz=lipschitz)
    plain = replace(biased, bias=np.zeros(len(mass)), lipschitz=0.0)
    fit = fit_calibrated(diffusion, votes, mass, sums=plain, diffusions=spreader.at)

    def interval(method: str, level: float) -> tuple[FloatArray, FloatArray]:
        if method.startswith("wilson"):
            return wilson(mass, level, rounded=method == "wilson_floor", snapped="not snapped" not in method)
        if method == "calibrated":
            return calibrated(fit, p, level)
        return hoeffding(p, mass, plain if "no bias" in method else biased, level)

    return p, interval


def deciles(evidence: FloatArray) -> list[IntArray]:
    """Ten equal groups of items, least evidence first."""
    return [np.asarray(part) for part in np.array_split(np.argsort(evidence, kind="stable"), 10)]


def measure(case: Case, budget: float) -> None:
    """Print the table of one dataset at one budget."""
    graph = knn_graph(case.X, n_neighbors=20, n_jobs=1)
    spreader = Spreader(graph)
    started = time.process_time()
    found: dict[tuple[str, float], list[tuple[float, ...]]] = {(m, v): [] for m in METHODS for v in LEVELS}
    alphas, repeats = [], []
    for draw in range(case.draws):
        votes = draw_votes(case, budget, np.random.default_rng(draw))
        n_classes = case.truth.shape[1]
        if case.alpha is None:
            alpha, mass = spreader.choose(votes, n_classes)
        else:
            alpha, mass = case.alpha, spreader.mass(case.alpha, votes, n_classes)
        alphas.append(alpha)
        repeats.append(int((np.bincount(votes.rows) > 1).sum()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)
            _, interval = all_intervals(spreader, alpha, votes, mass)
        parts = deciles(mass.sum(axis=1))
        noticeable, zero = case.truth > NOTICEABLE, case.truth == 0
        for (method, level), runs in found.items():
            lower, upper = interval(method, level)
            inside = (lower <= case.truth) & (case.truth <= upper)
            at_zero = inside[zero].mean() if zero.any() else np.nan
            overall = (inside.mean(), inside[noticeable].mean(), (upper - lower).mean(), at_zero)
            runs.append((*overall, *(inside[part].mean() for part in parts)))
    report(case, budget, found, alphas, repeats, (time.process_time() - started) / case.draws)


def report(
    case: Case,
    budget: float,
    found: dict[tuple[str, float], list[tuple[float, ...]]],
    alphas: list[float],
    repeats: list[int],
    seconds: float,
) -> None:
    """Print what all draws of one case gave."""
    n, n_classes = case.truth.shape
    chosen = ", ".join(f"{alpha:g}" for alpha in sorted(set(alphas)))
    print(f"\n### {case.name}: {n} items, {n_classes} classes, budget {budget:.0%}, {case.draws} draws\n")
    print(
        f"alpha {chosen}; {np.mean(repeats):.0f} items with two or more votes; {seconds:.1f} s of one core a draw. "
        "Each cell: coverage / coverage where p > 0.05 / mean width.\n"
    )
    print("| method | " + " | ".join(f"{level:g}" for level in LEVELS) + " | deciles of evidence at 0.9 |")
    print("|---|" + "---|" * (len(LEVELS) + 1))
    for method in METHODS:
        cells = []
        for level in LEVELS:
            inside, noticeable, width = np.mean(found[method, level], axis=0)[:3]
            cells.append(f"{inside:.3f} / {noticeable:.3f} / {width:.3f}")
        by_decile = np.mean(found[method, 0.9], axis=0)[4:]
        print(f"| {method} | " + " | ".join(cells) + " | " + " ".join(f"{x:.2f}" for x in by_decile) + " |")
    if (case.truth == 0).any():
        zeros = ", ".join(f"{method} {np.mean(found[method, 0.9], axis=0)[3]:.3f}" for method in METHODS)
        print(f"\nTrue zeros ({(case.truth == 0).mean():.0%} of all entries) covered at 0.9: {zeros}.")
    for level in (0.9, 0.95):
        runs = np.array(found["calibrated", level])
        print(
            f"\nCalibrated at {level:g}: draws {runs[:, 0].min():.3f} to {runs[:, 0].max():.3f}, where p > 0.05 "
            f"{runs[:, 1].min():.3f} to {runs[:, 1].max():.3f}, deciles of all draws "
            f"{runs[:, 4:].min():.3f} to {runs[:, 4:].max():.3f}.",
            flush=True,
        )


def sine(draws: int) -> Case:
    """The paper's curve: 2000 points in 0..10, P = (sin x + 1) / 2, one vote an item; between 6 and 8 one in twenty."""
    x = np.sort(np.random.default_rng(0).uniform(0, 10, 2000))
    p = 0.5 * (np.sin(x) + 1)
    sparse = (x > 6) & (x < 8)
    truth = np.stack([1 - p, p], axis=1)
    return Case("sine curve", x[:, None], truth, (1.0,), draws, 0.99, np.where(sparse, 0.05, 1.0))


def moons(draws: int) -> Case:
    """1000 points on two moons, noise 0.1; soft labels are those of a small network stopped early."""
    X, labels = make_moons(1000, noise=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = MLPClassifier((20, 20), max_iter=60, random_state=0).fit(X, labels)
    return Case("two moons", X, network.predict_proba(X), (0.25, 1.0), draws)


def cifar10h(folder: Path, draws: int, budgets: tuple[float, ...], second_votes: int = 0) -> Case:
    """10,000 images with the shares of about 50 people's votes."""
    counts = np.load(folder / "cifar10h" / "counts.npy").astype(float)
    X = np.load(folder / "cifar10h" / "features_efflite2_umap20.npy")
    name = "cifar10h" + (f" with {second_votes} second votes" if second_votes else "")
    return Case(name, X, counts / counts.sum(axis=1, keepdims=True), budgets, draws, second_votes=second_votes)


def davidson(folder: Path, draws: int) -> Case:
    """24,783 short texts with the shares of 3 to 9 people's votes."""
    counts = np.load(folder / "davidson" / "counts.npy").astype(float)
    X = np.load(folder / "davidson" / "features_minilm_umap20.npy")
    return Case("davidson", X, counts / counts.sum(axis=1, keepdims=True), (0.25, 1.0), draws)


def mnist(folder: Path, draws: int, n_items: int = 10_000) -> Case:
    """10,000 of the digits; soft labels are a small network's cross-validated probabilities, as the paper simulates."""
    rows = np.random.default_rng(0).choice(70_000, n_items, replace=False)
    X = np.load(folder / "mnist" / "features_pixels_umap20.npy")[rows]
    labels = np.load(folder / "mnist" / "labels.npy")[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = MLPClassifier((32,), max_iter=15, random_state=0)
        truth = cross_val_predict(network, X, labels, cv=3, method="predict_proba")
    return Case("mnist", X, truth, (0.25, 1.0), draws)


def main() -> None:
    """Run the cases asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder with cifar10h, davidson and mnist")
    parser.add_argument("--only", nargs="*", help="names of the cases to run")
    parser.add_argument("--draws", type=int, default=None, help="draws of votes per case")
    parser.add_argument("--budget", type=float, default=None, help="only this one of a case's budgets, 0.25 or 1")
    options = parser.parse_args()
    folder, many, few = options.data, options.draws or 8, options.draws or 4
    cases: dict[str, Callable[[], Case]] = {
        "sine": lambda: sine(many),
        "moons": lambda: moons(many),
        "cifar10h": lambda: cifar10h(folder, few, (0.25, 1.0)),
        "cifar10h-few": lambda: cifar10h(folder, few, (0.05,)),
        "cifar10h-few-repeats": lambda: cifar10h(folder, few, (0.05,), 50),
        "mnist": lambda: mnist(folder, few),
        "davidson": lambda: davidson(folder, few),
    }
    for name in options.only or cases:
        if name not in ("sine", "moons") and not folder.is_dir():
            print(f"\n{name}: skipped, {folder} is not there")
            continue
        case = cases[name]()
        for budget in case.budgets:
            if options.budget in (None, budget):
                measure(case, budget)


if __name__ == "__main__":
    main()
