"""Estimated quality: unbiased where it says so, honest where votes cannot tell; forecasts that come true."""

import numpy as np
import pytest

from softspread import InputError, knn_graph, metrics
from softspread.diffusion.diffusion import Diffusion
from softspread.quality.entropy import entropy_bounds, entropy_from_moments, entropy_range, vote_moments
from softspread.quality.estimate import estimate_quality, held_out_quality
from softspread.quality.forecast import _error, _fit_power, _judge, plot_forecast, predict_gain
from softspread.quality.result import FEWEST_REPEATED, GainForecast
from softspread.simulate import draw_columns
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable

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


def fitted(diffusion, votes, n_classes=2):
    state = SpreadState(diffusion, votes, n_classes)
    state.solve()
    prior = np.full((diffusion.graph.n_items, n_classes), 1 / n_classes)
    return state, soft_labels(state.mass(), prior, 1e-4), prior


@pytest.mark.parametrize("r", [2, 3, 5, 10])
def test_squared_error_is_unbiased_for_any_number_of_votes(synthetic, r):
    """Over 150 draws the mean squared error hits the truth within four standard errors; the naive one does
    not."""
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
    """The 90 % intervals of the RMSE hold the truth of the population in at least 13 of 20 samples of
    items."""
    rng = np.random.default_rng(0)
    many = rng.dirichlet(np.full(N_CLASSES, 0.4), size=20_000)
    p = 0.8 * many + 0.2 * rng.dirichlet(np.ones(N_CLASSES), size=20_000)
    real = metrics.rmse(many, p)
    inside = 0
    for _ in range(20):
        rows = rng.choice(len(many), 150, replace=False)
        found = estimate_quality(p[rows], draw(many[rows], 5, rng), rng=rng, n_bootstrap=100).rmse
        inside += found.lower <= real <= found.upper
    assert inside >= 13  # 18 are expected, with a standard error of 1.3


@pytest.mark.parametrize("r", [2, 3, 5])
def test_moments_are_unbiased(synthetic, r):
    """T_v averages to sum_c t_c (1 - t_c)^v for every v below the number of votes."""
    truth, _ = synthetic
    rng = np.random.default_rng(r)
    found = np.array([vote_moments(draw(truth, r, rng))[:, 0] for _ in range(200)])
    real = np.array([(truth * (1 - truth) ** v).sum(axis=1).mean() for v in range(1, r)])
    assert found.shape[1] == r - 1
    assert (np.abs(found.mean(axis=0) - real) < 4 * found.std(axis=0) / np.sqrt(200)).all()


@pytest.mark.parametrize("r", [4, 6])
def test_entropy_of_dirichlet_soft_labels_is_recovered_from_four_votes(r):
    """For symmetric Dirichlet soft labels the continuation is exact, so that true moments give the true
    entropy."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(4, 0.5), size=100_000)
    moments = np.array([[(truth * (1 - truth) ** v).sum(axis=1).mean()] for v in range(1, r)])
    assert entropy_from_moments(moments)[0] == pytest.approx(entropy_of(truth).mean(), rel=5e-3)


def entropy_of(truth):
    """Of each row."""
    return -(truth * np.log(np.maximum(truth, 1e-300))).sum(axis=1)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 10])
def test_entropy_bounds_hold_for_any_mixture_of_items(n_classes):
    """Whatever the soft labels, their mean entropy lies within what the chance that two votes differ
    allows."""
    rng = np.random.default_rng(n_classes)
    for _ in range(300):
        sharpness = rng.choice([0.01, 0.1, 1.0, 10.0], size=2)
        truth = np.concatenate(
            [rng.dirichlet(np.full(n_classes, a), size=rng.integers(1, 4)) for a in sharpness]
        )
        lower, upper = entropy_bounds(np.array([1 - (truth**2).sum(axis=1).mean()]), n_classes)
        assert lower[0] - 1e-6 <= entropy_of(truth).mean() <= upper[0] + 1e-6


def test_entropy_bounds_are_reached():
    """Certain items with even pairs are the smallest; one class ahead of even others, on every item, the
    largest."""
    pairs = np.array([[1.0, 0, 0], [0.5, 0.5, 0]])
    ahead = np.array([[0.8, 0.1, 0.1]])
    for truth, end in ((pairs, 0), (ahead, 1)):
        found = entropy_bounds(np.array([1 - (truth**2).sum(axis=1).mean()]), 3)[end]
        assert found[0] == pytest.approx(entropy_of(truth).mean())


def test_entropy_of_certain_items_is_zero():
    """No two votes differ: nothing to continue."""
    assert entropy_from_moments(np.zeros((3, 1)))[0] == pytest.approx(0.0, abs=1e-9)


def test_kl_is_far_less_biased_than_the_naive_one(synthetic):
    """With three votes an item the corrected KL misses the truth by less than a quarter of what the naive one
    does."""
    truth, p = synthetic
    rng = np.random.default_rng(0)
    real = metrics.kl_divergence(truth, p)
    counts = [draw(truth, 3, rng) for _ in range(10)]
    found = np.mean([estimate_quality(p, c, rng=rng, n_bootstrap=20).kl.value for c in counts])
    naive = np.mean([metrics.kl_divergence(c / 3, p) for c in counts])
    assert abs(found - real) < 0.25 * (naive - real)


@pytest.mark.parametrize("r", [2, 4])
@pytest.mark.parametrize("kind", ["dirichlet", "pairs", "slips"])
def test_few_votes_leave_the_entropy_open_and_the_interval_of_kl_says_so(kind, r):
    """Whatever the shape of the soft labels, the interval of KL holds the truth in at least 6 of 8
    samples."""
    inside, n_classes, n = 0, 4, 200
    for seed in range(8):
        rng = np.random.default_rng(seed)
        clear = np.eye(n_classes)[rng.integers(n_classes, size=n)]
        truth = {
            "dirichlet": rng.dirichlet(np.full(n_classes, 0.5), size=n),
            "pairs": np.where(rng.random((n, 1)) < 0.7, clear, (clear + np.roll(clear, 1, axis=1)) / 2),
            "slips": 0.96 * clear + 0.04 / n_classes,
        }[kind]
        p = 0.7 * truth + 0.3 / n_classes
        found = estimate_quality(p, draw(truth, r, rng), rng=rng, n_bootstrap=50).kl
        inside += found.lower <= metrics.kl_divergence(truth, p) <= found.upper
    assert inside >= 6


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_three_moments_pin_the_entropy_down(n_classes):
    """The range of possible entropies holds the true one and narrows with every moment."""
    rng = np.random.default_rng(n_classes)
    truth = rng.dirichlet(np.full(n_classes, 0.3), size=50)
    moments = np.array([(truth * (1 - truth) ** v).sum(axis=1).mean() for v in (1, 2, 3)])
    ranges = [entropy_range(moments[:seen], n_classes) for seen in (1, 2, 3)]
    for least, most in ranges:
        assert least - 2e-3 <= entropy_of(truth).mean() <= most + 2e-3  # probabilities lie on a grid
    widths = [most - least for least, most in ranges]
    assert widths == sorted(widths, reverse=True)


def test_accuracy_finds_the_share_of_right_classes():
    """Clear items, a fifth of them predicted wrongly: 0.8 within four standard errors, with two votes an
    item."""
    rng = np.random.default_rng(0)
    classes = rng.integers(N_CLASSES, size=600)
    truth = 0.05 + 0.85 * np.eye(N_CLASSES)[classes]
    guess = np.where(np.arange(600) < 480, classes, (classes + 1) % N_CLASSES)
    p = 0.1 + 0.7 * np.eye(N_CLASSES)[guess]
    quality = estimate_quality(p, draw(truth, 2, rng), rng=rng)
    assert abs(quality.accuracy.value - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 600)
    assert quality.agreement.value == pytest.approx(0.8 * 0.9 + 0.2 * 0.05, abs=0.05)


def test_single_votes_give_an_interval_that_holds_all_that_is_possible(synthetic):
    """One vote an item cannot tell noise from error: the intervals hold the truth all the same, a note says
    why."""
    truth, p = synthetic
    quality = estimate_quality(p, draw(truth, 1, np.random.default_rng(0)), rng=np.random.default_rng(0))
    real = metrics.rmse(truth, p), metrics.kl_divergence(truth, p), metrics.accuracy(truth, p)
    for found, value in zip((quality.rmse, quality.kl, quality.accuracy), real, strict=True):
        assert found.lower <= value <= found.upper
        assert found.lower <= found.value <= found.upper
    assert f"{FEWEST_REPEATED} are needed" in quality.notes[0]
    assert quality.rmse.upper >= np.sqrt(quality.brier.value / N_CLASSES)
    assert quality.to_frame().shape == (6, 4)


def test_one_vote_is_no_certainty():
    """A single vote that agrees leaves agreement and accuracy wide open."""
    quality = estimate_quality([[0.9, 0.1]], [[1, 0]], rng=np.random.default_rng(0))
    assert quality.agreement.lower < 0.5
    assert quality.accuracy.lower == 0.0
    assert quality.accuracy.upper == 1.0


@pytest.mark.parametrize(
    ("rows", "columns", "n_classes"),
    [
        (np.zeros(40, np.int64), np.zeros(40, np.int64), 2),
        (np.zeros(40, np.int64), np.arange(40) % 2, 2),
        (np.arange(40), np.zeros(40, np.int64), 1),
        (np.arange(40), np.arange(40) % 3, 3),
        (np.repeat(np.arange(20), 2), np.zeros(40, np.int64), 2),
        (np.repeat(np.arange(20), 2), np.arange(40) % 2, 2),
    ],
)
def test_no_number_is_ever_nan(moons, rows, columns, n_classes):
    """Votes on one item, of one class, without repeats, always equal, never equal: all numbers stay
    finite."""
    diffusion = moons[0]
    votes = VoteTable(rows, columns, np.ones(40))
    state = SpreadState(diffusion, votes, n_classes)
    state.solve()
    prior = np.full((diffusion.graph.n_items, n_classes), 1 / n_classes)
    held = held_out_quality(state, prior, 1e-4, rng=np.random.default_rng(0), n_bootstrap=20)
    counts = votes.counts(diffusion.graph.n_items, n_classes)
    apart = estimate_quality(prior, counts, rng=np.random.default_rng(0), n_bootstrap=20)
    forecast = predict_gain([diffusion], votes, n_classes, 10, rng=np.random.default_rng(0), n_bootstrap=20)
    for frame in (held.to_frame(), apart.to_frame(), forecast.points):
        numbers = frame[[name for name in ("value", "rmse", "lower", "upper") if name in frame]].to_numpy()
        assert np.isfinite(numbers).all()
        assert (numbers[:, 1] <= numbers[:, 0] + 1e-12).all()
        assert (numbers[:, 0] <= numbers[:, 2] + 1e-12).all()


def test_single_votes_join_repeated_ones(synthetic):
    """Where some items have two votes, single votes on others sharpen the estimate without a bias."""
    truth, p = synthetic
    rng = np.random.default_rng(0)
    real = np.mean((p - truth) ** 2)
    found = []
    for _ in range(15):
        counts = draw(truth, 1, rng)
        again = rng.choice(len(truth), 150, replace=False)
        counts[again] += draw(truth[again], 1, rng)
        found.append(estimate_quality(p, counts, rng=rng, n_bootstrap=20).rmse.value ** 2)
    assert abs(np.mean(found) - real) < 4 * np.std(found) / np.sqrt(len(found))


def test_held_out_quality_agrees_with_the_truth(moons):
    """From uniform votes alone: the mean of 8 estimated RMSEs is within four standard errors of the real
    one."""
    diffusion, truth = moons
    rng = np.random.default_rng(0)
    difference = []
    for _ in range(8):
        state, p, prior = fitted(diffusion, votes_on(rng.integers(len(truth), size=600), truth, rng))
        quality = held_out_quality(state, prior, 1e-4, rng=rng, n_bootstrap=20)
        difference.append(quality.rmse.value - metrics.rmse(truth, p))
    assert quality.source == "held out"
    assert abs(np.mean(difference)) < 4 * np.std(difference) / np.sqrt(len(difference)) + 0.005


def test_expected_error_is_the_error(moons):
    """Leave-item-out error with own votes added in expectation equals the real squared error, given the true
    noise."""
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


def continued(diffusion, truth, n_votes, more, rng):
    """Predicted gain of further uniform votes, and the gain that then came."""
    rows = rng.integers(len(truth), size=n_votes + more)
    votes = VoteTable(rows, draw_columns(truth, rows, rng.random(len(rows))), np.ones(len(rows)))
    first = VoteTable(votes.rows[:n_votes], votes.columns[:n_votes], votes.weights[:n_votes])
    guess = predict_gain([diffusion], first, truth.shape[1], more, rng=rng, n_bootstrap=50)
    now, then = (metrics.rmse(truth, fitted(diffusion, part, truth.shape[1])[1]) for part in (first, votes))
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
def test_quality_on_cifar10h_is_unbiased(shared_data):
    """Real soft labels, 2 to 10 votes an item: RMSE without a bias beyond four standard errors, KL near and
    covered."""
    counts = np.load(shared_data / "cifar10h/counts.npy").astype(float)
    truth = counts / counts.sum(axis=1, keepdims=True)
    p = np.load(shared_data / "cifar10h/classifier_probs.npy").astype(float)
    p = 0.97 * p / p.sum(axis=1, keepdims=True) + 0.003  # an impossible class would make KL infinite
    rng = np.random.default_rng(0)
    for r in (2, 3, 5, 10):
        found, naive, covered = [], [], 0
        for _ in range(6):
            rows = rng.choice(len(truth), 400, replace=False)
            votes = rng.multinomial(r, truth[rows] * (1 - 1e-12)).astype(float)
            quality = estimate_quality(p[rows], votes, rng=rng, n_bootstrap=50)
            real = metrics.kl_divergence(truth[rows], p[rows])
            found.append(
                (quality.rmse.value**2 - metrics.rmse(truth[rows], p[rows]) ** 2, quality.kl.value - real)
            )
            naive.append(metrics.kl_divergence(votes / r, p[rows]) - real)
            covered += quality.kl.lower <= real <= quality.kl.upper
        bias, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(len(found))
        assert abs(bias[0]) < 4 * error[0]
        assert abs(bias[1]) < 0.02 + 4 * error[1]
        assert np.mean(naive) > bias[1]
        assert covered >= 4
