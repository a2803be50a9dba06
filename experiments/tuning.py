"""How good is tuning without ground truth, on human votes?

    python experiments/tuning.py DATA_FOLDER [--votes 100 1000 10000 100000] [--draws 3] [--first-seed 0] [--design]

Prints, for cifar10h (features_efflite2_umap20, 20 neighbours, votes drawn uniformly with replacement): the RMSE of the
alpha chosen by held-out votes against the best alpha in hindsight; the same with `classifier_probs` as prior, and with
its rows shuffled. --design needs no data: what the choice costs on synthetic items with votes placed in other ways.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from softspread import SoftspreadWarning, knn_graph, tuning
from softspread.live import SpreadState
from softspread.metrics import rmse
from softspread.spreading import Diffusion, soft_labels
from softspread.votes import VoteTable

UNSURE_ALPHA = 0.95  # above, hindsight uses the tuning's own rough scales: exact ones take a minute and change no digit


def draw(truth: np.ndarray, n_votes: int, seed: int) -> VoteTable:
    """Items uniform with replacement, class from the item's soft label."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(truth), size=n_votes)
    columns = (rng.random(n_votes)[:, None] > truth[rows].cumsum(axis=1)[:, :-1]).sum(axis=1)
    return VoteTable(rows, columns, np.ones(n_votes))


def choose(graph, votes, prior):
    """The choice, and how long it took."""
    strengths = tuning.strength_candidates("auto" if prior is not None else 1e-4, prior is not None)
    start = time.perf_counter()
    choice = tuning.choose_parameters(graph, votes, 10, prior=prior, strengths=strengths)
    return choice, time.perf_counter() - start


def spread(graph, votes, alpha, n_classes):
    """Mass in the user's order."""
    diffusion = Diffusion(graph, alpha, tol=1e-5)
    if alpha > UNSURE_ALPHA and not diffusion.finder.exact:
        held = tuning.hold_out(votes, graph.n_items, n_classes)
        rough = tuning._spread(diffusion, diffusion.rank[held.voted], held.own, None)
        return graph.to_user_order(np.maximum(rough.Y, 0.0))
    state = SpreadState(diffusion, votes, n_classes)
    state.solve()
    return graph.to_user_order(state.mass())


def real_votes(folder: Path, budgets: list[int], seeds: range) -> None:
    """The tables of docs/tuning.md."""
    counts = np.load(folder / "counts.npy")
    truth = counts / counts.sum(axis=1, keepdims=True)
    prior = np.load(folder / "classifier_probs.npy").astype(float)
    prior /= prior.sum(axis=1, keepdims=True)
    shuffled = prior[np.random.default_rng(9).permutation(len(prior))]
    uniform = np.full(truth.shape, 0.1)
    graph = knn_graph(np.load(folder / "features_efflite2_umap20.npy"), n_neighbors=20)
    print(f"prior alone: RMSE {rmse(truth, prior):.4f}")
    print(
        "votes | chosen alpha | RMSE | best in hindsight | worst ratio | s | with prior | strengths | shuffled / none"
    )
    for n_votes in budgets:
        rows = []
        for seed in seeds:
            votes = draw(truth, n_votes, seed)
            mass: dict[float, np.ndarray] = {}

            def at(choice, p, votes=votes, mass=mass):
                if choice.alpha not in mass:
                    mass[choice.alpha] = spread(graph, votes, choice.alpha, 10)
                return rmse(truth, soft_labels(mass[choice.alpha], p, choice.prior_strength))

            alone, seconds = choose(graph, votes, None)
            tried = alone.tuning.curve()["alpha"]
            hindsight = min(at(tuning.Choice(graph, alpha, 1e-4, alone.tuning), uniform) for alpha in tried)
            helped, _ = choose(graph, votes, prior)
            misled, _ = choose(graph, votes, shuffled)
            rows.append(
                (at(alone, uniform), hindsight, seconds, at(helped, prior), at(misled, shuffled), alone, helped)
            )
        numbers = np.array([row[:5] for row in rows])
        mean = numbers.mean(axis=0)
        alphas = " ".join(f"{row[5].alpha:g}" for row in rows)
        strengths = " ".join(f"{row[6].alpha:g}/{row[6].prior_strength:g}" for row in rows)
        print(
            f"{n_votes} | {alphas} | {mean[0]:.4f} | {mean[1]:.4f} | {(numbers[:, 0] / numbers[:, 1]).max():.3f} | "
            f"{mean[2]:.1f} | {mean[3]:.4f} | {strengths} | {mean[4]:.4f} / {mean[0]:.4f}, "
            f"worst {(numbers[:, 4] / numbers[:, 0]).max():.3f}",
            flush=True,
        )


def placed_votes(seeds: range, n: int = 800) -> None:
    """Items whose own class follows their place only loosely, votes placed in ways other than uniform draws."""
    designs = {
        "uniform with replacement, n votes": lambda rng: rng.integers(n, size=n),
        "every item once": lambda rng: np.arange(n),
        "every item once, 5 twice": lambda rng: np.r_[np.arange(n), rng.choice(n, 5, replace=False)],
        "every item once, 20 twice": lambda rng: np.r_[np.arange(n), rng.choice(n, 20, replace=False)],
        "every item once, 50 twice": lambda rng: np.r_[np.arange(n), rng.choice(n, 50, replace=False)],
        "10 % of the items once": lambda rng: rng.choice(n, n // 10, replace=False),
        "20 % of the items once": lambda rng: rng.choice(n, n // 5, replace=False),
        "50 % of the items once": lambda rng: rng.choice(n, n // 2, replace=False),
        "10 % of the items, 3 votes each": lambda rng: np.repeat(rng.choice(n, n // 10, replace=False), 3),
        "every item once, 20 items 20 times more": lambda rng: np.r_[
            np.arange(n), np.repeat(rng.choice(n, 20, replace=False), 20)
        ],
    }
    print("votes | RMSE, ours | RMSE, all votes alike | best in hindsight | blind share")
    for name, rows_of in designs.items():
        results = []
        for seed in seeds:
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(n, 2))
            graph = knn_graph(X, n_neighbors=10)
            yes = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0])), 0.95, 0.05)
            truth = np.stack([1 - yes, yes], axis=1)
            rows = rows_of(rng)
            votes = VoteTable(rows, (rng.random(len(rows)) < yes[rows]).astype(np.int64), np.ones(len(rows)))
            held = tuning.hold_out(votes, n, 2)
            errors, plain = {}, {}
            one_by_one = tuning._leave_one(tuning._units(votes, _places(votes), None, 2), np.ones(len(votes), bool))
            for alpha in tuning.ALPHAS:
                state = SpreadState(Diffusion(graph, alpha), votes, 2)
                state.solve()
                errors[alpha] = rmse(truth, soft_labels(graph.to_user_order(state.mass()), np.full((n, 2), 0.5), 1e-4))
                alike = tuning.HeldOut(
                    held.voted, held.own, *one_by_one, np.full(len(votes), 1 / len(votes)), held.levels, 0.0, len(votes)
                )
                inner = state.diffusion.rank[held.voted]
                reach = tuning.own_reach(state.diffusion, inner)
                half = np.full((len(inner), 2), 0.5)
                plain[alpha] = tuning.score_trials(alike, state.mass(inner), reach, half, [1e-4], "brier", 1e-9).mean()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SoftspreadWarning)
                choice = tuning.choose_parameters(graph, votes, 2)
            best = min(errors.values())
            results.append((errors[choice.alpha], errors[min(plain, key=plain.get)], best, held.blind_share))
        print(f"{name} | " + " | ".join(f"{value:.3f}" for value in np.mean(results, axis=0)), flush=True)


def _places(votes: VoteTable) -> np.ndarray:
    return np.unique(votes.rows, return_inverse=True)[1]


def main() -> None:
    """Parse and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="folder with counts.npy, classifier_probs.npy, features")
    parser.add_argument("--votes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--design", action="store_true", help="synthetic items, votes placed in other ways")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.draws)
    if arguments.design:
        placed_votes(seeds)
    elif arguments.folder is None:
        parser.error("name the folder with the data, or pass --design")
    else:
        real_votes(arguments.folder, arguments.votes, seeds)


if __name__ == "__main__":
    main()
