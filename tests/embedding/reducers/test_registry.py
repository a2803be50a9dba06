"""Reducers agree with their definitions, place new items, and survive being saved."""

import pytest

from softspread.embedding.embed import embed
from softspread.embedding.reducers.registry import fit_reducer, reducer_from
from softspread.embedding.result import Embedding
from softspread.errors import InputError, StoreError


@pytest.mark.parametrize("reduce", ["none", "pca", "isomap"])
def test_a_saved_reducer_answers_as_before(reduce, curve, tmp_path):
    """Save, load, transform: the same numbers, without pickle."""
    space = embed(curve[:150], encoder="none", reduce=reduce, dim=2)
    space.save(tmp_path / "X.parquet")
    loaded = Embedding.load(tmp_path / "X.parquet")
    assert (loaded.X == space.X).all()
    assert loaded.item_ids.tolist() == space.item_ids.tolist()
    assert dict(loaded.how) == dict(space.how)
    assert (loaded.transform(curve[150:]) == space.transform(curve[150:])).all()


def test_many_items_are_reduced_by_pca_unless_said_otherwise(curve):
    """The default changes with size."""
    reducer, _ = fit_reducer(curve, "auto", 2, 0, umap_up_to=100)
    assert reducer.name == "pca"


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"reduce": "tsne"}, "'umap', 'pca', 'isomap', 'none', 'auto'"),
        ({"reduce": "pca", "dim": 9}, "at most 8"),
        ({"reduce": "pca", "dim": 0}, "at least 1"),
        ({"reduce": "isomap", "dim": 200}, "needs at least 202 items"),
        ({"reduce": "umap", "dim": 199}, "needs at least 201 items"),
    ],
)
def test_impossible_reductions_are_refused(options, part, curve):
    """With what is allowed."""
    with pytest.raises(InputError, match=part):
        embed(curve, encoder="none", **options)


def test_a_saved_reducer_we_do_not_know_is_refused():
    """From a later version, or with a part missing."""
    with pytest.raises(StoreError, match="unknown"):
        reducer_from("tsne", {}, {})
    with pytest.raises(StoreError, match="lacks"):
        reducer_from("pca", {}, {})
