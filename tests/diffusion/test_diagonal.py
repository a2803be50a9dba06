"""The diagonal of the inverse, and what follows from it for an item's own votes."""

from dataclasses import replace

import numpy as np
import pytest

from softspread import affinity_graph, knn_graph
from softspread.diffusion.diagonal import SampleRule, own_reach, sampled_diagonal, sampled_scales
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


@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("solver", ["dense", "cg"])
def test_own_reach_is_the_entry_of_the_profile_at_its_item(graph, scaling, normalization, solver):
    """phi_qq as the literal profile has it, also where another item is the peak."""
    graph = replace(graph, normalization=normalization)
    diffusion = Diffusion(graph, 0.98, scaling=scaling, solver=solver, tol=1e-8)
    rows = np.arange(graph.n_items)[::-1]
    expected = [diffusion.literal_profile(row)[row] for row in rows]
    np.testing.assert_allclose(own_reach(diffusion, rows), expected, rtol=1e-5)
    if scaling == "peak" and normalization == "symmetric":
        assert min(expected) < 1 or graph.n_items == 60


@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
def test_the_diagonal_is_that_of_the_inverse_whatever_the_scaling(graph, scaling):
    """M_qq, in the user's order, also for scales that were loaded from a file."""
    rows = np.arange(graph.n_items)[::-1]
    diffusion = Diffusion(graph, 0.9, scaling=scaling)
    expected = np.diag(dense_inverse(graph, 0.9))[rows]
    np.testing.assert_allclose(diffusion.diagonal(rows), expected, rtol=1e-9)
    loaded = diffusion.at(0.9, accuracy=1e-3)
    loaded.restore_scales(diffusion.known_scales())
    np.testing.assert_allclose(loaded.diagonal(rows), expected, rtol=1e-9)


def test_without_spreading_the_diagonal_is_one(graph):
    """alpha = 0: every item keeps to itself."""
    assert (Diffusion(graph, 0.0).diagonal(np.arange(5)) == 1).all()


@pytest.fixture(scope="module")
def uneven():
    """Items of two densities."""
    rng = np.random.default_rng(0)
    return knn_graph(rng.normal(size=(1500, 3)) * rng.choice([1.0, 3.0], size=(1500, 1)), n_neighbors=10)


@pytest.mark.parametrize(("alpha", "error"), [(0.5, 5e-3), (0.95, 2e-2), (0.98, 4e-2), (0.999, 0.1)])
def test_a_sample_of_the_diagonal_tells_the_rest(uneven, alpha, error):
    """From 100 entries the typical other one is close, and the stated error is of the right size."""
    rows = np.sort(np.random.default_rng(1).choice(1500, 800, replace=False))
    diffusion = Diffusion(uneven, alpha, solver="cg")
    hint = Diffusion(uneven, 0.75).diagonal(rows)
    truth = np.diag(dense_inverse(uneven, alpha))[rows]
    rule = SampleRule(work=0, fewest=100)
    found, noise = sampled_diagonal(diffusion, rows, hint, rule)
    actual = float(np.sqrt(np.mean((found / truth - 1) ** 2)))
    assert actual < error
    assert actual / 3 < noise < 5 * max(actual, diffusion.accuracy)


def test_few_items_are_all_found_and_none_is_predicted(uneven):
    """Up to the size of the sample, the entries are the diffusion's own."""
    diffusion, rows = Diffusion(uneven, 0.9), np.arange(40)
    np.testing.assert_array_equal(sampled_diagonal(diffusion, rows)[0], diffusion.diagonal(rows))


@pytest.mark.parametrize("scaling", ["peak", "none"])
def test_sampled_scales_divide_or_stay_out_as_the_scaling_says(uneven, scaling):
    """What a vote brings to its own item is M_qq / s_q either way; the hint is found where none is given."""
    rows = np.arange(0, 1500, 2)
    diffusion = Diffusion(uneven, 0.98, scaling=scaling, solver="cg")
    found = sampled_scales(diffusion, rows, rule=SampleRule(work=0, fewest=64))
    truth = np.diag(dense_inverse(uneven, 0.98))[rows]
    np.testing.assert_allclose(found.scales * found.reach, truth, rtol=0.5)
    assert (found.reach == 1).all() if scaling == "peak" else (found.scales == 1).all()
