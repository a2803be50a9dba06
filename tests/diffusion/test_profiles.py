"""Sparse profiles are lower bounds with a stated, tested gap."""

import numpy as np
import pytest

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import (
    RULE,
    ProfileRule,
    affordable_floor,
    dense_inverse,
    local_profiles,
    profile_sums,
)


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("floor", [1e-2, 1e-4])
def test_profiles_miss_no_more_than_they_say(normalization, floor, rng):
    """Every kept entry is at most the true one and closer than the push bound."""
    graph = knn_graph(rng.normal(size=(300, 2)), n_neighbors=6, normalization=normalization)
    diffusion = Diffusion(graph, 0.9, solver="dense")
    rows = rng.integers(0, 300, 25)
    kept = local_profiles(diffusion, rows, floor).toarray()
    truth = np.array([diffusion.literal_profile(int(row)) for row in rows])
    scales = diffusion.scales(rows)
    root = diffusion.root_degrees(np.arange(300))
    reach = root[None, :] if normalization == "symmetric" else root[rows][:, None]
    gap = reach * floor / (0.1 * scales[:, None])
    assert (truth - kept >= -1e-12).all()
    assert (truth - kept <= gap + 1e-12).all()
    assert kept[np.arange(25), rows].min() > 0.9


def test_no_rows_give_an_empty_table(rng):
    """Nothing asked, nothing computed."""
    diffusion = Diffusion(knn_graph(rng.normal(size=(20, 2)), n_neighbors=3), 0.9)
    assert local_profiles(diffusion, np.empty(0, dtype=np.int64)).shape == (0, 20)


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("lipschitz", [0.0, 0.4])
def test_sums_over_profiles_are_exact_or_lower_bounds(normalization, lipschitz, rng):
    """Small graphs by the dense inverse; a push comes close from below, and misses no more than it says."""
    X = rng.normal(size=(200, 2))
    graph = knn_graph(X, n_neighbors=6, normalization=normalization)
    diffusion = Diffusion(graph, 0.9)
    rows, weights = rng.choice(200, 30, replace=False), rng.random((30, 2))
    phi = np.stack([diffusion.literal_profile(int(row)) for row in rows], axis=1)
    near = np.minimum(1.0, lipschitz * np.linalg.norm(X[:, None] - X[rows], axis=2))
    truth = phi @ weights[:, 0], phi**2 @ weights[:, 1], (phi * near) @ weights[:, 0]
    exact = profile_sums(diffusion, rows, weights, lipschitz)
    for found, expected in zip((exact.mass, exact.squares, exact.bias), truth, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
    assert exact.floor == 0
    pushed = profile_sums(diffusion, rows, weights, lipschitz, floor=1e-5)
    missed = truth[0] - pushed.mass
    assert (missed >= -1e-12).all()
    assert (
        missed <= diffusion.missed_at_most(1e-5) * float(weights[:, 0] @ diffusion.sources(rows)) + 1e-12
    ).all()
    np.testing.assert_allclose(pushed.squares, truth[1], rtol=0.05, atol=1e-6)


def test_affordable_floor_gets_finer_with_the_budget(rng):
    """More work allowed never means a coarser push; enough is what misses 1 % of a profile."""
    diffusion = Diffusion(knn_graph(rng.normal(size=(60, 2)), n_neighbors=4), 0.9, scaling="none")
    rows = np.arange(60)
    budgets = [ProfileRule(edge_budget=budget) for budget in (1, 10**4, 10**6, 10**12)]
    floors = [affordable_floor(diffusion, rows, rule) for rule in budgets]
    assert floors == sorted(floors, reverse=True)
    assert floors[0] == RULE.floors[0]
    whole = dense_inverse(diffusion).sum()
    coarser = RULE.floors[RULE.floors.index(floors[-1]) - 1]
    missed = [1 - local_profiles(diffusion, rows, floor).sum() / whole for floor in (floors[-1], coarser)]
    assert missed[0] < 0.012 < missed[1]


def test_isolated_items_need_no_fine_floor(two_cliques_and_a_loner):
    """A push from an isolated item is done after one step, however fine."""
    diffusion = Diffusion(two_cliques_and_a_loner, 0.9)
    assert affordable_floor(diffusion, np.array([7])) == RULE.floors[-1]


def test_the_dense_inverse_is_in_the_users_order(rng):
    """M e_q read off the table equals a solve for q."""
    diffusion = Diffusion(knn_graph(rng.normal(size=(50, 2)), n_neighbors=4), 0.9, scaling="none")
    for row in (0, 17):
        np.testing.assert_allclose(
            dense_inverse(diffusion)[:, row], diffusion.literal_profile(row), atol=1e-9
        )
