"""Conjugate gradients in lockstep."""

import numpy as np
import pytest

from softspread import ConvergenceError, knn_graph
from softspread._common.threads import Workers
from softspread.diffusion import cg
from softspread.diffusion.lazy_solver import prepare
from softspread.diffusion.solver import row_blocks
from systems import dense_answer, two_blobs


@pytest.fixture(scope="module")
def graph():
    return two_blobs()


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


def test_unsolved_system_is_an_error_never_an_answer(graph, monkeypatch):
    """Too few steps raise; the message says how far it got and what to do."""
    monkeypatch.setattr(cg, "most_steps", lambda alpha, tol: 2)
    B = np.eye(graph.n_items)[:, :2]
    with (
        Workers(1) as workers,
        pytest.raises(ConvergenceError, match=r"cg reached a relative residual of .* asked 1e-08"),
    ):
        prepare("cg", graph, 0.99, workers).solve(B, 1e-8)


def test_answer_of_a_column_does_not_depend_on_its_neighbours(graph):
    """Solved beside an easy or a hard column, a column gets the same answer to rounding."""
    B = np.zeros((graph.n_items, 3))
    B[3, 0] = 1.0
    B[:, 1] = graph.inner_root  # the slowest direction
    B[100, 2] = 1e-9
    with Workers(1) as workers:
        solver = prepare("cg", graph, 0.99, workers)
        together = solver.solve(B, 1e-3).X
        alone = solver.solve(B[:, :1].copy(), 1e-3).X
    np.testing.assert_allclose(together[:, :1], alone, atol=1e-12)
