"""The suite for datasets: built-in ones that need no download pass, and every broken promise is noticed."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from softspread import Votes
from softspread.datasets import Dataset
from softspread.datasets.sine_curve import sine_curve
from softspread.testing import check_dataset


@pytest.mark.parametrize(
    ("name", "options"),
    [("two_moons", {"n_items": 40, "n_steps": 20}), ("sine_curve", {"n_items": 30}), ("digits", {})],
)
def test_built_in_datasets_pass(name, options):
    """Each one is what a dataset must be."""
    check_dataset(name, **options)


def test_a_local_copy_is_found_in_its_folder(tmp_path):
    """A function that reads a folder is checked there."""
    np.save(tmp_path / "X.npy", np.arange(6.0).reshape(3, 2))

    def read(folder):
        return Dataset("three", np.arange(2), X=np.load(folder / "X.npy"), labels=np.array([0, 1, 1]))

    check_dataset(read, tmp_path)


def changed(**parts):
    return lambda: replace(sine_curve(20), **parts)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (lambda: 3, "a dataset is a Dataset, got int"),
        (changed(name=""), "a dataset has a name"),
        (changed(classes=np.array([0, 0])), "two or more classes"),
        (changed(labels=np.zeros(3, dtype=int)), "labels has one row for each of 20 items"),
        (changed(X=np.full((20, 1), np.nan)), "X is the same|X is a table of finite numbers"),
        (changed(p_true=np.ones((20, 3)) / 3), "p_true has shape"),
        (changed(p_true=np.ones((20, 2))), "rows of p_true sum to 1"),
        (changed(p_true=np.tile([-1.0, 2.0], (20, 1))), "p_true is not negative"),
        (changed(labels=np.full(20, 7)), "labels are columns from 0 to 1"),
        (changed(votes=Votes.from_pairs([0], ["zebra"])), "votes name classes of the dataset, not"),
        (changed(p_true=None, labels=None), "knows soft labels, labels or votes"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    """The message says which one."""
    with pytest.raises(AssertionError, match=promise):
        check_dataset(broken)


def test_chance_must_be_fixed():
    """Loaded again it must be the same."""
    seeds = count()
    with pytest.raises(AssertionError, match="X is the same when it is loaded again"):
        check_dataset(lambda: sine_curve(20, next(seeds)))
