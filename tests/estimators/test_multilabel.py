"""Items that may have several classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.errors import InputError
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.storage import load, save
from softspread.votes.votes import Votes


@pytest.fixture(scope="module")
def task():
    """120 items of three classes, 40 of them with a vote."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    labels = np.where(np.arange(120) < 40, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0), -1)
    table = np.where(labels[:, None] < 0, np.nan, labels[:, None] == np.arange(3))
    return X, labels, table


def several(**settings):
    return SoftLabeler(kind="multilabel", classifier="none", random_state=0, **settings)


@pytest.fixture(scope="module")
def fitted(task):
    """A fit that tests only read."""
    return several().fit(task[0], task[2])


def test_exclusive_classes_bring_the_same_mass_of_yes(task):
    """Spreading is linear: at one alpha the mass of yes to a class is the mass of the votes for it."""
    X, labels, table = task
    one = SoftLabeler(alpha=0.8, classifier="none").fit(X, labels)
    questions = several(alpha=0.8).fit(X, table).questions_
    for column in range(3):
        mine = questions[column]._blend.rungs[0].mass
        assert_allclose(mine[:, 1], one._blend.rungs[0].mass[:, column], atol=1e-3)
        assert_allclose(mine.sum(axis=1), one._blend.rungs[0].mass.sum(axis=1), atol=2e-3)


def test_two_exclusive_classes_give_the_answer_of_the_blend(task):
    """The question whether an item has the second of two classes is the task with two classes."""
    X, labels, _ = task
    second = np.where(labels < 0, labels, np.minimum(labels, 1))
    table = np.where(second[:, None] < 0, np.nan, second[:, None] == np.arange(2))
    one = SoftLabeler(random_state=0).fit(X, second)
    both = SoftLabeler(kind="multilabel", random_state=0).fit(X, table)
    assert_allclose(both.predict_proba()[:, 1], one.predict_proba()[:, 1], atol=1e-5)
    assert_allclose(both.soft_labels().upper[:, 1], one.soft_labels().upper[:, 1], atol=1e-4)


def test_climbing_together_equals_a_question_by_itself(task, fitted):
    """The shared ladder changes nothing."""
    X, _, table = task
    alone = SoftLabeler(classifier="none", random_state=0)
    alone.fit(X, Votes.from_multilabel(table).about(1), classes=[False, True])
    assert_allclose(fitted.questions_[1].predict_proba(), alone.predict_proba(), atol=1e-5)


def test_seeing_together_equals_a_question_by_itself(task):
    """Classifiers and kernels of all questions share what the answers do not change, and nothing else."""
    X, _, table = task
    both = SoftLabeler(kind="multilabel", random_state=0).fit(X, table)
    for question in both.questions_.values():
        together = question._blend
        question._learn(together.rungs)
        assert together.names == question._blend.names
        np.testing.assert_array_equal(together.q, question._blend.q)
        np.testing.assert_array_equal(together.q_held, question._blend.q_held)


def test_each_class_has_probability_evidence_interval_and_verdict(fitted):
    """One row per item; the interval holds the soft label."""
    frame = fitted.to_frame()
    assert len(frame) == 120
    for name in range(3):
        assert (frame[f"lower_{name}"] <= frame[f"p_{name}"]).all()
        assert (frame[f"p_{name}"] <= frame[f"upper_{name}"]).all()
        assert (frame[f"evidence_{name}"] > 0).all()
        assert frame[f"verdict_{name}"].notna().all()
    labels = fitted.soft_labels()
    assert labels.labels[0] == [name for name in range(3) if labels.p[0, name] >= 0.5]


def test_shuffling_items_shuffles_the_answer(task, fitted):
    """An item's place says nothing."""
    X, _, table = task
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = several().fit(X[order], table[order])
    assert_allclose(shuffled.predict_proba(), fitted.predict_proba()[order], atol=1e-5)


def test_later_answers_equal_a_fit_to_all_and_undo_brings_back(task):
    """After learning again."""
    X, _, table = task
    lab = several().fit(X, table)
    before = lab.predict_proba()
    lab.update([100], [[1, 0, 1]])
    assert abs(lab.predict_proba()[100] - before[100]).max() > 0.1
    more = table.copy()
    more[100] = 1, 0, 1
    assert_allclose(lab.refit().predict_proba(), several().fit(X, more).predict_proba(), atol=1e-5)
    assert_allclose(lab.undo([100], [[1, 0, 1]]).refit().predict_proba(), before, atol=1e-5)


def test_a_refused_answer_changes_nothing(task):
    """Not even the questions before it."""
    lab = several().fit(task[0], task[2])
    before = lab.predict_proba()
    with pytest.raises(InputError):
        lab.undo([100], [[1, 0, 1]])
    with pytest.raises(InputError):
        lab.update([500], [[1, 0, 1]])
    assert_allclose(lab.predict_proba(), before, atol=1e-12)


def test_all_classes_share_one_graph_and_queries_are_distinct(fitted):
    """The neighbours are searched for once."""
    assert all(one.graph_ is fitted.graph_ for one in fitted.questions_.values())
    picked = fitted.query(7, exclude=[3], random_state=0).tolist()
    assert len(set(picked)) == 7
    assert 3 not in picked


def test_quality_and_annotators_are_per_class_and_overall(task):
    """The root of the mean squared RMSE; an annotator's rating is the mean by votes."""
    X, _, _ = task
    truth = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    rows = np.repeat(np.arange(40), 3)
    votes = Votes.from_multilabel(truth[rows], rows, np.tile(["ann", "bob", "cem"], 40))
    lab = several().fit(X, votes)
    found = lab.quality(random_state=0).set_index("class")
    assert found.loc["overall", "rmse"] == pytest.approx(np.sqrt((found.loc[[0, 1], "rmse"] ** 2).mean()))
    rated = lab.annotators_
    assert rated["class"].tolist() == [0] * 3 + [1] * 3 + ["overall"] * 3
    assert rated.loc[rated["class"] == "overall", "votes"].tolist() == [80, 80, 80]
    shares = lab.explain(3, top=None)
    for name, part in shares[shares["label"]].groupby("class"):
        assert part["weight"].sum() == pytest.approx(lab.soft_labels_of([3])[0, name], abs=1e-6)


def test_what_is_about_one_answer_names_the_questions(fitted):
    """Nothing is answered wrongly in silence."""
    with pytest.raises(InputError, match="questions_"):
        fitted.mode_probabilities()


def test_other_kinds_and_a_prior_of_another_shape_are_refused(task):
    """Votes for one class, answers for kind single, a prior over two classes."""
    X, labels, table = task
    with pytest.raises(InputError, match="cannot be mixed"):
        several().fit(X, Votes.from_pairs([0, 1], ["a", "b"]))
    with pytest.raises(InputError, match="kind='multilabel'"):
        SoftLabeler().fit(X, Votes.from_multilabel(table))
    with pytest.raises(InputError, match="P\\(yes\\)"):
        several(prior=[0.5, 0.5]).fit(X, table)
    with pytest.raises(InputError, match="1 \\(yes\\), 0 \\(no\\)"):
        several().fit(X, np.full((120, 2), 3))
    with pytest.raises(InputError, match="kind must be"):
        SoftLabeler(kind="many").fit(X, labels)


def test_a_saved_fit_answers_and_learns_on(task, fitted, tmp_path):
    """The graph is stored once."""
    save(fitted, tmp_path / "lab")
    again = load(tmp_path / "lab")
    assert len({id(one.graph_) for one in again.questions_.values()}) == 1
    assert_allclose(again.predict_proba(), fitted.predict_proba(), atol=1e-12)
    assert again.questions_[0].graph_ is again.graph_
    assert again.update([100], [[1, 0, 1]]).predict_proba()[100, 0] > fitted.predict_proba()[100, 0]


def test_items_come_and_go_as_by_a_fit_to_all(task):
    """One graph for all questions; after refit equal to a fit of all items, and back again."""
    X, _, table = task
    lab, whole = several().fit(X[:110], table[:110]), several().fit(X, table)
    before = lab.predict_proba()
    lab.add_items(X[110:])
    assert lab.n_items_ == len(lab.novelty_) == 120
    assert len({id(one.graph_) for one in lab.questions_.values()}) == 1
    assert_allclose(lab.refit().predict_proba(), whole.predict_proba(), atol=1e-6)
    with pytest.raises(InputError, match="drop_votes"):
        lab.remove_items([0])
    assert lab.n_items_ == 120
    lab.remove_items(np.arange(110, 120)).refit()
    assert_allclose(lab.predict_proba(), before, atol=1e-6)
