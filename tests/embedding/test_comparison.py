"""Better spaces score better, by truth and without it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_score

from softspread import Votes
from softspread.embedding.comparison import compare_spaces
from softspread.embedding.embed import embed
from softspread.errors import InputError


@pytest.fixture
def truth():
    return np.arange(150) % 3


@pytest.fixture
def spaces(rng, truth):
    """The same items three times: clear, blurred, noise."""
    centres = 6 * np.eye(3)[truth]
    return {
        "noise": rng.normal(size=(150, 3)),
        "clear": centres + rng.normal(size=(150, 3)),
        "blurred": centres + 3 * rng.normal(size=(150, 3)),
    }


def test_both_measures_order_spaces_by_how_clear_they_are(spaces, truth, rng):
    """With known classes and, apart from them, with votes on a third of the items."""
    items = np.tile(
        rng.choice(150, 50, replace=False), 2
    )  # two votes each: the tuner warns without second votes
    table = compare_spaces(spaces, votes=Votes.from_pairs(items, truth[items]), classes=truth)
    assert table["space"].tolist() == ["clear", "blurred", "noise"]
    assert table["best"].tolist() == [True, False, False]
    assert (np.diff(table["held_out_brier"]) > 0).all()
    assert (np.diff(table["silhouette"]) < 0).all()
    for row in table.itertuples():
        assert row.silhouette == pytest.approx(silhouette_score(spaces[row.space], truth))


def test_the_held_out_score_is_the_tuners(spaces, truth):
    """Nothing is added to what leaving votes out says."""
    from softspread.tuning.tune import tune

    votes = 2 * np.eye(3)[truth]
    table = compare_spaces({"clear": spaces["clear"]}, votes=votes)
    assert table["held_out_brier"][0] == tune(spaces["clear"], votes).best.score
    assert table["silhouette"].isna().all()


def test_without_votes_the_silhouette_decides(spaces, truth):
    """Unknown classes are left out."""
    some = pd.Series(truth).astype(object)
    some[::4] = None
    table = compare_spaces(spaces, classes=some)
    assert table["space"][0] == "clear"
    assert table["held_out_brier"].isna().all()
    known = np.arange(150) % 4 != 0
    assert table["silhouette"][0] == pytest.approx(silhouette_score(spaces["clear"][known], truth[known]))


def test_large_sets_are_sampled(rng):
    """The sample's silhouette is close, and the same for the same seed."""
    truth = rng.integers(2, size=5_500)
    X = rng.normal(size=(5_500, 2)) + 4 * truth[:, None]
    table, again = (compare_spaces({"two": X}, classes=truth) for _ in range(2))
    whole = silhouette_score(X, truth)
    assert table["silhouette"][0] == again["silhouette"][0] != whole
    assert abs(table["silhouette"][0] - whole) < 0.01


def test_embeddings_bring_their_ids(truth, rng):
    """Votes name items by the ids of the embedding."""
    ids = [f"item {row}" for row in range(150)]
    space = embed(
        6 * np.eye(3)[truth] + rng.normal(size=(150, 3)), encoder="none", reduce="none", item_ids=ids
    )
    votes = Votes.from_pairs(ids[:60] * 2, np.tile(truth[:60], 2))
    assert compare_spaces({"one": space, "two": space}, votes=votes)["held_out_brier"].nunique() == 1
    other = embed(rng.normal(size=(150, 3)), encoder="none", reduce="none")
    with pytest.raises(InputError, match="other items"):
        compare_spaces({"one": space, "two": other}, votes=votes)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"spaces": {}}, "no space"),
        ({}, "give votes"),
        ({"classes": [0, 1]}, "each of the 150"),
        ({"classes": np.zeros(150)}, "at least 2 classes"),
        (
            {"spaces": {"a": np.zeros((150, 2)), "b": np.zeros((3, 2))}, "classes": np.arange(150) % 2},
            "same items",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(change, part, spaces):
    """With the way out."""
    arguments = {"spaces": spaces} | change
    with pytest.raises(InputError, match=part):
        compare_spaces(**arguments)
