"""Every solver against the dense truth, within the bound that it states itself."""

import numpy as np
import pytest

from softspread import ConvergenceError, InputError, MissingExtraError, affinity_graph, knn_graph
from softspread._common.threads import Workers
from softspread._kernels.push import push_scratch
from softspread.diffusion import amg, cg, direct, push
from softspread.diffusion.prepared import prepare
from softspread.diffusion.solver import column_groups, measure, row_blocks

SOLVERS = ["dense", "direct", "cg", "push", "amg"]
ROUNDING = 1e-11  # of the dense reference itself, whose condition is up to 2000 here


@pytest.fixture(scope="module")
def graph():
    """Two blobs, one of them with an isolated pair far away."""
    rng = np.random.default_rng(5)
    X = np.concatenate(
        [rng.normal(size=(150, 3)), rng.normal(8, 1, size=(90, 3)), [[900, 0, 0], [901, 0, 0]]]
    )
    return knn_graph(X, n_neighbors=7)


def dense_answer(graph, alpha, B):
    return np.linalg.solve(np.eye(graph.n_items) - alpha * graph.inner_operator().toarray(), B)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("name", SOLVERS)
def test_solver_is_within_its_own_bound_of_the_dense_answer(name, alpha, graph, rng):
    """No entry is further from the truth than the report says, and the residual is what was asked."""
    B = np.zeros((graph.n_items, 3))
    B[rng.integers(0, graph.n_items, 40), rng.integers(0, 3, 40)] = rng.random(40)
    with Workers(2) as workers:
        solution = prepare(name, graph, alpha, workers).solve(B, 1e-7)
    error = np.abs(solution.X - dense_answer(graph, alpha, B)).max()
    assert solution.report.solver == name
    assert solution.report.residual <= 1.001e-7
    assert error <= solution.report.bound + ROUNDING
    residual = B - (solution.X - alpha * (graph.inner_operator() @ solution.X))
    np.testing.assert_allclose(solution.R, residual, atol=1e-13)


@pytest.mark.parametrize("name", SOLVERS)
def test_zero_right_hand_side_gives_zero(name, graph):
    """No votes, no mass, and no step of division by zero."""
    with Workers(1) as workers:
        solution = prepare(name, graph, 0.9, workers).solve(np.zeros((graph.n_items, 2)), 1e-8)
    assert not solution.X.any()
    assert solution.report.bound == 0.0


def test_answer_does_not_depend_on_the_number_of_threads(rng):
    """Blocks are cut by the graph alone, so sums are added in the same order."""
    graph = knn_graph(rng.normal(size=(30_000, 2)), n_neighbors=5)
    B = np.zeros((graph.n_items, 7))
    B[rng.integers(0, graph.n_items, 500), rng.integers(0, 7, 500)] = 1.0
    answers = []
    for n_threads in (1, 2, 3):
        with Workers(n_threads) as workers:
            answers.append(prepare("cg", graph, 0.9, workers).solve(B, 1e-6).X)
    assert len(row_blocks(graph, 7)) > 1
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_many_columns_are_solved_in_groups(graph, rng):
    """More classes than the compiled loops take at once give the same answer."""
    B = rng.random((graph.n_items, 37))
    with Workers(2) as workers:
        solution = prepare("cg", graph, 0.8, workers).solve(B, 1e-10)
    np.testing.assert_allclose(solution.X, dense_answer(graph, 0.8, B), atol=1e-8)


@pytest.mark.parametrize("n_columns", [1, 2, 15, 16, 17, 33, 200])
def test_column_groups_cover_all_columns_once(n_columns):
    """Groups are contiguous, none larger than the compiled loops take."""
    groups = column_groups(n_columns)
    assert [c for group in groups for c in range(group.start, group.stop)] == list(range(n_columns))
    assert max(group.stop - group.start for group in groups) <= 16


def test_unsolved_system_is_an_error_never_an_answer(graph, monkeypatch):
    """Too few steps raise; the message says how far it got and what to do."""
    monkeypatch.setattr(cg.ConjugateGradients, "most_steps", lambda self, tol: 2)
    B = np.eye(graph.n_items)[:, :2]
    with (
        Workers(1) as workers,
        pytest.raises(ConvergenceError, match=r"cg reached a relative residual of .* asked 1e-08"),
    ):
        prepare("cg", graph, 0.99, workers).solve(B, 1e-8)


def test_wrong_answer_of_any_solver_is_refused(graph):
    """The residual is measured on the answer, whatever a solver believes."""
    B = np.ones((graph.n_items, 1))
    with Workers(1) as workers, pytest.raises(ConvergenceError):
        measure(graph, 0.9, np.zeros_like(B), B, 1e-6, "hopeful", 1, workers)


def test_dense_refuses_what_would_not_fit(graph, monkeypatch):
    """A dense factor of a large graph is refused before memory runs out."""
    monkeypatch.setattr(direct, "MOST_DENSE_ITEMS", 10)
    with Workers(1) as workers, pytest.raises(InputError, match="use solver='cg'"):
        prepare("dense", graph, 0.5, workers)


def test_missing_multigrid_names_the_extra(graph, monkeypatch):
    """Without pyamg the error says what to install, and "auto" does not need it."""
    monkeypatch.setitem(__import__("sys").modules, "pyamg", None)
    with Workers(1) as workers, pytest.raises(MissingExtraError, match=r"softspread\[amg\]"):
        amg.MultigridSolver(graph, 0.9, workers)


def test_push_stops_at_the_floor_everywhere():
    """After a push no residual is above its share of the floor, and x + M r is the exact answer."""
    graph = affinity_graph(np.ones((6, 6)))
    root = graph.root_degrees()
    x, r = np.zeros(6), np.zeros(6)
    r[2] = 1.0
    level, n_touched, edges = push.push_residual(
        graph, root, 0.9, x, r, np.array([2], dtype=np.uint32), 1e-3, 10**9, push_scratch(6)
    )
    assert level <= 1e-3
    assert (np.abs(r) <= 1e-3 * root).all()
    assert n_touched == 6
    assert edges > 0
    M = np.linalg.inv(np.eye(6) - 0.9 * graph.inner_operator().toarray())
    np.testing.assert_allclose(x + M @ r, M[:, 2], atol=1e-12)


def test_answer_of_a_column_does_not_depend_on_its_neighbours(graph):
    """Solved beside an easy or a hard column, a column gets the same answer to rounding."""
    B = np.zeros((graph.n_items, 3))
    B[3, 0] = 1.0
    B[:, 1] = graph.root_degrees()  # the slowest direction
    B[100, 2] = 1e-9
    with Workers(1) as workers:
        solver = prepare("cg", graph, 0.99, workers)
        together = solver.solve(B, 1e-3).X
        alone = solver.solve(B[:, :1].copy(), 1e-3).X
    np.testing.assert_allclose(together[:, :1], alone, atol=1e-12)
