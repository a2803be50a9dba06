"""Items that may have several classes: one yes/no question per class, all on one graph and one ladder.

    answers for yes or no  ->  a SoftLabeler per class, climbed together  ->  P(yes) per item and class

What one question answers, the estimator answers for one class; here the answers are put side by side.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone

from softspread._common import validation
from softspread._common.kinds import MULTILABEL, SINGLE
from softspread._common.types import AnyArray, FloatArray, RandomState
from softspread.errors import InputError
from softspread.intervals.uncertainty import AMBIGUOUS, CLEAR, TOO_FEW
from softspread.posterior.blend import see_together
from softspread.posterior.ladder import climb_together
from softspread.quality.smoothness import Smoothness, smoothness_of_all
from softspread.queries.turns import pick_in_turn
from softspread.spreading.evidence import SoftLabels
from softspread.votes.models import check_models
from softspread.votes.multilabel import ANSWERS, Choices
from softspread.votes.reading import NamedVotes
from softspread.votes.votes import Votes

YES = 1  # column of ANSWERS
OVERALL = "overall"
MOVING = ("add_items", "remove_items")
_Class = TypeVar("_Class", bound=type)


class Questions:
    """The fitted questions; each method answers in place of the estimator's of the same name.

    Parameters
    ----------
    asked : SoftLabeler
        What answers each question; its ``prior`` holds P(yes) per item and class.
    """

    def __init__(self, asked: Any) -> None:
        self.asked = clone(asked).set_params(kind=SINGLE, prior=None)
        self.prior = asked.prior
        self.each: dict[Any, Any] = {}

    # ------------------------------------------------------------------------------------------------ fitting
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        features: Any = None,
        item_ids: Any = None,
        classes: Any = None,
        model_annotators: tuple[Hashable, ...] = (),
    ) -> None:
        """Learn from answers; see ``SoftLabeler.fit``."""
        votes = answers_of(y, classes)
        if model_annotators:
            check_models(votes, model_annotators)
        features = validation.dense(features, "features")  # once for all questions
        about = {"features": features, "item_ids": item_ids, "model_annotators": model_annotators}
        names = votes.class_names()
        prior = _prior_per_class(self.prior, len(names))
        for column, name in enumerate(names.tolist()):
            one = clone(self.asked).set_params(prior=None if prior is None else prior[column])
            one._waits = True
            one.fit(X, votes.about(name), classes=ANSWERS, **about)
            X = X if self.each else one.graph_
            self.each[name] = one
        self._learn()

    def _learn(self) -> None:
        """Climb the ladder and look at the features once for all questions, then each learns for itself."""
        each = list(self.each.values())
        own = [one._own_votes() for one in each]
        alphas = None if self.asked.alpha == "auto" else [float(self.asked.alpha)]
        rungs = climb_together(each[0]._diffused, own, alphas)
        sights = see_together(each[0]._diffused, own, **each[0]._shown())
        for one, climbed, seen in zip(each, rungs, sights, strict=True):
            one._waits = False
            one._learn(climbed, seen)

    def refit(self) -> None:
        """Learn again from all answers."""
        for one in self.each.values():
            one._diffused = one._rate_annotators()
        self._learn()

    def refine(self) -> None:
        """Bring every question to full accuracy."""
        for one in self.each.values():
            one.refine()

    # -------------------------------------------------------------------------------------------- later votes
    def update(
        self,
        items: Any,
        labels: Choices,
        annotators: Any = None,
        weights: Any = None,
        *,
        new_classes: Any = None,
    ) -> None:
        """Add the answers of some rows, all or none."""
        if new_classes is not None:
            raise InputError("a further class of kind='multilabel' is a further question; fit again with it.")
        self._change(items, labels, annotators, weights, "update", "undo")

    def undo(self, items: Any, labels: Choices, annotators: Any = None, weights: Any = None) -> None:
        """Take answers back."""
        self._change(items, labels, annotators, weights, "undo", "update")

    def _change(self, items: Any, labels: Any, annotators: Any, weights: Any, do: str, back: str) -> None:
        if weights is not None:
            raise InputError("answers about several classes have no weights; leave weights out.")
        if np.ndim(items) == 0:
            items, labels = [items], [labels]
        new = Votes.from_multilabel(labels, items, annotators, classes=list(self.each))
        taken: list[tuple[Any, Votes]] = []
        try:
            for name, one in self.each.items():
                votes = new.about(name)
                if len(votes):
                    getattr(one, do)(votes.items, votes.labels, votes.annotators)
                    taken.append((one, votes))
        except Exception:  # what one question refuses, none keeps
            for one, votes in reversed(taken):
                getattr(one, back)(votes.items, votes.labels, votes.annotators)
            raise

    # --------------------------------------------------------------------------------- items that come and go
    def add_items(self, X: Any, item_ids: Any = None, *, prior: Any = None, features: Any = None) -> None:
        """Add items; the graph grows once."""
        priors = _prior_per_class(prior, len(self.each))
        each = [None] * len(self.each) if priors is None else priors
        self._move(lambda one, number: one.add_items(X, item_ids, prior=each[number], features=features))

    def remove_items(self, items: Any, *, drop_votes: bool = False) -> None:
        """Take items out again; one answer on an item asks for ``drop_votes``."""
        self._move(lambda one, _: one.remove_items(items, drop_votes=drop_votes))

    def _move(self, change: Callable[[Any, int], object]) -> None:
        """Change the items of every question; if one refuses, none is changed."""
        before = [dict(one.__dict__) for one in self.each.values()]
        moved = None
        try:
            for number, one in enumerate(self.each.values()):
                one._moved_graph = moved
                change(one, number)
                one._moved_graph, moved = None, one.graph_
        except BaseException:
            for one, attributes in zip(self.each.values(), before, strict=True):
                one.__dict__.clear()
                one.__dict__.update(attributes)
            raise

    # ------------------------------------------------------------------------------------------------ answers
    def _beside(self, answer: Callable[[Any], FloatArray]) -> FloatArray:
        """(n, n_classes) one column per question."""
        return np.column_stack([answer(one) for one in self.each.values()])

    def predict_proba(self, X: Any = None, **how: Any) -> FloatArray:
        """P(yes) per item and class; rows need not sum to 1."""
        return self._beside(lambda one: one.predict_proba(X, **how)[:, YES])

    def predict(self, X: Any = None, **how: Any) -> AnyArray:
        """1 where P(yes) is at least one half."""
        return (self.predict_proba(X, **how) >= 0.5).astype(np.int64)

    def predict_interval(self, *asked: Any, **how: Any) -> tuple[FloatArray, FloatArray]:
        """An interval for each P(yes)."""
        ends = [one.predict_interval(*asked, **how) for one in self.each.values()]
        return (
            np.column_stack([lower[:, YES] for lower, _ in ends]),
            np.column_stack([upper[:, YES] for _, upper in ends]),
        )

    def soft_labels(self, *asked: Any, **how: Any) -> SoftLabels:
        """P(yes) per class, each with evidence, interval and verdict."""
        found = {name: one.soft_labels(*asked, **how) for name, one in self.each.items()}
        return several_in(found, validation.class_names(list(found)))

    def soft_labels_of(self, items: Any) -> FloatArray:
        """P(yes) of a few fitted items."""
        return self._beside(lambda one: one.soft_labels_of(items)[:, YES])

    @property
    def evidence_(self) -> FloatArray:
        """Votes' worth that each P(yes) rests on, the mean over classes."""
        return np.asarray(self._beside(lambda one: one.evidence_).mean(axis=1))

    def explain(self, item: Hashable, top: int | None = 10) -> pd.DataFrame:
        """What each P(yes) is made of: the shares of every question, in a column ``class``."""
        shares = [one.explain(item, None).assign(**{"class": name}) for name, one in self.each.items()]
        found = pd.concat(shares, ignore_index=True).sort_values("weight", ascending=False, kind="stable")
        front = ["class", *(name for name in found.columns if name != "class")]
        shown: pd.DataFrame = found[front].head(len(found) if top is None else top)
        return shown.reset_index(drop=True)

    # ------------------------------------------------------------------------------------- votes, annotators
    @property
    def votes_(self) -> Votes:
        """All answers so far."""
        parts = [(name, one.votes_) for name, one in self.each.items()]
        named = any(votes.annotators is not None for _, votes in parts)
        return Votes(
            np.concatenate([votes.items for _, votes in parts]),
            validation.names([name for name, votes in parts for _ in range(len(votes))], "label"),
            np.concatenate([votes.weights for _, votes in parts]),
            np.concatenate([_names_or_none(votes) for _, votes in parts]) if named else None,
            classes=validation.class_names(list(self.each)),
            repeats=parts[0][1].repeats,
            answers=np.concatenate([votes.labels for _, votes in parts]).astype(bool),
        )

    @property
    def model_annotators_(self) -> tuple[Hashable, ...]:
        """The annotators that are models."""
        models: tuple[Hashable, ...] = next(iter(self.each.values())).model_annotators_
        return models

    @property
    def novelty_(self) -> pd.DataFrame:
        """How far each item lies from all others, which no question changes."""
        found: pd.DataFrame = next(iter(self.each.values())).novelty_
        return found

    @property
    def vote_counts_(self) -> FloatArray:
        """Yes votes per item and class."""
        return self._beside(lambda one: one.vote_counts_[:, YES])

    @property
    def annotators_(self) -> pd.DataFrame | None:
        """Per class and overall: one row per annotator; overall the mean by votes."""
        rated = {name: one.annotators_ for name, one in self.each.items()}
        frames = [frame.assign(**{"class": name}) for name, frame in rated.items() if frame is not None]
        return overall_annotators(pd.concat(frames, ignore_index=True)) if frames else None

    @property
    def weights_(self) -> pd.Series:
        """Share of each expert, the mean over all questions."""
        shares = pd.concat([one.weights_ for one in self.each.values()], axis=1).fillna(0.0)
        mean: pd.Series = shares.mean(axis=1).rename("weight")
        return mean.sort_values(ascending=False, kind="stable")

    @property
    def trust_(self) -> pd.DataFrame:
        """How many votes the experts' word is worth, over all classes."""
        every = [one.trust_ for one in self.each.values()]
        chances = np.mean([frame["probability"] for frame in every], axis=0)
        return pd.DataFrame({"votes": every[0]["votes"], "probability": chances})

    @property
    def advice_(self) -> str | None:
        """What would narrow the intervals, of the first class that lacks it."""
        return next((one.advice_ for one in self.each.values() if one.advice_), None)

    # ------------------------------------------------------------------------------------------------ quality
    def quality(self, counts: Any = None, **how: Any) -> pd.DataFrame:
        """Per class and overall: RMSE of P(yes) with its interval, accuracy, number of votes."""
        if counts is not None:
            raise InputError(
                "votes set apart are judged class by class: questions_[name].quality(counts), with a column "
                "for no and one for yes."
            )
        rows = []
        for name, one in self.each.items():
            found = one.quality(**how)
            rmse, accuracy = found.rmse, found.accuracy
            ends = accuracy.value, accuracy.lower, accuracy.upper
            rows.append((name, rmse.value, rmse.lower, rmse.upper, *ends, found.n_votes))
        names = ["class", "rmse", "rmse_lower", "rmse_upper", "accuracy", "accuracy_lower", "accuracy_upper"]
        frame = pd.DataFrame(rows, columns=[*names, "n_votes"])
        squares = np.sqrt((frame[names[1:4]] ** 2).mean())
        overall = (OVERALL, *squares, *frame[names[4:]].mean(), frame["n_votes"].sum())
        return pd.DataFrame([*rows, overall], columns=frame.columns)

    def smoothness(self, *, random_state: RandomState = None) -> Smoothness:
        """Whether the answers about each class go with those of their neighbours."""
        found = {name: one.smoothness(random_state=random_state) for name, one in self.each.items()}
        return smoothness_of_all(found)

    def query(
        self,
        batch_size: int = 1,
        strategy: Any = "uncertainty",
        *,
        exclude: ArrayLike | None = None,
        random_state: RandomState = None,
    ) -> AnyArray:
        """Each class in turn names the item that helps it most; all picks are different."""
        each = list(self.each.values())
        rng = validation.generator(self.asked.random_state if random_state is None else random_state)
        size = validation.count("batch_size", batch_size, smallest=1)
        out = [] if exclude is None else np.asarray(exclude).tolist()
        size = min(size, each[0].n_items_ - len(out))

        def pick(question: int, wanted: int, taken: list[Any]) -> list[Any]:
            left_out = [*out, *taken] or None
            found = each[question].query(wanted, strategy, exclude=left_out, random_state=rng)
            return found.tolist()  # type: ignore[no-any-return]

        picked = pick_in_turn(len(each), size, rng, pick)
        return validation.names(picked, "item")


def answered_by_questions(cls: _Class) -> _Class:
    """Let :class:`Questions` answer in place of every public method that it has, where the kind asks for it.

    Methods about the fitted answer that it lacks are refused with a hint at ``questions_``.
    """
    general = {
        "fit",
        "partial_fit",
        "to_frame",
        "label_distributions_",
        "transduction_",
        "score",
        "plot",
        "vote_here",
    }
    for name in dir(cls):
        ours = getattr(getattr(cls, name), "__module__", "") or ""
        whole = getattr(cls, name)
        is_property = isinstance(whole, property)
        if name.startswith("_") or name in general or not (is_property or ours.startswith("softspread")):
            continue
        if is_property:
            setattr(cls, name, property(_instead(name, whole.fget), doc=whole.__doc__))
        elif callable(whole):
            setattr(cls, name, _instead(name, whole))
    return cls


def _instead(name: str, single: Any) -> Any:
    """The method of one answer, or that of the questions."""

    @wraps(single)
    def answer(self: Any, *given: Any, **how: Any) -> Any:
        questions = self.__dict__.get("_questions")
        if questions is None:
            return single(self, *given, **how)
        if not hasattr(Questions, name):
            raise InputError(
                f"kind='multilabel' has no {name}. Ask a class by itself, as in "
                f"questions_[{next(iter(questions.each))!r}].{name}; for other items fit again."
            )
        found = getattr(Questions, name)
        if isinstance(found, property):
            return found.fget(questions)  # type: ignore[misc]
        result = found(questions, *given, **how)
        if name in MOVING:
            self._answer_by(questions.each)  # other items, the same questions
        return self if result is None else result

    return answer


def several_in(found: Mapping[Any, SoftLabels], classes: AnyArray) -> SoftLabels:
    """The soft labels of yes/no questions side by side."""
    each = list(found.values())
    more: dict[str, AnyArray] = {}
    for name, one in zip(classes.tolist(), each, strict=True):
        more[f"evidence_{name}"], more[f"verdict_{name}"] = one.evidence, np.asarray(one.verdict)

    def beside(part: str) -> FloatArray:
        return np.column_stack([getattr(one, part)[:, YES] for one in each])

    evidence = np.mean([one.evidence for one in each], axis=0)
    return SoftLabels(
        each[0].ids,
        classes,
        beside("p"),
        evidence,
        beside("lower"),
        beside("upper"),
        verdict=verdict_of_all(np.column_stack([np.asarray(one.verdict) for one in each])),
        kind=MULTILABEL,
        more=more,
    )


def verdict_of_all(verdicts: AnyArray) -> AnyArray:
    """Of an item: clear where all its classes are, ambiguous where the others are, else not enough votes."""
    unknown, ambiguous = (verdicts == TOO_FEW).any(axis=1), (verdicts == AMBIGUOUS).any(axis=1)
    return np.where(unknown, TOO_FEW, np.where(ambiguous, AMBIGUOUS, CLEAR))


def overall_annotators(per_class: pd.DataFrame) -> pd.DataFrame:
    """Ratings per class, and after them one row per annotator over all classes."""
    numbers = [name for name in per_class.columns if per_class[name].dtype.kind == "f"]
    weights = per_class["votes"].to_numpy(dtype=np.float64)
    rows = []
    for annotator, mine in per_class.groupby("annotator", sort=False):
        at = weights[mine.index]
        mean = {name: float(np.average(mine[name], weights=at)) for name in numbers}
        flag = mine["flag"].mode().iloc[0]
        rows.append({**mean, "annotator": annotator, "votes": at.sum(), "flag": flag, "class": OVERALL})
    both = pd.concat([per_class, pd.DataFrame(rows)], ignore_index=True)
    return both[["class", *(name for name in per_class.columns if name != "class")]]


def answers_of(y: Any, classes: ArrayLike | None = None) -> Votes:
    """Answers per class in any accepted form; votes of another kind are refused."""
    if isinstance(y, NamedVotes) or (isinstance(y, Votes) and y.answers is None):
        raise InputError(
            "these votes name exactly one class each; kinds of votes cannot be mixed. Make answers about "
            "several classes with Votes.from_multilabel, or use kind='single'."
        )
    if not isinstance(y, Votes):
        return Votes.from_multilabel(y, classes=classes)
    if classes is None:
        return y if y.classes is not None else _with_classes(y, y.class_names())
    names = validation.class_names(classes)
    validation.columns_of_labels(y.labels, names)
    return _with_classes(y, names)


def _with_classes(votes: Votes, names: AnyArray) -> Votes:
    return replace(votes, classes=names)


def _names_or_none(votes: Votes) -> AnyArray:
    return np.full(len(votes), None) if votes.annotators is None else votes.annotators.astype(object)


def _prior_per_class(prior: Any, n_classes: int) -> list[FloatArray] | None:
    """For each class (n, 2) or (2,) probabilities of no and yes."""
    if prior is None:
        return None
    table = validation.prior_per_class(prior, n_classes)
    return [np.stack([1 - table[..., column], table[..., column]], axis=-1) for column in range(n_classes)]
