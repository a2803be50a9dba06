"""Ratings on a scale: the mean rating of every item from a few, its interval, and how far people differ.

    ratings  ->  soft votes (1 - u, u), u = place on the scale  ->  what others say  ->  posterior of the mean

A rating is a soft vote for the two ends of its scale, so that everything which predicts soft labels predicts
ratings; how far they can be trusted is learned for numbers.
"""

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.types import FloatArray, RandomState
from softspread.errors import InputError
from softspread.estimators.base import VotesEstimator, names_of, read_features
from softspread.estimators.labeler import SoftLabeler
from softspread.graph.graph import Graph
from softspread.posterior.ratings import (
    MeanRatings,
    OwnRatings,
    annotator_lines,
    corrected,
    fit_noise,
    local_noise,
    mean_ratings,
)
from softspread.votes.ratings import Ratings, read_ratings
from softspread.votes.reading import NamedVotes, Names
from softspread.votes.table import VoteTable

ENDS = np.array(["lowest", "highest"])  # what a rating is a soft vote for
HIGHEST = 1  # its column
FEWEST_ANNOTATORS = 2  # one alone has nobody to be compared with


class RatingSpreading(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Mean rating of every item from ratings of a few, with intervals and the spread between people.

    Neighbours, classifiers and kernels predict each item without its own ratings, weighed by held-out ones;
    items with two or more ratings say how far people differ and how far predictions are off; then the item's
    own ratings speak.

    Parameters
    ----------
    estimator : SoftLabeler, or a baseline, optional
        What predicts; a SoftLabeler by default. VoteHistogram, GaussianKernelRegression and KNeighborsVotes
        answer alike: own ratings, or weighted by distance; their intervals count ratings.
    scale : (lowest, highest), optional
        What a rating can be. Others are refused, and intervals end there; by default the ratings found.
    annotator_model : {"auto", "none"}, default "auto"
        "auto" removes offset and scale of each annotator where two or more are named.
    random_state : int, Generator or None, optional
        Seeds the approximate neighbour search.

    Attributes
    ----------
    n_items_ : int
        How many items were fitted.
    item_ids_ : (n,) array or None
        Names of the items; None where ratings name them by position.
    n_features_in_ : int
        Features per item.
    feature_names_in_ : (d,) array
        Names of the features, where X had names.
    scale_ : (float, float)
        Lowest and highest rating, as given or found.
    estimator_ : estimator
        What predicts, fitted.
    annotators_ : pandas.DataFrame or None
        Annotator, ratings, offset and scale; None where none were removed.

    See Also
    --------
    SoftLabeler : With ``kind="ordinal"`` for a few ordered classes, whose distribution matters.

    Examples
    --------
    >>> X = np.linspace(0, 1, 60)[:, None]
    >>> ratings = np.where(np.arange(60) % 4 == 0, 1 + 4 * X[:, 0], np.nan)
    >>> est = RatingSpreading(scale=(1, 5), random_state=0).fit(X, ratings)
    >>> bool(np.abs(est.predict() - (1 + 4 * X[:, 0])).mean() < 0.2)
    True
    """

    def __init__(
        self,
        *,
        estimator: VotesEstimator | None = None,
        scale: tuple[float, float] | None = None,
        annotator_model: str = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.scale = scale
        self.annotator_model = annotator_model
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------ fitting
    def fit(
        self, X: ArrayLike | Graph, y: ArrayLike | pd.DataFrame, *, item_ids: ArrayLike | None = None
    ) -> Self:
        """Learn from ratings of some of the items of X.

        Parameters
        ----------
        X : (n, d) array-like, or Graph
            Features of the items, one row each, or their graph.
        y : (n,) array-like, or DataFrame
            One number per item with NaN for none, or a table with the columns item, rating and, optionally,
            annotator, one row per rating.
        item_ids : (n,) array-like, optional
            Names by which a table refers to items; by default it refers to positions.

        Returns
        -------
        self
            The fitted estimator.

        See Also
        --------
        predict : The mean rating of every item.

        Examples
        --------
        >>> X, names = np.arange(26.0)[:, None], list("abcdefghijklmnopqrstuvwxyz")
        >>> table = pd.DataFrame({"item": ["a", "z"], "rating": [1.0, 5.0], "annotator": ["ann", "bob"]})
        >>> est = RatingSpreading().fit(X, table, item_ids=names)
        >>> est.predict().shape
        (26,)
        """
        validation.choice("annotator_model", self.annotator_model, ("auto", "none"))
        names = names_of(X) if item_ids is None else item_ids
        items: Any = X if isinstance(X, Graph) else read_features(self, X, reset=True)
        n = items.n_items if isinstance(items, Graph) else len(items)
        ids = None if names is None else validation.item_ids(names, n)
        given = read_ratings(y, Names(n, ids, ENDS), self.scale)
        fitted = self._fitted(items, given, Names(n, ids, ENDS))
        if isinstance(items, Graph):
            self.n_features_in_ = 0 if items.features is None else items.features.shape[1]
        self.n_items_, self.item_ids_, self.scale_ = n, ids, given.scale
        self.estimator_, self.annotators_, self._own, self._found = fitted
        return self

    def _fitted(
        self, items: Any, given: Ratings, names: Names
    ) -> tuple[VotesEstimator, pd.DataFrame | None, OwnRatings, MeanRatings]:
        est = SoftLabeler(random_state=self.random_state) if self.estimator is None else clone(self.estimator)
        if not isinstance(est, VotesEstimator) or getattr(est, "kind", "single") != "single":
            raise InputError(
                "estimator must be a SoftLabeler of kind 'single', VoteHistogram, GaussianKernelRegression "
                f"or KNeighborsVotes, got {est!r}."
            )
        rows, values, lines = given.rows, given.values, None
        if isinstance(est, SoftLabeler):
            est.set_params(annotator_model="none")
            est._waits = True  # for its graph, on which annotators are compared
            est.fit(items, _soft_votes(given, values, names))
            if self._compares(given):
                lines = annotator_lines(est._diffused, rows, values, np.asarray(given.annotators))
                codes = pd.Index(lines["annotator"]).get_indexer(pd.Index(np.asarray(given.annotators)))
                offset, scale = lines["offset"].to_numpy(), lines["scale"].to_numpy()
                values = corrected(values, codes, offset, scale, float(values.mean()))
            est._waits = False
        est.fit(est.graph_ if isinstance(est, SoftLabeler) else items, _soft_votes(given, values, names))
        own = OwnRatings.of(rows, values)
        between = 0.0 if lines is None else float(lines["offset"].var(ddof=1)) / len(lines)
        return est, lines, own, self._means(est, own, given.scale, between)

    def _compares(self, given: Ratings) -> bool:
        who = given.annotators
        return (
            self.annotator_model == "auto"
            and who is not None
            and len({name for name in who.tolist() if name is not None}) >= FEWEST_ANNOTATORS
        )

    def _means(
        self, est: VotesEstimator, own: OwnRatings, scale: tuple[float, float], between: float
    ) -> MeanRatings:
        """Mean ratings of the fitted items."""
        if not isinstance(est, SoftLabeler):
            self._noise = None
            return self._counted(est, None, own, scale)
        blend, low, width = est._blend, scale[0], scale[1] - scale[0]
        held = low + width * blend.q_held[:, HIGHEST].astype(np.float64)
        log_size = blend.log_size.astype(np.float64)
        noise = fit_noise(own, held, log_size[own.rated])
        local = local_noise(est._diffused, own, held, noise)
        self._noise, self._local, self._between = noise, local, between
        m = low + width * blend.q[:, HIGHEST].astype(np.float64)
        return mean_ratings(m, log_size, noise, local, own, between)

    def _counted(
        self, est: VotesEstimator, X: Any, own: OwnRatings, scale: tuple[float, float]
    ) -> MeanRatings:
        """A baseline: its mean, and the variance of as many ratings as it counts."""
        low, high = scale
        mean = low + (high - low) * est.predict_proba(X)[:, HIGHEST]
        free = float((own.number - 1).sum())
        people = own.within.sum() / free if free >= 1 else float(np.var(own.mean))
        evidence = est.predict_freq(X).sum(axis=1)
        variance = np.where(evidence > 0, people / np.maximum(evidence, 1e-12), (high - low) ** 2)
        return MeanRatings(
            mean,
            np.minimum(variance, (high - low) ** 2),
            np.full(len(mean), np.sqrt(people)),
        )

    # ------------------------------------------------------------------------------------------------ answers
    def _about(self, X: ArrayLike | None) -> MeanRatings:
        check_is_fitted(self)
        if X is None:
            return self._found
        new, est = read_features(self, X, reset=False), self.estimator_
        if not isinstance(est, SoftLabeler) or self._noise is None:
            return self._counted(est, new, self._own, self.scale_)
        low, high = self.scale_
        ties, masses = est._ties(new), [rung.mass for rung in est._blend.rungs]
        q, size = est._blend.predictions_of_new(ties, masses, est._blend.fixed_of_new(ties, new, None))
        log_size: FloatArray = size.astype(np.float64)
        total = np.asarray(ties.sum(axis=1)).ravel()
        local = np.where(total > 0, (ties @ self._local) / np.where(total > 0, total, 1.0), 1.0)
        return mean_ratings(
            low + (high - low) * q[:, HIGHEST].astype(np.float64), log_size, self._noise, local
        )

    def predict(self, X: ArrayLike | None = None) -> FloatArray:
        """Mean rating of the fitted items, or of new ones.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.

        Returns
        -------
        (n,) array
            What many people would rate on average.

        See Also
        --------
        predict_interval : How well it is known.

        Examples
        --------
        >>> X = np.arange(40.0)[:, None]
        >>> est = RatingSpreading().fit(X, np.where(X[:, 0] % 3 == 0, X[:, 0] // 10, np.nan))
        >>> bool(est.predict()[0] < est.predict()[-1])
        True
        """
        return self._about(X).mean

    def predict_std(self, X: ArrayLike | None = None) -> FloatArray:
        """Spread between people: standard deviation of single ratings of the same item.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.

        Returns
        -------
        (n,) array
            In units of the ratings. Known only where items have two or more; else a part of the error.

        See Also
        --------
        predict_interval : Of the mean, which narrows with more ratings; this does not.

        Examples
        --------
        >>> X = np.arange(40.0)[:, None]
        >>> est = RatingSpreading().fit(X, np.where(X[:, 0] % 3 == 0, X[:, 0] // 10, np.nan))
        >>> bool((est.predict_std() > 0).all())
        True
        """
        return self._about(X).std

    def predict_interval(
        self, X: ArrayLike | None = None, confidence_level: float = 0.9
    ) -> tuple[FloatArray, FloatArray]:
        """Interval of the mean rating.

        Parameters
        ----------
        X : (m, d) array-like, optional
            Features of *new* items; by default the fitted items.
        confidence_level : float, default 0.9
            Strictly between 0 and 1.

        Returns
        -------
        lower, upper : (n,) array
            Ends of the intervals, within ``scale`` where it was given.

        See Also
        --------
        predict_std : How far single ratings differ.

        Examples
        --------
        >>> X = np.arange(40.0)[:, None]
        >>> est = RatingSpreading().fit(X, np.where(X[:, 0] % 3 == 0, X[:, 0] // 10, np.nan))
        >>> lower, upper = est.predict_interval(confidence_level=0.8)
        >>> bool((lower <= upper).all())
        True
        """
        level = validation.between_0_and_1("confidence_level", confidence_level)
        lower, upper = self._about(X).interval(level)
        if self.scale is None:
            return lower, upper
        return np.clip(lower, *self.scale_), np.clip(upper, *self.scale_)

    def to_frame(self, confidence_level: float = 0.9) -> pd.DataFrame:
        """One row per fitted item.

        Parameters
        ----------
        confidence_level : float, default 0.9
            Of the intervals, strictly between 0 and 1.

        Returns
        -------
        pandas.DataFrame
            Columns item, rating (the mean), lower, upper, std (between people) and evidence (how many ratings
            the mean is worth).

        See Also
        --------
        predict : The mean alone, also of new items.

        Examples
        --------
        >>> X = np.arange(40.0)[:, None]
        >>> est = RatingSpreading().fit(X, np.where(X[:, 0] % 3 == 0, X[:, 0] // 10, np.nan))
        >>> est.to_frame().columns.tolist()
        ['item', 'rating', 'lower', 'upper', 'std', 'evidence']
        """
        lower, upper = self.predict_interval(confidence_level=confidence_level)
        ids = np.arange(self.n_items_) if self.item_ids_ is None else self.item_ids_
        found = self._found
        columns = {"item": ids, "rating": found.mean, "lower": lower, "upper": upper}
        return pd.DataFrame(columns | {"std": found.std, "evidence": found.evidence})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _soft_votes(given: Ratings, values: FloatArray, names: Names) -> NamedVotes:
    """Each rating as a soft vote for the ends of the scale; corrected ones beyond it count as the end."""
    low, high = given.scale
    place = np.clip((values - low) / (high - low), 0.0, 1.0) if high > low else np.full(len(values), 0.5)
    weights = np.column_stack([1 - place, place]).ravel()
    who = np.repeat(np.arange(len(values)), 2)  # each rating is an observation of its own
    table = VoteTable(np.repeat(given.rows, 2), np.tile([0, 1], len(values)), weights, who)
    return NamedVotes(table.take(weights > 0), names)
