"""The recommended estimator: laws of its soft labels, intervals and live votes."""

import numpy as np
import pandas as pd
import pytest

from softspread import InputError, SoftLabeler, SoftspreadWarning, Votes, affinity_graph, load, save
from softspread.metrics import rmse

N = 90


def clusters(seed=0):
    """Three clusters in the plane, and the number of each item's cluster."""
    rng = np.random.default_rng(seed)
    truth = np.arange(N) % 3
    return 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth] + rng.normal(size=(N, 2)), truth


X, TRUTH = clusters()


def crowd(n_votes, seed=1, wrong=0.2):
    """Rows and columns of votes, most of them for the item's cluster."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, N, n_votes)
    columns = np.where(rng.random(n_votes) < wrong, rng.integers(0, 3, n_votes), TRUTH[rows])
    return rows, columns


def fitted(n_votes=60, **parameters):
    """Fitted to votes of a crowd."""
    rows, columns = crowd(n_votes)
    return SoftLabeler(n_neighbors=8, **parameters).fit(X, Votes.from_pairs(rows, columns), classes=[0, 1, 2])


def test_rows_sum_to_one_and_intervals_contain_the_soft_label():
    """At every level; nothing is NaN."""
    lab = fitted()
    p = lab.predict_proba()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    for level in (0.5, 0.9, 0.99):
        lower, upper = lab.predict_interval(confidence_level=level)
        assert ((lower >= 0) & (lower <= p) & (p <= upper) & (upper <= 1)).all()


def test_intervals_narrow_with_votes():
    """From few votes to many."""
    widths = [np.mean(np.subtract(*fitted(n).predict_interval()[::-1])) for n in (10, 60, 600)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.5 * widths[0]


def test_soft_labels_find_the_clusters():
    """More often right than the votes that they are made from."""
    lab = fitted(60)
    rows, columns = crowd(60)
    assert (lab.predict() == TRUTH).mean() > (columns == TRUTH[rows]).mean()


# ------------------------------------------------------------------------------------------------ laws
def shuffled(lab_of, votes_of, features=None):
    """Two fits of the same items and votes, the second in another order, and that order."""
    order = np.random.default_rng(5).permutation(N)
    place = np.argsort(order)
    rows, columns = votes_of
    first = lab_of().fit(X, Votes.from_pairs(rows, columns), features=features, classes=[0, 1, 2])
    moved = None if features is None else features[order]
    second = lab_of().fit(X[order], Votes.from_pairs(place[rows], columns), features=moved, classes=[0, 1, 2])
    return first, second, order


FEATURES = np.hstack([X, np.random.default_rng(7).normal(size=(N, 20))])


@pytest.mark.parametrize("features", [None, FEATURES], ids=["X", "features"])
def test_shuffling_the_items_shuffles_the_answer(features):
    """Folds and landmarks follow what items are, not where they stand: soft labels agree to 1e-6."""
    first, second, order = shuffled(lambda: SoftLabeler(n_neighbors=8), crowd(60), features)
    np.testing.assert_allclose(second.predict_proba(), first.predict_proba()[order], atol=1e-6)
    for mine, theirs in zip(second.predict_interval(), first.predict_interval(), strict=True):
        np.testing.assert_allclose(mine, theirs[order], atol=1e-5)
    pd.testing.assert_series_equal(first.weights_.sort_index(), second.weights_.sort_index(), atol=1e-6)


def test_renaming_the_classes_permutes_the_columns():
    """To the accuracy of the classifiers' solver."""
    rows, columns = crowd(60)
    votes = Votes.from_pairs(rows, columns)
    first = SoftLabeler(n_neighbors=8).fit(X, votes, classes=[0, 1, 2])
    second = SoftLabeler(n_neighbors=8).fit(X, votes, classes=[2, 0, 1])
    np.testing.assert_allclose(second.predict_proba(), first.predict_proba()[:, [2, 0, 1]], atol=1e-3)


def test_votes_in_any_order_at_once_or_after_a_refit_are_the_same():
    """One by one and then learned again is one fit."""
    rows, columns = crowd(60)
    order = np.random.default_rng(2).permutation(60)
    batch = fitted(60)
    again = SoftLabeler(n_neighbors=8).fit(
        X, Votes.from_pairs(rows[order], columns[order]), classes=[0, 1, 2]
    )
    np.testing.assert_allclose(again.predict_proba(), batch.predict_proba(), atol=1e-9)
    live = SoftLabeler(n_neighbors=8).fit(X, Votes.from_pairs(rows[:50], columns[:50]), classes=[0, 1, 2])
    for row, column in zip(rows[50:], columns[50:], strict=True):
        live.update(row, column)
    np.testing.assert_allclose(live.refit().predict_proba(), batch.predict_proba(), atol=1e-9)


def test_live_votes_move_soft_labels_towards_the_refit():
    """Before it learns again, an update is much nearer to the batch than no update."""
    lab = fitted(60)
    before = lab.predict_proba()
    lab.update([3, 3, 3, 3], [1, 1, 1, 1])
    live = lab.predict_proba()
    batch = lab.refit().predict_proba()
    assert np.abs(live - batch)[3].max() < 0.3 * np.abs(before - batch)[3].max()


def test_update_then_undo_is_nothing_exactly():
    """Soft labels, evidence and intervals are those of the fit to the last bit."""
    lab = fitted(60)
    before = lab.soft_labels()
    lab.update([3, 4, 3], [0, 1, 2]).undo([3, 3], [2, 0])
    assert np.abs(lab.predict_proba() - before.p).max() > 1e-3
    after = lab.undo(4, 1).soft_labels()
    for name in ("p", "evidence", "lower", "upper", "verdict"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


def test_a_vote_of_the_fit_taken_back_is_gone_after_a_refit():
    """And moves the answer at once."""
    rows, columns = crowd(60)
    lab = fitted(60).undo(rows[0], columns[0])
    assert lab._live.unchanged is False
    rest = SoftLabeler(n_neighbors=8).fit(X, Votes.from_pairs(rows[1:], columns[1:]), classes=[0, 1, 2])
    np.testing.assert_allclose(lab.refit().predict_proba(), rest.predict_proba(), atol=1e-9)


def test_soft_labels_of_a_few_are_those_of_all():
    """Also right after an update."""
    lab = fitted(60)
    few = lab.soft_labels_of([5, 2, 5])
    np.testing.assert_allclose(few, lab.predict_proba()[[5, 2, 5]], rtol=1e-12)
    lab.update(5, 0)
    np.testing.assert_allclose(lab.soft_labels_of([5, 2]), lab.predict_proba()[[5, 2]], atol=1e-6)


def test_heavier_votes_say_more_and_light_ones_next_to_nothing():
    """A vote of weight 3 pulls more than one of weight 1; all votes at 1e-6 leave everything open."""
    rows, columns = crowd(60)
    base = fitted(60).predict_proba()
    p = [fitted(60).update(4, 2, weights=w).predict_proba()[4, 2] for w in (0.2, 1.0, 3.0)]
    assert base[4, 2] < p[0] < p[1] < p[2]
    faint = SoftLabeler(n_neighbors=8).fit(X, Votes.from_pairs(rows, columns, weights=1e-6))
    assert np.subtract(*faint.predict_interval()[::-1]).mean() > 0.95


def test_a_soft_vote_counts_by_its_parts():
    """Half a vote each for two classes is less sharp than a whole one, and no class is preferred."""
    counts = np.zeros((N, 3))
    np.add.at(counts, crowd(60), 1.0)
    counts[8] = [0.5, 0.5, 0.0]
    half = SoftLabeler(n_neighbors=8).fit(X, counts).vote_counts_
    np.testing.assert_array_equal(half, counts)


def test_a_failed_update_leaves_the_estimator_as_it_was(monkeypatch):
    """Half of the states have followed the vote when it fails; votes, names and answers are as before."""
    lab = fitted(60).update(1, 0)
    before, n_votes = lab.predict_proba(), len(lab.votes_)
    last = list(lab._live._states.values())[-1]
    monkeypatch.setattr(last, "add", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lab.update([2, 3], [1, 2])
    monkeypatch.undo()
    assert len(lab.votes_) == n_votes
    np.testing.assert_allclose(lab.predict_proba(), before, atol=1e-6)
    np.testing.assert_allclose(
        lab.update([2, 3], [1, 2]).refine().predict_proba(),
        fitted(60).update([1, 2, 3], [0, 1, 2]).refine().predict_proba(),
        atol=1e-5,
    )


def test_a_failed_refit_leaves_the_estimator_as_it_was(monkeypatch):
    """Weights, trust and soft labels stay those of the fit before."""
    lab = fitted(60).update(1, 0)
    before, weights = lab.predict_proba(), lab.weights_
    monkeypatch.setattr("softspread.estimators.labeler.fit_blend", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lab.refit()
    np.testing.assert_array_equal(lab.predict_proba(), before)
    pd.testing.assert_series_equal(lab.weights_, weights)


def test_many_votes_since_the_fit_make_it_learn_again():
    """After a quarter more votes, by itself: the answer is that of one fit."""
    rows, columns = crowd(60, seed=9)
    lab = fitted(60).update(rows[:30], columns[:30])
    assert lab._n_fitted == 90
    both = SoftLabeler(n_neighbors=8).fit(X, lab.votes_, classes=[0, 1, 2])
    np.testing.assert_allclose(lab.predict_proba(), both.predict_proba(), atol=1e-9)


# ------------------------------------------------------------------------------------- little to go by
def assert_defined(lab):
    """Finite, rows sum to 1, intervals contain the soft label; every question has an answer."""
    labels = lab.soft_labels()
    assert np.isfinite(labels.p).all()
    np.testing.assert_allclose(labels.p.sum(axis=1), 1, atol=1e-9)
    assert ((labels.lower <= labels.p + 1e-9) & (labels.p <= labels.upper + 1e-9)).all()
    assert (np.isfinite(labels.evidence) & (labels.evidence > 0)).all()
    assert lab.weights_.sum() == pytest.approx(1)
    assert lab.trust_["probability"].sum() == pytest.approx(1)
    assert lab.predict_set(random_state=0).any(axis=1).all()
    assert lab.explain(0, top=None)["weight"].sum() == pytest.approx(1)
    assert len(lab.query(1, random_state=0)) == 1
    assert len(lab.uncertainty()) == lab.n_items_
    if lab.graph_.features is not None:
        assert np.isfinite(lab.predict_proba(lab.graph_.features[:2] + 0.1)).all()
    before = lab.predict_proba()
    np.testing.assert_allclose(
        lab.update(0, lab.classes_[0]).undo(0, lab.classes_[0]).predict_proba(), before, atol=1e-9
    )
    np.testing.assert_allclose(lab.refit().predict_proba(), before, atol=1e-6)
    return labels


NONE = Votes.from_pairs([], [])
A = np.zeros((6, 6))
A[0, 1] = A[1, 0] = 1.0
A[2, 3] = A[3, 2] = 0.5
BLANK = [-1] * (N - 2)
UNKNOWN = {  # nothing in these votes says how far they go: what must stay wide
    "no vote": lambda: (X, NONE, [0, 1, 2]),
    "one vote": lambda: (X, Votes.from_pairs([3], [1]), [0, 1, 2]),
    "two votes that differ": lambda: (X, [0, 1, *BLANK], None),
    "all taken back": lambda: (X, Votes.from_pairs([0, 0], [0, 0], weights=[1, -1]), [0, 1]),
    "all on one item": lambda: (X, Votes.from_pairs([7] * 30, [0] * 20 + [1] * 10), [0, 1, 2]),
    "coinciding points": lambda: (np.zeros((N, 2)), [0, 1, *BLANK], None),
    "an outlier": lambda: (np.vstack([X[:-1], [[1e9, 1e9]]]), [0, 1, *BLANK], None),
    "one item": lambda: (X[:1], [[2, 1]], None),
    "two items": lambda: (X[:2], [0, 1], None),
    "three items": lambda: (X[:3], [0, -1, 1], None),
    "no edge": lambda: (affinity_graph(np.zeros((6, 6))), [0, -1, 1, -1, -1, -1], None),
    "an affinity": lambda: (affinity_graph(A), [0, -1, 1, -1, -1, -1], None),
}


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
@pytest.mark.parametrize("case", UNKNOWN.values(), ids=UNKNOWN)
def test_where_votes_cannot_tell_intervals_stay_wide(case):
    """Defined, never NaN, and nearly everything is left open."""
    items, votes, classes = case()
    lab = SoftLabeler(n_neighbors=5).fit(items, votes, classes=classes)
    labels = assert_defined(lab)
    assert (labels.upper - labels.lower).mean() > 0.6
    assert lab.advice_ is not None


KNOWN = {
    "one class": lambda: ({}, X, Votes.from_pairs(np.arange(20), ["a"] * 20), {}),
    "one vote, one class": lambda: ({}, X, Votes.from_pairs([3], ["a"]), {}),
    "no second vote": lambda: ({}, X, np.arange(N) % 3, {}),
    "a hundred classes": lambda: ({}, X, Votes.from_pairs(*crowd(80)), {"classes": list(range(100))}),
    "more neighbours than items": lambda: ({"n_neighbors": 500}, X, Votes.from_pairs(*crowd(80)), {}),
    "annotators who contradict": lambda: (
        {},
        X,
        Votes.from_pairs(np.repeat(np.arange(N), 2), [0, 1] * N, ["a", "b"] * N),
        {},
    ),
    "pairs of the same place": lambda: (
        {},
        np.repeat(X[: N // 2], 2, axis=0),
        Votes.from_pairs(*crowd(80)),
        {},
    ),
    "fractions": lambda: ({}, X, np.random.default_rng(0).dirichlet([1, 1, 1], N), {}),
    "heavy votes": lambda: ({}, X, 1e4 * np.eye(3)[TRUTH], {}),
    "alpha 0": lambda: ({"alpha": 0.0}, X, Votes.from_pairs(*crowd(80)), {}),
    "alpha .999": lambda: ({"alpha": 0.999}, X, Votes.from_pairs(*crowd(80)), {}),
    "a sure prior that is wrong": lambda: (
        {"prior": np.eye(3)[(TRUTH + 1) % 3]},
        X,
        np.eye(3)[TRUTH] * 2,
        {},
    ),
    "single precision": lambda: ({}, X.astype(np.float32), Votes.from_pairs(*crowd(80)), {}),
    "constant features": lambda: ({}, X, Votes.from_pairs(*crowd(80)), {"features": np.ones((N, 4))}),
}


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
@pytest.mark.parametrize("case", KNOWN.values(), ids=KNOWN)
def test_odd_votes_and_items_have_defined_answers(case):
    """Every question has a finite answer, before and after further votes."""
    parameters, items, votes, more = case()
    assert_defined(SoftLabeler(**{"n_neighbors": 5, **parameters}).fit(items, votes, **more))


def test_a_thousand_classes():
    """With fewer votes than classes; a class without votes stays possible everywhere, likely nowhere."""
    rng = np.random.default_rng(0)
    votes = Votes.from_pairs(np.repeat(np.arange(N), 2), rng.integers(1000, size=2 * N))
    lab = SoftLabeler(n_neighbors=5).fit(X, votes, classes=list(range(1000)))
    p = lab.predict_proba()
    silent = np.flatnonzero(lab.vote_counts_.sum(axis=0) == 0)
    assert (p[:, silent] > 0).all()
    assert p[:, silent].max() < 0.01
    assert lab.predict_interval()[1][:, silent].min() >= 0.02


def test_no_votes_answer_with_the_prior_and_then_with_the_shares():
    """A prior as it is; without one all classes are alike; a class nobody named stays possible."""
    prior = np.random.default_rng(0).dirichlet([1, 1, 1], N)
    given = SoftLabeler(n_neighbors=5, prior=prior).fit(X, NONE, classes=[0, 1, 2])
    np.testing.assert_allclose(given.predict_proba(), prior, atol=1e-3)
    plain = SoftLabeler(n_neighbors=5).fit(X, NONE, classes=[0, 1, 2])
    np.testing.assert_allclose(plain.predict_proba(), 1 / 3, atol=1e-6)
    lower, upper = plain.predict_interval()
    assert (upper - lower).min() > 0.95


def test_without_a_class_questions_are_refused_until_one_is_known():
    """The message says what to do; the first vote opens everything."""
    lab = SoftLabeler(n_neighbors=5).fit(X, NONE)
    with pytest.raises(InputError, match="no class is known yet"):
        lab.predict_proba()
    with pytest.raises(InputError, match="no class is known yet"):
        lab.explain(0)
    assert lab.update(3, "a").predict()[3] == "a"
    assert lab.update(4, "b").predict_proba().shape == (N, 2)


# ------------------------------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((N - 1, 3)), "one row per item"),
        (np.full((N, 3), np.nan), "features contains NaN"),
        (np.full((N, 3), np.inf), "features contains infinity"),
        ([["a", "b"]] * N, "features: could not convert"),
        (np.ones(N), "features: Expected 2D"),
        (np.full((N, 2), 1e200), "features holds values up to"),
    ],
    ids=["rows", "nan", "inf", "words", "flat", "huge"],
)
def test_bad_features_are_refused_by_name(features, message):
    """And an earlier fit stays."""
    lab = fitted(60)
    before = lab.predict_proba()
    with pytest.raises(InputError, match=message):
        lab.fit(X, Votes.from_pairs(*crowd(60)), features=features)
    np.testing.assert_array_equal(lab.predict_proba(), before)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"prior": np.vstack([np.zeros((1, 3)), np.ones((N - 1, 3))])}, "row 0 of the prior sums to 0"),
        ({"prior": np.ones((N - 1, 3))}, "prior"),
        ({"classifier": "forest"}, "classifier"),
        ({"alpha": 1.0}, "alpha"),
        ({"alpha": "fast"}, "alpha"),
        ({"annotator_model": "trust"}, "annotator_model"),
        ({"n_neighbors": 0}, "n_neighbors"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    """With the name of the parameter."""
    with pytest.raises(InputError, match=message):
        SoftLabeler(**parameters).fit(X, Votes.from_pairs(*crowd(60)), classes=[0, 1, 2])


def test_votes_never_cast_cannot_be_taken_back():
    """Nothing changes."""
    lab = fitted(60)
    n_votes = len(lab.votes_)
    with pytest.raises(InputError, match="never cast"):
        lab.undo(0, "nobody")
    with pytest.raises(InputError):
        lab.undo([0] * 50, [0] * 50)
    assert len(lab.votes_) == n_votes


# ---------------------------------------------------------------------------------- new items, features
def test_new_items_are_answered_by_classifiers_on_their_features():
    """Unreduced features that know the class make a new item in the middle clear; without them it is not."""
    known = np.hstack([6.0 * np.eye(3)[TRUTH], np.random.default_rng(1).normal(size=(N, 3))])
    rows, columns = crowd(200, wrong=0.02)
    blurred = np.random.default_rng(2).normal(size=(N, 2))
    lab = SoftLabeler(n_neighbors=8).fit(blurred, Votes.from_pairs(rows, columns), features=known)
    new = np.zeros((3, 2))
    sure = lab.predict_proba(new, features=known[:3])
    assert sure.argmax(axis=1).tolist() == TRUTH[:3].tolist()
    assert (sure.max(axis=1) > lab.predict_proba(new).max(axis=1)).all()
    lower, upper = lab.predict_interval(new, features=known[:3])
    assert ((lower <= sure) & (sure <= upper)).all()
    with pytest.raises(InputError, match=r"shape \(3, 6\)"):
        lab.predict_proba(new, features=known[:2])
    with pytest.raises(InputError, match="pass their X too"):
        lab.predict_proba(features=known)
    with pytest.raises(InputError, match="fit was given no features"):
        fitted(60).predict_proba(new, features=known[:3])


def test_batches_with_features_are_one_fit():
    """Known names bring no new row; every batch has features or none has."""
    ids = [f"i{row}" for row in range(N)]
    rows, columns = crowd(80)

    def votes(part):
        mine = np.isin(rows, part)
        return Votes.from_pairs([ids[row] for row in rows[mine]], columns[mine], classes=[0, 1, 2])

    def names(part):
        return [ids[row] for row in part]

    head, tail = np.arange(50), np.arange(45, N)
    lab = SoftLabeler(n_neighbors=8)
    lab.partial_fit(X[head], votes(head), [0, 1, 2], item_ids=names(head), features=FEATURES[head])
    fresh = votes(np.arange(50, N))
    lab.partial_fit(X[tail], fresh, item_ids=names(tail), features=FEATURES[tail])
    whole = SoftLabeler(n_neighbors=8).fit(
        X, votes(np.arange(N)), item_ids=ids, features=FEATURES, classes=[0, 1, 2]
    )
    np.testing.assert_allclose(lab.predict_proba(), whole.predict_proba(), atol=1e-6)
    with pytest.raises(InputError, match="every batch has features"):
        lab.partial_fit(X[:2] + 9, NONE, item_ids=["x", "y"])
    with pytest.raises(InputError, match="item"):
        lab.partial_fit(X[:2] + 9, NONE, item_ids=["x"], features=FEATURES[:2])


def test_the_frame_is_that_of_the_soft_labels():
    """One row per item."""
    lab = fitted(60)
    pd.testing.assert_frame_equal(lab.to_frame(), lab.soft_labels().to_frame())


def test_learned_facts_are_shares():
    """Weights by expert, trust as a distribution, the mode's probabilities."""
    lab = fitted(200)
    assert lab.weights_.is_monotonic_decreasing
    assert lab.weights_.sum() == pytest.approx(1)
    assert lab.trust_["probability"].sum() == pytest.approx(1)
    np.testing.assert_allclose(lab.mode_probabilities(random_state=0).sum(axis=1), 1)
    sets = [lab.predict_set(level, random_state=0).sum() for level in (0.5, 0.9, 0.99)]
    assert sets == sorted(sets)
    with pytest.raises(InputError, match="n_draws"):
        lab.mode_probabilities(0)
    with pytest.raises(InputError, match="confidence_level"):
        lab.predict_set(1.5)


# ------------------------------------------------------------------------------------------- models that vote
def model_task(samples=2, people=60):
    """Two clouds; a person with some votes, two models with votes on every item, asked several times."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 75)
    X = rng.normal(size=(150, 2)) + 2 * truth[:, None]
    rows = rng.choice(150, people, replace=False)
    parts = [(rows, truth[rows], "ann")]
    for name, share in (("gpt", 0.1), ("claude", 0.3)):
        flipped = rng.random((samples, 150)) < share
        parts += [(np.arange(150), np.where(flip, 1 - truth, truth), name) for flip in flipped]
    items, labels, names = zip(*parts, strict=True)
    who = np.repeat(names, [len(part) for part in items])
    return X, Votes.from_pairs(np.concatenate(items), np.concatenate(labels), who), truth


MODELS = ["gpt", "claude"]


def test_votes_of_models_are_no_votes_of_people():
    """Own votes, annotators, quality and queries know people alone; the models have a list of their own."""
    X, votes, truth = model_task()
    lab = SoftLabeler(random_state=0).fit(X, votes, model_annotators=MODELS)
    assert len(lab.votes_) == lab.vote_counts_.sum() == lab.quality().n_votes == 60
    assert lab.annotators_["annotator"].tolist() == ["ann"]
    assert len(lab.model_votes_) == 600
    assert lab.model_annotators_ == ("gpt", "claude")
    assert lab.judge_report().to_frame()["compared"].tolist() == [60, 60]
    assert (lab.transduction_ == truth).mean() > 0.9
    shares = lab.explain(0, None).groupby("source")["weight"].sum()
    assert shares["models"] > 0.05
    assert shares.sum() == pytest.approx(1)


def test_many_samples_of_a_model_count_as_one_soft_vote():
    """Every vote of a model ten times over is the same answer."""
    X, votes, _ = model_task(samples=1)
    who = votes.annotators == "ann"
    again = np.concatenate([np.flatnonzero(who), np.repeat(np.flatnonzero(~who), 10)])
    tenfold = Votes.from_pairs(votes.items[again], votes.labels[again], votes.annotators[again])
    one, ten = (SoftLabeler(random_state=0).fit(X, y, model_annotators=MODELS) for y in (votes, tenfold))
    np.testing.assert_allclose(one.predict_proba(), ten.predict_proba(), atol=1e-12)


def test_later_votes_of_models_are_learned_and_taken_back(tmp_path):
    """Update is a fit to all votes; undo is nothing; a file answers and learns on the same."""
    X, votes, _ = model_task()
    late = np.flatnonzero((votes.annotators == "gpt") & (votes.items < 5))
    early = np.setdiff1d(np.arange(len(votes)), late)
    lab = SoftLabeler(random_state=0).fit(X, part_of(votes, early), model_annotators=MODELS)
    before = lab.predict_proba()
    save(lab, tmp_path / "lab.softspread")
    other = load(tmp_path / "lab.softspread")
    whole = SoftLabeler(random_state=0).fit(X, votes, model_annotators=MODELS)
    new = votes.items[late], votes.labels[late], votes.annotators[late]
    for est in (lab, other):
        np.testing.assert_array_equal(est.predict_proba(), before)
        est.update(*new)
        np.testing.assert_allclose(est.predict_proba(), whole.predict_proba(), atol=1e-10)
        assert repr(est.judge_report()) == repr(whole.judge_report())
        est.undo(*new)
        np.testing.assert_allclose(est.predict_proba(), before, atol=1e-10)


def part_of(votes, rows):
    return Votes.from_pairs(votes.items[rows], votes.labels[rows], votes.annotators[rows])


def test_models_alone_answer_and_it_says_that_nothing_checks_them():
    """A warning, the advice, and intervals; quality has nothing to go by."""
    X, votes, truth = model_task()
    models = part_of(votes, np.flatnonzero(votes.annotators != "ann"))
    with pytest.warns(SoftspreadWarning, match="No person has voted"):
        lab = SoftLabeler(random_state=0).fit(X, models, model_annotators=MODELS)
    assert "nothing checks it" in lab.advice_
    assert (lab.transduction_ == truth).mean() > 0.85
    assert lab.soft_labels().width.mean() > 0.3
    with pytest.raises(InputError, match="no votes"):
        lab.quality()


def test_models_that_guess_hardly_move_anything():
    """Three of them, with votes on every item."""
    X, votes, truth = model_task()
    people = part_of(votes, np.flatnonzero(votes.annotators == "ann"))
    rng = np.random.default_rng(3)
    noise = Votes.from_pairs(
        np.tile(np.arange(150), 3), rng.integers(2, size=450), np.repeat(["a", "b", "c"], 150)
    )
    alone = SoftLabeler(random_state=0).fit(X, people)
    beside = SoftLabeler(random_state=0).fit(X, people + noise, model_annotators=["a", "b", "c"])
    wanted = np.eye(2)[truth]
    assert rmse(beside.predict_proba(), wanted) < 1.02 * rmse(alone.predict_proba(), wanted)


@pytest.mark.parametrize("kind", ["ordinal", "multilabel"])
def test_models_vote_beside_people_in_other_kinds(kind):
    """Grades, and yes or no to each of two classes."""
    X, votes, truth = model_task()
    if kind == "multilabel":
        table = np.stack([votes.labels, 1 - votes.labels], axis=1)
        votes = Votes.from_multilabel(table, votes.items, votes.annotators)
    lab = SoftLabeler(kind=kind, random_state=0).fit(X, votes, model_annotators=MODELS)
    p = lab.predict_proba()
    assert ((p[:, 0 if kind == "multilabel" else 1] > 0.5) == truth).mean() > 0.9
    assert lab.model_annotators_ == ("gpt", "claude")


def test_items_that_come_and_go_keep_the_models():
    """An item with a model's vote asks as one with a person's; new ones are answered by their neighbours."""
    X, votes, _ = model_task()
    lab = SoftLabeler(random_state=0).fit(X, votes, model_annotators=MODELS)
    with pytest.raises(InputError, match="drop_votes=True"):
        lab.remove_items([149])
    lab.remove_items([149], drop_votes=True)
    assert not (lab.model_votes_.items == 149).any()
    lab.add_items(X[149:])
    assert lab.predict_proba().shape == (150, 2)


def test_what_models_cannot_do_is_refused():
    """And nothing changes."""
    X, votes, _ = model_task()
    for y, message in ((np.zeros(150, int), "names nobody"), (votes, "by whom there is no vote")):
        with pytest.raises(InputError, match=message):
            SoftLabeler().fit(X, y, model_annotators=["gtp"])
    lab = SoftLabeler(random_state=0).fit(X, votes, model_annotators=MODELS)
    before = lab.predict_proba()
    with pytest.raises(InputError, match="never cast"):
        lab.undo([0, 0, 0], [1, 1, 1], ["gpt"] * 3)
    with pytest.raises(InputError, match="no class yet"):
        lab.update([0], [7], ["gpt"])
    with pytest.raises(InputError, match="beside models learns from all"):
        lab.partial_fit(X[:2], [0, 1])
    np.testing.assert_array_equal(lab.predict_proba(), before)
    with pytest.raises(InputError, match="no annotator is a model"):
        SoftLabeler().fit(X, [0, 1] * 75).judge_report()
