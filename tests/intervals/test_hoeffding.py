"""Hoeffding intervals: the formula and its laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.literal import literal_mass
from softspread.errors import InputError
from softspread.intervals.hoeffding import hoeffding
from softspread.spreading.evidence import soft_labels
from vote_sums import ROUNDING, exact_sums, random_case, sums_over
from voting import table


@pytest.mark.parametrize("m", [4, 9])
def test_m_fold_votes_narrow_hoeffding_by_the_root_of_m(m):
    """Everybody says the same m times: the half-width shrinks by sqrt(m)."""
    _, _, diffusion, votes, mass, _ = random_case(8, m=40)
    more = table(np.tile(votes.rows, m), np.tile(votes.columns, m))

    def spread(votes, mass):
        sums = sums_over(diffusion, votes, mass, lipschitz=0.0)
        return np.sqrt(sums.upper) / mass.sum(axis=1)

    assert_allclose(spread(more, m * mass), spread(votes, mass) / np.sqrt(m), rtol=1e-9)
    p = mass / mass.sum(axis=1, keepdims=True)
    widths = [
        np.subtract(*hoeffding(p, y, sums_over(diffusion, v, y, lipschitz=0.0), 0.9)[::-1])
        for v, y in ((votes, mass), (more, m * mass))
    ]
    assert (widths[1] <= widths[0] + ROUNDING).all()
    assert widths[1].mean() < widths[0].mean()


def test_hoeffding_is_the_formula():
    """Half-width and bias as written, clipped to [0, 1]."""
    X, _, diffusion, votes, mass, phi = random_case(4, m=60)
    level, lipschitz, n_intervals = 0.8, 0.1, 3
    squares, bias = exact_sums(X, votes, phi, lipschitz)
    evidence = mass.sum(axis=1)
    half = (np.sqrt(np.log(2 * n_intervals / (1 - level)) / 2 * squares) + bias) / evidence
    p = mass / evidence[:, None]
    sums = sums_over(diffusion, votes, mass, lipschitz=lipschitz)
    lower, upper = hoeffding(p, mass, sums, level, n_intervals)
    assert_allclose(lower, np.maximum(p - half[:, None], 0), atol=1e-8)
    assert_allclose(upper, np.minimum(p + half[:, None], 1), atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), level=st.floats(0.01, 0.999), kappa=st.sampled_from([0.0, 1e-4, 5.0]))
def test_hoeffding_contains_p_and_lies_in_0_1(seed, level, kappa):
    """Also where a strong prior moves p; simultaneous intervals contain pointwise ones; nothing is NaN."""
    _, _, diffusion, votes, mass, _ = random_case(seed, n=20, m=5)
    prior = np.random.default_rng(seed).dirichlet(np.ones(3), 20)
    p = soft_labels(mass, prior, kappa)
    sums = sums_over(diffusion, votes, mass, lipschitz=0.5)
    lower, upper = hoeffding(p, mass, sums, level)
    wide = hoeffding(p, mass, sums, level, n_intervals=3)
    assert ((lower >= 0) & (lower <= p) & (p <= upper) & (upper <= 1)).all()
    assert (wide[0] <= lower).all()
    assert (wide[1] >= upper).all()
    assert (wide[1] - wide[0]).sum() >= (upper - lower).sum()


def test_no_evidence_means_no_knowledge(two_cliques_and_a_loner):
    """An item that no vote reaches gets [0, 1], with and without votes elsewhere."""
    diffusion = Diffusion(two_cliques_and_a_loner, 0.9, n_jobs=1)
    for votes in (table([0, 1], [0, 1]), table([], [])):
        mass = literal_mass(diffusion, votes, 2)
        p = soft_labels(mass, np.full(2, 0.5), 1e-4)
        for floor in (None, 1e-3):
            sums = sums_over(diffusion, votes, mass, lipschitz=0.0, floor=floor)
            lower, upper = hoeffding(p, mass, sums, 0.9)
            empty = mass.sum(axis=1) == 0
            assert (lower[empty] == 0).all()
            assert (upper[empty] == 1).all()
            assert empty[7]


def test_hoeffding_covers_at_least_what_it_promises(rng):
    """Probabilities that change slowly, L known: coverage over many draws is at least the level at every
    item."""
    x = np.sort(rng.uniform(0, 4, 60))
    truth = 0.5 + 0.1 * x
    graph = knn_graph(x[:, None], n_neighbors=6)
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    inside = []
    for _ in range(60):
        rows = rng.integers(0, 60, 80)
        votes = table(rows, rng.random(80) < truth[rows])
        mass = literal_mass(diffusion, votes, 2)
        sums = sums_over(diffusion, votes, mass, lipschitz=0.1)
        lower, upper = hoeffding(soft_labels(mass, np.full(2, 0.5), 1e-4), mass, sums, 0.8)
        inside.append((lower[:, 1] <= truth) & (truth <= upper[:, 1]))
    assert np.mean(inside, axis=0).min() >= 0.8


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5, float("nan"), "0.9", None, True])
def test_levels_outside_0_1_are_refused(level):
    """A level is a number strictly between 0 and 1."""
    _, _, diffusion, votes, mass, _ = random_case(0)
    sums = sums_over(diffusion, votes, mass, lipschitz=0.0)
    with pytest.raises(InputError, match="confidence_level"):
        hoeffding(mass, mass, sums, level)


def test_hoeffding_without_a_lipschitz_constant_is_refused():
    """Nobody gets an interval without bias bound by accident."""
    _, _, diffusion, votes, mass, _ = random_case(0)
    with pytest.raises(InputError, match="needs a Lipschitz constant"):
        hoeffding(mass, mass, sums_over(diffusion, votes, mass), 0.9)
    for bad in (-1.0, float("nan"), float("inf"), "2"):
        with pytest.raises(InputError, match="lipschitz"):
            sums_over(diffusion, votes, mass, lipschitz=bad)
