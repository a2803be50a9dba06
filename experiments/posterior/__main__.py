"""Command line of the study.

python -m experiments.posterior peers --data ../shared/data --out DIR
python -m experiments.posterior labeler --out DIR --datasets cifar10h digits --budgets 0.1 1 --draws 4
python -m experiments.posterior repeats --out DIR --second 10 20 40 80 --draws 50
python -m experiments.posterior tables --out DIR
python -m experiments.posterior page
"""

import argparse
from pathlib import Path

from experiments.posterior import draws
from experiments.posterior.datasets import DESIGN, EXTRA, JUDGE, SIZE
from threadpoolctl import threadpool_limits

DEFAULT_DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
KEPT = Path(__file__).parent / "results"
COMMANDS = {
    "peers": "every peer at every setting",
    "labeler": "SoftLabeler: soft labels and intervals",
    "prior": "SoftLabeler with a classifier as prior",
    "named": "SoftLabeler on votes of 20 people with names: all honest, or 4 of them voting at random",
    "intervals": "intervals of spreading alone, for comparison",
    "repeats": "one vote on each item and a few second votes: do intervals collapse?",
    "quality": "SoftLabeler's quality, with uniform votes and where queries chose the items",
    "forecast": "SoftLabeler's forecast against the real gain of further votes",
}


def read_command_line() -> argparse.Namespace:
    """Read the command and what it works on."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.posterior",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder of the datasets")
        command.add_argument("--out", type=Path, required=True, help="folder of the results; continued")
        command.add_argument(
            "--datasets",
            nargs="+",
            choices=[*DESIGN, *JUDGE, *EXTRA],
            default=list(DESIGN),
            help="the design sets by default; judging sets only when named",
        )
        command.add_argument("--draws", type=int, default=4, help="draws of votes per cell")
        command.add_argument("--first", type=int, default=0, help="number of the first draw")
        command.add_argument("--size", type=int, default=SIZE, help="items per dataset")
        if name == "repeats":
            second = {"type": int, "default": list(draws.SECOND_VOTES)}
            command.add_argument("--second", nargs="+", help="items with a second vote", **second)
        else:
            budgets = {"type": float, "default": list(draws.BUDGETS)}
            command.add_argument("--budgets", nargs="+", help="votes per item", **budgets)
        levels = [0.9] if name == "repeats" else [0.5, 0.9, 0.95, 0.99]
        command.add_argument("--levels", nargs="+", type=float, default=levels, help="of the intervals")
        if name == "intervals":
            command.add_argument("--methods", nargs="+", default=["calibrated", "wilson"])
    tables = commands.add_parser("tables", help="tables of what has been run", description="Tables.")
    tables.add_argument("--out", type=Path, required=True, help="folder of SoftLabeler's results")
    tables.add_argument("--peers", type=Path, help="folder of the peers' results, if another one")
    page = commands.add_parser("page", help="the page of measurements", description="The page.")
    page.add_argument("--out", type=Path, default=KEPT, help="folder of the tables")
    return parser.parse_args()


def main() -> None:
    """Run one command."""
    options = read_command_line()
    if options.command == "tables":
        from experiments.posterior import quality_page, tables

        tables.write_all(options.out, options.peers or options.out)
        quality_page.write_page(options.out)
        return
    if options.command == "page":
        from experiments.posterior import page

        print(page.write_page(options.out))
        return
    from experiments.posterior import gains, run

    plan = run.Plan(
        options.data,
        options.out,
        options.datasets,
        options.second if options.command == "repeats" else options.budgets,
        range(options.first, options.first + options.draws),
        options.size,
        options.levels,
    )
    with threadpool_limits(1):  # timings of one thread, and others use the machine too
        if options.command == "intervals":
            run.run_intervals(plan, options.methods)
        elif options.command == "forecast":
            gains.run_forecast(plan)
        else:
            getattr(run, f"run_{options.command}")(plan)


if __name__ == "__main__":
    main()
