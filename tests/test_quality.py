"""Estimated quality: unbiased where it says so, honest where votes cannot tell; forecasts that come true."""

import numpy as np
import pytest

from softspread import InputError, knn_graph, metrics
from softspread.live import SpreadState
from softspread.quality import (
    FEWEST_REPEATED,
    GainForecast,
    _error,
    _fit_power,
    _judge,
    entropy_from_moments,
    estimate_quality,
    held_out_quality,
    plot_forecast,
    predict_gain,
    vote_moments,
)
from softspread.spreading import Diffusion, soft_labels
from softspread.votes import VoteTable

N_CLASSES = 3


def draw(truth, r, rng):
    """r votes on each item."""
    return rng.multinomial(r, truth).astype(float)


@pytest.fixture(scope="module")
def synthetic():
    """300 true soft labels and predictions that miss them."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(N_CLASSES, 0.4), size=300)
    return truth, 0.8 * truth + 0.2 * rng.dirichlet(np.ones(N_CLASSES), size=300)


@pytest.fixture(scope="module")
def moons():
    """A ring of items whose soft label turns smoothly, its diffusion and its truth."""
    rng = np.random.default_rng(1)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 600))
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    first = 0.5 + 0.45 * np.sin(angle)
    return Diffusion(knn_graph(X, 10, n_jobs=1), 0.9, n_jobs=1), np.stack([first, 1 - first], axis=1)


def votes_on(rows, truth, rng):
    columns = (rng.random(len(rows)) > truth[rows, 0]).astype(np.int64)
    return VoteTable(rows, columns, np.ones(len(rows)))


def fitted(diffusion, votes):
    state = SpreadState(diffusion, votes, 2)
    state.solve()
    prior = np.full((diffusion.graph.n_items, 2), 0.5)
    return state, soft_labels(diffusion.graph.to_user_order(state.mass()), prior, 1e-4), prior


@pytest.mark.parametrize("r", [2, 3, 5, 10])
def test_squared_error_is_unbiased_for_any_number_of_votes(synthetic, r):
    """Over 150 draws the mean squared error hits the truth within four standard errors; the naive one does not."""
    truth, p = synthetic
    rng = np.random.default_rng(r)
    real = np.mean((p - truth) ** 2)
    found, naive = [], []
    for _ in range(150):
        counts = draw(truth, r, rng)
        f = counts / r
        moment = vote_moments(counts)[0, 0]
        found.append((np.mean(((p - f) ** 2).sum(axis=1) - (1 - (f**2).sum(axis=1)) / (r - 1))) / N_CLASSES)
        brier = np.mean((p**2).sum(axis=1) - 2 * (p * f).sum(axis=1) + 1)
        assert found[-1] == pytest.approx((brier - moment) / N_CLASSES)
        naive.append(np.mean((p - f) ** 2))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - real) < 4 * error
    assert np.mean(naive) - real > 10 * error


def test_rmse_is_the_root_of_the_corrected_error(synthetic):
    """The reported RMSE is the formula of the module, written out item by item."""
    truth, p = synthetic
    rng = np.random.default_rng(0)
    counts = draw(truth, 4, rng)
    total = 0.0
    for row, k in zip(p, counts, strict=True):
        total += row @ row - 2 * row @ k / 4 + (k * (k - 1)).sum() / 12
    quality = estimate_quality(p, counts, rng=rng)
    assert quality.rmse.value == pytest.approx(np.sqrt(total / p.size))
    assert quality.rmse.lower <= quality.rmse.value <= quality.rmse.upper


def test_intervals_cover(synthetic):
    """The 90 % intervals of the RMSE hold the truth of the population in at least 75 of 100 samples of items."""
    rng = np.random.default_rng(0)
    many = rng.dirichlet(np.full(N_CLASSES, 0.4), size=20_000)
    p = 0.8 * many + 0.2 * rng.dirichlet(np.ones(N_CLASSES), size=20_000)
    real = metrics.rmse(many, p)
    inside = 0
    for _ in range(100):
        rows = rng.choice(len(many), 150, replace=False)
        found = estimate_quality(p[rows], draw(many[rows], 5, rng), rng=rng, n_bootstrap=100).rmse
        inside += found.lower <= real <= found.upper
    assert inside >= 75  # 5 standard errors below 90


@pytest.mark.parametrize("r", [2, 3, 5])
def test_moments_are_unbiased(synthetic, r):
    """T_v averages to sum_c t_c (1 - t_c)^v for every v below the number of votes."""
    truth, _ = synthetic
    rng = np.random.default_rng(r)
    found = np.array([vote_moments(draw(truth, r, rng))[:, 0] for _ in range(200)])
    real = np.array([(truth * (1 - truth) ** v).sum(axis=1).mean() for v in range(1, r)])
    assert found.shape[1] == r - 1
    assert (np.abs(found.mean(axis=0) - real) < 4 * found.std(axis=0) / np.sqrt(200)).all()


def test_entropy_of_dirichlet_soft_labels_is_recovered_from_three_votes():
    """For symmetric Dirichlet soft labels the continuation is exact, so that true moments give the true entropy."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(4, 0.5), size=200_000)
    moments = np.array([[(truth * (1 - truth) ** v).sum(axis=1).mean()] for v in (1, 2)])
    entropy = -(truth * np.log(np.maximum(truth, 1e-300))).sum(axis=1).mean()
    assert entropy_from_moments(moments)[0] == pytest.approx(entropy, rel=5e-3)


def test_entropy_of_certain_items_is_zero():
    """No two votes differ: nothing to continue."""
    assert entropy_from_moments(np.zeros((3, 1)))[0] == pytest.approx(0.0, abs=1e-9)


def test_kl_is_far_less_biased_than_the_naive_one(synthetic):
    """With three votes an item the corrected KL misses the truth by less than a fifth of what the naive one does."""
    truth, p = synthetic
    rng = np.random.default_rng(0)
    real = metrics.kl_divergence(truth, p)
    counts = [draw(truth, 3, rng) for _ in range(30)]
    found = np.mean([estimate_quality(p, c, rng=rng, n_bootstrap=20).kl.value for c in counts])
    naive = np.mean([metrics.kl_divergence(c / 3, p) for c in counts])
    assert abs(found - real) < 0.2 * (naive - real)


def test_accuracy_finds_the_share_of_right_classes():
    """Clear items, a fifth of them predicted wrongly: 0.8 within four standard errors, with two votes an item."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=600)
    truth = 0.05 + 0.85 * np.eye(N_CLASSES)[classes]
    guess = np.where(np.arange(600) < 480, classes, (classes + 1) % N_CLASSES)
    p = 0.1 + 0.7 * np.eye(N_CLASSES)[guess]
    quality = estimate_quality(p, draw(truth, 2, rng), rng=rng)
    assert abs(quality.accuracy.value - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 600)
    assert quality.agreement.value == pytest.approx(0.8 * 0.9 + 0.2 * 0.05, abs=0.05)


def test_single_votes_leave_the_error_unknown(synthetic):
    """One vote an item cannot tell noise from error: the numbers stay NaN, the note says why, Brier is still there."""
    truth, p = synthetic
    quality = estimate_quality(p, draw(truth, 1, np.random.default_rng(0)), rng=np.random.default_rng(0))
    assert np.isnan([quality.rmse.value, quality.kl.value, quality.accuracy.value]).all()
    assert str(FEWEST_REPEATED) in quality.notes[0]
    assert 0 < quality.brier.value < 2
    assert quality.to_frame().shape == (6, 4)


def test_single_votes_join_repeated_ones(synthetic):
    """Where some items have two votes, single votes on others sharpen the estimate without a bias."""
    truth, p = synthetic
    rng = np.random.default_rng(0)
    real = np.mean((p - truth) ** 2)
    found = []
    for _ in range(100):
        counts = draw(truth, 1, rng)
        again = rng.choice(len(truth), 150, replace=False)
        counts[again] += draw(truth[again], 1, rng)
        found.append(estimate_quality(p, counts, rng=rng, n_bootstrap=20).rmse.value ** 2)
    assert abs(np.mean(found) - real) < 4 * np.std(found) / np.sqrt(len(found))


def test_held_out_quality_agrees_with_the_truth(moons):
    """From uniform votes alone: the mean of 12 estimated RMSEs is within four standard errors of the real one."""
    diffusion, truth = moons
    rng = np.random.default_rng(0)
    difference = []
    for _ in range(12):
        state, p, prior = fitted(diffusion, votes_on(rng.integers(len(truth), size=600), truth, rng))
        quality = held_out_quality(state, prior, 1e-4, rng=rng, n_bootstrap=20)
        difference.append(quality.rmse.value - metrics.rmse(truth, p))
    assert quality.source == "held out"
    assert abs(np.mean(difference)) < 4 * np.std(difference) / np.sqrt(len(difference)) + 0.005


def test_expected_error_is_the_error(moons):
    """Leave-item-out error with own votes added in expectation equals the real squared error, given the true noise."""
    diffusion, truth = moons
    rng = np.random.default_rng(0)
    noise = np.array([1 - (truth**2).sum(axis=1).mean()])
    found, real = [], []
    for _ in range(20):
        votes = votes_on(rng.integers(len(truth), size=400), truth, rng)
        counts = votes.counts(len(truth), 2)
        voted = np.flatnonzero(counts.sum(axis=1))
        part = _judge(diffusion, counts, counts, voted, np.full((len(voted), 2), 0.5), 1e-4)
        found.append(_error(part, noise, np.ones((1, len(voted))))[0])
        real.append(((fitted(diffusion, votes)[1] - truth) ** 2).sum(axis=1).mean())
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


def test_a_forecast_has_the_right_sign_and_size(moons):
    """Predicted and real gain of doubling the votes, averaged over 6 draws, agree within a factor of 2.5."""
    diffusion, truth = moons
    rng = np.random.default_rng(0)
    predicted, real = [], []
    for _ in range(6):
        votes = votes_on(rng.integers(len(truth), size=400), truth, rng)
        first = VoteTable(votes.rows[:200], votes.columns[:200], votes.weights[:200])
        predicted.append(predict_gain([diffusion], first, 2, 200, rng=rng, n_bootstrap=50).gain.value)
        now, then = (metrics.rmse(truth, fitted(diffusion, part)[1]) for part in (first, votes))
        real.append(now - then)
    assert np.mean(real) > 0
    assert 1 / 2.5 < np.mean(predicted) / np.mean(real) < 2.5


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
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    diffusion, truth = moons
    votes = votes_on(np.random.default_rng(3).integers(len(truth), size=100), truth, np.random.default_rng(4))
    forecast = predict_gain([diffusion], votes, 2, 100, rng=np.random.default_rng(0), n_bootstrap=20)
    assert isinstance(forecast, GainForecast)
    axes = plot_forecast(forecast)
    assert len(axes.lines) == 3
    assert axes.get_xlabel() == "votes"


@pytest.mark.parametrize(
    ("p", "counts", "message"),
    [
        ([[0.5, 0.5]], [[1, 0, 0]], "one shape"),
        ([[0.5, 0.4]], [[1, 1]], "must be probabilities"),
        ([[0.5, 0.5]], [[0.5, 1]], "whole numbers"),
        ([[0.5, 0.5]], [[-1, 1]], "whole numbers"),
        ([[0.5, 0.5]], [[0, 0]], "no votes"),
        ([["a", "b"]], [[1, 1]], "tables of numbers"),
    ],
)
def test_bad_quality_input_is_named(p, counts, message):
    """What cannot be used is refused in words."""
    with pytest.raises(InputError, match=message):
        estimate_quality(p, counts)


def test_too_few_votes_are_refused(moons):
    """No held-out quality without votes, no forecast from a handful, none from soft votes."""
    diffusion, _ = moons
    nothing = VoteTable(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    with pytest.raises(InputError, match="no votes to hold out"):
        held_out_quality(SpreadState(diffusion, nothing, 2), np.full((600, 2), 0.5), 1e-4)
    with pytest.raises(InputError, match="at least 30 whole votes"):
        predict_gain([diffusion], nothing, 2, 10)
    soft = VoteTable(np.arange(100), np.zeros(100, np.int64), np.full(100, 0.5))
    with pytest.raises(InputError, match="at least 30 whole votes"):
        predict_gain([diffusion], soft, 2, 10)
    with pytest.raises(InputError, match="more must be a whole number"):
        predict_gain([diffusion], nothing, 2, 0)


@pytest.mark.shared
def test_rmse_on_cifar10h_is_unbiased(shared_data):
    """Real soft labels, 2 to 10 votes an item: no bias beyond four standard errors, unlike the naive estimate."""
    counts = np.load(shared_data / "cifar10h/counts.npy").astype(float)
    truth = counts / counts.sum(axis=1, keepdims=True)
    p = np.load(shared_data / "cifar10h/classifier_probs.npy").astype(float)
    p /= p.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    real = metrics.rmse(truth, p) ** 2
    for r in (2, 3, 5, 10):
        found, naive = [], []
        for _ in range(15):
            rows = rng.choice(len(truth), 1000, replace=False)
            votes = rng.multinomial(r, truth[rows] * (1 - 1e-12)).astype(float)
            found.append(estimate_quality(p[rows], votes, rng=rng, n_bootstrap=20).rmse.value ** 2)
            naive.append(metrics.rmse(votes / r, p[rows]) ** 2)
        error = np.std(found) / np.sqrt(len(found))
        assert abs(np.mean(found) - real) < 4 * error
        assert np.mean(naive) > np.mean(found) + error
