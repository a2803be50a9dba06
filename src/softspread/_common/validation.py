"""User input -> arrays we trust. The only validation code; every message says what to do."""

import math
import numbers
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils import check_array, check_random_state

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.errors import InputError

SHOWN = 5  # how many offending values an error names
MOST_DENSE_BYTES = 2 * 2**30  # of sparse features as an array: 40,000 texts with 6,700 words
LARGEST_FEATURE = 1e150  # squared distances between larger values overflow
WHOLE_FLOATS = 2**53  # up to here every whole number is a float


def features(X: Any, name: str = "X") -> AnyArray:
    """A finite (n, d) float array; single precision stays single. Errors call it ``name``."""
    refuse_path(X, name)
    X = dense(X, name)
    try:
        array = np.asarray(
            check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=1, input_name=name)
        )
    except ValueError as error:
        raise InputError(problem_of_features(error, X, name)) from error
    return not_too_large(array, name)


def refuse_path(X: Any, name: str = "X") -> None:
    """Features are an array, not the path of a file."""
    if isinstance(X, str | Path):
        raise InputError(
            f"{name} is a path ({str(X)[:80]}). Read it with read_embeddings; only "
            "ProbabilisticLabelSpreading fits files in parts, with out='soft.parquet'."
        )


def problem_of_features(error: ValueError, X: Any, name: str = "X") -> str:
    """What scikit-learn says is wrong; of gaps where they are, and what to do."""
    problem = str(error)
    if "contains NaN" not in problem and "contains infinity" not in problem:
        return problem if name in problem else f"{name}: {problem}"
    bad = np.flatnonzero(~np.isfinite(np.asarray(X, dtype=np.float64)).all(axis=1))
    return (
        f"{problem.splitlines()[0].rstrip('.')}: {len(bad):,} of {len(X):,} rows hold NaN or infinity, the "
        f"first is row {bad[0]} (counted from 0). Remove these items, or fill the gaps, as "
        "sklearn.impute.SimpleImputer does."
    )


def dense(X: Any, name: str = "X", most_bytes: float = MOST_DENSE_BYTES) -> Any:
    """Sparse features as an array, since neighbours are searched among dense vectors; all else as it came."""
    if not issparse(X):
        return X
    size = math.prod(X.shape) * (4 if X.dtype == np.float32 else 8)
    if size > most_bytes:
        raise InputError(
            f"{name} is sparse, and as the dense vectors among which neighbours are searched it would take "
            f"{size / 2**30:.3g} GiB, more than {most_bytes / 2**30:g}; reduce it first: "
            "make_pipeline(TruncatedSVD(50), SoftLabeler()), or softspread.embed for texts."
        )
    return X.toarray()


def not_too_large(X: AnyArray, name: str = "X") -> AnyArray:
    """Features whose squared distances are finite."""
    largest = max(abs(float(X.max())), abs(float(X.min())))
    if largest > LARGEST_FEATURE:
        raise InputError(
            f"{name} holds values up to {largest:.0e}, whose squared distances overflow; scale the features."
        )
    return X


def _number(value: Any, is_allowed: Callable[[float], bool], problem: str) -> float:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not is_number or not is_allowed(value):
        raise InputError(problem)
    return float(value)


def alpha(value: Any) -> float:
    """A spreading intensity in [0, 1)."""
    problem = f"alpha must be at least 0 and below 1, got {value!r}; 0 means no spreading, try 0.9."
    return _number(value, lambda number: 0 <= number < 1, problem)


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    problem = f"{name} must be a positive number, got {value!r}."
    return _number(value, lambda number: 0 < number < np.inf, problem)


def not_negative(name: str, value: Any) -> float:
    """A finite number, 0 or above."""
    problem = f"{name} must be 0 or a positive number, got {value!r}."
    return _number(value, lambda number: 0 <= number < np.inf, problem)


def between_0_and_1(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    problem = f"{name} must lie strictly between 0 and 1, got {value!r}."
    return _number(value, lambda number: 0 < number < 1, problem)


def count(name: str, value: Any, smallest: int = 0) -> int:
    """A whole number, ``smallest`` or above."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < smallest:
        raise InputError(f"{name} must be a whole number, at least {smallest}, got {value!r}.")
    return int(value)


def choice(name: str, value: Any, allowed: Sequence[str], otherwise: str = "") -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise InputError(
            f"{name} must be one of {words}{' ' + otherwise if otherwise else ''}, got {value!r}."
        )
    return value


def generator(random_state: Any) -> np.random.Generator:
    """Turn a seed into a generator; the one place where this happens.

    Generators of numpy's old and new kind are accepted too.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    try:
        if random_state is None or (
            isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool)
        ):
            return np.random.default_rng(None if random_state is None else int(random_state))
        return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(
            f"random_state must be None, a whole number or a generator, got {random_state!r}."
        ) from error


def names(values: Any, what: str) -> AnyArray:
    """Ids or class names as a flat array that keeps their types; missing ones are refused."""
    array = _flat(values, what)
    missing = np.flatnonzero(pd.isna(array))
    if len(missing):
        raise InputError(
            f"{what} number {missing[0]} (counted from 0) is missing; {len(missing)} in all. Remove these "
            "rows."
        )
    if array.dtype == object:
        array = _plain_objects(array, what)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            raise InputError(
                f"{what} number {np.flatnonzero(np.isinf(array))[0]} (counted from 0) is infinite."
            )
        if (array == np.round(array)).all() and (np.abs(array) <= WHOLE_FLOATS).all():
            return array.astype(
                np.int64
            )  # a column of whole numbers that passed through a float, as pandas does
    return array


def labels_or_counts(y: Any) -> AnyArray:
    """The y of ``fit`` as an array.

    A flat list keeps numbers beside text; pandas' missing values become None.
    """
    if isinstance(y, pd.Series) and isinstance(y.dtype, pd.api.extensions.ExtensionDtype):
        return y.astype(object).to_numpy()
    try:
        table = np.asarray(y)
    except ValueError as error:
        raise InputError(f"y must be labels (n,), counts (n, n_classes) or Votes ({error}).") from error
    return (
        _flat(y, "label") if table.ndim == 1 and isinstance(y, list | tuple | pd.Series | pd.Index) else table
    )


def annotator_names(values: Any) -> AnyArray | None:
    """Names of annotators, None where a vote has none; None instead of an array where no vote has one."""
    array = _flat(values, "annotator")
    named = ~pd.isna(array)
    if named.all():
        return names(array, "annotator")
    if not named.any():
        return None
    out = np.full(len(array), None, dtype=object)
    out[named] = objects(names(array[named], "annotator").tolist())
    return out


def lookup(values: AnyArray) -> "pd.Index[Any]":
    """An index over names in which a tuple is one name."""
    return pd.Index(values, tupleize_cols=False)


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
        if len(kinds) == 1 and kinds <= {str, bool, numbers.Number}:
            array = np.asarray(values) if kinds != {numbers.Number} else _numbers_or_objects(values)
        else:
            array = objects(values)
    else:
        array = values.copy()  # later changes of the caller's array must not change votes
    if array.ndim != 1:
        raise InputError(f"{what}s must be a flat list, got shape {array.shape}.")
    return objects(array.tolist()) if array.dtype.kind not in "biufUO" else array


def _plain_objects(array: AnyArray, what: str) -> AnyArray:
    """Hashable objects; nothing but numbers becomes an array of numbers, as pandas' nullable columns need."""
    try:
        set(array.tolist())
    except TypeError as error:
        raise InputError(f"{what}s must be plain values such as numbers or strings ({error}).") from error
    if len(array) and all(isinstance(v, numbers.Real) and not isinstance(v, bool | np.bool_) for v in array):
        return _numbers_or_objects(array.tolist())
    return array


def _numbers_or_objects(values: Sequence[Any]) -> AnyArray:
    """An array of numbers, unless that would round one of them.

    numpy turns whole numbers beyond 64 bits into floats.
    """
    array = np.asarray(values)
    if array.dtype.kind == "f" and any(
        isinstance(v, numbers.Integral) and abs(int(v)) > WHOLE_FLOATS for v in values
    ):
        return objects(values)
    return array


def objects(values: Sequence[Any] | AnyArray) -> AnyArray:
    """A flat array of Python objects, also where the values are tuples or lists."""
    values = values.tolist() if isinstance(values, np.ndarray) else values
    array = np.empty(len(values), dtype=object)
    for position, value in enumerate(values):  # a slice assignment would unpack tuples
        array[position] = value
    return array


def distinct_sorted(values: AnyArray) -> AnyArray:
    """The distinct values in order; values that cannot be compared are sorted by type, then by text."""
    try:
        return np.unique(values)
    except TypeError:
        return objects(sorted(set(values.tolist()), key=lambda value: (type(value).__name__, str(value))))


def class_names(classes: Any) -> AnyArray:
    """A given, ordered list of distinct class names."""
    array = names(classes, "class")
    if lookup(array).has_duplicates:
        raise InputError(f"classes must be distinct, got {array.tolist()[:20]}.")
    return array


def item_ids(ids: Any, n: int) -> AnyArray:
    """One distinct id per item."""
    array = names(ids, "item id")
    if len(array) != n:
        raise InputError(f"item_ids must name each of the {n} items, got {len(array)} ids.")
    twice = lookup(array).duplicated()
    if twice.any():
        raise InputError(f"item_ids must be distinct; {_first(array[twice])} appear more than once.")
    return array


def rows_of_items(items: AnyArray, ids: "AnyArray | pd.Index[Any] | None", n: int) -> IntArray:
    """The row of each named item: a position where there are no ids."""
    if ids is not None:
        index = ids if isinstance(ids, pd.Index) else lookup(ids)
        rows = np.asarray(index.get_indexer(lookup(items)), dtype=np.int64)
        if (rows < 0).any():
            rows = _rows_by_text(items, index, rows)
        if (rows < 0).any():
            unknown = int((rows < 0).sum())
            raise InputError(
                f"{_first(items[rows < 0])} are not among the {n} item ids; {unknown} votes name unknown "
                "items."
            )
        return rows
    if len(items) == 0:
        return np.empty(0, dtype=np.int64)
    if items.dtype.kind not in "iu":
        raise InputError(
            f"items must be positions from 0 to {n - 1} when no item_ids are given, got "
            f"{items.tolist()[:SHOWN]}; pass item_ids to use names."
        )
    outside = (items < 0) | (items >= n)
    if outside.any():
        raise InputError(
            f"{_first(items[outside])} are not positions of the {n} items; allowed are 0 to {n - 1}."
        )
    return items.astype(np.int64)


def _rows_by_text(items: AnyArray, index: "pd.Index[Any]", rows: IntArray) -> IntArray:
    """Also find items by what they are written as: 7 is "7", but not "007"."""
    text = pd.Index([str(name) for name in index], dtype=object)
    if not text.is_unique:
        return rows
    missing = rows < 0
    rows[missing] = text.get_indexer(pd.Index([str(name) for name in items[missing]], dtype=object))
    return rows


def columns_of_labels(labels: AnyArray, classes: AnyArray) -> IntArray:
    """The column of each label; a label that is not a class is refused."""
    columns = np.asarray(lookup(classes).get_indexer(lookup(labels)), dtype=np.int64)
    if (columns < 0).any():
        raise InputError(f"{_first(labels[columns < 0])} are not among the classes {classes.tolist()[:20]}.")
    return columns


def vote_weights(weights: Any, n_votes: int, name: str = "weights") -> FloatArray:
    """One finite number per vote; None = 1 each. A negative weight takes votes back."""
    if weights is None:
        return np.ones(n_votes)
    array = table_of_numbers(weights, f"{name} must be numbers, got {weights!r}.")
    if np.asarray(weights).dtype.kind == "b":
        raise InputError(f"{name} must be numbers, got {weights!r}; leave votes out instead of marking them.")
    if array.ndim == 0:
        array = np.full(n_votes, float(array))
    if array.shape != (n_votes,):
        raise InputError(f"{name} must be one number per vote ({n_votes}), got shape {array.shape}.")
    bad = np.flatnonzero(~np.isfinite(array))
    if len(bad):
        raise InputError(f"{name} must be finite, got {array[bad[0]]} for vote {bad[0]} (counted from 0).")
    return array


def table_of_numbers(values: Any, problem: str) -> FloatArray:
    """A copy in double precision; text is refused even where it reads as a number."""
    try:
        raw = np.asarray(values)
        text = raw.dtype.kind not in "biufO" or (
            raw.dtype == object and any(isinstance(v, str) for v in raw.ravel())
        )
        array = None if text else np.array(raw, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(problem) from error
    if array is None:
        raise InputError(problem)
    return array


def prior(values: Any, n: int, n_classes: int) -> FloatArray:
    """(n, n_classes) or (n_classes,) probabilities, rows scaled to sum 1."""
    array = table_of_numbers(values, "a prior must hold numbers.")
    if array.shape == (n_classes,):
        array = np.broadcast_to(array, (n, n_classes))
    if array.shape != (n, n_classes):
        raise InputError(f"a prior must have shape ({n}, {n_classes}) or ({n_classes},), got {array.shape}.")
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError("a prior must be finite and not negative.")
    sums = array.sum(axis=1, keepdims=True)
    if (sums == 0).any():
        raise InputError(
            f"row {int(np.flatnonzero(sums[:, 0] == 0)[0])} of the prior sums to 0; every item needs some "
            "probability."
        )
    return np.asarray(array / sums)


def prior_per_class(values: Any, n_classes: int, n: int | None = None) -> FloatArray:
    """(n, n_classes) or (n_classes,) P(yes) per class, where items may have several; ``n``: rows wanted."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape[-1:] != (n_classes,) or not ((array >= 0) & (array <= 1)).all():
        raise InputError(
            f"a prior for several classes holds P(yes) between 0 and 1, {n_classes} per item; got shape "
            f"{array.shape}."
        )
    if n is None:
        return array
    if array.shape not in ((n_classes,), (n, n_classes)):
        raise InputError(f"a prior must have one row per item ({n}), got shape {array.shape}.")
    return np.array(np.broadcast_to(array, (n, n_classes)))


def _first(values: AnyArray) -> str:
    shown = [repr(value) for value in pd.unique(pd.Series(values))[: SHOWN + 1].tolist()]
    return ", ".join(shown[:SHOWN]) + (", ..." if len(shown) > SHOWN else "")
