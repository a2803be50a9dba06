"""Of one person's votes on one item the last stands, however votes come in."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softspread import (
    InputError,
    ProbabilisticLabelSpreading,
    SoftspreadWarning,
    VoteHistogram,
    Votes,
    read_votes,
)
from softspread.io.matching import match_votes
from softspread.io.votes import VoteReading, read_vote_files
from softspread.votes.reading import read_y
from softspread.votes.standing import change, last_votes
from softspread.votes.table import VoteTable
from vote_files import text

X = np.arange(5.0)[:, None]
SAID = ".*only the last one stands. repeats='keep' .--repeats keep. counts them all"


def table(*votes):
    """Rows of (item, class, weight, annotator)."""
    rows, columns, weights, names = zip(*votes, strict=True)
    return VoteTable(
        np.array(rows), np.array(columns), np.array(weights, float), np.array(names, dtype=object)
    )


def counted(votes, n_items=5, n_classes=4):
    return votes.counts(n_items, n_classes)


def obvious(votes):
    """One vote after the other, by hand: each person's list of votes per item, the last one counts."""
    lists = {}
    counts = np.zeros((5, 4))
    for row, column, weight, who in zip(
        votes.rows, votes.columns, votes.weights, votes.annotators, strict=True
    ):
        if who is None:
            counts[row, column] += weight
        elif weight > 0:
            lists.setdefault((row, who), []).append(column)
        else:
            held = lists[row, who]
            del held[len(held) - 1 - held[::-1].index(column)]
    for (row, _), held in lists.items():
        if held:
            counts[row, held[-1]] += 1
    return counts


@st.composite
def histories(draw):
    """Whole votes by three people and by nobody, some taken back that stand."""
    votes, held = [], []
    for _ in range(draw(st.integers(1, 25))):
        if held and draw(st.booleans()) and draw(st.booleans()):
            row, column, _, who = held.pop(draw(st.integers(0, len(held) - 1)))
            votes.append((row, column, -1.0, who))
            continue
        who = draw(st.sampled_from(["ann", "bob", 7, None]))
        vote = draw(st.integers(0, 4)), draw(st.integers(0, 3)), 1.0, who
        votes.append(vote)
        held.append(vote)
    return votes


@given(histories())
def test_the_last_vote_of_each_person_stands(votes):
    """The same as going through the votes one by one."""
    cast = table(*votes)
    np.testing.assert_array_equal(counted(last_votes(cast)[0]), obvious(cast))


@settings(max_examples=40, deadline=None)
@given(histories(), st.integers(0, 25))
@pytest.mark.filterwarnings("ignore:.*only the last one stands")
def test_votes_later_are_votes_at_once(votes, cut):
    """Fit and update give what one fit gives, and undoing the update gives the first fit back."""

    def fitted(some):
        cast = table(*some)
        names = [str(name) if name is not None else None for name in cast.annotators]
        return Votes.from_pairs(cast.rows, cast.columns, names, cast.weights, classes=range(4))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)
        first, rest = votes[:cut], votes[cut:]
        start = fitted(first) if first else Votes.from_pairs([], [], classes=range(4))
        est = VoteHistogram().fit(X, start, classes=range(4))
        before = est.vote_counts_
        for row, column, weight, who in rest:
            est.update([row], [column], [None if who is None else str(who)], weights=[weight])
        np.testing.assert_allclose(est.vote_counts_, obvious(table(*votes)), atol=1e-12)
        np.testing.assert_allclose(
            est.vote_counts_, VoteHistogram().fit(X, fitted(votes), classes=range(4)).vote_counts_, atol=1e-12
        )
        if all(weight > 0 for _, _, weight, _ in rest):
            for row, column, weight, who in reversed(rest):
                est.undo([row], [column], [None if who is None else str(who)], weights=[weight])
            np.testing.assert_allclose(est.vote_counts_, before, atol=1e-12)


def test_an_identical_vote_counts_once_and_the_run_says_so():
    """Five rows of one person are one vote; five votes without a name are five."""
    votes = Votes.from_pairs([0] * 5, ["cat"] * 5, annotators=["ann"] * 5)
    with pytest.warns(SoftspreadWarning, match="4 of 5 votes are earlier votes of the same person" + SAID):
        est = ProbabilisticLabelSpreading(alpha=0.5, n_neighbors=2).fit(X, votes)
    once = ProbabilisticLabelSpreading(alpha=0.5, n_neighbors=2).fit(X, Votes.from_pairs([0], ["cat"]))
    np.testing.assert_allclose(est.evidence_, once.evidence_)
    assert len(est.votes_) == 1
    kept = Votes.from_pairs([0] * 5, ["cat"] * 5, annotators=["ann"] * 5, repeats="keep")
    np.testing.assert_allclose(once.fit(X, kept).evidence_, 5 * est.evidence_)
    nobody = Votes.from_pairs([0] * 5, ["cat"] * 5)
    np.testing.assert_allclose(once.fit(X, nobody).evidence_, 5 * est.evidence_)


def test_a_soft_vote_is_one_vote():
    """Parts of one vote stand together; the next soft vote replaces all of them."""
    parts = table((0, 0, 0.5, "ann"), (0, 1, 0.5, "ann"))
    assert last_votes(parts) == (parts, 0)
    again = table((0, 0, 0.5, "ann"), (0, 1, 0.5, "ann"), (0, 1, 0.25, "ann"), (0, 2, 0.75, "ann"))
    standing, n_replaced = last_votes(again)
    assert counted(standing)[0].tolist() == [0, 0.25, 0.75, 0]
    assert n_replaced == 1
    assert counted(last_votes(table((0, 0, 0.4, "ann"), (0, 1, 3.0, "ann")))[0])[0].tolist() == [0, 3, 0, 0]


def test_a_part_taken_back_leaves_the_rest():
    """Of the last vote, or of one before it if the last is gone."""
    cast = table((0, 0, 2.0, "ann"), (0, 1, 1.0, "ann"), (0, 1, -1.0, "ann"), (0, 0, -0.5, "ann"))
    assert counted(last_votes(cast)[0])[0].tolist() == [1.5, 0, 0, 0]
    assert last_votes(cast)[1] == 0  # nothing was replaced, so nobody is told


def test_times_decide_which_vote_is_the_last():
    """Where all votes have one; otherwise their order does."""
    for times in (
        ["2024-03-01", "2024-01-01"],
        ["2024-03-01T10:00:00+01:00", "2024-03-01T08:59:00Z"],
        [17.5, 3.0],
        pd.to_datetime(["2024-03-01", "2024-01-01"]),
    ):
        votes = Votes.from_pairs([0, 0], ["cat", "dog"], ["ann", "ann"], created_at=times)
        with pytest.warns(SoftspreadWarning, match=SAID):
            assert VoteHistogram().fit(X, votes).vote_counts_[0].tolist() == [1, 0]
    for times in ([None, "2024-01-01"], ["yesterday", "today"]):
        votes = Votes.from_pairs([0, 0], ["cat", "dog"], ["ann", "ann"], created_at=times)
        with pytest.warns(SoftspreadWarning, match=SAID):
            assert VoteHistogram().fit(X, votes).vote_counts_[0].tolist() == [0, 1]


def test_files_and_frames_give_the_same_answer(tmp_path):
    """Read by the command line, by read_votes or from a frame."""
    path = text(tmp_path / "v.csv", "item,label,annotator\na,cat,ann\na,cat,ann\na,dog,bob\na,cat,\na,cat,\n")
    ids = np.array(["a"])
    for expected, repeats in (([3, 1], "last"), ([4, 1], "keep")):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            matched = match_votes(read_vote_files(path, how=VoteReading(repeats=repeats)), ids, 1)
            frame = pd.read_csv(path)
            for votes in (read_votes(path, repeats=repeats), Votes.from_frame(frame, repeats=repeats)):
                assert read_y(votes, 1, ids).table.counts(1, 2).tolist() == [expected]
        assert matched.found.table.counts(1, 2).tolist() == [expected]
        assert len(told) == (3 if repeats == "last" else 0)


def test_a_later_vote_of_the_same_person_replaces_the_first():
    """An update says so; undoing it brings the first one back, and a replaced vote may be taken back."""
    est = VoteHistogram().fit(X, Votes.from_pairs([0], ["cat"], ["ann"], classes=["cat", "dog"]))
    with pytest.warns(SoftspreadWarning, match="1 vote by a person who had voted on the item before" + SAID):
        est.update(0, "dog", "ann")
    assert est.vote_counts_[0].tolist() == [0, 1]
    assert est.undo(0, "cat", "ann").vote_counts_[0].tolist() == [0, 1]
    assert est.undo(0, "dog", "ann").vote_counts_[0].tolist() == [0, 0]
    with pytest.raises(InputError, match="never cast"):
        est.undo(0, "dog", "ann")
    kept = Votes.from_pairs([0], ["cat"], ["ann"], classes=["cat", "dog"], repeats="keep")
    assert VoteHistogram().fit(X, kept).update(0, "dog", "ann").vote_counts_[0].tolist() == [1, 1]


def test_batches_follow_the_same_rule():
    """A person's vote in a later batch replaces the one in an earlier batch."""
    ids = ["a", "b"]
    est = VoteHistogram().partial_fit(
        X[:2], Votes.from_pairs(["a"], ["cat"], ["ann"]), classes=["cat", "dog"], item_ids=ids
    )
    with pytest.warns(SoftspreadWarning, match=SAID):
        est.partial_fit(
            X[1:3], Votes.from_pairs(["b", "b"], ["cat", "dog"], ["ann", "ann"]), item_ids=["b", "c"]
        )
    assert est.vote_counts_.tolist() == [[1, 0], [0, 1], [0, 0]]


def test_a_failed_update_leaves_everything_as_it_was(monkeypatch):
    """Votes, and what was cast."""
    est = VoteHistogram().fit(X, Votes.from_pairs([0], ["cat"], ["ann"], classes=["cat", "dog"]))

    def fail(new):
        raise RuntimeError("no luck")

    monkeypatch.setattr(est, "_spread_more", fail)
    with pytest.warns(SoftspreadWarning, match=SAID), pytest.raises(RuntimeError):
        est.update(0, "dog", "ann")
    monkeypatch.undo()
    assert est.vote_counts_[0].tolist() == [1, 0]
    assert est._votes.cast is est._votes


def test_lists_that_count_repeats_differently_do_not_add_up():
    """Which rule holds for the sum would be a guess."""
    one, other = Votes.from_pairs([0], [1]), Votes.from_pairs([0], [1], repeats="keep")
    with pytest.raises(InputError, match="repeats='last', the other 'keep'"):
        one + other
    with pytest.raises(InputError, match="repeats must be one of 'last', 'keep'"):
        Votes.from_pairs([0], [1], repeats="first")


@given(histories(), histories())
def test_a_change_turns_one_table_into_the_other(first, second):
    """before + change counts like after, in every cell of item, class and person."""
    before, after = (VoteTable.empty(), table(*second)) if len(first) < 3 else (table(*first), table(*second))
    together = before.copy()
    together.append(change(before, after))
    np.testing.assert_allclose(counted(together), counted(after), atol=1e-12)
    assert len(change(after, after)) == 0
