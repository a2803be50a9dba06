"""Estimated quality against the truth on cifar10h: bias, coverage, and whether forecasts come true.

    python -m experiments.quality apart held_out forecast forecast_two_moons --draws 10

``apart``: 2,000 test items receive no votes for fitting, 1,000 votes on the other 8,000 items are spread at
alpha 0.9, as in the paper's study; then a random part of the test items receives 1, 2, 3, 5 or 10 votes each.
``held_out``: the votes behind the soft labels judge themselves. ``forecast``: the predicted gain of further
votes against the gain that then comes. The soft labels of cifar10h are the truth from which votes are drawn.
Data: --data, by default ../shared/data beside the repository. The tables are printed and stored for the
documentation (``experiments/results/quality_of_votes.json``).
"""

import argparse
from pathlib import Path

import numpy as np
from experiments.stored import Sheet
from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier

from softspread import knn_graph, metrics
from softspread.diffusion.diffusion import Diffusion
from softspread.quality.estimate import estimate_quality, held_out_quality
from softspread.quality.forecast import predict_gain
from softspread.simulate import draw_columns
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable

STRENGTH = 1e-4
FORECASTS = {  # votes, further votes, alphas
    "cifar10h": [
        (500, 500, (0.95,)),
        (1000, 500, (0.9,)),
        (3000, 1500, (0.75,)),
        (10_000, 2000, (0.5,)),
        (10_000, 10_000, (0.5,)),
        (1000, 1000, (0.5, 0.75, 0.9)),
    ],
    "two_moons": [
        (100, 100, (0.95,)),
        (300, 300, (0.95,)),
        (1000, 500, (0.9,)),
        (2000, 200, (0.9,)),
        (1000, 1000, (0.75, 0.9, 0.95)),
    ],
}
MEASURES = ("rmse", "kl", "accuracy")


def load(data):
    """Features and true soft labels."""
    counts = np.load(data / "cifar10h/counts.npy").astype(float)
    return np.load(data / "cifar10h/features_efflite2_umap20.npy").astype(float), counts / counts.sum(
        1, keepdims=True
    )


def two_moons():
    """1,000 items, soft labels from a small network, as in the paper."""
    X, y = make_moons(1000, noise=0.1, random_state=0)
    return X, MLPClassifier((20, 20), max_iter=200, random_state=0).fit(X, y).predict_proba(X)


def votes_on(rows, truth, rng):
    """One simulated vote on each row."""
    return VoteTable(rows, draw_columns(truth, rows, rng.random(len(rows))), np.ones(len(rows)))


def fitted(diffusion, votes, n_classes):
    """State and soft labels in the user's order."""
    state = SpreadState(diffusion, votes, n_classes)
    state.solve()
    prior = np.full((diffusion.graph.n_items, n_classes), 1 / n_classes)
    return state, soft_labels(state.mass(), prior, STRENGTH), prior


def true_quality(truth, p):
    """The three measures."""
    return [metrics.rmse(truth, p), metrics.kl_divergence(truth, p), metrics.accuracy(truth, p)]


def naive(p, counts):
    """Shares of votes taken for the truth."""
    return true_quality(counts / counts.sum(1, keepdims=True), p)


def show(sheet, title, about, estimates, truths, naives=None):
    """Mean estimate, its bias with a standard error, spread and coverage of the 90 % interval."""
    for k, measure in enumerate(MEASURES):
        value, lower, upper = (estimates[:, k, j] for j in range(3))
        error = value - truths[:, k]
        row = {**about, "measure": measure, "truth": truths[:, k].mean()}
        row |= {} if naives is None else {"shares taken for the truth": naives[:, k].mean()}
        row |= {
            "estimate": value.mean(),
            "bias": error.mean(),
            "its error": error.std() / np.sqrt(len(error)),
        }
        row["90 % intervals that held"] = np.mean((lower <= truths[:, k]) & (truths[:, k] <= upper))
        sheet.add(title, row)


def numbers(quality):
    """(3, 3): measures by value, lower, upper."""
    parts = [getattr(quality, measure) for measure in MEASURES]
    return [(part.value, part.lower, part.upper) for part in parts]


def apart(sheet, args, diffusion, truth):
    """A set of repeatedly voted items."""
    n, n_classes = truth.shape
    for size, r in ((100, 10), (200, 5), (500, 2), (500, 3), (1000, 2), (1000, 3), (2000, 1), (2000, 2)):
        found, truths, naives = [], [], []
        for draw in range(args.draws):
            rng = np.random.default_rng([draw, size, r])
            order = rng.permutation(n)
            test, train = order[:2000], order[2000:]
            p = fitted(diffusion, votes_on(rng.choice(train, 1000), truth, rng), n_classes)[1]
            some = rng.choice(test, size, replace=False)
            counts = votes_on(np.repeat(some, r), truth, rng).counts(n, n_classes)[some]
            found.append(numbers(estimate_quality(p[some], counts, rng=rng)))
            truths.append(true_quality(truth[test], p[test]))
            naives.append(naive(p[some], counts))
        about = {"items": size, "votes on each": r, "draws": args.draws}
        title = "Judged by votes set apart: cifar10h, 1,000 votes, alpha 0.9"
        show(sheet, title, about, np.array(found), np.array(truths), np.array(naives))


def held_out(sheet, args, graph, truth):
    """The votes behind the soft labels, held out in turn."""
    n, n_classes = truth.shape
    for m, alpha in ((1000, 0.9), (3000, 0.75), (10_000, 0.5)):
        found, truths = [], []
        diffusion = Diffusion(graph, alpha, n_jobs=1)
        for draw in range(args.draws):
            rng = np.random.default_rng([draw, m])
            state, p, prior = fitted(diffusion, votes_on(rng.integers(n, size=m), truth, rng), n_classes)
            found.append(numbers(held_out_quality(state, prior, STRENGTH, rng=rng)))
            truths.append(true_quality(truth, p))
        about = {"votes": m, "alpha": alpha, "draws": args.draws}
        show(
            sheet,
            "Judged by the votes behind the soft labels: cifar10h",
            about,
            np.array(found),
            np.array(truths),
        )


def forecast(sheet, args, name, graph, truth):
    """Predicted against real gain of further uniform votes, at one alpha or at the best for each."""
    n, n_classes = truth.shape
    cases = FORECASTS[name]
    for m, more, alphas in cases:
        diffusions = [Diffusion(graph, alpha, n_jobs=1) for alpha in alphas]
        rows = []
        for draw in range(args.draws):
            rng = np.random.default_rng([draw, m, 3])
            votes = votes_on(rng.integers(n, size=m + more), truth, rng)
            first = VoteTable(votes.rows[:m], votes.columns[:m], votes.weights[:m])
            now, then = (
                min(metrics.rmse(truth, fitted(d, part, n_classes)[1]) for d in diffusions)
                for part in (first, votes)
            )
            guess = predict_gain(diffusions, first, n_classes, more, rng=rng)
            inside = guess.gain.lower <= now - then <= guess.gain.upper
            stop, right = not guess.worthwhile(), now - then < 0.02 * now
            rows.append((now, guess.rmse_now.value, now - then, guess.gain.value, inside, stop, right))
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0)
        row = {
            "data": name,
            "votes": m,
            "more": more,
            "alpha": ", ".join(map(str, alphas)),
            "draws": args.draws,
        }
        row |= {
            "RMSE now": mean[0],
            "estimated": mean[1],
            "gain": mean[2],
            "predicted": mean[3],
            "sd": spread[3],
        }
        row |= {"90 % intervals that held": mean[4], "said stop at 2 %": mean[5], "gain below 2 %": mean[6]}
        sheet.add("Forecasts of spreading alone against the real gain", row)


def main():
    """Read the command line and run the parts asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=["apart", "held_out", "forecast", "forecast_two_moons"])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1] / "../shared/data")
    args = parser.parse_args()
    X, truth = load(args.data)
    graph = knn_graph(X, 20, n_jobs=1)
    sheet = Sheet("quality_of_votes")
    for part in args.parts:
        if part == "apart":
            apart(sheet, args, Diffusion(graph, 0.9, n_jobs=1), truth)
        elif part == "held_out":
            held_out(sheet, args, graph, truth)
        elif part == "forecast":
            forecast(sheet, args, "cifar10h", graph, truth)
        else:
            moons, moons_truth = two_moons()
            forecast(sheet, args, "two_moons", knn_graph(moons, 20, n_jobs=1), moons_truth)
    print(sheet.save())


if __name__ == "__main__":
    main()
