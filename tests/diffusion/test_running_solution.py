"""A solution that follows its votes, and its bounds."""

from types import SimpleNamespace

import numpy as np
import pytest

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.running_solution import RunningSolution, UpdateRule
from softspread.diffusion.solver import apply_system, entry_bound
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable

ITEMS = 1500  # above the dense limit, so that pushes and local scales are at work
HURRIED = UpdateRule(edges_per_vote=300)


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(11)
    return knn_graph(np.concatenate([rng.normal(c, 1, size=(ITEMS // 2, 3)) for c in (0, 3)]), n_neighbors=8)


def random_votes(rng, m, n_classes=3):
    return rng.integers(0, ITEMS, m), rng.integers(0, n_classes, m)


@pytest.mark.parametrize("piece", [1, 7, ITEMS, 10 * ITEMS])
def test_the_bound_does_not_depend_on_the_pieces_it_is_found_in(graph, piece, rng):
    """The largest residual and the norm over all rows, however they are cut."""
    diffusion = Diffusion(graph, 0.9)
    running = RunningSolution(diffusion, VoteTable.empty(), 3, UpdateRule(cached_rows=piece))
    R = rng.normal(size=(ITEMS, 3))
    running.restore({"Y": np.zeros((ITEMS, 3)), "R": R}, refined=True)
    level = (np.abs(R) / graph.inner_root[:, None]).max()
    norm = np.linalg.norm(R, axis=0).max()
    expected = np.minimum(graph.inner_root * level / 0.1, entry_bound(0.9, norm))
    np.testing.assert_allclose(running.error_bound()[graph.order], expected, rtol=1e-12)


def test_a_refinement_solves_one_column_or_all(graph, monkeypatch):
    """Loops are compiled for each number of columns; an odd number of them must not cost a compilation."""
    diffusion = Diffusion(graph, 0.99)
    state = SpreadState(diffusion, VoteTable.empty(), 3, HURRIED)
    widths = []
    solve = diffusion.solver.solve
    counting = SimpleNamespace(solve=lambda B, *rest: widths.append(B.shape[1]) or solve(B, *rest))
    monkeypatch.setattr(diffusion, "solver", counting)  # scales keep their own
    for columns in ([1], [0, 2]):
        votes = VoteTable(np.arange(len(columns)) + 5, np.array(columns), np.ones(len(columns)))
        state.votes.append(votes)
        state.add(votes)
        state.refine()
    assert widths == [1, 3]


def test_a_refinement_found_beside_new_votes_is_added_to_them(graph, rng):
    """Linear: what a copy gained is added to a state that has gone on, and its residual and bounds stay
    true."""
    diffusion = Diffusion(graph, 0.9)
    old, new = (VoteTable(*random_votes(rng, 20), np.ones(20)) for _ in range(2))
    live = SpreadState(diffusion, VoteTable(old.rows, old.columns, old.weights), 3, HURRIED)
    live.add(old)
    beside, then = live.copy(), live.copy().arrays()
    beside.refine()
    live.votes.append(new)
    live.add(new)
    live.shift({name: array - then[name] for name, array in beside.arrays().items()}, refined=False)
    residual = live.entries() - apply_system(graph, 0.9, live.Y, diffusion.workers)
    np.testing.assert_allclose(live.R, residual, atol=1e-12)
    shifted, bound = live.mass(), live.error_bound()
    live.refine(tol=1e-11)
    assert (np.abs(shifted - live.mass()) <= bound[:, None] + 1e-9).all()


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_a_solution_follows_to_a_graph_with_other_items(rng, normalization):
    """The bound holds for the sources it had, and a refinement solves for all votes on the new graph."""
    X = rng.normal(size=(300, 2))
    before = np.append(np.arange(20, 290), np.full(10, -1))  # 30 items go, 10 come
    old_graph = knn_graph(X[:290], 6, normalization=normalization)
    new_graph = knn_graph(X[20:], 6, normalization=normalization)
    rows, columns = rng.integers(20, 290, 40), rng.integers(0, 2, 40)
    old = SpreadState(Diffusion(old_graph, 0.9, tol=1e-8), VoteTable(rows, columns, np.ones(40)), 2)
    old.solve()
    new = SpreadState(Diffusion(new_graph, 0.9, tol=1e-8), VoteTable(rows - 20, columns, np.ones(40)), 2)
    new.follow(old, before)
    sources = np.zeros((280, 2))
    np.add.at(sources, (rows - 20, columns), 1 / old.diffusion.scales(rows))
    exact = np.linalg.solve(np.eye(280) - 0.9 * new_graph.S.toarray(), sources)
    assert (np.abs(new.mass() - exact).max(axis=1) <= new.error_bound() + 1e-9).all()
    assert not new.refined
    new.refine()
    fresh = SpreadState(new.diffusion, new.votes, 2)
    fresh.solve()
    np.testing.assert_allclose(new.mass(), fresh.mass(), atol=1e-7)
