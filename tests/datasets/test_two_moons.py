"""Two moons."""

from numpy.testing import assert_allclose, assert_array_equal

from softspread import datasets
from softspread.datasets.two_moons import two_moons


def test_two_moons_are_the_papers():
    """1,000 points in two half circles; the network's soft labels agree with the moons but for a few
    points."""
    moons = datasets.load("two_moons")
    assert moons.X.shape == (1000, 2)
    assert_allclose(moons.p_true.sum(axis=1), 1)
    assert (moons.p_true.argmax(axis=1) == moons.labels).mean() > 0.97


def test_more_training_makes_sharper_moons():
    """Entropy falls with the number of steps."""
    little, much = (
        datasets.normalized_entropy(two_moons(300, n_steps=steps).p_true).mean() for steps in (50, 600)
    )
    assert much < little


def test_moons_repeat_with_the_seed():
    """Points and network come from one number."""
    first, again, other = (two_moons(50, random_state=s, n_steps=20) for s in (1, 1, 2))
    assert_array_equal(first.p_true, again.p_true)
    assert (first.X != other.X).any()
