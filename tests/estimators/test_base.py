"""Habits that all estimators share: later votes and items, fixed classes, new items against fitted ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from softspread import (
    GaussianKernelRegression,
    InputError,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    SoftspreadWarning,
    VoteHistogram,
    Votes,
    knn_graph,
)

ITEMS = np.random.default_rng(3).normal(size=(12, 2))
ESTIMATORS = {
    "spreading": lambda: ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=4),
    "histogram": VoteHistogram,
    "kernel": lambda: GaussianKernelRegression(gamma=1.0),
    "neighbours": lambda: KNeighborsVotes(n_neighbors=3),
}


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def est(request):
    return request.param()


@pytest.fixture
def items(rng):
    """Forty items, and labels of half of them."""
    return rng.normal(size=(40, 2)), np.where(np.arange(40) % 2, np.arange(40) % 3, -1)


ANSWERS = {
    "predict_proba": lambda est: est.predict_proba(),
    "predict_freq": lambda est: est.predict_freq(),
    "predict": lambda est: est.predict(),
    "evidence_": lambda est: est.evidence_,
    "vote_counts_": lambda est: est.vote_counts_,
    "lower": lambda est: est.soft_labels().lower,
    "p": lambda est: est.soft_labels().p,
    "weights": lambda est: est.votes_.weights,
    "items": lambda est: est.votes_.items,
}


@pytest.mark.parametrize("make", [*ESTIMATORS.values(), lambda: SoftLabeler(n_neighbors=4)])
@pytest.mark.parametrize("ids", [None, [f"item {number}" for number in range(40)]], ids=["positions", "ids"])
def test_answers_and_votes_may_be_changed_afterwards(make, ids, items):
    """By whoever asked, and by whoever gave them: the estimator keeps what it knows to itself."""
    X, labels = items
    rows = np.flatnonzero(labels >= 0)
    votes = Votes.from_pairs(rows if ids is None else np.array(ids)[rows], labels[rows])
    est = make().fit(X, votes, item_ids=ids)
    before = {name: np.array(answer(est)) for name, answer in ANSWERS.items()}
    votes.weights[:] = 7.0
    votes.items[:] = votes.items[0]
    for answer in ANSWERS.values():
        answer(est)[:] = answer(est)[0]
    for name, answer in ANSWERS.items():
        np.testing.assert_array_equal(answer(est), before[name], err_msg=name)


def test_batches_give_what_one_fit_gives(est, items):
    """partial_fit in scikit-learn's sense: the items of all batches and their votes."""
    X, y = items
    whole = fresh(est).fit(X, y)
    for part in (slice(0, 15), slice(15, 39), slice(39, 40)):
        est.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert est.classes_.tolist() == whole.classes_.tolist()
    np.testing.assert_allclose(est.predict_freq(), whole.predict_freq(), atol=1e-9)


def fresh(est):
    """An estimator with the same parameters."""
    return type(est)(**est.get_params())


def test_a_known_id_is_the_known_item(est, items):
    """With ids a batch may name items again: their votes are added, and only new ids are new items."""
    X, _ = items
    est.partial_fit(X[:10], Votes.from_pairs(["i0"], ["a"]), item_ids=[f"i{row}" for row in range(10)])
    est.partial_fit(X[8:12], ["b", None, "a", None], item_ids=["i8", "i9", "i10", "i11"])
    assert est.n_items_ == 12
    assert est.item_ids_.tolist() == [f"i{row}" for row in range(12)]
    frame = est.votes_.to_frame()
    assert frame[["item", "label"]].to_numpy().tolist() == [["i0", "a"], ["i8", "b"], ["i10", "a"]]
    est.partial_fit(X[:1], ["c"], item_ids=["i0"])
    assert est.n_items_ == 12
    assert est.vote_counts_[0].tolist() == [1, 0, 1]


def test_counts_of_a_batch_are_in_the_order_of_the_classes(est, items):
    """Without names of their own; a frame's columns are found by name."""
    X, _ = items
    est.partial_fit(X[:5], Votes.from_pairs([0], ["b"]), classes=["b", "a"])
    est.partial_fit(X[5:7], [[2, 0], [0, 1]])
    est.partial_fit(X[7:8], pd.DataFrame({"a": [3], "b": [0]}))
    assert est.vote_counts_[5:].tolist() == [[2, 0], [0, 1], [0, 3]]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"item_ids": ["x"]}, "either every batch has item_ids or none"),
        ({"classes": [0, 1]}, "fixed by the first batch"),
        ({"X": np.zeros((1, 3))}, "3 features"),
        ({"y": [5]}, "5 is not among the classes"),
        ({"X": knn_graph(np.arange(4.0)[:, None], 1), "y": [0] * 4}, "a Graph cannot grow"),
    ],
)
def test_a_refused_batch_changes_nothing(est, items, batch, message):
    """Neither items nor votes."""
    X, y = items
    est.partial_fit(X, y, classes=[0, 1, 2])
    before = est.predict_freq()
    with pytest.raises(InputError, match=message):
        est.partial_fit(**{"X": X[:1], "y": [1], **batch})
    assert est.n_items_ == 40
    np.testing.assert_array_equal(est.predict_freq(), before)


def test_classes_given_to_fit_are_all_there_are(est, items):
    """Another label is refused by fit and by update, unless it is to be added."""
    X, y = items
    with pytest.raises(InputError, match="not among the classes"):
        est.fit(X, y, classes=[0, 1])
    est.fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InputError, match=r"7 is not among the classes .* new_classes='add'"):
        est.update(0, 7)
    assert est.classes_.tolist() == [0, 1, 2]
    assert est.update(0, 7, new_classes="add").classes_.tolist() == [0, 1, 2, 7]
    with pytest.raises(InputError, match="new_classes must be one of 'add'"):
        est.update(0, 7, new_classes="maybe")
    assert est.fit(X, y).update(0, 7).classes_.tolist() == [0, 1, 2, 7]  # found, not given


def test_a_number_in_place_of_items_is_answered_with_a_hint(est, items):
    """predict_interval(0.9) means the confidence level."""
    with pytest.raises(InputError, match=r"did you mean predict_interval\(confidence_level=0\.9\)"):
        est.fit(*items).predict_interval(0.9)


def test_fitted_items_that_come_as_new_ones_are_pointed_out(items):
    """X are new items; the fitted ones are asked for by leaving it out, or by transductive=True."""
    X, y = items
    est = ESTIMATORS["spreading"]().fit(X, y)
    with pytest.warns(SoftspreadWarning, match="transductive=True"):
        as_new = est.predict_proba(X)
    np.testing.assert_array_equal(est.predict_proba(X, transductive=False), as_new)
    np.testing.assert_array_equal(est.predict_proba(X, transductive=True), est.predict_proba())
    assert np.abs(as_new - est.predict_proba()).max() > 0.01
    with pytest.raises(InputError, match="X holds others"):
        est.predict_proba(X[:5], transductive=True)
    lower, _ = est.predict_interval(X, transductive=True)
    np.testing.assert_array_equal(lower, est.predict_interval()[0])
    np.testing.assert_array_equal(est.predict_freq(X, transductive=True), est.predict_freq())
    np.testing.assert_array_equal(est.predict(X, transductive=True), est.predict())


def test_a_pipeline_hands_out_the_transductive_answer(items):
    """pipe.predict_proba(X, transductive=True) is the last step's predict_proba()."""
    X, y = items
    pipe = make_pipeline(StandardScaler(), ESTIMATORS["spreading"]()).fit(X, y)
    np.testing.assert_array_equal(pipe.predict_proba(X, transductive=True), pipe[-1].predict_proba())


def test_the_notebook_links_to_the_paper(est):
    """scikit-learn's HTML of an estimator knows where to read on."""
    assert est._get_doc_link() == "https://arxiv.org/abs/2602.04574"


def test_votes_are_handed_back_with_their_names(est, items):
    """votes_ has a short description and a table."""
    votes = Votes.from_pairs(["b", "a"], ["yes", "no"], annotators=["ann", "bob"])
    est.fit(items[0][:8], votes, item_ids=list("abcdefgh"))
    assert repr(est.votes_) == "Votes(2 votes on 2 items for 2 classes by 2 annotators)"
    assert est.votes_.to_frame()["item"].tolist() == ["b", "a"]


@pytest.mark.parametrize("make", [VoteHistogram, ProbabilisticLabelSpreading, SoftLabeler])
def test_an_undo_takes_its_class_away_again(make):
    """A class that only the undone vote named is gone, and everything is as before."""
    est = make() if make is VoteHistogram else make(n_neighbors=3)
    est.fit(ITEMS, ["a", "b", None, None] * 3)
    before = est.predict_proba()
    est.update([0, 1], ["c", "d"])
    assert est.undo(0, "c").classes_.tolist() == ["a", "b", "c", "d"]  # only the latest class can go
    assert est.undo(1, "d").classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(est.predict_proba(), before, atol=1e-5)
    assert est.update(2, "e").classes_.tolist() == ["a", "b", "e"]
    assert est.undo(0, "a").undo(4, "a").undo(8, "a").classes_.tolist() == ["a", "b", "e"]


@pytest.mark.parametrize("make", [ProbabilisticLabelSpreading, SoftLabeler])
def test_a_prior_in_a_table_is_found_by_name(make):
    """Columns in any order, with p_ or without, rows by id; a class that is missing is refused."""
    y, ids = ["a", "b", None, None] * 3, [f"i{row}" for row in range(12)]
    p = np.random.default_rng(0).dirichlet([1, 1], size=12)
    plain = make(n_neighbors=3, prior=p).fit(ITEMS, y, item_ids=ids).prior_
    frame = pd.DataFrame(p, columns=["a", "b"], index=ids)
    shuffled = frame.sample(frac=1, random_state=0)
    for table in (
        frame[["b", "a"]],
        shuffled.add_prefix("p_"),
        shuffled.reset_index(names="item")[["b", "item", "a"]],
        pd.DataFrame(p),
        frame.assign(other=0.5),
    ):
        np.testing.assert_allclose(make(n_neighbors=3, prior=table).fit(ITEMS, y, item_ids=ids).prior_, plain)
    with pytest.raises(InputError, match=r"no column for \['b'\]"):
        make(prior=frame.rename(columns={"b": "z"})).fit(ITEMS, y, item_ids=ids)
    with pytest.raises(InputError, match="'i11' are not among the 11 item ids"):
        make(prior=frame[:11]).fit(ITEMS, y, item_ids=ids)


def test_a_frame_names_its_items():
    """By an index of text, or one that is called item; bare numbers stay positions."""
    votes = Votes.from_pairs(["b", "b", "c"], ["yes", "no", "yes"])
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0]}, index=["a", "b", "c"])
    est = VoteHistogram().fit(frame, votes)
    assert est.vote_counts_.tolist() == [[0, 0], [1, 1], [0, 1]]
    assert est.to_frame()["item"].tolist() == ["a", "b", "c"]
    numbers = Votes.from_pairs([2], ["yes"])
    shuffled = frame.set_axis([2, 1, 0])
    assert VoteHistogram().fit(shuffled, numbers).vote_counts_[:, 0].tolist() == [0, 0, 1]
    assert VoteHistogram().fit(shuffled.rename_axis("item"), numbers).vote_counts_[:, 0].tolist() == [1, 0, 0]
    assert VoteHistogram().fit(frame, numbers, item_ids=[5, 2, 7]).item_ids_.tolist() == [5, 2, 7]
