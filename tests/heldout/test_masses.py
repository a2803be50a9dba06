"""Mass without own votes: subtracting what a vote brought to its own item is refitting without it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import affinity_graph, knn_graph
from softspread.diffusion.diagonal import OwnScales
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.masses import (
    HeldOutAccuracy,
    ScaleMemory,
    VotedMass,
    exact_scales,
    find_scales,
    mass_of_state,
    voted_mass,
)
from softspread.votes.ballots import Ballots
from voting import mass_of, solved, table


@pytest.fixture
def star():
    """A hub with five leaves: near alpha 1 the hub holds more of a leaf's profile than the leaf itself."""
    A = np.zeros((6, 6))
    A[0, 1:] = A[1:, 0] = 1.0
    return affinity_graph(A)


def without_each(graph, votes, n_classes, **options):
    """Mass at each vote's item without the vote, and from a second spread of the others."""
    ballots = Ballots.of(votes, n_classes)
    held = mass_of_state(solved(graph, votes, n_classes, **options), ballots.voted)
    fast = held.without(ballots.content.toarray(), ballots.item_of_vote)
    slow = []
    for number, item in enumerate(ballots.item_of_vote):
        rest = np.flatnonzero(ballots.vote != number)
        others = table(ballots.rows[rest], ballots.column[rest], ballots.weight[rest])
        slow.append(mass_of(graph, others, n_classes, **options)[ballots.voted[item]])
    return fast, np.array(slow)


@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_leaving_a_vote_out_equals_refitting_without_it(rng, scaling, normalization):
    """Whole votes, light and heavy ones, and soft votes."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=6, normalization=normalization)
    weights, names = rng.choice([1.0, 1.0, 0.4, 3.0], size=40), rng.integers(30, size=40).astype(object)
    votes = table(rng.integers(25, size=40), rng.integers(3, size=40), weights, names)
    assert_allclose(*without_each(graph, votes, 3, scaling=scaling), atol=1e-9)


def test_leaving_a_vote_out_is_exact_where_another_item_is_the_peak(star):
    """A leaf's vote weighs less than 1 at the leaf when the hub is the peak of its profile."""
    votes = table([1, 1, 2, 0], [0, 1, 1, 0])
    assert exact_scales(Diffusion(star, 0.98), np.array([1])).reach[0] < 0.9
    assert_allclose(*without_each(star, votes, 2, alpha=0.98), atol=1e-9)


def test_what_inexact_scales_leave_over_is_no_evidence():
    """With scales known to 1 %, a rest below 1 % of what was taken away counts as nothing."""
    held = VotedMass(np.array([[1.005, 0.2]]), OwnScales(np.ones(1), np.ones(1), noise=0.01))
    assert held.without(np.array([[1.0, 0.0]])).tolist() == [[0.0, 0.2]]
    assert_allclose(held.without(np.array([[0.5, 0.0]])), [[0.505, 0.2]])


def test_a_start_at_another_alpha_changes_nothing_but_the_time(rng):
    """Warm-started masses are those of a fresh solve."""
    graph = knn_graph(rng.normal(size=(1200, 2)), n_neighbors=8)
    ballots = Ballots.of(table(rng.integers(1200, size=200), rng.integers(2, size=200)), 2)
    first = voted_mass(Diffusion(graph, 0.75), ballots.voted, ballots.counts, tol=1e-8)
    diffusion = Diffusion(graph, 0.9)
    warm = voted_mass(diffusion, ballots.voted, ballots.counts, tol=1e-8, before=first)
    cold = voted_mass(diffusion, ballots.voted, ballots.counts, tol=1e-8)
    assert_allclose(warm.mass, cold.mass, atol=1e-6)


def test_scales_are_read_off_a_sample_only_where_they_are_costly(rng):
    """Close to alpha 1 most scales are predicted, with the error that remains."""
    graph = knn_graph(rng.normal(size=(1500, 3)), n_neighbors=10)
    voted = np.sort(rng.choice(1500, 800, replace=False))
    for alpha, same in ((0.9, True), (0.99, False)):
        diffusion = Diffusion(graph, alpha)
        found, exact = find_scales(diffusion, voted), exact_scales(diffusion, voted)
        assert (found.scales == exact.scales).all() == same
        assert_allclose(found.scales, exact.scales, rtol=0.3)
        assert (found.noise > 0, exact.noise) == (True, 0.0)


def test_scales_at_the_last_alpha_predict_those_at_the_next(rng):
    """Where no more than 1 % is asked, a sample will do: most are within .75 %, all within 5."""
    graph = knn_graph(rng.normal(size=(3000, 3)), n_neighbors=10)
    voted = np.sort(rng.choice(3000, 1500, replace=False))
    for alpha, last in ((0.9, 0.75), (0.95, 0.9)):
        exact, hint = (Diffusion(graph, at).scales(voted) for at in (alpha, last))
        loose, tight = (Diffusion(graph, alpha, accuracy=accuracy) for accuracy in (1e-2, 1e-3))
        ratio = find_scales(loose, voted, hint).scales / exact
        assert np.sqrt(np.mean((ratio - 1) ** 2)) < HeldOutAccuracy().sampled_scales
        assert_allclose(ratio, 1.0, rtol=0, atol=0.05)
        assert len(loose.known_scales()["rows"]) < 0.2 * len(voted)
        assert_allclose(find_scales(loose, voted, hint, rough=False).scales, exact, rtol=1e-2)
        assert_allclose(find_scales(tight, voted, hint).scales, exact, rtol=1e-3)


def test_solves_for_means_over_many_items_are_looser():
    """From 20,000 voted items on."""
    assert HeldOutAccuracy().of_solve(19_999) < HeldOutAccuracy().of_solve(20_000) <= 1e-5


def test_accuracy_of_scales_follows_what_items_receive_from_others():
    """Few votes that travel far bring little to each item: scales must be known better; within limits."""
    accuracy = HeldOutAccuracy()
    assert accuracy.of_scales(0.9, 1.0) == accuracy.worst_scales
    assert accuracy.of_scales(0.0, 1.0) == accuracy.best_scales
    assert_allclose(accuracy.of_scales(0.5, 0.1), 1e-3)


def test_a_memory_of_scales_finds_nothing_twice(rng):
    """Same graph, items and alpha: the first answer again; another graph or other items: a new one."""
    graphs = [knn_graph(rng.normal(size=(1100, 2)), n_neighbors=6) for _ in range(2)]
    memory, voted = ScaleMemory(), np.arange(0, 1100, 5)
    first = memory.scales(Diffusion(graphs[0], 0.9), voted, None)
    assert memory.scales(Diffusion(graphs[0], 0.9), voted, None) is first
    assert memory.scales(Diffusion(graphs[0], 0.5), voted, None) is not first
    assert len(memory.scales(Diffusion(graphs[0], 0.9), voted[:7], None).scales) == 7
    assert_allclose(
        memory.scales(Diffusion(graphs[1], 0.9), voted, None).scales,
        exact_scales(Diffusion(graphs[1], 0.9), voted).scales,
    )
