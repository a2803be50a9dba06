"""How good the soft labels are and whether further votes pay: what estimators with a posterior share."""

import numpy as np
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.types import AnyArray, RandomState
from softspread.errors import InputError
from softspread.estimators.graph_based import GraphEstimator
from softspread.quality.estimate import FittedBlend, estimate_quality
from softspread.quality.result import GainForecast, Quality


class JudgedEstimator(GraphEstimator):
    """An estimator that can judge its own soft labels by votes."""

    def _fitted_blend(self) -> FittedBlend:
        """The blend of all votes so far and the posterior of the fitted items."""
        raise NotImplementedError  # pragma: no cover

    def _held_out_quality(
        self, probabilities: ArrayLike | None, level: float, rng: np.random.Generator
    ) -> Quality:
        """Judged by the votes of the fit."""
        raise NotImplementedError  # pragma: no cover

    def _forecast(self, more: int, level: float, rng: np.random.Generator) -> GainForecast:
        """What further votes would bring."""
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
            For every vote of ``votes_`` the probability with which its item was drawn at its step, as
            ``query(..., return_probabilities=True)`` gives it and 1 / n for an item drawn uniformly; by
            default all items were equally probable. Votes on chosen items overstate the error without it.
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
        rng = validation.generator(self.random_state if random_state is None else random_state)
        if counts is None:
            return self._held_out_quality(probabilities, confidence_level, rng)
        if probabilities is not None:
            raise InputError(
                "probabilities are those of the votes of the fit; votes set apart (counts) must be on items "
                "drawn uniformly. Give one of the two."
            )
        table = np.asarray(counts)
        if table.shape != (self.n_items_, len(self.classes_)):
            raise InputError(
                f"counts must have shape ({self.n_items_}, {len(self.classes_)}), items by classes, got "
                f"{table.shape}."
            )
        return self._quality_by(table, confidence_level, rng)

    def _quality_by(self, counts: AnyArray, level: float, rng: np.random.Generator) -> Quality:
        several = len(self.classes_) > 1  # of one class alone the posterior keeps two
        return estimate_quality(
            self.predict_proba(),
            counts,
            posterior=self._fitted_blend().posterior if several else None,
            confidence_level=level,
            rng=rng,
        )

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
        rng = validation.generator(self.random_state if random_state is None else random_state)
        return self._forecast(more, level, rng)
