"""Scales: certificates hold, calibration helps, peaks are found where they are not the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softspread import SoftspreadWarning, affinity_graph, knn_graph
from softspread._common.threads import Workers
from softspread.diffusion.lazy_solver import prepare
from softspread.diffusion.scales import Remainder, ScaleFinder, ScaleRule, fitted_remainder, fitted_traits


def dense_inverse(graph, alpha):
    return np.linalg.inv(np.eye(graph.n_items) - alpha * graph.inner_operator().toarray())


def finder_of(graph, alpha, scaling="peak", mode="calibrated", delta=1e-3, solver="cg", **more):
    workers = Workers(2)
    return ScaleFinder(
        graph, alpha, scaling, mode, delta, prepare(solver, graph, alpha, workers), workers, **more
    )


WIDE = ScaleRule(local_share=1.0)  # local solves also where they take most of a small graph


def star(n_leaves, weight=1.0):
    """A hub and its leaves: degrees differ as much as they can."""
    A = np.zeros((n_leaves + 1, n_leaves + 1))
    A[0, 1:] = A[1:, 0] = weight
    return affinity_graph(A)


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(size=(700, 2)), rng.normal(6, 0.3, size=(500, 2)), [[500.0, 0.0]]])
    with pytest.warns(SoftspreadWarning, match="1 of 1201 items"):
        return knn_graph(X, n_neighbors=8, bandwidth=0.5)


@pytest.mark.parametrize("mode", ["calibrated", "certified"])
@pytest.mark.parametrize("alpha", [0.2, 0.7, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("delta", [1e-2, 1e-4])
def test_certificate_holds_for_every_item(graph, alpha, delta, mode):
    """No scale is further from max_i M_iq than the bound reported for it."""
    finder = finder_of(graph, alpha, mode=mode, delta=delta)
    rows = np.arange(graph.n_items)
    found = finder.scales(rows)
    truth = dense_inverse(graph, alpha).max(axis=0)
    report = finder.report()
    error = np.abs(found - truth) / found
    assert report.method == (mode if report.global_solves < graph.n_items else "certified")
    assert error.max() <= report.certified + 1e-12
    # the certificate is centred for mode "certified" and at worst twice as wide for a fitted remainder
    assert report.certified <= 2.05 * delta


@pytest.mark.parametrize("scaling", ["peak", "source"])
def test_dense_solver_gives_exact_scales(graph, scaling):
    """Where one factor gives every column, nothing is estimated."""
    finder = finder_of(graph, 0.95, scaling=scaling, solver="dense")
    M = dense_inverse(graph, 0.95)
    truth = M.max(axis=0) if scaling == "peak" else np.diag(M)
    np.testing.assert_allclose(finder.scales(np.arange(graph.n_items)), truth, rtol=1e-10)
    assert finder.report().method == "exact"


@pytest.mark.parametrize("alpha", [0.8, 0.9])
def test_calibration_beats_the_certificate(graph, alpha):
    """The fitted remainder is several times closer than what is proven."""
    rows = np.arange(0, graph.n_items, 3)
    truth = dense_inverse(graph, alpha).max(axis=0)[rows]
    errors = {
        mode: np.abs(finder_of(graph, alpha, mode=mode, delta=1e-2).scales(rows) / truth - 1)
        for mode in ("calibrated", "certified")
    }
    assert np.sqrt(np.mean(errors["calibrated"] ** 2)) < 0.5 * np.sqrt(np.mean(errors["certified"] ** 2))


@pytest.mark.parametrize("alpha", [0.9, 0.95])
def test_scale_of_an_item_does_not_depend_on_what_else_was_asked(graph, alpha):
    """One by one, in any order, or all together: the same numbers, so online equals batch."""
    rows = np.array([5, 900, 17, 333, 5, 1100])
    together = finder_of(graph, alpha, rule=WIDE).scales(rows)
    finder = finder_of(graph, alpha, rule=WIDE)
    finder.scales(np.arange(0, 1200, 7))
    one_by_one = np.array([finder.scales(np.array([row]))[0] for row in rows[::-1]])[::-1]
    np.testing.assert_array_equal(together, one_by_one)


@pytest.mark.parametrize("alpha", [0.75, 0.9, 0.99])
@pytest.mark.parametrize("n_leaves", [3, 30, 400])
def test_peak_away_from_the_seed_is_found(alpha, n_leaves):
    """On a star a leaf's vote weighs most at the hub when alpha is large; peak and source differ there."""
    graph = star(n_leaves)
    M = dense_inverse(graph, alpha)
    peak = finder_of(graph, alpha, delta=1e-4).scales(np.arange(graph.n_items))
    source = finder_of(graph, alpha, scaling="source", delta=1e-4).scales(np.arange(graph.n_items))
    np.testing.assert_allclose(peak, M.max(axis=0), rtol=2.1e-4)
    np.testing.assert_allclose(source, np.diag(M), rtol=2.1e-4)
    if alpha == 0.99 and n_leaves == 400:
        assert (peak > 1.5 * source).sum() == n_leaves


def test_random_walk_peak_is_always_the_seed():
    """Divided by degrees, no item ever receives more than the voted one."""
    for normalization in ("random_walk",):
        graph = affinity_graph(star(50).affinity, normalization=normalization)
        root = graph.inner_root
        M = dense_inverse(graph, 0.99) * root[None, :] / root[:, None]
        np.testing.assert_allclose(M.max(axis=0), np.diag(M))
        found = finder_of(graph, 0.99, delta=1e-4).scales(np.arange(51))
        np.testing.assert_allclose(found, np.diag(M), rtol=2.1e-4)


def test_items_too_far_reaching_are_solved_on_the_whole_graph(graph):
    """With hardly any local memory the answer is the same, and the report counts the whole-graph solves."""
    rows = np.arange(0, graph.n_items, 50)
    finder = finder_of(graph, 0.9, delta=1e-3, rule=ScaleRule(local_rows=20))
    found = finder.scales(rows)
    truth = dense_inverse(graph, 0.9).max(axis=0)[rows]
    assert finder.report().global_solves > 0
    assert (np.abs(found - truth) / truth).max() <= finder.report().certified + 1e-12
    assert finder.report().certified <= 2.05e-3


def test_none_and_alpha_zero_need_no_scales(graph):
    """Nothing is divided, nothing is computed."""
    assert (finder_of(graph, 0.9, scaling="none").scales(np.arange(10)) == 1).all()
    assert (finder_of(graph, 0.0).scales(np.arange(10)) == 1).all()
    assert finder_of(graph, 0.0).report().method == "none"


def test_saved_scales_come_back(graph):
    """A restored finder does not compute them again and reports the same certificate."""
    first = finder_of(graph, 0.9)
    rows = np.arange(40)
    expected = first.scales(rows)
    second = finder_of(graph, 0.9)
    second.restore(first.state())
    assert second.report().certified == first.report().certified
    np.testing.assert_array_equal(second.scales(rows), expected)


@st.composite
def random_affinities(draw):
    """Small symmetric graphs with weights over many orders of magnitude, isolated items included."""
    n = draw(st.integers(1, 9))
    weights = draw(
        st.lists(st.sampled_from([0.0, 0.0, 1e-6, 1e-2, 1.0, 30.0]), min_size=n * n, max_size=n * n)
    )
    A = np.triu(np.array(weights).reshape(n, n), 1)
    return A + A.T


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
@settings(max_examples=60, deadline=None)
@given(random_affinities(), st.sampled_from([0.1, 0.5, 0.75, 0.9, 0.99]))
def test_bounds_of_the_design_hold_on_any_graph(A, alpha):
    """1 <= M_qq <= 1/(1 - alpha^2); phi_i/phi_q <= alpha sqrt(d_i/d_q); M_iq^2 <= alpha^2 M_ii M_qq."""
    graph = affinity_graph(A)
    M = dense_inverse(graph, alpha)
    own = np.diag(M)
    degrees = graph.inner_degrees
    assert (own >= 1 - 1e-12).all()
    assert (own <= 1 / (1 - alpha**2) + 1e-9).all()
    for q in range(len(A)):
        for i in range(len(A)):
            if i != q and degrees[q] > 0:
                assert M[i, q] <= alpha * np.sqrt(degrees[i] / degrees[q]) * M[q, q] + 1e-9
                assert M[i, q] ** 2 <= alpha**2 * M[i, i] * M[q, q] + 1e-9
    largest = degrees.max()
    limit = np.maximum(1, alpha * np.sqrt(largest / np.where(degrees > 0, degrees, np.inf)))
    assert (M.max(axis=0) / own <= limit + 1e-9).all()
    if alpha**2 <= 0.5:
        np.testing.assert_allclose(M.max(axis=0), own)  # the seed is the peak whatever the graph
    finder = finder_of(graph, alpha, delta=1e-3)
    found = finder.scales(np.arange(len(A)))
    assert (np.abs(found - M.max(axis=0)) / found).max() <= finder.report().certified + 1e-10


def test_second_order_formula_of_the_certificate(rng):
    """M_qq = x_q + x.r + r.M r for any x whatsoever, and r.M r lies between its bounds."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=5)
    alpha = 0.9
    M = dense_inverse(graph, alpha)
    system = np.eye(60) - alpha * graph.inner_operator().toarray()
    for q in range(0, 60, 7):
        x = rng.normal(size=60)
        r = np.eye(60)[q] - system @ x
        remainder = r @ M @ r
        assert M[q, q] == pytest.approx(x[q] + x @ r + remainder, rel=1e-9)
        assert r @ r / (1 + alpha) - 1e-9 <= remainder <= r @ r / (1 - alpha) + 1e-9


def solves(traits, multiples, rng):
    """Local solves that leave these multiples open, loose ones and ones 20 times as tight."""
    loose = np.zeros((len(traits), 7))
    loose[:, 1], loose[:, 3] = 1e-3, rng.integers(50, 500, len(traits))
    loose[:, 5:] = traits * loose[:, 1:2]
    loose[:, 0] = 1.2 - multiples * loose[:, 1]
    tight = loose.copy()
    tight[:, 1] = loose[:, 1] / 20
    tight[:, 0] = 1.2 - multiples * tight[:, 1]
    return loose, tight


def test_a_multiple_that_goes_with_the_traits_is_read_off_them(rng):
    """Far closer than one multiple for all, on solves that were not fitted; the sample tells its error."""
    traits = rng.normal([0.33, 0.27], [0.02, 0.02], size=(400, 2))
    multiples = 3.5 + 6 * (traits[:, 0] - 0.33) + 2 * (traits[:, 1] - 0.27) + rng.normal(0, 0.01, 400)
    loose, tight = solves(traits, multiples, rng)
    read = fitted_traits(loose[:64], tight[:64], 0.95)
    one = fitted_remainder(loose[:64], tight[:64], 0.95)
    off = [np.abs(found - multiples[64:]) for found in (read.multiples(loose[64:]), one[0])]
    assert off[0].mean() < 0.3 * off[1].mean()
    assert np.percentile(off[0] * 1e-3 / 1.2, 90) < read.error < one[1]
    again = Remainder.of(read.numbers())
    np.testing.assert_array_equal(again.multiples(loose), read.multiples(loose))
    assert Remainder.of(Remainder(2.0, 1e-4).numbers()).multiples(loose) == 2.0


def test_few_solves_are_told_by_one_multiple(rng):
    """Five numbers are not fitted to a handful."""
    loose, tight = solves(rng.normal(0.3, 0.02, size=(20, 2)), np.full(20, 3.0), rng)
    assert fitted_traits(loose, tight, 0.95) == Remainder(*fitted_remainder(loose, tight, 0.95))


@pytest.mark.parametrize("alpha", [0.95, 0.99])
def test_scales_read_off_each_solve_are_as_exact_as_their_report(graph, alpha):
    """Nearly all within the estimated error, all within the certified one; loaded they are the same."""
    rows = np.arange(0, graph.n_items, 3)
    truth = dense_inverse(graph, alpha).max(axis=0)[rows]
    finder = finder_of(graph, alpha, delta=3e-3, rule=WIDE)
    errors = np.abs(finder.scales(rows) / truth - 1)
    report = finder.report()
    assert errors.max() <= report.certified
    assert np.percentile(errors, 95) <= report.estimated <= report.certified
    other = finder_of(graph, alpha, delta=3e-3, rule=WIDE)
    other.restore(finder.state())
    np.testing.assert_array_equal(other.scales(rows[1:] - 1), finder.scales(rows[1:] - 1))
