"""Logistic regressions on the votes, cross-fitted by item.

    X standardised           the features as a whole                             C 0.1 to 10
    X with 150 landmarks     the same with bends: Gaussian bumps around items    C 0.1 to 10
    features, one scale      unreduced features, or X itself; 128 main directions C 0.001 to 1

Spreading uses neighbourhoods; a classifier uses the features as a whole. A voted item is judged
by a model that has not seen its votes.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from softspread._common.threads import single_threaded
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.posterior.experts import Expert, Float32Array, OwnVotes


@dataclass(frozen=True, slots=True)
class ClassifierRule:
    """The classifiers, and how much work they get."""

    # C of the regressions, and the weight of each before any vote
    on_features: tuple[tuple[float, float], ...] = ((0.1, 1.0), (1.0, 1.0), (10.0, 0.3))
    on_landmarks: tuple[tuple[float, float], ...] = ((0.1, 1.0), (1.0, 1.0), (10.0, 0.3))
    on_unreduced: tuple[tuple[float, float], ...] = ((0.001, 0.7), (0.01, 0.7), (0.1, 0.7), (1.0, 0.7))
    landmarks: int = 150
    bump: float = 2.0  # height of a Gaussian bump beside standardised features
    near: int = 6  # bumps are as wide as the median distance to this nearest landmark
    folds: int = 5
    training: int = 20_000  # votes at most
    work: float = 4e8  # votes times features times classes at most
    fewest: float = 200  # votes are enough of many, however large the work
    least_size: float = 0.05  # votes' worth that any classifier counts as
    steps: int = 60  # of the solver; an expert need not be solved to the last digit
    tol: float = 1e-3
    components: int = 128  # main directions of unreduced features
    settled: float = 10.0  # with this many votes per coefficient a single item hardly moves the model
    chunk: int = 50_000  # items predicted at once


RULE = ClassifierRule()


@dataclass(frozen=True, eq=False)
class Space:
    """Items as a classifier sees them: centred, each feature with spread 1."""

    centre: FloatArray  # (d,)
    spread: FloatArray  # (d,)

    name: ClassVar[str] = "features"

    @classmethod
    def made_from(cls, X: AnyArray, order: IntArray, rule: ClassifierRule) -> "Space":
        """The space of these items; samples of them follow ``order``."""
        return cls(*_centre_and_spread(X, order))

    @property
    def n_features(self) -> int:
        """Columns."""
        return self.n_inputs

    @property
    def n_inputs(self) -> int:
        """Columns of the items that it takes."""
        return len(self.centre)

    def of(self, X: AnyArray) -> Float32Array:
        """Any items in this space."""
        return np.asarray((X - self.centre) / self.spread, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class BumpSpace(Space):
    """Standardised features, and Gaussian bumps around landmarks."""

    landmarks: FloatArray  # (l, d)
    width: float
    height: float

    name: ClassVar[str] = "landmarks"

    @classmethod
    def made_from(cls, X: AnyArray, order: IntArray, rule: ClassifierRule) -> "BumpSpace":
        """The space of these items, some of which are its landmarks."""
        rng = np.random.default_rng(0)
        chosen = order[rng.choice(len(X), max(1, min(rule.landmarks, len(X) // 2)), replace=False)]
        landmarks = np.asarray(X[chosen], dtype=np.float64)
        distances = squared_distances(np.asarray(X[_some(order, 2_000)], dtype=np.float64), landmarks)
        at = min(rule.near - 1, len(chosen) - 1)
        width = float(np.median(np.partition(distances, at, axis=1)[:, at])) + 1e-12
        return cls(*_centre_and_spread(X, order), landmarks, width, rule.bump)

    @property
    def n_features(self) -> int:
        """Columns."""
        return self.n_inputs + len(self.landmarks)

    def of(self, X: AnyArray) -> Float32Array:
        """Any items in this space."""
        squared = squared_distances(np.asarray(X, dtype=np.float64), self.landmarks)
        bumps = self.height * np.exp(-squared / (2 * self.width))
        return np.hstack([super().of(X), bumps.astype(np.float32)])


@dataclass(frozen=True, eq=False)
class MainDirections(Space):
    """Features along their main directions, all with one scale.

    Standardising would blow up the many directions of an encoder's output that say nothing.
    """

    directions: FloatArray  # (d, components)

    name: ClassVar[str] = "unreduced"

    @classmethod
    def made_from(cls, X: AnyArray, order: IntArray, rule: ClassifierRule) -> "MainDirections":
        """The space of these items."""
        some = np.asarray(X[_some(order, 20_000)], dtype=np.float64)
        centre = some.mean(axis=0)
        centred = some - centre
        if min(centred.shape) > rule.components:
            _, vectors = np.linalg.eigh(centred.T @ centred)
            directions = np.ascontiguousarray(vectors[:, ::-1][:, : rule.components])
        else:
            directions = np.eye(centred.shape[1])
        length = np.sqrt(((centred @ directions) ** 2).sum(axis=1).mean())
        spread = np.asarray(length / np.sqrt(directions.shape[1]) if length > 0 else 1.0)
        return cls(centre, spread, directions)

    @property
    def n_features(self) -> int:
        """Columns."""
        return int(self.directions.shape[1])

    def of(self, X: AnyArray) -> Float32Array:
        """Any items in this space."""
        centred = np.asarray(X, dtype=np.float64) - self.centre
        return np.asarray(centred @ self.directions / self.spread, dtype=np.float32)


class OneScale(MainDirections):
    """X itself along its main directions, where nobody brings unreduced features."""

    name: ClassVar[str] = "one scale"


def _centre_and_spread(X: AnyArray, order: IntArray) -> tuple[FloatArray, FloatArray]:
    some = np.asarray(X[_some(order, 100_000)], dtype=np.float64)
    spread = some.std(axis=0)
    return some.mean(axis=0), np.where(spread > 0, spread, 1.0)


def squared_distances(X: FloatArray, others: FloatArray) -> FloatArray:
    """(len(X), len(others))."""
    squared = (X**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * X @ others.T
    return np.asarray(np.maximum(squared, 0.0))


def _some(order: IntArray, most: int) -> IntArray:
    """Items spread evenly over their order."""
    return order[np.unique(np.linspace(0, len(order) - 1, min(len(order), most)).astype(np.int64))]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A logistic regression as plain arrays, its answers drawn to the class shares as by one vote of theirs.

    With fewer than two classes seen there are no coefficients, and the shares answer.
    """

    columns: IntArray  # (k,)  classes seen
    coefficients: AnyArray  # (k, f)
    intercepts: AnyArray  # (k,)
    shares: FloatArray  # (n_classes,)
    n_votes: float

    def predict(self, Z: Float32Array) -> FloatArray:
        """(len(Z), n_classes) probabilities, none 0."""
        if not len(self.columns):
            return np.tile(self.shares, (len(Z), 1))
        p = np.zeros((len(Z), len(self.shares)))
        p[:, self.columns] = softmax(Z @ self.coefficients.T + self.intercepts, axis=1)
        return np.asarray((self.n_votes * p + self.shares) / (self.n_votes + 1))


def train(
    Z: Float32Array, counts: FloatArray, C: float, rng: np.random.Generator, rule: ClassifierRule
) -> Model:
    """A regression on the votes of some items: Z (v, f), counts (v, n_classes)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    most = int(min(rule.training, max(rule.fewest, rule.work / (Z.shape[1] * counts.shape[1]))))
    if len(Z) > most:
        some = np.sort(rng.choice(len(Z), most, replace=False))
        Z, counts = Z[some], counts[some]
    at, columns = np.nonzero(counts)
    n_votes = float(counts.sum())
    shares = np.asarray((counts.sum(axis=0) + 1) / (n_votes + counts.shape[1]))
    if len(np.unique(columns)) < 2:
        nothing = np.empty((0, Z.shape[1]))
        return Model(np.empty(0, np.int64), nothing, np.empty(0), shares, n_votes)
    # Products of a few hundred rows: threads of the linear algebra library would only wait for each other.
    with warnings.catch_warnings(), single_threaded():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings(
            "ignore", "The number of unique classes is greater"
        )  # with many classes it is
        classifier = LogisticRegression(C=C, max_iter=rule.steps, tol=rule.tol)
        classifier.fit(Z[at], columns, sample_weight=counts[at, columns])
    coefficients, intercepts = classifier.coef_, classifier.intercept_
    if len(coefficients) == 1:  # two classes: the second against the first
        coefficients = np.vstack([np.zeros_like(coefficients), coefficients])
        intercepts = np.append(np.zeros_like(intercepts), intercepts)
    return Model(classifier.classes_, coefficients, intercepts, shares, n_votes)


def crossed_experts(
    space: Space,
    X: AnyArray,
    questions: Sequence[OwnVotes],
    order: IntArray,
    strengths: Sequence[tuple[float, float]],
    rule: ClassifierRule,
) -> Iterator[list[tuple[Expert, Model]]]:
    """Per question one expert per C, and its model of all votes, for items that come later; X are all items.

    All items enter the space once, a chunk at a time, for the models of all questions.
    """
    learned = []
    for own in questions:
        deal = own.places(order)
        Z, counts = space.of(X[own.voted[deal]]), own.counts[deal]
        helds, models = zip(*(_crossed(Z, counts, C, rule) for C, _ in strengths), strict=True)
        finals = np.empty((len(models), own.n_items, own.n_classes), dtype=np.float32)
        learned.append((own, deal, helds, models, finals))
    for first in range(0, len(X), rule.chunk):
        chunk = slice(first, first + rule.chunk)
        seen = space.of(X[chunk])
        for _, _, _, models, finals in learned:
            for final, model in zip(finals, models, strict=True):
                final[chunk] = model.predict(seen)
    for own, deal, helds, models, finals in learned:
        per_coefficient = own.total / (space.n_features + 1)
        trust = np.float32(max(0.0, 1 - rule.settled * (space.n_features + 1) / max(own.total, 1.0)))
        log_size = np.log([max(per_coefficient, rule.least_size)]).astype(np.float32)
        experts = []
        for (C, belief), dealt_held, final in zip(strengths, helds, finals, strict=True):
            held = np.empty_like(dealt_held)
            held[deal] = dealt_held
            final[own.voted] = trust * final[own.voted] + (1 - trust) * held
            experts.append(Expert(f"{space.name} C {C:g}", held, final, log_size, belief, "classifiers"))
        yield list(zip(experts, models, strict=True))


def _crossed(
    Z: Float32Array, counts: FloatArray, C: float, rule: ClassifierRule
) -> tuple[Float32Array, Model]:
    """(v, n_classes) predictions by models that have not seen an item's votes; the model of all votes."""
    rng = np.random.default_rng(0)
    part = np.empty(len(Z), dtype=np.int64)
    part[rng.permutation(len(Z))] = np.arange(len(Z)) % rule.folds
    full = train(Z, counts, C, rng, rule)
    held = np.full(counts.shape, 1 / counts.shape[1], dtype=np.float32)
    for fold in range(rule.folds):
        mine = part == fold
        if mine.any() and not mine.all():
            held[mine] = train(Z[~mine], counts[~mine], C, rng, rule).predict(Z[mine])
    return held, full


def classifier_experts(
    X: AnyArray | None,
    features: AnyArray | None,
    questions: Sequence[OwnVotes],
    order: IntArray,
    rule: ClassifierRule = RULE,
) -> list[list[tuple[Expert, Space, Model]]]:
    """Per question all classifiers with their spaces; none without features or before two classes were seen.

    ``order`` (n,) deals items into folds and picks landmarks; questions of another order have other spaces.
    """
    spaces: list[tuple[type[Space], AnyArray, tuple[tuple[float, float], ...]]] = []
    if X is not None and X.shape[1]:
        spaces += [(Space, X, rule.on_features), (BumpSpace, X, rule.on_landmarks)]
    if features is not None:
        spaces.append((MainDirections, features, rule.on_unreduced))
    elif X is not None and X.shape[1]:
        spaces.append((OneScale, X, rule.on_unreduced))
    found: list[list[tuple[Expert, Space, Model]]] = [[] for _ in questions]
    decided = [number for number, own in enumerate(questions) if (own.counts.sum(axis=0) > 0).sum() > 1]
    for kind, items, strengths in spaces if decided else []:
        space = kind.made_from(items, order, rule)
        asked = [questions[number] for number in decided]
        each = crossed_experts(space, items, asked, order, strengths, rule)
        for number, experts in zip(decided, each, strict=True):
            found[number] += [(expert, space, model) for expert, model in experts]
    return found
