"""Tiny ImageNet."""

import pytest

from datasets_on_disk import write_image
from softspread.datasets.tiny_imagenet import load_tiny_imagenet
from softspread.errors import StoreError


def test_tiny_imagenet_reads_its_lists(tmp_path):
    """Classes by their codes, named by the first word; two classes of one name stay apart."""
    home = tmp_path / "tiny-imagenet-200"
    for code in ("n02", "n01", "n03"):
        write_image(home / "train" / code / "images" / f"{code}_0.JPEG")
    (home / "wnids.txt").write_text("n02\nn01\nn03\n")
    (home / "words.txt").write_text("n01\tgoldfish, Carassius\nn02\ttoad\nn03\ttoad, other\n")
    data = load_tiny_imagenet(tmp_path)
    assert data.classes.tolist() == ["goldfish", "toad (n02)", "toad (n03)"]
    assert data.labels.tolist() == [0, 1, 2]
    (home / "wnids.txt").write_text("n01\nn09\n")
    with pytest.raises(StoreError, match="n09"):
        load_tiny_imagenet(tmp_path)
