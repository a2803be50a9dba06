"""How far people differ and neighbours are off."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.diffusion.diffusion import Diffusion
from softspread.graph.builders import knn_graph
from softspread.posterior.ratings import (
    OwnRatings,
    RatingNoise,
    annotator_lines,
    corrected,
    fit_noise,
    mean_ratings,
)


def drawn(n_ratings, seed=0, people=0.5, neighbors=0.2, n=400):
    """Ratings whose mean is off the prediction 0 by ``neighbors``, and people by ``people``."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n), n_ratings)
    mu = neighbors * rng.normal(size=n)
    return mu, OwnRatings.of(rows, mu[rows] + people * rng.normal(size=len(rows)))


def test_repeats_separate_people_from_neighbours():
    """Both standard deviations are found."""
    _, own = drawn(3)
    noise = fit_noise(own, np.zeros(400), np.zeros(400))
    assert noise.variance == pytest.approx(0.25, rel=0.15)
    assert float(noise.chances @ noise.neighbors) == pytest.approx(0.04, rel=0.4)


def test_without_repeats_all_splits_stay_possible():
    """One rating per item says nothing about which part is people's."""
    _, own = drawn(1)
    noise = fit_noise(own, np.zeros(400), np.zeros(400))
    spread = noise.chances @ (noise.people - noise.variance) ** 2
    assert np.sqrt(spread) > 0.15 * noise.variance


def test_intervals_hold_as_often_as_they_promise():
    """Where the model is true."""
    inside = []
    for seed in range(10):
        mu, own = drawn(2, seed)
        noise = fit_noise(own, np.zeros(400), np.zeros(400))
        found = mean_ratings(np.zeros(400), np.zeros(400), noise, np.ones(400), own)
        lower, upper = found.interval(0.9)
        inside.append(np.mean((lower <= mu) & (mu <= upper)))
    assert 0.86 < np.mean(inside) < 0.95


def test_the_mean_is_a_weighted_mean_of_prediction_and_own_ratings():
    """By precision: two ratings with variance 1 each against a prediction with variance 1/2."""
    own = OwnRatings.of(np.array([0, 0]), np.array([2.0, 4.0]))
    noise = RatingNoise(np.ones(1), np.ones(1), np.array([0.5]), np.zeros(1), 0.0, (1.0, 1.0))
    found = mean_ratings(np.zeros(1), np.zeros(1), noise, np.ones(1), own)
    assert_allclose(found.mean, [1.5])
    assert_allclose(found.variance, [0.25])
    assert_allclose(found.evidence, [4.0])


def test_offset_and_scale_of_annotators_are_found():
    """Three people on a smooth function; what is removed leaves the same ratings."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.random((300, 1)), axis=0)
    rows, who = np.repeat(np.arange(300), 3), np.tile([0, 1, 2], 300)
    offset, scale = np.array([0.5, -0.5, 0.0]), np.array([1.3, 0.7, 1.0])
    values = 0.5 + offset[who] + scale[who] * (X[rows, 0] - 0.5) + 0.02 * rng.normal(size=900)
    lines = annotator_lines(Diffusion(knn_graph(X, 10), 0.9), rows, values, np.array(["a", "b", "c"])[who])
    assert_allclose(lines["offset"], offset, atol=0.05)
    assert_allclose(lines["scale"], scale, atol=0.12)
    even = corrected(values, who, lines["offset"].to_numpy(), lines["scale"].to_numpy(), values.mean())
    assert np.std(even - X[rows, 0]) < 0.08
