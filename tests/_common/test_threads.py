"""Threads for short parallel steps."""

import os
import pickle
import threading

import numpy  # noqa: F401  loads a linear algebra library
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from softspread._common.threads import Workers, count_threads, single_threaded
from softspread.errors import InputError


def test_none_and_minus_one_mean_every_core():
    """A negative number counts from there: -2 leaves one core free, but never none."""
    every = count_threads(None)
    assert 1 <= every <= (os.cpu_count() or 1)
    assert count_threads(-1) == every
    assert count_threads(-2) == max(1, every - 1)
    assert count_threads(-1000) == 1
    assert count_threads(3) == 3


@pytest.mark.parametrize("wrong", [0, True, 1.5, "2"])
def test_other_numbers_of_threads_are_refused(wrong):
    """Zero, floats, truth values and text."""
    with pytest.raises(InputError, match="n_jobs must be a whole number other than 0 or None"):
        count_threads(wrong)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_part_is_worked_on_once(n_threads):
    """In any number of threads; the stream yields once per part."""
    done = []
    with Workers(n_threads) as workers:
        assert len(list(workers.stream(done.append, range(20)))) == 20
        workers.run(done.append, [20])
    assert sorted(done) == list(range(21))


def test_one_thread_or_one_part_stays_in_the_caller():
    """No pool is started for nothing."""
    names = []
    with Workers(4) as workers:
        workers.run(lambda part: names.append(threading.current_thread()), [0])
    with Workers(1) as workers:
        workers.run(lambda part: names.append(threading.current_thread()), [0, 1])
    assert set(names) == {threading.current_thread()}


def test_the_first_exception_is_raised():
    """Work that fails does not fail silently."""
    with Workers(2) as workers, pytest.raises(ZeroDivisionError):
        workers.run(lambda part: 1 // part, [1, 0, 2])


def test_a_copy_starts_threads_of_its_own():
    """Workers travel to other processes without their pool."""
    with Workers(2) as workers:
        workers.run(lambda part: None, [1, 2])
        copied = pickle.loads(pickle.dumps(workers))
    seen = []
    with copied:
        copied.run(seen.append, [1, 2])
    assert sorted(seen) == [1, 2]
    assert copied.n_threads == 2


def test_single_threaded_limits_the_libraries_and_gives_their_threads_back():
    """One thread each inside the block, what it was before and after, every time."""

    def threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2, "blas"):
        before = threads()
        for _ in range(2):
            with single_threaded():
                assert threads() == {1}
            assert threads() == before
    assert before != {1}
