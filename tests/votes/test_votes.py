"""Votes: what goes in comes out, whatever items and classes are called."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softspread import InputError, VoteHistogram, Votes
from softspread.votes.votes import has_vote

NAMES = {
    "positions": [0, 1, 2],
    "large numbers": [7, 10**12, 2**62],
    "beyond 63 bits": [1, 2**63 + 5, 2**64 - 1],
    "signs and 64 bits": [-1, 2**63 + 5, 3],
    "strings": ["a", "b.jpg", "c d"],
    "numbers as text": ["1", "2", "10"],
    "mixed": [1, "1", "a"],
    "tuples": [("a", 1), ("b", 2), ("c", 3)],
    "tuples of several lengths": [("a",), ("b", 2), "c"],
    "fractions": [0.5, 1.0, 2.25],
    "bytes": [b"a", b"b", b"c"],
}


@pytest.mark.parametrize("ids", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("labels", NAMES.values(), ids=NAMES)
def test_votes_reach_the_item_and_class_they_name(ids, labels):
    """Each item has one vote, for a class of its own, whatever both are called."""
    votes = Votes.from_pairs(ids[::-1], labels, classes=labels)
    est = VoteHistogram().fit(np.zeros((3, 1)), votes, item_ids=ids)
    assert est.classes_.tolist() == labels
    np.testing.assert_array_equal(est.predict_freq(), np.eye(3)[::-1])


@pytest.mark.parametrize("labels", NAMES.values(), ids=NAMES)
def test_classes_are_the_distinct_labels(labels):
    """Without a given order every label is one class, and the order does not depend on the order of votes."""
    forward = Votes.from_pairs(range(6), labels + labels).class_names().tolist()
    backward = Votes.from_pairs(range(6), (labels + labels)[::-1]).class_names().tolist()
    assert forward == backward
    assert len(forward) == 3
    assert set(forward) == set(labels)


@pytest.mark.parametrize("ids", NAMES.values(), ids=NAMES)
def test_votes_survive_a_table(ids):
    """to_frame and from_frame are inverse, names keep their types."""
    votes = Votes.from_pairs(ids, ids[::-1], annotators=ids, weights=[1, 0.5, -0.25], created_at=[3, 4, 5])
    again = Votes.from_frame(votes.to_frame())
    for name in ("items", "labels", "annotators", "created_at", "weights"):
        before, after = getattr(votes, name).tolist(), getattr(again, name).tolist()
        assert after == before
        assert [type(value) for value in after] == [type(value) for value in before]


def test_a_table_may_leave_annotators_out():
    """Missing annotators, as None or NaN, stay unnamed; numbered ones stay whole numbers beside them."""
    frame = pd.DataFrame({"item": [0, 1, 2], "label": ["x", "y", "x"], "annotator": [1.0, np.nan, 2.0]})
    votes = Votes.from_frame(frame)
    assert votes.annotators.tolist() == [1, None, 2]
    assert isinstance(votes.annotators[0], int)
    again = Votes.from_frame(votes.to_frame())
    assert again.annotators.tolist() == [1, None, 2]


def test_annotators_that_are_all_missing_are_none():
    """A column without any name says as much as no column."""
    assert Votes.from_pairs([0, 1], [0, 1], annotators=[None, np.nan]).annotators is None


def test_from_frame_knows_both_names_of_each_column():
    """task and worker are item and annotator."""
    frame = pd.DataFrame({"task": ["i", "j"], "worker": ["ann", "bob"], "label": [1, 0]})
    votes = Votes.from_frame(frame)
    assert votes.items.tolist() == ["i", "j"]
    assert votes.annotators.tolist() == ["ann", "bob"]


def test_columns_of_pandas_own_types_are_read_as_plain_ones():
    """Nullable numbers, categories and text columns name the same items and classes as lists."""
    frame = pd.DataFrame(
        {
            "item": pd.array([0, 2], dtype="Int64"),
            "label": pd.Categorical(["dog", "cat"]),
            "annotator": pd.array(["ann", None], dtype="string"),
            "weight": pd.array([1.5, 2], dtype="Float64"),
        }
    )
    est = VoteHistogram().fit(np.zeros((3, 1)), Votes.from_frame(frame))
    assert est.classes_.tolist() == ["cat", "dog"]
    assert est.predict_freq().tolist() == [[0, 1.5], [0, 0], [2, 0]]
    assert est.votes_.annotators.tolist() == ["ann", None]


def test_positions_in_an_object_column_are_positions():
    """A column of Python whole numbers is as good as a column of int64."""
    votes = Votes.from_frame(pd.DataFrame({"item": np.array([1, 0], dtype=object), "label": ["a", "b"]}))
    assert VoteHistogram().fit(np.zeros((2, 1)), votes).predict().tolist() == ["b", "a"]


def test_counts_are_single_votes():
    """from_counts and repeated pairs say the same, vote by vote; a fraction is one vote of that weight."""
    counts = Votes.from_counts([[2, 0, 1], [0, 0, 0], [0.5, 0.5, 0]])
    pairs = Votes.from_pairs([0, 0, 0, 2, 2], [0, 0, 2, 0, 1], weights=[1, 1, 1, 0.5, 0.5], classes=[0, 1, 2])
    pd.testing.assert_frame_equal(counts.to_frame(), pairs.to_frame())
    X = np.zeros((3, 1))
    a, b = VoteHistogram().fit(X, counts), VoteHistogram().fit(X, pairs)
    np.testing.assert_array_equal(a.predict_freq(), b.predict_freq())
    assert a.classes_.tolist() == b.classes_.tolist() == [0, 1, 2]


def test_counts_in_a_frame_bring_names():
    """Index and columns of a DataFrame are items and classes, in their order."""
    votes = Votes.from_counts(pd.DataFrame([[0, 1], [2, 0]], index=["i", "j"], columns=["dog", "cat"]))
    assert votes.items.tolist() == ["i", "j", "j"]
    assert votes.labels.tolist() == ["cat", "dog", "dog"]
    assert votes.class_names().tolist() == ["dog", "cat"]


@pytest.mark.parametrize("missing", [-1, None, np.nan, -1.0, pd.NA])
def test_wide_tables_skip_missing_votes(missing):
    """-1, None and NaN mean no vote, beside numbers and beside text."""
    for a, b in ((0, 1), ("cat", "dog")):
        frame = pd.DataFrame(
            {"ann": [a, missing, b], "bob": [missing, missing, a]}, index=["x", "y", "z"], dtype=object
        )
        votes = Votes.from_wide(frame)
        assert votes.items.tolist() == ["x", "z", "z"]
        assert votes.labels.tolist() == [a, b, a]
        assert votes.annotators.tolist() == ["ann", "ann", "bob"]


def test_a_wide_list_keeps_numbers_beside_text():
    """-1 in a plain list with text is not a vote, not the class '-1'."""
    assert Votes.from_wide([["cat", -1], ["dog", "cat"]]).class_names().tolist() == ["cat", "dog"]


def test_a_wide_table_of_floats_has_whole_classes():
    """NaN makes pandas store labels as floats; classes stay whole numbers."""
    votes = Votes.from_wide(pd.DataFrame({"a": [0, np.nan], "b": [1, 2]}))
    assert votes.labels.tolist() == [0, 1, 2]
    assert votes.labels.dtype.kind == "i"


def test_adding_lists_of_votes_keeps_everything():
    """A sum holds the votes of both, with None where one side names nobody or no time."""
    first = Votes.from_pairs([0], ["a"], annotators=["ann"], created_at=pd.to_datetime(["2024-02-29"]))
    second = Votes.from_pairs([1], [5], weights=0.5)
    both = first + second
    assert both.items.tolist() == [0, 1]
    assert both.labels.tolist() == ["a", 5]
    assert both.annotators.tolist() == ["ann", None]
    assert both.weights.tolist() == [1, 0.5]
    assert pd.Timestamp(both.created_at[0]) == pd.Timestamp("2024-02-29")
    assert both.created_at[1] is None


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_stay_times_when_votes_without_times_join(unit):
    """A time of any precision never becomes a bare number."""
    times = np.array(["2024-02-29T12:00:00"], dtype=f"datetime64[{unit}]")
    both = Votes.from_pairs([0], [1], created_at=times) + Votes.from_pairs([0], [1])
    assert pd.Timestamp(both.created_at[0]) == pd.Timestamp("2024-02-29T12:00:00")


def test_adding_nothing_changes_nothing():
    """An empty list of votes is neutral on both sides."""
    votes = Votes.from_pairs(["x", "y"], ["b", "a"], annotators=["ann", "bob"])
    empty = Votes.from_pairs([], [])
    for total in (votes + empty, empty + votes):
        assert total.items.tolist() == ["x", "y"]
        assert total.labels.tolist() == ["b", "a"]
        assert total.annotators.tolist() == ["ann", "bob"]


def test_given_classes_of_both_sides_are_united_in_order():
    """New classes come last; a number and its text stay two classes."""
    both = Votes.from_pairs([0], [1], classes=[2, 1]) + Votes.from_pairs([0], ["1"], classes=["1", "3"])
    assert both.classes.tolist() == [2, 1, "1", "3"]
    both = Votes.from_counts([[1, 0]]) + Votes.from_counts([[0, 0, 1]])
    assert both.classes.tolist() == [0, 1, 2]


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.floats(0, 9)), max_size=20),
    st.integers(0, 20),
)
def test_counts_of_a_sum_are_the_sum_of_counts(votes, cut):
    """Histograms add like the lists they come from."""

    def counts(part):
        items, labels, weights = zip(*part, strict=True) if part else ((), (), ())
        made = Votes.from_pairs(list(items), list(labels), weights=list(weights), classes=[0, 1, 2])
        return made, VoteHistogram().fit(np.zeros((5, 1)), made).predict_freq()

    (a, counts_a), (b, counts_b) = counts(votes[:cut]), counts(votes[cut:])
    whole = VoteHistogram().fit(np.zeros((5, 1)), a + b).predict_freq()
    np.testing.assert_allclose(whole, counts_a + counts_b, rtol=1e-12)


def test_later_changes_of_the_callers_arrays_do_not_change_votes():
    """Votes own their memory."""
    items, labels, annotators = np.array([0, 1]), np.array(["a", "b"]), np.array(["ann", "bob"], dtype=object)
    weights = np.array([1.0, 2.0])
    votes = Votes.from_pairs(items, labels, annotators, weights)
    items[:], labels[:], annotators[:], weights[:] = 1, "z", "eve", 9
    assert votes.to_frame().to_numpy().tolist() == [[0, "a", 1.0, "ann"], [1, "b", 2.0, "bob"]]


def test_has_vote_reads_every_kind_of_gap():
    """Gaps are found among numbers and among objects; the text '-1' is a class."""
    assert has_vote(np.array([0, -1, 3])).dtype == bool
    assert has_vote(np.array([0, -1, 3])).tolist() == [True, False, True]
    assert has_vote(np.array([0.0, -1.0, np.nan])).tolist() == [True, False, False]
    assert has_vote(np.array(["-1", -1, None, np.nan, pd.NA, "a"], dtype=object)).tolist() == [
        True,
        False,
        False,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Votes.from_pairs([0, 1], [0]), "2 items but 1 labels"),
        (lambda: Votes.from_pairs([[0, 1]], [0]), "plain values"),
        (lambda: Votes.from_pairs(np.zeros((2, 2)), [0, 1]), "items must be a flat list"),
        (lambda: Votes.from_pairs([0, None], [0, 1]), "item number 1 .counted from 0. is missing"),
        (lambda: Votes.from_pairs([0, 1], [np.nan, 1]), "label number 0 .* is missing"),
        (lambda: Votes.from_pairs([0, 1], [1.0, np.inf]), "label number 1 .* is infinite"),
        (lambda: Votes.from_pairs([0, 1], [{}, {}]), "labels must be plain values"),
        (
            lambda: Votes.from_pairs([0], ["c"], classes=["a", "b"]),
            r"'c' are not among the classes \['a', 'b'\]",
        ),
        (lambda: Votes.from_pairs([0], ["a"], classes=["a", "a"]), "classes must be distinct"),
        (
            lambda: Votes.from_pairs([0, 1], [0, 1], annotators=["a"]),
            r"annotators must be one per vote \(2\)",
        ),
        (lambda: Votes.from_pairs([0, 1], [0, 1], created_at=[1]), r"times must be one per vote \(2\)"),
        (lambda: Votes.from_pairs([0], [0], weights=[np.nan]), "weights must be finite, got nan for vote 0"),
        (
            lambda: Votes.from_pairs([0, 1], [0, 0], weights=[1, np.inf]),
            "weights must be finite, got inf for vote 1",
        ),
        (lambda: Votes.from_pairs([0], [0], weights=["1"]), "weights must be numbers"),
        (lambda: Votes.from_pairs([0], [0], weights="1"), "weights must be numbers"),
        (lambda: Votes.from_pairs([0, 1], [0, 0], weights=[True, False]), "weights must be numbers"),
        (lambda: Votes.from_pairs([0], [0], weights=[1j]), "weights must be numbers"),
        (lambda: Votes.from_pairs([0], [0], weights=[1, 2]), r"one number per vote \(1\), got shape \(2,\)"),
        (lambda: Votes.from_frame([[0, 1]]), "takes a pandas or polars DataFrame, got list"),
        (lambda: Votes.from_frame(pd.DataFrame({"label": [1]})), "needs a column 'item' or 'task'"),
        (lambda: Votes.from_frame(pd.DataFrame({"item": [1]})), "needs a column 'label'"),
        (lambda: Votes.from_counts([1, 2]), r"shape \(n_items, n_classes\), got \(2,\)"),
        (lambda: Votes.from_counts([[1, -1]]), "finite and not negative"),
        (lambda: Votes.from_counts([[1, np.nan]]), "finite and not negative"),
        (lambda: Votes.from_counts([[1e12, 1]]), "1e.12 votes, more than the 20,000,000"),
        (lambda: Votes.from_counts([["1", "2"]]), "table of numbers"),
        (lambda: Votes.from_counts([[1, 2], [3]]), "table of numbers"),
        (lambda: Votes.from_counts([[1, 2]], classes=["a"]), r"\(1, 2\) do not fit 1 items and 1 classes"),
        (lambda: Votes.from_wide(5), "one row per item and one column per annotator"),
        (lambda: Votes.from_wide(np.zeros((2, 2, 2))), "one row per item and one column per annotator"),
    ],
)
def test_bad_votes_are_refused_with_the_reason(make, message):
    """Every way to hand in nonsense has a message that says what came and what is allowed."""
    with pytest.raises(InputError, match=message):
        make()


def test_only_votes_can_be_added():
    """Adding anything else is a type error, as for lists."""
    with pytest.raises(TypeError):
        Votes.from_pairs([0], [0]) + 1


def test_votes_show_as_a_short_table_in_notebooks():
    """A line and ten rows, however many there are; names are escaped."""
    votes = Votes.from_pairs(range(960), ["<b>cat</b>"] * 960, annotators=["ann"] * 960)
    assert len(repr(votes)) < 100
    page = votes._repr_html_()
    assert len(page) < 3000
    assert "and 950 more votes" in page
    assert "<b>" not in page
    assert "more" not in Votes.from_pairs([0], [1])._repr_html_()
