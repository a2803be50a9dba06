"""What a newcomer meets: `softspread.<tab>`, `help(softspread)`, and the docstring of every public name."""

import inspect

import pytest

import softspread


def test_help_lists_every_public_name():
    """The package's docstring is a map: each name of `softspread.<tab>` stands in it."""
    words = set(softspread.__doc__.replace(",", " ").replace("(", " ").split())
    assert set(softspread.__all__) <= words


def test_modules_are_attributes():
    """As the docs write them, without importing them first."""
    assert "digits" in softspread.datasets.names()
    assert softspread.metrics.rmse([[1.0, 0.0]], [[1.0, 0.0]]) == 0
    assert callable(softspread.simulate.draw_votes)


def test_results_can_be_named():
    """What the estimator hands out is importable by name, for annotations and isinstance."""
    names = ["SoftLabels", "Tuning", "TuningPoint", "Quality", "Estimate", "GainForecast", "SolveReport"]
    for name in [*names, "ScaleReport", "AnnotatorReport", "Plan", "UncertaintySplit", "Evidence"]:
        assert inspect.isclass(getattr(softspread, name))


@pytest.mark.parametrize("name", [name for name in softspread.__all__ if name[0].isupper()])
def test_estimators_take_parameters_by_keyword_only(name):
    """A constructor parameter that scikit-learn could clone has a name at every call."""
    cls = getattr(softspread, name)
    if hasattr(cls, "fit"):
        kinds = {parameter.kind for parameter in inspect.signature(cls).parameters.values()}
        assert kinds <= {inspect.Parameter.KEYWORD_ONLY}
