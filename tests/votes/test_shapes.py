"""Tables are read by what their columns are: items, annotators, counts, or our own results."""

import numpy as np
import pandas as pd
import pytest

from softspread import InputError, SoftLabels, SoftspreadWarning, VoteHistogram, Votes
from softspread._common.validation import objects
from softspread.votes.shapes import item_column, read_wide, refuse_results, shape_advice


def test_an_item_column_names_items_not_an_annotator():
    """The table that the command line reads right: items by name, two annotators, two classes."""
    frame = pd.DataFrame({"item": ["b", "a", "c"], "ann": ["cat", None, "dog"], "bob": ["cat", "cat", -1]})
    votes = Votes.from_wide(frame)
    assert votes.items.tolist() == ["b", "b", "a", "c"]
    assert votes.annotators.tolist() == ["ann", "bob", "bob", "ann"]
    assert votes.class_names().tolist() == ["cat", "dog"]


@pytest.mark.parametrize("name", ["task", "item_id", "id", "index", "Unnamed: 0", "__index_level_0__"])
def test_usual_names_of_items_are_known(name):
    """The same names as in files, those that pandas gives to a saved index among them."""
    votes = Votes.from_wide(pd.DataFrame({name: ["x", "y"], "ann": [0, 1]}))
    assert votes.items.tolist() == ["x", "y"]
    assert votes.annotators.tolist() == ["ann", "ann"]


def test_another_name_of_items_is_given():
    """item_column, as on the command line."""
    frame = pd.DataFrame({"picture": ["x", "y"], "ann": [0, 1]})
    assert Votes.from_wide(frame, item_column="picture").items.tolist() == ["x", "y"]
    with pytest.raises(InputError, match=r"no column 'image'; it has \['picture', 'ann'\]"):
        Votes.from_wide(frame, item_column="image")
    with pytest.raises(InputError, match="only the column 'item'; add one for each annotator"):
        Votes.from_wide(pd.DataFrame({"item": ["x"]}))


def test_a_column_with_a_value_per_item_is_no_annotator():
    """Items under an unusual name would become a class each, without a word."""
    frame = pd.DataFrame({"picture": [f"{n}.jpg" for n in range(30)], "ann": [0, 1, 1] * 10})
    with pytest.raises(InputError, match=r"'picture' holds 30 different values.* class of every item"):
        Votes.from_wide(frame)
    ten = pd.DataFrame({"ann": range(10), "bob": range(10)})
    assert len(Votes.from_wide(ten)) == 20  # ten digits, both agree


def test_empty_text_and_minus_one_as_text_are_no_votes():
    """Cells as a CSV file holds them, also in a frame of text."""
    votes = read_wide({"a": objects(["", "-1", "nan", "cat", None, np.nan, -1.0, pd.NA])}, "t")
    assert votes.rows.tolist() == [3]
    assert votes.labels.tolist() == ["cat"]


def test_a_table_of_votes_is_not_read_as_annotators():
    """One row per vote has a reader of its own."""
    with pytest.raises(InputError, match=r"one row per vote\. Read it with Votes\.from_frame"):
        Votes.from_wide(pd.DataFrame({"item": ["a", "b"], "label": ["cat", "dog"], "who": ["x", "y"]}))


def test_votes_in_other_columns_are_found_by_name():
    """from_frame takes the names of columns as read_votes does."""
    frame = pd.DataFrame({"file": ["a"], "answer": ["cat"], "who": ["ann"]})
    votes = Votes.from_frame(frame, item_column="file", label_column="answer", annotator_column="who")
    assert votes.to_frame().to_numpy().tolist() == [["a", "cat", 1.0, "ann"]]
    with pytest.raises(InputError, match="name another one by item_column"):
        Votes.from_frame(frame)


def test_counts_find_their_items_as_files_do():
    """A column of items is not a class, and count_ is no part of a class's name."""
    frame = pd.DataFrame({"item": [7, 8], "count_cat": [2, 0], "count_dog": [0, 1]})
    votes = Votes.from_counts(frame)
    assert votes.items.tolist() == [7, 7, 8]
    assert votes.class_names().tolist() == ["cat", "dog"]


def results():
    """Tables that we make ourselves."""
    p = np.array([[0.25, 0.75], [0.5, 0.5]])
    soft = SoftLabels(np.array(["a", "b"]), np.array(["no", "yes"]), p, np.array([2.0, 1.0])).to_frame()
    weighted = pd.DataFrame({"item": ["a"], "label": ["no"], "weight": [0.25], "evidence": [2.0]})
    dataset = pd.DataFrame({"item": ["a"], "soft_label": [[0.2, 0.8]], "label": [1], "evidence": [2.0]})
    asked = pd.DataFrame({"item": ["a"], "label": ["no"], "p": [0.6], "evidence": [2.0]})
    return [soft, weighted, dataset, asked]


@pytest.mark.parametrize("frame", results(), ids=["soft labels", "weighted", "dataset", "query"])
@pytest.mark.parametrize("read", [Votes.from_frame, Votes.from_wide, Votes.from_counts])
def test_our_own_results_are_no_votes(frame, read):
    """Soft labels, training rows and items to vote on are refused, with what the table is."""
    with pytest.raises(InputError, match="a result of softspread and holds no votes"):
        read(frame)


def test_votes_with_any_other_columns_are_no_results():
    """Only what we write is refused."""
    for names in (
        ["item", "label", "evidence"],
        ["item", "label", "p"],
        ["item", "label", "guess", "p", "evidence"],
    ):
        refuse_results(names, "votes.csv")
    assert item_column(["ann", "task"]) == "task"
    assert item_column(["ann", "bob"]) is None


def counts_table(rng, n_classes, totals):
    """Votes of people who look at items that are a mixture of classes."""
    shares = rng.dirichlet(np.full(n_classes, 0.5), size=len(totals))
    return np.array([rng.multinomial(total, share) for total, share in zip(totals, shares, strict=True)])


@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("totals", [np.full(40, 5), np.tile([3, 4, 5, 6, 7], 40)], ids=["same", "different"])
def test_counts_read_as_annotators_get_a_warning(rng, n_classes, totals):
    """Whether all items have the same number of votes or not."""
    table = pd.DataFrame(counts_table(rng, n_classes, totals)).add_prefix("class ")
    with pytest.warns(SoftspreadWarning, match=rf"read as {n_classes} annotators.*Votes\.from_counts"):
        Votes.from_wide(table)


@pytest.mark.parametrize("right", [0.34, 0.6, 0.9, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_annotators_get_no_warning_about_counts(rng, right, n_classes):
    """Neither those who agree nor those who vote at random."""
    for n_items in (3, 10, 200):
        truth = rng.integers(n_classes, size=n_items)
        votes = rng.integers(n_classes, size=(n_items, 4))
        table = np.where(rng.random((n_items, 4)) < right, truth[:, None], votes)
        assert shape_advice({str(k): objects(column) for k, column in enumerate(table.T)}) is None


def test_names_that_say_counts_are_enough():
    """count_cat is no annotator, however few rows there are."""
    assert "begin with count_" in shape_advice({"count_a": objects([1]), "count_b": objects([0])})
    assert shape_advice({"ann": objects(["1", "x"]), "bob": objects(["1", "0"])}) is None


def test_ids_of_items_are_compared_as_text():
    """7 of a CSV file is the item "7" of an array, as on the command line; 007 is another item."""
    est = VoteHistogram().fit([[0.0], [1.0]], Votes.from_pairs([7], ["cat"]), item_ids=["7", "007"])
    assert est.vote_counts_.tolist() == [[1.0], [0.0]]
    assert est.update("007", "cat").vote_counts_.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("n_classes", [3, 5, 10])
def test_counts_of_different_sums_get_a_warning(rng, n_classes):
    """Two to eight votes per item: nine tables of ten are noticed, where no row tells by its sum."""
    noticed = 0
    for _ in range(40):
        shares = rng.dirichlet(np.full(n_classes, 0.3), 30)
        table = np.array([rng.multinomial(rng.integers(2, 9), share) for share in shares])
        columns = {f"c{k}": objects(column.tolist()) for k, column in enumerate(table.T)}
        noticed += shape_advice(columns) is not None
    assert noticed >= 36


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0])
def test_people_get_no_warning_however_they_vote(rng, n_classes, noise):
    """Numbers as classes, up to votes at random."""
    noticed = 0
    for _ in range(40):
        truth = rng.integers(0, n_classes, 30)
        said = np.where(rng.random((30, 3)) < noise, rng.integers(0, n_classes, (30, 3)), truth[:, None])
        columns = {f"a{k}": objects(column.tolist()) for k, column in enumerate(said.T)}
        noticed += shape_advice(columns) is not None
    assert noticed <= 1


def test_a_short_column_of_ids_gets_a_warning():
    """Below twelve items it may be one annotator's vote for each of many classes, so it is no error."""
    votes = {"ann": objects(["cat", "dog", "cat", "cat"]), "bob": objects(["cat", "dog", "dog", "cat"])}
    advice = shape_advice({"picture": objects(["p1", "p2", "p3", "p4"])} | votes)
    assert "'picture' is read as an annotator" in advice
    assert "item_column" in advice
    assert shape_advice(votes) is None
