"""Frames of other libraries are taken as those of pandas."""

import numpy as np
import pandas as pd
import pytest

from softspread import ProbabilisticLabelSpreading, RatingSpreading, Votes, load, save
from softspread._common.frames import as_frame
from softspread.errors import InputError

pl = pytest.importorskip("polars")
LONG = {"item": ["007", "b", "007"], "label": ["cat", "dog", "dog"], "annotator": ["ann", None, "bob"]}
X = {"x": [0.0, 0.1, 1.0, 1.1], "y": [0.0, 0.2, 1.0, 1.2]}
NEW = {"x": [0.0, 0.6], "y": [0.1, 0.7]}


def test_what_is_no_frame_stays():
    """Arrays, lists and pandas frames come back themselves."""
    for value in (np.zeros(2), [1], None, pd.DataFrame({"a": [1]}), "text"):
        assert as_frame(value) is value


def test_values_keep_their_types():
    """Whole numbers beyond 2**53 with gaps beside them are not rounded; categories are names."""
    frame = as_frame(pl.DataFrame({"n": [2**60 + 1, None], "c": pl.Series(["a", "b"], dtype=pl.Categorical)}))
    assert frame["n"].tolist() == [2**60 + 1, None]
    assert frame["c"].tolist() == ["a", "b"]


def test_categories_numbered_without_a_sign_are_names():
    """As polars 1.0 hands them on, and pandas refuses them."""
    pa = pytest.importorskip("pyarrow")
    numbers, names = pa.array([1, None, 0], pa.uint32()), pa.array(["dog", "cat"], pa.large_string())
    frame = as_frame(pa.table({"label": pa.DictionaryArray.from_arrays(numbers, names), "n": [1, 2, 3]}))
    assert frame["label"].tolist()[::2] == ["cat", "dog"]
    assert frame["label"].isna().tolist() == [False, True, False]
    assert frame["n"].tolist() == [1, 2, 3]


def test_lazy_frames_are_refused():
    """The message says what to call."""
    with pytest.raises(InputError, match=r"polars's LazyFrame is not computed yet; call its \.collect\(\)"):
        Votes.from_frame(pl.LazyFrame(LONG))


@pytest.mark.parametrize(
    ("make", "columns"),
    [
        (Votes.from_frame, LONG),
        (Votes.from_wide, {"item": ["a", "b"], "ann": ["cat", None], "bob": ["cat", "dog"]}),
        (Votes.from_counts, {"item": ["a", "b"], "cat": [2, 0], "dog": [1, 3]}),
        (Votes.from_multilabel, {"cat": [1, 0, None], "dog": [None, 1, 1]}),
    ],
)
def test_votes_are_the_same_from_both(make, columns):
    """Every reader of tables."""
    expected, found = make(pd.DataFrame(columns)), make(pl.DataFrame(columns))
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), check_dtype=False)
    assert found.class_names().tolist() == expected.class_names().tolist()


def test_items_priors_and_ratings_are_the_same_from_both(tmp_path):
    """Features, a prior by class names, counts as y, and a table of ratings."""
    prior = {"dog": [0.9, 0.9, 0.1, 0.1], "cat": [0.1, 0.1, 0.9, 0.9]}
    counts = {"cat": [1, 0, 0, 0], "dog": [0, 0, 0, 2]}
    ratings = {"item": [0, 3], "rating": [1.0, 5.0]}
    fits, means = [], []
    for frame in (pd.DataFrame, pl.DataFrame):
        est = ProbabilisticLabelSpreading(n_neighbors=2, prior=frame(prior), prior_strength=1.0)
        fits.append(est.fit(frame(X), frame(counts)))
        plain = ProbabilisticLabelSpreading(n_neighbors=2, alpha=0.9)
        means.append(RatingSpreading(estimator=plain).fit(frame(X), frame(ratings)).predict())
    np.testing.assert_array_equal(fits[0].predict_proba(), fits[1].predict_proba())
    np.testing.assert_array_equal(
        fits[0].predict_proba(pd.DataFrame(NEW)), fits[1].predict_proba(pl.DataFrame(NEW))
    )
    np.testing.assert_array_equal(*means)
    save(fits[1], tmp_path / "est.softspread")
    np.testing.assert_array_equal(load(tmp_path / "est.softspread").predict_proba(), fits[1].predict_proba())
