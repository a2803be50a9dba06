"""Habits of scikit-learn that go beyond its own checks: weights, sparse features, pipelines, searches."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import coo_array, csc_matrix, csr_array
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from softspread import (
    GaussianKernelRegression,
    InputError,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    RatingSpreading,
    SoftLabeler,
    VoteHistogram,
    Votes,
    knn_graph,
)

X = np.linspace(0, 1, 40)[:, None] * [1.0, 2.0]
Y = np.where(np.arange(40) % 3 == 0, np.arange(40) // 20, -1)
BASELINES = [
    ProbabilisticLabelSpreading(n_neighbors=5, alpha=0.9),
    VoteHistogram(),
    GaussianKernelRegression(),
    KNeighborsVotes(n_neighbors=5),
]


def test_sample_weights_are_weights_of_votes():
    """As if the votes had been given with them; 0 is not a vote."""
    weights = np.arange(40) % 4
    voted = np.flatnonzero((Y >= 0) & (weights > 0))
    votes = Votes.from_pairs(voted, Y[voted], weights=weights[voted])
    for est in (SoftLabeler(n_neighbors=5, random_state=0), VoteHistogram()):
        given = est.fit(X, Y, sample_weight=weights).predict_proba()
        np.testing.assert_array_equal(given, est.fit(X, votes).predict_proba())


@pytest.mark.parametrize("y", [Votes.from_pairs([0, 1], [0, 1]), np.ones((40, 2))], ids=["votes", "counts"])
def test_votes_and_counts_bring_weights_of_their_own(y):
    """Two sources of weights would be ambiguous."""
    with pytest.raises(InputError, match="weights of their own"):
        VoteHistogram().fit(X, y, sample_weight=np.ones(40))


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        (np.ones(3), "sample_weight must be one number per vote"),
        (-np.ones(40), "negative"),
        (np.zeros(40), "is zero"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weights, problem):
    """A wrong number, negative ones, and no vote left."""
    with pytest.raises(InputError, match=problem):
        VoteHistogram().fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("est", [SoftLabeler(n_neighbors=5, random_state=0), *BASELINES], ids=type)
@pytest.mark.parametrize("kind", [csr_array, coo_array, csc_matrix])
def test_sparse_features_give_what_their_array_gives(est, kind):
    """For fitted and new items, in single precision as well."""
    for dtype in (np.float64, np.float32):
        A = X.astype(dtype)
        one, other = clone(est).fit(A, Y), clone(est).fit(kind(A), Y)
        new = A[[3, 30]] + dtype(1e-3)
        np.testing.assert_array_equal(one.predict_proba(), other.predict_proba())
        np.testing.assert_array_equal(one.predict_proba(new), other.predict_proba(kind(new)))


def test_sparse_features_beside_a_map():
    """features= and those of new items, batches, several questions, ratings and graphs take them, too."""
    S, new = csr_array(X), X[[3, 30]] + 1e-3
    lab = SoftLabeler(n_neighbors=5, random_state=0)
    one, other = clone(lab).fit(X, Y, features=X), clone(lab).fit(S, Y, features=S)
    np.testing.assert_array_equal(one.predict_proba(), other.predict_proba())
    np.testing.assert_array_equal(
        one.predict_proba(new, features=new), other.predict_proba(csr_array(new), features=csr_array(new))
    )
    batches = clone(lab).fit(S[:30], Y[:30], classes=[0, 1]).partial_fit(S[30:], Y[30:])
    np.testing.assert_allclose(batches.predict_proba(), lab.fit(X, Y).predict_proba(), rtol=1e-12)
    tags = Votes.from_multilabel([["a"], ["a", "b"]], [0, 39])
    several = SoftLabeler(n_neighbors=5, kind="multilabel", random_state=0)
    np.testing.assert_array_equal(
        clone(several).fit(X, tags).predict_proba(), clone(several).fit(S, tags).predict_proba()
    )
    ratings = pd.DataFrame({"item": [0, 39], "rating": [1.0, 5.0]})
    found = [RatingSpreading(random_state=0).fit(A, ratings).predict() for A in (X, S)]
    np.testing.assert_array_equal(*found)
    assert (knn_graph(S, n_neighbors=5).S != knn_graph(X, n_neighbors=5).S).nnz == 0


def test_too_large_sparse_features_are_refused_with_what_to_do():
    """The message says how large they would be, and what it advises works."""
    with pytest.raises(InputError, match=r"X is sparse.* 3\.73 GiB, more than 2; reduce it.*TruncatedSVD"):
        SoftLabeler().fit(csr_array((10_000, 50_000)), np.zeros(10_000))
    with pytest.raises(InputError, match=r"features is sparse"):
        SoftLabeler().fit(X, Y, features=csr_array((40, 10**9)))
    labeler = SoftLabeler(n_neighbors=5, random_state=0)
    found = make_pipeline(TruncatedSVD(1, random_state=0), labeler).fit(csr_array(X), Y)
    assert found.predict(csr_array(X[[1, 38]] + 1e-3)).tolist() == [0, 1]


@pytest.mark.parametrize("take", [lambda A: VoteHistogram().fit(A, Y), knn_graph], ids=["fit", "graph"])
@pytest.mark.parametrize("gap", [np.nan, np.inf])
def test_gaps_in_features_are_named_by_their_rows(take, gap):
    """With what to do; scikit-learn's own advice is to take another estimator."""
    bad = X.copy()
    bad[[7, 9], 1] = gap
    with pytest.raises(
        InputError, match=r"2 of 40 rows hold NaN or infinity, the first is row 7.*Remove"
    ) as found:
        take(pd.DataFrame(bad))
    assert "HistGradientBoosting" not in str(found.value)


def test_names_of_items_survive_a_pipeline_that_hands_on_frames():
    """set_output keeps the index, and the index names the items."""
    frame = pd.DataFrame(X, index=[f"item-{k}" for k in range(40)], columns=["a", "b"])
    votes = Votes.from_pairs(["item-1", "item-39"], ["left", "right"])
    pipeline = make_pipeline(StandardScaler(), SoftLabeler(n_neighbors=5)).set_output(transform="pandas")
    assert pipeline.fit(frame, votes)[-1].item_ids_.tolist() == frame.index.tolist()


def test_weights_are_routed_through_a_pipeline():
    """With metadata routing switched on, a request is enough."""
    with sklearn.config_context(enable_metadata_routing=True):
        est = VoteHistogram().set_fit_request(sample_weight=True)
        found = make_pipeline(MinMaxScaler(), est).fit(X, Y, sample_weight=np.full(40, 2.0))
    assert found[-1].vote_counts_.sum() == 2 * (Y >= 0).sum()


def test_scores_and_searches_without_truth_point_to_tune():
    """Items without a vote are nobody's class; GridSearchCV gets this message for every split."""
    est = KNeighborsVotes(n_neighbors=1).fit(X, Y)
    assert est.score(X + 1e-9, np.arange(40) // 20) > 0.9
    with pytest.raises(InputError, match=r"softspread\.tune"):
        est.score(X, Y)
    with pytest.raises(InputError, match="holds votes"):
        est.score(X, Votes.from_pairs([0], [0]))
    search = GridSearchCV(est, {"n_neighbors": [1, 2]}, cv=2, error_score="raise")
    with pytest.raises(InputError, match="in place of GridSearchCV"):
        search.fit(X, Y)
