"""A saved estimator answers and learns on as if it had never left memory."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from softspread import (
    GaussianKernelRegression,
    InputError,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    StoreError,
    VoteHistogram,
    Votes,
    affinity_graph,
    epsilon_graph,
    knn_graph,
    load,
    save,
)
from softspread._common.archive import read_archive, write_archive
from softspread.estimators.storage import FORMAT_VERSION

N = 30
X = np.random.default_rng(5).normal(size=(N, 2))
IDS = {
    "positions": None,
    "strings": [f"img {row}.jpg" for row in range(N)],
    "numbers": list(range(1000, 1000 + N)),
    "mixed": [row if row % 2 else f"item {row}" for row in range(N)],
}
CLASSES = {"numbers": [0, 1, 2], "strings": ["cat", "dog", "owl"], "mixed": ["cat", 7, 2.5]}
ESTIMATORS = {
    "labeler": lambda: SoftLabeler(n_neighbors=4),
    "labeler, one alpha, no classifiers": lambda: SoftLabeler(n_neighbors=4, alpha=0.9, classifier="none"),
    "spreading": lambda: ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=4),
    "spreading, conjugate gradients": lambda: ProbabilisticLabelSpreading(
        n_neighbors=4, solver="cg", alpha=0.8
    ),
    "spreading, source": lambda: ProbabilisticLabelSpreading(
        alpha=0.9, n_neighbors=4, scaling="source", bandwidth="mean"
    ),
    "spreading, literal": lambda: ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=4, solver="literal"),
    "histogram": VoteHistogram,
    "kernel": lambda: GaussianKernelRegression(gamma=np.float64(0.7)),
    "neighbours": lambda: KNeighborsVotes(n_neighbors=np.int64(3)),
}


def make_votes(ids, classes, annotators):
    """A dozen votes, some weighted, one taken back."""
    rng = np.random.default_rng(8)
    rows = rng.integers(N, size=12).tolist()
    labels = [classes[c] for c in rng.integers(3, size=12)]
    names = [f"a{number}" for number in rng.integers(3, size=12)] if annotators != "none" else None
    if annotators == "partly":
        names = [None if number % 3 == 0 else name for number, name in enumerate(names)]
    weights = rng.uniform(0.5, 2, size=12).tolist()
    rows.append(rows[0])
    labels.append(labels[0])
    weights.append(-0.5 * weights[0])
    if names is not None:
        names.append(names[0])
    items = rows if ids is None else [ids[row] for row in rows]
    return Votes.from_pairs(items, labels, names, weights, classes=classes)


def assert_same(est, other, tol=0.0):
    """Both answer every question alike."""
    assert type(est) is type(other)
    assert est.classes_.tolist() == other.classes_.tolist()
    assert [type(name) for name in est.classes_.tolist()] == [type(name) for name in other.classes_.tolist()]
    assert (est.item_ids_ is None) == (other.item_ids_ is None)
    if est.item_ids_ is not None:
        assert est.item_ids_.tolist() == other.item_ids_.tolist()
    for name in ("items", "labels", "weights"):
        np.testing.assert_array_equal(getattr(est.votes_, name), getattr(other.votes_, name))
    mine, theirs = est.votes_.annotators, other.votes_.annotators
    assert (None if mine is None else mine.tolist()) == (None if theirs is None else theirs.tolist())
    assert len(est._votes.cast) == len(other._votes.cast)
    np.testing.assert_allclose(est.predict_freq(), other.predict_freq(), rtol=0, atol=tol)
    np.testing.assert_allclose(est.predict_proba(), other.predict_proba(), rtol=0, atol=tol)
    np.testing.assert_array_equal(est.prior_, other.prior_)
    if est.n_features_in_:
        np.testing.assert_allclose(est.predict_proba(X + 0.1), other.predict_proba(X + 0.1), rtol=0, atol=tol)
    if isinstance(est, ProbabilisticLabelSpreading):
        np.testing.assert_array_equal(est.stale_, other.stale_)
        np.testing.assert_array_equal(est.graph_.S.toarray(), other.graph_.S.toarray())
        assert est.graph_.facts() == other.graph_.facts()
        assert est.alpha_ == other.alpha_


def around(est, folder):
    """The estimator after a trip to a file."""
    save(est, folder / "est.softspread")
    return load(folder / "est.softspread")


@pytest.mark.parametrize(
    ("ids", "classes", "annotators"),
    [
        (IDS["positions"], CLASSES["numbers"], "none"),
        (IDS["strings"], CLASSES["strings"], "all"),
        (IDS["numbers"], CLASSES["mixed"], "partly"),
        (IDS["mixed"], CLASSES["numbers"], "partly"),
    ],
    ids=IDS,
)
@pytest.mark.filterwarnings("ignore:.*only the last one stands")
@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
def test_everything_survives_a_trip_and_learns_on(tmp_path, make, ids, classes, annotators):
    """Answers are equal after loading, and after further votes, undos and a new class on both sides."""
    est = make().fit(X, make_votes(ids, classes, annotators), item_ids=ids)
    again = around(est, tmp_path)
    assert_same(est, again)
    items = [3, 4, 3] if ids is None else [ids[3], ids[4], ids[3]]
    for each in (est, again):
        each.update(items, [classes[0], classes[2], "new"], annotators="eve", weights=[1, 0.25, 2])
        each.undo(items[0], classes[0], annotators="eve")
    assert_same(est, again)
    assert_same(est, around(again, tmp_path))


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
def test_parameters_survive_a_trip(tmp_path, make):
    """get_params gives the same values, so that a clone or a refit behaves the same."""
    est = make().fit(X, make_votes(None, [0, 1, 2], "none"))
    assert around(est, tmp_path).get_params() == est.get_params()


@pytest.mark.parametrize(
    "prior", [[0.2, 0.3, 0.5], np.random.default_rng(0).uniform(size=(N, 3))], ids=["row", "table"]
)
def test_a_prior_survives_a_trip_also_after_a_new_class(tmp_path, prior):
    """The given prior is kept as given, and what later classes made of it as well."""
    est = ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=4, prior=prior, prior_strength=0.5)
    est.fit(X, make_votes(None, ["a", "b", "c"], "none"))
    assert_same(est, around(est, tmp_path))
    est.update(5, "late")
    again = around(est, tmp_path)
    assert_same(est, again)
    np.testing.assert_array_equal(again.prior, prior)
    for each in (est, again):
        each.update(6, "later")
    assert_same(est, again)
    y = np.array([0, 1, 2] + [-1] * (N - 3))
    np.testing.assert_array_equal(est.fit(X, y).predict_proba(), again.fit(X, y).predict_proba())


def test_an_immediate_answer_survives_a_trip(tmp_path):
    """After live updates on a larger graph the unrefined state is saved, and refining meets the same
    answer."""
    x = np.random.default_rng(0).normal(size=(1500, 2))
    est = ProbabilisticLabelSpreading(n_neighbors=5, alpha=0.99, solver="cg").fit(x, [0, 1] + [-1] * 1498)
    est.update([5, 700], [1, 0])
    again = around(est, tmp_path)
    np.testing.assert_array_equal(est.predict_freq(), again.predict_freq())
    assert (again.error_bound_ <= est.error_bound_ * (1 + 1e-12)).all()
    for each in (est, again):
        each.update(9, 0).refine()
    np.testing.assert_allclose(est.predict_freq(), again.predict_freq(), rtol=0, atol=1e-9)
    assert not again.stale_.any()


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("kind", ["knn", "epsilon", "affinity"])
def test_estimators_on_given_graphs_survive_a_trip(tmp_path, kind, normalization):
    """All kinds of graph travel inside the estimator's file."""
    A = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
    graph = {
        "knn": lambda: knn_graph(X, 4, normalization=normalization),
        "epsilon": lambda: epsilon_graph(X, 2.5, normalization=normalization),
        "affinity": lambda: affinity_graph(A, normalization=normalization),
    }[kind]()
    est = ProbabilisticLabelSpreading(alpha=0.9).fit(graph, make_votes(None, [0, 1, 2], "all"))
    again = around(est, tmp_path)
    assert_same(est, again)
    for each in (est, again):
        each.update([1, 2], [0, 1], annotators="a0")
    assert_same(est, again)


def test_single_precision_and_feature_names_survive_a_trip(tmp_path):
    """The type of the features and their names stay, so new items are checked and computed as before."""
    frame = pd.DataFrame(X.astype(np.float32), columns=["width", "height"])
    for make in ESTIMATORS.values():
        est = make().fit(frame, [0, 1] + [-1] * (N - 2))
        again = around(est, tmp_path)
        assert again.feature_names_in_.tolist() == ["width", "height"]
        np.testing.assert_array_equal(est.predict_proba(frame + 0.1), again.predict_proba(frame + 0.1))


def test_an_estimator_without_votes_survives_a_trip(tmp_path):
    """Saving is possible before the first vote."""
    for make in ESTIMATORS.values():
        again = around(make().fit(X, Votes.from_pairs([], []), classes=["a", "b"]), tmp_path)
        np.testing.assert_array_equal(again.predict_proba(), np.full((N, 2), 0.5))
        assert again.update(3, "a").predict()[3] == "a"
        again = around(make().fit(X, Votes.from_pairs([], [])), tmp_path)
        assert again.update(3, "a").predict()[3] == "a"


def test_annotators_called_nothing_survive_a_trip(tmp_path):
    """An empty name is a name: its votes can still be taken back by it, and by nobody else."""
    votes = Votes.from_pairs([0, 1], ["x", "y"], annotators=["", None])
    again = around(VoteHistogram().fit(X, votes), tmp_path)
    assert again.votes_.annotators.tolist() == ["", None]
    with pytest.raises(InputError, match="never cast"):
        again.undo(0, "x")
    again.undo(0, "x", annotators="")
    again.undo(1, "y")
    assert again.evidence_.sum() == 0


def crowd_votes(n_items, n_votes, seed=0, names=False):
    """Votes of a crowd on items in two clusters, some items with two or more."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(n_items, size=n_votes)
    columns = np.where(rng.random(n_votes) < 0.2, rng.integers(3, size=n_votes), rows % 3)
    return Votes.from_pairs(
        rows,
        columns,
        [f"a{n}" for n in rng.integers(6, size=n_votes)] if names else None,
        repeats="keep",
    )


LABELERS = {
    "iterative": ({}, {"n_items": 2500}),
    "plain": ({}, {}),
    "annotators": ({}, {"names": True}),
    "soft votes": ({"annotator_model": "confusion"}, {"names": True}),
    "prior": ({"prior": [0.2, 0.5, 0.3]}, {}),
    "features": ({}, {"features": True}),
    "one alpha": ({"alpha": 0.8}, {}),
}


@pytest.mark.parametrize(("parameters", "data"), LABELERS.values(), ids=LABELERS)
def test_a_labeler_answers_learns_and_asks_as_before(tmp_path, parameters, data):
    """Soft labels, intervals, verdicts, queries, new items, what was learned; then votes, undos and a
    refit on both sides. On the larger graph solves are iterative, and what was pushed is saved as it is."""
    rng, n_items = np.random.default_rng(1), data.get("n_items", 120)
    x = rng.normal(size=(n_items, 3)) + 3 * np.eye(3)[np.arange(n_items) % 3]
    features = np.hstack([x, rng.normal(size=(n_items, 5))]) if data.get("features") else None
    votes = crowd_votes(n_items, 400, names=data.get("names", False))
    est = SoftLabeler(n_neighbors=8, random_state=0, **parameters).fit(x, votes, features=features)
    assert est._diffused.factored == (n_items < 2000)
    est.update([3, 4], [0, 1])
    est.undo(3, 0)
    again = around(est, tmp_path)
    assert_same_labeler(est, again, x)
    for each in (est, again):
        each.update([5, 6, 5], [0, 2, 1], annotators="a0")
        each.undo(6, 2, annotators="a0")
    assert_same_labeler(est, again, x)
    for each in (est, again):
        each.refit()
    assert_same_labeler(est, again, x)


def assert_same_labeler(est, again, x):
    """Both answer every question alike, to the last bit."""
    mine, theirs = est.soft_labels(), again.soft_labels()
    for name in ("p", "evidence", "lower", "upper", "verdict"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
    np.testing.assert_array_equal(est.predict_proba(x + 0.1), again.predict_proba(x + 0.1))
    for one, other in zip(
        est.predict_interval(x[:9] + 0.1), again.predict_interval(x[:9] + 0.1), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(est.soft_labels_of([0, 5]), again.soft_labels_of([0, 5]))
    np.testing.assert_array_equal(est.query(4, random_state=0), again.query(4, random_state=0))
    np.testing.assert_array_equal(est.predict_set(random_state=0), again.predict_set(random_state=0))
    pd.testing.assert_series_equal(est.weights_, again.weights_)
    pd.testing.assert_frame_equal(est.trust_, again.trust_)
    pd.testing.assert_frame_equal(est.uncertainty(), again.uncertainty())
    assert est.advice_ == again.advice_
    if est.annotators_ is not None:
        pd.testing.assert_frame_equal(est.annotators_, again.annotators_)


@pytest.fixture(params=["spreading", "labeler"])
def saved(tmp_path, request):
    """A file with a fitted estimator."""
    path = tmp_path / "est.softspread"
    save(
        ESTIMATORS[request.param]().fit(
            X, make_votes(IDS["strings"], CLASSES["mixed"], "partly"), item_ids=IDS["strings"]
        ),
        path,
    )
    return path


def test_a_file_cut_anywhere_is_refused(saved):
    """No prefix of a saved estimator loads."""
    content = saved.read_bytes()
    for size in range(0, len(content), max(1, len(content) // 200)):
        saved.write_bytes(content[:size])
        with pytest.raises(StoreError, match=r"damaged or cut short|was not written by softspread"):
            load(saved)


def test_a_file_of_a_later_version_is_refused(saved):
    """The message says what to do."""
    header, arrays = read_archive(saved, "estimator", FORMAT_VERSION)
    del header["version"], header["format"]
    write_archive(saved, "estimator", FORMAT_VERSION + 1, header, arrays)
    with pytest.raises(StoreError, match="upgrade softspread"):
        load(saved)


def test_a_file_with_a_part_missing_is_refused(saved):
    """Each part that is taken away is noticed, in the header and among the arrays."""
    header, arrays = read_archive(saved, "estimator", FORMAT_VERSION)
    del header["version"], header["format"]
    optional = {"item_ids", "votes.annotators", "graph.features"}
    for name in arrays.keys() - optional:
        write_archive(
            saved, "estimator", FORMAT_VERSION, header, {k: v for k, v in arrays.items() if k != name}
        )
        with pytest.raises(StoreError, match="lacks a part of a saved estimator"):
            load(saved)
    for name in header:
        write_archive(
            saved, "estimator", FORMAT_VERSION, {k: v for k, v in header.items() if k != name}, arrays
        )
        with pytest.raises(StoreError, match="lacks a part of a saved estimator"):
            load(saved)


def test_an_unknown_estimator_is_refused(saved):
    """A file cannot make us build anything but our own estimators."""
    header, arrays = read_archive(saved, "estimator", FORMAT_VERSION)
    del header["version"], header["format"]
    write_archive(saved, "estimator", FORMAT_VERSION, {**header, "class": "Popen"}, arrays)
    with pytest.raises(StoreError, match="Popen"):
        load(saved)


def test_a_graph_file_is_not_an_estimator_nor_the_reverse(tmp_path, saved, path_of_5):
    """Both messages name what the file holds."""
    path_of_5.save(tmp_path / "graph")
    with pytest.raises(StoreError, match="holds 'softspread/graph', expected a saved estimator"):
        load(tmp_path / "graph")
    with pytest.raises(StoreError, match="holds 'softspread/estimator', expected a saved graph"):
        type(path_of_5).load(saved)


def test_saving_something_else_is_refused_and_touches_nothing(tmp_path, saved):
    """An unfitted estimator, a foreign one, and one that no file can hold leave the old file as it is."""
    content = saved.read_bytes()
    with pytest.raises(NotFittedError):
        save(VoteHistogram(), saved)
    with pytest.raises(InputError, match="save takes one of"):
        save(BaseEstimator(), saved)
    generator = np.random.default_rng(0)
    with pytest.raises(StoreError, match="cannot save the parameter random_state"):
        save(
            ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=3, random_state=generator).fit(X, [0] * N),
            saved,
        )
    tuples = Votes.from_pairs([("a", 0)], ["x"])
    est = VoteHistogram().fit(X[:1], tuples, item_ids=[("a", 0)])
    with pytest.raises(StoreError, match="use strings or numbers"):
        save(est, saved)
    assert saved.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == [saved.name]


def test_the_header_is_plain_json(saved):
    """Any tool can see what a file holds."""
    with np.load(saved, allow_pickle=False) as file:
        header = json.loads(file["header"].tobytes())
    assert header["format"] == "softspread/estimator"
    assert header["parameters"]["n_neighbors"] == 4
