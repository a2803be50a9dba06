"""Folders of your own."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from datasets_on_disk import write_image
from softspread import datasets
from softspread.errors import InputError, StoreError


def test_a_folder_with_votes_needs_no_code(tmp_path):
    """Images named by their path, votes in a table: soft labels are the relative frequencies."""
    for name in ("a.png", "sub/b.png", "sub/c.png"):
        write_image(tmp_path / "mine" / name)
    frame = pd.DataFrame(
        {
            "item": ["a.png", "a.png", "sub/c.png"],
            "label": ["cat", "dog", "dog"],
            "annotator": ["x", "y", "x"],
        }
    )
    frame.to_csv(tmp_path / "mine" / "votes.csv", index=False)
    data = datasets.load("mine", tmp_path)
    assert data.classes.tolist() == ["cat", "dog"]
    assert_allclose(data.p_true, [[0.5, 0.5], [0.5, 0.5], [0, 1]])
    assert data.votes.items.tolist() == [0, 0, 2]
    assert data.votes.annotators.tolist() == ["x", "y", "x"]


def test_a_folder_with_features_names_its_rows(tmp_path, rng):
    """items.csv gives the order of the rows; without images or it, the error says what is needed."""
    home = tmp_path / "mine"
    home.mkdir()
    pd.DataFrame({"item": ["1", "0"], "label": [1, 0]}).to_csv(home / "votes.csv", index=False)
    with pytest.raises(StoreError, match=r"items\.csv"):
        datasets.load("mine", tmp_path)
    pd.DataFrame({"item": ["0", "1", "2"]}).to_csv(home / "items.csv", index=False)
    np.save(home / "features_toy.npy", rng.normal(size=(3, 2)))
    data = datasets.load("mine", tmp_path)
    assert data.X.shape == (3, 2)
    assert_allclose(data.p_true[:2], [[1, 0], [0, 1]])


def test_ids_are_text_here_too(tmp_path, rng):
    """007 in votes.csv is 007 in items.csv, and an item that is not listed is an error."""
    home = tmp_path / "mine"
    home.mkdir()
    (home / "items.csv").write_text("item\n007\n7\n")
    (home / "votes.csv").write_text("item,label\n7,cat\n7,cat\n007,dog\n")
    np.save(home / "features_toy.npy", rng.normal(size=(2, 2)))
    assert_allclose(datasets.load("mine", tmp_path).p_true, [[0, 1], [1, 0]])
    (home / "votes.csv").write_text("item,label\n07,cat\n")
    with pytest.raises(InputError, match=r"1 of 1 votes name unknown items: '07' .* Correct the file\.$"):
        datasets.load("mine", tmp_path)
