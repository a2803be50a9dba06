"""The suite for solvers: every built-in one passes, and every broken promise is noticed."""

from dataclasses import replace

import numpy as np
import pytest

from softspread.diffusion.direct import DenseSolver
from softspread.diffusion.registry import SOLVERS
from softspread.testing import check_solver

LIBRARIES = {"amg": "pyamg", "torch": "torch"}  # of an extra, not always installed


@pytest.mark.parametrize("name", SOLVERS.names())
def test_built_in_solvers_pass(name):
    """Each one keeps the promises of the seam."""
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    check_solver(name)


class Rough(DenseSolver):
    def solve(self, B, tol, advance=None):
        solution = super().solve(B, tol)
        return replace(solution, X=solution.X * (1 + 1e-4))


class Greedy(DenseSolver):
    def solve(self, B, tol, advance=None):
        solution = super().solve(B, tol)
        B[:] = 0
        return solution


class Boastful(DenseSolver):
    def solve(self, B, tol, advance=None):
        solution = super().solve(B, tol)
        return replace(solution, report=replace(solution.report, residual=0.5))


class Forgetful(DenseSolver):
    def solve(self, B, tol, advance=None):
        solution = super().solve(B, tol)
        return replace(solution, R=np.ones_like(B))


class Mixing(DenseSolver):
    def solve(self, B, tol, advance=None):
        solution = super().solve(B, tol)
        return solution if B.shape[1] > 1 else replace(solution, X=solution.X + 0.1)


class Nameless(DenseSolver):
    name = ""


class Moody(DenseSolver):
    calls = 0

    def solve(self, B, tol, advance=None):
        Moody.calls += 1
        solution = super().solve(B, tol)
        return replace(solution, X=solution.X * (1 + 1e-15 * Moody.calls))


class Anonymous(DenseSolver):
    def solve(self, B, tol, advance=None):
        solution = super().solve(B, tol)
        return replace(solution, report=replace(solution.report, solver="someone"))


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Rough, "every column reaches the tolerance"),
        (Greedy, "the right-hand sides stay as they are"),
        (Boastful, "the report is truthful"),
        (Forgetful, "R is what is left over"),
        (Mixing, "a column alone has the same answer"),
        (Nameless, "a solver has a name"),
        (Moody, "the same question has the same answer"),
        (Anonymous, "the report names the solver"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    """The message says which one."""
    with pytest.raises(AssertionError, match=promise):
        check_solver(broken)


def test_a_solver_that_gives_up_is_named():
    """An error of ours becomes an AssertionError that carries it."""
    from softspread.errors import ConvergenceError

    class Lazy(DenseSolver):
        def solve(self, B, tol, advance=None):
            raise ConvergenceError("too hot today")

    with pytest.raises(AssertionError, match="the system is solved: too hot today"):
        check_solver(Lazy)
