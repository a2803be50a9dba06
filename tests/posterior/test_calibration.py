"""Sharpness of the blend: what the votes leave open stays open."""

import numpy as np
import pytest

from softspread.posterior.calibration import (
    RULE,
    Calibration,
    CalibrationRule,
    Setting,
    fit_calibration,
    sharpened,
)


def voted(rng, tau, n_items=3000, n_classes=3):
    """A blend q, and one vote per item on items whose truth is q sharpened by tau."""
    q = rng.dirichlet(np.ones(n_classes), n_items).astype(np.float32)
    truth = sharpened(q, tau).astype(float)
    columns = (rng.random((n_items, 1)) > truth.cumsum(axis=1)).sum(axis=1).clip(0, n_classes - 1)
    return q, np.eye(n_classes)[columns]


@pytest.mark.parametrize("tau", [0.6, 1.0, 1.75, 2.5])
def test_many_votes_find_the_sharpness(tau, rng):
    """The mean of tau comes within 15 %, and weights are a distribution."""
    found = fit_calibration(*voted(rng, tau))
    assert found.tau == pytest.approx(tau, rel=0.15)
    weights = np.array([setting.weight for setting in found.settings])
    np.testing.assert_allclose(weights.sum(), 1)
    assert 0 < len(weights) <= RULE.keep
    assert weights.min() >= RULE.least * weights.max() * (1 - 1e-9)


def test_few_votes_leave_more_open_than_many(rng):
    """The settings kept differ less in tau with more votes."""

    def spread(calibration):
        return np.ptp([setting.tau for setting in calibration.settings])

    q, votes = voted(rng, 1.45)
    assert spread(fit_calibration(q[:10], votes[:10])) > spread(fit_calibration(q, votes))


def test_without_votes_tau_is_near_one_and_lam_is_large():
    """Nothing is sharpened on no evidence; intervals reckon with much of the uniform distribution."""
    found = fit_calibration(np.empty((0, 4), np.float32), np.empty((0, 4)))
    assert 0.7 < found.tau < 1.4
    np.testing.assert_allclose(found.pi, 0.25)
    assert sum(setting.weight * setting.lam for setting in found.doubts) > 0.1


def test_intervals_reckon_with_more_doubt_than_soft_labels(rng):
    """Settings of the doubts mix in more of the class shares, also after some votes."""
    found = fit_calibration(*voted(rng, 1.45, 60))
    lam, doubted = (sum(s.weight * s.lam for s in group) for group in (found.settings, found.doubts))
    assert doubted > lam


def test_weights_follow_the_formula(rng):
    """Prior times likelihood to the power, over a grid of two settings."""
    rule = CalibrationRule(taus=(1.0, 2.1), lams=(0.02,), keep=8, least=0.0)
    q, votes = voted(rng, 1.2, 40)
    found = {setting.tau: setting.weight for setting in fit_calibration(q, votes, rule).settings}
    shares = (votes.sum(axis=0) + 1) / (votes.sum() + 3)
    pi = 0.7 * shares + 0.3 / 3
    scores = {}
    for tau in rule.taus:
        sharp = q.astype(float) ** tau
        sharp /= sharp.sum(axis=1, keepdims=True)
        told = 0.98 * sharp + 0.02 * pi
        scores[tau] = rule.answer.power * np.log((votes * told).sum(axis=1)).sum()
        scores[tau] -= 0.5 * (np.log(tau) / rule.spread) ** 2
    odds = np.exp(scores[2.1] - scores[1.0])
    assert found[2.1] / found[1.0] == pytest.approx(odds, rel=1e-3)


def test_rows_sum_to_one_and_every_class_stays_possible(rng):
    """Also where the blend says 0."""
    q = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]], dtype=np.float32)
    found = fit_calibration(*voted(rng, 1.45, 200))
    m = found.average(q)
    np.testing.assert_allclose(m.sum(axis=1), 1, atol=1e-5)
    assert m.min() > 0


def test_the_average_is_over_the_settings(rng):
    """Each applied by itself, times its weight; tau is their mean."""
    pi = np.array([0.5, 0.5])
    two = Calibration([Setting(1.0, 0.1, 0.25), Setting(2.0, 0.4, 0.75)], [], pi)
    q = rng.dirichlet([1, 1], 5).astype(np.float32)
    expected = 0.25 * two.apply(q, two.settings[0]) + 0.75 * two.apply(q, two.settings[1])
    np.testing.assert_allclose(two.average(q), expected, atol=1e-6)
    np.testing.assert_allclose(two.apply(q, two.settings[0]), 0.9 * q + 0.05, atol=1e-6)
    assert two.tau == 1.75


def test_sharpening_keeps_the_order_and_tau_one_changes_nothing(rng):
    """q^tau scaled to sum 1."""
    q = rng.dirichlet(np.ones(4), 6).astype(np.float32)
    np.testing.assert_array_equal(sharpened(q, 1.0), q)
    exact = q.astype(float) ** 2
    np.testing.assert_allclose(sharpened(q, 2.0), exact / exact.sum(axis=1, keepdims=True), atol=1e-6)


def test_a_single_vote_leaves_the_class_shares_in(rng):
    """One held-out vote says nothing about how sharp experts should be: the answer stays far from theirs."""
    q = np.array([[0.98, 0.01, 0.01]], dtype=np.float32)
    one = fit_calibration(q, np.array([[1.0, 0.0, 0.0]]))
    assert one.average(q)[0, 0] < 0.85
    many = fit_calibration(np.repeat(q, 300, axis=0), np.repeat([[1.0, 0.0, 0.0]], 300, axis=0))
    assert many.average(q)[0, 0] > 0.97
