"""The list of solvers."""

from softspread.diffusion.registry import SOLVERS


def test_every_name_gives_a_solver():
    """The default comes first; the others, but for the paper's loop, are called by their name."""
    assert SOLVERS.names()[:8] == ("auto", "dense", "direct", "cg", "push", "amg", "torch", "literal")
    assert all(SOLVERS.get(name).name == name for name in SOLVERS.names()[1:7])
    assert SOLVERS.get("literal") is SOLVERS.get("auto")
