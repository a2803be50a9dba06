"""The whole call: from pictures to a saved space and back, and new items into it."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from softspread.embedding.embed import embed
from softspread.embedding.result import Embedding
from softspread.errors import InputError, StoreError

pytest.importorskip("PIL", reason="needs Pillow")


@pytest.fixture
def space(picture_folder):
    return embed(picture_folder, encoder="pixels:4", reduce="pca", dim=3)


def test_the_file_has_items_vectors_and_how_they_were_made(space, tmp_path):
    """Any reader of Parquet can use it."""
    space.save(tmp_path / "X.parquet")
    table = pq.read_table(tmp_path / "X.parquet")
    assert table.column_names == ["item", "x"]
    assert str(table.schema.field("x").type) == "fixed_size_list<element: float>[3]"
    assert table["item"].to_pylist() == space.item_ids.tolist()
    assert np.array_equal(np.array(table["x"].to_pylist(), dtype=np.float32), space.X)
    how = json.loads(table.schema.metadata[b"softspread"])
    assert how["encoder"] == "pixels:4"
    assert how["reducer"] == "pca"
    assert {"weights", "seed", "preparation", "softspread"} <= set(how)


def test_new_images_fall_into_the_old_space(space, picture_folder, tmp_path):
    """The old images, given as new, come out where they were; also after loading."""
    space.save(tmp_path / "X.parquet")
    for old in (space, Embedding.load(tmp_path / "X.parquet")):
        again = embed(picture_folder, encoder="pixels:4", like=old)
        np.testing.assert_allclose(again.X, space.X, atol=1e-5)
        assert again.how["reducer"] == "pca"


def test_new_images_by_another_encoder_are_refused(space, picture_folder):
    """Places would mean nothing."""
    with pytest.raises(InputError, match=r"weights was 'pixels:4'.*now 'pixels:5'"):
        embed(picture_folder, encoder="pixels:5", like=space)
    with pytest.raises(InputError, match="normalized"):
        embed(picture_folder, encoder="pixels:4", like=space, normalize=True)


def test_normalizing_gives_rows_of_length_1(picture_folder):
    """Before the reducer."""
    X = embed(picture_folder, encoder="pixels:4", reduce="none", normalize=True).X
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)


def test_a_reducer_of_another_embedding_is_not_taken(space, picture_folder, tmp_path):
    """Two files that do not belong together are noticed; one without the other still has its places."""
    space.save(tmp_path / "X.parquet")
    embed(picture_folder, encoder="pixels:4", reduce="pca", dim=2).save(tmp_path / "Y.parquet")
    shutil.copy(tmp_path / "Y.parquet.reducer.npz", tmp_path / "X.parquet.reducer.npz")
    with pytest.raises(StoreError, match="another embedding"):
        Embedding.load(tmp_path / "X.parquet")
    (tmp_path / "X.parquet.reducer.npz").unlink()
    alone = Embedding.load(tmp_path / "X.parquet")
    assert (alone.X == space.X).all()
    with pytest.raises(InputError, match="not saved"):
        alone.transform(np.zeros((1, 48)))


def test_files_that_are_no_embedding_are_refused(space, tmp_path):
    """Missing, foreign, damaged, or with a wrong ending."""
    with pytest.raises(StoreError, match="no file"):
        Embedding.load(tmp_path / "nothing.parquet")
    (tmp_path / "text.parquet").write_text("hello")
    with pytest.raises(StoreError, match="cannot read"):
        Embedding.load(tmp_path / "text.parquet")
    space.to_frame().to_parquet(tmp_path / "foreign.parquet")
    with pytest.raises(StoreError):
        Embedding.load(tmp_path / "foreign.parquet")
    with pytest.raises(InputError, match=r"\.parquet"):
        space.save(tmp_path / "X.npy")
    with pytest.raises(StoreError, match="cannot write"):
        space.save(tmp_path / "no" / "X.parquet")


def test_the_space_goes_straight_into_the_estimator(picture_folder):
    """Ids of the embedding name the items of the votes."""
    from softspread import ProbabilisticLabelSpreading, Votes

    space = embed(picture_folder, encoder="pixels:4", reduce="pca", dim=3)
    votes = Votes.from_pairs(space.item_ids[:6], ["a", "b"] * 3)
    p = (
        ProbabilisticLabelSpreading(n_neighbors=5)
        .fit(space.X, votes, item_ids=space.item_ids)
        .predict_proba()
    )
    np.testing.assert_allclose(p.sum(axis=1), 1)
