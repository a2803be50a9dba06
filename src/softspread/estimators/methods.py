"""The methods that the command line and the page can fit, by name.

    "auto"  ->  "blend"  ->  SoftLabeler

Imports no numerical library, so that a wrong name is refused at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.estimators.graph_based import GraphEstimator

BLEND, SPREADING = "blend", "pls"
_MEANING = {"auto": BLEND, BLEND: BLEND, SPREADING: SPREADING}
_ESTIMATORS = {BLEND: "labeler:SoftLabeler", SPREADING: "spreading:ProbabilisticLabelSpreading"}
METHODS = tuple(_MEANING)


def method_of(name: str) -> str:
    """The method that a name stands for, "blend" or "pls"; any other name is refused.

    Parameters
    ----------
    name : str
        One of ``METHODS``.

    Returns
    -------
    str
        ``BLEND`` or ``SPREADING``.

    Examples
    --------
    >>> method_of("auto")
    'blend'
    """
    if name not in _MEANING:
        raise InputError(
            f"method must be one of {', '.join(METHODS)}, got {name!r}; auto and blend are SoftLabeler, "
            "pls is the paper's ProbabilisticLabelSpreading."
        )
    return _MEANING[name]


def estimator_of(name: str) -> "type[GraphEstimator]":
    """The estimator of a method, imported now.

    Parameters
    ----------
    name : str
        One of ``METHODS``.

    Returns
    -------
    type
        The class of the estimator.

    Examples
    --------
    >>> estimator_of("pls").__name__
    'ProbabilisticLabelSpreading'
    """
    module, _, attribute = _ESTIMATORS[method_of(name)].partition(":")
    found: type[GraphEstimator] = getattr(import_module(f"softspread.estimators.{module}"), attribute)
    return found
