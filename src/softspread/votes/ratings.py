"""Ratings: a number on a scale for an item, perhaps by a named person.

(n,) numbers with NaN for none, or a table item, rating, annotator  ->  row, value, annotator of each
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import column_or_1d

from softspread._common import validation
from softspread._common.columns import ANNOTATOR_NAMES, ITEM_NAMES, first_of
from softspread._common.frames import as_frame
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError
from softspread.votes.reading import Names
from softspread.votes.votes import Votes

RATING_NAMES = ("rating", "score", "label")
Scale = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings by row and annotator."""

    rows: IntArray  # (m,)
    values: FloatArray  # (m,)
    annotators: AnyArray | None  # (m,), None where nobody is named
    scale: Scale  # lowest and highest possible, or found


def read_ratings(y: Any, names: Names, scale: Any = None) -> Ratings:
    """Ratings in any accepted form as rows and numbers.

    Parameters
    ----------
    y : (n,) numbers with NaN for none, or a DataFrame with the columns item, rating and perhaps annotator
    names : of the items
    scale : (lowest, highest) that a rating can have; None = those found

    Examples
    --------
    >>> found = read_ratings([2.0, np.nan, 4.0], Names(3, None, np.empty(0)), (1, 5))
    >>> found.rows.tolist(), found.values.tolist(), found.scale
    ([0, 2], [2.0, 4.0], (1.0, 5.0))
    """
    if isinstance(y, Votes):
        raise InputError(
            "these votes name classes; kinds of votes cannot be mixed. Ratings are one number per item with "
            "NaN for none, or a table with the columns item, rating and annotator."
        )
    y = as_frame(y)
    rows, values, annotators = (
        _of_table(y, names) if isinstance(y, pd.DataFrame) else _per_item(y, names.n_items)
    )
    if np.isinf(values).any():
        raise InputError("Input y contains infinity or a value too large; a rating must be a finite number.")
    if not len(values):
        raise InputError("no item has a rating; give at least one.")
    return Ratings(rows, values, annotators, _checked_scale(scale, values, names.items(rows)))


def _per_item(y: Any, n_items: int) -> tuple[IntArray, FloatArray, None]:
    if y is None:
        raise InputError("ratings must be passed: it requires y to be passed, but the target y is None.")
    values = column_or_1d(y, warn=True)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: a rating must be a real number.")
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"ratings must be numbers, with NaN for items that have none ({error}).") from error
    if len(values) != n_items:
        raise InputError(
            f"X has {n_items} items but there are {len(values)} ratings; give NaN where none is."
        )
    rows = np.flatnonzero(~np.isnan(values))
    return rows, values[rows], None


def _of_table(frame: pd.DataFrame, names: Names) -> tuple[IntArray, FloatArray, AnyArray | None]:
    found = [first_of(usual, frame.columns) for usual in (ITEM_NAMES, RATING_NAMES, ANNOTATOR_NAMES)]
    item, rating, annotator = found
    if item is None or rating is None:
        raise InputError(
            f"a table of ratings needs the columns item and rating, got {list(frame.columns)[:10]}."
        )
    values = pd.to_numeric(frame[rating], errors="coerce").to_numpy(dtype=np.float64)
    wrong = np.isnan(values) & frame[rating].notna().to_numpy()
    if wrong.any():
        raise InputError(f"a rating must be a number, got {frame[rating][wrong].tolist()[:3]}.")
    given = ~np.isnan(values)
    who = None if annotator is None else validation.annotator_names(frame[annotator][given])
    return names.rows(frame[item][given]), values[given], who


def _checked_scale(scale: Any, values: FloatArray, items: AnyArray) -> Scale:
    if scale is None:
        return float(values.min()), float(values.max())
    try:
        low, high = (float(end) for end in scale)
    except (TypeError, ValueError) as error:
        raise InputError(f"scale must be (lowest, highest), such as (1, 5), got {scale!r}.") from error
    if not low < high:
        raise InputError(f"scale must rise from its lowest to its highest rating, got {scale!r}.")
    outside = np.flatnonzero((values < low) | (values > high))
    if len(outside):
        first = outside[0]
        raise InputError(
            f"{len(outside):,} of {len(values):,} ratings are outside the scale {low:g} to {high:g}, such as "
            f"{values[first]:g} for item {items.tolist()[first]!r}; correct them, or give another scale."
        )
    return low, high
