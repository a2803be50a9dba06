"""Estimated quality: unbiased where it says so, honest where votes cannot tell."""

import numpy as np
import pytest

from judged import N_CLASSES, draw, missed_truth, ring, spread, votes_on
from softspread import InputError, metrics
from softspread.quality.entropy import vote_moments
from softspread.quality.estimate import estimate_quality, held_out_quality
from softspread.quality.forecast import predict_gain
from softspread.spreading.state import SpreadState
from softspread.votes.repeats import repeat_advice
from softspread.votes.table import VoteTable


@pytest.fixture(scope="module")
def synthetic():
    """True soft labels and predictions that miss them."""
    return missed_truth()


@pytest.fixture(scope="module")
def moons():
    """A diffusion and the truth of its items."""
    return ring()


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


def test_kl_is_far_less_biased_than_the_naive_one(synthetic):
    """With three votes per item the corrected KL misses the truth by less than a quarter of what the naive
    one does."""
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


def test_single_votes_give_an_interval_that_holds_all_that_is_possible(synthetic):
    """One vote per item cannot separate noise from error: the intervals hold the truth all the same, a note
    says why."""
    truth, p = synthetic
    quality = estimate_quality(p, draw(truth, 1, np.random.default_rng(0)), rng=np.random.default_rng(0))
    real = metrics.rmse(truth, p), metrics.kl_divergence(truth, p), metrics.accuracy(truth, p)
    for found, value in zip((quality.rmse, quality.kl, quality.accuracy), real, strict=True):
        assert found.lower <= value <= found.upper
        assert found.lower <= found.value <= found.upper
    assert quality.notes[0] == repeat_advice(0, len(truth))
    assert "hold all that is possible" in quality.notes[1]
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
        state, p, prior = spread(diffusion, votes_on(rng.integers(len(truth), size=600), truth, rng))
        quality = held_out_quality(state, prior, 1e-4, rng=rng, n_bootstrap=20)
        difference.append(quality.rmse.value - metrics.rmse(truth, p))
    assert quality.source == "held out"
    assert abs(np.mean(difference)) < 4 * np.std(difference) / np.sqrt(len(difference)) + 0.005


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


def test_quality_needs_votes(moons):
    """Nothing to hold out is said in words."""
    with pytest.raises(InputError, match="no votes to hold out"):
        held_out_quality(SpreadState(moons[0], VoteTable.empty(), 2), np.full((600, 2), 0.5), 1e-4)


@pytest.mark.shared
def test_quality_on_cifar10h_is_unbiased(shared_data):
    """Real soft labels, 2 to 10 votes per item: RMSE without a bias beyond four standard errors, KL near and
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
