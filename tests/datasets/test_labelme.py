"""LabelMe."""

import pytest

from softspread.datasets.labelme import load_labelme
from softspread.errors import StoreError


def test_labelme_votes_carry_their_annotators(tmp_path):
    """answers.txt has one line an image and one number an annotator, -1 where they did not vote."""
    home = tmp_path / "LabelMe"
    home.mkdir()
    (home / "answers.txt").write_text("0 -1 1\n-1 7 -1\n")
    (home / "labels_train.txt").write_text("0\n7\n")
    (home / "filenames_train.txt").write_text("a.jpg\nb.jpg\n")
    data = load_labelme(tmp_path)
    frame = data.votes.to_frame()
    assert frame["item"].tolist() == [0, 0, 1]
    assert frame["label"].tolist() == ["highway", "insidecity", "opencountry"]
    assert frame["annotator"].tolist() == [0, 2, 1]
    assert data.p_true[1].argmax() == 7
    assert data.paths[1].endswith("train/opencountry/b.jpg")
    (home / "answers.txt").write_text("0 x\n")
    with pytest.raises(StoreError, match="not a table of numbers"):
        load_labelme(tmp_path)
