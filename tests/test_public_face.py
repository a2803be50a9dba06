"""What a newcomer meets: `softspread.<tab>`, `help(softspread)`, and the docstring of every public name."""

import dataclasses
import inspect

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import softspread

CHECKS = {"GL08", "PR01", "PR02", "PR03", "PR04", "PR07", "RT01", "RT03", "EX01"}
ROOMS = ("estimators", "votes", "spreading", "intervals", "metrics", "simulate", "graph.builders")


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


def public_objects():
    """Path of every public class, function and method of the rooms above."""
    found = [getattr(softspread, name) for name in softspread.__all__]
    for module in (softspread.metrics, softspread.simulate):
        own = [value for name, value in vars(module).items() if not name.startswith("_")]
        found += [value for value in own if getattr(value, "__module__", "") == module.__name__]
    rooms = tuple(f"softspread.{room}" for room in ROOMS)
    paths = []
    for value in found:
        if inspect.ismodule(value) or not value.__module__.startswith(rooms):
            continue
        path = f"{value.__module__}.{value.__qualname__}"
        paths.append(path)
        if inspect.isclass(value):
            members = {name: inspect.getattr_static(value, name) for name in dir(value) if name[0] != "_"}
            own = {name: getattr(part, "__func__", part) for name, part in members.items()}
            paths += [
                f"{path}.{name}"
                for name, part in own.items()
                if inspect.isfunction(part) and part.__module__.startswith("softspread")
            ]
    return sorted(set(paths))


@pytest.mark.parametrize("path", public_objects())
def test_docstrings_are_complete(path):
    """Types, defaults, Returns and a runnable example, as numpydoc checks them."""
    found = {code: text for code, text in validate(path)["errors"] if code in CHECKS}
    value = softspread
    for part in path.split(".")[1:]:
        value = getattr(value, part)
    if dataclasses.is_dataclass(value):  # results: what they hold is listed under Attributes
        found.pop("PR01", None)
        listed = {name.strip() for a in get_doc_object(value)["Attributes"] for name in a.name.split(",")}
        assert {field.name for field in dataclasses.fields(value)} <= listed
    assert not found
