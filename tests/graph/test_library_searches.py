"""Searches of other libraries: what is theirs alone; test_neighbors.py has what all searches promise."""

import builtins
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from softspread import MissingExtraError, SoftspreadWarning
from softspread._common.threads import Workers
from softspread.graph import library_searches
from softspread.graph.neighbors import nearest_by_products
from softspread.graph.search import search_neighbors
from softspread.testing import check_neighbor_search


def search(X, k, index):
    """One search with a fixed seed."""
    with Workers(1) as workers:
        return search_neighbors(X, k, index, workers, np.random.default_rng(0), False)


def test_a_poor_search_is_reported_as_poor(rng, monkeypatch):
    """A search that looks into a single cell is told from a good one by its recall."""
    monkeypatch.setattr(library_searches, "_tuned_probes", lambda *args: 1)
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


class FakeFile:
    """As the inverted file of cuVS answers, by numpy: with too few probes the last neighbours are missing."""

    IndexParams = SearchParams = SimpleNamespace

    def __init__(self):
        self.probed = []

    @staticmethod
    def build(parameters, X):
        """The items are all there is to know."""
        assert parameters.n_lists >= 1
        assert 0 < parameters.kmeans_trainset_fraction <= 1
        return X

    def search(self, parameters, X, queries, k):
        """Distances and numbers; the number of nobody is the largest there is."""
        self.probed.append(parameters.n_probes)
        with Workers(1) as workers:
            found, squared = nearest_by_products(X, queries, k, workers)
        if parameters.n_probes < 5:
            found[:, -1] = np.iinfo(np.int64).max
        return squared, found


@pytest.fixture
def cuda(monkeypatch):
    """Stand-ins for CuPy and cuVS, which answer as documented; there is no device here."""
    file, cupy = FakeFile(), ModuleType("cupy")
    cupy.asarray = cupy.asnumpy = np.asarray
    cupy.cuda = SimpleNamespace(is_available=lambda: True)
    for name, module in (
        ("cupy", cupy),
        ("cuvs", ModuleType("cuvs")),
        ("cuvs.neighbors", SimpleNamespace(ivf_flat=file)),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    return SimpleNamespace(file=file, cupy=cupy)


def test_cuvs_is_asked_for_more_until_the_recall_is_there(cuda, rng):
    """Missing neighbours count against few probes; the rest is as of any search."""
    found = search(rng.normal(size=(900, 4)), 6, "cuvs")
    assert cuda.file.probed[:2] == [4, 6]
    assert found.details["probes"] == 6
    assert found.recall == 1.0
    assert found.index == "cuvs"


def test_gaps_that_cuvs_leaves_are_filled(cuda, rng, monkeypatch):
    """By an exact search, as for faiss."""
    monkeypatch.setattr(library_searches, "_tuned_probes", lambda *args: 1)
    X = rng.normal(size=(300, 3))
    np.testing.assert_array_equal(search(X, 5, "cuvs").indices, search(X, 5, "tree").indices)


def test_cuvs_keeps_the_promises_of_a_search(cuda):
    """The suite that plug-ins pass."""
    check_neighbor_search("cuvs")


def test_cuvs_without_libraries_or_device_says_what_to_install(cuda, rng, monkeypatch):
    """And what works without."""
    monkeypatch.setattr(cuda.cupy.cuda, "is_available", lambda: False)
    with pytest.raises(MissingExtraError, match=r'\(no device is found\): pip install cuvs.*index="cells"'):
        search(rng.normal(size=(20, 2)), 3, "cuvs")
    monkeypatch.setitem(sys.modules, "cuvs.neighbors", None)
    with pytest.raises(MissingExtraError, match="pip install cuvs"):
        search(rng.normal(size=(20, 2)), 3, "cuvs")
