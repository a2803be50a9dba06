"""Solvers by name, prepared when first needed."""

import numpy as np
import pytest

from softspread import InputError, ProbabilisticLabelSpreading
from softspread._common.threads import Workers
from softspread.diffusion import cg
from softspread.diffusion.cg import ConjugateGradients
from softspread.diffusion.lazy_solver import LazySolver, prepare
from voted_graph import four_clusters


@pytest.fixture(scope="module")
def graph():
    return four_clusters()


def test_unknown_solver_is_refused_with_the_list(graph):
    """The message names what there is."""
    with Workers(1) as workers, pytest.raises(InputError, match="'dense', 'direct', 'cg', 'push', 'amg'"):
        prepare("magic", graph, 0.5, workers)


def test_a_solver_prepared_on_use_is_checked_at_once_and_prepared_once(graph, monkeypatch):
    """A wrong name is refused before anything is solved; the factor is made by the first solve alone."""
    workers = Workers(1)
    with pytest.raises(InputError, match="magic"):
        LazySolver("magic", graph, 0.5, workers)
    made = []
    prepared = cg.ConjugateGradients.__init__
    monkeypatch.setattr(cg.ConjugateGradients, "__init__", lambda *args: made.append(1) or prepared(*args))
    solver = LazySolver("cg", graph, 0.5, workers)
    assert (solver.name, made) == ("cg", [])
    B = np.ones((graph.n_items, 1))
    np.testing.assert_array_equal(solver.solve(B, 1e-8).X, solver.solve(B, 1e-8).X)
    assert made == [1]


def test_a_class_of_the_user_solves_in_place_of_a_name():
    """The estimator hands it graph, alpha and threads, and keeps its answers."""
    made = []

    class Recorded(ConjugateGradients):
        name = "recorded"

        def __init__(self, *args):
            made.append(args[1])
            super().__init__(*args)

    X, y = np.linspace(0, 1, 30)[:, None], np.where(np.arange(30) % 5, -1, np.arange(30) // 15)
    options = {"alpha": 0.8, "n_neighbors": 5, "tol": 1e-9}
    own = ProbabilisticLabelSpreading(solver=Recorded, **options).fit(X, y)
    named = ProbabilisticLabelSpreading(solver="cg", **options).fit(X, y)
    assert made == [0.8]
    np.testing.assert_allclose(own.predict_proba(), named.predict_proba(), atol=1e-9)
    with pytest.raises(InputError, match="solver must be one of"):
        ProbabilisticLabelSpreading(solver="none").fit(X, y)
