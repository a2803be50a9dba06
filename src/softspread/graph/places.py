"""Places: the points between which Euclidean distances are taken, theory [metric].

euclidean: x        cosine: x / |x|, so that |x - y|^2 becomes 2 (1 - cos(x, y))
inner_product: x / |x| of items that all have one length r, so that |x - y|^2 becomes 2 (1 - x.y / r^2)
a function of the user's: what it makes of x

Everything that measures distances (neighbours, weights, ties of new items, the bias of intervals) does so
between places, so a metric is known here and nowhere else. Among items of different lengths the largest
inner product belongs to whoever is longest, not to who is near, and an item need not be nearest to itself:
no distance has that order, so they are refused.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray
from softspread.errors import InputError
from softspread.graph.registry import COSINE, INNER_PRODUCT, METRICS

Metric = str | Callable[[AnyArray], AnyArray]  # a name, or a function from features to places
SHOWN_ROWS = 5  # of those that have no direction
LENGTH_SPREAD = 0.01  # by which lengths may differ: embeddings in half precision are off by 1e-3


def check_metric(metric: Any) -> Metric:
    """A name of a metric, or a function.

    Examples
    --------
    >>> check_metric("cosine")
    'cosine'
    """
    if callable(metric):
        _check_takes_items(metric)
        places: Metric = metric
        return places
    return validation.choice("metric", metric, METRICS, "or a function from features to places")


def _check_takes_items(place: Callable[..., Any]) -> None:
    """Refuse a function of two items, as other libraries take them for metrics."""
    try:
        arguments = signature(place)
    except ValueError:  # of compiled functions, which may not tell
        return
    try:
        arguments.bind(None)
    except TypeError as error:
        raise InputError(
            f"metric={place!r} cannot be called with the features alone ({error}). It must take features "
            "(n, d) to places (n, m), as numpy.sqrt does; distances between two items at a time are not "
            "taken."
        ) from error


def place_items(X: AnyArray, metric: Metric) -> AnyArray:
    """The places of items, (n, d), in the precision of X."""
    if callable(metric):
        return _places_by(metric, X)
    if metric == INNER_PRODUCT:
        _check_lengths(X)
    return _directions(X, metric) if metric in (COSINE, INNER_PRODUCT) else X


def _places_by(place: Callable[[AnyArray], AnyArray], X: AnyArray) -> AnyArray:
    """The answer of a user's function, if it can be the place of each item whatever the others are."""
    places = np.asarray(place(X))
    if places.ndim != 2 or len(places) != len(X) or places.dtype.kind not in "fiub":
        raise InputError(
            f"metric={place!r} must take features (n, d) to places (n, m) of numbers; of {X.shape} it made "
            f"{places.shape} of {places.dtype}. Distances between two items at a time are not taken."
        )
    if not np.isfinite(places).all():
        raise InputError(f"metric={place!r} must give finite places, got NaN or infinite ones.")
    alone = np.asarray(place(X[:1]))
    if len(X) and not np.allclose(
        alone, places[:1], rtol=1e-4, atol=1e-6 * max(float(np.abs(places).max()), 1)
    ):
        raise InputError(
            f"metric={place!r} must place each item by itself: the first item alone has another place than "
            "among all. What depends on all items, such as their mean, has to be fixed beforehand."
        )
    return places.astype(X.dtype, copy=False)


def _check_lengths(X: AnyArray) -> None:
    largest = max(float(np.abs(X).max(initial=0.0)), np.finfo(np.float64).tiny)
    lengths = np.linalg.norm(np.asarray(X, dtype=np.float64) / largest, axis=1) * largest
    if not len(lengths) or lengths.max() <= lengths.min() * (1 + LENGTH_SPREAD):
        return
    raise InputError(
        f"metric='inner_product' takes items of equal length, and these are from {lengths.min():.4g} to "
        f"{lengths.max():.4g} long: the neighbours of all would be the longest. Use metric='cosine', which "
        "is the same for equal lengths, or metric='euclidean'."
    )


def _directions(X: AnyArray, metric: str) -> AnyArray:
    largest = np.abs(X).max(axis=1, keepdims=True)
    nowhere = np.flatnonzero(largest == 0)
    if len(nowhere):
        shown = ", ".join(map(str, nowhere[:SHOWN_ROWS])) + (", ..." if len(nowhere) > SHOWN_ROWS else "")
        raise InputError(
            f"metric={metric!r} compares directions, and {len(nowhere)} of {len(X)} rows are all zero and "
            f"have none (rows {shown}); leave these items out, or use metric='euclidean'."
        )
    scaled = X / largest  # first to about 1: squares of tiny or huge features would vanish or overflow
    return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True), dtype=X.dtype)
