"""Base of estimators with a posterior: how good the soft labels are, and whether more votes pay off."""

import warnings
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.atomic import check_target, write_text
from softspread._common.types import AnyArray, RandomState
from softspread.errors import InputError, NeighborWarning
from softspread.estimators.graph_based import GraphEstimator
from softspread.quality.coverage import LEVELS, truth_coverage, vote_coverage
from softspread.quality.estimate import FittedBlend, estimate_quality
from softspread.quality.judge import Evidence, judge
from softspread.quality.result import N_BOOTSTRAP, GainForecast, Quality
from softspread.quality.smoothness import RULE as SMOOTHNESS
from softspread.quality.smoothness import Smoothness, judge_smoothness
from softspread.report.fitted import fitted_content, inputs_of, settings_of
from softspread.report.pictures import Thumbnails
from softspread.report.run import run_page


class JudgedEstimator(GraphEstimator):
    """An estimator that can judge its own soft labels by votes."""

    _waits = False  # while several questions are fitted together

    def _look_over(self) -> None:
        if not self._waits and len(self.classes_) and len(self._votes) >= SMOOTHNESS.fewest:
            self._warn_of_neighbors(stacklevel=6)

    def _warn_of_neighbors(self, stacklevel: int) -> None:
        """Say where neighbours do not help; the permutations are the same at every fit."""
        found = self.smoothness(random_state=0).warning
        if found is not None:
            warnings.warn(found, NeighborWarning, stacklevel=stacklevel)

    def _fitted_blend(self) -> FittedBlend:
        """The blend of all votes so far and the posterior of the fitted items."""
        raise NotImplementedError  # pragma: no cover

    def _held_out(self, probabilities: ArrayLike | None, rng: np.random.Generator) -> Evidence:
        """The votes of the fit, each held out in turn, and what was predicted for them."""
        raise NotImplementedError  # pragma: no cover

    def _forecast(self, more: int, level: float, rng: np.random.Generator) -> GainForecast:
        """The effect of further votes."""
        raise NotImplementedError  # pragma: no cover

    def quality(
        self,
        counts: ArrayLike | None = None,
        *,
        probabilities: ArrayLike | None = None,
        confidence_level: float = 0.9,
        random_state: RandomState = None,
    ) -> Quality:
        """How good the soft labels are, without ground truth.

        The posterior says how far the soft labels may be off; what it says is checked against votes that the
        prediction has not seen, and weighed by how well it predicts them. With fewer than 40 items with two
        or more votes nothing can separate error from noise: intervals then hold all that is possible.

        Parameters
        ----------
        counts : (n, n_classes) array-like, optional
            Whole votes that were *not* used for fitting, best two or more on each of a few items drawn
            at random; by default the votes of the fit, each held out in turn.
        probabilities : (n_votes,) array-like, optional
            For every vote of ``votes_``, in the order of casting, the probability with which its item was
            drawn at its step: what ``query(..., return_probabilities=True)`` gives, 1 / n for an item drawn
            uniformly. By default all items were equally probable; votes on chosen items then overstate the
            error.
        confidence_level : float, default 0.9
            Of the intervals, strictly between 0 and 1.
        random_state : int, Generator or None, optional
            Seeds what is drawn at random; by default the estimator's own.

        Returns
        -------
        Quality
            Estimates of RMSE, KL, accuracy and scores, each with an interval.

        See Also
        --------
        forecast : What further votes are expected to bring.
        query : Which items to vote on next, with their probabilities.

        Examples
        --------
        >>> import numpy as np
        >>> from softspread import SoftLabeler
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> counts = np.zeros((200, 2))
        >>> counts[np.arange(0, 200, 4), (X[::4, 0] > 0).astype(int)] = 3
        >>> quality = SoftLabeler(random_state=0).fit(X, counts).quality()
        >>> bool(quality.accuracy.value > 0.7), quality.n_votes
        (True, 150)
        """
        self._checked(None)
        rng = self._generator(random_state)
        if counts is None:
            return judge(self._held_out(probabilities, rng), confidence_level, rng, N_BOOTSTRAP)
        if probabilities is not None:
            raise InputError(
                "probabilities are those of the votes of the fit; votes set apart (counts) must be on items "
                "drawn uniformly. Give one of the two."
            )
        return self._quality_by(self._per_class("counts", np.asarray(counts)), confidence_level, rng)

    def smoothness(self, *, random_state: RandomState = None) -> Smoothness:
        """Whether votes go with those of their neighbours: what all spreading rests on.

        A permutation test on held-out votes, per class. Where votes contradict their neighbours, or these say
        no more than chance, the features do not suit the question, and another space is needed.

        Parameters
        ----------
        random_state : int, Generator or None, optional
            Seeds the permutations; by default the estimator's own.

        Returns
        -------
        Smoothness
            Agreement with neighbours and by chance, and a verdict per class; ``warning`` says what to do.

        See Also
        --------
        softspread.compare_spaces : Which of several spaces suits the votes.
        quality : How far the soft labels are off.

        Examples
        --------
        >>> import numpy as np
        >>> from softspread import SoftLabeler
        >>> X = np.linspace(0, 1, 200)[:, None]
        >>> SoftLabeler(n_neighbors=5).fit(X, (X[:, 0] > 0.5).astype(int)).smoothness().warning is None
        True
        """
        self._checked(None)
        rng = self._generator(random_state)
        return judge_smoothness(self._diffusion(), self._named_votes(), self.classes_, rng)

    def report(
        self,
        path: str | PathLike[str] | None = None,
        *,
        confidence_level: float = 0.9,
        images: str | PathLike[str] | None = None,
    ) -> str:
        """One page about the soft labels that opens in any browser, without a network.

        A map of the items, how sure the soft labels are, the most uncertain and the most ambiguous items,
        quality, annotators, and what was learned: the page of ``softspread spread --report``.

        Parameters
        ----------
        path : str or path, optional
            Where to write the page, such as "report.html"; by default it is only returned.
        confidence_level : float, default 0.9
            Of intervals, verdicts and quality, strictly between 0 and 1.
        images : str or path, optional
            Folder with the pictures of the items, named by their ids; needs the extra ``images``.

        Returns
        -------
        str
            The page, as HTML.

        See Also
        --------
        plot : Single pictures on matplotlib axes.
        soft_labels : The figures themselves.

        Examples
        --------
        >>> import numpy as np
        >>> from softspread import SoftLabeler
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> page = SoftLabeler(n_neighbors=5).fit(X, np.arange(40) // 20).report()
        >>> "Soft labels of 40 items" in page
        True
        """
        check_is_fitted(self)
        target = None if path is None else check_target(Path(path))
        thumbnails = None if images is None else Thumbnails(Path(images))
        labels = self.soft_labels(confidence_level)
        content = fitted_content(
            self,
            labels,
            self.quality(confidence_level=confidence_level),
            inputs=inputs_of(self),
            settings=settings_of(self, self._default_interval, confidence_level),
            command=f"{type(self).__name__}(...).fit(X, votes).report()",
            confidence_level=confidence_level,
            thumbnail=None if thumbnails is None else lambda row: thumbnails(labels.ids[row]),
        )
        page = run_page(content)
        if target is not None:
            write_text(target, page)
        return page

    def _per_class(self, name: str, table: AnyArray) -> AnyArray:
        """The table, which must have a row per item and a column per class."""
        wanted = self.n_items_, len(self.classes_)
        if table.shape != wanted:
            raise InputError(f"{name} must have shape {wanted}, items by classes, got {table.shape}.")
        return table

    def _quality_by(self, counts: AnyArray, level: float, rng: np.random.Generator) -> Quality:
        several = len(self.classes_) > 1  # of one class alone the posterior keeps two
        return estimate_quality(
            self.predict_proba(),
            counts,
            posterior=self._fitted_blend().posterior if several else None,
            confidence_level=level,
            rng=rng,
        )

    def coverage(
        self,
        p_true: ArrayLike | None = None,
        *,
        levels: ArrayLike = LEVELS,
        confidence_level: float = 0.9,
        random_state: RandomState = None,
    ) -> pd.DataFrame:
        """How often predictions at several confidence levels hold, against their promise.

        Without a truth, held-out votes judge: a set of the most probable classes with a probability of 0.8
        together should hold 80 % of them; the last class of a set counts in part. This checks the soft labels
        as predictions of votes, not the width of their intervals. With ``p_true`` the intervals are judged:
        the share of true soft labels inside them.

        Parameters
        ----------
        p_true : (n, n_classes) array-like, optional
            Known soft labels of the fitted items.
        levels : array-like, default ten from 0.1 to 0.95
            Promised shares, each strictly between 0 and 1.
        confidence_level : float, default 0.9
            Of the intervals around the measured shares, by resampling items.
        random_state : int, Generator or None, optional
            Seeds what is drawn at random; by default the estimator's own.

        Returns
        -------
        pandas.DataFrame
            Columns level, covered, lower and upper, one row per level.

        See Also
        --------
        predict_interval : The intervals.
        quality : How far the soft labels are off.

        Examples
        --------
        >>> import numpy as np
        >>> from softspread import SoftLabeler
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = np.where(np.arange(200) % 4 == 0, X[:, 0] > 0, -1)
        >>> lab = SoftLabeler(random_state=0).fit(X, y)
        >>> lab.coverage(levels=[0.5, 0.9])["level"].tolist()
        [0.5, 0.9]
        """
        self._checked(None)
        level = validation.between_0_and_1("confidence_level", confidence_level)
        asked = [validation.between_0_and_1("levels", value) for value in np.ravel(levels).tolist()]
        if not asked:
            raise InputError("levels is empty; give at least one, such as 0.9.")
        rng = self._generator(random_state)
        if p_true is None:
            return vote_coverage(self._held_out(None, rng).trials, asked, level, rng)
        truth = validation.table_of_numbers(p_true, "p_true must be a table of numbers, items by classes.")
        self._per_class("p_true", truth)
        ends = [self.predict_interval(confidence_level=value) for value in asked]
        inside = [((truth >= lower) & (truth <= upper)).mean(axis=1) for lower, upper in ends]
        return truth_coverage(inside, asked, level, rng)

    def forecast(
        self, more: int, *, confidence_level: float = 0.9, random_state: RandomState = None
    ) -> GainForecast:
        """How far ``more`` further votes on random items would lower the RMSE: when to stop.

        A SoftLabeler reads it off its posterior; spreading alone thins its votes and continues the curve.

        Parameters
        ----------
        more : int
            How many further votes.
        confidence_level : float, default 0.9
            Of the intervals, strictly between 0 and 1.
        random_state : int, Generator or None, optional
            Seeds what is drawn at random; by default the estimator's own.

        Returns
        -------
        GainForecast
            The RMSE now and then, and whether further votes are worthwhile.

        See Also
        --------
        quality : How good the soft labels are now.
        query : Which items to vote on next.

        Examples
        --------
        >>> import numpy as np
        >>> from softspread import SoftLabeler
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> counts = np.zeros((200, 2))
        >>> counts[np.arange(0, 200, 4), (X[::4, 0] > 0).astype(int)] = 3
        >>> lab = SoftLabeler(random_state=0).fit(X, counts)
        >>> lab.forecast(100).worthwhile(0.02), lab.forecast(1).worthwhile(0.02)
        (True, False)
        """
        self._checked(None)
        level = validation.between_0_and_1("confidence_level", confidence_level)
        more = validation.count("more", more, smallest=1)
        rng = self._generator(random_state)
        return self._forecast(more, level, rng)
