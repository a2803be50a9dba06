"""The map of the items."""

import numpy as np
import pytest

from softspread.web.project.item_map import RULE, MapRule, load_or_map, map_items
from web.conftest import three_clusters


def test_the_map_keeps_neighbours_together():
    """Items of a cluster lie nearer to each other than to others, and everything fits the unit square."""
    X, truth = three_clusters(90)
    found = map_items(X)
    assert (found.places.min(), found.places.max()) == (0.0, 1.0)
    centres = np.array([found.places[truth == c].mean(axis=0) for c in range(3)])
    own = np.linalg.norm(found.places - centres[truth], axis=1)
    others = np.linalg.norm(found.places[:, None] - centres[None], axis=2)
    others[np.arange(90), truth] = np.inf
    assert (own < others.min(axis=1)).mean() > 0.9


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_map_of_very_few_items_exists(n):
    """No division by nothing."""
    found = map_items(np.random.default_rng(0).normal(size=(n, 3)))
    assert found.places.shape == (n, 2)
    assert np.isfinite(found.places).all()


def test_large_sets_are_sampled_and_placed_by_landmarks():
    """Never more dots than a browser moves smoothly."""
    X, truth = three_clusters(900)
    found = map_items(X, rule=MapRule(most_shown=300, landmarks=100))
    assert len(found.rows) == 300 < RULE.most_shown
    assert (np.diff(found.rows) > 0).all()
    centres = np.array([np.median(found.places[truth[found.rows] == c], axis=0) for c in range(3)])
    nearest = np.linalg.norm(found.places[:, None] - centres[None], axis=2).argmin(axis=1)
    assert (nearest == truth[found.rows]).mean() > 0.9


def test_a_saved_map_is_read_and_another_sets_is_not(tmp_path):
    """The fingerprint of the items decides."""
    X = three_clusters()[0]
    first = load_or_map(tmp_path / "map.npz", X, "a")
    np.testing.assert_array_equal(load_or_map(tmp_path / "map.npz", X[:5], "a").places, first.places)
    assert len(load_or_map(tmp_path / "map.npz", X[:5], "b").rows) == 5
