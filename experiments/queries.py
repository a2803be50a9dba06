"""How many votes on chosen items replace how many uniform ones: SoftLabeler fits on both sides.

    python -m experiments.queries run --out DIR --draws 4
    python -m experiments.queries run --out DIR --draws 4 --datasets chaosnli mdagreement
    python -m experiments.queries tables --out DIR
    python -m experiments.queries limit
    python -m experiments.queries speed

Uniform votes fall on random items with replacement, as in the paper. The j-th vote on an item is fixed by the
dataset and the draw, whoever asks for it, so that strategies are compared on the same votes. A strategy sees
a fit at every checkpoint and asks for all votes up to the next one at once, up to 70 % more. Results
are kept run by run; a study that is started again goes on where it stopped.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from experiments.posterior.datasets import DESIGN, JUDGE, SIZE, Dataset, load, role_of, seed_of
from experiments.posterior.page import markdown, runs
from experiments.posterior.store import Store, log_run, read
from experiments.stored import store
from scipy.special import softmax
from threadpoolctl import threadpool_limits

from softspread import ProbabilisticLabelSpreading, SoftLabeler, SoftspreadWarning, knn_graph, metrics
from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.estimators.graph_based import GraphEstimator
from softspread.graph.graph import Graph
from softspread.posterior.posterior import Posterior
from softspread.queries.choose import choose_items
from softspread.queries.registry import STRATEGIES
from softspread.simulate import draw_columns

LEVELS = (0.1, 1.0)  # votes per item at which uniform votes set the RMSE to reach
AROUND = (0.42, 0.7, 1.0, 1.2)  # checkpoints, as shares of each level
FIRST = (50,)  # votes after which the first picks are compared
GROWTH = 1.7  # of the votes between two checkpoints at most
DEPTH = 64  # votes per item that are drawn in advance
DEFAULT_DATA = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
KEY = ("dataset", "estimator", "strategy", "draw", "votes")


# -------------------------------------------------------------------------------------------------- one run
def checkpoints(n: int) -> list[int]:
    """Votes after which a strategy's fit is judged and asked again."""
    around = (round(level * share * n) for level in LEVELS for share in AROUND)
    wanted = sorted({*FIRST, *(votes for votes in around if votes > FIRST[-1])})
    steps = [np.ceil(np.log(b / a) / np.log(GROWTH)) for a, b in pairwise(wanted)]
    between = [
        np.geomspace(a, b, int(step) + 1) for (a, b), step in zip(pairwise(wanted), steps, strict=True)
    ]
    return sorted({round(votes) for part in between for votes in part.tolist()})


def uniform_checkpoints(n: int) -> list[int]:
    """Votes after which uniform votes are judged."""
    return sorted({*FIRST, *(round(level * n) for level in LEVELS)})


def spreading(dataset: Dataset, graph: Graph, counts: FloatArray) -> GraphEstimator:
    """Spreading alone, alpha chosen from the votes."""
    est = ProbabilisticLabelSpreading(annotator_model="none", n_jobs=1, random_state=0)
    return est.fit(graph, counts, classes=range(counts.shape[1]))


def labeler(dataset: Dataset, graph: Graph, counts: FloatArray) -> GraphEstimator:
    """As a user would, with the features where there are any."""
    lab = SoftLabeler(n_jobs=1, random_state=0)
    return lab.fit(graph, counts, features=dataset.features, classes=range(counts.shape[1]))


Fit = Callable[[Dataset, Graph, FloatArray], GraphEstimator]
ESTIMATORS: dict[str, Fit] = {"labeler": labeler, "pls": spreading}


class Ballot:
    """What every item would answer: its first vote, its second, and so on."""

    def __init__(self, dataset: Dataset, draw: int) -> None:
        rng = np.random.default_rng([draw, seed_of("queries " + dataset.name)])
        n = len(dataset.truth)
        rows, tickets = np.repeat(np.arange(n), DEPTH), rng.random(n * DEPTH)
        self._columns = draw_columns(dataset.truth, rows, tickets).reshape(n, DEPTH)
        self.counts = np.zeros_like(dataset.truth)
        self._n_votes = np.zeros(n, dtype=np.int64)

    def ask(self, rows: IntArray) -> None:
        """Count the next vote of each row; a row may come twice."""
        for row in rows.tolist():
            self.counts[row, self._columns[row, self._n_votes[row] % DEPTH]] += 1
            self._n_votes[row] += 1

    @property
    def n_repeated(self) -> int:
        """Items with two or more votes."""
        return int((self._n_votes > 1).sum())


def run(
    dataset: Dataset, graph: Graph, fit: Fit, strategy: str, draw: int, votes: Sequence[int]
) -> list[dict[str, float]]:
    """One row per checkpoint."""
    ballot, n = Ballot(dataset, draw), len(dataset.truth)
    rng = np.random.default_rng([draw, seed_of(f"{strategy} {dataset.name}")])
    est, done, found = fit(dataset, graph, ballot.counts), 0, []
    for wanted in votes:
        if strategy == "uniform":  # with replacement, whatever was asked before
            rows = rng.integers(n, size=wanted - done)
        else:
            rows = np.asarray(est.query(wanted - done, strategy, random_state=rng))
        ballot.ask(rows)
        start = time.perf_counter()
        est = fit(dataset, graph, ballot.counts)
        rmse = metrics.rmse(dataset.truth, np.asarray(est.predict_proba()))
        seconds = round(time.perf_counter() - start, 2)
        found.append({"votes": wanted, "rmse": rmse, "repeated": ballot.n_repeated, "seconds": seconds})
        done = wanted
    return found


def run_all(options: argparse.Namespace) -> None:
    """Every dataset, strategy and draw that is not there yet."""
    print(log_run(options.out), flush=True)
    kept = Store(options.out / "queries.csv", KEY, ("rmse", "repeated", "seconds"))
    fit = ESTIMATORS[options.estimator]
    for name in options.datasets:
        dataset = load(name, options.data, options.size)
        graph = knn_graph(dataset.X, n_jobs=1)
        for draw in range(options.first, options.first + options.draws):
            for strategy in dict.fromkeys(["uniform", *options.strategies]):
                n = len(dataset.truth)
                votes = uniform_checkpoints(n) if strategy == "uniform" else checkpoints(n)
                key = (name, options.estimator, strategy, draw)
                if all(kept.has(*key, number) for number in votes):
                    continue
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", SoftspreadWarning)  # few second votes: that is studied
                    rows = run(dataset, graph, fit, strategy, draw, votes)
                for row in rows:
                    if not kept.has(*key, row["votes"]):
                        kept.add((*key, row.pop("votes")), row)
                print(*key, f"{time.perf_counter() - start:.0f} s", flush=True)


# --------------------------------------------------------------------------------------------------- tables
def votes_needed(votes: FloatArray, curve: FloatArray, level: float) -> float:
    """Where the curve stays at or below the level from then on, interpolated in log votes."""
    above = np.flatnonzero(curve > level)
    if not len(above):
        return float(votes[0])
    last = above[-1]
    if last == len(curve) - 1:
        return np.inf
    share = (curve[last] - level) / (curve[last] - curve[last + 1])
    return float(np.exp(np.log(votes[last]) + share * np.log(votes[last + 1] / votes[last])))


def compare(chosen: pd.DataFrame, uniform: pd.DataFrame, votes: int) -> dict[str, object]:
    """Votes needed as a share of uniform's, by mean curves, with a jackknife error, and for single draws.

    Both tables have one row per draw and one column per checkpoint.
    """
    at = chosen.columns.to_numpy(dtype=float)

    def needed(draws: Sequence[int]) -> float:
        level = float(uniform.loc[draws, votes].mean())
        return votes_needed(at, chosen.loc[draws].mean().to_numpy(), level) / votes

    draws = list(chosen.index)
    single = [needed([draw]) for draw in draws]
    left = np.array([needed([other for other in draws if other != draw]) for draw in draws])
    finite = len(draws) > 1 and bool(np.isfinite(left).all())
    error = np.sqrt((len(draws) - 1) / len(draws) * ((left - left.mean()) ** 2).sum()) if finite else np.nan
    gap = np.log(chosen[votes]) - np.log(uniform[votes])
    return {
        "draws": len(draws),
        "votes": needed(draws),
        "error": error,
        "lowest": min(single),
        "highest": max(single),
        "uniform": uniform[votes].mean(),
        "chosen": chosen[votes].mean(),
        "rmse ratio": np.exp(gap.mean()),
        "its error": np.exp(gap.mean()) * gap.std(ddof=1) / np.sqrt(len(draws)),
    }


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, estimator, strategy and level."""
    found = []
    curves = table.pivot_table(
        index=["dataset", "estimator", "strategy"], columns=["draw", "votes"], values="rmse"
    )
    for dataset, estimator, strategy in curves.index:
        if strategy == "uniform":
            continue
        chosen, uniform = (
            curves.loc[(dataset, estimator, name)].dropna().unstack("votes").dropna()
            for name in (strategy, "uniform")
        )
        both = chosen.index.intersection(uniform.index)
        level_votes = uniform.columns[len(FIRST) :].tolist()
        for votes in [*FIRST, *level_votes]:
            level = f"{votes} votes" if votes in FIRST else f"{LEVELS[level_votes.index(votes)]:.0%}"
            row = {"role": role_of(dataset), "dataset": dataset, "estimator": estimator, "strategy": strategy}
            found.append(row | {"level": level} | compare(chosen.loc[both], uniform.loc[both], votes))
    return pd.DataFrame(found)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Mean and worst over the datasets; a level that is never reached counts as the last checkpoint."""
    capped = found.assign(votes=found["votes"].clip(upper=AROUND[-1]))
    groups = capped.groupby(["role", "estimator", "strategy", "level"], sort=False)
    means = groups.agg(
        datasets=("dataset", "size"),
        mean=("votes", "mean"),
        error=("error", lambda e: np.sqrt((e**2).sum()) / len(e)),
        worst=("votes", "max"),
        rmse_ratio=("rmse ratio", "mean"),
    )
    means["worst of"] = groups.apply(lambda g: g.loc[g["votes"].idxmax(), "dataset"], include_groups=False)
    return means.reset_index()


def write_tables(options: argparse.Namespace) -> None:
    """Tables on the screen, and stored for the documentation."""
    found = cells(read(options.out / "queries.csv"))
    first = found["level"].str.endswith("votes")
    tables = {
        "Votes needed as a share of uniform ones: mean and worst over the datasets": summary(found[~first]),
        "Votes needed as a share of uniform ones": found[~first],
        "After the first votes": found[first].drop(columns=["votes", "error", "lowest", "highest"]),
    }
    for title, table in tables.items():
        print(f"\n{title}\n\n{markdown(table)}")
    print(store("queries", tables, runs(options.out, "experiments.queries")))


# ---------------------------------------------------------------------------------------------------- limit
IDEAL_ITEMS = 6_000
CROWDS = {  # n_classes, and the spread of the logits of what others say
    "three classes, all alike": (3, 0.4),
    "three classes, some clearer": (3, 1.0),
    "three classes, most clear": (3, 2.0),
    "two classes, all alike": (2, 0.5),
    "two classes, some clearer": (2, 1.0),
    "two classes, most clear": (2, 2.0),
}
TRUSTS = (0.5, 1.0, 2.0, 4.0, 8.0)  # votes that what others say is worth


def ideal_share(n_classes: int, spread: float, nu: float, rng: np.random.Generator) -> float:
    """Votes an ideal rule needs for the error of one uniform vote per item, as a share of these votes.

    Each truth is drawn from Dirichlet(nu m), both known exactly; neighbours learn nothing from a vote. The
    next hundredth of the votes goes where it takes most off the posterior's error: by [vote gain] that is
    (1 - |p|^2) / (nu + t + 1)^2 with p the present soft label and t the own votes.
    """
    m = softmax(spread * rng.normal(size=(IDEAL_ITEMS, n_classes)), axis=1)
    truth = rng.gamma(nu * m)
    truth /= truth.sum(axis=1, keepdims=True)

    def cast(counts: FloatArray, rows: IntArray) -> None:
        np.add.at(counts, (rows, draw_columns(truth, rows, rng.random(len(rows)))), 1.0)

    def believed(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        worth = nu + counts.sum(axis=1)
        return (nu * m + counts) / worth[:, None], worth

    uniform, chosen = np.zeros_like(m), np.zeros_like(m)
    cast(uniform, rng.integers(IDEAL_ITEMS, size=IDEAL_ITEMS))
    level, batch, used = metrics.rmse(truth, believed(uniform)[0]), IDEAL_ITEMS // 100, 0
    while metrics.rmse(truth, (found := believed(chosen))[0]) > level:
        gain = (1 - (found[0] ** 2).sum(axis=1)) / (found[1] + 1) ** 2
        cast(chosen, np.argpartition(-gain, batch)[:batch])
        used += batch
    return used / IDEAL_ITEMS


def write_limit(options: argparse.Namespace) -> None:
    """How much any rule could save where own votes are all that counts."""
    found = []
    for title, (n_classes, spread) in CROWDS.items():
        rng = np.random.default_rng(0)
        by_trust = {
            f"{nu:g}": np.mean([ideal_share(n_classes, spread, nu, rng) for _ in range(options.draws)])
            for nu in TRUSTS
        }
        found.append({"items": title} | by_trust)
    tables = {"Least share of uniform votes, by how many votes the neighbours are worth": pd.DataFrame(found)}
    print(markdown(next(iter(tables.values()))))
    print(store("queries", tables))


# ---------------------------------------------------------------------------------------------------- speed
def speed(options: argparse.Namespace) -> None:
    """Time 100 picks among many items, a vote on every tenth, once their posterior is there.

    What others say is made up, as only the work matters; trust is that of a small fit.
    """
    rng, n, n_classes = np.random.default_rng(0), options.items, 10
    X = rng.normal(size=(n, 3)) + 8 * rng.integers(0, 4, size=(n, 3))
    diffusion = Diffusion(knn_graph(X, index="tree"), 0.9)
    voted = np.sort(rng.choice(n, n // 10, replace=False))
    own = np.eye(n_classes)[rng.integers(n_classes, size=len(voted))]
    small = SoftLabeler(classifier="none", random_state=0).fit(X[:1_000], rng.integers(n_classes, size=1_000))
    trust = small._posterior.trust
    m = rng.dirichlet(np.full(n_classes, 0.3), size=n).astype(np.float32)
    group = rng.integers(len(trust.law), size=n)
    posterior = Posterior(m, group, trust, voted, own, [], diffusion.workers)
    posterior.mean()
    mass, votes = m * rng.gamma(2.0, size=(n, 1)), np.bincount(voted, minlength=n).astype(float)
    for size, known in ((1, False), (1, False), (100, False), (100, False), (100, True)):
        chances: list[float] | None = [] if known else None
        start, used = time.perf_counter(), time.process_time()
        choose_items(
            diffusion, mass, votes, size, "uncertainty", rng, posterior=posterior, probabilities=chances
        )
        took, used = time.perf_counter() - start, time.process_time() - used
        words = " with their probabilities" if known else ""
        print(f"{size} of {n:,} items{words}: {took:.2f} s, processor {used:.2f} s", flush=True)


def read_command_line() -> argparse.Namespace:
    """Read the command and what it works on."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run", help="learning curves")
    command.set_defaults(work=run_all)
    command.add_argument("--out", type=Path, required=True, help="folder of the results; continued")
    command.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder of the datasets")
    command.add_argument(
        "--datasets",
        nargs="+",
        choices=[*DESIGN, *JUDGE],
        default=list(DESIGN),
        help="the design sets by default; judging sets only when named",
    )
    command.add_argument("--estimator", choices=ESTIMATORS, default="labeler")
    command.add_argument(
        "--strategies", nargs="+", default=["uncertainty"], choices=STRATEGIES.names(), metavar="NAME"
    )
    command.add_argument("--draws", type=int, default=4)
    command.add_argument("--first", type=int, default=0, help="number of the first draw")
    command.add_argument("--size", type=int, default=SIZE, help="items per dataset")
    command = commands.add_parser("tables", help="votes needed, with errors")
    command.set_defaults(work=write_tables)
    command.add_argument("--out", type=Path, required=True, help="folder of the results")
    command = commands.add_parser("limit", help="what an ideal rule would save")
    command.set_defaults(work=write_limit)
    command.add_argument("--draws", type=int, default=4)
    command = commands.add_parser("speed", help="time 100 picks among a million items")
    command.set_defaults(work=speed)
    command.add_argument("--items", type=int, default=1_000_000)
    return parser.parse_args()


def main() -> None:
    """Run one command."""
    options = read_command_line()
    with threadpool_limits(1):
        options.work(options)


if __name__ == "__main__":
    main()
