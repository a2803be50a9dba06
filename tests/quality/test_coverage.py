"""Coverage of predicted votes and of intervals."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from softspread import InputError, SoftLabeler, VoteHistogram, Votes
from softspread.quality.coverage import set_shares, truth_coverage, vote_coverage
from softspread.quality.result import Trials


@given(st.integers(1, 6), st.floats(0.01, 0.99), st.integers(0, 2**32 - 1))
def test_sets_of_a_right_prediction_hold_exactly_their_level(n_classes, level, seed):
    """The probability inside a set is its level, whatever the soft label."""
    p = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.4), size=8)
    assert_allclose((set_shares(p, level) * p).sum(axis=1), level, atol=1e-9)


def test_larger_levels_have_larger_sets():
    """A class never leaves the set as the level rises."""
    p = np.random.default_rng(0).dirichlet([0.5] * 4, size=50)
    sets = [set_shares(p, level) for level in (0.2, 0.5, 0.8, 0.95)]
    assert all((small <= large + 1e-12).all() for small, large in pairwise(sets))


def trials_of(p, truth, rng):
    """One vote from the truth on each item, to judge the prediction."""
    votes = np.eye(p.shape[1])[[rng.choice(p.shape[1], p=row) for row in truth]]
    return Trials(p, votes, np.ones(len(p)), np.arange(len(p)), votes)


def test_right_predictions_cover_and_bold_ones_do_not():
    """Votes drawn from the prediction fall inside as often as promised; sharpened ones promise more."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet([1.0, 1.0, 1.0], size=3000)
    right = vote_coverage(trials_of(truth, truth, rng), [0.5, 0.8], 0.99, rng)
    assert ((right["lower"] <= right["level"]) & (right["level"] <= right["upper"])).all()
    bold = truth**4 / (truth**4).sum(axis=1, keepdims=True)
    found = vote_coverage(trials_of(bold, truth, rng), [0.5, 0.8], 0.99, rng)
    assert (found["upper"] < found["level"]).all()


def test_coverage_of_a_truth_is_the_share_inside():
    """A closed form: three of four classes inside on average."""
    frame = truth_coverage([np.array([1.0, 0.5])], [0.9], 0.9, np.random.default_rng(0))
    assert frame["covered"].tolist() == [0.75]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    right = 1 / (1 + np.exp(-2 * X[:, 0]))
    items = rng.integers(300, size=400)
    votes = Votes.from_pairs(items, (rng.random(400) < right[items]).astype(int))
    return SoftLabeler(random_state=0).fit(X, votes), np.column_stack([1 - right, right])


def test_an_estimator_measures_both(fitted):
    """Held-out votes judge predictions, a truth judges intervals; wide ones hold more."""
    lab, truth = fitted
    votes, known = lab.coverage(levels=[0.5, 0.9]), lab.coverage(truth, levels=[0.5, 0.9])
    for frame in (votes, known):
        assert ((frame["lower"] <= frame["covered"]) & (frame["covered"] <= frame["upper"])).all()
    lower, upper = lab.predict_interval(confidence_level=0.9)
    assert_allclose(known["covered"][1], ((truth >= lower) & (truth <= upper)).mean())
    assert known["covered"][0] < known["covered"][1]


def test_bad_input_is_refused(fitted):
    """What came and what is allowed."""
    lab, truth = fitted
    with pytest.raises(InputError, match=r"p_true must have shape \(300, 2\)"):
        lab.coverage(truth[:5])
    with pytest.raises(InputError, match="levels"):
        lab.coverage(levels=[90])
    with pytest.raises(InputError, match="levels is empty"):
        lab.coverage(levels=[])
    assert not hasattr(VoteHistogram, "coverage")
