"""Conjugate gradients on torch's sparse tensors."""

import subprocess
import sys

import numpy as np
import pytest

from softspread import (
    ConvergenceError,
    MissingExtraError,
    ProbabilisticLabelSpreading,
    SoftspreadWarning,
    Votes,
    affinity_graph,
    knn_graph,
)
from softspread._common.threads import Workers
from softspread.diffusion import torch as torch_solver
from softspread.diffusion.lazy_solver import prepare
from systems import dense_answer, two_blobs


def test_missing_torch_names_the_extra(monkeypatch):
    """Without torch the error says what to install."""
    monkeypatch.setitem(sys.modules, "torch", None)
    with Workers(1) as workers, pytest.raises(MissingExtraError, match=r"softspread\[torch\]"):
        torch_solver.TorchSolver(two_blobs(), 0.9, workers)


def test_torch_is_loaded_only_for_this_solver():
    """Nobody pays torch's start-up for another solver."""
    code = "import sys, softspread.diffusion.torch, softspread; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.fixture
def one_thread():
    """Torch's own threads wait for each other where the tests already use all cores."""
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9, 0.99, 0.999])
def test_equal_to_dense_within_the_bound(rng, alpha):
    """No entry is further from the dense answer than the report says, and the report is small."""
    graph = two_blobs()
    B = rng.random((graph.n_items, 5)) * (rng.random((graph.n_items, 5)) < 0.1)
    with Workers(1) as workers:
        solution = prepare("torch", graph, alpha, workers).solve(B, 1e-9)
    error = np.abs(solution.X - dense_answer(graph, alpha, B)).max()
    assert solution.report.solver == "torch"
    assert solution.report.residual <= 1e-9
    assert error <= solution.report.bound + 1e-12
    assert error < 1e-5


@pytest.mark.usefixtures("one_thread")
def test_zero_columns_and_isolated_items():
    """A class without votes stays zero; an item without neighbours keeps what it was given."""
    with pytest.warns(SoftspreadWarning, match="have no neighbour"):
        graph = affinity_graph([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    B = np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    with Workers(1) as workers:
        X = prepare("torch", graph, 0.9, workers).solve(B, 1e-10).X
    np.testing.assert_allclose(X, dense_answer(graph, 0.9, B), atol=1e-9)
    assert not X[:, 1].any()


@pytest.mark.usefixtures("one_thread")
def test_answer_of_a_column_does_not_depend_on_its_neighbours():
    """Solved beside an easy or a hard column, a column gets the same answer to rounding."""
    graph = two_blobs()
    B = np.zeros((graph.n_items, 3))
    B[3, 0] = 1.0
    B[:, 1] = graph.inner_root  # the slowest direction
    B[100, 2] = 1e-9
    with Workers(1) as workers:
        solver = prepare("torch", graph, 0.99, workers)
        together, alone = solver.solve(B, 1e-3).X, solver.solve(B[:, :1].copy(), 1e-3).X
    np.testing.assert_allclose(together[:, :1], alone, atol=1e-12)


@pytest.mark.usefixtures("one_thread")
def test_unsolved_system_is_an_error_never_an_answer(monkeypatch):
    """Too few steps raise; the message says how far it got."""
    monkeypatch.setattr(torch_solver, "most_steps", lambda alpha, tol: 2)
    graph = two_blobs()
    with Workers(1) as workers, pytest.raises(ConvergenceError, match="torch reached a relative residual"):
        prepare("torch", graph, 0.99, workers).solve(np.eye(graph.n_items)[:, :2], 1e-8)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_estimator_gives_the_same_soft_labels(rng, normalization):
    """A fit through the estimator agrees with conjugate gradients to the tolerance."""
    X = rng.normal(size=(1_500, 4))
    graph = knn_graph(X, n_neighbors=8, normalization=normalization)
    items, labels = rng.integers(0, 1_500, 200), rng.integers(0, 3, 200)
    y = Votes.from_pairs(items, labels)
    answers = [
        ProbabilisticLabelSpreading(alpha=0.9, solver=solver, tol=1e-8).fit(graph, y).label_distributions_
        for solver in ("cg", "torch")
    ]
    np.testing.assert_allclose(answers[1], answers[0], atol=1e-6)
