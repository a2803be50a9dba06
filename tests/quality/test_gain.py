"""The gain of further votes: closed forms, laws of growth, and a posterior that is right about itself."""

from types import SimpleNamespace

import numpy as np
import pytest

from judged import draw
from small_posteriors import posterior_of
from softspread import InputError
from softspread.posterior.posterior import second_moments
from softspread.quality.estimate import FittedBlend
from softspread.quality.gain import GainRule, Standing, forecast_gain
from softspread.quality.result import Estimate

NOW = Estimate(0.2, 0.15, 0.25)


def fitted(nus=(4.0,), size=10.0, n_items=400, own=0, seed=0, n_classes=3):
    """A blend that rests on ``size`` votes per item, and its posterior."""
    rng = np.random.default_rng(seed)
    m = rng.dirichlet(np.ones(n_classes), size=n_items)
    posterior = posterior_of(m, draw(m, own, rng), list(nus))
    return FittedBlend(SimpleNamespace(log_size=np.full(n_items, np.log(size), np.float32)), posterior)


def standing(found):
    """All items in the only world."""
    rows = np.arange(found.posterior.n_items)
    mixtures = found.posterior.under(0, found.posterior.variants[0], rows)
    return Standing.of(mixtures, found.blend.log_size), mixtures


@pytest.mark.parametrize("own", [0, 1, 5])
def test_the_error_now_is_the_variance_of_the_posterior(own):
    """One known nu: noise / (nu + t) is the sum of posterior variances."""
    found = fitted(own=own)
    now, mixtures = standing(found)
    variance = second_moments(mixtures).sum(axis=1) - (found.posterior.mean() ** 2).sum(axis=1)
    assert now.error() == pytest.approx(variance.mean(), rel=1e-5)


def test_own_votes_alone_lower_the_error_as_bayes_says():
    """One vote on each item turns nu into nu + 1, in simulation as in the formula."""
    found, rng = fitted(size=1e9), np.random.default_rng(0)
    now, _ = standing(found)
    expected = now.error_after(1.0, np.array([0.0, 1.0]), fall=0.0)
    assert expected == pytest.approx(now.error() * 4 / 5)
    m, errors = np.asarray(found.posterior.mean()), []
    for _ in range(60):
        truth = rng.standard_gamma(np.maximum(4.0 * m, 1e-9))
        truth /= truth.sum(axis=1, keepdims=True)
        p = (4.0 * m + draw(truth, 1, rng)) / 5.0
        errors.append(((p - truth) ** 2).sum(axis=1).mean())
    assert np.mean(errors) == pytest.approx(expected, abs=4 * np.std(errors) / np.sqrt(60))


def test_an_error_owed_to_few_votes_falls_like_one_over_the_votes():
    """Where nu is as large as the votes behind it, twice the votes halve the error; the rest stays."""
    few, _ = standing(fitted(nus=[10.0], size=10.0))
    rest, _ = standing(fitted(nus=[4.0], size=1e9))
    none = np.array([1.0])
    assert few.error_after(2.0, none, fall=0.0) == pytest.approx(few.error() / 2)
    assert rest.error_after(2.0, none, fall=0.0) == pytest.approx(rest.error())
    assert rest.error_after(2.0, none, fall=1.0) == pytest.approx(rest.error() / 2, rel=1e-6)
    assert few.share_of_few() == pytest.approx(1.0)
    assert rest.share_of_few() < 1e-6


def test_more_votes_gain_more():
    """The curve falls from now on, and its last point is the one that was asked for."""
    rng = np.random.default_rng(0)
    gains = [forecast_gain(fitted(), NOW, 200, more, rng=rng).gain.value for more in (10, 100, 1_000, 10_000)]
    assert np.all(np.diff(gains) > 0)
    found = forecast_gain(fitted(), NOW, 200, 500, rng=rng)
    curve = found.points[found.points["kind"] == "predicted"]
    assert np.all(np.diff(curve["rmse"]) < 0)
    assert curve["votes"].iloc[-1] == 700
    assert curve["rmse"].iloc[-1] == found.rmse_then.value
    assert found.rmse_now == NOW
    assert found.rmse_then.value == pytest.approx(NOW.value - found.gain.value)


def test_worthwhile_reads_the_expected_gain():
    """Just below and just above the predicted share; nothing is worthwhile for one vote more."""
    found = forecast_gain(fitted(), NOW, 400, 400, rng=np.random.default_rng(0))
    share = found.gain.value / NOW.value
    assert found.worthwhile(0.99 * share)
    assert not found.worthwhile(1.01 * share)
    assert not forecast_gain(fitted(), NOW, 400, 1, rng=np.random.default_rng(0)).worthwhile()


def test_intervals_hold_their_value_and_grow_with_doubt():
    """Lower, value, upper in order; an RMSE that is less well known makes the gain less well known."""
    wide = Estimate(0.2, 0.0, 0.5)
    widths = []
    for now in (NOW, wide):
        found = forecast_gain(fitted(nus=[1.0, 8.0]), now, 400, 400, rng=np.random.default_rng(0))
        for one in (found.rmse_now, found.rmse_then, found.gain):
            assert one.lower <= one.value <= one.upper
        widths.append(found.gain.upper - found.gain.lower)
    assert widths[0] < widths[1]


def test_a_sample_of_items_says_nearly_the_same():
    """Worlds look at some of the items."""
    many = fitted(n_items=3_000)
    full, some = (
        forecast_gain(many, NOW, 3_000, 3_000, rng=np.random.default_rng(0), rule=GainRule(items=items))
        for items in (3_000, 300)
    )
    assert some.gain.value == pytest.approx(full.gain.value, rel=0.1)


@pytest.mark.parametrize(("n_votes", "more", "message"), [(0, 10, "needs votes"), (10, 0, "more")])
def test_bad_input_is_named(n_votes, more, message):
    """No votes so far, none to come."""
    with pytest.raises(InputError, match=message):
        forecast_gain(fitted(), NOW, n_votes, more)


def test_the_same_seed_gives_the_same_forecast():
    """Everything random comes from the generator."""
    one, other = (forecast_gain(fitted(), NOW, 50, 50, rng=np.random.default_rng(4)).gain for _ in range(2))
    assert one == other
