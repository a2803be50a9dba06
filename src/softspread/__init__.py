"""Reliable soft labels with honest uncertainty from few, noisy votes.

Public names are loaded when first used, so that ``import softspread`` stays quick.
"""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

__version__ = _version("softspread")

_HOMES = {
    "ProbabilisticLabelSpreading": "estimators.spreading",
    "VoteHistogram": "estimators.baselines",
    "GaussianKernelRegression": "estimators.baselines",
    "KNeighborsVotes": "estimators.baselines",
    "Votes": "votes.votes",
    "Graph": "graph.graph",
    "knn_graph": "graph.builders",
    "epsilon_graph": "graph.builders",
    "affinity_graph": "graph.builders",
    "embed": "embedding.embed",
    "zero_shot": "embedding.zero_shot",
    "compare_spaces": "embedding.comparison",
    "Embedding": "embedding.result",
    "save": "estimators.storage",
    "load": "estimators.storage",
    "metrics": "metrics",
    "plan": "guarantees.theorem",
    "tune": "tuning.tune",
    "classifier_prior": "estimators.priors",
    "better_of": "estimators.priors",
    "uncertainty_split": "intervals.uncertainty",
    "SoftspreadError": "errors",
    "InputError": "errors",
    "ConvergenceError": "errors",
    "StoreError": "errors",
    "MissingExtraError": "errors",
    "PluginError": "errors",
    "SoftspreadWarning": "errors",
}
__all__ = [*_HOMES]  # noqa: PLE0604 - one list of public names is enough


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'softspread' has no attribute {name!r}")
    home = import_module(f"softspread.{_HOMES[name]}")
    return home if name == _HOMES[name] else getattr(home, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if TYPE_CHECKING:
    from softspread import metrics as metrics
    from softspread.embedding.comparison import compare_spaces as compare_spaces
    from softspread.embedding.embed import embed as embed
    from softspread.embedding.result import Embedding as Embedding
    from softspread.embedding.zero_shot import zero_shot as zero_shot
    from softspread.errors import ConvergenceError as ConvergenceError
    from softspread.errors import InputError as InputError
    from softspread.errors import MissingExtraError as MissingExtraError
    from softspread.errors import PluginError as PluginError
    from softspread.errors import SoftspreadError as SoftspreadError
    from softspread.errors import SoftspreadWarning as SoftspreadWarning
    from softspread.errors import StoreError as StoreError
    from softspread.estimators.baselines import GaussianKernelRegression as GaussianKernelRegression
    from softspread.estimators.baselines import KNeighborsVotes as KNeighborsVotes
    from softspread.estimators.baselines import VoteHistogram as VoteHistogram
    from softspread.estimators.priors import better_of as better_of
    from softspread.estimators.priors import classifier_prior as classifier_prior
    from softspread.estimators.spreading import ProbabilisticLabelSpreading as ProbabilisticLabelSpreading
    from softspread.estimators.storage import load as load
    from softspread.estimators.storage import save as save
    from softspread.graph.builders import affinity_graph as affinity_graph
    from softspread.graph.builders import epsilon_graph as epsilon_graph
    from softspread.graph.builders import knn_graph as knn_graph
    from softspread.graph.graph import Graph as Graph
    from softspread.guarantees.theorem import plan as plan
    from softspread.intervals.uncertainty import uncertainty_split as uncertainty_split
    from softspread.tuning.tune import tune as tune
    from softspread.votes.votes import Votes as Votes
