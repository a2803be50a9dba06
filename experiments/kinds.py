"""How often intervals of ratings and of ordered classes hold, and how near the means are.

    python -m experiments.kinds --data DIR --draws 4

Design sets (their results shaped the rules): smooth, wavy and step functions with simulated raters. Judging
sets, looked at only once the rules stood: chaosnli (entailment < neutral < contradiction), davidson (neither
< offensive < hateful) and labels of cifar10h read as levels 0 to 9, all with votes drawn from human counts;
the truth is the mean level of all votes. Two votes on each of a tenth of 1,200 items, or one on each of a
fifth.
"""

import argparse
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from experiments.stored import store

from softspread import (
    GaussianKernelRegression,
    KNeighborsVotes,
    RatingSpreading,
    SoftLabeler,
    SoftspreadWarning,
    VoteHistogram,
    Votes,
    knn_graph,
)

SIZE = 1_200
NOISE = 0.4  # of simulated raters
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "smooth": lambda X: 3 + np.tanh(X[:, 0]) + 0.5 * np.sin(X[:, 1]),
    "wavy": lambda X: 3 + np.sin(3 * X[:, 0]) * np.cos(3 * X[:, 1]),
    "step": lambda X: 2.0 + (X[:, 0] > 0) + (X[:, 1] > 0.5),
}
HUMAN = {
    "chaosnli": ("features_minilm_f16.npy", (0, 1, 2)),
    "davidson": ("features_minilm_umap20.npy", (2, 1, 0)),  # the counts go from hateful to neither
    "cifar10h": ("features_efflite2_umap20.npy", tuple(range(10))),
}
BUDGETS = {"2 votes on 10 %": (0.1, 2), "1 vote on 20 %": (0.2, 1)}


def simulated(name: str, rng: np.random.Generator) -> tuple[Any, Any, Callable[[Any], Any], None]:
    """Items, true means, and a rater."""
    X = rng.normal(size=(SIZE, 2))
    mu = FUNCTIONS[name](X)
    return X, mu, lambda rows: mu[rows] + NOISE * rng.normal(size=len(rows)), None


def human(name: str, data: Path, rng: np.random.Generator) -> tuple[Any, Any, Callable[[Any], Any], int]:
    """The same with levels drawn from counts; and how many levels there are."""
    features, order = HUMAN[name]
    counts = np.load(data / name / "counts.npy")
    rows = rng.permutation(len(counts))[:SIZE]
    shares = counts[rows][:, order] / counts[rows].sum(axis=1, keepdims=True)
    below = shares.cumsum(axis=1)

    def rate(items: Any) -> Any:
        return (below[items] < rng.random((len(items), 1))).sum(axis=1).clip(0, len(order) - 1).astype(float)

    X = np.load(data / name / features)[rows].astype(np.float64)
    return X, shares @ np.arange(len(order)), rate, len(order)


def measured(mu: Any, rated: Any, mean: Any, lower: Any, upper: Any) -> dict[str, float]:
    """RMSE, and how often the interval holds, with and without own votes."""
    holds = (lower <= mu) & (mu <= upper)
    return {
        "RMSE": float(np.sqrt(np.mean((mean - mu) ** 2))),
        "coverage": float(holds.mean()),
        "of rated items": float(holds[rated].mean()),
        "width": float(np.mean(upper - lower)),
    }


def one_draw(task: Any, budget: tuple[float, int], rng: np.random.Generator) -> list[dict[str, Any]]:
    """All methods on one draw."""
    X, mu, rate, n_levels = task
    rows = np.repeat(rng.permutation(SIZE)[: int(budget[0] * SIZE)], budget[1])
    values, rated = rate(rows), np.isin(np.arange(SIZE), rows)
    table, graph = pd.DataFrame({"item": rows, "rating": values}), knn_graph(X, 20, random_state=0)
    baselines = {
        "own ratings": VoteHistogram(),
        "kernel": GaussianKernelRegression(gamma=1 / graph.sigma2),
        "k-NN": KNeighborsVotes(n_neighbors=20),
    }
    found = []
    for name, est in {"RatingSpreading": None, **baselines}.items():
        scale = None if n_levels is None else (0, n_levels - 1)
        fit = RatingSpreading(estimator=est, scale=scale, random_state=0).fit(X, table)
        lower, upper = fit.predict_interval()
        found.append({"method": name, **measured(mu, rated, fit.predict(), lower, upper)})
    if n_levels is not None:
        votes = Votes.from_pairs(rows, values.astype(int), classes=range(n_levels))
        more = SoftLabeler(kind="ordinal", random_state=0).fit(graph, votes).soft_labels().more
        ends = (more[name] for name in ("expected_level", "expected_lower", "expected_upper"))
        found.append({"method": "SoftLabeler, ordinal", **measured(mu, rated, *ends)})
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Every set, budget and draw; the tables are stored."""
    parser = argparse.ArgumentParser(prog="python -m experiments.kinds", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--first", type=int, default=100, help="the first seed; design runs used 0 to 5")
    options = parser.parse_args(arguments)
    rows = []
    warnings.simplefilter("ignore", SoftspreadWarning)
    for name in (*FUNCTIONS, *HUMAN):
        for words, budget in BUDGETS.items():
            for draw in range(options.first, options.first + options.draws):
                rng = np.random.default_rng(draw)
                task = simulated(name, rng) if name in FUNCTIONS else human(name, options.data, rng)
                about = {"set": name, "votes": words, "draw": draw}
                rows += [{**about, **one} for one in one_draw(task, budget, rng)]
            print(pd.DataFrame(rows[-5:]).to_string(), flush=True)
    every = pd.DataFrame(rows)
    kinds = {
        "Design sets": every["set"].isin(list(FUNCTIONS)),
        "Judging sets": every["set"].isin(list(HUMAN)),
    }
    store("kinds", {title: summary(every[chosen]) for title, chosen in kinds.items()})


def summary(every: pd.DataFrame) -> pd.DataFrame:
    """Means over draws, and the lowest coverage of a single draw."""
    groups = every.groupby(["set", "votes", "method"], sort=False)
    found = groups[["RMSE", "coverage", "of rated items", "width"]].mean()
    found.insert(2, "lowest draw", groups["coverage"].min())
    return found.reset_index()


if __name__ == "__main__":
    main()
