"""The votes behind one soft label, in rows and columns."""

import numpy as np
import pytest

from softspread.diffusion.diffusion import Diffusion
from softspread.graph.builders import knn_graph
from softspread.spreading.evidence import soft_labels
from softspread.spreading.explain import HeaviestRule, explain
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable


@pytest.fixture
def diffusion(rng):
    """Forty items at alpha 0.8."""
    return Diffusion(knn_graph(rng.normal(size=(40, 2)), n_neighbors=5), 0.8, tol=1e-10)


def test_shares_of_all_votes_are_the_soft_label(diffusion, rng):
    """Without a prior the soft label is exactly the weighted mean of the votes."""
    votes = VoteTable(rng.integers(0, 40, 30), rng.integers(0, 3, 30), rng.uniform(0.5, 2, 30))
    state = SpreadState(diffusion, votes, 3)
    state.solve()
    p = soft_labels(state.mass(), np.full((40, 3), 1 / 3), 0.0)
    behind = explain(diffusion, votes, 7)
    assert behind.weights.sum() == pytest.approx(1, abs=1e-9)
    assert (np.diff(behind.weights) <= 0).all()
    np.testing.assert_allclose(np.bincount(behind.columns, behind.weights, 3), p[7], atol=1e-7)


def test_votes_alike_are_one_row_and_votes_taken_back_none(diffusion):
    """The same annotator's votes on one item for one class add up; a vote that was undone is gone."""
    who = np.array(["ann", "ann", "bob", "eve", "eve"], dtype=object)
    rows, columns = np.array([1, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1])
    behind = explain(diffusion, VoteTable(rows, columns, np.array([1.0, 1, 1, 1, -1]), who), 1)
    assert behind.annotators.tolist() == ["ann", "bob"]
    np.testing.assert_allclose(behind.weights, [2 / 3, 1 / 3])


def test_only_the_heaviest_are_kept(diffusion, rng):
    """top cuts the list, not the shares."""
    votes = VoteTable(rng.integers(0, 40, 30), rng.integers(0, 3, 30), np.ones(30))
    np.testing.assert_array_equal(
        explain(diffusion, votes, 3, 4).weights, explain(diffusion, votes, 3).weights[:4]
    )


def test_an_item_that_no_vote_reaches_has_no_votes_behind_it():
    """Two groups far apart: the other group's votes say nothing here."""
    graph = knn_graph(np.array([[0.0], [1.0], [1e9], [1e9 + 1]]), n_neighbors=1)
    votes = VoteTable(np.array([0]), np.array([0]), np.ones(1))
    assert len(explain(Diffusion(graph, 0.9), votes, 3)) == 0
    assert len(explain(Diffusion(graph, 0.9), VoteTable.empty(), 0)) == 0


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("edges", [20_000_000, 0], ids=["push", "solve"])
@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_among_many_items_the_heaviest_votes_are_known_to_a_thousandth_of_the_whole(
    rng, alpha, edges, normalization
):
    """Against the solve to many digits, also where little has arrived; all votes are solved for in full.

    A push may go on for as long as it takes, or not begin; votes may be of any weight.
    """
    graph = knn_graph(rng.normal(size=(3000, 3)), n_neighbors=8, normalization=normalization)
    diffusion = Diffusion(graph, alpha, solver="cg")
    votes = VoteTable(rng.integers(0, 3000, 300), rng.integers(0, 3, 300), rng.uniform(0.2, 2.0, 300))
    state, many = SpreadState(diffusion, votes, 3), HeaviestRule(from_items=0, edges=edges)
    state.solve()
    evidence = state.evidence()
    for row in (0, int(evidence.argmin()), int(evidence.argmax())):
        full = explain(diffusion, votes, row)
        quick = explain(diffusion, votes, row, 10, evidence=float(evidence[row]), rule=many)
        exact = {(r, c): w for r, c, w in zip(full.rows, full.columns, full.weights, strict=True)}
        for r, c, weight in zip(quick.rows, quick.columns, quick.weights, strict=True):
            assert abs(weight - exact[r, c]) <= 1.01e-3
        whole = explain(diffusion, votes, row, evidence=float(evidence[row]), rule=many)
        np.testing.assert_array_equal(whole.weights, full.weights)
