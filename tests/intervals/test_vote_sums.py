"""Sums of squares, Hoeffding intervals and the split of uncertainty; Wilson has a file of its own."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from softspread import affinity_graph, knn_graph
from softspread._common.threads import Workers
from softspread.diffusion.diagonal import own_reach
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.literal import literal_mass
from softspread.errors import InputError
from softspread.graph.extension import tie_newcomers
from softspread.intervals.hoeffding import estimate_lipschitz, hoeffding
from softspread.intervals.uncertainty import uncertainty_split
from softspread.intervals.vote_sums import sums_for_newcomers, sums_of_squares
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots
from voting import table

ROUNDING = 1e-9


def sums_over(diffusion, votes, mass, **options):
    """Sums over a table of votes."""
    return sums_of_squares(diffusion, Ballots.of(votes, mass.shape[1]), mass, **options)


def random_case(
    seed, n=30, m=25, n_classes=3, alpha=0.9, normalization="symmetric", scaling="peak", weighted=False
):
    """A small graph, votes on it, their exact mass and the exact phi of every vote."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    graph = knn_graph(X, n_neighbors=min(4, n - 1), normalization=normalization)
    diffusion = Diffusion(graph, alpha, scaling=scaling, n_jobs=1)
    weights = rng.uniform(0.2, 3.0, m) if weighted else None
    votes = table(rng.integers(0, n, m), rng.integers(0, n_classes, m), weights)
    mass = literal_mass(diffusion, votes, n_classes)
    phi = np.stack([diffusion.literal_profile(row) for row in votes.rows], axis=1)
    return X, graph, diffusion, votes, mass, phi


def exact_sums(X, votes, phi, lipschitz):
    distance = np.linalg.norm(X[:, None] - X[votes.rows][None], axis=2)
    bias = (votes.weights * phi * np.minimum(1, lipschitz * distance)).sum(axis=1)
    return (votes.weights**2 * phi**2).sum(axis=1), bias


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


# -------------------------------------------------------------------------------------------------- Lipschitz


def test_lipschitz_of_a_straight_line_is_its_slope():
    """p = 0.1 + 0.2 x has L = 0.2 on every edge."""
    x = np.sort(np.random.default_rng(0).uniform(0, 4, 80))
    p = np.stack([0.9 - 0.2 * x, 0.1 + 0.2 * x], axis=1)
    graph = knn_graph(x[:, None], n_neighbors=5)
    assert_allclose(estimate_lipschitz(graph, p, np.full(80, 2.0)), 0.2, rtol=1e-9)


def test_lipschitz_needs_features_and_evidence():
    """No distances, or next to no votes: an error that says what to do."""
    with pytest.raises(InputError, match="has no features"):
        estimate_lipschitz(affinity_graph([[0, 1], [1, 0]]), np.full((2, 2), 0.5), np.ones(2))
    graph = knn_graph(np.random.default_rng(0).normal(size=(40, 2)), n_neighbors=5)
    with pytest.raises(InputError, match="Collect more votes"):
        estimate_lipschitz(graph, np.full((40, 2), 0.5), np.full(40, 0.5))


def test_affinity_graphs_allow_only_intervals_without_bias(path_of_5):
    """A Lipschitz constant above 0 needs distances."""
    diffusion = Diffusion(path_of_5, 0.5, n_jobs=1)
    votes = table([0], [0])
    mass = literal_mass(diffusion, votes, 2)
    with pytest.raises(InputError, match="lipschitz=0"):
        sums_over(diffusion, votes, mass, lipschitz=1.0)
    assert sums_over(diffusion, votes, mass, lipschitz=0.0).bias.tolist() == [0.0] * 5


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


def test_bounds_grow_with_the_error_of_the_mass():
    """Evidence that is only known to a tolerance may hide more."""
    _, _, diffusion, votes, mass, _ = random_case(0)
    exact = sums_over(diffusion, votes, mass, lipschitz=9.0, floor=1e-2)
    loose = sums_over(diffusion, votes, mass, lipschitz=9.0, floor=1e-2, mass_error=0.1)
    assert (loose.upper >= exact.upper).all()
    assert (loose.bias > exact.bias).all()
    assert replace(exact, missing=np.zeros(len(mass))).upper.sum() < exact.upper.sum()


# ----------------------------------------------------------------------------------- two kinds of uncertainty


def test_entropy_is_0_for_one_class_and_1_for_all_alike():
    """Aleatoric uncertainty ends at 0 and 1; epistemic is the mean width."""
    p = np.array([[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    split = uncertainty_split(p, np.zeros((2, 4)), np.ones((2, 4)), np.ones(2))
    assert_allclose(split.aleatoric, [0, 1], atol=1e-12)
    assert split.epistemic.tolist() == [1, 1]
    alone = uncertainty_split(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
    assert alone.aleatoric.tolist() == [0]
    assert alone.verdict.tolist() == ["clear"]


def test_more_votes_turn_not_enough_into_ambiguous_or_clear():
    """The same p, narrower intervals: the verdict becomes firm, and the right one."""
    for share, final in ((0.5, "ambiguous"), (0.95, "clear"), (0.72, "clear"), (0.68, "ambiguous")):
        p = np.array([[share, 1 - share]])
        verdicts = [
            uncertainty_split(p, np.maximum(p - half, 0), np.minimum(p + half, 1), np.ones(1)).verdict[0]
            for half in (0.6, 0.35, 0.05, 0.0)
        ]
        assert verdicts[0] == "not enough votes"
        assert verdicts[-1] == final


def test_no_evidence_is_never_a_verdict_about_the_item():
    """Without evidence only votes can help, whatever the interval says; the table has one row per item."""
    split = uncertainty_split(
        np.array([[0.9, 0.1]]), np.array([[0.9, 0.1]]), np.array([[0.9, 0.1]]), np.zeros(1)
    )
    assert split.to_frame()["verdict"].tolist() == ["not enough votes"]
    with pytest.raises(InputError, match="one shape"):
        uncertainty_split(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 3)), np.ones(2))
