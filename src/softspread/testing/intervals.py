"""The requirements on an interval method."""

import warnings

import numpy as np

from softspread._common.types import FloatArray
from softspread.errors import SoftspreadWarning
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.intervals.registry import INTERVALS
from softspread.intervals.task import IntervalMethod
from softspread.testing.claims import answer_of, require, require_close
from softspread.testing.examples import clustered_graph, vote_counts

SLACK = 1e-9  # rounding that may turn two equal ends around


def check_interval_method(method: str | IntervalMethod) -> None:
    """Check that an interval method keeps its promises.

    They are those of :class:`~softspread.intervals.task.IntervalMethod`.

    On fitted items, one of which no vote reaches: ends are ordered and in [0, 1]; a higher level, and
    intervals that must hold together, are at least as wide; the same question has the same answer, also after
    votes came and went; four times the votes do not make the intervals wider on average.

    Parameters
    ----------
    method : str or callable
        A registered name, or what would be registered: ``method(task)`` returns lower and upper ends.

    Raises
    ------
    AssertionError
        Naming the first promise that is broken.

    Examples
    --------
    >>> from softspread.testing import check_interval_method
    >>> check_interval_method("wilson")
    """
    find = INTERVALS.find(method)
    est = _fitted(1)
    narrow = _interval(est, find, 0.5)
    for wider in (_interval(est, find, 0.5, True), _interval(est, find, 0.9), _interval(est, find, 0.99)):
        require((wider[0] <= narrow[0] + SLACK).all(), "a higher level does not raise a lower end")
        require((wider[1] >= narrow[1] - SLACK).all(), "a higher level does not lower an upper end")
    before = _interval(est, find, 0.9)
    est.update([0, 5], [0, 1])
    _interval(est, find, 0.9)
    est.undo([0, 5], [0, 1])
    est.refine()
    for end, there in zip(_interval(est, find, 0.9), before, strict=True):
        require_close(end, there, 1e-4, "votes that came and went leave the intervals as they were")
    few, many = (float(np.mean(np.subtract(*_interval(_fitted(m), find, 0.9)))) for m in (1, 4))
    require(-many <= -few + SLACK, f"four times the votes widen intervals: {-few:.3f} to {-many:.3f}")


def _fitted(times: int) -> ProbabilisticLabelSpreading:
    est = ProbabilisticLabelSpreading(alpha=0.8, n_jobs=1, random_state=0)
    return est.fit(clustered_graph(), times * vote_counts(300))


def _interval(
    est: ProbabilisticLabelSpreading, find: IntervalMethod, level: float, together: bool = False
) -> tuple[FloatArray, FloatArray]:
    """The method's answer, checked by itself."""
    where = f"at level {level:g}"

    def ask() -> tuple[FloatArray, FloatArray]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoftspreadWarning)  # of few repeated votes, not the question here
            return est.predict_interval(confidence_level=level, method=find, simultaneous=together)

    (lower, upper), again = (answer_of(ask, f"{where} there is an interval") for _ in range(2))
    p = est.predict_proba()
    for name, end, same in (("lower", lower, again[0]), ("upper", upper, again[1])):
        require(np.shape(end) == p.shape, f"{where} {name} has the shape of p, {p.shape}")
        require(np.isfinite(end).all(), f"{where} every {name} end is a number")
        require(np.array_equal(end, same), f"{where} the same question has the same {name} ends")
    require((lower >= 0).all() and (upper <= 1).all(), f"{where} ends lie in [0, 1]")
    require((lower <= upper).all(), f"{where} no lower end is above its upper end")
    return lower, upper
