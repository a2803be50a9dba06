"""Items far from all others are flagged."""

import numpy as np

from softspread.graph.novelty import far_from_all


def test_novelty_is_the_share_of_the_median():
    """Whatever the unit of distances."""
    distances = np.array([1.0, 2.0, 3.0, 4.0, 500.0])
    novelty, far = far_from_all(distances)
    np.testing.assert_allclose(novelty, distances / 3.0)
    np.testing.assert_allclose(far_from_all(distances * 7)[0], novelty)
    assert far.tolist() == [False, False, False, False, True]


def test_normal_clouds_have_hardly_any_far_items():
    """Fewer than 1 in 1,000 of log-normal distances lie beyond the fence."""
    distances = np.exp(np.random.default_rng(0).normal(size=100_000))
    assert far_from_all(distances)[1].mean() < 1e-3


def test_coinciding_items_are_not_far():
    """Distance 0 is never far, also of all."""
    assert not far_from_all(np.zeros(4))[1].any()
    assert far_from_all(np.array([0.0, 0.0, 1.0, 1.0, 1.0, 99.0]))[1].tolist() == [False] * 5 + [True]
