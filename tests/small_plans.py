"""A small plan and one of its trials, for the tests of the reproduction."""

from softspread.reproduce.plan import Trial, read_plan
from softspread.reproduce.run import run_plans

SMALL = """
title = "Small"
measure = "scores"
table = "methods"
figure = "trajectories"
budgets = [0.1, 0.5]
draws = 2
datasets = [{ name = "sine_curve", n_items = 80 }, "cifar10h"]

[[methods]]
name = "pls"
alpha = [0.5, 0.9]
n_neighbors = 10

[[methods]]
name = "histogram"

[quick]
draws = 1
"""


def small_plan(text=SMALL, quick=False):
    return read_plan("small", text, quick)


def run_plan(plan, out, **options):
    """The whole table of one plan."""
    return run_plans([plan], out, **options)[plan.name]


def one_trial(**changes):
    base = {
        "measure": "scores",
        "dataset": {"name": "sine_curve", "n_items": 80},
        "method": "pls",
        "parameters": {"alpha": 0.9, "n_neighbors": 10},
        "budget": 0.5,
        "n_votes": None,
        "design": {},
        "options": {},
        "draw": 0,
        "seed": 0,
    }
    return Trial(**(base | changes))
