"""The suite for reducers: every built-in one passes, and every broken promise is noticed."""

from itertools import count

import numpy as np
import pytest

from softspread.embedding.reducers.pca import PcaReducer
from softspread.embedding.reducers.registry import REDUCERS
from softspread.testing import check_reducer


@pytest.mark.parametrize("name", REDUCERS.names())
def test_built_in_reducers_pass(name):
    """Each one keeps the promises of the seam."""
    if name in ("umap", "auto"):
        pytest.importorskip("umap", reason="needs softspread[embed]")
    check_reducer(name)


class Plain:
    """A reducer that keeps the first columns."""

    name = "plain"
    numbers = count()

    def __init__(self, dim):
        self.dim = dim

    @classmethod
    def fit(cls, F, dim, seed):
        return cls(dim), cls(dim).transform(F)

    @classmethod
    def restore(cls, facts, arrays):
        return cls(facts["dim"])

    def transform(self, F):
        return F[:, : self.dim]

    def facts(self):
        return {"dim": self.dim}

    def arrays(self):
        return {}


def variant(**changes):
    return type("Variant", (Plain,), {"name": "plain", **changes})


def moody(cls, F, dim, seed):
    return cls(dim), F[:, :dim] + np.float32(next(Plain.numbers))


def forgetful(cls, facts, arrays):
    return cls(facts["dim"] - 1)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (variant(name=""), "a reducer has a name"),
        (variant(fit=classmethod(moody)), "the same seed gives the same places"),
        (variant(restore=classmethod(forgetful)), "a restored reducer answers as before"),
        (variant(transform=lambda self, F: F[:, :2]), "have places in 3 dimensions"),
        (variant(transform=lambda self, F: F[:, :3].astype(float)), "in single precision"),
        (variant(transform=lambda self, F: F[:, :3] * np.float32("nan")), "are finite"),
        (variant(transform=lambda self, F: F[:, :3] - F[:, :3].mean(axis=0)), "new items alone"),
        (variant(facts=lambda self: {"dim": (self.dim,)}), "facts are what JSON can hold"),
        (variant(arrays=lambda self: {"F": [1, 2]}), "a set of arrays without objects"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    """The message says which one."""
    with pytest.raises(AssertionError, match=promise):
        check_reducer(broken)


def test_a_sound_reducer_passes_as_a_class():
    """Also one that is not registered."""
    check_reducer(Plain)
    check_reducer(PcaReducer)
