"""What the Brier score as a function of alpha says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibration import fitted
from softspread import knn_graph
from softspread.intervals.calibrated.constants import MODEL
from softspread.intervals.calibrated.curve import CurvePoint, effective_size, fit_curve, window
from voting import table


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
