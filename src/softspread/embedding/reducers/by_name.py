"""Reducers by name: fitted to features, or restored from what was saved."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from softspread._common import validation
from softspread._common.types import AnyArray
from softspread.embedding.reducers.reducer import Features, Reducer
from softspread.embedding.reducers.registry import REDUCERS
from softspread.errors import InputError, MissingExtraError, StoreError


def check_reducer(name: str) -> str:
    """A known reducer whose library is there, before hours of encoding."""
    REDUCERS.check(name)
    if name in ("umap", "auto") and find_spec("umap") is None:
        raise MissingExtraError(
            "UMAP, the default up to 500,000 items, needs umap-learn: pip install 'softspread[umap]'. "
            "reduce='pca' (--reduce pca) needs nothing."
        )
    return name


def fit_reducer(F: Features, reduce: str, dim: int, seed: int) -> tuple[Reducer, Features]:
    """A fitted reducer and the items' places (n, dim), from features (n, d)."""
    return REDUCERS.get(reduce).fit(F, validation.count("dim", dim, 1), seed)


def reducer_from(name: str, facts: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> Reducer:
    """The reducer whose ``facts`` and ``arrays`` were saved."""
    try:
        return REDUCERS.get(name).restore(facts, arrays)
    except InputError as error:
        raise StoreError(
            f"the saved reducer {name!r} is unknown here; known are {', '.join(REDUCERS.names())}. "
            "Install the package that it came from, or embed again."
        ) from error
    except KeyError as error:
        raise StoreError(f"the saved reducer {name!r} lacks {error}; embed again.") from error
