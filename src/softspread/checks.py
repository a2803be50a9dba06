"""What a user hands us -> arrays we trust. The only validation code; every message says what to do."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import check_array, check_random_state

from softspread.data import AnyArray, FloatArray, IntArray
from softspread.errors import InputError

SHOWN = 5  # how many offending values an error names


def features(X: Any) -> AnyArray:
    """A finite (n, d) float array; single precision stays single."""
    try:
        return np.asarray(check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=1, input_name="X"))
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def alpha(value: Any) -> float:
    """A spreading intensity in [0, 1)."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not 0 <= value < 1:
        raise InputError(f"alpha must be at least 0 and below 1, got {value!r}; 0 means no spreading, try 0.9.")
    return float(value)


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not 0 < value < np.inf
    ):
        raise InputError(f"{name} must be a positive number, got {value!r}.")
    return float(value)


def not_negative(name: str, value: Any) -> float:
    """A finite number, 0 or above."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | np.integer | np.floating)
        or not 0 <= value < np.inf
    ):
        raise InputError(f"{name} must be 0 or a positive number, got {value!r}.")
    return float(value)


def between_0_and_1(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not 0 < value < 1:
        raise InputError(f"{name} must lie strictly between 0 and 1, got {value!r}.")
    return float(value)


def count(name: str, value: Any, smallest: int = 0) -> int:
    """A whole number, ``smallest`` or above."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < smallest:
        raise InputError(f"{name} must be a whole number, at least {smallest}, got {value!r}.")
    return int(value)


def choice(name: str, value: Any, allowed: Sequence[str], otherwise: str = "") -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise InputError(f"{name} must be one of {words}{' ' + otherwise if otherwise else ''}, got {value!r}.")
    return value


def generator(random_state: Any) -> np.random.Generator:
    """The one place where a seed becomes a generator; generators of numpy's old and new kind are accepted too."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, numbers.Integral):
        return np.random.default_rng(None if random_state is None else int(random_state))
    try:
        return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(f"random_state must be None, a whole number or a generator, got {random_state!r}.") from error


def names(values: Any, what: str) -> AnyArray:
    """Ids or class names as a flat array that keeps their types; missing ones are refused."""
    array = _flat(values, what)
    missing = np.flatnonzero(pd.isna(array))
    if len(missing):
        raise InputError(
            f"{what} number {missing[0]} (counted from 0) is missing; {len(missing)} in all. Remove these rows."
        )
    if array.dtype.kind == "f" and (array == np.round(array)).all():
        return array.astype(np.int64)  # a column of whole numbers that passed through a float, as pandas does
    return array


def _flat(values: Any, what: str) -> AnyArray:
    if isinstance(values, pd.Series | pd.Index):
        values = values.to_numpy()
    if not isinstance(values, np.ndarray):
        values = list(values) if not isinstance(values, str | bytes) else [values]
        # numpy would turn [1, "a"] into two strings; an array of objects keeps both as they are
        kinds = {
            str
            if isinstance(v, str)
            else bool
            if isinstance(v, bool | np.bool_)
            else numbers.Number
            if isinstance(v, numbers.Number)
            else type(v)
            for v in values
        }
        array = np.asarray(values) if len(kinds) == 1 and kinds <= {str, bool, numbers.Number} else _objects(values)
    else:
        array = values
    if array.ndim != 1:
        raise InputError(f"{what}s must be a flat list, got shape {array.shape}.")
    return _objects(array.tolist()) if array.dtype.kind not in "biufUO" else array


def _objects(values: Sequence[Any]) -> AnyArray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def distinct_sorted(values: AnyArray) -> AnyArray:
    """The distinct values in order; values that cannot be compared are sorted by type, then by text."""
    try:
        return np.unique(values)
    except TypeError:
        return _objects(sorted(set(values.tolist()), key=lambda value: (type(value).__name__, str(value))))


def class_names(classes: Any) -> AnyArray:
    """A given, ordered list of distinct class names."""
    array = names(classes, "class")
    if pd.Index(array).has_duplicates:
        raise InputError(f"classes must be distinct, got {array.tolist()[:20]}.")
    return array


def item_ids(ids: Any, n: int) -> AnyArray:
    """One distinct id per item."""
    array = names(ids, "item id")
    if len(array) != n:
        raise InputError(f"item_ids must name each of the {n} items, got {len(array)} ids.")
    twice = pd.Index(array).duplicated()
    if twice.any():
        raise InputError(f"item_ids must be distinct; {_first(array[twice])} appear more than once.")
    return array


def rows_of_items(items: AnyArray, ids: AnyArray | None, n: int) -> IntArray:
    """The row of each named item: a position where there are no ids."""
    if ids is not None:
        rows = np.asarray(pd.Index(ids).get_indexer(pd.Index(items)), dtype=np.int64)
        if (rows < 0).any():
            unknown = int((rows < 0).sum())
            raise InputError(
                f"{_first(items[rows < 0])} are not among the {n} item ids; {unknown} votes name unknown items."
            )
        return rows
    if items.dtype.kind not in "iu":
        raise InputError(
            f"items must be positions from 0 to {n - 1} when no item_ids are given, got {items.tolist()[:SHOWN]}; "
            "pass item_ids to use names."
        )
    outside = (items < 0) | (items >= n)
    if outside.any():
        raise InputError(f"{_first(items[outside])} are no positions of the {n} items; allowed are 0 to {n - 1}.")
    return items.astype(np.int64)


def columns_of_labels(labels: AnyArray, classes: AnyArray) -> IntArray:
    """The column of each label; a label that is no class is refused."""
    columns = np.asarray(pd.Index(classes).get_indexer(pd.Index(labels)), dtype=np.int64)
    if (columns < 0).any():
        raise InputError(f"{_first(labels[columns < 0])} are not among the classes {classes.tolist()[:20]}.")
    return columns


def vote_weights(weights: Any, n_votes: int) -> FloatArray:
    """One finite number per vote; None = 1 each. A negative weight takes votes back."""
    if weights is None:
        return np.ones(n_votes)
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"weights must be numbers, got {weights!r}.") from error
    if array.ndim == 0:
        array = np.full(n_votes, float(array))
    if array.shape != (n_votes,):
        raise InputError(f"weights must be one number per vote ({n_votes}), got shape {array.shape}.")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise InputError(f"weights must be finite, got {array[bad[0]]} for vote {bad[0]} (counted from 0).")
    return array


def prior(values: Any, n: int, n_classes: int) -> FloatArray:
    """(n, n_classes) or (n_classes,) probabilities, rows scaled to sum 1."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("a prior must hold numbers.") from error
    if array.shape == (n_classes,):
        array = np.broadcast_to(array, (n, n_classes))
    if array.shape != (n, n_classes):
        raise InputError(f"a prior must have shape ({n}, {n_classes}) or ({n_classes},), got {array.shape}.")
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError("a prior must be finite and not negative.")
    sums = array.sum(axis=1, keepdims=True)
    if (sums == 0).any():
        raise InputError(
            f"row {int(np.flatnonzero(sums[:, 0] == 0)[0])} of the prior sums to 0; every item needs some probability."
        )
    return np.asarray(array / sums)


def _first(values: AnyArray) -> str:
    shown = [repr(value) for value in pd.unique(pd.Series(values))[: SHOWN + 1].tolist()]
    return ", ".join(shown[:SHOWN]) + (", ..." if len(shown) > SHOWN else "")
