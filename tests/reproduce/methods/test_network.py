"""The small network minimises its loss."""

import numpy as np
from numpy.testing import assert_allclose

from softspread.reproduce.methods.network import DECAY, SmallNetwork


def test_the_small_network_learns_soft_targets():
    """With the same input everywhere it outputs the mean target: cross-entropy's minimum."""
    target = np.array([[1.0, 0.0]] * 30 + [[0.0, 1.0]] * 10)
    p = SmallNetwork(hidden=4, epochs=200).fit(np.zeros((40, 2)), target).predict_proba(np.zeros((1, 2)))
    assert_allclose(p[0], [0.75, 0.25], atol=0.05)


def test_gradient_of_the_small_network_is_that_of_its_loss():
    """Against finite differences."""
    rng = np.random.default_rng(0)
    X, target = rng.normal(size=(12, 3)), rng.dirichlet([1, 1, 1], size=12)
    network = SmallNetwork(hidden=5, epochs=1).fit(X, target)
    Z = network._scaled(X)
    gradient = network._gradient(Z, target)

    def loss():
        decay = DECAY * sum((w**2).sum() for w in network._weights[::2]) / 2
        return -np.mean(np.sum(target * np.log(network.predict_proba(X)), axis=1)) + decay

    for place, slope in enumerate(gradient):
        at = tuple(rng.integers(size) for size in slope.shape)
        old, step = network._weights[place][at], 1e-6
        network._weights[place][at] = old + step
        above = loss()
        network._weights[place][at] = old - step
        below = loss()
        network._weights[place][at] = old
        assert_allclose((above - below) / (2 * step), slope[at], rtol=1e-4, atol=1e-7)
