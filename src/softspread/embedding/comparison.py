"""How good is a space? One row per space, to choose encoder, reducer and dimension.

* silhouette (needs known classes): mean over items of (b - a) / max(a, b), a the mean distance to the own
  class, b to the nearest other; the paper's measure
* held-out Brier score (needs votes, no truth): each vote is predicted from the others, spread over the
  space's graph
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.columns import ITEM_NAMES, LABEL_NAMES
from softspread._common.types import AnyArray, FloatArray, RandomState
from softspread.embedding.embed import EncodedItems
from softspread.embedding.result import Embedding
from softspread.errors import InputError
from softspread.io.formats import TABLE_ENDINGS, ending_of
from softspread.io.ids import rows_of_ids
from softspread.io.tables import read_table
from softspread.tuning.candidates import DEFAULT_NEIGHBORS
from softspread.tuning.tune import tune
from softspread.votes.reading import NamedVotes
from softspread.votes.votes import Votes, has_vote

SILHOUETTE_ITEMS = 5_000  # its cost grows with the square; a sample this large is right to about 0.01


def compare_spaces(
    spaces: Mapping[str, Embedding | ArrayLike],
    *,
    votes: ArrayLike | Votes | NamedVotes | None = None,
    classes: ArrayLike | None = None,
    item_ids: ArrayLike | None = None,
    n_neighbors: int = DEFAULT_NEIGHBORS,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Rate spaces of the same items by known classes, by held-out votes, or both.

    Parameters
    ----------
    spaces : mapping of str to Embedding or (n, d) array-like
        Spaces by name; all of the same items in the same order.
    votes : Votes or array-like, optional
        Votes, (n,) labels with -1 for no vote, or (n, n_classes) counts; for the held-out score, which needs
        no truth.
    classes : (n,) array-like, optional
        Known classes, None or -1 where unknown; for the silhouette.
    item_ids : (n,) array-like, optional
        Ids that the votes use, where the spaces are arrays.
    n_neighbors : int, default 20
        Neighbours in the graph that votes are spread on; alpha is chosen for each space.
    n_jobs : int, optional
        Threads; by default all cores.
    random_state : int, Generator or None, default 0
        Of the sample of 5,000 items that silhouettes of larger sets are computed on.

    Returns
    -------
    pandas.DataFrame
        One row per space, the best first: space, dim, silhouette, held_out_brier, standard_error, alpha and
        best. ``best`` marks the lowest held-out score (the highest silhouette where there are no votes).
        Spaces whose scores lie within about two standard errors are as good as equal.

    See Also
    --------
    embed : Makes a space.
    tune : Chooses alpha and the number of neighbours for one space.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(90) // 30
    >>> good = rng.normal(size=(90, 2)) * 0.3 + 4 * truth[:, None]
    >>> votes = 2 * np.eye(3)[truth]  # two votes per item
    >>> table = compare_spaces({"good": good, "noise": rng.normal(size=(90, 2))}, votes=votes, classes=truth)
    >>> table["space"].tolist(), table["best"].tolist()
    (['good', 'noise'], [True, False])
    """
    if not spaces:
        raise InputError("there is no space to compare; give at least one.")
    if votes is None and classes is None:
        raise InputError("to rate a space give votes, known classes, or both.")
    arrays, ids = _aligned(spaces, item_ids)
    n = len(next(iter(arrays.values())))
    labels = None if classes is None else _labels(classes, n)
    rng = validation.generator(random_state)
    sample = None if labels is None else _sample(labels, rng)
    rows = []
    for name, X in arrays.items():
        row: dict[str, Any] = {"space": name, "dim": X.shape[1]}
        row["silhouette"] = np.nan if labels is None else _silhouette(X, labels, sample)
        row |= _held_out(X, votes, ids, n_neighbors, n_jobs)
        rows.append(row)
    table = pd.DataFrame(rows)
    by, ascending = ("held_out_brier", True) if votes is not None else ("silhouette", False)
    table = table.sort_values(by, ascending=ascending, kind="stable").reset_index(drop=True)
    table["best"] = np.arange(len(table)) == 0
    return table


def known_classes(text: str, encoded: EncodedItems) -> AnyArray:
    """Known classes of encoded items: those of ``text``, which is "folder", a column or the path of a table.

    Returns
    -------
    classes : (m,) of the items that were read; None where a table does not name an item
    """
    if text == "folder":
        names = [str(item) for item in encoded.ids]
        if not all("/" in name for name in names):
            raise InputError(
                "--classes folder needs images in one folder per class; some lie outside of any."
            )
        return np.array([name.rsplit("/", 1)[0] for name in names], dtype=object)
    table = encoded.items.table
    if table is not None and text in table.columns:
        return table.with_gaps(text)[encoded.kept]
    path = Path(text)
    if ending_of(path) not in TABLE_ENDINGS or not path.is_file():
        has = "" if table is None else f" {table.listed()}"
        raise InputError(f"--classes is 'folder', a column of the table{has} or a table file, got {text!r}.")
    other = read_table(path, "known classes")
    item, label = other.find(None, ITEM_NAMES), other.find(None, LABEL_NAMES)
    if item is None or label is None:
        raise InputError(f"{path} needs the columns item and label, it has {other.listed()}.")
    rows = rows_of_ids(encoded.ids, other.ids(item), other.n_rows)
    found = other.with_gaps(label)[rows]
    found[rows < 0] = None
    return found


def _aligned(
    spaces: Mapping[str, Embedding | ArrayLike], item_ids: ArrayLike | None
) -> tuple[dict[str, AnyArray], AnyArray | None]:
    """Arrays of the spaces and the ids that they share."""
    arrays: dict[str, AnyArray] = {}
    ids = None if item_ids is None else validation.names(item_ids, "item id")
    for name, space in spaces.items():
        X = space.X if isinstance(space, Embedding) else validation.features(space)
        if isinstance(space, Embedding):
            if ids is None:
                ids = space.item_ids
            elif len(ids) != len(space.item_ids) or (ids != space.item_ids).any():
                raise InputError(f"space {name!r} has other items, or another order, than those before it.")
        if ids is not None and len(X) != len(ids):
            raise InputError(f"space {name!r} has {len(X)} items, expected {len(ids)}.")
        arrays[name] = X
    if len({len(X) for X in arrays.values()}) > 1:
        raise InputError(f"spaces must hold the same items, got {[len(X) for X in arrays.values()]} items.")
    return arrays, ids


def _labels(classes: ArrayLike, n: int) -> FloatArray:
    """(n,) numbers of the classes, NaN where unknown."""
    values = validation.labels_or_counts(classes)
    if values.shape != (n,):
        raise InputError(f"classes must name the class of each of the {n} items, got shape {values.shape}.")
    known = has_vote(values).astype(np.bool_)
    numbers = np.full(n, np.nan)
    numbers[known] = pd.factorize(pd.Series(values[known].tolist()))[0]
    n_classes = len(np.unique(numbers[known]))
    if not 2 <= n_classes < known.sum():
        raise InputError(
            f"a silhouette needs at least 2 classes and a class with 2 items, got {n_classes} classes on "
            f"{int(known.sum())} items."
        )
    return numbers


def _sample(labels: FloatArray, rng: np.random.Generator, most: int = SILHOUETTE_ITEMS) -> AnyArray:
    known = np.flatnonzero(~np.isnan(labels))
    return known if len(known) <= most else np.sort(rng.choice(known, most, replace=False))


def _silhouette(X: AnyArray, labels: FloatArray, sample: AnyArray | None) -> float:
    from sklearn.metrics import silhouette_score

    return float(silhouette_score(X[sample], labels[sample].astype(np.int64)))


def _held_out(
    X: AnyArray,
    votes: ArrayLike | Votes | NamedVotes | None,
    ids: AnyArray | None,
    n_neighbors: int,
    n_jobs: int | None,
) -> dict[str, float | None]:
    if votes is None:
        return {"held_out_brier": np.nan, "standard_error": np.nan, "alpha": np.nan}
    named = ids if isinstance(votes, Votes) else None
    best = tune(X, votes, n_neighbors=n_neighbors, item_ids=named, n_jobs=n_jobs).best
    return {"held_out_brier": best.score, "standard_error": best.standard_error, "alpha": best.alpha}
