"""What estimators on a graph share: the graph, the posterior as default, reasons for uncertainty."""

import numpy as np
import pytest

from softspread import ProbabilisticLabelSpreading, SoftLabeler, VoteHistogram, Votes, knn_graph
from softspread.intervals.uncertainty import split_uncertainty_of

X = np.concatenate([np.random.default_rng(0).normal(c, 0.5, size=(20, 2)) for c in (0, 4)])
VOTES = Votes.from_pairs([0, 1, 25, 26, 1], ["no", "no", "yes", "yes", "yes"], annotators=list("aabbb"))
ESTIMATORS = [
    lambda: ProbabilisticLabelSpreading(n_neighbors=5, alpha=0.9),
    lambda: SoftLabeler(n_neighbors=5),
]
each = pytest.mark.parametrize("make", ESTIMATORS, ids=["spreading", "labeler"])


@each
def test_a_graph_and_the_features_it_was_made_from_give_the_same(make):
    """Whoever brings a graph saves the search, and gets the same soft labels."""
    mine = make().fit(X, VOTES)
    theirs = make().fit(knn_graph(X, 5), VOTES)
    np.testing.assert_allclose(mine.predict_proba(), theirs.predict_proba(), atol=1e-6)
    np.testing.assert_array_equal(mine.graph_.S.toarray(), theirs.graph_.S.toarray())
    np.testing.assert_allclose(mine.predict_proba(X + 0.01), theirs.predict_proba(X + 0.01), atol=1e-6)


@each
def test_intervals_come_from_the_posterior_unless_asked_otherwise(make):
    """The baselines, which have none, still answer with Wilson's."""
    est = make().fit(X, VOTES)
    np.testing.assert_array_equal(est.predict_interval(), est.predict_interval(method="posterior"))
    histogram = VoteHistogram().fit(X, VOTES)
    np.testing.assert_array_equal(histogram.predict_interval(), histogram.predict_interval(method="wilson"))


@each
def test_uncertainty_is_read_off_the_same_soft_labels(make):
    """One row per item with its id, and the verdict of the soft labels; intervals judge by their own rule."""
    ids = [f"item {row}" for row in range(len(X))]
    named = Votes.from_pairs([ids[row] for row in VOTES.items], VOTES.labels)
    est = make().fit(X, named, item_ids=ids)
    frame = est.uncertainty(0.8)
    assert frame["item"].tolist() == ids
    assert frame["verdict"].tolist() == est.soft_labels(0.8).verdict.tolist()
    by_wilson = split_uncertainty_of(est.soft_labels(0.8, "wilson")).to_frame()
    assert est.uncertainty(0.8, "wilson")["verdict"].tolist() == by_wilson["verdict"].tolist()
    assert "item" not in make().fit(X, VOTES).uncertainty()


@each
def test_annotators_are_reported_where_they_are_named(make):
    """None where nobody is."""
    assert make().fit(X, VOTES).annotators_["annotator"].tolist() == ["a", "b"]
    nobody = Votes.from_pairs(VOTES.items, VOTES.labels)
    assert make().fit(X, nobody).annotators_ is None
