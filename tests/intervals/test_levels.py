"""Ordered classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.errors import InputError
from softspread.estimators.labeler import SoftLabeler
from softspread.intervals.levels import EXPECTED, level_values


@pytest.fixture(scope="module")
def task():
    """100 items with grades 1 to 4 that rise with the first feature; 40 have two votes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 2))
    counts = np.zeros((100, 4))
    for _ in range(2):
        grade = np.clip(np.round(1.5 + 1.2 * X[:40, 0] + 0.5 * rng.normal(size=40)), 0, 3).astype(int)
        counts[np.arange(40), grade] += 1
    return X, counts


def ordinal(X, y, **given):
    return SoftLabeler(kind="ordinal", classifier="none", random_state=0).fit(X, y, **given)


def test_two_levels_are_one_question(task):
    """Soft labels, intervals and the level of two ordered classes are those without an order."""
    X, counts = task
    two = counts[:, :2]
    plain = SoftLabeler(classifier="none", random_state=0).fit(X, two).soft_labels()
    ordered = ordinal(X, two).soft_labels()
    assert_allclose(ordered.p, plain.p, atol=1e-9)
    assert_allclose(ordered.lower, plain.lower, atol=1e-9)
    middle, lower, upper = (ordered.more[name] for name in EXPECTED)
    assert_allclose(middle, plain.p[:, 1], atol=1e-9)
    assert_allclose(lower, np.minimum(plain.lower[:, 1], middle), atol=1e-9)
    assert_allclose(upper, np.maximum(plain.upper[:, 1], middle), atol=1e-9)


def test_the_other_order_turns_the_levels_round(task):
    """Which end is called low says nothing."""
    X, counts = task
    forth, back = ordinal(X, counts).soft_labels(), ordinal(X, counts[:, ::-1]).soft_labels()
    assert_allclose(back.p[:, ::-1], forth.p, atol=1e-5)
    assert_allclose(3 - back.more[EXPECTED[0]], forth.more[EXPECTED[0]], atol=1e-5)
    assert_allclose(3 - back.more[EXPECTED[1]], forth.more[EXPECTED[2]], atol=1e-3)


def test_thresholds_are_monotone_and_the_level_is_theirs(task):
    """P(y > c) falls with c; the expected level is their sum and lies in its interval."""
    labels = ordinal(*task).soft_labels()
    above = 1 - labels.p.cumsum(axis=1)
    assert (np.diff(above, axis=1) <= 1e-12).all()
    middle, lower, upper = (labels.more[name] for name in EXPECTED)
    assert_allclose(middle, above[:, :-1].sum(axis=1), atol=1e-9)
    assert ((lower <= middle) & (middle <= upper)).all()
    assert {*EXPECTED} <= {*labels.to_frame().columns}
    assert labels.take(np.arange(3)).more[EXPECTED[0]].tolist() == middle[:3].tolist()


def test_levels_of_numbers_and_of_words():
    """Rising numbers are worth themselves; words, and numbers out of order, their place."""
    assert level_values([1, 2, 10]).tolist() == [1, 2, 10]
    assert level_values(["3", "2", "1"]).tolist() == [0, 1, 2]


def test_words_need_an_order(task):
    """The alphabet is none."""
    X, _ = task
    y = np.where(np.arange(100) < 9, np.resize(["low", "mid", "high"], 100), None)
    with pytest.raises(InputError, match="order of the classes"):
        ordinal(X, y)
    assert ordinal(X, y, classes=["low", "mid", "high"]).classes_.tolist() == ["low", "mid", "high"]
