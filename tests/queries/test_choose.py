"""Choosing items: what goes in, what comes out, and the state to choose from."""

import numpy as np
import pytest

from softspread import InputError
from softspread.diffusion.diffusion import Diffusion
from softspread.queries.choose import choose_items, choosing_state
from softspread.queries.rule import DEFAULT_RULE as RULE
from softspread.queries.rule import QueryRule
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable
from voted_graph import N, four_clusters, spread


@pytest.fixture(scope="module")
def graph():
    return four_clusters()


@pytest.fixture(scope="module")
def voted(graph):
    """A diffusion, its mass and the number of votes per item."""
    return spread(Diffusion(graph, 0.9, n_jobs=1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"strategy": "best"}, "strategy must be one of"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"batch_size": N + 1}, "only 400 items"),
        ({"batch_size": N, "exclude": [3]}, "only 399 items"),
        ({"exclude": [N]}, "not positions"),
        ({"mass": np.zeros((3, 2))}, "mass must have shape"),
        ({"mass": np.full((N, 2), np.nan)}, "finite"),
        ({"vote_counts": np.zeros(3)}, "vote_counts must have shape"),
    ],
)
def test_bad_input_is_named(voted, change, message):
    """What cannot be used is refused in words."""
    diffusion, mass, counts = voted
    with pytest.raises(InputError, match=message):
        choose_items(**{"diffusion": diffusion, "mass": mass, "vote_counts": counts, **change})


def test_choosing_state_keeps_alpha_within_bounds(graph):
    """From 0.9 to 0.95 the state itself; outside, the same votes at the nearer of the two."""
    votes = VoteTable(np.array([0, 5]), np.array([0, 1]), np.ones(2))
    low, fit, high = (SpreadState(Diffusion(graph, a, n_jobs=1), votes, 2) for a in (0.25, 0.9, 0.99))
    for state in (low, fit, high):
        state.solve()
    assert choosing_state(fit) is fit
    for state, alpha in ((low, RULE.smallest_alpha), (high, RULE.largest_alpha)):
        other = choosing_state(state)
        direct = SpreadState(Diffusion(graph, alpha, n_jobs=1), votes, 2)
        direct.solve()
        assert other.diffusion.alpha == alpha
        assert other.mass() == pytest.approx(direct.mass())


def test_a_function_is_a_strategy(voted):
    """It sees the pool and its rows come back as they are."""

    def most_votes(pool, batch_size):
        return np.argsort(-pool.vote_counts, kind="stable")[:batch_size]

    rows = choose_items(*voted, 4, most_votes)
    assert voted[2][rows].tolist() == sorted(voted[2], reverse=True)[:4]


@pytest.mark.parametrize(
    "returned", [[1], [1, 1, 2], [1, 2, N], [1, 2, -1], [1, 2, 7], [0.0, 1.0, 2.0], None, [[1, 2, 3]]]
)
def test_what_a_function_returns_is_checked(voted, returned):
    """Too few rows, a row twice, no row at all or an excluded one: the strategy is named."""

    def careless(pool, batch_size):
        return returned

    with pytest.raises(InputError, match="strategy 'careless' must return"):
        choose_items(*voted, 3, careless, exclude=[7])


def test_a_function_cannot_open_excluded_items(voted):
    """What is allowed is decided by the caller, whatever the strategy does to the pool."""

    def careless(pool, batch_size):
        pool.open[:] = True
        return [7]

    with pytest.raises(InputError, match="items that may be picked"):
        choose_items(*voted, 1, careless, exclude=[7])


def test_the_rule_is_passed_down(voted):
    """With one candidate the default is as blind as "balanced"; with all of them it takes the best of all."""
    blind = QueryRule(n_candidates=1, warm_up_votes=0)
    first, again = (
        choose_items(*voted, 20, name, np.random.default_rng(0), rule=blind) for name in ("local", "balanced")
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, choose_items(*voted, 20, "local", np.random.default_rng(0)))


def test_choosing_state_keeps_the_solver_and_all_settings(graph):
    """The second state is solved as the user asked, in the scaling and to the tolerance of the first."""
    votes = VoteTable(np.array([0, 5]), np.array([0, 1]), np.ones(2))
    diffusion = Diffusion(graph, 0.5, scaling="source", solver="direct", tol=1e-8, n_jobs=1)
    state = SpreadState(diffusion, votes, 2)
    state.solve()
    other = choosing_state(state).diffusion
    assert other.solver.name == "direct"
    assert (other.scaling, other.tol, other.alpha) == ("source", 1e-8, RULE.smallest_alpha)
    assert other.workers is diffusion.workers  # and with its threads
