"""One vote per person and item stands: the last. The one place where this is decided.

    votes as they were cast, in order  ->  VoteTable of those that stand, which remembers the others

Only a name tells that two votes come from the same person: votes without one count each. The parts of a soft
vote are one vote. A vote taken back no longer stands, and the one before it stands again. The voting page
follows the same rule: it refuses a second vote until the first is taken back.
"""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.errors import SoftspreadWarning
from softspread.votes.table import ROUNDING, WHOLE_VOTE, VoteTable

LAST, KEEP = "last", "keep"
REPEATS = (LAST, KEEP)  # what to do with further votes of the same person on the same item


def votes_that_stand(
    cast: VoteTable, repeats: str = LAST, times: AnyArray | None = None, *, stacklevel: int = 3
) -> VoteTable:
    """Of each person's votes on an item the last; a warning says how many others there are.

    Parameters
    ----------
    cast : votes, negative weights for those taken back
    repeats : "last", or "keep" to count all votes
    times : (m,) when they were cast, where known for all; else they were cast in their order
    stacklevel : of the warning

    Returns
    -------
    VoteTable
        ``cast`` itself where nobody voted twice. Otherwise another table, whose ``cast`` holds all votes in
        the order of time.

    Examples
    --------
    >>> votes = VoteTable(np.zeros(3, int), np.array([0, 1, 1]), np.ones(3), np.array(["ann", "ann", "bob"]))
    >>> standing, n_replaced = last_votes(votes)
    >>> standing.columns.tolist(), standing.annotators.tolist(), len(standing.cast), n_replaced
    ([1, 1], ['ann', 'bob'], 3, 1)
    """
    cast.repeats = validation.choice("repeats", repeats, REPEATS)
    standing, n_replaced = last_votes(cast, times)
    if n_replaced:
        n_votes = int(np.count_nonzero(cast.weights > 0))
        warn_of_repeats(
            f"{n_replaced:,} of {n_votes:,} votes are earlier votes of the same person on the same item",
            stacklevel + 1,
        )
    return standing


def warn_of_repeats(what: str, stacklevel: int) -> None:
    """Say that only the last vote stands, and how to count all."""
    warnings.warn(
        f"{what}: only the last one stands. repeats='keep' (--repeats keep) counts them all.",
        SoftspreadWarning,
        stacklevel=stacklevel,
    )


def last_votes(cast: VoteTable, times: AnyArray | None = None) -> tuple[VoteTable, int]:
    """The votes that stand, see :func:`votes_that_stand`, and how many were replaced by later ones."""
    if cast.repeats == KEEP or cast.annotators is None or not len(_repeated(cast)):
        return cast, 0
    order = _order(times)
    ordered = cast if order is None else cast.take(order)
    left, n_replaced = _weights_that_stand(ordered, _repeated(ordered))
    if not n_replaced:
        return cast, 0
    standing = ordered.with_weights(left).take(left != 0)
    standing.cast, standing.repeats, ordered.repeats = ordered, cast.repeats, cast.repeats
    return standing, n_replaced


def change(before: VoteTable, after: VoteTable) -> VoteTable:
    """The votes to add to ``before``, negative ones to take away, so that it counts like ``after``."""
    both = VoteTable.empty()
    for table, sign in ((before, -1.0), (after, 1.0)):
        both.append(table.with_weights(sign * table.weights))
    who = np.zeros(len(both)) if both.annotators is None else _codes(both)
    cells = pd.DataFrame({"row": both.rows, "column": both.columns, "who": who})
    cell = cells.groupby(["row", "column", "who"], sort=False).ngroup().to_numpy()
    total = np.bincount(cell, both.weights).astype(np.float64, copy=False)
    turnover = np.bincount(cell, np.abs(both.weights))
    differs = np.abs(total) > ROUNDING * turnover
    first = np.unique(cell, return_index=True)[1]
    return both.take(first[differs]).with_weights(total[differs])


def _codes(votes: VoteTable) -> IntArray:
    """(m,) a number for each annotator, -1 without a name."""
    return np.asarray(pd.factorize(pd.Series(votes.annotators, dtype=object))[0])


def _pairs(votes: VoteTable) -> IntArray:
    """(m,) a number for each person and item, -1 without a name."""
    codes = _codes(votes)
    width = int(codes.max(initial=-1)) + 1
    return np.asarray(np.where(codes < 0, -1, votes.rows * max(1, width) + codes))


def _repeated(votes: VoteTable) -> IntArray:
    """Numbers of the rows of a person and item with more than one vote, or with one taken back beside it."""
    pair = _pairs(votes)
    cast = np.flatnonzero((pair >= 0) & (votes.weights > 0))
    _, place, number = np.unique(pair[cast], return_inverse=True, return_counts=True)
    if not (number > 1).any():
        return np.empty(0, np.int64)
    weight = votes.weights[cast]
    total = np.bincount(place, weight)
    cells = place * (int(votes.columns.max()) + 1) + votes.columns[cast]
    distinct = np.bincount(place[np.unique(cells, return_index=True)[1]], minlength=len(number))
    one_soft_vote: BoolArray = (distinct == number) & (total <= 1 + WHOLE_VOTE)
    several = np.unique(pair[cast[((number > 1) & ~one_soft_vote)[place]]])
    return np.flatnonzero(np.isin(pair, several))


def _weights_that_stand(votes: VoteTable, repeated: IntArray) -> tuple[FloatArray, int]:
    """(m,) weights, 0 for all rows of a repeated vote but the last that stands; how many were replaced."""
    left = votes.weights.copy()
    left[repeated] = 0.0
    pairs = _pairs(votes)[repeated]
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    n_replaced = 0
    for rows in np.split(repeated[order], starts[1:]):
        casts = _casts(votes, rows)
        n_replaced += max(0, len(casts) - 1)
        for row, weight in casts[-1].items() if casts else ():
            left[row] = weight
    return left, n_replaced


def _casts(votes: VoteTable, rows: IntArray) -> list[dict[int, float]]:
    """One person's votes on one item that nobody took back, in order: rows and what is left of them."""
    casts: list[dict[int, float]] = []
    columns = dict(zip(rows.tolist(), votes.columns[rows].tolist(), strict=True))
    for row, weight in zip(rows.tolist(), votes.weights[rows].tolist(), strict=True):
        if weight < 0:
            _take_back(casts, columns, columns[row], -weight)
        elif casts and _belongs(casts[-1], columns, columns[row], weight):
            casts[-1][row] = weight
        else:
            casts.append({row: weight})
    return casts


def _belongs(cast: dict[int, float], columns: dict[int, int], column: int, weight: float) -> bool:
    """Whether a row is a further part of a soft vote: another class, and not more than one vote in all."""
    return (
        weight < 1
        and all(columns[row] != column for row in cast)
        and sum(cast.values()) + weight <= 1 + WHOLE_VOTE
    )


def _take_back(casts: list[dict[int, float]], columns: dict[int, int], column: int, weight: float) -> None:
    """Take weight of a class away, from the latest votes first; a vote without weight is gone."""
    asked = weight
    for cast in reversed(list(casts)):
        for row in [row for row in cast if columns[row] == column]:
            taken = min(weight, cast[row])
            weight -= taken
            cast[row] -= taken
            if cast[row] <= ROUNDING * asked:
                del cast[row]
        if not cast:
            casts.remove(cast)
        if weight <= ROUNDING * asked:
            return


def _order(times: AnyArray | None) -> IntArray | None:
    """The votes by time; None where times are unknown, of some, or no times at all."""
    if times is None or pd.isna(times).any():
        return None
    values: Any = pd.Series(times)
    if values.dtype == object or isinstance(values.dtype, pd.StringDtype):
        try:
            values = pd.to_datetime(values, utc=True, format="ISO8601")
        except (ValueError, TypeError):
            return None
    return np.asarray(np.argsort(values.to_numpy(), kind="stable"))
