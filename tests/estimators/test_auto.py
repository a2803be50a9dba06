"""What "auto" does: parameters and annotators' weights chosen inside the estimator."""

from contextlib import nullcontext

import numpy as np
import pytest

from softspread import (
    InputError,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    SoftspreadWarning,
    Votes,
    load,
    save,
    tune,
)
from softspread.annotators.weighting import Weighting
from softspread.posterior.trust import log_likelihood
from softspread.votes.table import VoteTable

N_CLASSES = 4


@pytest.fixture(scope="module")
def crowd():
    """Four clouds of points, five honest annotators who err now and then, and one who never looks."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(N_CLASSES), 60)
    X = rng.normal(size=(len(truth), 3)) + 5 * np.eye(N_CLASSES)[truth][:, :3]
    rows = rng.integers(0, len(truth), 500)
    names = np.array(["ann", "bob", "cid", "dan", "eva", "spam"], dtype=object)[rng.integers(0, 6, 500)]
    blind = (names == "spam") | (rng.random(500) < 0.05)
    labels = np.where(blind, rng.integers(0, N_CLASSES, 500), truth[rows])
    return X, truth, rows, labels, names


def fitted(crowd, **parameters):
    X, _, rows, labels, names = crowd
    return ProbabilisticLabelSpreading(n_neighbors=10, **parameters).fit(
        X, Votes.from_pairs(rows, labels, names, repeats="keep")
    )


@pytest.mark.parametrize(
    "wrong",
    [{"alpha": "car"}, {"n_neighbors": "many"}, {"prior_strength": "strong"}, {"annotator_model": "trust"}],
    ids=str,
)
def test_other_words_are_refused(crowd, wrong):
    """The message names the parameter."""
    with pytest.raises(InputError, match=next(iter(wrong))):
        ProbabilisticLabelSpreading(**wrong).fit(crowd[0], [0, 1] * 120)


def test_auto_chooses_what_tune_chooses(crowd):
    """The estimator and the function use one rule."""
    X, _, rows, labels, _ = crowd
    votes = Votes.from_pairs(rows, labels)
    est = ProbabilisticLabelSpreading(alpha="auto", n_neighbors="auto").fit(X, votes)
    chosen = tune(X, votes, n_neighbors="auto")
    assert (est.alpha_, est.n_neighbors_) == (chosen.alpha, chosen.n_neighbors)
    assert est.tuning_.curve().equals(chosen.curve())
    given = ProbabilisticLabelSpreading(alpha=est.alpha_, n_neighbors=est.n_neighbors_).fit(X, votes)
    np.testing.assert_allclose(est.predict_proba(), given.predict_proba(), atol=1e-6)
    assert given.tuning_ is None


def test_auto_works_before_the_first_vote():
    """With nothing to choose by, the defaults stand."""
    X = np.arange(30.0)[:, None]
    est = ProbabilisticLabelSpreading(n_neighbors="auto", prior_strength="auto").fit(
        X, Votes.from_pairs([], [])
    )
    est.update(3, "yes")
    assert est.alpha_ == 0.9
    assert est.soft_labels_of([3]).tolist() == [[1.0]]


def test_a_spammer_counts_next_to_nothing_by_default(crowd):
    """Named votes of enough annotators are weighted without being asked."""
    truth = crowd[1]
    est, plain = fitted(crowd), fitted(crowd, annotator_model="none")
    table = est.annotators_.set_index("annotator")
    assert table["flag"].to_dict() == dict.fromkeys(["ann", "bob", "cid", "dan", "eva"], "ok") | {
        "spam": "does not follow"
    }
    wanted = np.eye(N_CLASSES)[truth]
    assert np.mean((est.predict_proba() - wanted) ** 2) < np.mean((plain.predict_proba() - wanted) ** 2)
    assert plain.annotators_["flag"].tolist() == est.annotators_["flag"].tolist()  # rated all the same


def test_votes_without_names_are_all_alike(crowd):
    """No table, no weights."""
    X, _, rows, labels, _ = crowd
    est = ProbabilisticLabelSpreading(n_neighbors=10).fit(X, Votes.from_pairs(rows, labels))
    assert est.annotators_ is None
    np.testing.assert_array_equal(est.predict_proba(), fitted(crowd, annotator_model="none").predict_proba())


def test_one_annotator_is_unknown_and_counts_fully(crowd):
    """Asked for by name, the neutral answer comes with a warning."""
    X, _, rows, labels, _ = crowd
    votes = Votes.from_pairs(rows, labels, ["ann"] * len(rows), repeats="keep")
    alone = "No item has a second vote"  # what one person says twice is one opinion
    with pytest.warns(SoftspreadWarning, match="at least 3"), pytest.warns(SoftspreadWarning, match=alone):
        est = ProbabilisticLabelSpreading(n_neighbors=10, annotator_model="consistency").fit(X, votes)
    assert est.annotators_["flag"].tolist() == ["unknown"]
    with pytest.warns(SoftspreadWarning, match=alone):
        plain = ProbabilisticLabelSpreading(n_neighbors=10, annotator_model="none").fit(X, votes)
    np.testing.assert_array_equal(est.predict_proba(), plain.predict_proba())


@pytest.mark.parametrize("model", ["auto", "consistency", "confusion"])
def test_a_random_crowd_is_unknown_and_counts_fully(crowd, model, tmp_path):
    """The soft labels are those without a model, also after saving; asked for by name, a warning says why."""
    X, _, rows, labels, names = crowd
    votes = Votes.from_pairs(rows, np.random.default_rng(0).permutation(labels), names, repeats="keep")
    asked = pytest.warns(SoftspreadWarning, match="predicted") if model != "auto" else nullcontext()
    with asked:
        est = ProbabilisticLabelSpreading(n_neighbors=10, annotator_model=model).fit(X, votes)
    plain = ProbabilisticLabelSpreading(n_neighbors=10, annotator_model="none").fit(X, votes)
    np.testing.assert_array_equal(est.predict_proba(), plain.predict_proba())
    save(est, tmp_path / "est")
    for one in (est, plain, load(tmp_path / "est")):
        assert set(one.annotators_["flag"]) == {"unknown"}


@pytest.mark.parametrize("model", ["consistency", "confusion"])
def test_undoing_weighted_votes_leaves_nothing(crowd, model):
    """Later votes by old and new annotators, and votes of the fit itself, can be taken back exactly."""
    _, _, rows, labels, names = crowd
    est = fitted(crowd, annotator_model=model)
    before = est.predict_proba()
    later = ([3, 4, 5, *rows[:5]], [0, 1, 2, *labels[:5]], ["ann", "new", "spam", *names[:5]])
    est.update(*later).undo(*later).refine()
    np.testing.assert_allclose(est.predict_proba(), before, atol=1e-6)
    est.undo(rows, labels, names).refine()
    assert est.evidence_.max() < 1e-5


@pytest.mark.parametrize("model", ["consistency", "confusion"])
def test_explanations_are_of_the_votes_as_they_count(crowd, model):
    """The weighted mean of the explaining votes is the soft label."""
    est = fitted(crowd, annotator_model=model)
    votes = est.explain(7, top=None)
    assert votes["weight"].sum() == pytest.approx(1)
    shares = votes.groupby("label")["weight"].sum().reindex(est.classes_, fill_value=0.0)
    np.testing.assert_allclose(shares, est.predict_proba()[7], atol=1e-4)


@pytest.mark.parametrize("model", ["auto", "confusion"])
def test_what_was_chosen_survives_saving(crowd, model, tmp_path):
    """A loaded estimator answers, explains and learns on alike."""
    est = fitted(crowd, alpha="auto", annotator_model=model)
    est.update([1, 2], [0, 3], ["bob", "new"])
    save(est, tmp_path / "est")
    again = load(tmp_path / "est")
    np.testing.assert_array_equal(again.predict_proba(), est.predict_proba())
    assert again.annotators_.equals(est.annotators_)
    assert again.tuning_.curve().equals(est.tuning_.curve())
    assert (again.alpha_, again.n_neighbors_) == (est.alpha_, est.n_neighbors_)
    for one in (est, again):
        one.update([8, 9], [1, 1], ["ann", "spam"]).undo([1], [0], ["bob"])
    np.testing.assert_array_equal(again.predict_proba(), est.predict_proba())


def test_a_weighting_changes_weights_only_where_it_knows_the_annotator(crowd):
    """Nobody's votes count 1, a newcomer's as the crowd's mean."""
    est = fitted(crowd)
    weighting: Weighting = est._weighting
    table = Votes.from_pairs([0, 1, 2], [0, 0, 0], np.array([None, "spam", "new"], dtype=object))
    counted = weighting.apply(VoteTable(np.arange(3), np.zeros(3, int), np.ones(3), table.annotators))
    nobody, spammer, newcomer = counted.weights
    assert nobody == 1
    assert spammer < 0.05
    assert 0.3 < newcomer < 1


@pytest.mark.parametrize("strategy", ["uncertainty", "uniform", "least_evidence"])
def test_queries_name_items_by_their_ids(crowd, strategy):
    """Each id once, the same for the same seed, none that was excluded."""
    X, _, rows, labels, _ = crowd
    ids = np.array([f"item {i}" for i in range(len(X))], dtype=object)
    est = ProbabilisticLabelSpreading(n_neighbors=10).fit(
        X, Votes.from_pairs(ids[rows], labels), item_ids=ids
    )
    picked = est.query(20, strategy, exclude=ids[:100], random_state=5)
    assert len(set(picked)) == 20
    assert not set(picked) & set(ids[:100])
    assert picked.tolist() == est.query(20, strategy, exclude=ids[:100], random_state=5).tolist()


def test_queries_at_large_alpha_follow_later_votes(crowd):
    """Above 0.95 items are chosen at 0.95, from a state that takes in new votes and classes."""
    X, _, rows, labels, _ = crowd
    votes = Votes.from_pairs(rows[:200], labels[:200])
    est = ProbabilisticLabelSpreading(alpha=0.99, n_neighbors=10).fit(X, votes)
    est.query(2, random_state=0)
    est.update(rows[200:], labels[200:]).update(0, N_CLASSES).refine()
    fresh = ProbabilisticLabelSpreading(alpha=0.99, n_neighbors=10).fit(
        X, votes + Votes.from_pairs(np.append(rows[200:], 0), np.append(labels[200:], N_CLASSES))
    )
    assert est.query(30, random_state=1).tolist() == fresh.query(30, random_state=1).tolist()


def test_calibrated_intervals_exist_for_fitted_items_only(crowd):
    """They hold the soft labels; new items are refused with what to use instead."""
    X, _, rows, labels, _ = crowd
    est = ProbabilisticLabelSpreading(n_neighbors=10).fit(X, Votes.from_pairs(rows, labels))
    p = est.predict_proba()
    lower, upper = est.predict_interval(method="calibrated")
    assert ((lower >= 0) & (lower <= p) & (p <= upper) & (upper <= 1)).all()
    wider = est.predict_interval(method="calibrated", confidence_level=0.99)
    assert ((wider[0] <= lower) & (upper <= wider[1])).all()
    with pytest.raises(InputError, match="wilson"):
        est.predict_interval(X[:2], method="calibrated")


def test_hoeffding_takes_new_items(crowd):
    """A copy of a fitted item is not surer than its neighbours."""
    X, _, rows, labels, _ = crowd
    est = ProbabilisticLabelSpreading(n_neighbors=10).fit(X, Votes.from_pairs(rows, labels))
    lower, upper = est.predict_interval(X[:5], method="hoeffding", lipschitz=0.1)
    p = est.predict_proba(X[:5])
    assert ((lower >= 0) & (lower <= p) & (p <= upper) & (upper <= 1)).all()


def test_counts_are_as_many_votes(crowd):
    """A table of counts gives the intervals of the same votes one by one."""
    X, _, rows, labels, _ = crowd
    counts = np.zeros((len(X), N_CLASSES))
    np.add.at(counts, (rows, labels), 1)
    one_by_one = ProbabilisticLabelSpreading(n_neighbors=10).fit(X, Votes.from_pairs(rows, labels))
    table = ProbabilisticLabelSpreading(n_neighbors=10).fit(X, counts)
    for method in ("hoeffding", "calibrated"):
        for end, other in zip(
            one_by_one.predict_interval(method=method), table.predict_interval(method=method), strict=True
        ):
            np.testing.assert_allclose(end, other, atol=1e-5)


def test_uncertainty_tells_disagreement_from_ignorance(crowd):
    """One row an item, with the reason in words."""
    X, _, rows, labels, _ = crowd
    ids = np.array([f"item {i}" for i in range(len(X))], dtype=object)
    est = ProbabilisticLabelSpreading(n_neighbors=10).fit(
        X, Votes.from_pairs(ids[rows], labels), item_ids=ids
    )
    frame = est.uncertainty()
    assert frame["item"].tolist() == ids.tolist()
    assert set(frame["verdict"]) <= {"clear", "ambiguous", "not enough votes"}


def test_quality_comes_from_held_out_votes_or_from_others(crowd):
    """Both ways give a number with an interval around it; a table of the wrong shape is refused."""
    X, truth, rows, labels, _ = crowd
    est = ProbabilisticLabelSpreading(n_neighbors=10).fit(X, Votes.from_pairs(rows, labels))
    rng = np.random.default_rng(0)
    further = np.zeros((len(X), N_CLASSES))
    further[::3] = [rng.multinomial(3, 0.8 * np.eye(N_CLASSES)[t] + 0.05) for t in truth[::3]]
    for found in (est.quality(random_state=0), est.quality(further, random_state=0)):
        assert found.rmse.lower <= found.rmse.value <= found.rmse.upper
        assert 0.5 < found.accuracy.value <= 1
    with pytest.raises(InputError, match="items by classes"):
        est.quality(further[:, :2])


@pytest.mark.parametrize("model", ["consistency", "confusion"])
def test_quality_sees_the_noise_of_votes_behind_weights(crowd, model):
    """Weighted votes are no whole votes; those of trusted annotators still show how often two people
    differ."""
    found = fitted(crowd, annotator_model=model).quality(random_state=0)
    plain = fitted(crowd, annotator_model="none").quality(random_state=0)
    assert found.n_repeated > 20
    assert found.noise.value < plain.noise.value  # the spammer's votes made much of it
    assert found.rmse.lower <= found.rmse.value <= found.rmse.upper


def test_calibrated_intervals_do_not_take_soft_votes_for_proof(crowd):
    """Confusion votes repeat what neighbours say; the width is that of the votes as cast."""
    soft = fitted(crowd, annotator_model="confusion")
    named = fitted(crowd, annotator_model="consistency")
    width = [np.mean(np.subtract(*est.predict_interval(method="calibrated")[::-1])) for est in (soft, named)]
    assert width[0] > 0.8 * width[1]


def test_wilson_contains_the_soft_label_also_with_a_strong_prior(crowd):
    """The prior is not a vote, so the interval alone would miss it."""
    X, _, rows, labels, _ = crowd
    prior = np.full(N_CLASSES, 0.1 / (N_CLASSES - 1))
    prior[0] = 0.9
    est = ProbabilisticLabelSpreading(n_neighbors=10, prior=prior, prior_strength=5.0)
    est.fit(X, Votes.from_pairs(rows, labels))
    lower, upper = est.predict_interval()
    p = est.predict_proba()
    assert ((lower <= p) & (p <= upper)).all()


# ------------------------------------------------------------------------------------------------ light votes
def test_a_light_vote_says_no_more_about_trust_than_its_weight():
    """One vote says nothing; a light second vote says its share of what a whole one would."""
    nus, m = np.array([0.1, 1.0, 100.0]), np.array([[0.7, 0.2, 0.1]] * 4, dtype=np.float32)
    counts = np.array([[0.3, 0, 0], [1, 0, 0], [1, 0.02, 0], [1, 1, 0]], dtype=float)
    light, one, slightly, fully = log_likelihood(nus, m, counts)
    np.testing.assert_allclose(light, 0.3 * np.log(0.7), rtol=1e-6)
    np.testing.assert_allclose(one, np.log(0.7), rtol=1e-6)
    np.testing.assert_allclose(slightly - one, 0.02 * (fully - one), rtol=1e-6)
    whole = np.log(nus * 0.7 * nus * 0.2 / (nus * (nus + 1)))  # Dirichlet-multinomial
    np.testing.assert_allclose(fully, whole, rtol=1e-6)


def test_weights_help_the_blend_where_spammers_vote():
    """Soft labels of SoftLabeler are better with annotators rated than without, also where votes overlap."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 50)
    X = rng.normal(size=(150, 2)) + 3 * np.eye(3)[truth][:, :2]
    rows, names = np.tile(np.arange(150), 4), np.tile(np.arange(8), 75)
    labels = np.where(names >= 5, rng.integers(0, 3, 600), truth[rows])
    votes = Votes.from_pairs(rows, labels, names, repeats="keep")
    error = {
        model: np.mean(
            (SoftLabeler(annotator_model=model).fit(X, votes).predict_proba() - np.eye(3)[truth]) ** 2
        )
        for model in ("none", "auto")
    }
    assert error["auto"] < 0.5 * error["none"]
