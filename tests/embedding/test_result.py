"""Embeddings on disk."""

import numpy as np
import pandas as pd
import pytest

from softspread.embedding.embed import embed
from softspread.embedding.result import Embedding
from softspread.errors import InputError, StoreError

pytest.importorskip("PIL", reason="needs Pillow")


def test_numbers_stay_numbers_as_ids(tmp_path):
    """An id 7 is not '7' after loading."""
    images = np.zeros((4, 5, 5), dtype=np.uint8)
    embed(images, encoder="pixels:4", reduce="none", item_ids=[7, 8, 9, 10]).save(tmp_path / "X.parquet")
    assert Embedding.load(tmp_path / "X.parquet").item_ids.tolist() == [7, 8, 9, 10]
    mixed = embed(images, encoder="pixels:4", reduce="none", item_ids=[7, "a", 9, 10])
    with pytest.raises(InputError, match="mixed types"):
        mixed.save(tmp_path / "Y.parquet")


def test_other_files_are_refused(tmp_path):
    """Another ending, no file, no embedding, and an embedding that we did not write."""
    space = Embedding(np.array(["a", "b"]), np.eye(2, dtype=np.float32), {"encoder": "none"})
    with pytest.raises(InputError, match=r"saved as \.parquet"):
        space.save(tmp_path / "X.npy")
    with pytest.raises(StoreError, match="no file at"):
        Embedding.load(tmp_path / "none.parquet")
    pd.DataFrame({"item": ["a"], "y": [1.0]}).to_parquet(tmp_path / "Y.parquet")
    with pytest.raises(StoreError, match="as an embedding with the columns item and x"):
        Embedding.load(tmp_path / "Y.parquet")
    space.to_frame().to_parquet(tmp_path / "Z.parquet")
    with pytest.raises(StoreError, match="was not written by softspread embed"):
        Embedding.load(tmp_path / "Z.parquet")


def test_a_reducer_that_was_not_kept_is_missed_in_words():
    """Only when a new item comes."""
    space = Embedding(np.arange(2), np.eye(2, dtype=np.float32), {})
    assert len(space) == 2
    with pytest.raises(InputError, match="reducer was not saved"):
        space.transform(np.eye(2))
