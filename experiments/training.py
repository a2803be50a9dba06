"""A model trained on soft labels, on majority votes or on hard labels, at equal vote budget.

    python -m experiments.training --data DIR --seeds 5

cifar10h: votes on random training items are drawn from human counts. A softmax regression on the 64 main
directions of the unreduced features learns from the labels of the training items and is judged on 2,000
items that nobody voted on, by the shares of their 50 or so human votes: accuracy for the most frequent
class, calibration (how far the probability of the most probable class is from the share of human votes for
it, in 10 bins), KL divergence. Majority votes label the voted items alone. The penalty is chosen by labels
of a fifth of the training items that were set apart, the same way for all; no figure of the test items
decides anything.
"""

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.models import drawn
from experiments.stored import store
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from softspread import ProbabilisticLabelSpreading, SoftLabeler, SoftspreadWarning, Votes, knn_graph
from softspread.metrics import kl_divergence

N_TRAIN, N_TEST, N_DIRECTIONS = 4_000, 2_000, 64
BUDGETS = (400, 2_000)
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on every kind of label and store the table."""
    parser = argparse.ArgumentParser(prog="python -m experiments.training", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", SoftspreadWarning)
    rows = [row for seed in range(options.seeds) for row in measured(options.data / "cifar10h", seed)]
    runs = pd.DataFrame(rows)
    grouped = runs.groupby(["votes", "trained on"], sort=False)
    table = grouped[["accuracy", "calibration error", "KL"]].mean()
    spread = grouped[["accuracy", "KL"]].std().add_suffix(", deviation")
    table = table.join(spread).reset_index()
    print(table.to_string(index=False))
    store("training", {f"a model trained on labels, cifar10h, {options.seeds} seeds": table})


def measured(folder: Path, seed: int) -> list[dict[str, Any]]:
    """One line per budget and kind of label."""
    rng = np.random.default_rng(seed)
    counts = np.load(folder / "counts.npy").astype(np.float64)
    rows = rng.permutation(len(counts))[: N_TRAIN + N_TEST]
    truth = counts[rows] / counts[rows].sum(axis=1, keepdims=True)
    space = np.load(folder / "features_efflite2_umap20.npy")[rows[:N_TRAIN]].astype(np.float64)
    Z = main_directions(np.load(folder / "features_efflite2_l2_f16.npy")[rows].astype(np.float64))
    graph, found = knn_graph(space, 20, random_state=0, n_jobs=1), []
    for budget in BUDGETS:
        items = rng.integers(N_TRAIN, size=budget)
        votes = Votes.from_pairs(items, drawn(truth[items], rng))
        for name, (labels, weights) in labels_of(graph, votes).items():
            p = trained(Z[:N_TRAIN], labels, weights, np.random.default_rng(seed))(Z[N_TRAIN:])
            row = {"seed": seed, "votes": budget, "trained on": name, **judged(p, truth[N_TRAIN:])}
            print(" ".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row.values()), flush=True)
            found.append(row)
    return found


def labels_of(graph: Any, votes: Votes) -> dict[str, tuple[Any, Any]]:
    """Labels of the training items, and how much each counts."""
    classes = range(10)
    lab = SoftLabeler(n_jobs=1, random_state=0).fit(graph, votes, classes=classes)
    pls = ProbabilisticLabelSpreading(n_jobs=1).fit(graph, votes, classes=classes)
    soft, own, all_alike = lab.predict_proba(), lab.vote_counts_, np.ones(graph.n_items)
    evidence = lab.evidence_ / (1 + lab.evidence_)
    return {
        "majority votes of the voted items": (hard(own), (own.sum(axis=1) > 0).astype(float)),
        "hard labels of spreading": (hard(pls.predict_proba()), all_alike),
        "soft labels of spreading": (pls.predict_proba(), all_alike),
        "hard labels of SoftLabeler": (hard(soft), all_alike),
        "soft labels of SoftLabeler": (soft, all_alike),
        "soft labels, weighted by evidence": (soft, evidence),
    }


def hard(p: Any) -> Any:
    """One for the most probable class."""
    return np.eye(p.shape[1])[p.argmax(axis=1)]


def main_directions(X: Any) -> Any:
    """The items along the largest directions of variance, of like scale."""
    centred = X - X.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    Z = centred @ vectors[:, ::-1][:, :N_DIRECTIONS]
    return np.hstack([Z / Z.std(), np.ones((len(Z), 1))])


def trained(Z: Any, labels: Any, weights: Any, rng: np.random.Generator) -> Any:
    """A softmax regression; its penalty is chosen by labels that were set apart."""
    used = np.flatnonzero(weights > 0)
    apart = rng.random(len(used)) < 0.2
    fit, check = used[~apart], used[apart]
    losses = []
    for penalty in PENALTIES:
        W = regression(Z[fit], labels[fit], weights[fit], penalty)
        losses.append(
            -(weights[check] * (labels[check] * log_softmax(Z[check] @ W, axis=1)).sum(axis=1)).sum()
        )
    W = regression(Z[used], labels[used], weights[used], PENALTIES[int(np.argmin(losses))])
    return lambda other: softmax(other @ W, axis=1)


def regression(Z: Any, labels: Any, weights: Any, penalty: float) -> Any:
    """Weighted cross entropy with a ridge."""
    share, shape = weights / weights.sum(), (Z.shape[1], labels.shape[1])

    def loss(w: Any) -> tuple[float, Any]:
        W = w.reshape(shape)
        logs = log_softmax(Z @ W, axis=1)
        slope = Z.T @ (share[:, None] * (np.exp(logs) - labels)) + 2 * penalty * W
        return float(-(share @ (labels * logs).sum(axis=1)) + penalty * (w @ w)), slope.ravel()

    return minimize(
        loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200}
    ).x.reshape(shape)


def judged(p: Any, truth: Any) -> dict[str, float]:
    """Accuracy, calibration and KL divergence against human shares."""
    best, sure = p.argmax(axis=1), p.max(axis=1)
    named = truth[np.arange(len(p)), best]  # share of human votes for the class that the model names
    bins = np.minimum((sure * 10).astype(int), 9)
    gaps = [abs(named[bins == b].sum() - sure[bins == b].sum()) for b in range(10)]
    return {
        "accuracy": float((best == truth.argmax(axis=1)).mean()),
        "calibration error": float(sum(gaps) / len(p)),
        "KL": float(kl_divergence(truth, p)),
    }


if __name__ == "__main__":
    main()
