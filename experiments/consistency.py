"""The consistency theorem against practice: what it asks for, and when the simulated error is that small.

    python -m experiments.consistency --jsonl consistency.jsonl

Three tables. (1) Items and votes that the theorem asks for at epsilon 0.1, delta 0.05 in 1, 2, 5 and 20
dimensions, with the published constants and with the refined ones. (2) Simulations with the theorem's alpha_n
and rates and practical factors: votes per item, largest error, RMSE, both graphs. (3) The cheapest simulated
budget at which the largest error of every draw stayed within epsilon, against the theorem's for the same
truth. Takes about two minutes on one core.
"""

import argparse
import dataclasses
import json
import math
from pathlib import Path

import pandas as pd
from experiments.stored import store

from softspread.guarantees.simulation import SINE_LIPSCHITZ, simulate_consistency
from softspread.guarantees.theorem import BOUNDS, plan

DIMENSIONS = (1, 2, 5, 20)
SIZES = (500, 2_000, 8_000, 32_000)
DELTA = 0.05
# (dimension, epsilon, numbers of items, radius factor): small radii keep the bias at the cube's border low
REACHES = (
    (1, 0.1, (8_000, 32_000), 0.25),
    (1, 0.3, (500, 2_000), 0.4),
    (2, 0.3, (8_000, 32_000), 0.5),
    (2, 0.1, (32_000,), 0.5),
)
BUDGET_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def theorem_rows():
    """What the theorem asks for, uniform density on the unit cube, Lipschitz constant 1 and two classes."""
    for bound in BOUNDS:
        for dimension in DIMENSIONS:
            yield ask(dimension, 0.1, 1.0, bound)


def ask(dimension, epsilon, lipschitz, bound):
    """One row: items, votes and the n from which one vote per item suffices, as powers of 10."""
    needed = plan(dimension=dimension, epsilon=epsilon, delta=DELTA, lipschitz=lipschitz, bound=bound)
    return {
        "table": "theorem",
        "bound": bound,
        "dimension": dimension,
        "epsilon": epsilon,
        "lipschitz": lipschitz,
        "log10_n": needed.log10_n_items,
        "log10_m": needed.log10_n_votes,
        "log10_n_one_vote": needed.log10_n_one_vote,
        "log10_counting": needed.log10_n_items + math.log10(needed.votes_per_item_counting),
    }


def simulation_rows(n_draws):
    """Both graphs, growing n."""
    for dimension in (1, 2):
        for graph in ("epsilon", "knn"):
            for point in simulate_consistency(dimension, SIZES, graph=graph, n_draws=n_draws):
                yield (
                    {"table": "simulation", "votes_per_item": point.votes_per_item}
                    | dataclasses.asdict(point)
                    | {
                        "largest_error": point.largest_error,
                        "largest_error_spread": point.largest_error_spread,
                        "rmse": point.rmse,
                        "rmse_spread": point.rmse_spread,
                    }
                )


def reach_rows(n_draws):
    """The cheapest budget in a doubling ladder that keeps the largest error of every draw within epsilon."""
    for dimension, epsilon, sizes, radius_factor in REACHES:
        for n in sizes:
            yield reach(dimension, epsilon, n, radius_factor, n_draws)


def reach(dimension, epsilon, n, radius_factor, n_draws):
    """Climb the ladder of budgets until all draws are good enough."""
    for factor in BUDGET_FACTORS:
        (point,) = simulate_consistency(
            dimension, (n,), n_draws=n_draws, budget_factor=factor, radius_factor=radius_factor
        )
        worst = max(point.largest_errors)
        if worst <= epsilon:
            break
    return {
        "table": "reach",
        "dimension": dimension,
        "epsilon": epsilon,
        "n": n,
        "m": point.n_votes,
        "votes_per_item": point.votes_per_item,
        "worst": worst,
        "reached": worst <= epsilon,
        "theorem": ask(dimension, epsilon, SINE_LIPSCHITZ, "theorem"),
        "refined": ask(dimension, epsilon, SINE_LIPSCHITZ, "refined"),
    }


def show(row):
    """One line of the table that the row belongs to."""
    if row["table"] == "theorem":
        return (
            f"{row['bound']:8} d={row['dimension']:<3} n = 10^{row['log10_n']:<8.1f} m = "
            f"10^{row['log10_m']:<8.1f} counting each item: 10^{row['log10_counting']:<8.1f} m <= n from n = "
            f"10^{row['log10_n_one_vote']:.1f}"
        )
    if row["table"] == "simulation":
        return (
            f"{row['graph']:8} d={row['dimension']} n={row['n_items']:<6} m={row['n_votes']:<6} votes/item "
            f"{row['votes_per_item']:.3f}  alpha {row['alpha']:.4f}  degree {row['mean_degree']:6.1f}  "
            f"largest error {row['largest_error']:.3f} +- {row['largest_error_spread']:.3f}  RMSE "
            f"{row['rmse']:.4f} +- {row['rmse_spread']:.4f}"
        )
    return (
        f"d={row['dimension']} epsilon={row['epsilon']} n={row['n']:<6} m={row['m']:<7} "
        f"votes/item {row['votes_per_item']:.2f}  worst error {row['worst']:.3f} "
        f"{'reached' if row['reached'] else 'NOT reached'}; theorem: n = 10^{row['theorem']['log10_n']:.1f}, "
        f"m = 10^{row['theorem']['log10_m']:.1f}; refined: m = 10^{row['refined']['log10_m']:.1f}"
    )


def tables(rows):
    """The three tables of the documentation, by title."""
    asked, simulated, reached = (
        pd.DataFrame([row for row in rows if row["table"] == name])
        for name in ("theorem", "simulation", "reach")
    )
    for bound in BOUNDS:
        reached[f"log10_m, {bound}"] = [row["log10_m"] for row in reached[bound]]
    reached["log10_n, asked"] = [row["log10_n"] for row in reached["theorem"]]
    shown = [
        "graph",
        "dimension",
        "n_items",
        "votes_per_item",
        "alpha",
        "largest_error",
        "largest_error_spread",
    ]
    return {
        "What the theorem asks for, as powers of ten": asked.drop(columns=["table", "epsilon", "lipschitz"]),
        "Simulated: votes per item fall, and so does the largest error": simulated[
            [*shown, "rmse", "rmse_spread"]
        ],
        "The cheapest simulated budget with every draw within epsilon": reached.drop(
            columns=["table", *BOUNDS]
        ),
    }


def main():
    """Print the tables, store them for the documentation; write every row to a JSON lines file if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=5, help="independent repetitions of every simulation")
    parser.add_argument("--jsonl", type=Path, help="write one JSON object per row to this file")
    arguments = parser.parse_args()
    rows = []
    for title, found in (
        (
            "What the theorem asks for: epsilon 0.1, delta 0.05, Lipschitz constant 1, unit cube",
            theorem_rows(),
        ),
        ("Simulation: (1 + sin(2 pi x_1)) / 2 on the unit cube", simulation_rows(arguments.draws)),
        ("Cheapest budget with every draw within epsilon", reach_rows(arguments.draws)),
    ):
        print(f"\n{title}")
        for row in found:
            print(show(row), flush=True)
            rows.append(row)
    store("consistency", tables(rows))
    if arguments.jsonl is not None:
        # a radius that does not exist is null: NaN is no JSON
        clean = (
            {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()} for row in rows
        )
        arguments.jsonl.write_text("".join(json.dumps(row, allow_nan=False) + "\n" for row in clean))


if __name__ == "__main__":
    main()
