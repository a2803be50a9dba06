"""The names of the solvers, the default first; other packages add theirs by entry point."""

from typing import TYPE_CHECKING

from softspread._common.registry import Registry

if TYPE_CHECKING:
    from softspread.diffusion.solver import SolverFactory

_HERE = "softspread.diffusion"
SOLVERS: "Registry[SolverFactory]" = Registry(
    "solver",
    "softspread.solvers",
    {
        "auto": f"{_HERE}.default_solver:prepare_default",
        "dense": f"{_HERE}.direct:DenseSolver",
        "direct": f"{_HERE}.direct:SparseDirectSolver",
        "cg": f"{_HERE}.cg:ConjugateGradients",
        "push": f"{_HERE}.push:PushSolver",
        "amg": f"{_HERE}.amg:MultigridSolver",
        "torch": f"{_HERE}.torch:TorchSolver",
        "literal": f"{_HERE}.default_solver:prepare_default",  # as "auto", but vote by vote
    },
)
