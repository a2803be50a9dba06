"""The two-stage method against Algorithm 1 as it is written."""

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from softspread import affinity_graph, epsilon_graph, knn_graph
from softspread.diffusion import direct
from softspread.diffusion.diffusion import Diffusion, local_accuracy, scale_accuracy
from softspread.diffusion.literal import literal_mass
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable
from systems import algorithm_1

EVIDENCE = 1e-3  # items with less are dominated by the prior


def spread_mass(graph, rows, columns, n_classes, alpha, **settings):
    diffusion = Diffusion(graph, alpha, **settings)
    state = SpreadState(diffusion, VoteTable(rows, columns, np.ones(len(rows))), n_classes)
    state.solve()
    return state.mass()


MAKERS = {
    "knn": lambda X, how: knn_graph(X, n_neighbors=6, normalization=how),
    "epsilon": lambda X, how: epsilon_graph(X, radius=0.8, normalization=how),
    "affinity": lambda X, how: affinity_graph(np.exp(-cdist(X, X)), normalization=how),
}


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")  # some are alone within the radius
@pytest.mark.parametrize("kind", list(MAKERS))
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9, 0.99, 0.999])
def test_two_stages_equal_algorithm_1(alpha, scaling, normalization, kind, rng):
    """With exact scales, mass equals the paper's loop to rounding; with local ones, to the accuracy asked
    for."""
    graph = MAKERS[kind](rng.normal(size=(250, 3)), normalization)
    assert (graph.kind, graph.normalization) == (kind, normalization)
    rows, columns = rng.integers(0, 250, 50), rng.integers(0, 3, 50)
    truth = algorithm_1(graph, rows, columns, 3, alpha, scaling)
    exact = spread_mass(graph, rows, columns, 3, alpha, scaling=scaling, solver="dense")
    np.testing.assert_allclose(exact, truth, atol=1e-9, rtol=1e-9)
    local = spread_mass(graph, rows, columns, 3, alpha, scaling=scaling, solver="cg", tol=1e-6)
    np.testing.assert_allclose(local, truth, atol=1e-6, rtol=2.05 * local_accuracy(alpha, 1e-6) + 1e-6)


@pytest.mark.parametrize(("tol", "allowed"), [(1e-6, 1e-4), (1e-8, 1e-6)])
@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.95, 0.99])
def test_soft_labels_are_as_close_to_the_literal_algorithm_as_promised(alpha, tol, allowed, rng):
    """max |p - p_literal| <= 1e-4 by default and 1e-6 with tol=1e-8, where evidence exceeds 1e-3."""
    X = np.concatenate([rng.normal(c, 1.0, size=(500, 4)) for c in (0, 2, 4)])
    graph = knn_graph(X, n_neighbors=12)
    rows, columns = rng.integers(0, 1500, 150), rng.integers(0, 3, 150)
    truth = algorithm_1(graph, rows, columns, 3, alpha, "peak")
    mass = spread_mass(graph, rows, columns, 3, alpha, solver="cg", tol=tol)
    prior = np.full((1500, 3), 1 / 3)
    difference = np.abs(soft_labels(mass, prior, 1e-4) - soft_labels(truth, prior, 1e-4)).max(axis=1)
    assert difference[truth.sum(axis=1) > EVIDENCE].max() <= allowed


def test_scale_accuracy_tightens_with_tol_and_loosens_with_alpha():
    """A smaller tol never asks for less; a cap keeps the certificate meaningful."""
    assert scale_accuracy(0.9, 1e-8) < scale_accuracy(0.5, 1e-6) < scale_accuracy(0.99, 1e-6) <= 1e-2
    assert local_accuracy(0.9, 1e-6) == scale_accuracy(0.9, 1e-6)
    assert scale_accuracy(0.99, 1e-6) < local_accuracy(0.99, 1e-6) < local_accuracy(0.95, 1e-6) <= 1e-2


def test_diffusion_survives_pickling(rng):
    """A copy has the same scales and solves the same systems."""
    graph = knn_graph(rng.normal(size=(1200, 2)), n_neighbors=4)
    diffusion = Diffusion(graph, 0.9, solver="direct")
    before = diffusion.sources(np.arange(5), np.ones(5))
    copy = pickle.loads(pickle.dumps(diffusion))
    np.testing.assert_array_equal(copy.sources(np.arange(5), np.ones(5)), before)
    np.testing.assert_allclose(copy.literal_profile(3), diffusion.literal_profile(3))


@pytest.fixture
def cloud(rng):
    return knn_graph(rng.normal(size=(1100, 3)), n_neighbors=6)


def test_another_alpha_keeps_all_that_the_user_chose(cloud):
    """Solver, scaling, tolerance, threads; only what is given changes."""
    diffusion = Diffusion(cloud, 0.9, scaling="source", solver="direct", tol=1e-7, n_jobs=1, verbose=False)
    other = diffusion.at(0.5)
    assert (other.alpha, other.scaling, other.tol, other.solver_name) == (0.5, "source", 1e-7, "direct")
    assert other.accuracy == scale_accuracy(0.5, 1e-7)
    assert other.workers is diffusion.workers
    rows = np.array([3, 1, 4])
    fresh = Diffusion(cloud, 0.5, scaling="source", solver="direct", tol=1e-7, n_jobs=1)
    np.testing.assert_array_equal(other.scales(rows), fresh.scales(rows))
    assert diffusion.at(scaling="none").scaling == "none"
    assert diffusion.at(tol=1e-4).tol == 1e-4
    assert diffusion.at(accuracy=1e-2).accuracy == 1e-2
    assert diffusion.at(n_threads=3).workers.n_threads == 3


def test_scales_are_shared_where_they_are_the_same(cloud):
    """Other threads find scales for both; another accuracy or alpha finds its own."""
    diffusion = Diffusion(cloud, 0.9, n_jobs=1)
    more = diffusion.at(n_threads=2)
    found = more.scales(np.arange(20))
    assert len(diffusion.known_scales()["rows"]) == 20
    np.testing.assert_array_equal(diffusion.scales(np.arange(20)), found)
    assert diffusion.scale_report() == more.scale_report()
    for other in (diffusion.at(0.8), diffusion.at(accuracy=1e-2), diffusion.at(scaling="source")):
        assert len(other.known_scales()["rows"]) == 0


def test_two_diffusions_of_one_graph_can_find_scales_together(cloud):
    """Made apart, as by the fits of several questions; with another alpha each keeps its own."""
    first, second, other = (Diffusion(cloud, alpha, n_jobs=1) for alpha in (0.9, 0.9, 0.8))
    second.share_scales(first)
    other.share_scales(first)
    found = second.scales(np.arange(20))
    assert len(first.known_scales()["rows"]) == 20
    np.testing.assert_array_equal(first.scales(np.arange(20)), found)
    assert len(other.known_scales()["rows"]) == 0


def test_a_factor_is_shared_where_the_system_is_the_same(cloud, monkeypatch):
    """Another scaling or accuracy needs no second factor; another alpha does."""
    made = []
    prepare = direct.SparseDirectSolver.__init__
    monkeypatch.setattr(
        direct.SparseDirectSolver, "__init__", lambda *args: made.append(args[2]) or prepare(*args)
    )
    diffusion = Diffusion(cloud, 0.9, solver="direct")
    rows, weights = np.arange(3), np.ones((3, 1))
    for other in (
        diffusion,
        diffusion.at(scaling="none"),
        diffusion.at(accuracy=1e-2),
        diffusion.at(tol=1e-4),
    ):
        other.spread(rows, weights)
    diffusion.at(0.5).spread(rows, weights)
    assert made == [0.9, 0.5]
    assert diffusion.at(accuracy=1e-2).at(n_threads=2).accuracy == 1e-2


def test_a_spread_started_nearby_is_the_spread_from_nothing(cloud, rng):
    """The start saves steps, not accuracy; a useless start is dropped."""
    rows, weights = rng.integers(0, 1100, 40), rng.random((40, 3))
    diffusion = Diffusion(cloud, 0.9)
    near, far = diffusion.at(0.88).spread(rows, weights), diffusion.spread(rows, 1e9 * weights)
    fresh = diffusion.spread(rows, weights, tol=1e-10).mass()
    for start in (near, far):
        found = diffusion.spread(rows, weights, tol=1e-8, start=start)
        np.testing.assert_allclose(found.mass(), fresh, atol=1e-6)
        np.testing.assert_array_equal(found.mass(rows[:5], slice(1, 3)), found.mass()[rows[:5], 1:])


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_votes_spread_the_same_as_a_table_and_one_by_one(normalization, rng):
    """Entries, tables and the loop over votes agree, with repeats."""
    graph = knn_graph(rng.normal(size=(80, 2)), n_neighbors=4, normalization=normalization)
    diffusion = Diffusion(graph, 0.9)
    rows, columns, weights = rng.integers(0, 80, 30), rng.integers(0, 3, 30), rng.random(30)
    table = np.zeros((30, 3))
    table[np.arange(30), columns] = weights
    truth = literal_mass(diffusion, VoteTable(rows, columns, weights), 3)
    np.testing.assert_allclose(diffusion.spread(rows, table).mass(), truth, atol=1e-9)
    entries = diffusion.spread_entries(rows, columns, weights, 3)
    np.testing.assert_allclose(entries.mass(), truth, atol=1e-9)
    reach = diffusion.reach_of_votes(7, rows)
    np.testing.assert_allclose(reach, [diffusion.literal_profile(row)[7] for row in rows], atol=1e-9)
