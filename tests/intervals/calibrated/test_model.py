"""Calibrated intervals cover what they promise, on any votes."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibration import fitted, make_blobs
from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.literal import literal_mass
from softspread.errors import InputError, SoftspreadWarning
from softspread.heldout.masses import exact_scales
from softspread.intervals.calibrated.constants import MODEL
from softspread.intervals.calibrated.curve import nearby_diffusions
from softspread.intervals.calibrated.model import (
    _leave_items_out,
    calibrated,
    fit_calibrated,
)
from softspread.intervals.vote_sums import sums_of_squares
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots
from softspread.votes.repeats import RepeatRule
from voting import drawn, mass_of, table


@pytest.fixture(scope="module")
def blobs():
    """A graph of four groups, and the soft labels of its items."""
    return make_blobs()


@pytest.fixture(scope="module")
def one_fit(blobs):
    """A fit to 300 votes, with its soft labels."""
    graph, truth = blobs
    return fitted(graph, drawn(truth, 300, 0), 4)


def test_coverage_is_close_to_the_level(blobs):
    """Mean over three draws, entries above 0.05 only: within 10 points at 0.5, 6 at 0.9 and 4 at 0.95."""
    graph, truth = blobs
    found = {0.5: [], 0.9: [], 0.95: []}
    for seed in range(3):
        fit, p = fitted(graph, drawn(truth, 400, seed), 4)
        for level, inside in found.items():
            lower, upper = calibrated(fit, p, level)
            inside.append(((lower <= truth) & (truth <= upper))[truth > 0.05])
    for level, margin in ((0.5, 0.1), (0.9, 0.06), (0.95, 0.04)):
        assert abs(np.mean(np.concatenate(found[level])) - level) < margin


def test_intervals_contain_p_and_grow_with_the_level(one_fit):
    """In [0, 1], never NaN, nested in the level, wider when they must hold for all classes at once."""
    fit, p = one_fit
    inner = calibrated(fit, p, 0.5)
    for level, n_intervals in ((0.9, 1), (0.9, 4), (0.999, 4)):
        lower, upper = calibrated(fit, p, level, n_intervals)
        assert ((lower >= 0) & (lower <= p) & (p <= upper) & (upper <= 1)).all()
        assert (lower <= inner[0]).all()
        assert (upper >= inner[1]).all()
        inner = lower, upper


def test_same_votes_give_the_same_fit_in_any_order(blobs, one_fit):
    """The fit depends on the votes, not on their order, and is repeatable."""
    graph, truth = blobs
    votes = drawn(truth, 300, 0)
    shuffled = np.random.default_rng(1).permutation(len(votes))
    one, _ = one_fit
    two, _ = fitted(graph, table(votes.rows[shuffled], votes.columns[shuffled]), 4)
    assert_allclose(one.prior_votes, two.prior_votes, rtol=1e-6)
    assert one.n_repeated == two.n_repeated
    assert one.prior_votes.min() > 0
    assert_allclose(one.mean().sum(axis=1), 1.0)


def test_given_diffusions_change_nothing(blobs, one_fit):
    """Keeping the diffusions of nearby alphas over several fits saves time only."""
    graph, truth = blobs
    votes = drawn(truth, 300, 0)
    near = nearby_diffusions(Diffusion(graph, 0.75, n_jobs=1))
    assert sorted(near) == [0.1, 0.25, 0.5, 0.9, 0.95]
    assert one_fit[0].parameters == fitted(graph, votes, 4, nearby=near)[0].parameters


def test_items_that_differ_from_their_neighbours_earn_wider_intervals():
    """Same graph, same number of votes: where neighbours mislead, they count as fewer votes."""
    rng = np.random.default_rng(0)
    graph = knn_graph(rng.normal(size=(400, 3)), n_neighbors=10)
    alike = np.tile([0.7, 0.3], (400, 1))
    unlike = np.where(
        rng.random((400, 1)) < 0.7, [[1.0, 0.0]], [[0.0, 1.0]]
    )  # the same mean, no item like another
    rows = rng.integers(0, 400, 800)
    chance = rng.random(800)
    votes = [table(rows, chance > truth[rows, 0]) for truth in (alike, unlike)]
    trust = [float(np.median(fitted(graph, each, 2)[0].prior_votes)) for each in votes]
    assert trust[0] > 5 * trust[1]


def test_leaving_an_item_out_equals_spreading_without_its_votes():
    """Mass and effective size of the other items' votes, against a second spread."""
    rng = np.random.default_rng(2)
    graph = knn_graph(rng.normal(size=(40, 2)), n_neighbors=5)
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    votes = table(rng.integers(0, 40, 50), rng.integers(0, 3, 50))
    mass = literal_mass(diffusion, votes, 3)
    ballots = Ballots.of(votes, 3)
    sums = sums_of_squares(diffusion, ballots, mass)
    scales = exact_scales(diffusion, ballots.voted)
    others, sizes = _leave_items_out(ballots, mass, sums, scales, MODEL)
    for item in range(0, 40, 7):
        kept = votes.rows != item
        rest = table(votes.rows[kept], votes.columns[kept])
        without = literal_mass(diffusion, rest, 3)
        reach = diffusion.reach_of_votes(item, rest.rows)
        assert_allclose(others[item], without[item], atol=1e-8)
        assert_allclose(sizes[item], reach.sum() ** 2 / (reach**2).sum(), rtol=1e-6)


def test_few_second_votes_are_reported(blobs):
    """Under 40 items with two votes: a warning that says how many to ask again; a heavy vote is no second."""
    graph, truth = blobs
    rows = np.arange(0, 400, 2)
    votes = table(rows, truth[rows].argmax(axis=1))
    with pytest.warns(SoftspreadWarning, match=r"No item has a second vote.*on 40 more items"):
        fit, p = fitted(graph, votes, 4)
    assert np.isfinite(calibrated(fit, p, 0.9)[0]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twice, _ = fitted(graph, table(np.tile(votes.rows, 2), np.tile(votes.columns, 2)), 4)
    assert twice.n_repeated == 200
    with pytest.warns(SoftspreadWarning, match="No item has a second vote"):
        fitted(graph, table(votes.rows, votes.columns, np.full(200, 2.0)), 4)


def test_other_constants_are_an_argument(blobs):
    """A model that asks for more second votes warns earlier."""
    graph, truth = blobs
    strict = replace(MODEL, repeats=RepeatRule(enough=10_000))
    with pytest.warns(SoftspreadWarning, match="it takes about 10000"):
        fitted(graph, drawn(truth, 300, 0), 4, model=strict)


def test_a_good_prior_is_used(blobs):
    """Items whose prior is the truth get intervals nearer to it than with the overall shares."""
    graph, truth = blobs
    votes = drawn(truth, 150, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        plain, _ = fitted(graph, votes, 4, alpha=0.1)
        informed, _ = fitted(graph, votes, 4, alpha=0.1, prior=truth)
    assert np.abs(informed.mean() - truth).mean() < 0.5 * np.abs(plain.mean() - truth).mean()


@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.99])
def test_extremes_are_defined(alpha, two_cliques_and_a_loner):
    """No spreading, much spreading, no votes, items that nothing reaches: finite, and [0, 1] without
    evidence."""
    diffusion = Diffusion(two_cliques_and_a_loner, alpha, n_jobs=1)
    for votes in (table([], []), table([0], [0]), table([0, 0, 0, 4, 7], [0, 1, 0, 1, 1])):
        mass = mass_of(two_cliques_and_a_loner, votes, 2, alpha, tol=1e-7, n_jobs=1)
        p = soft_labels(mass, np.full(2, 0.5), 1e-4)
        with pytest.warns(SoftspreadWarning, match="second vote"):
            fit = fit_calibrated(diffusion, Ballots.of(votes, 2), mass)
        lower, upper = calibrated(fit, p, 0.9)
        empty = mass.sum(axis=1) == 0
        assert ((lower >= 0) & (lower <= p) & (p <= upper) & (upper <= 1)).all()
        assert (lower[empty] == 0).all()
        assert (upper[empty] == 1).all()


@pytest.mark.parametrize("level", [0, 1, -0.5, 2, float("nan"), "high"])
def test_levels_outside_0_1_are_refused(one_fit, level):
    """A level is a number strictly between 0 and 1."""
    fit, p = one_fit
    with pytest.raises(InputError, match="confidence_level"):
        calibrated(fit, p, level)


@pytest.mark.shared
def test_real_crowd_is_covered(shared_data):
    """cifar10h at one vote in four items: coverage within 6 points at 0.9 and 4 at 0.95, at a mean width
    below 0.3."""
    counts = np.load(shared_data / "cifar10h" / "counts.npy").astype(float)
    truth = counts / counts.sum(axis=1, keepdims=True)
    graph = knn_graph(np.load(shared_data / "cifar10h" / "features_efflite2_umap20.npy"), n_jobs=1)
    fit, p = fitted(graph, drawn(truth, 2500, 0), 10, alpha=0.75)
    for level, margin in ((0.9, 0.06), (0.95, 0.04)):
        lower, upper = calibrated(fit, p, level)
        assert abs(np.mean((lower <= truth) & (truth <= upper)) - level) < margin
    assert (upper - lower).mean() < 0.3
