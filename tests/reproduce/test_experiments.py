"""Every experiment runs from its plan to table, figure and page, here on a tiny dataset."""

from dataclasses import replace

import pytest

from softspread.report import escape
from softspread.reproduce.plan import load_plan, plan_names
from softspread.reproduce.present.page import present, write_page
from softspread.reproduce.run import Progress, run_plans

pytest.importorskip("matplotlib", reason="needs matplotlib")
MOONS = {"name": "two_moons", "n_items": 60, "n_steps": 30}
DATASETS = {
    "intervals": ({"name": "sine_curve", "n_items": 120},),
    "dcic": ({"name": "mini_parity"},),
    "quoted": ({"name": "quoted"},),
    "overview": ({"name": "digits", "features": "pca2", "n_items": 60, "n_trees": 5},),
}
SLOW = {"dawid_skene", "crowdlab", "laplace", "poisson", "self_training"}  # they have tests of their own


def ends(values):
    """First and last of an axis."""
    return [values[0], values[-1]] if isinstance(values, list) and len(values) > 1 else values


def tiny(name):
    """A plan with few, small trials."""
    plan = load_plan(name)
    methods = [
        {
            key: ends([v for v in value if v != "truth"]) if isinstance(value, list) else value
            for key, value in m.items()
        }
        for m in plan.methods
        if m["name"] not in SLOW
    ]
    design = {key: ends(value) for key, value in plan.design.items()}
    if "n_items" in design:
        design["n_items"] = [200, 300] if plan.measure == "runtime" else [100, 200]
    options = {key: ends(value) for key, value in plan.options.items()}
    if plan.measure == "estimated_rmse":
        options = {"sizes": [[5, 10]], "votes_per_item": [[1, 3]]}
    if plan.measure == "dcic":
        options |= {"slice": [1], "size": {"items": 60}}
    votes = tuple(min(number, 30 + number % 7) for number in ends(list(plan.votes)) or ())
    return replace(
        plan,
        datasets=DATASETS.get(plan.measure, DATASETS.get(name, (MOONS,))),
        methods=tuple(methods),
        budgets=tuple(ends(list(plan.budgets)) or ()),
        votes=votes,
        design=design,
        options=options,
        draws=2 if plan.measure == "scores" else 1,
    )


@pytest.mark.parametrize("name", plan_names())
def test_every_experiment_runs_and_is_shown(name, tmp_path):
    """Rows for all trials, the table and the figure that the plan asks for, and a page."""
    if name == "dcic":
        pytest.importorskip("PIL", reason="needs Pillow")
    plan, progress = tiny(name), Progress()
    frame = run_plans([plan], tmp_path, progress=progress)[plan.name]
    model_alone = sum("no predictions of a model" in reason for reason in progress.skipped)
    assert len(progress.skipped) == model_alone
    assert progress.n_run == len(plan.trials()) - sum(progress.skipped.values())
    assert len(frame) >= progress.n_run
    shown = present(plan, frame, tmp_path)
    assert (shown.table is not None) == bool(plan.table)
    assert (tmp_path / name / "figure.png").exists() == bool(plan.figure)
    for finding in write_page([shown], tmp_path, f"softspread reproduce {name}", progress.skipped):
        assert finding.number
    assert escape(plan.title) in (tmp_path / "report.html").read_text()
