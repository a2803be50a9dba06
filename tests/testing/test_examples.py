"""The inputs on which parts are checked hold the awkward cases that they promise."""

import numpy as np

from softspread.testing.examples import N_ITEMS, clustered_graph, clustered_items, vote_counts


def test_items_coincide_and_one_is_isolated():
    """Two on the same spot, the last one without neighbours, with and without features."""
    X = clustered_items()
    assert (X[0] == X[1]).all()
    for features in (True, False):
        graph = clustered_graph(features=features)
        assert (graph.features is not None) is features
        assert graph.isolated.tolist() == [False] * (N_ITEMS - 1) + [True]


def test_votes_are_as_many_as_asked_and_miss_the_isolated_item():
    """Whole votes, on some items several."""
    counts = vote_counts(300)
    assert counts.sum() == 300
    assert counts[-1].sum() == 0
    assert (counts.sum(axis=1) >= 2).sum() > 50
    assert vote_counts(0).shape == (N_ITEMS, 3)
    assert np.array_equal(vote_counts(50, 1).sum(axis=1), vote_counts(50).sum(axis=1))
