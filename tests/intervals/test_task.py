"""What an interval method sees."""

import numpy as np
import pytest

from softspread import InputError, ProbabilisticLabelSpreading, VoteHistogram
from softspread.intervals.task import IntervalTask

X = np.arange(12.0)[:, None]
Y = np.where(np.arange(12) % 3 == 0, np.arange(12) % 2, -1)


def test_a_task_without_spreading_says_so():
    """Methods that look behind mass are refused in words where nothing was spread."""
    with pytest.raises(InputError, match=r"needs to know how votes were spread.*use method='wilson'"):
        IntervalTask(np.ones((2, 2)), np.ones((2, 2)), 0.9).spread_fit()


@pytest.mark.parametrize("method", ["hoeffding", "calibrated"])
def test_estimators_that_spread_nothing_refuse_methods_that_need_it(method):
    """A histogram of votes has no graph."""
    with pytest.raises(InputError, match="this estimator spreads none"):
        VoteHistogram().fit(X, Y).predict_interval(method=method)


def test_a_function_is_a_method():
    """It gets the soft labels, their mass, the level and the fit; its answer comes back as it is."""
    seen = []

    def whole(task):
        seen.append(task)
        return np.zeros_like(task.p), np.ones_like(task.p)

    est = ProbabilisticLabelSpreading(n_neighbors=3).fit(X, Y)
    lower, upper = est.predict_interval(method=whole, confidence_level=0.8, simultaneous=True)
    assert (lower == 0).all()
    assert (upper == 1).all()
    (task,) = seen
    np.testing.assert_array_equal(task.p, est.predict_proba())
    np.testing.assert_array_equal(task.mass, est.predict_freq())
    assert (task.confidence_level, task.n_intervals, task.new_items) == (0.8, 2, None)
    assert task.spread_fit().state.diffusion.alpha == est.alpha_
    np.testing.assert_array_equal(task.spread_fit().fitted()[1], est.predict_proba())


def test_new_items_are_handed_over():
    """A method can see that the items are new, and where they lie."""
    est = ProbabilisticLabelSpreading(n_neighbors=3).fit(X, Y)
    new = np.array([[0.5], [7.5]])

    def look(task):
        np.testing.assert_array_equal(task.new_items, new)
        np.testing.assert_array_equal(task.p, est.predict_proba(new))
        return task.p, task.p

    assert est.predict_interval(new, method=look)[0].shape == (2, 2)


def test_what_a_method_keeps_lasts_until_the_votes_change():
    """A second question reuses it; a new vote forgets it."""
    made = []

    def keeping(task):
        kept = task.spread_fit().kept
        if "answer" not in kept:
            made.append(len(task.spread_fit().state.votes))
            kept["answer"] = task.p
        return task.p, task.p

    est = ProbabilisticLabelSpreading(n_neighbors=3).fit(X, Y)
    for _ in range(2):
        est.predict_interval(method=keeping)
    est.update([1], [0])
    est.predict_interval(method=keeping)
    assert made == [4, 5]


def test_a_method_may_ask_for_refined_soft_labels():
    """Right after live updates too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 2)), np.where(np.arange(3000) % 9 == 0, 1, -1)
    est = ProbabilisticLabelSpreading(alpha=0.99, n_neighbors=5, n_jobs=1).fit(X, y, classes=[0, 1])

    class Careful:
        needs_refined = True

        def __call__(self, task):
            assert task.spread_fit().state.refined
            return task.p, task.p

    est.update([5], [0])
    assert not est._state.refined
    lower, _ = est.predict_interval(method=Careful())
    np.testing.assert_array_equal(lower, est.refine().predict_proba())
