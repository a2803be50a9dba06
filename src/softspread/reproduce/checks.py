"""What a plan names is there: checked before the first trial, so that a misspelt word costs no hours.

measure, table, figure; methods and their parameters; entries of [design] and [options]
"""

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from softspread.errors import InputError
from softspread.reproduce.measures import MEASURES
from softspread.reproduce.methods.methods import find_method
from softspread.reproduce.plan import Plan
from softspread.reproduce.present.figures import FIGURES
from softspread.reproduce.present.tables import TABLES

BY_NAME = ("scores", "estimated_rmse", "growing_votes")  # measures that run methods by their names
OWN_ESTIMATOR = ("runtime", "intervals")  # measures whose parameters go to ProbabilisticLabelSpreading
DESIGN = ("n_items", "subset_share", "train_share", "crowd", "n_annotators", "burst")
OPTIONS = {
    "scores": ("truth_trials", "silhouette"),
    "estimated_rmse": ("sizes", "votes_per_item"),
    "growing_votes": ("steps", "truth_trials"),
    "entropy": (),
    "runtime": ("way", "most"),
    "consistency": ("dimension", "graph"),
    "intervals": ("interval", "level"),
    "dcic": ("slice", "side", "size", "authors", "classifier"),
    "quoted": (),
}


def check_plan(plan: Plan) -> None:
    r"""Refuse a plan with a name that nothing reads.

    Examples
    --------
    >>> from softspread.reproduce.plan import read_plan
    >>> start = 'title = "t"\nmeasure = "scores"\ndatasets = ["digits"]\n[[methods]]\n'
    >>> check_plan(read_plan("mine", start + 'name = "knn"\nn_neighbors = 5'))
    >>> check_plan(read_plan("mine", start + 'name = "knn"\nneighbors = 5'))
    Traceback (most recent call last):
        ...
    softspread.errors.InputError: plan mine: method knn has no 'neighbors'; there are n_neighbors, average.
    """
    _check(plan, "measure", plan.measure, MEASURES)
    for what, name, known in (("table", plan.table, TABLES), ("figure", plan.figure, FIGURES)):
        if name:
            _check(plan, what, name, known)
    for entry in plan.design:
        _check(plan, "[design]", entry, DESIGN)
    for entry in plan.options:
        _check(plan, f"[options] of {plan.measure}", entry, OPTIONS[plan.measure])
    for method in plan.methods:
        taken = parameters_of(plan.measure, str(method["name"]))
        for entry in method:
            if taken is not None and entry != "name":
                _check(plan, f"method {method['name']}", entry, taken)


def parameters_of(measure: str, method: str) -> list[str] | None:
    """What a method may be given; None where it takes anything."""
    if measure in OWN_ESTIMATOR:
        from softspread.estimators.spreading import ProbabilisticLabelSpreading

        taken: Mapping[str, Any] = inspect.signature(ProbabilisticLabelSpreading).parameters
        return list(taken)
    if measure not in BY_NAME:
        return []
    taken = inspect.signature(find_method(method)).parameters
    if any(part.kind is inspect.Parameter.VAR_KEYWORD for part in taken.values()):
        return None
    return list(taken)[1:]  # the first is what is to be labelled


def _check(plan: Plan, what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise InputError(f"plan {plan.name}: {what} has no {name!r}; there are {', '.join(known) or 'none'}.")
