"""Reducers by name: fitted, refused, saved and restored."""

import pytest

from softspread.embedding.embed import embed
from softspread.embedding.reducers.by_name import reducer_from
from softspread.embedding.result import Embedding
from softspread.errors import InputError, MissingExtraError, StoreError


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


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"reduce": "tsne"}, "'auto', 'umap', 'pca', 'isomap', 'none', got 'tsne'"),
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
    with pytest.raises(StoreError, match="lacks"):
        reducer_from("auto", {}, {})


@pytest.mark.parametrize("reduce", ["auto", "umap"])
def test_a_missing_library_is_told_before_anything_is_encoded(reduce, monkeypatch):
    """Not after the hours that a model takes; what needs nothing still works."""
    monkeypatch.setattr("softspread.embedding.reducers.by_name.find_spec", lambda name: None)

    def never(texts):
        raise AssertionError(f"encoded {len(texts)} texts")

    with pytest.raises(MissingExtraError, match=r"softspread\[umap\].*--reduce pca"):
        embed(["a", "b"], encoder=never, reduce=reduce)
    assert embed([[0.0, 1.0], [1.0, 0.0]], encoder="none", reduce="none").X.shape == (2, 2)
