"""Measure what intervals cover: simulated votes on data whose true soft labels are known.

    python -m experiments.interval_coverage [--data FOLDER] [--only NAME ...] [--draws N] [--budget B]

For each dataset and budget: draws of votes, uniformly with replacement (the sine curve has a region with few
votes), fitted as a user would, alpha="auto" (sine curve: 0.99, as in the paper), then per method and level
the share of entries (item and class) that lie in their interval, the same for entries with a true probability
above 0.05, and the mean width; for the level 0.9 also the coverage in each decile of evidence, and that of
entries that are truly 0. Means over the draws, and for the calibrated interval the lowest and highest draw.
The tables are printed and stored for the documentation (``experiments/results/interval_coverage.json``).
Several classes: one to five minutes for each case on a quiet core.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from experiments.stored import Sheet
from sklearn.datasets import make_moons
from sklearn.model_selection import cross_val_predict
from sklearn.neural_network import MLPClassifier

from softspread import ProbabilisticLabelSpreading, SoftspreadWarning, Votes, knn_graph
from softspread._common.types import FloatArray, IntArray
from softspread.intervals.wilson import wilson

LEVELS = (0.5, 0.9, 0.95, 0.99)
METHODS = ("wilson", "wilson, not snapped", "wilson_floor", "hoeffding, no bias", "hoeffding", "calibrated")
NOTICEABLE = 0.05  # entries above: most others are 0, and any interval that starts at 0 covers them
DEFAULT_DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"


@dataclass(frozen=True)
class Case:
    """Items with known soft labels, and where votes fall."""

    name: str
    X: FloatArray
    truth: FloatArray
    budgets: tuple[float, ...]
    draws: int
    alpha: float | str = "auto"
    chances: FloatArray | None = None  # (n,)  how likely a vote falls on an item, uniform if None
    second_votes: int = 0  # votes set aside for items that have one already


def draw_votes(case: Case, budget: float, rng: np.random.Generator) -> Votes:
    """Items with replacement, classes from the true soft labels."""
    n, n_classes = case.truth.shape
    chances = None if case.chances is None else case.chances / case.chances.sum()
    rows = rng.choice(n, size=round(budget * n), p=chances)
    if case.second_votes:
        rows = np.concatenate([rows, rng.choice(np.unique(rows), case.second_votes, replace=False)])
    steps = case.truth[rows].cumsum(axis=1)
    columns = np.minimum((rng.random((len(rows), 1)) > steps).sum(axis=1), n_classes - 1)
    return Votes.from_pairs(rows, columns, classes=range(n_classes))


def interval(est: ProbabilisticLabelSpreading, method: str, level: float) -> tuple[FloatArray, FloatArray]:
    """What a user gets, but for the textbook's Wilson ends."""
    if method == "wilson, not snapped":
        return wilson(est.predict_freq(), level, snapped=False)
    if method == "hoeffding, no bias":
        return est.predict_interval(confidence_level=level, method="hoeffding", lipschitz=0.0)
    return est.predict_interval(confidence_level=level, method=method)


def deciles(evidence: FloatArray) -> list[IntArray]:
    """Ten equal groups of items, least evidence first."""
    return [np.asarray(part) for part in np.array_split(np.argsort(evidence, kind="stable"), 10)]


def measure(sheet: Sheet, case: Case, budget: float) -> None:
    """Print the table of one dataset at one budget."""
    graph = knn_graph(case.X, n_neighbors=20, n_jobs=1)
    started = time.process_time()
    found: dict[tuple[str, float], list[tuple[float, ...]]] = {(m, v): [] for m in METHODS for v in LEVELS}
    alphas, repeats = [], []
    for draw in range(case.draws):
        votes = draw_votes(case, budget, np.random.default_rng(draw))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)  # few second votes: the case's name says so
            est = ProbabilisticLabelSpreading(alpha=case.alpha, n_jobs=1).fit(graph, votes)
            est.predict_interval(method="calibrated")
        alphas.append(est.alpha_)
        repeats.append(int((np.unique(votes.items, return_counts=True)[1] > 1).sum()))
        parts = deciles(est.evidence_)
        noticeable, zero = case.truth > NOTICEABLE, case.truth == 0
        for (method, level), runs in found.items():
            lower, upper = interval(est, method, level)
            inside = (lower <= case.truth) & (case.truth <= upper)
            at_zero = inside[zero].mean() if zero.any() else np.nan
            overall = (inside.mean(), inside[noticeable].mean(), (upper - lower).mean(), at_zero)
            runs.append((*overall, *(inside[part].mean() for part in parts)))
    report(sheet, case, budget, found, alphas, repeats, (time.process_time() - started) / case.draws)


def report(
    sheet: Sheet,
    case: Case,
    budget: float,
    found: dict[tuple[str, float], list[tuple[float, ...]]],
    alphas: list[float],
    repeats: list[int],
    seconds: float,
) -> None:
    """Print what all draws of one case gave."""
    n, n_classes = case.truth.shape
    data = f"{case.name}, {n} items, {n_classes} classes, {budget:g} votes per item"
    chosen = ", ".join(f"{alpha:g}" for alpha in sorted(set(alphas)))
    about = {
        "data": data,
        "draws": case.draws,
        "alpha": chosen,
        "items with two votes": round(np.mean(repeats)),
    }
    for level in (0.9, 0.95):
        runs = np.array(found["calibrated", level])
        about |= {f"at {level:g}": runs[:, 0].mean(), f"at {level:g}, draws": ends(runs[:, 0])}
        about |= {f"at {level:g}, tenths of evidence": ends(runs[:, 4:])}
    title = f"Calibrated intervals on {case.name}: coverage, and its range over draws"
    sheet.add(title, about | {"processor s per draw": seconds})
    for method in METHODS:
        row = {"method": method}
        for level in LEVELS:
            inside, noticeable, width = np.mean(found[method, level], axis=0)[:3]
            row[f"{level:g}"] = f"{inside:.3f} / {noticeable:.3f} / {width:.3f}"
        by_decile = np.mean(found[method, 0.9], axis=0)
        row["true zeros at 0.9"] = float(by_decile[3])
        row["tenths of evidence at 0.9"] = " ".join(f"{x:.2f}" for x in by_decile[4:])
        sheet.add(f"{data}: coverage / where p > 0.05 / width", row)


def ends(values: FloatArray) -> str:
    """Lowest and highest."""
    return f"{values.min():.3f} to {values.max():.3f}"


def sine(draws: int) -> Case:
    """The paper's curve: 2000 points in 0..10, P = (sin x + 1) / 2.

    One vote per item; between 6 and 8 one in twenty.
    """
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
    return Case(
        name, X, counts / counts.sum(axis=1, keepdims=True), budgets, draws, second_votes=second_votes
    )


def davidson(folder: Path, draws: int) -> Case:
    """24,783 short texts with the shares of 3 to 9 people's votes."""
    counts = np.load(folder / "davidson" / "counts.npy").astype(float)
    X = np.load(folder / "davidson" / "features_minilm_umap20.npy")
    return Case("davidson", X, counts / counts.sum(axis=1, keepdims=True), (0.25, 1.0), draws)


def mnist(folder: Path, draws: int, n_items: int = 10_000) -> Case:
    """10,000 of the digits.

    Soft labels are a small network's cross-validated probabilities, as the paper simulates.
    """
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=DEFAULT_DATA, help="folder with cifar10h, davidson and mnist"
    )
    parser.add_argument("--only", nargs="*", help="names of the cases to run")
    parser.add_argument("--draws", type=int, default=None, help="draws of votes per case")
    parser.add_argument(
        "--budget", type=float, default=None, help="only this one of a case's budgets, 0.25 or 1"
    )
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
    sheet = Sheet("interval_coverage")
    for name in options.only or cases:
        if name not in ("sine", "moons") and not folder.is_dir():
            print(f"\n{name}: skipped, {folder} is not there")
            continue
        case = cases[name]()
        for budget in case.budgets:
            if options.budget in (None, budget):
                measure(sheet, case, budget)
    print(sheet.save())


if __name__ == "__main__":
    main()
