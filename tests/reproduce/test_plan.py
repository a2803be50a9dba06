"""Plans become trials, and bad plans are explained."""

import pytest

from small_plans import SMALL, one_trial, small_plan
from softspread.errors import InputError
from softspread.reproduce.plan import load_plan, plan_names, read_plan


def test_lists_are_axes():
    """2 datasets x 2 budgets x (2 alphas + 1) x 2 draws; quick mode replaces what it names."""
    assert len(small_plan().trials()) == 2 * 2 * 3 * 2
    assert len(small_plan(quick=True).trials()) == 2 * 2 * 3


def test_equal_descriptions_have_equal_keys_and_others_do_not():
    """The key is the description; order of entries does not matter."""
    trial = one_trial()
    same = one_trial(parameters={"n_neighbors": 10, "alpha": 0.9})
    assert trial.key == same.key
    changed = [
        one_trial(budget=0.4),
        one_trial(seed=1),
        one_trial(draw=1),
        one_trial(parameters={"alpha": 0.8}),
    ]
    assert len({trial.key, *(other.key for other in changed)}) == 5


@pytest.mark.parametrize("name", plan_names())
@pytest.mark.parametrize("quick", [True, False])
def test_every_plan_is_readable(name, quick):
    """Each has trials, and known measure, table and figure."""
    from softspread.reproduce.measures import MEASURES
    from softspread.reproduce.present.figures import FIGURES
    from softspread.reproduce.present.tables import TABLES

    plan = load_plan(name, quick)
    trials = plan.trials()
    assert trials
    assert len({trial.key for trial in trials}) == len(trials)
    assert plan.measure in MEASURES
    assert plan.table in {"", *TABLES}
    assert plan.figure in {"", *FIGURES}
    assert plan.table or plan.figure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("title = ", "not valid TOML"),
        ('title = "x"', "lacks measure, datasets"),
        ('title = "x"\nmeasure = "scores"\ndatasets = ["digits"]\ncolour = 1', "unknown entries colour"),
        ('title = "x"\nmeasure = "scores"\ndatasets = [{ features = "pca2" }]', "needs a name"),
    ],
)
def test_bad_plans_are_explained(text, message):
    """What is wrong, and what is allowed."""
    with pytest.raises(InputError, match=message):
        read_plan("bad", text)


def test_unknown_experiments_are_explained(tmp_path):
    """The message lists what there is; a path that is not a file is named."""
    with pytest.raises(InputError, match="rmse_10"):
        load_plan("rmse_11")
    with pytest.raises(InputError, match="there is no plan"):
        load_plan(str(tmp_path / "mine.toml"))


def test_a_plan_of_ones_own_is_read_from_its_path(tmp_path):
    """The file's name is the experiment's."""
    (tmp_path / "mine.toml").write_text(SMALL)
    assert load_plan(str(tmp_path / "mine.toml")).name == "mine"
