"""What the Brier score as a function of alpha says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibration import fitted, make_blobs
from softspread.intervals.calibrated.curve import CurvePoint, effective_size, fit_curve, window
from voting import drawn


@pytest.fixture(scope="module")
def blobs():
    """A graph of four groups, and the soft labels of its items."""
    return make_blobs()


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


def test_the_curve_sees_more_error_where_votes_spread_too_far(blobs):
    """At alpha 0.99 the four groups blur into each other: the share of error grows."""
    graph, truth = blobs
    votes = drawn(truth, 1500, 0)
    near, far = (fitted(graph, votes, 4, alpha)[0].curve_share for alpha in (0.5, 0.99))
    assert 0 < near < 0.5
    assert far > 0
