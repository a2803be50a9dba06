"""Items that may have several classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.errors import InputError
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.multilabel import MultilabelLabeler
from softspread.estimators.spreading import ProbabilisticLabelSpreading


@pytest.fixture
def task():
    """120 items of three classes, 40 of them with a vote."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 2))
    labels = np.where(np.arange(120) < 40, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0), -1)
    table = np.where(labels[:, None] < 0, np.nan, labels[:, None] == np.arange(3))
    return X, labels, table


def test_exclusive_classes_give_the_answer_of_one_class_each(task):
    """Spreading is linear: with the same prior, yes to one class and no to the rest is one vote."""
    X, labels, table = task
    est = ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=8, prior=np.full(3, 1 / 3), tol=1e-10)
    several = MultilabelLabeler(estimator=est).fit(X, table)
    assert_allclose(several.predict_proba(), est.fit(X, labels).predict_proba(), atol=1e-7)


def test_two_exclusive_classes_give_the_answer_of_the_blend(task):
    """The question whether an item has the second of two classes is the task with two classes."""
    X, labels, _ = task
    second = np.where(labels < 0, labels, np.minimum(labels, 1))
    table = np.where(second[:, None] < 0, np.nan, second[:, None] == np.arange(2))
    several = MultilabelLabeler(estimator=SoftLabeler(random_state=0)).fit(X, table)
    one = SoftLabeler(random_state=0).fit(X, second)
    assert_allclose(several.predict_proba()[:, 1], one.predict_proba()[:, 1], atol=1e-6)


def test_each_class_has_probability_evidence_and_interval(task):
    """One row per item; the interval holds the soft label."""
    X, _, table = task
    frame = MultilabelLabeler(estimator=SoftLabeler(classifier="none")).fit(X, table).to_frame()
    assert len(frame) == 120
    for name in range(3):
        assert (frame[f"lower_{name}"] <= frame[f"p_{name}"]).all()
        assert (frame[f"p_{name}"] <= frame[f"upper_{name}"]).all()
        assert (frame[f"evidence_{name}"] > 0).all()


def test_later_answers_equal_a_fit_to_all(task):
    """After a refinement."""
    X, _, table = task
    est = ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=8, tol=1e-9)
    later = MultilabelLabeler(estimator=est).fit(X, table).update([100], [[1, 0, 1]])
    table[100] = 1, 0, 1
    for one in later.questions_.values():
        one.refine()
    assert_allclose(
        later.predict_proba(), MultilabelLabeler(estimator=est).fit(X, table).predict_proba(), atol=1e-6
    )


def test_all_classes_share_one_graph_and_queries_are_distinct(task):
    """The neighbours are searched for once."""
    X, _, table = task
    lab = MultilabelLabeler(estimator=SoftLabeler(classifier="none")).fit(X, table)
    assert all(est.graph_ is lab.graph_ for est in lab.questions_.values())
    assert len(set(lab.query(7, random_state=0).tolist())) == 7


def test_a_prior_or_an_estimator_of_another_kind_is_refused(task):
    """P(yes) per class is needed, and an estimator on a graph."""
    X, _, table = task
    with pytest.raises(InputError, match="P\\(yes\\)"):
        MultilabelLabeler(estimator=SoftLabeler(prior=[0.5, 0.5])).fit(X, table)
    with pytest.raises(InputError, match="estimator must be"):
        MultilabelLabeler(estimator="blend").fit(X, table)


@pytest.mark.parametrize(
    "estimator",
    [ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=8), SoftLabeler(classifier="none")],
    ids=["spreading", "labeler"],
)
def test_an_update_that_one_class_refuses_changes_none(task, estimator):
    """The last class hears of an item that does not exist, the first two of one that does."""
    X, _, table = task
    lab = MultilabelLabeler(estimator=estimator).fit(X, table)
    before = lab.predict_proba().copy()
    with pytest.raises(InputError):
        lab.update([100, 10_000], [[1, 0, np.nan], [np.nan, np.nan, 1]])
    assert_allclose(lab.predict_proba(), before, atol=1e-6)  # the live state's own tolerance
    assert all(not est.vote_counts_[100].any() for est in lab.questions_.values())
