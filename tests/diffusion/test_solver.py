"""Every solver against the dense truth, within the bound that it states itself."""

import numpy as np
import pytest

from softspread import ConvergenceError
from softspread._common.threads import Workers
from softspread.diffusion.lazy_solver import prepare
from softspread.diffusion.solver import GraphSolver, column_groups
from systems import dense_answer, two_blobs

SOLVERS = ["dense", "direct", "cg", "push", "amg"]
ROUNDING = 1e-11  # of the dense reference itself, whose condition is up to 2000 here


@pytest.fixture(scope="module")
def graph():
    return two_blobs()


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


@pytest.mark.parametrize("n_columns", [1, 2, 15, 16, 17, 33, 200])
def test_column_groups_cover_all_columns_once(n_columns):
    """Groups are contiguous, none larger than the compiled loops take."""
    groups = column_groups(n_columns)
    assert [c for group in groups for c in range(group.start, group.stop)] == list(range(n_columns))
    assert max(group.stop - group.start for group in groups) <= 16


class Hopeful(GraphSolver):
    """Believes what it is given."""

    name = "hopeful"


def test_wrong_answer_of_any_solver_is_refused(graph):
    """The residual is measured on the answer, whatever a solver believes."""
    B = np.ones((graph.n_items, 1))
    with Workers(1) as workers, pytest.raises(ConvergenceError, match="hopeful"):
        Hopeful(graph, 0.9, workers).measured(np.zeros_like(B), B, 1e-6, 1)
