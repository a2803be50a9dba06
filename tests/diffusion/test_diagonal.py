"""The diagonal of the inverse, and what follows from it for an item's own votes."""

import numpy as np
import pytest

from softspread import affinity_graph, knn_graph
from softspread.diffusion.diagonal import _peak_bound, diagonal
from softspread.diffusion.diffusion import Diffusion


@pytest.fixture(params=["star", "cloud"])
def graph(request, rng):
    """A hub with eight leaves, where the hub is the peak of all; and a cloud of points."""
    if request.param == "cloud":
        return knn_graph(rng.normal(size=(60, 2)), n_neighbors=5)
    A = np.zeros((9, 9))
    A[0, 1:] = A[1:, 0] = 1.0
    return affinity_graph(A)


def dense_inverse(graph, alpha):
    """In the user's order; symmetric form."""
    S = graph.inner_operator().toarray()[np.ix_(graph.rank, graph.rank)]
    return np.linalg.inv(np.eye(graph.n_items) - alpha * S)


@pytest.mark.parametrize("alpha", [0.3, 0.7, 0.95])
def test_no_other_entry_of_a_profile_exceeds_the_peak_bound(graph, alpha):
    """The cheap bound that spares most items a closer look holds on every column of the dense inverse."""
    M = dense_inverse(graph, alpha)
    relative = M / np.diag(M)
    np.fill_diagonal(relative, 0.0)
    bound = _peak_bound(Diffusion(graph, alpha), np.arange(graph.n_items))
    assert (relative.max(axis=0) <= bound + 1e-12).all()


@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
def test_the_diagonal_is_that_of_the_inverse_whatever_the_scaling(graph, scaling):
    """M_qq, in the user's order."""
    rows = np.arange(graph.n_items)[::-1]
    found = diagonal(Diffusion(graph, 0.9, scaling=scaling), rows)
    np.testing.assert_allclose(found, np.diag(dense_inverse(graph, 0.9))[rows], rtol=1e-9)
