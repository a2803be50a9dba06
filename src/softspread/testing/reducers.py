"""The requirements on a reducer."""

import json

import numpy as np

from softspread._common.types import FloatArray
from softspread.embedding.reducers.reducer import Features, Reducer
from softspread.embedding.reducers.registry import REDUCERS
from softspread.testing.claims import require, require_close


def check_reducer(reducer: str | type[Reducer], *, dim: int = 3) -> None:
    """Check that a reducer keeps its promises.

    They are those of :class:`~softspread.embedding.reducers.reducer.Reducer`.

    It places fitted and new items as finite numbers in single precision; the same seed gives the same places;
    new items are placed one by one as together; and after saving and loading (``facts`` through JSON,
    ``arrays`` as they are) it answers exactly as before.

    Parameters
    ----------
    reducer : str or class
        A registered name, or the class that would be registered.
    dim : int, default 3
        Dimensions to reduce to; a reducer may keep the features as they are.

    Raises
    ------
    AssertionError
        Naming the first promise that is broken.

    Examples
    --------
    >>> from softspread.testing import check_reducer
    >>> check_reducer("pca")
    """
    kind = REDUCERS.find(reducer)
    F, new = _features(80, 0), _features(7, 1)
    kept = F.copy()
    fitted, places = kind.fit(F, dim, 0)
    require(np.array_equal(F, kept), "features stay as they are")
    require(isinstance(fitted.name, str) and fitted.name, f"a reducer has a name, got {fitted.name!r}")
    widths = (dim, F.shape[1])
    for what, found, n in (("fitted", places, len(F)), ("new", fitted.transform(new), len(new))):
        require(
            found.ndim == 2 and len(found) == n and found.shape[1] in widths,
            f"{n} {what} items have places in {dim} dimensions, got shape {found.shape}",
        )
        require(found.dtype == np.float32, f"places of {what} items are in single precision")
        require(np.isfinite(found).all(), f"places of {what} items are finite")
    require(np.array_equal(kind.fit(F, dim, 0)[1], places), "the same seed gives the same places")
    _check_answers(kind, fitted, new)


def _check_answers(kind: type[Reducer], fitted: Reducer, new: Features) -> None:
    together = fitted.transform(new)
    alone = np.concatenate([fitted.transform(row[None]) for row in new])
    scale = max(1.0, float(np.abs(together).max()))
    require_close(alone, together, 1e-4 * scale, "new items alone have the same places")
    facts, arrays = json.loads(json.dumps(fitted.facts())), fitted.arrays()
    require(facts == fitted.facts(), "facts are what JSON can hold")
    require(
        all(isinstance(array, np.ndarray) and array.dtype != object for array in arrays.values()),
        "what was learnt is a set of arrays without objects",
    )
    saved_as = kind if kind.__dict__.get("name") == fitted.name else REDUCERS.get(fitted.name)
    restored = saved_as.restore(facts, arrays)
    require(np.array_equal(restored.transform(new), together), "a restored reducer answers as before")


def _features(n: int, seed: int) -> Features:
    """A bent sheet in eight dimensions, with noise."""
    rng = np.random.default_rng(seed)
    place: FloatArray = rng.uniform(0, 3, size=(n, 2))
    bent = np.column_stack([np.sin(place), np.cos(place), place, place**2 / 3])
    return np.asarray(bent + 0.05 * rng.normal(size=bent.shape), dtype=np.float32)
