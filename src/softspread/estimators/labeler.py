"""The recommended estimator: several experts, weighed by held-out votes, and one posterior per item."""

import logging
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.kinds import KINDS, MULTILABEL, ORDINAL, SINGLE
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from softspread.annotators.fit import why_neutral
from softspread.annotators.judges import JudgeReport, judge_models
from softspread.annotators.models import ANNOTATOR_MODELS
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import InputError, SoftspreadWarning
from softspread.estimators.auto import choose_settings
from softspread.estimators.base import Answer
from softspread.estimators.graph_based import Choosing
from softspread.estimators.growing import places_of
from softspread.estimators.judged import JudgedEstimator
from softspread.estimators.multilabel import Questions, answered_by_questions
from softspread.graph.graph import Graph
from softspread.graph.places import Metric, place_items
from softspread.intervals.labels import evidence_in
from softspread.intervals.levels import expected_levels
from softspread.intervals.task import IntervalMethod, Posteriors
from softspread.posterior.blend import Blend, Sight, fit_blend
from softspread.posterior.experts import OwnVotes, own_votes
from softspread.posterior.explain import explain_blend
from softspread.posterior.growing import with_items as blend_with_items
from softspread.posterior.growing import without_items as blend_without_items
from softspread.posterior.ladder import Rung
from softspread.posterior.live import LiveBlend
from softspread.posterior.panel import Panel
from softspread.posterior.posterior import Posterior
from softspread.quality.estimate import FittedBlend, blend_evidence
from softspread.quality.gain import forecast_gain
from softspread.quality.judge import Evidence as JudgingVotes
from softspread.quality.result import GainForecast
from softspread.queries.rule import DEFAULT_LOTTERY
from softspread.tuning.candidates import DEFAULT_ALPHA, SearchSpace
from softspread.votes.ballots import Ballots
from softspread.votes.models import check_models, names_of_models, said_by, split_votes
from softspread.votes.reading import NO_WEIGHTS, NamedVotes, Names
from softspread.votes.repeats import repeat_advice
from softspread.votes.table import VoteTable
from softspread.votes.votes import Votes

if TYPE_CHECKING:
    from softspread.graph.neighbors import Search

CLASSIFIERS = ("auto", "none")
UNCHECKED = (
    "No person has voted: the soft labels are what the models say, and nothing checks it. Ask people for "
    "votes on items chosen at random, some 40 of them twice."
)
log = logging.getLogger("softspread")


@dataclass(frozen=True, slots=True)
class RefitRule:
    """When further votes make it worthwhile to learn weights, classifiers and trust again."""

    share: float = 0.25  # of the votes at the last fit: the error falls by some 5 % with a quarter more votes
    fewest: int = 20  # votes; below, a fit after every vote would be no better

    def due(self, n_since: int, n_fitted: int) -> bool:
        """Whether another fit is due ``n_since`` votes after one to ``n_fitted``."""
        return n_since > max(self.fewest, self.share * n_fitted)


REFIT = RefitRule()


@answered_by_questions
class SoftLabeler(JudgedEstimator):
    """Soft labels with honest uncertainty for all items, from votes on a few: start here.

    Experts predict each item without its own votes: the class shares, spreading over the graph at several
    alphas, classifiers of the votes, votes weighted by distance, a prior if one is given, and models that
    vote beside people, if there are any. Held-out votes of people say how much each expert counts; items with
    two or more votes say how far all of them together can be trusted; then the item's own votes speak. The
    result is one posterior per item: its mean is the soft label, its
    quantiles are the interval. Before the first vote the prior answers, or all classes alike without one.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        How far votes travel. "auto" spreads at seven alphas from 0.05 to 0.99, the largest also with more
        contrast, and weighs them; a number spreads at this one only.
    n_neighbors : int, default 20
        Neighbours per item, the item itself not counted.
    classifier : {"auto", "none"}, default "auto"
        Whether logistic regressions on the votes, and votes weighted by distance, join the experts; held-out
        votes decide what they count. Neither works on an affinity, which has no features.
    prior : (n, n_classes) or (n_classes,) array-like, optional
        Probabilities from elsewhere, such as a model's predictions, as a further expert. A DataFrame is
        matched by the names of classes and items.
    annotator_model : {"auto", "none", "consistency", "confusion"}, default "auto"
        How much each annotator's votes count, as in :class:`ProbabilisticLabelSpreading`.
    kind : {"single", "multilabel", "ordinal"}, default "single"
        What a vote says. "single": one of several classes. "multilabel": yes, no or nothing for each class;
        each class is a question by itself, all on one graph. "ordinal": one of several classes that have an
        order; experts are judged by how well they predict each P(y <= c), and soft labels come with the
        expected level.
    bandwidth : {"kth", "mean"} or float, default "kth"
        The kernel's sigma**2, see :func:`~softspread.knn_graph`.
    index : str, default "auto"
        Neighbour search, see :func:`~softspread.knn_graph`.
    metric : str or function, default "euclidean"
        "euclidean", "cosine", "inner_product" or a function, see :func:`~softspread.knn_graph`; classifiers
        and kernels follow it, too.
    n_jobs : int, optional
        Threads; all cores by default.
    random_state : int, Generator or None, optional
        Seeds the approximate neighbour search, queries and estimates of quality.
    verbose : bool, default False
        Show progress bars.

    Attributes
    ----------
    classes_ : (n_classes,) array
        Class names, in the order of columns.
    n_items_ : int
        How many items were fitted.
    item_ids_ : (n,) array or None
        Names of the items; None where votes name them by position.
    n_features_in_ : int
        Features per item; 0 for an affinity.
    feature_names_in_ : (d,) array
        Names of the features, where X had names.
    label_distributions_ : (n, n_classes) array
        Soft labels of the fitted items.
    transduction_ : (n,) array
        Their most probable classes.
    evidence_ : (n,) array
        How many votes each soft label is worth, own votes and what others say together.
    votes_ : Votes
        All votes so far, of people.
    model_annotators_ : tuple
        The annotators that ``fit`` was told are models.
    model_votes_ : Votes
        All votes so far of those that ``fit`` was told are models.
    vote_counts_ : (n, n_classes) array
        Each item's own votes.
    graph_ : Graph
        The graph over which votes travel.
    weights_ : pandas.Series
        Share of each expert in the blend, the largest first.
    trust_ : pandas.DataFrame
        How many votes the experts' word is worth: probability of each number, over all items.
    advice_ : str or None
        What would narrow the intervals, where too few items have a second vote.
    annotators_ : pandas.DataFrame or None
        One row per annotator: votes, agreement, consistency with interval, flag; None where nobody is named.
    questions_ : dict of SoftLabeler
        Of kind "multilabel" the fitted question of each class, with the answers no (False) and yes (True).

    See Also
    --------
    ProbabilisticLabelSpreading : The paper's method by itself: one alpha, no classifiers.
    VoteHistogram : Each item's own votes alone.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> y = np.full(100, -1)
    >>> y[::10] = np.repeat([0, 1], 5)
    >>> lab = SoftLabeler(n_neighbors=10).fit(X, y)
    >>> bool((lab.transduction_[:50] == 0).all() and (lab.transduction_[50:] == 1).all())
    True
    """

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        n_neighbors: int = 20,
        classifier: str = "auto",
        prior: ArrayLike | None = None,
        annotator_model: str = "auto",
        kind: str = SINGLE,
        bandwidth: str | float = "kth",
        index: "str | Search" = "auto",
        metric: Metric = "euclidean",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.classifier = classifier
        self.prior = prior
        self.annotator_model = annotator_model
        self.kind = kind
        self.bandwidth = bandwidth
        self.index = index
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------------------------------------ fitting
    def fit(
        self,
        X: ArrayLike | Graph,
        y: ArrayLike | Votes | NamedVotes,
        *,
        sample_weight: ArrayLike | None = None,
        features: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        model_annotators: Sequence[Hashable] = (),
    ) -> Self:
        """Learn from votes on some of the items of X.

        Parameters
        ----------
        X : (n, d) array-like, or Graph
            Features of the items, one row each, or their graph.
        y : (n,) or (n, n_classes) array-like, or Votes
            One label per item with -1 or None for no vote, votes per item and class, or Votes. Of kind
            "multilabel" a table of 1 (yes), 0 (no) and NaN (nothing), the labels of each item, which say no
            to the rest, or what :meth:`Votes.from_multilabel` makes.
        sample_weight : (n,) array-like, optional
            How much each label counts, where y is one label per item; 0 is not a vote. Votes and counts bring
            weights of their own.
        features : (n, f) array-like, optional
            Unreduced features of the same items, such as an encoder's output, for further classifiers: they
            often know more than the few dimensions that a graph needs.
        item_ids : (n,) array-like, optional
            Names by which Votes refer to items; by default they refer to positions.
        classes : (n_classes,) array-like, optional
            Class names in the order of columns; by default the labels found, sorted. Of kind "ordinal" their
            order counts; names that are not numbers must be given.
        model_annotators : sequence of names, default ()
            The annotators that are models, such as language models or classifiers. All votes of one on an
            item are one soft vote. They never count as votes of people: they are a source like a prior, as
            good as people's held-out votes say, see :meth:`judge_report`.

        Returns
        -------
        self
            The fitted estimator.

        See Also
        --------
        update : Further votes on the same items.
        soft_labels : The answer, with intervals.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> SoftLabeler(n_neighbors=1).fit(X, ["no", None, None, "yes"]).predict().tolist()
        ['no', 'no', 'yes', 'yes']
        """
        with self._unchanged_on_failure():
            self.__dict__.pop("questions_", None)  # of an earlier fit
            self._questions: Questions | None = None
            self._check_parameters()
            models = names_of_models(model_annotators)
            if self.kind == MULTILABEL:
                if sample_weight is not None:
                    raise InputError(NO_WEIGHTS)
                given = {"features": features, "item_ids": item_ids, "classes": classes}
                return self._ask_each(X, y, **given, model_annotators=models)
            self._features = None if features is None else validation.features(features, "features")
            votes = self._without_models(y, models)
            super().fit(X, votes, sample_weight=sample_weight, item_ids=item_ids, classes=classes)
            if len(self._model_votes) and not len(self._votes):
                warnings.warn(UNCHECKED, SoftspreadWarning, stacklevel=2)
            if self.kind == ORDINAL:
                self._check_order(classes is not None or _fixes_classes(y))
        return self

    def _without_models(self, y: Any, models: tuple[Hashable, ...]) -> Any:
        """What people voted; what models voted waits for the names of rows and columns."""
        self._models, self._said = models, None
        if not models:
            return y
        if not self._waits:  # a model may leave out one of several questions
            check_models(y, models)
        people, self._said = split_votes(y, models)
        return people

    def _ask_each(self, X: ArrayLike | Graph, y: Any, **given: Any) -> Self:
        """Fit one question per class."""
        questions = Questions(self)
        questions.fit(X, y, **given)
        self._answer_by(questions.each)
        self._warn_of_neighbors(stacklevel=4)
        return self

    def _answer_by(self, each: dict[Any, Any]) -> Self:
        """Let fitted questions answer."""
        self._questions = Questions(self)
        self._questions.each = self.questions_ = each
        one = next(iter(each.values()))
        self.classes_ = validation.class_names(list(each))
        self.n_items_, self.item_ids_, self.graph_ = one.n_items_, one.item_ids_, one.graph_
        self.n_features_in_, self._items, self._names = one.n_features_in_, one._items, one._names
        return self

    def _check_order(self, given: bool) -> None:
        if not given and len(self.classes_) > 2 and self.classes_.dtype.kind not in "iuf":
            raise InputError(
                f"kind='ordinal' needs the order of the classes {self.classes_.tolist()[:10]}; pass them as "
                "classes, the lowest first."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return self.__dict__.get("_questions") is not None or super().__sklearn_is_fitted__()

    def _check_parameters(self) -> None:
        validation.choice("kind", self.kind, KINDS)
        self._space = SearchSpace.read(self.alpha, self.n_neighbors, 1e-4, self.prior is not None)
        validation.choice("classifier", self.classifier, CLASSIFIERS)
        validation.choice("annotator_model", self.annotator_model, ANNOTATOR_MODELS)

    def _spread(self) -> None:
        self._model_votes = VoteTable.empty() if self._said is None else self._names.table(self._said)
        self._names.check_retractions(self._model_votes)
        self._said = None
        features = self._features
        if features is not None and len(features) != self.n_items_:
            raise InputError(
                f"features must have one row per item ({self.n_items_}), got {len(features)}; give the "
                "unreduced features of the same items in the same order."
            )
        self.graph_ = self._graph_of_items(self._space.neighbors[0])
        self._diffused = self._rate_annotators()
        if not self._waits:
            self._learn()

    def _rate_annotators(self) -> Diffusion:
        """Weigh votes by their annotators, where they are named; rating them asks for an alpha of its own."""
        named = self.annotator_model != "none" and self._votes.annotators is not None
        weighed = named and not why_neutral(Ballots.of(self._votes, len(self.classes_)))
        alphas = self._space.alphas if weighed or len(self._space.alphas) == 1 else [DEFAULT_ALPHA]
        settings = choose_settings(
            self.graph_,
            self._votes,
            len(self.classes_),
            SearchSpace(alphas),
            self.annotator_model,
            None if self.prior is None else self.prior_,
            self._options(),
            advise=False,  # advice_ does
        )
        found = settings.annotators
        self._use_weighting(None if found is None else Weighting(found, self._votes))
        return settings.diffusion

    def _shown(self) -> dict[str, Any]:
        """What classifiers and kernels may see."""
        if self.classifier != "auto":
            return {"X": None, "features": None}
        return {"X": self.graph_.places, "features": self._features}

    def _learn(self, rungs: Sequence[Rung] | None = None, sight: Sight | None = None) -> None:
        """Fit experts, weights, sharpness and trust to all votes so far.

        ``rungs`` and ``sight`` were found before, for several questions together.
        """
        self._blend: Blend = fit_blend(
            self._diffused,
            self._own_votes(),
            alphas=None if self.alpha == "auto" else [float(self.alpha)],
            **self._shown(),
            prior=None if self.prior is None else self._padded_prior(),
            panel=self._panel() if len(self._model_votes) else None,
            ordered=self.kind == ORDINAL,
            rungs=rungs,
            sight=sight,
        )
        self._n_fitted = len(self._votes)
        self._live = LiveBlend(self._blend, self._diffused)
        self._n_live = 0  # votes that it has taken in
        self._n_moved = 0  # items that came or went since
        self._forget_derived()

    def _own_votes(self) -> OwnVotes:
        return own_votes(self._counted_votes, self._named_votes(), self.n_items_, len(self.classes_))

    def _panel(self) -> Panel:
        return Panel.of(self._model_votes, self._models, self.n_items_, len(self.classes_))

    def _padded_prior(self) -> FloatArray:
        missing = 2 - self.prior_.shape[1]
        return np.pad(self.prior_, ((0, 0), (0, missing))) if missing > 0 else self.prior_

    def _diffusion(self) -> Diffusion:
        return self._diffused

    # -------------------------------------------------------------------------------------------- later votes
    def _add(self, new: VoteTable, names: Names) -> Self:
        """Votes of people move soft labels at once; those of models are learned from, which costs a fit."""
        theirs = said_by(new.annotators, self._models, len(new))
        if not theirs.any():
            return super()._add(new, names)
        if len(names.classes) > len(self.classes_):
            raise InputError(
                f"a model's vote names {names.classes[len(self.classes_)]!r}, which is no class yet; give "
                "all classes to fit, or add votes of people on it first."
            )
        with self._unchanged_on_failure():
            votes = self._model_votes.copy()
            votes.append(new.take(theirs))
            names.check_retractions(votes)
            self._model_votes = votes
            self.refit()
            return self if theirs.all() else super()._add(new.take(~theirs), names)

    def _spread_more(self, new: VoteTable) -> None:
        new = self._counted(new)
        n_since = len(self._votes) - self._n_fitted
        if len(self.classes_) > self._blend.own.n_classes or REFIT.due(n_since, self._n_fitted):
            log.info("learning again: %d votes since the last fit to %d", n_since, self._n_fitted)
            self.refit()
            return
        self._n_live = len(self._live.since)
        self._live.add(new)
        self._n_live = len(self._live.since)
        self._forget_derived()

    def _spread_less(self) -> None:
        self._use_weighting(self._weighting)
        self._live.forget(len(self._live.since) - self._n_live)
        self._forget_derived()

    def _spread_fewer_classes(self) -> None:
        self.refit()

    # --------------------------------------------------------------------------------- items that come and go
    def add_items(
        self,
        X: ArrayLike,
        item_ids: ArrayLike | None = None,
        *,
        prior: ArrayLike | None = None,
        features: ArrayLike | None = None,
    ) -> Self:
        """Add items that have no votes yet.

        They join the graph at once, where old items get new neighbours if these are nearer, and are answered
        as new items. Experts, weights and trust stay until :meth:`refit`, which runs by itself after a
        quarter more items.

        Parameters
        ----------
        X : (m, d) array-like
            Features of the new items; their rows follow those of the fitted ones.
        item_ids : (m,) array-like, optional
            Their names, if the fitted items have names; none of them may be known.
        prior : (m, n_classes) array-like, optional
            Their prior, if the estimator was given one per item.
        features : (m, f) array-like, optional
            Their unreduced features, if :meth:`fit` was given such.

        Returns
        -------
        self
            The estimator with more items. If anything is refused it stays as it was.

        See Also
        --------
        remove_items : The inverse.
        refit : Afterwards all is as if fitted to all items at once.

        Examples
        --------
        >>> lab = SoftLabeler(n_neighbors=1).fit([[0.0], [1.0], [9.0], [10.0]], [0, -1, -1, 1])
        >>> lab.add_items([[1.5]]).refit().predict().tolist()
        [0, 0, 1, 1, 0]
        """
        check_is_fitted(self)
        with self._unchanged_on_failure():
            if (features is None) != (self._features is None):
                raise InputError(
                    "the fitted items have no features, so new items can have none; leave features out."
                    if self._features is None
                    else "the fitted items have features, so new items need features as well."
                )
            self._new_features = self._features_of_new(features, len(np.asarray(X)))
            super().add_items(X, item_ids, prior=prior)
            del self._new_features
        return self

    def _take_in(self, new: AnyArray) -> None:
        more = self._new_features
        placed = place_items(new, self.graph_.metric)
        blend = blend_with_items(self._blend, self._ties(new), placed, more)
        if more is not None and self._features is not None:
            self._features = np.concatenate([self._features, more])
        self._grow_graph(new, self._space.neighbors[0])
        self._follow(blend, self._live.since, len(new))

    def _has_votes(self, rows: IntArray) -> BoolArray:
        return np.asarray(super()._has_votes(rows) | np.isin(rows, self._model_votes.rows))

    def _let_go(self, keep: BoolArray, votes_lost: bool) -> None:
        self._features = None if self._features is None else self._features[keep]
        self._model_votes = self._model_votes.moved(places_of(keep))
        self._shrink_graph(keep)
        if votes_lost:
            self.refit()
            return
        place = places_of(keep)
        if self._weighting is not None:
            self._weighting = self._weighting.moved(place)
        blend = blend_without_items(self._blend, keep)
        self._follow(blend, self._live.since.moved(place), int((~keep).sum()))

    def _follow(self, blend: Blend, since: VoteTable, n_moved: int) -> None:
        """Go on with other items, and with the votes since the fit."""
        self._use_weighting(self._weighting)
        self._n_moved += n_moved
        if REFIT.due(self._n_moved, self.n_items_ - self._n_moved):
            self.refit()
            return
        self._diffused = self._options().diffusion(self.graph_, self._diffused.alpha)
        self._blend, self._live = blend, LiveBlend(blend, self._diffused)
        if len(since):
            self._live.add(since)
        self._n_live = len(since)
        self._forget_derived()

    def refit(self) -> Self:
        """Learn experts, weights, sharpness and trust again from all votes so far.

        :meth:`update` moves soft labels at once, but what was learned about experts and trust stays until
        this runs; it runs by itself after a quarter more votes. Afterwards the estimator is as if it had been
        fitted to all votes at once.

        Returns
        -------
        self
            The estimator.

        See Also
        --------
        update : Further votes.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=1).fit(X, [0, -1, -1, 1]).update(1, 0).refit()
        >>> again = SoftLabeler(n_neighbors=1).fit(X, [0, 0, -1, 1])
        >>> bool(np.allclose(lab.predict_proba(), again.predict_proba()))
        True
        """
        check_is_fitted(self)
        with self._unchanged_on_failure():
            self._diffused = self._rate_annotators()
            self._learn()
        return self

    def refine(self) -> Self:
        """Bring what was pushed since the last fit to full accuracy.

        Returns
        -------
        self
            The estimator.

        See Also
        --------
        refit : Also learn again.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=1).fit(X, [0, -1, -1, 1])
        >>> lab.update(1, 0).refine().predict().tolist()
        [0, 0, 1, 1]
        """
        check_is_fitted(self)
        self._refine()
        return self

    def _refine(self) -> None:
        if self._live.refine():
            self._forget_derived()

    # ------------------------------------------------------------------------------------------------ answers
    @property
    def _posterior(self) -> Posterior:
        """The posterior of the fitted items, with all votes so far."""
        if "posterior" not in self._kept:
            self._kept["posterior"] = self._live.posterior()
        posterior: Posterior = self._kept["posterior"]
        return posterior

    def _posteriors(self, answer: Answer) -> Posteriors:
        """Of the items asked about, and that of the fit: the tail of intervals waits for the next fit."""
        asked = self._posterior if answer.posterior is None else answer.posterior
        return Posteriors(asked, self._live.at_fit)

    def _about(
        self, X: ArrayLike | None, transductive: bool | None = None, features: ArrayLike | None = None
    ) -> Answer:
        new = self._checked(X, transductive)
        if new is None:
            if features is not None:
                raise InputError("features belong to new items: pass their X too, or leave features out.")
            if "answer" not in self._kept:
                self._kept["answer"] = evidence_in(self._posterior, len(self.classes_))
            evidence, p = self._kept["answer"]
            evidence = replace(evidence, mass=evidence.mass.copy())  # whoever asks may change the arrays
            return Answer(evidence, p.copy(), None)
        masses = [self._live.mass(rung) for rung in self._blend.rungs]
        posterior = self._blend.posterior_of_new(
            self._ties(new),
            place_items(new, self.graph_.metric),
            masses,
            self._diffused.workers,
            self._features_of_new(features, len(new)),
        )
        return Answer(*evidence_in(posterior, len(self.classes_)), new, posterior)

    def _features_of_new(self, features: ArrayLike | None, n_new: int) -> AnyArray | None:
        """Unreduced features of new items, like those of the fit."""
        if features is None:
            return None
        if self._features is None:
            raise InputError("fit was given no features, so new items can have none; leave features out.")
        given = validation.features(features, "features")
        expected = n_new, self._features.shape[1]
        if given.shape != expected:
            raise InputError(
                f"features of new items must have shape {expected}, new items by features of the fit, got "
                f"{given.shape}."
            )
        return given

    def predict_proba(
        self,
        X: ArrayLike | None = None,
        *,
        features: ArrayLike | None = None,
        transductive: bool | None = None,
    ) -> FloatArray:
        """Soft labels of the fitted items, or of new ones.

        Items in X are *new* ones, also if they are equal to fitted items: neighbours and classifiers answer
        for them. For the fitted items leave X out.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.
        features : (m, f) array-like, optional
            Unreduced features of the new items, where :meth:`fit` was given such; without them their
            neighbours' mean stands in for the classifiers on unreduced features.
        transductive : bool, optional
            True: X are the fitted items, which is checked, and the answer is theirs, also through a pipeline.
            By default X are new items, with a warning if they are exactly the fitted ones; False leaves the
            warning out.

        Returns
        -------
        (n, n_classes) array
            One row per item, which sums to 1.

        See Also
        --------
        soft_labels : The same with intervals and evidence.
        label_distributions_ : The same for the fitted items.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=1).fit(X, [0, -1, -1, 1])
        >>> bool(lab.predict_proba([[0.5]])[0, 0] > 0.5)
        True
        """
        return self._about(X, transductive, features).p

    def predict_interval(
        self,
        X: ArrayLike | None = None,
        confidence_level: float = 0.9,
        method: str | IntervalMethod | None = None,
        lipschitz: float | None = None,
        simultaneous: bool = False,
        *,
        features: ArrayLike | None = None,
        transductive: bool | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """An interval for each soft label.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.
        confidence_level : float, default 0.9
            Strictly between 0 and 1.
        method : str or function, optional
            By default "posterior": quantiles of what is known about each soft label, with everything open
            about how far neighbours can be trusted averaged over; wide while few items have two votes.
            "wilson" and "wilson_floor" read evidence as votes. Or the name of a plug-in, or a function of an
            :class:`~softspread.intervals.task.IntervalTask`.
        lipschitz : float, optional
            Not used by these methods; for a plug-in.
        simultaneous : bool, default False
            Hold for all classes of an item together, by a union bound.
        features : (m, f) array-like, optional
            Unreduced features of the new items, see :meth:`predict_proba`.
        transductive : bool, optional
            True if X are the fitted items, see :meth:`predict_proba`.

        Returns
        -------
        lower, upper : (n, n_classes) array
            Ends of the intervals, in [0, 1].

        See Also
        --------
        soft_labels : Soft labels with their intervals, in one object.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lower, upper = SoftLabeler(n_neighbors=1).fit(X, [0, -1, -1, 1]).predict_interval()
        >>> bool((lower <= upper).all())
        True
        """
        if features is None:
            return super().predict_interval(
                X, confidence_level, method, lipschitz, simultaneous, transductive=transductive
            )
        about = partial(self._about, X, transductive, features)
        return self._with_interval(about, confidence_level, method, lipschitz, simultaneous)[1:]

    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike | Votes,
        classes: ArrayLike | None = None,
        *,
        item_ids: ArrayLike | None = None,
        features: ArrayLike | None = None,
    ) -> Self:
        """Learn from a further batch of items and the votes on them.

        Batch by batch gives the same as one :meth:`fit` of all batches, and each call costs a fit. For
        further votes on known items :meth:`update` takes milliseconds.

        Parameters
        ----------
        X : (n, d) array-like
            Features of the batch. Without ids every row is a new item.
        y : (n,) or (n, n_classes) array-like, or Votes
            Votes on the items of the batch, in any form that :meth:`fit` takes.
        classes : (n_classes,) array-like, optional
            Class names, for the first call.
        item_ids : (n,) array-like, optional
            Names of the batch's items, if the first batch had names. A known name is the known item.
        features : (n, f) array-like, optional
            Unreduced features of the batch's items; every batch has them or none has.

        Returns
        -------
        self
            The estimator, fitted to all batches so far.

        See Also
        --------
        fit : All items at once.
        update : Further votes on the same items.

        Examples
        --------
        >>> lab = SoftLabeler(n_neighbors=1).partial_fit([[0.0], [1.0]], [0, -1], classes=[0, 1])
        >>> lab.partial_fit([[9.0], [10.0]], [-1, 1]).predict().tolist()
        [0, 0, 1, 1]
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(X, y, features=features, item_ids=item_ids, classes=classes)
        if self.kind == MULTILABEL or self._models:
            what = "kind='multilabel'" if self.kind == MULTILABEL else "a fit beside models"
            raise InputError(f"{what} learns from all items at once; use fit, or update for votes.")
        if (features is None) != (self._features is None):
            raise InputError("either every batch has features or none has; the first one decides.")
        with self._unchanged_on_failure():
            if self._features is not None:
                more = np.asarray(self._features_of_new(features, len(np.asarray(X))))
                known = np.full(len(more), -1) if item_ids is None else self._names.known_rows(item_ids)
                if len(known) == len(more):  # otherwise the batch is refused below
                    self._features = np.concatenate([self._features, more[known < 0]])
            super().partial_fit(X, y, classes, item_ids=item_ids)
        return self

    def soft_labels_of(self, items: ArrayLike) -> FloatArray:
        """Soft labels of a few fitted items: the quick answer after an update, however many items there are.

        Parameters
        ----------
        items : (m,) array-like
            Ids of the items, or positions where items have no ids.

        Returns
        -------
        (m, n_classes) array
            Soft labels of these items.

        See Also
        --------
        soft_labels : The same for all fitted items, with intervals.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=1).fit(X, [0, -1, -1, 1]).update(1, 0)
        >>> bool(np.allclose(lab.soft_labels_of([1, 3]), lab.predict_proba()[[1, 3]]))
        True
        """
        self._checked(None)
        rows, back = np.unique(self._names.rows(items), return_inverse=True)
        return evidence_in(self._live.of_rows(rows), len(self.classes_))[1][back]

    def explain(self, item: Hashable, top: int | None = 10) -> pd.DataFrame:
        """What one soft label is made of: votes, classifiers, the prior and the class shares.

        Each row is a share of the soft label. All rows of a label sum to its probability, all rows together
        to 1. Contrast and sharpening are inside: they multiply all shares of a class by one number.

        Parameters
        ----------
        item : id or position
            Id of the item, or its position where items have no ids.
        top : int, optional
            How many rows to keep; None keeps all.

        Returns
        -------
        pandas.DataFrame
            Columns source, item, label, annotator (if votes are named) and weight, heaviest first. The source
            is "own vote" or "vote" (on the item itself or on another one, by spreading or by distance),
            "distant votes" (the sum of those that are too far away to be listed), "classifiers", "prior"
            or "class shares"; only votes have an item.

        See Also
        --------
        soft_labels : The soft labels that this explains.
        weights_ : How much each expert counts for all items.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=1).fit(X, [[2, 0], [0, 0], [0, 0], [0, 1]])
        >>> shares = lab.explain(0, top=None)
        >>> bool(np.isclose(shares["weight"].sum(), 1))
        True
        >>> bool(np.allclose(shares.groupby("label")["weight"].sum(), lab.predict_proba()[0]))
        True
        """
        row, top = self._asked_about(item, top)
        found = explain_blend(self._live, self._counted_votes, row, len(self.classes_)).top(top)
        items = np.full(len(found.rows), None)
        listed = found.rows >= 0
        items[listed] = self._names.items(found.rows[listed]).tolist()
        frame = pd.DataFrame({"source": found.sources, "item": items, "label": self.classes_[found.columns]})
        if found.annotators is not None:
            frame["annotator"] = found.annotators
        return frame.assign(weight=found.weights)

    def _further(self, answer: Answer, level: float) -> dict[str, Any]:
        if self.kind != ORDINAL:
            return {}
        levels = expected_levels(self._posteriors(answer), answer.p, self.classes_, level)
        return {"kind": ORDINAL, "more": levels}

    # ---------------------------------------------------------------------------------------------- queries
    def _choosing(self) -> Choosing:
        """The rung nearest to the alpha at which queries choose."""
        if len(self.classes_) == 0:
            return Choosing(self._diffused, np.zeros((self.n_items_, 1)), None)
        rung = min(self._blend.rungs, key=lambda rung: abs(rung.alpha - DEFAULT_LOTTERY.alpha))
        mass = self._live.mass(rung).astype(np.float64)
        return Choosing(self._diffused.at(rung.alpha), mass, self._posterior)

    # ---------------------------------------------------------------------------------------------- quality
    def _fitted_blend(self) -> FittedBlend:
        """Of all votes so far: what came in since the last fit is learned first."""
        if len(self._votes) != self._n_fitted or self._n_moved:
            self.refit()
        return FittedBlend(self._blend, self._posterior)

    def _held_out(self, probabilities: ArrayLike | None, rng: np.random.Generator) -> JudgingVotes:
        fitted = self._fitted_blend()
        cast = self._trusted_votes()
        return blend_evidence(fitted, self._named_votes(), rng, cast=cast, probabilities=probabilities)

    def _forecast(self, more: int, level: float, rng: np.random.Generator) -> GainForecast:
        now = self.quality(confidence_level=level, random_state=rng).rmse
        fitted = self._fitted_blend()
        n_votes = int(fitted.blend.own.n_votes.sum())
        return forecast_gain(fitted, now, n_votes, more, confidence_level=level, rng=rng)

    # --------------------------------------------------------------------------------------- what was learned
    @property
    def weights_(self) -> pd.Series:
        """Share of each expert in the blend, the largest first."""
        check_is_fitted(self)
        weights = pd.Series(self._blend.weights, list(self._blend.names), name="weight")
        return weights.sort_values(ascending=False, kind="stable")

    @property
    def trust_(self) -> pd.DataFrame:
        """How many votes the experts' word is worth: probability of each number, over all items."""
        check_is_fitted(self)
        posterior = self._posterior
        sizes = np.bincount(posterior.group, minlength=len(posterior.trust.law)) / posterior.n_items
        chances = sizes @ posterior.trust.law
        return pd.DataFrame({"votes": posterior.trust.nus, "probability": chances})

    @property
    def advice_(self) -> str | None:
        """What would narrow the intervals, where too few items have a second vote."""
        check_is_fitted(self)
        if len(self._model_votes) and not len(self._votes):
            return UNCHECKED
        return repeat_advice(int((self._own_votes().n_votes > 1).sum()), self.n_items_)

    # --------------------------------------------------------------------------------------------- models
    @property
    def model_annotators_(self) -> tuple[Hashable, ...]:
        """The annotators that ``fit`` was told are models."""
        check_is_fitted(self)
        return self._models

    @property
    def model_votes_(self) -> Votes:
        """All votes so far of those that ``fit`` was told are models."""
        check_is_fitted(self)
        return self._names.votes(self._model_votes)

    def judge_report(self, confidence_level: float = 0.9) -> JudgeReport:
        """How good the models are that voted beside people, by people's votes on the same items.

        Parameters
        ----------
        confidence_level : float, default 0.9
            Of the intervals, strictly between 0 and 1.

        Returns
        -------
        JudgeReport
            Agreement with people, calibration and confusion of every model, and how many independent ones all
            of them are worth, each with an interval.

        See Also
        --------
        annotators_ : The same question about people.
        weights_ : What the models count in the blend.

        Examples
        --------
        >>> import numpy as np
        >>> X, items = np.arange(20.0)[:, None], np.arange(20)
        >>> who = np.repeat(["ann", "gpt"], 20)
        >>> votes = Votes.from_pairs(np.tile(items, 2), np.tile(items // 10, 2), who)
        >>> lab = SoftLabeler(n_neighbors=3).fit(X, votes, model_annotators=["gpt"])
        >>> lab.judge_report()
        JudgeReport(1 model; gpt agrees with 100 % of people's votes (86 to 100 %) on 20 items)
        """
        self._checked(None)
        level = validation.between_0_and_1("confidence_level", confidence_level)
        if not self._models:
            raise InputError(
                "no annotator is a model; name those that are in fit(..., model_annotators=[...])."
            )
        return judge_models(self._panel(), self._own_votes(), self.classes_, level)

    # ------------------------------------------------------------------------------------------- the mode
    def mode_probabilities(self, n_draws: int = 200, *, random_state: RandomState = None) -> FloatArray:
        """How probable it is that each class is the most probable one of its item.

        Parameters
        ----------
        n_draws : int, default 200
            Draws from each item's posterior; the answers are multiples of 1 / n_draws.
        random_state : int, Generator or None, optional
            Seeds the draws; by default the estimator's own.

        Returns
        -------
        (n, n_classes) array
            Rows sum to 1.

        See Also
        --------
        predict_set : The classes that could be the most probable one.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=1).fit(X, [[5, 0], [0, 0], [0, 0], [0, 5]])
        >>> bool(lab.mode_probabilities(random_state=0)[0, 0] > 0.7)
        True
        """
        self._checked(None)
        rng = self._generator(random_state)
        n_draws = validation.count("n_draws", n_draws, smallest=1)
        found = self._posterior.mode_probabilities(rng, n_draws)[:, : len(self.classes_)]
        return np.asarray(found / found.sum(axis=1, keepdims=True)) if len(self.classes_) == 1 else found

    def predict_set(
        self, confidence_level: float = 0.9, *, n_draws: int = 200, random_state: RandomState = None
    ) -> BoolArray:
        """The classes that could be the most probable one of each item.

        Parameters
        ----------
        confidence_level : float, default 0.9
            The set holds the truly most probable class with at least this probability.
        n_draws : int, default 200
            Draws from each item's posterior.
        random_state : int, Generator or None, optional
            Seeds the draws; by default the estimator's own.

        Returns
        -------
        (n, n_classes) array of bool
            True for the classes of the set, at least one per item.

        See Also
        --------
        mode_probabilities : How probable each class is.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=1).fit(X, [[5, 0], [0, 0], [0, 0], [0, 5]])
        >>> lab.predict_set(0.5, random_state=0)[0].tolist()
        [True, False]
        """
        level = validation.between_0_and_1("confidence_level", confidence_level)
        chances = self.mode_probabilities(n_draws, random_state=random_state)
        order = np.argsort(-chances, axis=1, kind="stable")
        ordered = np.take_along_axis(chances, order, axis=1)
        needed = np.cumsum(ordered, axis=1) - ordered < level - 1e-12
        members = np.zeros(chances.shape, dtype=bool)
        np.put_along_axis(members, order, needed, axis=1)
        return members


def _fixes_classes(y: Any) -> bool:
    """Whether votes bring their classes in order."""
    return isinstance(y, NamedVotes) or (isinstance(y, Votes) and y.classes is not None)
