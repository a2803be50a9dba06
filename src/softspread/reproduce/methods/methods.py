"""Every method by name: from votes on some items to soft labels for all of them.

Ours, the paper's baselines, and the competitors beside them. A word as parameter asks for a choice: "auto" by
the votes themselves, without any truth; "truth" by comparing with the truth, as the paper does for its rows
with a star, which nobody can do in practice: once per dataset and budget, every trial of the search on votes
of its own, and judged on votes that the search has not seen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np

from softspread._common.registry import Registry
from softspread._common.types import FloatArray
from softspread.datasets.dataset import Dataset, LackingError
from softspread.errors import InputError
from softspread.estimators.baselines import GaussianKernelRegression, KNeighborsVotes, VoteHistogram
from softspread.estimators.priors import better_of, classifier_prior
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph.builders import knn_graph
from softspread.graph.graph import Graph
from softspread.reproduce.methods import competitors
from softspread.tuning.against_truth import KERNEL_STRENGTH, tune_against_truth
from softspread.tuning.candidates import SpreadOptions
from softspread.tuning.result import Tuning
from softspread.votes.ballots import Ballots
from softspread.votes.reading import read_y
from softspread.votes.votes import Votes

N_NEIGHBORS = 20  # where an experiment does not vary it; the library's default
TRUTH_TRIALS = 200  # evaluations of a search against the truth, as many as the paper allowed
AUTO, TRUTH = "auto", "truth"
PRIORS = ("none", "model", "votes")
PRIOR_STRENGTH = 1e-4  # the authors' value
FAR = 0.95  # above this alpha local solves are slow, and these are quicker:
SMALL = 2_500  # ... one dense inverse, up to this many items
FLAT = 3  # ... a sparse factorisation, which stays sparse in this few dimensions


@dataclass(slots=True)
class Task:
    """The input of a method: items, votes, and graphs that are built once for all methods."""

    data: Dataset
    votes: Votes
    seed: int
    graphs: dict[tuple[int, str], Graph] = field(default_factory=dict)
    tuned: "Tuned | None" = None  # the search of rows with a star, shared by all draws

    @property
    def X(self) -> FloatArray:  # noqa: N802
        """Features; every method here needs them."""
        if self.data.X is None:
            raise LackingError(
                f"{self.data.name} has no features; make features_<name>.npy in its folder with `softspread "
                "embed`."
            )
        return self.data.X

    @property
    def p_true(self) -> FloatArray:
        """Soft labels that the votes were drawn from."""
        if self.data.p_true is None:
            raise LackingError(f"{self.data.name} has no soft labels; give it features or soft_labels.npy.")
        return self.data.p_true

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.data.classes)

    def voted(self) -> competitors.Voted:
        """Items and votes as other libraries want them."""
        return competitors.Voted(self.X, self.votes, self.data.classes, self.seed)

    def graph(self, n_neighbors: int = N_NEIGHBORS, bandwidth: str = "kth") -> Graph:
        """Nearest-neighbour graph, built when first asked for."""
        key = (min(n_neighbors, len(self.X) - 1), bandwidth)
        if key not in self.graphs:
            self.graphs[key] = knn_graph(self.X, key[0], bandwidth, n_jobs=1, random_state=self.seed)
        return self.graphs[key]


@dataclass(slots=True)
class Tuned:
    """Results of searches against the truth for one dataset and budget.

    Every trial of a search has votes of its own; so have the draws that its winner is judged on.
    """

    fresh: Callable[[int], Votes]  # votes of a trial of the search, by its number
    n_trials: int
    seed: int
    found: dict[tuple[str, str], Tuning] = field(default_factory=dict)  # by method and bandwidth

    def search(self, task: Task, method: str, bandwidth: str = "kth") -> Tuning:
        """The best setting of a method, searched for once."""
        key = (method, bandwidth)
        if key not in self.found:
            classes = task.data.classes

            def ballots(number: int) -> Ballots:
                table, _ = read_y(self.fresh(number), len(task.X), None, classes, what="votes")
                return Ballots.of(table, len(classes))

            options = SpreadOptions(bandwidth=bandwidth, n_jobs=1, random_state=self.seed)
            self.found[key] = tune_against_truth(
                task.X, ballots(0), task.p_true, method, self.n_trials, options, ballots
            )
        return self.found[key]


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """The answer of a method."""

    p: FloatArray | None  # (n, n_classes); None where the method has no answer
    evidence: FloatArray | None = None  # (n,)
    chosen: Mapping[str, Any] = field(default_factory=dict)  # parameters that the method chose itself
    undefined: str = ""  # why there is no answer


Method = Callable[..., Outcome]


def spread(
    task: Task,
    alpha: float | str = 0.9,
    n_neighbors: int | str = N_NEIGHBORS,
    bandwidth: str = "kth",
    prior: str = "none",
    prior_strength: float | str = PRIOR_STRENGTH,
    annotator_model: str = "none",
) -> Outcome:
    """Spread votes: our method.

    "auto" as alpha, n_neighbors or prior_strength lets held-out votes choose; "truth" as alpha lets the truth
    choose it together with the neighbours.

    prior "model": predictions that came with the dataset; "votes": a classifier trained on the votes, which
    is left out where held-out votes are better off without it. The strength of either is chosen by held-out
    votes.
    """
    chosen: dict[str, Any] = {}
    items: Any
    if prior not in PRIORS:
        raise InputError(f"prior must be {', '.join(PRIORS)}, got {prior!r}.")
    if alpha == TRUTH:
        items, chosen = _chosen_by_truth(task, bandwidth)
    else:
        items = task.X if isinstance(n_neighbors, str) else task.graph(n_neighbors, bandwidth)
    used = chosen.get("alpha", alpha)

    def fit(table: FloatArray | None, strength: float | str) -> ProbabilisticLabelSpreading:
        estimator = ProbabilisticLabelSpreading(
            alpha=used,
            n_neighbors=n_neighbors,
            bandwidth=bandwidth,
            prior=table,
            prior_strength=strength,
            solver=_quickest(task, used),
            annotator_model=annotator_model,
            n_jobs=1,
        )
        return estimator.fit(items, task.votes, classes=task.data.classes)

    if prior == "model":
        estimator = fit(_model_predictions(task), AUTO)
    elif prior == "votes":
        estimator = better_of(fit(None, AUTO), fit(_prior_of_votes(task), AUTO))
    else:
        estimator = fit(None, prior_strength)
    if alpha == AUTO:
        chosen["alpha"] = float(estimator.alpha_)
    if n_neighbors == AUTO:
        chosen["n_neighbors"] = int(estimator.graph_.n_neighbors or 0)
    if prior != "none" or prior_strength == AUTO:
        chosen["prior_strength"] = float(estimator.prior_strength_)
    if prior == "votes":
        chosen["prior"] = "none" if estimator.prior is None else "votes"
    return Outcome(estimator.predict_proba(), estimator.evidence_, chosen)


def _prior_of_votes(task: Task) -> FloatArray:
    return classifier_prior(task.X, task.votes, classes=task.data.classes, random_state=task.seed)


def _model_predictions(task: Task) -> FloatArray:
    if task.data.prior is None:
        raise LackingError(
            f"{task.data.name} has no predictions of a model (zero_shot.npy); for image datasets "
            "`softspread reproduce prepare` makes them."
        )
    return task.data.prior


def _quickest(task: Task, alpha: Any) -> str:
    """Name the quickest solver for this alpha; all of them give the same soft labels."""
    if not isinstance(alpha, float) or alpha <= FAR:
        return "auto"
    if len(task.X) <= SMALL:
        return "dense"
    return "direct" if task.X.shape[1] <= FLAT else "auto"


def _chosen_by_truth(task: Task, bandwidth: str) -> tuple[Graph, dict[str, Any]]:
    found = _tuned_by_truth(task, "pls", bandwidth)
    chosen = {"alpha": found.alpha, "n_neighbors": found.n_neighbors}
    return task.graph(int(found.n_neighbors or 1), bandwidth), chosen


def _tuned_by_truth(task: Task, method: str, bandwidth: str = "kth") -> Tuning:
    if task.tuned is None:
        raise InputError('a parameter "truth" needs votes to search on, which only a plan can draw.')
    return task.tuned.search(task, method, bandwidth)


def count_votes(task: Task) -> Outcome:
    """Each item's own votes."""
    return _baseline(task, VoteHistogram())


def kernel_regression(
    task: Task, gamma: float | str = 1.0, prior_strength: float = KERNEL_STRENGTH
) -> Outcome:
    """Gaussian kernel; gamma "truth" is tuned. prior_strength as in the authors' runs, 0 as printed."""
    estimator = GaussianKernelRegression(prior_strength=prior_strength)
    return _with_choice(task, "gkr", estimator, gamma)


def nearest_votes(task: Task, n_neighbors: int | str = 20, average: str = "votes") -> Outcome:
    """Votes of the nearest voted items; n_neighbors "truth" is tuned.

    Without an answer where fewer items have votes, as in the paper.
    """
    n_voted = len(np.unique(task.votes.items))
    if isinstance(n_neighbors, int) and n_voted < n_neighbors:
        return Outcome(None, undefined=f"{n_voted} items have votes, fewer than {n_neighbors}")
    return _with_choice(task, "knn", KNeighborsVotes(average=average, n_jobs=1), n_neighbors)


def _with_choice(task: Task, method: str, estimator: Any, value: float | str) -> Outcome:
    """A baseline at a value of its main parameter, or at the one that the truth prefers."""
    name, chosen = MAIN_PARAMETER[method], {}
    if value == TRUTH:
        value = chosen[name] = getattr(_tuned_by_truth(task, method), name)
    return _baseline(task, estimator.set_params(**{name: value}), chosen)


def _baseline(task: Task, estimator: Any, chosen: Mapping[str, Any] | None = None) -> Outcome:
    estimator.fit(task.X, task.votes, classes=task.data.classes)
    return Outcome(estimator.predict_proba(), estimator.evidence_, chosen or {})


def model_alone(task: Task) -> Outcome:
    """Predictions of a model that saw no votes, such as a zero-shot classifier."""
    return Outcome(_model_predictions(task))


def _competitor(estimate: Callable[..., FloatArray]) -> Method:
    @wraps(estimate)  # so that its parameters can be seen
    def run(task: Task, **parameters: Any) -> Outcome:
        return Outcome(estimate(task.voted(), **parameters))

    return run


METHODS: dict[str, Method] = {
    "pls": spread,
    "histogram": count_votes,
    "gkr": kernel_regression,
    "knn": nearest_votes,
    "model": model_alone,
    "sklearn_label_spreading": _competitor(competitors.sklearn_label_spreading),
    "self_training": _competitor(competitors.self_training),
    "logistic": _competitor(competitors.logistic_on_votes),
    "laplace": _competitor(competitors.laplace_learning),
    "poisson": _competitor(competitors.poisson_learning),
    "dawid_skene": _competitor(competitors.dawid_skene),
    "crowdlab": _competitor(competitors.crowdlab),
}
TITLES = {
    "pls": "PLS",
    "histogram": "Own votes",
    "gkr": "GKR",
    "knn": "kNN",
    "model": "Model alone",
    "sklearn_label_spreading": "scikit-learn LabelSpreading",
    "self_training": "scikit-learn SelfTraining",
    "logistic": "Logistic regression on votes",
    "laplace": "GraphLearning Laplace",
    "poisson": "GraphLearning Poisson",
    "dawid_skene": "crowd-kit Dawid-Skene",
    "crowdlab": "cleanlab CROWDLAB",
}
MAIN_PARAMETER = {"pls": "alpha", "gkr": "gamma", "knn": "n_neighbors"}  # named in titles


OWN: Registry[Method] = Registry("method", "softspread.methods", {})  # of other packages


def find_method(name: str) -> Method:
    """Find a method by its name, here or in another package."""
    if name in METHODS:
        return METHODS[name]
    if name not in OWN.names():
        known = ", ".join([*METHODS, *OWN.names()])
        raise InputError(
            f"method {name!r} is unknown; there are {known}. Another package can add one with an entry point "
            f"in the group {OWN.group!r}."
        )
    return OWN.get(name)


def setting_text(value: float | str) -> str:
    """A word as it is, a number without needless zeros."""
    return value if isinstance(value, str) else f"{value:g}"


def method_title(name: str, parameters: Mapping[str, Any]) -> str:
    """Name a method with its parameters as tables do, such as "PLS (0.9)".

    A star marks a choice made by the truth.

    Examples
    --------
    >>> method_title("pls", {"alpha": 0.9, "bandwidth": "mean"}), method_title("gkr", {"gamma": "truth"})
    ('PLS (0.9)', 'GKR (*)')
    """
    title = TITLES.get(name, name)
    value = parameters.get(MAIN_PARAMETER.get(name, ""))
    words = [] if value is None else ["*" if value == TRUTH else setting_text(value)]
    if parameters.get("prior", "none") != "none":
        words.append(
            {"model": "model as prior", "votes": "classifier of votes as prior"}[parameters["prior"]]
        )
    if parameters.get("average", "votes") == "items":
        words.append("histograms averaged")
    if name == "gkr" and parameters.get("prior_strength", KERNEL_STRENGTH) == 0:
        words.append("as printed")
    if parameters.get("annotator_model", "none") != "none":
        words.append(f"annotators: {parameters['annotator_model']}")
    return f"{title} ({', '.join(words)})" if words else title


def check_soft_labels(p: FloatArray, n: int, n_classes: int) -> FloatArray:
    """Check soft labels: shape, no NaN, not negative, rows summing to 1.

    Rounding errors of the sums are removed.
    """
    table = np.asarray(p, dtype=np.float64)
    if table.shape != (n, n_classes) or not np.isfinite(table).all() or (table < 0).any():
        raise InputError(f"a method returned no soft labels: shape {table.shape}, expected {(n, n_classes)}.")
    return np.asarray(table / table.sum(axis=1, keepdims=True))
