"""A classifier of the votes as prior."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import InputError, ProbabilisticLabelSpreading, Votes, better_of, classifier_prior
from softspread.metrics import rmse


def line_votes(n_votes=60, dimension=2):
    """150 items on both sides of a plane, and votes that know the side."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, dimension))
    items = rng.integers(150, size=n_votes)
    labels = (X[items, 0] > 0).astype(int)
    return X, Votes.from_pairs(items, labels, classes=[0, 1])


def test_the_prior_of_a_voted_item_does_not_depend_on_its_own_votes():
    """Turning one item's votes round changes every prediction but those for its own part of the items."""
    X, votes = line_votes()
    item = votes.items[0]
    labels = np.where(votes.items == item, 1 - votes.labels, votes.labels)
    other = Votes.from_pairs(votes.items, labels, classes=[0, 1])
    before, after = (classifier_prior(X, some, classes=[0, 1], random_state=3) for some in (votes, other))
    pulled = np.abs(after - before)[:, 0]
    mixed_in = 1 / len(votes)  # the class frequencies, worth one vote
    assert pulled[item] <= mixed_in
    assert np.median(pulled) > pulled[item]


def test_the_prior_is_a_soft_label_without_zeros():
    """Rows sum to 1 and every class stays possible, also one that nobody named, and with no vote at all."""
    X, votes = line_votes()
    for some in (votes, Votes.from_pairs([3], [1], classes=[0, 1]), Votes.from_pairs([], [], classes=[0, 1])):
        p = classifier_prior(X, some, classes=[0, 1, 2], random_state=0)
        assert_allclose(p.sum(axis=1), 1)
        assert (p > 0).all()


def test_ids_and_class_names_are_kept_apart_from_positions():
    """Named items and classes give the table that positions give."""
    X, votes = line_votes()
    names = np.array([f"item {number}" for number in range(150)], dtype=object)
    named = Votes.from_pairs(
        names[votes.items.astype(int)], np.array(["no", "yes"], dtype=object)[votes.labels]
    )
    by_name = classifier_prior(X, named, item_ids=names, random_state=0)
    assert_allclose(by_name, classifier_prior(X, votes, random_state=0))


def test_where_a_plane_parts_the_classes_the_prior_helps():
    """In ten dimensions neighbours know little of a plane that a classifier finds."""
    X, votes = line_votes(200, dimension=10)
    truth = np.eye(2)[(X[:, 0] > 0).astype(int)]
    prior = classifier_prior(X, votes, random_state=0)
    auto = {"alpha": "auto", "n_neighbors": 10, "prior_strength": "auto"}
    plain, helped = (
        ProbabilisticLabelSpreading(**auto, prior=given).fit(X, votes) for given in (None, prior)
    )
    assert better_of(plain, helped) is helped
    assert rmse(truth, helped.predict_proba()) < rmse(truth, plain.predict_proba())


def test_a_prior_that_does_not_help_is_left_out():
    """Shuffled predictions foretell no vote."""
    X, votes = line_votes(200)
    shuffled = np.random.default_rng(0).permutation(classifier_prior(X, votes, random_state=0))
    auto = {"alpha": "auto", "n_neighbors": 10, "prior_strength": "auto"}
    plain, helped = (
        ProbabilisticLabelSpreading(**auto, prior=given).fit(X, votes) for given in (None, shuffled)
    )
    assert better_of(plain, helped) is plain


def test_fits_without_a_score_are_not_compared():
    """A score comes only with a choice."""
    X, votes = line_votes(200)
    chosen = ProbabilisticLabelSpreading(alpha="auto", n_neighbors=10).fit(X, votes)
    given = ProbabilisticLabelSpreading(alpha=0.5, n_neighbors=10).fit(X, votes)
    for pair in ((chosen, given), (given, chosen)):
        with pytest.raises(InputError, match="auto"):
            better_of(*pair)


def test_with_too_few_votes_for_a_score_the_prior_stays_out():
    """One vote leaves none to hold out against."""
    X, votes = line_votes(1)
    auto = {"alpha": "auto", "n_neighbors": 10, "prior_strength": "auto"}
    prior = classifier_prior(X, votes, random_state=0)
    plain, helped = (
        ProbabilisticLabelSpreading(**auto, prior=given).fit(X, votes) for given in (None, prior)
    )
    assert np.isnan(helped.tuning_.best.score)
    assert better_of(plain, helped) is plain


def test_wrong_folds_and_votes_are_refused():
    """With one part nobody would be left to learn from."""
    X, votes = line_votes()
    with pytest.raises(InputError, match="n_folds"):
        classifier_prior(X, votes, n_folds=1)
    with pytest.raises(InputError, match="150"):
        classifier_prior(X, np.zeros(3, dtype=int))
