"""How much each vote counts, also for votes that come or go after the fit.

votes as cast  ->  weight * factor of the annotator  ->  one row per class where votes became soft
"""

from functools import cached_property

import numpy as np
import pandas as pd

from softspread._common.types import IntArray
from softspread.annotators.report import AnnotatorFit
from softspread.votes.table import VoteTable

LEAST_PART = 1e-6  # of a soft vote: smaller parts change no soft label and cost time
TRUSTED_WEIGHT = 0.25  # half as consistent as those who follow the crowd


class Weighting:
    """The factors of a fit, applied to any votes."""

    def __init__(self, fit: AnnotatorFit, votes: VoteTable) -> None:
        """``votes`` are those of the fit."""
        self.fit = fit
        self._votes = votes.take(slice(len(votes)))  # the table of an estimator grows

    def weigh(self, votes: VoteTable) -> VoteTable:
        """The same votes with their annotators' weights, for the classes they name."""
        return votes.with_weights(votes.weights * self.fit.weights_for(votes.annotators, len(votes)))

    def moved(self, place: IntArray) -> "Weighting":
        """The same after items went: ``place`` is the new row of every item, -1 for those without votes."""
        return Weighting(self.fit, self._votes.moved(place))

    def trusted(self, votes: VoteTable) -> VoteTable:
        """The votes of those who mostly vote with the crowd, as they were cast."""
        return votes.take(self.fit.weights_for(votes.annotators, len(votes)) >= TRUSTED_WEIGHT)

    def apply(self, votes: VoteTable) -> VoteTable:
        """The votes with the weights they count with; a soft vote becomes one row per class.

        A vote of an annotator for an item and a class seen in the fit counts as it did there, so that taking
        it back leaves nothing; any other counts for the class it names, with its annotator's weight.
        """
        weighed = self.weigh(votes)
        if self.fit.soft_votes is None or votes.annotators is None or not len(votes):
            return weighed
        n_classes = max(self.fit.soft_votes.shape[1], int(votes.columns.max()) + 1)
        parts = np.zeros((len(votes), n_classes))
        parts[np.arange(len(votes)), votes.columns] = 1.0
        seen = self._seen(votes)
        parts[seen >= 0] = 0.0
        parts[seen >= 0, : self.fit.soft_votes.shape[1]] = self.fit.soft_votes[seen[seen >= 0]]
        at, columns = np.nonzero(parts > LEAST_PART)
        return VoteTable(
            votes.rows[at], columns, weighed.weights[at] * parts[at, columns], votes.annotators[at]
        )

    def _seen(self, votes: VoteTable) -> IntArray:
        """(len(votes),) a row of the fit with the same item, class and annotator, -1 where there is none."""
        keys, numbers = self._fitted
        found = keys.get_indexer(_keys(votes))
        return np.where(found >= 0, numbers[found], -1)

    @cached_property
    def _fitted(self) -> tuple[pd.MultiIndex, IntArray]:
        """Distinct keys of the votes of the fit, and the row of each."""
        keys = _keys(self._votes)
        last = ~keys.duplicated(keep="last")
        return keys[last], np.flatnonzero(last)


def _keys(votes: VoteTable) -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([votes.rows, votes.columns, np.asarray(votes.annotators, dtype=object)])
