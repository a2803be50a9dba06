"""How good is tuning without ground truth?

    python -m experiments.tuning alpha [--votes 100 1000 10000 100000] [--draws 3]
    python -m experiments.tuning prior [--votes 100 1000 10000] [--draws 3]
    python -m experiments.tuning strategies [--datasets two_moons cifar10h] [--draws 5]
    python -m experiments.tuning truth [--votes 1000]

--data is the folder that holds cifar10h, davidson and mnist; the tables are printed and stored for the
documentation (``experiments/results/tuning.json``). alpha and prior: all 10,000 items of cifar10h
(features_efflite2_umap20, 20 neighbours), votes drawn uniformly with replacement from the human soft labels.
strategies: 1,000 items of several datasets, votes placed by query strategies; RMSE of the chosen alpha over
that of the best in hindsight, mean and (worst) of the draws, and the number of repeats. truth: Bayesian
optimisation against the soft labels, for comparison.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from experiments.stored import Sheet
from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier

from softspread import SoftspreadWarning, Votes, knn_graph, tune
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.masses import find_scales
from softspread.metrics import rmse
from softspread.queries.choose import choose_items
from softspread.simulate import simulate_soft_labels
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.tuning.candidates import ALPHAS, SearchSpace, strength_candidates
from softspread.tuning.search import choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable
from softspread.votes.votes import single_votes

# Above, hindsight uses the tuning's own rough scales: exact ones take a minute and change no digit
UNSURE_ALPHA = 0.95
HINDSIGHT = ALPHAS[:-1]  # 0.999 is far from the best everywhere here, and slow
MOST_ITEMS = 1_000
SHARES = (0.1, 0.3, 1.0, 2.0)  # votes per item
STRATEGIES = ("replacement", "balanced", "least_evidence", "uncertainty", "entropy")


def cast(truth, rows, rng):
    """One vote on each row, drawn from the item's soft label."""
    return (rng.random(len(rows))[:, None] > truth[rows].cumsum(axis=1)[:, :-1]).sum(axis=1)


def draw(truth: np.ndarray, n_votes: int, seed: int) -> VoteTable:
    """Items uniform with replacement."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(truth), size=n_votes)
    return VoteTable(rows, cast(truth, rows, rng), np.ones(n_votes))


# ------------------------------------------------------------------------------------------------ human votes
class Cifar10h:
    """Graph, human soft labels and a classifier's predictions."""

    def __init__(self, data: Path) -> None:
        folder = data / "cifar10h"
        counts = np.load(folder / "counts.npy")
        self.truth = counts / counts.sum(axis=1, keepdims=True)
        prior = np.load(folder / "classifier_probs.npy").astype(float)
        self.prior = prior / prior.sum(axis=1, keepdims=True)
        self.X = np.load(folder / "features_efflite2_umap20.npy")
        self.graph = knn_graph(self.X, n_neighbors=20)
        self.uniform = np.full(self.truth.shape, 0.1)

    def choose(self, votes, prior=None, score="brier"):
        """The choice, and how long it took."""
        strengths = strength_candidates("auto" if prior is not None else 1e-4, prior is not None)
        space = SearchSpace(strengths=strengths)
        start = time.perf_counter()
        choice = choose_parameters(self.graph, Ballots.of(votes, 10), space, prior=prior, score=score)
        return choice, time.perf_counter() - start

    def mass(self, votes, alpha):
        """Mass in the user's order."""
        diffusion = Diffusion(self.graph, alpha, tol=1e-5)
        if alpha > UNSURE_ALPHA:
            ballots = Ballots.of(votes, 10)
            scales = find_scales(diffusion, ballots.voted).scales
            return np.maximum(diffusion.spread(ballots.voted, ballots.counts, scales=scales).mass(), 0.0)
        state = SpreadState(diffusion, votes, 10)
        state.solve()
        return state.mass()

    def error(self, votes, choice, prior=None):
        """RMSE of a choice."""
        p = soft_labels(
            self.mass(votes, choice.alpha), self.uniform if prior is None else prior, choice.prior_strength
        )
        return rmse(self.truth, p)


def show_alpha(sheet: Sheet, data: Path, budgets: list[int], seeds: range) -> None:
    """The alpha chosen by held-out votes against the best of the grid in hindsight."""
    bench = Cifar10h(data)
    for n_votes in budgets:
        rows = []
        for seed in seeds:
            votes = draw(bench.truth, n_votes, seed)
            errors = {
                alpha: rmse(bench.truth, soft_labels(bench.mass(votes, alpha), bench.uniform, 1e-4))
                for alpha in HINDSIGHT
            }
            best = min(errors, key=errors.get)
            chosen, seconds = bench.choose(votes)
            by_log, _ = bench.choose(votes, score="log")
            rows.append(
                (
                    chosen.alpha,
                    best,
                    errors[chosen.alpha],
                    errors[best],
                    by_log.alpha,
                    errors[by_log.alpha],
                    seconds,
                )
            )
        chosen, best, got, least, log_alpha, by_log, seconds = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        row = {
            "votes": n_votes,
            "draws": len(seeds),
            "chosen alpha": _list(chosen),
            "best alpha": _list(best),
        }
        row |= {"RMSE": got.mean(), "RMSE at the best": least.mean(), "worst ratio": (got / least).max()}
        row |= {"log score: alpha": _list(log_alpha), "log score: worst ratio": (by_log / least).max()}
        sheet.add(
            "Alpha chosen from votes on cifar10h against the best in hindsight",
            row | {"seconds": seconds.mean()},
        )


def show_prior(sheet: Sheet, data: Path, budgets: list[int], seeds: range) -> None:
    """A classifier as prior, its strength chosen too; and the same with shuffled rows."""
    bench = Cifar10h(data)
    shuffled = bench.prior[np.random.default_rng(9).permutation(len(bench.prior))]
    for n_votes in budgets:
        rows = []
        for seed in seeds:
            votes = draw(bench.truth, n_votes, seed)
            alone = bench.error(votes, bench.choose(votes)[0])
            helped, seconds = bench.choose(votes, bench.prior)
            misled = bench.error(votes, bench.choose(votes, shuffled)[0], shuffled)
            error = bench.error(votes, helped, bench.prior)
            rows.append((alone, error, helped.alpha, helped.prior_strength, seconds, misled))
        alone, error, alpha, strength, seconds, misled = (
            np.array(column) for column in zip(*rows, strict=True)
        )
        row = {"votes": n_votes, "draws": len(seeds), "prior alone": rmse(bench.truth, bench.prior)}
        row |= {"no prior": alone.mean(), "with prior": error.mean(), "alpha": _list(alpha)}
        row |= {"strength": _list(strength), "rows of the prior shuffled": misled.mean()}
        row |= {"worst ratio, shuffled to none": (misled / alone).max(), "seconds": seconds.mean()}
        sheet.add("A classifier's predictions as prior on cifar10h: RMSE", row)


def show_truth(sheet: Sheet, data: Path, budgets: list[int], n_trials: int) -> None:
    """What 200 trials against the truth find."""
    bench = Cifar10h(data)
    for n_votes in budgets:
        votes = draw(bench.truth, n_votes, 0)
        named = Votes.from_pairs(votes.rows, votes.columns, classes=range(10))
        found = tune(bench.X, named, truth=bench.truth, n_trials=n_trials, random_state=0)
        sheet.add("Tuned against the truth", {"votes": n_votes, "trials": n_trials, "found": found.summary()})


def _list(values):
    return " ".join(f"{value:g}" for value in values)


# ----------------------------------------------------------------------------------------------- placed votes
def two_moons(data):
    """Soft labels from a small network; two votes on an item differ in 2.6 % of cases."""
    X, y = make_moons(1000, noise=0.1, random_state=0)
    return X, MLPClassifier((20, 20), max_iter=200, random_state=0).fit(X, y).predict_proba(X)


def private_opinions(data):
    """Items whose own class follows their place only loosely: the own vote is worth the most."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(MOST_ITEMS, 2))
    yes = np.where(rng.random(MOST_ITEMS) < 1 / (1 + np.exp(-2 * X[:, 0])), 0.95, 0.05)
    return X, np.stack([1 - yes, yes], axis=1)


def clusters(data):
    """Twelve clusters, one soft label each: the own vote is worth no more than a neighbour's."""
    rng = np.random.default_rng(6)
    centres, p = 3 * rng.normal(size=(12, 5)), rng.dirichlet(np.full(4, 0.5), size=12)
    at = rng.integers(12, size=MOST_ITEMS)
    return centres[at] + rng.normal(size=(MOST_ITEMS, 5)), p[at]


def _human(name, features):
    def load(data):
        counts = np.load(data / name / "counts.npy").astype(float)
        return np.load(data / name / features), counts / counts.sum(axis=1, keepdims=True)

    return load


def mnist(data):
    """Hard labels made soft by a classifier that has not seen the item."""
    keep = np.random.default_rng(1).permutation(70_000)[:3_000]
    X, y = np.load(data / "mnist/features_pixels_umap20.npy")[keep], np.load(data / "mnist/labels.npy")[keep]
    return X, simulate_soft_labels(X, y, random_state=0)


DATASETS = {
    "two_moons": two_moons,
    "private_opinions": private_opinions,
    "clusters": clusters,
    "cifar10h": _human("cifar10h", "features_efflite2_umap20.npy"),
    "davidson": _human("davidson", "features_minilm_umap20.npy"),
    "mnist": mnist,
}


def show_strategies(sheet: Sheet, data: Path, names: list[str], seeds: range) -> None:
    """Mean and worst ratio for each strategy and number of votes."""
    for name in names:
        X, truth = DATASETS[name](data)
        keep = np.random.default_rng(0).permutation(len(X))[:MOST_ITEMS]
        X, truth = np.asarray(X[keep], dtype=float), truth[keep]
        graph = knn_graph(X, 20, n_jobs=1)
        S, reach = graph.S.toarray(), {}
        for alpha in ALPHAS:
            M = np.linalg.inv(np.eye(len(X)) - alpha * S)
            reach[alpha] = M / M.max(axis=0)
        for strategy in STRATEGIES:
            ratios, repeats = np.empty((len(seeds), len(SHARES))), []
            for place, seed in enumerate(seeds):
                ratios[place], n_repeats = _ratios(graph, truth, reach, strategy, np.random.default_rng(seed))
                repeats.append(n_repeats)
            cells = [
                f"{mean:.2f} ({worst:.2f})" for mean, worst in zip(ratios.mean(0), ratios.max(0), strict=True)
            ]
            row = {"dataset": name, "strategy": strategy, "draws": len(seeds)}
            row |= {f"{share:g} votes per item": cell for share, cell in zip(SHARES, cells, strict=True)}
            row["repeats at each"] = _list(np.mean(repeats, axis=0).round())
            sheet.add("RMSE at the chosen alpha over that at the best: mean (worst) by query strategy", row)


def _ratios(graph, truth, reach, strategy, rng):
    """RMSE at the chosen alpha over that at the best, and repeats, for each number of votes."""
    n, n_classes = truth.shape
    picking = Diffusion(graph, 0.9, solver="cg", n_jobs=1)
    counts, ratios, repeats = np.zeros(truth.shape), [], []
    for share in SHARES:
        while (left := int(share * n - counts.sum())) > 0:
            size = min(left, max(10, int(0.1 * counts.sum())), n)
            if strategy == "replacement":
                rows = rng.integers(n, size=left)
            else:
                rows = choose_items(picking, reach[0.9] @ counts, counts.sum(axis=1), size, strategy, rng)
            np.add.at(counts, (rows, cast(truth, rows, rng)), 1)
        errors = {
            alpha: rmse(truth, soft_labels(phi @ counts, np.full(truth.shape, 1 / n_classes), 1e-4))
            for alpha, phi in reach.items()
        }
        ballots = Ballots.of(VoteTable(*single_votes(counts)), n_classes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)
            choice = choose_parameters(graph, ballots)
        ratios.append(errors[choice.alpha] / min(errors.values()))
        repeats.append(choice.tuning.n_repeats)
    return ratios, repeats


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["alpha", "prior", "strategies", "truth"])
    parser.add_argument(
        "--data", type=Path, default=Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
    )
    parser.add_argument("--votes", type=int, nargs="+")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--datasets", nargs="+", choices=list(DATASETS), default=list(DATASETS))
    parser.add_argument("--trials", type=int, default=200)
    given = parser.parse_args()
    seeds, sheet = range(given.first_seed, given.first_seed + given.draws), Sheet("tuning")
    if given.what == "alpha":
        show_alpha(sheet, given.data, given.votes or [100, 1_000, 10_000, 100_000], seeds)
    elif given.what == "prior":
        show_prior(sheet, given.data, given.votes or [100, 1_000, 10_000], seeds)
    elif given.what == "strategies":
        show_strategies(sheet, given.data, given.datasets, seeds)
    else:
        show_truth(sheet, given.data, given.votes or [1_000], given.trials)
    print(sheet.save())


if __name__ == "__main__":
    main()
