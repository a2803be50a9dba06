"""Pushes: compiled = plain Python, and within the bound of the formula."""

import numpy as np
import pytest

from kernel_twins import SHAPES, dense, random_system, same_as_python
from softspread._kernels.push import (
    NO_BUDGET,
    VotedItems,
    clear_touched,
    push,
    push_profiles,
    push_scratch,
    push_sums,
    push_unit,
)

ALPHA = 0.9


def inverse(S):
    return np.linalg.inv(np.eye(len(S.indptr) - 1) - ALPHA * dense(S))


def clean(n):
    return np.zeros(n), np.zeros(n), push_scratch(n)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("floor", "budget"), [(1e-1, NO_BUDGET), (1e-6, NO_BUDGET), (1e-6, 40)])
def test_a_push_keeps_the_invariant_and_says_how_far_it_came(shape, floor, budget):
    """x + M r stays the answer, and no residual is above the level returned; residuals of both signs."""
    S, _, root = random_system(shape)
    n = len(S.indptr) - 1
    starts = np.unique([0, n // 2]).astype(np.uint32)

    def arguments():
        x, r, scratch = clean(n)
        r[starts] = [1.0, -0.3][: len(starts)]
        scratch.touched[: len(starts)] = starts
        scratch.mark[starts] = 1
        return S, root, ALPHA, x, r, floor, budget, len(starts), scratch

    exact = inverse(S) @ arguments()[4]
    (*_, x, r, _, _, _, scratch), (level, n_touched, edges) = same_as_python(push, arguments)
    np.testing.assert_allclose(x + inverse(S) @ r, exact, atol=1e-12)
    assert (np.abs(r) <= level * root + 1e-15).all()
    assert level <= floor or edges > 0
    assert set(np.flatnonzero(r)) <= set(scratch.touched[:n_touched].tolist())


@pytest.mark.parametrize("shape", SHAPES)
def test_a_unit_push_finds_a_profile_and_can_be_cleared(shape):
    """Never above the true profile, close to it, and nothing is left behind."""
    S, _, root = random_system(shape)
    n = len(S.indptr) - 1

    def arguments():
        return S, root, ALPHA, np.uint32(n - 1), 1e-4, *clean(n)

    (*_, x, r, scratch), (n_touched, _) = same_as_python(push_unit, arguments)
    profile = inverse(S)[:, n - 1]
    assert (x <= profile + 1e-12).all()
    assert (profile - x <= root * 1e-4 / (1 - ALPHA) + 1e-12).all()

    def used():
        touched = scratch.touched.copy(), scratch.mark.copy(), scratch.queue.copy(), scratch.queued.copy()
        return (
            x.copy(),
            r.copy(),
            scratch._replace(**dict(zip(scratch._fields, touched, strict=True))),
            n_touched,
        )

    (x, r, scratch, _), _ = same_as_python(clear_touched, used)
    assert not x.any()
    assert not r.any()
    assert not scratch.mark.any()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_times", [1, 200])  # the memory for what was found must grow
def test_profiles_of_several_seeds_stand_one_after_the_other(shape, n_times):
    """Sizes, nodes and values; scratch memory is clean at the end."""
    S, _, root = random_system(shape)
    n = len(S.indptr) - 1
    seeds = np.tile(np.arange(n), n_times).astype(np.uint32)

    def arguments():
        return S, root, ALPHA, seeds, 1e-3, *clean(n)

    if n_times > 1:
        (*_, x, r, scratch), (sizes, nodes, values, edges) = arguments(), push_profiles(*arguments())
    else:
        (*_, x, r, scratch), (sizes, nodes, values, edges) = same_as_python(push_profiles, arguments)
    assert not x.any()
    assert not r.any()
    assert not scratch.mark.any()
    assert edges >= 0
    found = np.zeros((len(seeds), n))
    found[np.repeat(np.arange(len(seeds)), sizes), nodes] = values
    assert (found <= inverse(S)[seeds] + 1e-12).all()
    np.testing.assert_allclose(found, inverse(S)[seeds], atol=float(root.max()) * 1e-3 / (1 - ALPHA))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lipschitz", [-1.0, 0.3])
def test_sums_over_votes_are_sums_over_profiles(shape, lipschitz):
    """w phi, w^2 phi^2 and w phi min(1, L dist), as the profiles of the same push give them."""
    S, _, root = random_system(shape)
    n = len(S.indptr) - 1
    rng = np.random.default_rng(3)
    features, factor = rng.normal(size=(n, 2)).astype(np.float32), rng.random(n)
    voted = VotedItems(np.arange(n, dtype=np.uint32), rng.random(n), rng.random((n, 2)))

    def arguments():
        return S, root, ALPHA, voted, factor, features, lipschitz, 1e-3, *clean(n), np.zeros((n, 3))

    (*_, x, r, scratch, sums), _ = same_as_python(push_sums, arguments)
    assert not x.any()
    assert not r.any()
    sizes, nodes, values, _ = push_profiles(S, root, ALPHA, voted.seeds, 1e-3, x, r, scratch)
    phi = np.zeros((n, n))
    phi[nodes, np.repeat(np.arange(n), sizes)] = values
    phi *= voted.sources * factor[:, None]
    gaps = np.linalg.norm(features[:, None].astype(float) - features, axis=2)
    np.testing.assert_allclose(sums[:, 0], phi @ voted.weights[:, 0], atol=1e-12)
    np.testing.assert_allclose(sums[:, 1], phi**2 @ voted.weights[:, 1], atol=1e-12)
    far = np.minimum(1.0, lipschitz * gaps) if lipschitz >= 0 else np.zeros((n, n))
    np.testing.assert_allclose(sums[:, 2], (phi * far) @ voted.weights[:, 0], atol=1e-6)
