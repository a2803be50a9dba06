"""Local solves for scales: compiled = plain Python, and certain where they say so."""

import numpy as np
import pytest

from kernel_twins import SHAPES, dense, random_system, same_as_python
from softspread._kernels.local_scales import (
    N_CUTS,
    ScaleGoal,
    _add_members,
    _onward,
    _refresh_outside,
    _runner_up,
    _size_of,
    _size_to_add,
    _solve_inside,
    local_scale,
    local_scales,
    local_work,
)

ALPHA = 0.9


def memory(n):
    """Scratch memory without leftovers of other tests, so that it can be compared."""
    work = local_work(n, n, 2 * n, n * n + n)
    for array in work:
        array[:] = 0
    work.local_of[:] = -1
    return work


def begun(system, seed):
    """A seed met but not yet in P, as at the start of a solve."""
    work = memory(len(system.root))
    work.local_of[seed] = 0
    work.node[0] = seed
    work.residual[0] = 1.0
    work.cuts[_size_of(work.bits[0])] = 1
    return work


def grown(system, seed, rounds=2):
    """A set P after some rounds of growing and solving, with the numbers that go with it."""
    work, n_met, n_members, n_edges = begun(system, seed), 1, 0, 0
    for _ in range(rounds):
        n_met, n_members, n_edges, _ = _add_members(system, work, N_CUTS - 1, n_met, n_members, n_edges)
        _solve_inside(work, n_members, ALPHA, 1e-8)
        _refresh_outside(work, n_met, n_members, ALPHA)
    return work, n_met, n_members, n_edges


@pytest.mark.parametrize("value", [1.9, 1.0, 0.3, -0.3, 1e-5, 1e-30, 0.0])
def test_sizes_of_residuals_are_octaves_cut_in_four(value):
    """Larger residuals have smaller numbers, whatever their sign; the smallest share the last."""
    bits = np.array([value]).view(np.int64)[0]
    _, size = same_as_python(_size_of, lambda: (bits,))
    assert 0 <= size < N_CUTS
    octave = np.floor(np.log2(abs(value))) if value else -np.inf
    assert size == N_CUTS - 1 or 4 * (0 - octave) <= size <= 4 * (1 - octave)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("first_round", [True, False])
def test_as_many_members_are_added_as_are_worth_it(shape, first_round):
    """A number of a size, or all but one of too many."""
    system, _ = random_system(shape)

    def arguments():
        work, n_met, n_members, _ = grown(system, 0, 1)
        work.cuts[:40] += 3
        return work, n_members, max(1, n_met - n_members), 0.1, first_round

    _, size = same_as_python(_size_to_add, arguments)
    assert -1 <= size < N_CUTS


@pytest.mark.parametrize("shape", SHAPES)
def test_members_bring_their_rows_and_meet_their_neighbours(shape):
    """P holds the seed after the first round; every neighbour has a local number."""
    system, _ = random_system(shape)
    seed = (len(system.root)) // 2
    arguments = begun(system, seed)
    assert arguments.local_of[seed] == 0
    (_, work, *_), (n_met, n_members, n_edges, full) = same_as_python(
        _add_members, lambda: (system, begun(system, seed), N_CUTS - 1, 1, 0, 0)
    )
    degree = system.indptr[seed + 1] - system.indptr[seed]
    assert (n_met, n_members, n_edges, full) == (1 + degree, 1, degree, False)
    assert set(work.node[:n_met].tolist()) == {
        seed,
        *system.indices[system.indptr[seed] : system.indptr[seed + 1]].tolist(),
    }


def test_growing_stops_where_memory_ends():
    """With room for one member only, the second is refused and the caller told."""
    system, _ = random_system("pair")

    def arguments():
        work = local_work(2, 1, 4, 4)
        for array in work:
            array[:] = 0
        work.local_of[:] = [0, 1]
        work.node[:2] = [0, 1]
        work.residual[:2] = 1.0
        return system, work, N_CUTS - 1, 2, 0, 0

    _, (_, n_members, _, full) = same_as_python(_add_members, arguments)
    assert (n_members, full) == (1, True)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_system_on_the_set_is_solved(shape):
    """x on P solves (I - alpha S_PP) x = e_q."""
    system, _ = random_system(shape)

    def arguments():
        work, _, n_members, _ = grown(system, 0, 1)
        work.x[:] = 0.0
        work.r[:] = 0.0
        work.r[0] = 1.0
        work.p[:] = 0.0
        return work, n_members, ALPHA, 1e-24

    (work, n_members, *_), _ = same_as_python(_solve_inside, arguments)
    nodes = work.node[work.member[:n_members]]
    inside = dense(system)[np.ix_(nodes, nodes)]
    np.testing.assert_allclose(work.x[:n_members], np.linalg.solve(inside, np.eye(n_members)[0]), atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_residual_outside_is_that_of_x(shape):
    """x.r, |r|^2 and the number of nodes outside, from the dense formula."""
    system, _ = random_system(shape)
    n = len(system.root)

    def arguments():
        work, n_met, n_members, _ = grown(system, 0, 1)
        return work, n_met, n_members, ALPHA

    (work, n_met, n_members, _), (correction, squares, n_outside) = same_as_python(
        _refresh_outside, arguments
    )
    x = np.zeros(n)
    x[work.node[work.member[:n_members]]] = work.x[:n_members]
    r = np.eye(n)[0] - dense(system) @ x
    assert correction == pytest.approx(x @ r, abs=1e-12)
    assert squares == pytest.approx(r @ r, abs=1e-12)
    assert n_outside == n_met - n_members == work.cuts.sum()


@pytest.mark.parametrize("shape", SHAPES)
def test_where_the_residual_flows_next(shape):
    """r.S r and |S r|^2 over the nodes met, from the dense formula."""
    system, _ = random_system(shape)
    n = len(system.root)

    def arguments():
        work, n_met, n_members, _ = grown(system, 0, 1)
        return system, work, n_met, n_members

    (_, work, n_met, n_members), (product, squares) = same_as_python(_onward, arguments)
    x = np.zeros(n)
    x[work.node[work.member[:n_members]]] = work.x[:n_members]
    r = np.eye(n)[0] - dense(system) @ x
    flow = ((np.eye(n) - dense(system)) @ r / system.alpha)[work.node[:n_met]]
    assert product == pytest.approx(r[work.node[:n_met]] @ flow, abs=1e-12)
    assert squares == pytest.approx(flow @ flow, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("degree_above", [0.0, 1e9])
def test_the_runner_up_is_the_largest_other_entry_among_heavy_items(shape, degree_above):
    """0 where no item is heavy enough or P holds the seed alone."""
    system, degrees = random_system(shape)

    def arguments():
        work, _, n_members, _ = grown(system, 0)
        return work, n_members, degrees, degree_above

    (work, n_members, *_), best = same_as_python(_runner_up, arguments)
    expected = work.x[1:n_members].max(initial=0.0) if degree_above == 0.0 else 0.0
    assert best == pytest.approx(max(expected, 0.0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("want_peak", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.98])
def test_a_local_scale_is_certain_to_delta(shape, want_peak, alpha):
    """The diagonal of the dense inverse lies between the proven bounds, and these are close."""
    system, degrees = random_system(shape, alpha)
    n, delta = len(system.root), 1e-3
    M = np.linalg.inv(dense(system))
    for seed in {0, n // 2, n - 1}:
        goal = ScaleGoal(delta, want_peak, float(degrees.max()))
        (*_, out), n_met = same_as_python(
            local_scale,
            lambda: (system, degrees, goal, np.uint32(seed), memory(n), np.zeros(5)),  # noqa: B023
        )
        value, squares, runner_up, _, failed = out
        assert not failed
        assert 1 <= n_met <= n
        lowest, highest = value + squares / (1 + alpha), value + squares / (1 - alpha)
        assert lowest - 1e-12 <= M[seed, seed] <= highest + 1e-12
        assert highest - lowest <= 2.1 * delta * lowest
        if want_peak:
            assert max(M[seed, seed], runner_up) == pytest.approx(M[:, seed].max(), rel=2.1 * delta)


@pytest.mark.parametrize("shape", SHAPES)
def test_several_seeds_leave_no_trace_in_each_other(shape):
    """Each row is that of the seed alone, and the memory is ready for the next call."""
    system, degrees = random_system(shape)
    n = len(system.root)
    goal = ScaleGoal(1e-4, True, float(degrees.max()))
    seeds = np.arange(n, dtype=np.uint32)
    (*_, work, out), _ = same_as_python(
        local_scales, lambda: (system, degrees, goal, seeds, memory(n), np.zeros((n, 5)))
    )
    assert (work.local_of == -1).all()
    for seed in range(n):
        alone = np.zeros(5)
        local_scale(system, degrees, goal, np.uint32(seed), memory(n), alone)
        np.testing.assert_allclose(out[seed], alone, rtol=1e-12)
