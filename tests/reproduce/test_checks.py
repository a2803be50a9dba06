"""A misspelt word in a plan is refused before anything runs."""

import pytest

from command_line import refused, run
from softspread.errors import InputError
from softspread.reproduce.checks import OPTIONS, check_plan, parameters_of
from softspread.reproduce.measures import MEASURES
from softspread.reproduce.methods.methods import METHODS
from softspread.reproduce.plan import load_plan, plan_names, read_plan

START = 'title = "x"\nmeasure = "scores"\ndatasets = ["digits"]\nbudgets = [0.1]\n'
PLS = START + '[[methods]]\nname = "pls"\n'


@pytest.mark.parametrize("name", plan_names())
@pytest.mark.parametrize("quick", [True, False])
def test_every_plan_of_ours_passes(name, quick):
    """Nothing that a plan of the package names is unknown to the check."""
    check_plan(load_plan(name, quick))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (START.replace("scores", "score"), "measure has no 'score'"),
        (START + 'table = "metods_"', "table has no 'metods_'"),
        (START + 'figure = "trajectory"', "figure has no 'trajectory'"),
        (PLS.replace("pls", "psl"), "method 'psl' is unknown"),
        (PLS + "aplha_ = 0.5", "method pls has no 'aplha_'; there are alpha, n_neighbors"),
        (PLS.replace("pls", "crowdlab") + "alpha = 0.5", "method crowdlab has no 'alpha'; there are"),
        (PLS + '[design]\ncrowds = "mixed"', "has no 'crowds'"),
        (PLS + "[options]\ntruth_trails = 3", "has no 'truth_trails'"),
    ],
)
def test_a_misspelt_word_is_named_with_what_is_known(text, message):
    """Wherever it stands."""
    with pytest.raises(InputError, match=message):
        check_plan(read_plan("mine", text))


def test_every_measure_has_its_options_and_every_method_its_parameters():
    """The lists here are complete; a method's first argument is no parameter."""
    assert set(OPTIONS) == set(MEASURES)
    assert all("task" not in parameters_of("scores", name) for name in METHODS)


def test_the_command_refuses_before_it_makes_a_folder(tmp_path):
    """Nothing is written, and no trial has run."""
    plan = tmp_path / "mine.toml"
    plan.write_text(PLS + "aplha_ = 0.5")
    refused(run("reproduce", plan, "--out", tmp_path / "out"), "method pls has no 'aplha_'")
    assert not (tmp_path / "out").exists()
