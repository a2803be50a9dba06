"""Searches of other libraries: what is theirs alone; test_neighbors.py has what all searches promise."""

import builtins

import numpy as np
import pytest

from softspread import MissingExtraError, SoftspreadWarning
from softspread._common.threads import Workers
from softspread.graph import libraries
from softspread.graph.search import search_neighbors


def search(X, k, index):
    """One search with a fixed seed."""
    with Workers(1) as workers:
        return search_neighbors(X, k, index, workers, np.random.default_rng(0), False)


def test_a_poor_search_is_reported_as_poor(rng, monkeypatch):
    """A search that looks into a single cell is told from a good one by its recall."""
    monkeypatch.setattr(libraries, "_tuned_probes", lambda *args: 1)
    X = rng.normal(size=(3000, 8))
    with pytest.warns(SoftspreadWarning, match="index='exact'"):
        found = search(X, 10, "faiss")
    assert found.recall < 0.9
    limit = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    limit.sort(axis=1)
    true_recall = (found.squared <= limit[:, 10:11] * (1 + 1e-6)).mean()
    assert found.recall == pytest.approx(true_recall, abs=0.03)


@pytest.mark.parametrize("library", ["faiss", "pynndescent"])
def test_a_missing_library_names_its_extra(monkeypatch, rng, library):
    """Without the library the message says what to install."""
    plain_import = builtins.__import__

    def without_library(name, *args, **kwargs):
        if name.startswith(library):
            raise ImportError(name)
        return plain_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_library)
    with pytest.raises(MissingExtraError, match=r"softspread\[approx\]"):
        search(rng.normal(size=(20, 2)), 3, library)
