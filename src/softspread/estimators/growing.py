"""Items that come and go after a fit: their names, their prior and the votes on them.

add_items, remove_items  ->  names, prior, votes by their new rows  ->  each estimator's own part
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.places import places
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread._common.wording import counted
from softspread.errors import InputError
from softspread.estimators.base import VotesEstimator, names_of
from softspread.votes.reading import Names
from softspread.votes.table import joined


class GrowingEstimator(VotesEstimator):
    """An estimator whose items come and go."""

    def _take_in(self, new: AnyArray) -> None:
        """Follow new items, whose names and prior are there already."""
        raise NotImplementedError  # pragma: no cover

    def _let_go(self, keep: BoolArray, votes_lost: bool) -> None:
        """Follow the items that stay, a mask over the rows before; names, prior and votes are there."""
        raise NotImplementedError  # pragma: no cover

    def add_items(
        self, X: ArrayLike, item_ids: ArrayLike | None = None, *, prior: ArrayLike | None = None
    ) -> Self:
        """Add items that have no votes yet.

        They join the graph, where old items get new neighbours if these are nearer. What the fit has chosen
        or learned stays until the next one.

        Parameters
        ----------
        X : (m, d) array-like
            Features of the new items; their rows follow those of the fitted ones.
        item_ids : (m,) array-like, optional
            Their names, if the fitted items have names; none of them may be known.
        prior : (m, n_classes) array-like, optional
            Their prior, if the estimator was given one per item.

        Returns
        -------
        self
            The estimator with more items. If anything is refused it stays as it was.

        See Also
        --------
        remove_items : The inverse.
        update : Votes on the new items.
        partial_fit : New items and their votes by another fit.

        Examples
        --------
        >>> from softspread import ProbabilisticLabelSpreading
        >>> est = ProbabilisticLabelSpreading(n_neighbors=1).fit([[0.0], [1.0], [9.0]], [0, -1, 1])
        >>> est.add_items([[1.5], [9.5]]).predict().tolist()
        [0, 0, 1, 0, 1]
        """
        check_is_fitted(self)
        with self._unchanged_on_failure():
            new = self._features_of_newcomers(X)
            ids = names_of(X) if item_ids is None and self.item_ids_ is not None else item_ids
            names = self._names_of_newcomers(ids, len(new))
            more = self._prior_of_newcomers(prior, names)
            new_ids = names.item_ids
            all_ids = None if new_ids is None else joined(np.asarray(self.item_ids_), new_ids)
            self._use_names(Names(self.n_items_ + len(new), all_ids, self.classes_))
            self.prior_ = np.concatenate([self.prior_, more])
            self._items_moved = True
            self._take_in(new)
        return self

    def remove_items(self, items: ArrayLike, *, drop_votes: bool = False) -> Self:
        """Take items out again; their neighbours get their next nearest ones.

        Parameters
        ----------
        items : (m,) array-like, or one item
            Ids of the items, or positions where items have no ids. Later positions move up.
        drop_votes : bool, default False
            Also remove items that have votes, with these votes. Everything is then learned again.

        Returns
        -------
        self
            The estimator with fewer items. If anything is refused it stays as it was.

        See Also
        --------
        add_items : The inverse.
        undo : Takes back votes and leaves the items.

        Examples
        --------
        >>> from softspread import ProbabilisticLabelSpreading
        >>> est = ProbabilisticLabelSpreading(n_neighbors=1).fit([[0.0], [1.0], [9.0]], [0, -1, 1])
        >>> est.remove_items(1).predict().tolist()
        [0, 1]
        """
        check_is_fitted(self)
        rows = self._rows_to_remove([items] if np.ndim(items) == 0 else items)
        keep = np.ones(self.n_items_, dtype=bool)
        keep[rows] = False
        if not keep.any():
            raise InputError(f"cannot remove all {self.n_items_} items; at least one must stay.")
        voted = rows[self._has_votes(rows)]
        if len(voted) and not drop_votes:
            raise InputError(
                f"votes were cast on {counted(len(voted), 'item')} to remove, such as "
                f"{self._names.items(voted[:1]).tolist()[0]!r}; drop_votes=True removes these votes as well. "
                "Nothing was removed."
            )
        with self._unchanged_on_failure():
            ids = None if self.item_ids_ is None else self.item_ids_[keep]
            self._use_names(Names(int(keep.sum()), ids, self.classes_))
            self.prior_ = self.prior_[keep]
            self._votes = self._votes.moved(places_of(keep))
            self._items_moved = True
            self._let_go(keep, bool(len(voted)))
        return self

    def _has_votes(self, rows: IntArray) -> BoolArray:
        """(m,) whether votes were cast on these items."""
        return np.asarray(self.vote_counts_[rows].any(axis=1))

    def _rows_to_remove(self, items: Any) -> IntArray:
        if self.item_ids_ is None:
            return np.unique(self._names.rows(items))
        given = validation.names(items, "item")
        rows = self._names.known_rows(given)
        if (rows < 0).any():
            raise InputError(
                f"{given[rows < 0].tolist()[0]!r} is not among the {self.n_items_} item ids. Nothing was "
                "removed."
            )
        return np.unique(rows)

    def _names_of_newcomers(self, ids: Any, n: int) -> Names:
        if (ids is None) != (self.item_ids_ is None):
            raise InputError(
                "the fitted items have no names, so new items can have none; leave item_ids out."
                if self.item_ids_ is None
                else "the fitted items have names, so new items need item_ids as well."
            )
        if ids is None:
            return Names(n, None, self.classes_)
        given = validation.item_ids(ids, n)
        known = given[self._names.known_rows(given) >= 0]
        if len(known):
            raise InputError(
                f"{counted(len(known), 'id')} of new items are known already, such as {known.tolist()[0]!r}; "
                "pass only items that are new. Nothing was added."
            )
        return Names(n, given, self.classes_)

    def _prior_of_newcomers(self, given: Any, names: Names) -> FloatArray:
        if given is not None and self.prior is None:
            raise InputError("the estimator was given no prior, so new items can have none; leave prior out.")
        if given is not None:
            return names.prior(given)
        if np.ndim(self.prior) == 2:
            raise InputError("the estimator was given a prior per item; pass prior= for the new items, too.")
        return np.broadcast_to(self.prior_[:1], (names.n_items, len(self.classes_)))  # the same for all items


def places_of(keep: BoolArray) -> IntArray:
    """(n,) the new row of every item when some go, -1 for these."""
    return places(np.flatnonzero(keep), len(keep))
