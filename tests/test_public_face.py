"""What a newcomer meets: `softspread.<tab>`, `help(softspread)`, and the docstring of every public name."""

import dataclasses
import inspect
from typing import Any

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

import softspread
from softspread.guarantees import simulation

# All of numpydoc's checks but: extended summaries, See Also everywhere, verbs first, no names in Returns.
EXEMPT = {"ES01", "SA01", "SS05", "RT02"}
MODULES = (softspread.metrics, softspread.simulate, softspread.datasets, softspread.testing, simulation)


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


def own_names(module):
    """What a public module offers: its ``__all__``, else what it defines itself."""
    defined = [
        name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
    ]
    return getattr(module, "__all__", [name for name in defined if not name.startswith("_")])


def public_objects():
    """Path of every public class, function and method."""
    found = [getattr(module, name) for module in (softspread, *MODULES) for name in own_names(module)]
    paths = set()
    for value in found:
        if inspect.ismodule(value):
            continue
        path = f"{value.__module__}.{value.__qualname__}"
        paths.add(path)
        if inspect.isclass(value):
            members = {name: inspect.getattr_static(value, name) for name in dir(value) if name[0] != "_"}
            own = {name: getattr(part, "__func__", part) for name, part in members.items()}
            paths |= {
                f"{path}.{name}"
                for name, part in own.items()
                if inspect.isfunction(part) and part.__module__.startswith("softspread")
            }
    return sorted(paths)


def needs_company(path):
    """Whether a See Also is due: functions to choose among, estimators and their methods."""
    owner = found_at(path.rpartition(".")[0])
    value = found_at(path)
    offered = inspect.isfunction(value) and inspect.ismodule(owner) and ".testing." not in path
    return offered or hasattr(owner, "fit") or hasattr(value, "fit")


def found_at(path):
    """The object behind a dotted path."""
    value = softspread
    for part in path.split(".")[1:]:
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("path", [path for path in public_objects() if ".errors." not in path])
def test_parameters_have_types(path):
    """Arrays are ArrayLike, seeds RandomState and so on: an editor can help with every argument."""
    signature = inspect.signature(found_at(path))
    open_ended = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    named = [part for part in signature.parameters.values() if part.kind not in open_ended]
    untyped = [part.name for part in named if part.annotation in (Any, inspect.Parameter.empty)]
    assert not set(untyped) - {"self", "cls"}


@pytest.mark.parametrize("path", public_objects())
def test_docstrings_are_complete(path):
    """Types, defaults, Returns, company and a runnable example, as numpydoc checks them."""
    exempt = EXEMPT - {"SA01"} if needs_company(path) else EXEMPT
    found = {code: text for code, text in validate(path)["errors"] if code not in exempt}
    value = found_at(path)
    if dataclasses.is_dataclass(value):  # results: what they hold is listed under Attributes
        found.pop("PR01", None)
        listed = {name.strip() for a in get_doc_object(value)["Attributes"] for name in a.name.split(",")}
        assert {field.name for field in dataclasses.fields(value)} <= listed
    assert not found
