"""How often the predicted class is the right one."""

import numpy as np
import pytest

from judged import N_CLASSES, draw
from softspread.quality.accuracy import AccuracyModel, _mixture, estimate_accuracy
from softspread.quality.estimate import estimate_quality
from softspread.quality.result import Trials


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


def test_a_mixture_finds_how_common_its_components_are(rng):
    """Two kinds of items, one in four of the second kind."""
    kind = rng.random(4000) < 0.25
    likelihood = np.where(kind[:, None], [[0.1, 0.9]], [[0.9, 0.1]])
    found = _mixture(likelihood, np.full(2, 0.5), AccuracyModel(steps=200))
    np.testing.assert_allclose(found, [1 - kind.mean(), kind.mean()], atol=0.09)


def test_a_single_class_is_always_right(rng):
    """With one class there is nothing to mistake."""
    trials = Trials(np.ones((4, 1)), np.ones((4, 1)), np.ones(4), np.arange(4), np.ones((4, 1)))
    assert estimate_accuracy(trials, np.ones(4, dtype=bool), np.ones((2, 4)), rng).tolist() == [1.0, 1.0]
