"""What the Brier score as a function of alpha says."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibration import fitted
from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.random_signs import SignRule
from softspread.intervals.calibrated.constants import MODEL
from softspread.intervals.calibrated.curve import CurvePoint, effective_size, fit_curve, window
from softspread.intervals.calibrated.model import calibrated, fit_calibrated
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots
from voting import mass_of, table


def test_curve_recovers_how_a_score_was_made():
    """A score that is noise plus smoothing by construction gives back its share."""
    noise, reach, power = np.array([0.5, 0.2, 0.08, 0.03]), np.array([2.0, 6.0, 18.0, 50.0]), 1.0
    here, G, B = 2, 0.4, 0.05
    score = G * (1 + noise) + B * (reach / reach[here]) ** power
    points = [CurvePoint(np.full(500, s), v, e) for s, v, e in zip(score, noise, reach, strict=True)]
    expected = (G * noise[here] + B) / score[here]
    assert_allclose(fit_curve(points, here, np.ones(500)), expected, rtol=0.1)


def test_the_window_holds_the_alpha_in_use_and_its_neighbours():
    """Three below, two above, fewer at the ends."""
    assert window(0.75) == [0.1, 0.25, 0.5, 0.75, 0.9, 0.95]
    assert window(0.8) == [0.25, 0.5, 0.75, 0.8, 0.9, 0.95]
    assert window(0.999) == [0.9, 0.95, 0.99, 0.999]


def test_equal_votes_have_their_number_as_effective_size():
    """(sum phi)^2 / sum phi^2; next to nothing where none arrived."""
    assert_allclose(effective_size(np.array([4.0, 0.0]), np.array([4.0, 0.0])), [4.0, 1e-3])


@pytest.mark.parametrize("alpha", [0.05, 0.75, 0.99])
def test_the_share_stays_within_its_limits(rng, alpha):
    """At least the noise of the neighbours' mean, at most a limit; not defined without spreading."""
    graph = knn_graph(rng.normal(size=(300, 2)), n_neighbors=10)
    votes = table(rng.integers(300, size=600), rng.integers(2, size=600))
    assert MODEL.smallest_share <= fitted(graph, votes, 2, alpha)[0].curve_share <= MODEL.largest_curve_share
    assert np.isnan(fitted(graph, votes, 2, 0.0)[0].curve_share)


def test_few_columns_and_loose_solves_leave_intervals_of_many_votes_as_they_are(rng):
    """Beside 33 columns and tight solves: the share of the error within 10 %, no end moves by more than 0.02.

    Other random signs move both as much; on average intervals get at most 1 % narrower.
    """
    X = rng.normal(size=(12_000, 2))
    truth = np.exp(2 * np.sin(np.stack([2 * X[:, 0], 2 * X[:, 1] + 1], axis=1)))
    truth /= truth.sum(axis=1, keepdims=True)
    graph, rows = knn_graph(X, n_neighbors=10, random_state=0), rng.integers(12_000, size=12_000)
    votes = table(rows, (rng.random(12_000) > truth[rows, 0]).astype(np.int64))
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    mass, ballots = mass_of(graph, votes, 2), Ballots.of(votes, 2)
    p = soft_labels(mass, np.full((12_000, 2), 0.5), 1e-4)
    signs = SignRule(many_voted=5_000, signs=40_000)
    quick = replace(MODEL, accuracy=replace(MODEL.accuracy, many_voted=5_000), signs=signs)
    fits = [fit_calibrated(diffusion, ballots, mass, model=model) for model in (MODEL, quick)]
    slow, fast = (calibrated(fit, p, 0.9) for fit in fits)
    assert fits[1].curve_share == pytest.approx(fits[0].curve_share, rel=0.1)
    assert max(np.abs(one - other).max() for one, other in zip(slow, fast, strict=True)) < 0.02
    assert (fast[1] - fast[0]).mean() > 0.99 * (slow[1] - slow[0]).mean()
