"""What else one could use, each at several settings, so that the best can be picked in hindsight.

    Space of a dataset, counts  ->  {method: soft labels}

A method is named "family:setting". ``REFERENCES`` choose their settings from the votes, as a user's fit does;
all other families compete in hindsight. Peers are compact and plain on purpose. Where a method has
nothing to say about an item it answers with the class shares.
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from experiments.posterior.datasets import Dataset
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import splu
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neural_network import MLPClassifier
from sklearn.semi_supervised import LabelSpreading

from softspread import ProbabilisticLabelSpreading, SoftspreadWarning, better_of, classifier_prior, knn_graph
from softspread._common.types import FloatArray
from softspread.graph.graph import Graph
from softspread.spreading.evidence import soft_labels

NEIGHBORS = 20  # of the graph, for every method that uses one
WIDTHS = (
    0.001,
    0.01,
    0.1,
    0.3,
    1.0,
    3.0,
    10.0,
    30.0,
)  # gamma times the median squared distance to the fifth neighbour
VOTED_NEIGHBORS = (1, 3, 5, 10, 20, 50, 100)
PENALTIES = (0.001, 0.01, 0.1, 1.0, 10.0)  # C of logistic regression
HIDDEN = ((32,), (64, 64))
SKLEARN_ALPHAS = (0.2, 0.5, 0.8, 0.95)
POISSON_STEPS = (10, 50, 200)  # to the end, weak bridges between clusters would decide everything
SHARPNESS = (0.0, 1.0, 3.0, 10.0)  # Poisson learning ranks classes: how its scores become probabilities
OWN_PRIOR = (0.1, 0.3, 1.0, 3.0)  # votes that the class shares are worth in the histogram
ALPHAS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
PULL = 1e-6  # towards the class shares, of a node's degree: parts of the graph without a vote are defined
KAPPA = 1e-4  # prior strength of fixed-alpha spreading: the estimator's default
LEAST_DOUBT = 1e-6  # keeps CROWDLAB's weights finite where one class has all votes

REFERENCES = ("pls_auto", "pls_classifier")


@dataclass(frozen=True)
class Space:
    """What all methods share about a dataset, whatever the votes."""

    dataset: Dataset

    @cached_property
    def graph(self) -> Graph:
        """Our neighbour graph."""
        return knn_graph(self.dataset.X, n_neighbors=NEIGHBORS, n_jobs=1)

    @cached_property
    def squared(self) -> FloatArray:
        """(n, n) squared distances in units of the median one to the fifth neighbour."""
        X = self.dataset.X - self.dataset.X.mean(axis=0)
        d = euclidean_distances(X, squared=True)
        return np.asarray(d / max(np.median(np.sort(d, axis=1)[:, 5]), 1e-300))

    @cached_property
    def inputs(self) -> dict[str, FloatArray]:
        """What classifiers may see: standardised X, and the features in one scale."""
        X, F = self.dataset.X, self.dataset.features
        spread = X.std(axis=0)
        found = {"x": (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)}
        if F is not None:
            found["features"] = (F - F.mean(axis=0)) / F.std(axis=0).mean()
        return found

    @cached_property
    def laplacian(self) -> tuple[csr_array, FloatArray]:
        """D - W of our graph, and the degrees."""
        root = diags_array(np.sqrt(self.graph.degrees))
        W = csr_array(root @ self.graph.S @ root)
        degrees = np.maximum(np.asarray(W.sum(axis=1)).ravel(), 1e-12)
        return csr_array(diags_array(degrees) - W), degrees

    @cached_property
    def profiles(self) -> dict[float, FloatArray]:
        """Scaled profiles of every item, one column each, by alpha."""
        S, found = self.graph.S.toarray(), {}
        for alpha in ALPHAS:
            M = np.linalg.inv(np.eye(len(S)) - alpha * S)
            found[alpha] = M / M.max(axis=0)
        return found


Method = Callable[[Space, FloatArray], FloatArray]


def shares(counts: FloatArray) -> FloatArray:
    """Class shares of all votes, one more vote for each class."""
    total = counts.sum(axis=0) + 1
    return np.asarray(total / total.sum())


def _filled(mass: FloatArray, counts: FloatArray) -> FloatArray:
    """Normalise rows; rows that received nothing get the class shares."""
    mass = np.maximum(mass, 0.0)
    total = mass.sum(axis=1, keepdims=True)
    known = total > 1e-300
    return np.where(known, mass / np.where(known, total, 1.0), shares(counts))


# ----------------------------------------------------------------------------------------------- local means
def kernel(space: Space, counts: FloatArray, width: float) -> FloatArray:
    """Gaussian kernel regression over all votes."""
    voted = np.flatnonzero(counts.any(axis=1))
    d = width * space.squared[:, voted]
    return _filled(np.exp(-(d - d.min(axis=1, keepdims=True))) @ counts[voted], counts)


def nearest(space: Space, counts: FloatArray, k: int) -> FloatArray:
    """Votes of the k nearest voted items, the item's own among them."""
    voted = np.flatnonzero(counts.any(axis=1))
    d = space.squared[:, voted]
    k = min(k, len(voted))
    found = voted[np.argpartition(d, k - 1, axis=1)[:, :k]]
    return _filled(counts[found].sum(axis=1), counts)


def histogram(space: Space, counts: FloatArray, strength: float) -> FloatArray:
    """The item's own votes and a few from the class shares."""
    return _filled(counts + strength * shares(counts), counts)


def spreading(space: Space, counts: FloatArray, alpha: float) -> FloatArray:
    """Probabilistic label spreading at a fixed alpha."""
    prior = np.full(counts.shape, 1 / counts.shape[1])
    return soft_labels(space.profiles[alpha] @ counts, prior, KAPPA)


# ----------------------------------------------------------------------------------------------- classifiers
def logistic(space: Space, counts: FloatArray, source: str, C: float) -> FloatArray:
    """Logistic regression on all votes."""
    return _classified(LogisticRegression(C=C, max_iter=300), space.inputs[source], counts)


def network(space: Space, counts: FloatArray, source: str, hidden: tuple[int, ...]) -> FloatArray:
    """A small neural network on all votes."""
    model = MLPClassifier(hidden, max_iter=100, alpha=1e-3, learning_rate_init=3e-3, random_state=0)
    return _classified(model, space.inputs[source], counts)


def _classified(model: LogisticRegression | MLPClassifier, Z: FloatArray, counts: FloatArray) -> FloatArray:
    at, columns = np.nonzero(counts)
    if len(np.unique(columns)) < 2:
        return np.tile(shares(counts), (len(counts), 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(Z[at], columns, sample_weight=counts[at, columns])
    p = np.zeros(counts.shape)
    p[:, model.classes_] = model.predict_proba(Z)
    return p


def crowdlab(space: Space, counts: FloatArray, source: str) -> FloatArray:
    """CROWDLAB for votes without names: a classifier and the votes, weighted by how often each is right.

    Weight 1 - (1 - a)/(1 - a0) for accuracy a, where a0 is that of always naming the commonest class;
    accuracies are taken against the majority on items with two or more votes. The classifier counts as
    many votes as the root of the mean number of votes per voted item. A vote for c says c with the
    probability that a vote agrees with its item's majority, the rest evenly.
    """
    n_classes = counts.shape[1]
    model = classifier_prior(space.inputs[source], counts, random_state=0)
    votes = counts.sum(axis=1)
    again = votes > 1
    judged = counts[again] if again.any() else counts[votes > 0]
    predicted = model[again] if again.any() else model[votes > 0]
    major = judged.argmax(axis=1)
    agree = float(np.mean(judged.max(axis=1) / judged.sum(axis=1)))
    # A vote against the *other* votes on its item; without any, against the classifier that has not seen it.
    pairs = (judged * (judged - 1)).sum() / max((judged.sum(axis=1) * (judged.sum(axis=1) - 1)).sum(), 1)
    others = float(pairs) if again.any() else float(np.mean(predicted.argmax(axis=1) == major))
    common = np.bincount(major, minlength=n_classes).max() / len(major)
    doubt = max(1 - common, LEAST_DOUBT)
    right = float(np.mean(predicted.argmax(axis=1) == major))
    vote_weight = max(1 - (1 - others) / doubt, LEAST_DOUBT)
    model_weight = max(1 - (1 - right) / doubt, LEAST_DOUBT) * np.sqrt(votes[votes > 0].mean())
    agree = agree if again.any() else others
    said = counts * agree + (votes[:, None] - counts) * (1 - agree) / max(n_classes - 1, 1)
    return _filled(model_weight * model + vote_weight * said, counts)


# ---------------------------------------------------------------------------------------- learning on graphs
def sklearn_spreading(space: Space, counts: FloatArray, alpha: float) -> FloatArray:
    """scikit-learn's LabelSpreading with each voted item's majority as its label."""
    labels = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    model = LabelSpreading(kernel="knn", n_neighbors=NEIGHBORS, alpha=alpha, max_iter=200, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # it divides by zero where no label arrives; these rows get the shares
        model.fit(space.dataset.X, labels)
    mass = np.zeros(counts.shape)
    mass[:, model.classes_] = np.nan_to_num(model.label_distributions_)
    return _filled(mass, counts)


def laplace(space: Space, counts: FloatArray) -> FloatArray:
    """Harmonic functions: voted items keep their shares, all others are the mean of their neighbours."""
    L, degrees = space.laplacian
    voted = counts.any(axis=1)
    p = np.tile(shares(counts), (len(counts), 1))
    p[voted] = _filled(counts[voted], counts)
    free, given = np.flatnonzero(~voted), np.flatnonzero(voted)
    if len(free):
        pull = PULL * degrees[free]
        system = csr_array(L[free][:, free] + diags_array(pull)).tocsc()
        p[free] = splu(system).solve(pull[:, None] * shares(counts) - L[free][:, given] @ p[given])
    return _filled(p, counts)


def poisson(space: Space, counts: FloatArray, steps: int, sharpness: float) -> FloatArray:
    """Poisson learning: votes are sources and sinks, which flow over the graph for some steps.

    Its scores rank classes. ``sharpness`` 0 shares an item among the classes with a positive score, else
    scores in units of the median item's largest go through a softmax around the class shares.
    """
    L, degrees = space.laplacian
    source = counts - np.outer(counts.sum(axis=1), counts.sum(axis=0) / counts.sum())
    u = np.zeros_like(counts)
    for _ in range(steps):
        u += (source - L @ u) / degrees[:, None]
    u -= (degrees @ u) / degrees.sum()
    if sharpness == 0:
        return _filled(u, counts)
    u *= sharpness / max(np.median(np.abs(u).max(axis=1)), 1e-300)
    return np.asarray(softmax(u + np.log(shares(counts)), axis=1))


# ---------------------------------------------------------------------------------------- our own, as it was
def pls_auto(space: Space, counts: FloatArray) -> FloatArray:
    """Our own spreading as it chooses its settings from the votes."""
    return np.asarray(_automatic(space, counts).predict_proba())


def pls_classifier(space: Space, counts: FloatArray, source: str) -> FloatArray:
    """The same, with a classifier as prior where held-out votes say that it helps."""
    prior = classifier_prior(space.inputs[source], counts, random_state=0)
    plain = _automatic(space, counts)
    helped = _automatic(space, counts, prior=prior, prior_strength="auto")
    return np.asarray(better_of(plain, helped).predict_proba())


def _automatic(space: Space, counts: FloatArray, **more: object) -> ProbabilisticLabelSpreading:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)  # few votes: the study is about that
        est = ProbabilisticLabelSpreading(alpha="auto", annotator_model="none", n_jobs=1, **more)
        return est.fit(space.graph, counts)


# -------------------------------------------------------------------------------------------------- the list
def methods(space: Space) -> Iterator[tuple[str, Method]]:
    """Yield every method by its name."""
    yield from ((f"kernel:{w:g}", partial(kernel, width=w)) for w in WIDTHS)
    yield from ((f"nearest:{k}", partial(nearest, k=k)) for k in VOTED_NEIGHBORS)
    yield from ((f"histogram:{s:g}", partial(histogram, strength=s)) for s in OWN_PRIOR)
    yield from ((f"pls:{a:g}", partial(spreading, alpha=a)) for a in ALPHAS)
    yield from ((f"label_spreading:{a:g}", partial(sklearn_spreading, alpha=a)) for a in SKLEARN_ALPHAS)
    yield "laplace:", laplace
    for steps in POISSON_STEPS:
        yield from ((f"poisson:{steps} {s:g}", partial(poisson, steps=steps, sharpness=s)) for s in SHARPNESS)
    for source in space.inputs:
        yield from ((f"logistic:{source} {C:g}", partial(logistic, source=source, C=C)) for C in PENALTIES)
        for hidden in HIDDEN:
            size = "x".join(map(str, hidden))
            yield f"mlp:{source} {size}", partial(network, source=source, hidden=hidden)
        yield f"crowdlab:{source}", partial(crowdlab, source=source)
    yield "pls_auto:", pls_auto
    for source in space.inputs:
        yield f"pls_classifier:{source}", partial(pls_classifier, source=source)
