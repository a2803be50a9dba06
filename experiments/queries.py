"""Learning curves of query strategies against uniform votes: how many votes does each need for the same RMSE?

    python experiments/queries.py two_moons cifar10h --draws 10 --strategies uncertainty balanced

Votes are simulated: a vote on item i names class c with probability p[i, c], the true soft label. All
strategies meet the same graph (20 neighbours) and have their alpha chosen from the votes by
``choose_parameters`` at every checkpoint; beside it stands the best alpha in hindsight, for both strategies.
``uniform`` draws with replacement, as the paper does. Real datasets are cut to 3,000 random items, so that
dense inverses make 10 draws affordable. ``speed`` times 100 picks among a million items instead. Data:
--data, by default
../shared/data beside the repository.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.linalg import lapack
from scipy.special import softmax
from sklearn.datasets import load_digits, make_moons
from sklearn.neural_network import MLPClassifier

from softspread import SoftspreadWarning, knn_graph, metrics
from softspread.diffusion.diffusion import Diffusion
from softspread.queries.choose import choose_items
from softspread.queries.registry import STRATEGIES
from softspread.queries.rule import DEFAULT_RULE
from softspread.simulate import simulate_soft_labels
from softspread.tuning.candidates import SearchSpace, SpreadOptions
from softspread.tuning.search import choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable
from softspread.votes.votes import single_votes

ALPHAS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
MOST_ITEMS = 3_000
BATCH_SHARE = 0.05  # a batch is this share of the votes so far, at least 10
LEVELS = (0.1, 1.0)  # budgets at which uniform sets the RMSE to reach
AROUND = (0.25, 0.4, 0.55, 0.7, 0.85, 1.0, 1.2)  # checkpoints as shares of each level


def two_moons(data):
    """1,000 items, soft labels from a small network, as in the paper."""
    X, y = make_moons(1000, noise=0.1, random_state=0)
    network = MLPClassifier((20, 20), max_iter=200, random_state=0).fit(X, y)
    return X, network.predict_proba(X)


def human(name, features):
    """Soft labels of a real crowd."""

    def load(data):
        counts = np.load(data / name / "counts.npy").astype(float)
        return np.load(data / name / features).astype(np.float32), counts / counts.sum(axis=1, keepdims=True)

    return load


def labelme(data):
    """About 2.5 votes an item; their shares, with 0.05 of a vote for every class, are taken as the truth."""
    votes = np.load(data / "labelme/annotations.npy")
    counts = np.stack([(votes == c).sum(axis=1) for c in range(votes.max() + 1)], axis=1) + 0.05
    return np.load(data / "labelme/features_vgg16_umap20.npy"), counts / counts.sum(axis=1, keepdims=True)


def gaussians(data):
    """Four overlapping classes in three dimensions, 1,500 items."""
    rng = np.random.default_rng(3)
    centres, y = 1.6 * rng.normal(size=(4, 3)), rng.integers(0, 4, 1500)
    X = centres[y] + rng.normal(size=(1500, 3))
    return X, softmax(-0.5 * ((X[:, None] - centres) ** 2).sum(axis=2), axis=1)


def digits(data):
    """scikit-learn's 1,797 digits, hard labels made soft."""
    X, y = load_digits(return_X_y=True)
    return X, simulate_soft_labels(X, y, random_state=0)


def mnist(data):
    """Hard labels made soft by a classifier that has not seen the item."""
    keep = np.random.default_rng(1).permutation(70_000)[:MOST_ITEMS]
    X, y = np.load(data / "mnist/features_pixels_umap20.npy")[keep], np.load(data / "mnist/labels.npy")[keep]
    return X, simulate_soft_labels(X, y, random_state=0)


GOALS = {  # the default strategy was made on these ...
    "two_moons": two_moons,
    "cifar10h": human("cifar10h", "features_efflite2_umap20.npy"),
    "davidson": human("davidson", "features_minilm_umap20.npy"),  # three classes, strongly unbalanced
    "mnist": mnist,
}
DATASETS = GOALS | {  # ... and tried on these near the end
    "cifar10h_trained": human("cifar10h", "features_resnetens_umap20.npy"),
    "cifar10h_plain": human("cifar10h", "features_efflite2_l2_f16.npy"),
    "labelme": labelme,
    "gaussians": gaussians,
    "digits": digits,
}


class Bench:
    """One dataset with its dense scaled inverses."""

    def __init__(self, name: str, data: Path) -> None:
        X, p = DATASETS[name](data)
        keep = np.random.default_rng(0).permutation(len(X))[:MOST_ITEMS]
        self.p = p[keep]
        self.n, self.n_classes = self.p.shape
        self.graph = knn_graph(np.asarray(X[keep], dtype=np.float64), 20, n_jobs=1)
        S = self.graph.S.toarray()
        self.diffusions, self.reach = {}, {}
        for alpha in ALPHAS:
            factor = lapack.spotrf((np.eye(self.n) - alpha * S).astype(np.float32), lower=0)[0]
            M = lapack.spotri(factor, lower=0)[0]
            M = np.triu(M) + np.triu(M, 1).T
            self.reach[alpha] = M / M.max(axis=0)
            self.diffusions[alpha] = Diffusion(self.graph, alpha, solver="cg", n_jobs=1)

    def mass(self, alpha, counts):
        return (self.reach[alpha] @ counts.astype(np.float32)).astype(np.float64)

    def soft(self, mass):
        return (mass + 1e-4 / self.n_classes) / (mass.sum(axis=1, keepdims=True) + 1e-4)

    def judge(self, counts):
        """The alpha chosen from the votes, and RMSE with it and with the best one in hindsight."""
        ballots = Ballots.of(VoteTable(*single_votes(counts)), self.n_classes)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", SoftspreadWarning
            )  # few repeats: said once in the docs, not per checkpoint
            chosen = choose_parameters(
                self.graph, ballots, SearchSpace(alphas=ALPHAS), options=SpreadOptions(n_jobs=1)
            ).alpha
        rmse = {alpha: metrics.rmse(self.p, self.soft(self.mass(alpha, counts))) for alpha in ALPHAS}
        return chosen, (rmse[chosen], min(rmse.values()))


def run(bench, strategy, seed, budgets):
    """RMSE at each budget, (budgets, 2), see :meth:`Bench.judge`."""
    rng = np.random.default_rng([seed, 7])
    cumulative = bench.p.cumsum(axis=1)
    counts = np.zeros((bench.n, bench.n_classes))
    done, alpha, out = 0, 0.9, []
    for budget in budgets:
        while done < budget:
            size = min(budget - done, max(10, int(BATCH_SHARE * done)))
            if strategy == "uniform":
                rows = rng.integers(0, bench.n, size)
            else:
                near = min(max(alpha, DEFAULT_RULE.smallest_alpha), DEFAULT_RULE.largest_alpha)
                votes = counts.sum(axis=1)
                rows = choose_items(
                    bench.diffusions[near], bench.mass(near, counts), votes, size, strategy, rng
                )
            labels = (rng.random((size, 1)) > cumulative[rows]).sum(axis=1).clip(max=bench.n_classes - 1)
            np.add.at(counts, (rows, labels), 1.0)
            done += size
        alpha, judged = bench.judge(counts)
        out.append(judged)
    return np.array(out)


def votes_needed(budgets, curve, level):
    """Where the curve first stays at or below the level, interpolated in log votes."""
    above = np.flatnonzero(curve > level)
    if not len(above):
        return budgets[0]
    last = above[-1]
    if last == len(curve) - 1:
        return np.inf
    share = (curve[last] - level) / (curve[last] - curve[last + 1])
    return float(np.exp(np.log(budgets[last]) + share * np.log(budgets[last + 1] / budgets[last])))


def measure(name, args):
    """One dataset: a line per strategy and level."""
    start = time.time()
    bench = Bench(name, args.data)
    levels = [int(level * bench.n) for level in LEVELS]
    around = {round(level * share) for level in levels for share in AROUND if level * share >= 20}
    budgets = np.array(sorted(around | set(levels)))
    seeds = range(args.seed, args.seed + args.draws)
    uniform = np.array([run(bench, "uniform", seed, levels) for seed in seeds])
    print(f"\n{name}: {bench.n} items, {args.draws} draws")
    print(
        "strategy | level | votes / uniform's, alpha chosen (se) | the same, best alpha (se) | "
        "RMSE at that level: uniform; strategy; each with alpha chosen, best"
    )
    for strategy in args.strategies:
        curves = np.array([run(bench, strategy, seed, budgets) for seed in seeds])
        for number, (level, votes) in enumerate(zip(LEVELS, levels, strict=True)):
            cells = [f"{strategy:14s} | {level:4.0%}"]
            for kind in (0, 1):
                ratio, error = jackknife(budgets, curves[:, :, kind], uniform[:, number, kind])
                cells.append(f"{ratio / votes:.2f} ({error / votes:.2f})")
            here = curves[:, int(np.searchsorted(budgets, votes))].mean(axis=0)
            cells.append(
                " ".join(f"{value:.4f}" for value in uniform[:, number].mean(axis=0))
                + "; "
                + " ".join(f"{value:.4f}" for value in here)
            )
            print(" | ".join(cells))
    print(f"({time.time() - start:.0f} s)", flush=True)


def speed(n_items=1_000_000, n_votes=100_000):
    """Time 100 picks among a million items after 100,000 votes at alpha 0.9.

    Evidence is made up, as only the work matters.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_items, 3)) + 8 * rng.integers(0, 4, size=(n_items, 3))
    graph = knn_graph(X, 20, index="tree")
    diffusion = Diffusion(graph, 0.9)
    votes = np.bincount(rng.integers(n_items, size=n_votes), minlength=n_items)
    mass = rng.gamma(0.2, size=(n_items, 10))
    for strategy in STRATEGIES.names():
        choose_items(diffusion, mass, votes, 1, strategy, rng)  # compiles, or reads what was compiled before
        start = time.perf_counter()
        choose_items(diffusion, mass, votes, 100, strategy, rng)
        print(
            f"{strategy:15s} 100 picks among {n_items:,} items: {time.perf_counter() - start:.2f} s",
            flush=True,
        )


def jackknife(budgets, curves, uniform):
    """Votes needed to reach uniform's mean RMSE, and a standard error from leaving out one draw at a time."""
    draws = np.arange(len(curves))

    def needed(keep):
        return votes_needed(budgets, curves[keep].mean(axis=0), uniform[keep].mean())

    left = np.array([needed(draws[draws != d]) for d in draws])
    if not np.isfinite(left).all():
        return needed(draws), np.nan
    return needed(draws), np.sqrt((len(draws) - 1) / len(draws) * ((left - left.mean()) ** 2).sum())


def main():
    """Read the command line, measure each dataset."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "datasets", nargs="*", default=list(GOALS), help=f"speed, or of {', '.join(DATASETS)}"
    )
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="number of the first draw")
    parser.add_argument("--strategies", nargs="*", default=["uncertainty"], choices=STRATEGIES.names())
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1] / "../shared/data")
    args = parser.parse_args()
    for name in args.datasets:
        if name == "speed":
            speed()
        else:
            measure(name, args)


if __name__ == "__main__":
    main()
