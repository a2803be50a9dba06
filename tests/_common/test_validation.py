"""What a user hands in is taken as meant or refused with the reason, and a refusal changes nothing."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from softspread import (
    GaussianKernelRegression,
    Graph,
    InputError,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    SoftspreadError,
    SoftspreadWarning,
    VoteHistogram,
    Votes,
    affinity_graph,
    epsilon_graph,
    knn_graph,
)
from softspread._common import validation

X = np.random.default_rng(3).normal(size=(12, 2))
Y = np.array(["cat", "dog", "cat"] + [None] * 9, dtype=object)
ESTIMATORS = {
    "spreading": ProbabilisticLabelSpreading(n_neighbors=3),
    "histogram": VoteHistogram(),
    "kernel": GaussianKernelRegression(gamma=1.0),
    "neighbours": KNeighborsVotes(n_neighbors=2),
}


def with_entry(value):
    """The features with one entry replaced."""
    changed = X.copy()
    changed[4, 1] = value
    return changed


def state_of(est):
    """All that a user can see of a fitted estimator."""
    return {
        "p": est.predict_proba(),
        "mass": est.predict_freq(),
        "new": est.predict_proba(X[:3] + 0.1),
        "classes": est.classes_.tolist(),
        "votes": (est.votes_.items.tolist(), est.votes_.labels.tolist(), est.votes_.weights.tolist()),
        "n_features": est.n_features_in_,
        "ids": None if est.item_ids_ is None else est.item_ids_.tolist(),
        "prior": np.array(est.prior_),
    }


def assert_same_state(before, after):
    """Nothing that a user can see has changed."""
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


@pytest.fixture(params=ESTIMATORS, ids=str)
def fitted(request):
    """Each estimator, fitted on named items with one named annotator."""
    ids = [f"item {row}" for row in range(12)]
    votes = Votes.from_pairs(ids[:3], ["cat", "dog", "cat"], annotators=["ann", "bob", "ann"])
    est = ESTIMATORS[request.param]
    return type(est)(**est.get_params()).fit(X, votes, item_ids=ids)


BAD_UPDATES = [
    ({"items": "nobody", "labels": "cat"}, "'nobody' are not among the 12 item ids"),
    ({"items": ["item 0", "nobody"], "labels": "cat"}, "1 votes name unknown items"),
    ({"items": 0, "labels": "cat"}, "0 are not among the 12 item ids"),
    ({"items": "item 0", "labels": None}, "label number 0 .* is missing"),
    ({"items": "item 0", "labels": np.nan}, "label number 0 .* is missing"),
    ({"items": ["item 0", "item 1"], "labels": ["cat"]}, "2 items but 1 labels"),
    ({"items": "item 0", "labels": "cat", "weights": np.nan}, "weights must be finite, got nan"),
    ({"items": "item 0", "labels": "cat", "weights": -np.inf}, "weights must be finite, got -inf"),
    ({"items": "item 0", "labels": "cat", "weights": "2"}, "weights must be numbers"),
    ({"items": "item 0", "labels": "cat", "weights": True}, "weights must be numbers"),
    ({"items": "item 0", "labels": "cat", "weights": [1, 2]}, r"one number per vote \(1\)"),
    (
        {"items": "item 5", "labels": "cat", "weights": -1},
        "never cast: item 'item 5', label 'cat' would have -1 votes",
    ),
    (
        {"items": "item 0", "labels": "cat", "annotators": "ann", "weights": -1.5},
        "would have -0.5 votes by that annotator",
    ),
    (
        {"items": "item 0", "labels": "cat", "annotators": "bob", "weights": -1},
        "never cast: item 'item 0', label 'cat'",
    ),
    ({"items": "item 0", "labels": "cat", "weights": -1}, "never cast"),
    ({"items": "item 0", "labels": "bird", "weights": -1}, "never cast: item 'item 0', label 'bird'"),
    (
        {"items": "item 0", "labels": "cat", "annotators": ["ann", "bob"]},
        r"annotators must be one per vote \(1\)",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_UPDATES)
def test_a_refused_update_says_why_and_changes_nothing(fitted, arguments, message):
    """Bad votes after the fit are refused as a whole."""
    before = state_of(fitted)
    with pytest.raises(InputError, match=message):
        fitted.update(**arguments)
    assert_same_state(before, state_of(fitted))


BAD_UNDOS = [
    ({"items": "item 0", "labels": "dog", "annotators": "ann"}, "never cast: item 'item 0', label 'dog'"),
    ({"items": "item 0", "labels": "cat", "annotators": "bob"}, "never cast"),
    ({"items": "item 0", "labels": "cat"}, "never cast"),
    ({"items": "item 0", "labels": "bird"}, "never cast: no vote names 'bird'"),
    ({"items": "item 0", "labels": "cat", "annotators": "ann", "weights": 2}, "would have -1 votes"),
    ({"items": ["item 0", "item 0"], "labels": "cat", "annotators": "ann"}, "would have -1 votes"),
    ({"items": "nobody", "labels": "cat", "annotators": "ann"}, "'nobody' are not among"),
    ({"items": "item 0", "labels": "cat", "annotators": "ann", "weights": np.nan}, "weights must be finite"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_UNDOS)
def test_a_refused_undo_says_why_and_changes_nothing(fitted, arguments, message):
    """Only votes that were cast, by that annotator, can be taken back."""
    before = state_of(fitted)
    with pytest.raises(InputError, match=message):
        fitted.undo(**arguments)
    assert_same_state(before, state_of(fitted))


def test_a_vote_can_be_taken_back_by_the_one_who_cast_it(fitted):
    """Undo by item, label and annotator leaves the votes of all others."""
    fitted.undo("item 0", "cat", annotators="ann")
    counts = fitted.vote_counts_
    assert counts[0].tolist() == [0, 0]
    assert counts[:3].sum() == 2


BAD_FITS = [
    ({"X": with_entry(np.nan), "y": Y}, "X contains NaN"),
    ({"X": with_entry(np.inf), "y": Y}, "X contains infinity"),
    ({"X": with_entry(1e200), "y": Y}, "squared distances overflow; scale the features"),
    ({"X": X[:, 0], "y": Y}, "Expected 2D array, got 1D array"),
    ({"X": X[None], "y": Y}, "dim 3"),
    ({"X": X[:, :0], "y": Y}, "0 feature"),
    ({"X": np.empty((0, 2)), "y": []}, "0 sample"),
    ({"X": [["a", "b"]], "y": ["cat"]}, "could not convert"),
    ({"X": "X.npy", "y": ["cat"]}, r"X is a path \(X.npy\)\. Read it with read_embeddings"),
    ({"X": Path("X.npy"), "y": ["cat"]}, r"X is a path \(X.npy\)\. Read it with read_embeddings"),
    ({"X": X, "y": Y[:11]}, "X has 12 items but y has 11 rows"),
    ({"X": X, "y": [[1, 0]] * 11}, "X has 12 items but y has 11 rows"),
    ({"X": X, "y": None}, "requires y to be passed"),
    ({"X": X, "y": 3}, r"y must be labels .* got shape \(\)"),
    ({"X": X, "y": np.zeros((12, 2, 2))}, "y must be labels"),
    ({"X": X, "y": [[1, 0], [1]] * 6}, "y must be labels"),
    ({"X": X, "y": np.array([0, 1, np.nan] * 4)}, "y contains NaN"),
    ({"X": X, "y": np.array([0, 1, np.inf] * 4)}, "y contains infinity"),
    ({"X": X, "y": np.linspace(0, 1, 12)}, "Unknown label type"),
    ({"X": X, "y": -np.ones((12, 2))}, "counts must be finite and not negative"),
    ({"X": X, "y": [["cat", "dog"]] * 12}, "counts must be a table of numbers"),
    ({"X": X, "y": Y, "classes": ["cat"]}, r"'dog' are not among the classes \['cat'\]"),
    ({"X": X, "y": Y, "classes": ["cat", "dog", "cat"]}, "classes must be distinct"),
    ({"X": X, "y": np.eye(12)[:, :3], "classes": ["a", "b"]}, r"\(12, 3\) do not fit 12 items and 2 classes"),
    ({"X": X, "y": Y, "item_ids": range(11)}, "each of the 12 items, got 11 ids"),
    ({"X": X, "y": Y, "item_ids": [0, 0, *range(2, 12)]}, "item_ids must be distinct; 0 appear"),
    ({"X": X, "y": Y, "item_ids": [None, *range(1, 12)]}, "item id number 0 .* is missing"),
    (
        {"X": X, "y": Votes.from_pairs(["a"], [0])},
        "items must be positions from 0 to 11 when no item_ids are given",
    ),
    ({"X": X, "y": Votes.from_pairs([True], [0])}, "items must be positions from 0 to 11"),
    ({"X": X, "y": Votes.from_pairs([12], [0])}, "12 are not positions of the 12 items; allowed are 0 to 11"),
    ({"X": X, "y": Votes.from_pairs([-1], [0])}, "-1 are not positions"),
    ({"X": X, "y": Votes.from_pairs([0.5], [0])}, "items must be positions"),
    (
        {"X": X, "y": Votes.from_pairs([0], [0], weights=-1)},
        "never cast: item 0, label 0 would have -1 votes",
    ),
    ({"X": X, "y": Votes.from_pairs(["a"], [0]), "item_ids": range(12)}, "'a' are not among the 12 item ids"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_FITS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_refused_fit_says_why_and_leaves_a_fitted_estimator_as_it_was(name, arguments, message):
    """Bad input never leaves an estimator half fitted, nor makes a fresh one look fitted."""
    est = type(ESTIMATORS[name])(**ESTIMATORS[name].get_params())
    with pytest.raises(InputError, match=message):
        est.fit(**arguments)
    with pytest.raises(NotFittedError):
        est.predict_proba()
    est.fit(X, Y)
    before = state_of(est)
    with pytest.raises(InputError, match=message):
        est.fit(**arguments)
    assert_same_state(before, state_of(est))


BAD_PARAMETERS = [
    *[
        ({"alpha": value}, "alpha must be at least 0 and below 1")
        for value in (1, 1.5, -0.1, np.nan, "0.9", True, None)
    ],
    *[
        ({"n_neighbors": value}, "n_neighbors must be a whole number, at least 1")
        for value in (0, -3, 2.0, True)
    ],
    ({"n_neighbors": "3"}, "n_neighbors must be one of 'auto' or a whole number"),
    ({"alpha": "much"}, "alpha must be at least 0 and below 1, or 'auto', got 'much'"),
    *[({"bandwidth": value}, "bandwidth must be") for value in (0, -1.0, np.nan, np.inf, "median", True)],
    *[({"scaling": value}, "scaling must be one of 'peak', 'source', 'none'") for value in ("max", None, 1)],
    *[
        ({"prior_strength": value}, "prior_strength must be")
        for value in (-1e-4, np.nan, np.inf, "much", True)
    ],
    *[({"tol": value}, "tol must be") for value in (0, -1e-6, 0.5, "1e-6", np.nan)],
    ({"solver": "magic"}, "solver must be one of"),
    ({"index": "magic"}, "index must be one of 'auto'"),
    ({"annotator_model": "magic"}, "annotator_model must be one of"),
    ({"random_state": -1}, "random_state must be"),
    ({"random_state": "seed"}, "random_state must be"),
    ({"n_jobs": 0}, "n_jobs must be"),
    ({"n_jobs": 1.5}, "n_jobs must be"),
    ({"prior": [0.5, 0.5, 0.5]}, r"shape \(12, 2\) or \(2,\), got \(3,\)"),
    ({"prior": np.ones((11, 2))}, r"shape \(12, 2\) or \(2,\), got \(11, 2\)"),
    ({"prior": [1.5, -0.5]}, "a prior must be finite and not negative"),
    ({"prior": [np.nan, 1]}, "a prior must be finite and not negative"),
    ({"prior": ["0.5", "0.5"]}, "a prior must hold numbers"),
    ({"prior": "uniform"}, "a prior must hold numbers"),
    ({"prior": [[1, 0]] * 11 + [[0, 0]]}, "row 11 of the prior sums to 0"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_when_fitting(parameters, message):
    """Every parameter is checked in fit, with its name, what came and what is allowed."""
    est = ProbabilisticLabelSpreading(**{"n_neighbors": 3, **parameters})
    with pytest.raises(InputError, match=message):
        est.fit(X, Y)
    with pytest.raises(NotFittedError):
        est.predict_proba()


@pytest.mark.parametrize(
    ("est", "message"),
    [
        (GaussianKernelRegression(gamma=0), "gamma must be a positive number, got 0"),
        (GaussianKernelRegression(gamma="10"), "gamma must be a positive number, got '10'"),
        (GaussianKernelRegression(gamma=np.nan), "gamma must be a positive number"),
        (KNeighborsVotes(n_neighbors=0), "n_neighbors must be a whole number, at least 1, got 0"),
        (KNeighborsVotes(n_neighbors=2.0), "n_neighbors must be a whole number"),
    ],
)
def test_bad_parameters_of_baselines_are_refused(est, message):
    """Baselines check their parameters too."""
    with pytest.raises(InputError, match=message):
        est.fit(X, Y)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_nothing_is_predicted_before_fitting(name):
    """Every question to an estimator without votes is answered by scikit-learn's own error."""
    est = type(ESTIMATORS[name])(**ESTIMATORS[name].get_params())
    questions = [
        est.predict_proba,
        est.predict,
        est.predict_freq,
        est.predict_interval,
        lambda: est.predict_proba(X),
        lambda: est.evidence_,
        lambda: est.label_distributions_,
        lambda: est.transduction_,
        lambda: est.update(0, "cat"),
        lambda: est.undo(0, "cat"),
    ]
    for ask in questions:
        with pytest.raises(NotFittedError):
            ask()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_new_items_are_checked_like_fitted_ones(name):
    """A wrong number of features, NaN and overflow are refused for new items."""
    est = type(ESTIMATORS[name])(**ESTIMATORS[name].get_params()).fit(X, Y)
    with pytest.raises(InputError, match=r"3 features"):
        est.predict_proba(np.zeros((1, 3)))
    with pytest.raises(InputError, match="NaN"):
        est.predict_proba([[0.0, np.nan]])
    with pytest.raises(InputError, match="overflow"):
        est.predict_proba([[0.0, 1e200]])
    with pytest.raises(InputError, match=r"confidence_level must lie strictly between 0 and 1, got 1\.5"):
        est.predict_interval(confidence_level=1.5)
    with pytest.raises(InputError, match="method must be one of"):
        est.predict_interval(method="magic")


def test_an_item_far_beyond_all_others_can_be_asked_about():
    """A new item at an enormous finite distance is answered, by the prior where nothing reaches it."""
    est = ProbabilisticLabelSpreading(n_neighbors=3).fit(X, Y)
    p = est.predict_proba([[1e140, -1e140]])
    np.testing.assert_allclose(p, [[0.5, 0.5]])


def test_graphs_without_features_refuse_new_items():
    """An affinity says nothing about where a new item would be."""
    est = ProbabilisticLabelSpreading().fit(affinity_graph(np.ones((3, 3))), [0, 1, -1])
    with pytest.raises(InputError, match="fitted on an affinity"):
        est.predict_proba([[0.0]])
    for other in (VoteHistogram(), KNeighborsVotes(), GaussianKernelRegression()):
        with pytest.raises(InputError, match="needs the features of the items, not a Graph"):
            other.fit(affinity_graph(np.ones((3, 3))), [0, 1, -1])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: affinity_graph([[0, 1], [0, 0]]),
            r"not symmetric \(largest difference 1\); pass \(A \+ A.T\) / 2",
        ),
        (lambda: affinity_graph([[0, -1], [-1, 0]]), r"negative entries \(smallest -1\)"),
        (lambda: affinity_graph([[0, np.nan], [np.nan, 0]]), "NaN or infinite"),
        (lambda: affinity_graph([[0, np.inf], [np.inf, 0]]), "NaN or infinite"),
        (lambda: affinity_graph(np.full((3, 3), 1.7e308)), "sums overflow; scale it"),
        (lambda: affinity_graph(np.ones((2, 3))), r"square matrix, got shape \(2, 3\)"),
        (lambda: affinity_graph(np.ones(3)), "square matrix"),
        (lambda: affinity_graph(np.empty((0, 0))), "square matrix"),
        (lambda: affinity_graph([["a", "b"], ["c", "d"]]), "must hold numbers"),
        (lambda: affinity_graph(np.ones((2, 2)), normalization="row"), "normalization must be one of"),
        (lambda: knn_graph(X, 0), "n_neighbors must be a whole number, at least 1, got 0"),
        (
            lambda: knn_graph(X, 3, normalization="row"),
            "normalization must be one of 'symmetric', 'random_walk'",
        ),
        (lambda: knn_graph(X, 3, index="magic"), "index must be one of 'auto'"),
        (lambda: knn_graph(with_entry(np.nan), 3), "NaN"),
        (lambda: knn_graph(with_entry(1e200), 3), "overflow"),
        (lambda: knn_graph(X[0], 3), "2D array"),
        (lambda: epsilon_graph(X, 0), "radius must be a positive number, got 0"),
        (lambda: epsilon_graph(X, "1"), "radius must be a positive number"),
        (lambda: epsilon_graph(X, True), "radius must be a positive number"),
        (lambda: epsilon_graph(with_entry(np.inf), 1.0), "infinity"),
    ],
)
def test_bad_graphs_are_refused_with_the_reason(make, message):
    """Nothing that is no graph gets as far as a solver."""
    with pytest.raises(InputError, match=message):
        make()


def test_more_neighbours_than_items_are_cut_with_a_warning():
    """k >= n uses all n - 1 others and says so."""
    with pytest.warns(SoftspreadWarning, match="n_neighbors=12 but there are only 12 items; using 11"):
        graph = knn_graph(X, 12)
    assert graph.n_neighbors == 11
    assert isinstance(graph, Graph)
    with pytest.warns(SoftspreadWarning, match="using 11"):
        ProbabilisticLabelSpreading(n_neighbors=20).fit(X, Y)


def test_numpy_numbers_are_numbers():
    """Parameters from numpy arrays and grids are taken like Python's own."""
    assert validation.alpha(np.float32(0.5)) == 0.5
    assert validation.count("n", np.int64(3)) == 3
    assert validation.positive("x", np.int32(2)) == 2.0
    assert validation.not_negative("x", 0) == 0.0
    assert validation.between_0_and_1("x", np.float64(0.25)) == 0.25


@pytest.mark.parametrize(
    "check", [validation.positive, validation.not_negative, validation.between_0_and_1, validation.count]
)
@pytest.mark.parametrize("value", [True, np.True_, "1", None, np.nan, -1, [1], 1j])
def test_no_number_check_takes_anything_else(check, value):
    """Truth values, text, lists and NaN are not numbers, and the message names the parameter."""
    with pytest.raises(InputError, match=r"^speed must .* got "):
        check("speed", value)


def test_every_way_to_give_a_seed_is_taken(rng):
    """Numbers and both of numpy's generators lead to the same stream each time."""
    assert validation.generator(rng) is rng
    for seed in (3, np.int64(3)):
        assert validation.generator(seed).integers(1000) == np.random.default_rng(3).integers(1000)
    draws = [validation.generator(np.random.RandomState(5)).integers(10**6) for _ in range(2)]
    assert draws[0] == draws[1]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["cat", -1, "dog"], ["cat", "dog"]),
        (("cat", None, "dog"), ["cat", "dog"]),
        ([0, None, 1], [0, 1]),
        ([0, -1, 1], [0, 1]),
        (np.array([0, -1, 1], dtype=np.int8), [0, 1]),
        (np.array([0.0, -1.0, 1.0]), [0, 1]),
        (np.array(["cat", -1, 5], dtype=object), [5, "cat"]),
        (np.array([False, None, True], dtype=object), [False, True]),
        (pd.Series([0, pd.NA, 1], dtype="Int64"), [0, 1]),
        (pd.Series(["cat", None, "dog"]), ["cat", "dog"]),
        (pd.Series(["cat", None, "dog"], dtype="string"), ["cat", "dog"]),
        (pd.Series(["cat", None, "dog"], dtype="category"), ["cat", "dog"]),
        (pd.Series(["cat", -1, "dog"], dtype=object, index=[7, 8, 9]), ["cat", "dog"]),
    ],
)
def test_every_kind_of_gap_in_y_is_no_vote(y, classes):
    """-1, None and pandas' missing values leave an item without a vote, whatever the labels are."""
    est = VoteHistogram().fit(np.arange(3.0)[:, None], y)
    assert est.classes_.tolist() == classes
    assert est.votes_.items.tolist() == [0, 2]


def test_given_classes_name_the_columns_of_counts():
    """Counts as an array have no names of their own; a frame's columns are found by name."""
    counts = np.array([[2, 0], [0, 1]])
    x = np.zeros((2, 1))
    est = VoteHistogram().fit(x, counts, classes=["cat", "dog"])
    assert est.predict().tolist() == ["cat", "dog"]
    est = VoteHistogram().fit(x, pd.DataFrame(counts, columns=["dog", "cat"]), classes=["cat", "dog"])
    assert est.predict().tolist() == ["dog", "cat"]


def test_votes_may_be_empty():
    """An estimator can start without any vote, with or without known classes."""
    empty = Votes.from_pairs([], [])
    for est in ESTIMATORS.values():
        fresh = type(est)(**est.get_params()).fit(X, empty, classes=["cat", "dog"])
        np.testing.assert_array_equal(fresh.predict_proba(), np.full((12, 2), 0.5))
        unknown = type(est)(**est.get_params()).fit(X, empty)
        with pytest.raises(InputError, match="no class is known yet"):
            unknown.predict_proba()
        assert unknown.update(0, "cat").predict_proba().shape == (12, 1)


def test_inputs_are_never_modified():
    """Fitting, updating and predicting leave the caller's arrays as they are."""
    x, y, prior = X.copy(), np.eye(12)[:, :3].copy(), np.full((12, 3), 2.0)
    A = np.ones((12, 12))
    for array in (x, y, prior, A):
        array.setflags(write=False)
    ProbabilisticLabelSpreading(n_neighbors=3, prior=prior).fit(x, y).update(3, 1).predict_proba(x[:5])
    ProbabilisticLabelSpreading(prior=prior).fit(affinity_graph(A), y).update(3, 1)
    for est in (VoteHistogram(), KNeighborsVotes(n_neighbors=2), GaussianKernelRegression(gamma=1.0)):
        est.fit(x, y).update(3, 1).predict_proba(x)
    assert A[0, 0] == 1
    assert prior[0, 0] == 2


def test_every_refusal_is_an_error_of_this_package_and_a_value_error():
    """One except clause catches them all, and code written for ValueError keeps working."""
    with pytest.raises(SoftspreadError):
        knn_graph(with_entry(np.nan), 3)
    with pytest.raises(ValueError, match="NaN"):
        VoteHistogram().fit(with_entry(np.nan), Y)
