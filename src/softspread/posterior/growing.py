"""A blend whose items come and go; what it learned stays until the next fit.

new items     ->  ties to the old ones  ->  mass and predictions, as for any item that was not fitted
items that go ->  their rows are left out; they had no votes
"""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import AnyArray, BoolArray
from softspread.posterior.blend import Blend, Fixed
from softspread.posterior.experts import Float32Array


def with_items(blend: Blend, ties: csr_array, X: AnyArray, features: AnyArray | None) -> Blend:
    """The blend of its items and new ones, whose rows follow.

    Parameters
    ----------
    ties : (m, n) rows of the operator before they came
    X : (m, d) the new items
    features : (m, f) their unreduced features; None = not known
    """
    fixed = list(blend.fixed_of_new(ties, X, features))
    masses = [rung.mass for rung in blend.rungs]
    q, log_size = blend.predictions_of_new(ties, masses, fixed)
    rungs = [
        replace(rung, mass=np.concatenate([rung.mass, (rung.alpha * (ties @ rung.mass)).astype(np.float32)]))
        for rung in blend.rungs
    ]
    experts = [_with_rows(old, *more) for old, more in zip(blend.fixed, fixed, strict=True)]
    return replace(
        blend,
        rungs=rungs,
        fixed=experts,
        own=replace(blend.own, n_items=blend.own.n_items + len(X)),
        q=np.concatenate([blend.q, q]),
        log_size=np.concatenate([blend.log_size, log_size]),
    )


def without_items(blend: Blend, keep: BoolArray) -> Blend:
    """The blend of the items that stay; those that go have no votes."""
    place = np.cumsum(keep) - 1
    experts = [_on_rows(old, keep) for old in blend.fixed]
    return replace(
        blend,
        rungs=[replace(rung, mass=rung.mass[keep]) for rung in blend.rungs],
        fixed=experts,
        own=replace(blend.own, voted=place[blend.own.voted], n_items=int(keep.sum())),
        q=blend.q[keep],
        log_size=blend.log_size[keep],
    )


def _with_rows(old: Fixed, final: Float32Array, log_size: Float32Array) -> Fixed:
    """An expert that counts nothing has no rows; one size for all items stays that size."""
    if not len(old.final):
        return old
    sizes = old.log_size if len(old.log_size) == 1 else np.concatenate([old.log_size, log_size])
    return Fixed(old.source, np.concatenate([old.final, final]), sizes)


def _on_rows(old: Fixed, keep: BoolArray) -> Fixed:
    return Fixed(old.source, *old.on_rows(np.flatnonzero(keep)))
