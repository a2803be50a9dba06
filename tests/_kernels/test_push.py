"""Pushes: compiled = plain Python, and within the bound of the formula."""

from copy import deepcopy

import numpy as np
import pytest

from kernel_twins import SHAPES, dense, random_system, same_as_python
from softspread._kernels.push import (
    NO_BUDGET,
    NewVotes,
    VotedItems,
    clear,
    push,
    push_profiles,
    push_scratch,
    push_sums,
    push_unit,
    push_votes,
    unit_push,
)

ALPHA = 0.9


def inverse(system):
    return np.linalg.inv(dense(system))


def is_clean(unit):
    return not (unit.x.any() or unit.r.any() or unit.scratch.mark.any() or unit.scratch.queued.any())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("floor", "budget"), [(1e-1, NO_BUDGET), (1e-6, NO_BUDGET), (1e-6, 40)])
def test_a_push_keeps_the_invariant_and_says_how_far_it_came(shape, floor, budget):
    """x + M r stays the answer, and no residual is above the level returned; residuals of both signs."""
    system, _ = random_system(shape)
    n, root = len(system.root), system.root
    starts = np.unique([0, n // 2]).astype(np.uint32)

    def arguments():
        x, r, scratch = unit_push(n)
        r[starts] = [1.0, -0.3][: len(starts)]
        scratch.touched[: len(starts)] = starts
        scratch.mark[starts] = 1
        return system, x, r, floor, budget, len(starts), scratch

    exact = inverse(system) @ arguments()[2]
    (_, x, r, _, _, _, scratch), (level, n_touched, edges) = same_as_python(push, arguments)
    np.testing.assert_allclose(x + inverse(system) @ r, exact, atol=1e-12)
    assert (np.abs(r) <= level * root + 1e-15).all()
    assert level <= floor or edges > 0
    assert set(np.flatnonzero(r)) <= set(scratch.touched[:n_touched].tolist())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("floor", "edges_per_vote"), [(1e-6, 1e9), (1e-6, 5.5), (1e-1, 1e9)])
def test_votes_are_pushed_column_by_column_within_their_bounds(shape, floor, edges_per_vote):
    """The same as a push of each column by itself; two votes on one item, undos, columns without a vote."""
    system, _ = random_system(shape)
    n, root = len(system.root), system.root
    rng = np.random.default_rng(1)
    rows, columns = np.append(rng.integers(0, n, 6), [0, 0]), np.array([3, 0, 3, 1, 0, 3, 1, 1])
    votes = NewVotes(rows, columns, np.append(rng.random(6) + 0.5, [1.0, -0.25]))

    def arguments():
        X, R = np.zeros((2, n, 4))
        bounds = np.array([0.0, 0.0, 0.0, 9.0]), np.ones(4)
        return system, X, R, votes, floor, edges_per_vote, push_scratch(n), *bounds

    (_, X, R, *_, scratch, levels, squares), worst = same_as_python(push_votes, arguments)
    expected = np.zeros((n, 4))
    np.add.at(expected, (rows, columns), votes.amounts)
    np.testing.assert_allclose(X + inverse(system) @ R, inverse(system) @ expected, atol=1e-12)
    assert (np.abs(R) <= levels * root[:, None] + 1e-15).all()
    assert (np.einsum("ij,ij->j", R, R) <= squares).all()
    assert (levels[2], levels[3], squares[2]) == (0.0, 9.0, 1.0)  # bounds of before stay where nothing came
    assert not scratch.mark.any()
    assert not scratch.queued.any()
    for column in (0, 1, 3):
        alone = unit_push(n)
        alone.r[:] = expected[:, column]
        starts = np.unique(rows[columns == column])
        alone.scratch.touched[: len(starts)], alone.scratch.mark[starts] = starts, 1
        budget = round(edges_per_vote * int((columns == column).sum()))
        level, *_ = push(system, alone.x, alone.r, floor, budget, len(starts), alone.scratch)
        assert level <= worst
        np.testing.assert_allclose(X[:, column], alone.x, atol=10 * level + 1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_unit_push_finds_a_profile_and_can_be_cleared(shape):
    """Never above the true profile, close to it, and nothing is left behind."""
    system, _ = random_system(shape)
    n, root = len(system.root), system.root

    (*_, unit), (n_touched, _) = same_as_python(
        push_unit, lambda: (system, np.uint32(n - 1), 1e-4, unit_push(n))
    )
    profile = inverse(system)[:, n - 1]
    assert (unit.x <= profile + 1e-12).all()
    assert (profile - unit.x <= root * 1e-4 / (1 - ALPHA) + 1e-12).all()
    (unit, _), _ = same_as_python(clear, lambda: (deepcopy(unit), n_touched))
    assert is_clean(unit)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_times", [1, 200])  # the memory for what was found must grow
def test_profiles_of_several_seeds_stand_one_after_the_other(shape, n_times):
    """Sizes, nodes and values; scratch memory is clean at the end."""
    system, _ = random_system(shape)
    n, root = len(system.root), system.root
    seeds = np.tile(np.arange(n), n_times).astype(np.uint32)

    def arguments():
        return system, seeds, 1e-3, unit_push(n)

    if n_times > 1:
        *_, unit = once = arguments()
        sizes, nodes, values, edges = push_profiles(*once)
    else:
        (*_, unit), (sizes, nodes, values, edges) = same_as_python(push_profiles, arguments)
    assert is_clean(unit)
    assert edges >= 0
    found = np.zeros((len(seeds), n))
    found[np.repeat(np.arange(len(seeds)), sizes), nodes] = values
    assert (found <= inverse(system)[seeds] + 1e-12).all()
    np.testing.assert_allclose(found, inverse(system)[seeds], atol=float(root.max()) * 1e-3 / (1 - ALPHA))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lipschitz", [-1.0, 0.3])
def test_sums_over_votes_are_sums_over_profiles(shape, lipschitz):
    """w phi, w^2 phi^2 and w phi min(1, L dist), as the profiles of the same push give them."""
    system, _ = random_system(shape)
    n, _root = len(system.root), system.root
    rng = np.random.default_rng(3)
    features, factor = rng.normal(size=(n, 2)).astype(np.float32), rng.random(n)
    voted = VotedItems(np.arange(n, dtype=np.uint32), rng.random(n), rng.random((n, 2)))

    def arguments():
        return system, voted, factor, features, lipschitz, 1e-3, unit_push(n), np.zeros((n, 3))

    (*_, unit, sums), _ = same_as_python(push_sums, arguments)
    assert is_clean(unit)
    sizes, nodes, values, _ = push_profiles(system, voted.seeds, 1e-3, unit)
    phi = np.zeros((n, n))
    phi[nodes, np.repeat(np.arange(n), sizes)] = values
    phi *= voted.sources * factor[:, None]
    gaps = np.linalg.norm(features[:, None].astype(float) - features, axis=2)
    np.testing.assert_allclose(sums[:, 0], phi @ voted.weights[:, 0], atol=1e-12)
    np.testing.assert_allclose(sums[:, 1], phi**2 @ voted.weights[:, 1], atol=1e-12)
    far = np.minimum(1.0, lipschitz * gaps) if lipschitz >= 0 else np.zeros((n, n))
    np.testing.assert_allclose(sums[:, 2], (phi * far) @ voted.weights[:, 0], atol=1e-6)
