"""Sums of squares over votes, which intervals are built on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from softspread._common.threads import Workers
from softspread.diffusion.diagonal import own_reach
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.literal import literal_mass
from softspread.errors import InputError
from softspread.graph.extension import tie_newcomers
from softspread.intervals.vote_sums import sums_for_newcomers
from vote_sums import ROUNDING, exact_sums, random_case, sums_over
from voting import table


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("scaling", ["peak", "source", "none"])
def test_sums_of_small_graphs_agree_with_a_profile_per_vote(normalization, scaling):
    """Up to 2000 items the sums are exact, also for weighted and repeated votes."""
    X, _, diffusion, votes, mass, phi = random_case(
        3, normalization=normalization, scaling=scaling, weighted=True
    )
    sums = sums_over(diffusion, votes, mass, lipschitz=0.4)
    squares, bias = exact_sums(X, votes, phi, 0.4)
    assert_allclose(sums.squares, squares, rtol=1e-8)
    assert_allclose(sums.upper, squares, rtol=1e-8)
    assert_allclose(sums.bias, bias, rtol=1e-8, atol=1e-12)
    own = [phi[row, j] for j, row in enumerate(votes.rows.tolist())]
    assert_allclose(own_reach(diffusion, votes.rows), own, rtol=1e-8)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 40),
    alpha=st.sampled_from([0.0, 0.3, 0.9, 0.99]),
    floor=st.sampled_from([0.5, 0.1, 1e-2, 1e-4]),
    normalization=st.sampled_from(["symmetric", "random_walk"]),
    scaling=st.sampled_from(["peak", "source", "none"]),
    weighted=st.booleans(),
)
def test_pushed_sums_are_never_too_small(seed, n, alpha, floor, normalization, scaling, weighted):
    """However coarse the push, the bounds on squares and bias hold; what was reached is a lower bound."""
    X, _, diffusion, votes, mass, phi = random_case(seed, n, 12, 3, alpha, normalization, scaling, weighted)
    sums = sums_over(diffusion, votes, mass, lipschitz=0.7, floor=floor)
    squares, bias = exact_sums(X, votes, phi, 0.7)
    assert (sums.upper >= squares * (1 - ROUNDING) - 1e-15).all()
    assert (sums.bias >= bias * (1 - ROUNDING) - 1e-15).all()
    assert (sums.squares <= squares * (1 + ROUNDING) + 1e-15).all()


def test_a_fine_push_leaves_little_to_the_bound():
    """The bound is not only valid: at a floor of 1e-6 it is tight to a few percent."""
    X, _, diffusion, votes, mass, phi = random_case(5)
    squares, bias = exact_sums(X, votes, phi, 0.4)
    sums = sums_over(diffusion, votes, mass, lipschitz=0.4, floor=1e-6)
    assert_allclose(np.sqrt(sums.upper), np.sqrt(squares), rtol=0.03)
    assert_allclose(sums.bias, bias, rtol=0.01)


def test_sums_do_not_depend_on_the_number_of_threads():
    """Blocks of seeds are fixed, so threads change no bit."""
    _, graph, _, votes, mass, _ = random_case(1, n=60, m=50)
    results = [
        sums_over(Diffusion(graph, 0.9, n_jobs=jobs), votes, mass, lipschitz=0.2, floor=1e-3)
        for jobs in (1, 3)
    ]
    for name in ("squares", "missing", "bias"):
        assert np.array_equal(getattr(results[0], name), getattr(results[1], name))


def test_new_items_get_bounds_that_hold():
    """The squares and the bias of a new item's weighted votes never exceed what its neighbours imply."""
    X, graph, diffusion, votes, mass, phi = random_case(6)
    new = np.random.default_rng(1).normal(size=(7, 2))
    ties = tie_newcomers(graph, new, Workers(1))
    sums = sums_over(diffusion, votes, mass, lipschitz=0.4)
    theirs = sums_for_newcomers(graph, 0.9, ties, new, mass, sums)
    reach = 0.9 * (ties @ phi)
    distance = np.linalg.norm(new[:, None] - X[votes.rows][None], axis=2)
    assert (theirs.upper >= (reach**2).sum(axis=1) * (1 - ROUNDING)).all()
    assert (theirs.bias >= (reach * np.minimum(1, 0.4 * distance)).sum(axis=1) * (1 - ROUNDING)).all()
    assert isinstance(ties, csr_array)


def test_affinity_graphs_allow_only_intervals_without_bias(path_of_5):
    """A Lipschitz constant above 0 needs distances."""
    diffusion = Diffusion(path_of_5, 0.5, n_jobs=1)
    votes = table([0], [0])
    mass = literal_mass(diffusion, votes, 2)
    with pytest.raises(InputError, match="lipschitz=0"):
        sums_over(diffusion, votes, mass, lipschitz=1.0)
    assert sums_over(diffusion, votes, mass, lipschitz=0.0).bias.tolist() == [0.0] * 5


def test_bounds_grow_with_the_error_of_the_mass():
    """Evidence that is only known to a tolerance may hide more."""
    _, _, diffusion, votes, mass, _ = random_case(0)
    exact = sums_over(diffusion, votes, mass, lipschitz=9.0, floor=1e-2)
    loose = sums_over(diffusion, votes, mass, lipschitz=9.0, floor=1e-2, mass_error=0.1)
    assert (loose.upper >= exact.upper).all()
    assert (loose.bias > exact.bias).all()
    assert replace(exact, missing=np.zeros(len(mass))).upper.sum() < exact.upper.sum()
