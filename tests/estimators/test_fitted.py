"""What a fitted SoftLabeler holds."""

import numpy as np

from softspread import SoftLabeler, Votes
from softspread.estimators.fitted import parts_of
from softspread.votes.table import VoteTable


def fitted(annotators=None, **given):
    """A small fit."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    items = np.arange(0, 60, 2)
    votes = Votes.from_pairs(items, (X[items, 0] > 0).astype(int), annotators)
    return SoftLabeler(n_neighbors=5, random_state=0).fit(X, votes, **given)


def test_parts_are_those_that_the_labeler_answers_by():
    """The posterior of the fit gives the labeler's soft labels, and the votes are its votes."""
    labeler = fitted()
    parts = parts_of(labeler)
    np.testing.assert_allclose(parts.live.at_fit.mean(), labeler.predict_proba(), rtol=0, atol=1e-12)
    assert len(parts.votes) == len(labeler.votes_)
    assert parts.features is None
    assert parts.diffusion.graph is labeler.graph_


def test_unrated_votes_count_as_they_were_cast():
    """Without a weighting, further votes stay as they are."""
    parts = parts_of(fitted())
    votes = VoteTable(np.array([1]), np.array([0]), np.ones(1))
    assert parts.weighting is None
    assert parts.counted(votes) is votes


def test_votes_of_rated_people_count_by_their_weights():
    """With a weighting, further votes count as the weighting says."""
    names = np.array(["ann", "bob", "eve"])[np.arange(30) % 3]
    parts = parts_of(fitted(names))
    votes = VoteTable(np.array([1]), np.array([0]), np.ones(1), np.array(["ann"], dtype=object))
    if parts.weighting is not None:
        expected = parts.weighting.apply(votes)
        np.testing.assert_array_equal(parts.counted(votes).weights, expected.weights)
    else:
        assert parts.counted(votes) is votes
