"""Soft labels with honest uncertainty for a whole dataset, from few and noisy votes.

    est = SoftLabeler().fit(X, Votes.from_pairs(items, labels))
    est.soft_labels().to_frame()      # a probability per class, evidence and an interval for every item
    est.explain(item), est.query(10)  # the votes behind one of them; which items to vote on next

Estimators (``fit``, ``update``, ``predict_proba``, ``soft_labels``)
    SoftLabeler                       several experts and one posterior per item; start here
    ProbabilisticLabelSpreading       the paper's method: votes travel over a graph of neighbours
    RatingSpreading                   mean ratings on a scale, with intervals
    VoteHistogram                     each item's own votes
    GaussianKernelRegression          votes weighted by distance
    KNeighborsVotes                   votes of the nearest voted items
    save, load                        a fitted estimator as one file
What goes in
    Votes                             who said which class for which item: pairs, tables, counts, yes or no
    read_votes, read_embeddings       the same from files; several are taken together
    Graph                             neighbours of every item, from
    knn_graph, epsilon_graph, affinity_graph
    embed, Embedding                  images or text as vectors
    zero_shot, classifier_prior       predictions as a prior; better_of keeps it where it helps
    better_of, compare_spaces
What comes out
    SoftLabels, Evidence              est.soft_labels(), and what lies behind it
    Tuning, TuningPoint               est.tuning_, and tune
    Quality, Estimate, GainForecast   est.quality() and est.forecast()
    AnnotatorReport                   who votes with the crowd
    JudgeReport                       how good models are that vote beside people
    Smoothness                        whether votes go with those of their neighbours
    UncertaintySplit                  people disagree, or too few votes
    SolveReport, ScaleReport          accuracy that was reached
    Plan                              plan
    Embeddings                        read_embeddings
    Plots                             est.plot: pictures on matplotlib axes
    Voter                             est.vote_here(): voting in a notebook
Any size
    spread_in_blocks, BlockResult     more items than fit in memory, on one machine or on Dask
Decisions
    tune                              alpha, neighbours and prior strength by held-out votes
    uncertainty_split                 the rule behind est.uncertainty()
    plan                              how many votes a guarantee takes
Modules
    datasets, simulate, metrics       data to try, votes to simulate, errors to measure
    testing                           conformance suites for plug-ins
Errors
    SoftspreadError                   base of InputError, ConvergenceError, StoreError,
                                      MissingExtraError and PluginError
    SoftspreadWarning                 the result stands, but deserves a look
    NeighborWarning                   votes do not go with those of their neighbours

Every name has a docstring with an example: ``help(softspread.Votes)``. Names are loaded when first used, so
that ``import softspread`` stays quick.
"""

from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

from softspread._common.late_imports import imported_when_used as _imported_when_used

__version__ = _version("softspread")

_NAMES = {
    "estimators.labeler": ["SoftLabeler"],
    "estimators.rating": ["RatingSpreading"],
    "estimators.spreading": ["ProbabilisticLabelSpreading"],
    "estimators.baselines": ["VoteHistogram", "GaussianKernelRegression", "KNeighborsVotes"],
    "estimators.storage": ["save", "load"],
    "estimators.priors": ["classifier_prior", "better_of"],
    "votes.votes": ["Votes"],
    "io.votes": ["read_votes"],
    "io.embeddings": ["read_embeddings", "Embeddings"],
    "graph.graph": ["Graph"],
    "graph.builders": ["knn_graph", "epsilon_graph", "affinity_graph"],
    "embedding.embed": ["embed"],
    "embedding.result": ["Embedding"],
    "embedding.zero_shot": ["zero_shot"],
    "embedding.comparison": ["compare_spaces"],
    "spreading.evidence": ["SoftLabels", "Evidence"],
    "tuning.tune": ["tune"],
    "tuning.result": ["Tuning", "TuningPoint"],
    "quality.result": ["Quality", "Estimate", "GainForecast"],
    "quality.smoothness": ["Smoothness"],
    "annotators.report": ["AnnotatorReport"],
    "annotators.judges": ["JudgeReport"],
    "plots.accessor": ["Plots"],
    "notebook.voter": ["Voter"],
    "intervals.uncertainty": ["uncertainty_split", "UncertaintySplit"],
    "diffusion.solver": ["SolveReport"],
    "diffusion.scales": ["ScaleReport"],
    "guarantees.theorem": ["plan", "Plan"],
    "blocks.spread": ["spread_in_blocks", "BlockResult"],
    "errors": [
        "SoftspreadError",
        "InputError",
        "ConvergenceError",
        "StoreError",
        "MissingExtraError",
        "PluginError",
        "SoftspreadWarning",
        "NeighborWarning",
    ],
}
_MODULES = ("datasets", "simulate", "metrics", "testing")
_HOMES = {name: home for home, names in _NAMES.items() for name in names}
__all__ = [*_HOMES, *_MODULES]  # noqa: PLE0604 - one list of public names is enough


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"softspread.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'softspread' has no attribute {name!r}")
    with _imported_when_used("scipy.stats", functions=("gmean", "rankdata")):
        return getattr(import_module(f"softspread.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


if TYPE_CHECKING:
    from softspread import datasets as datasets
    from softspread import metrics as metrics
    from softspread import simulate as simulate
    from softspread import testing as testing
    from softspread.annotators.judges import JudgeReport as JudgeReport
    from softspread.annotators.report import AnnotatorReport as AnnotatorReport
    from softspread.blocks.spread import BlockResult as BlockResult
    from softspread.blocks.spread import spread_in_blocks as spread_in_blocks
    from softspread.diffusion.scales import ScaleReport as ScaleReport
    from softspread.diffusion.solver import SolveReport as SolveReport
    from softspread.embedding.comparison import compare_spaces as compare_spaces
    from softspread.embedding.embed import embed as embed
    from softspread.embedding.result import Embedding as Embedding
    from softspread.embedding.zero_shot import zero_shot as zero_shot
    from softspread.errors import ConvergenceError as ConvergenceError
    from softspread.errors import InputError as InputError
    from softspread.errors import MissingExtraError as MissingExtraError
    from softspread.errors import NeighborWarning as NeighborWarning
    from softspread.errors import PluginError as PluginError
    from softspread.errors import SoftspreadError as SoftspreadError
    from softspread.errors import SoftspreadWarning as SoftspreadWarning
    from softspread.errors import StoreError as StoreError
    from softspread.estimators.baselines import GaussianKernelRegression as GaussianKernelRegression
    from softspread.estimators.baselines import KNeighborsVotes as KNeighborsVotes
    from softspread.estimators.baselines import VoteHistogram as VoteHistogram
    from softspread.estimators.labeler import SoftLabeler as SoftLabeler
    from softspread.estimators.priors import better_of as better_of
    from softspread.estimators.priors import classifier_prior as classifier_prior
    from softspread.estimators.rating import RatingSpreading as RatingSpreading
    from softspread.estimators.spreading import ProbabilisticLabelSpreading as ProbabilisticLabelSpreading
    from softspread.estimators.storage import load as load
    from softspread.estimators.storage import save as save
    from softspread.graph.builders import affinity_graph as affinity_graph
    from softspread.graph.builders import epsilon_graph as epsilon_graph
    from softspread.graph.builders import knn_graph as knn_graph
    from softspread.graph.graph import Graph as Graph
    from softspread.guarantees.theorem import Plan as Plan
    from softspread.guarantees.theorem import plan as plan
    from softspread.intervals.uncertainty import UncertaintySplit as UncertaintySplit
    from softspread.intervals.uncertainty import uncertainty_split as uncertainty_split
    from softspread.io.embeddings import Embeddings as Embeddings
    from softspread.io.embeddings import read_embeddings as read_embeddings
    from softspread.io.votes import read_votes as read_votes
    from softspread.notebook.voter import Voter as Voter
    from softspread.plots.accessor import Plots as Plots
    from softspread.quality.result import Estimate as Estimate
    from softspread.quality.result import GainForecast as GainForecast
    from softspread.quality.result import Quality as Quality
    from softspread.quality.smoothness import Smoothness as Smoothness
    from softspread.spreading.evidence import Evidence as Evidence
    from softspread.spreading.evidence import SoftLabels as SoftLabels
    from softspread.tuning.result import Tuning as Tuning
    from softspread.tuning.result import TuningPoint as TuningPoint
    from softspread.tuning.tune import tune as tune
    from softspread.votes.votes import Votes as Votes
