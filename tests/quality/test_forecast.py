"""Forecasts that come true."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from judged import ring, spread, votes_on
from softspread import InputError, ProbabilisticLabelSpreading, Votes, knn_graph, metrics
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.masses import HeldOutAccuracy, exact_scales, voted_mass
from softspread.plots.pictures import draw_forecast
from softspread.quality.forecast import MODEL, _error, _fit_power, _judge, predict_gain
from softspread.quality.result import GainForecast
from softspread.simulate import draw_columns
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable
from voting import table


@pytest.fixture(scope="module")
def moons():
    """A diffusion and the truth of its items."""
    return ring()


def test_expected_error_is_the_error(moons):
    """Leave-item-out error with own votes added in expectation equals the real squared error, given the true
    noise."""
    diffusion, truth = moons
    rng = np.random.default_rng(0)
    noise = np.array([1 - (truth**2).sum(axis=1).mean()])
    found, real = [], []
    for _ in range(20):
        votes = votes_on(rng.integers(len(truth), size=400), truth, rng)
        ballots = Ballots.of(votes, 2)
        voted, counts = ballots.voted, ballots.counts
        scales, prior = exact_scales(diffusion, voted), np.full((len(voted), 2), 0.5)
        held = voted_mass(diffusion, voted, counts, scales=scales)
        part = _judge(held, counts, counts, prior, 1e-4, len(truth))
        found.append(_error(part, noise, np.ones((1, len(voted))))[0])
        real.append(((spread(diffusion, votes)[1] - truth) ** 2).sum(axis=1).mean())
    gap = np.array(found) - real
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap)) + 0.002


def test_a_power_law_is_continued_exactly():
    """Points on a + c m^-g give the same curve beyond them."""
    m = np.array([350.0, 500, 700, 850, 1000])
    curve = 0.01 + 2.0 * m**-0.6
    ahead = np.array([1500.0, 2000.0])
    values, exponent = _fit_power(m, np.tile(curve[:, None], 2), ahead)
    assert exponent == pytest.approx(0.6)
    assert values[:, 0] == pytest.approx(0.01 + 2.0 * ahead**-0.6, rel=1e-6)


def continued(diffusion, truth, n_votes, more, rng):
    """Predicted gain of further uniform votes, and the gain that then came."""
    rows = rng.integers(len(truth), size=n_votes + more)
    votes = VoteTable(rows, draw_columns(truth, rows, rng.random(len(rows))), np.ones(len(rows)))
    first = VoteTable(votes.rows[:n_votes], votes.columns[:n_votes], votes.weights[:n_votes])
    guess = predict_gain([diffusion], first, truth.shape[1], more, rng=rng, n_bootstrap=50)
    now, then = (metrics.rmse(truth, spread(diffusion, part, truth.shape[1])[1]) for part in (first, votes))
    return guess.gain, now - then


def test_a_forecast_has_the_right_sign_and_size(moons):
    """Predicted and real gain of doubling the votes, averaged over 5 draws, agree within a factor of 2."""
    rng = np.random.default_rng(0)
    pairs = [continued(*moons, 200, 200, rng) for _ in range(5)]
    predicted, real = np.mean([[gain.value, came] for gain, came in pairs], axis=0)
    assert real > 0
    assert 1 / 2 < predicted / real < 2


@pytest.mark.shared
def test_a_forecast_on_cifar10h_comes_true(shared_data):
    """3,000 real votes, then 1,500 more: the gain that comes lies in the predicted interval, within a factor
    of 1.5."""
    counts = np.load(shared_data / "cifar10h/counts.npy").astype(float)
    truth = counts / counts.sum(axis=1, keepdims=True)
    X = np.load(shared_data / "cifar10h/features_efflite2_umap20.npy").astype(float)
    gain, came = continued(
        Diffusion(knn_graph(X, 20, n_jobs=1), 0.75, n_jobs=1), truth, 3000, 1500, np.random.default_rng(0)
    )
    assert gain.lower <= came <= gain.upper
    assert 1 / 1.5 < gain.value / came < 1.5


def test_more_votes_never_look_worse_and_gain_less_and_less(moons):
    """Forecasts fall with votes, and doubling later brings less than doubling now."""
    diffusion, truth = moons
    rng = np.random.default_rng(3)
    votes = votes_on(rng.integers(len(truth), size=300), truth, rng)
    forecast = predict_gain([diffusion], votes, 2, 300, rng=np.random.default_rng(0), n_bootstrap=50)
    ahead = forecast.points[forecast.points["kind"] == "predicted"]
    assert (np.diff(ahead["rmse"]) <= 0).all()
    assert list(forecast.points.columns) == ["votes", "rmse", "lower", "upper", "kind"]
    again = predict_gain([diffusion], votes, 2, 300, rng=np.random.default_rng(0), n_bootstrap=50)
    assert again.gain == forecast.gain


def test_stopping_asks_whether_a_gain_is_still_likely(moons):
    """Worth going on at a low bar, not at one above 1."""
    diffusion, truth = moons
    votes = votes_on(np.random.default_rng(3).integers(len(truth), size=100), truth, np.random.default_rng(4))
    forecast = predict_gain([diffusion], votes, 2, 300, rng=np.random.default_rng(0), n_bootstrap=50)
    assert forecast.worthwhile(0.0)
    assert not forecast.worthwhile(1.5)


def test_the_plot_shows_both_kinds_of_points(moons):
    """One line for measured, one for predicted, one mark at the present."""
    diffusion, truth = moons
    votes = votes_on(np.random.default_rng(3).integers(len(truth), size=100), truth, np.random.default_rng(4))
    forecast = predict_gain([diffusion], votes, 2, 100, rng=np.random.default_rng(0), n_bootstrap=20)
    assert isinstance(forecast, GainForecast)
    axes = Figure().subplots()
    draw_forecast(axes, forecast)
    assert len(axes.lines) == 3
    assert axes.get_xlabel() == "votes"


def test_too_few_votes_are_refused_in_the_users_words(moons):
    """No forecast from a handful of votes, none from soft ones; messages speak of votes, not of internals."""
    diffusion, _ = moons
    with pytest.raises(InputError, match=r"^a forecast needs at least 30 votes, got 0\.$"):
        predict_gain([diffusion], VoteTable.empty(), 2, 10)
    with pytest.raises(InputError, match="needs whole votes"):
        predict_gain([diffusion], table(np.arange(100), np.zeros(100), np.full(100, 0.5)), 2, 10)
    with pytest.raises(InputError, match="more must be a whole number"):
        predict_gain([diffusion], VoteTable.empty(), 2, 0)


def test_how_many_votes_are_enough_is_an_argument(moons):
    """Another model forecasts from fewer votes."""
    diffusion, truth = moons
    rng = np.random.default_rng(0)
    votes = votes_on(rng.integers(len(truth), size=20), truth, rng)
    few = replace(MODEL, fewest_votes=10)
    assert predict_gain([diffusion], votes, 2, 10, rng=rng, n_bootstrap=20, model=few).n_votes == 20


def test_of_many_votes_one_subset_of_each_size_forecasts_the_same(moons):
    """Once instead of three times, from looser solves: the gain differs by less than its own uncertainty."""
    diffusion, truth = moons
    rng = np.random.default_rng(3)
    votes = votes_on(rng.integers(len(truth), size=2000), truth, rng)
    once, thrice = (
        predict_gain([diffusion], votes, 2, 500, rng=np.random.default_rng(0), n_bootstrap=50, model=model)
        for model in (replace(MODEL, many_votes=1000), MODEL)
    )
    assert (once.points["kind"] == "measured").sum() == len(MODEL.shares)
    assert thrice.gain.lower <= once.gain.value <= thrice.gain.upper
    assert once.rmse_now.value == pytest.approx(thrice.rmse_now.value, rel=0.05)


def test_loose_solves_and_a_known_mass_forecast_the_same_of_many_votes(moons):
    """Of the same subsets: every point within 0.2 % of that from tight solves, the gain within 3 %."""
    diffusion, truth = moons
    rng = np.random.default_rng(3)
    votes = votes_on(rng.integers(len(truth), size=2000), truth, rng)
    voted = Ballots.of(votes, 2).voted
    whole = [voted_mass(diffusion, voted, Ballots.of(votes, 2).counts)]
    tight, loose = (
        replace(MODEL, many_votes=1000, accuracy=HeldOutAccuracy(many_voted=100, solve_tol_of_many=tol))
        for tol in (1e-8, MODEL.accuracy.solve_tol_of_many)
    )
    slow, fast = (
        predict_gain(
            [diffusion], votes, 2, 500, rng=np.random.default_rng(0), n_bootstrap=20, model=model, whole=known
        )
        for model, known in ((tight, None), (loose, whole))
    )
    np.testing.assert_allclose(fast.points["rmse"], slow.points["rmse"], rtol=2e-3)
    assert fast.gain.value == pytest.approx(slow.gain.value, rel=0.03)
    assert fast.gain.lower == pytest.approx(slow.gain.lower, rel=0.05, abs=0.02 * slow.gain.value)


def test_an_estimator_forecasts_of_many_votes_from_the_mass_it_has(moons):
    """As from a solve of its own, also when votes came after the fit."""
    diffusion, truth = moons
    rng = np.random.default_rng(4)
    rows = rng.integers(len(truth), size=MODEL.many_votes + 100)
    columns = draw_columns(truth, rows, rng.random(len(rows)))
    est = ProbabilisticLabelSpreading(alpha=diffusion.alpha).fit(
        diffusion.graph, Votes.from_pairs(rows, columns)
    )
    est.update(rows[0], 1)
    found = est.forecast(500, random_state=0)
    everything = table(np.append(rows, rows[0]), np.append(columns, 1))
    alone = predict_gain([est._state.diffusion], everything, 2, 500, rng=np.random.default_rng(0))
    assert found.n_votes == len(rows) + 1
    np.testing.assert_allclose(found.points["rmse"], alone.points["rmse"], rtol=2e-3)
