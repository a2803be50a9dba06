"""Tiny ImageNet: 100,000 small photographs of 200 classes."""

from pathlib import Path

import numpy as np

from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.image_files import dataset_of_files, list_images
from softspread.datasets.local_files import find_file
from softspread.errors import StoreError

HELP = "Download http://cs231n.stanford.edu/tiny-imagenet-200.zip and unpack it here."


def load_tiny_imagenet(folder: Path, features: str | None = None) -> Dataset:
    """The 100,000 training images, 200 classes named by the first of WordNet's words for them."""
    home = find_file(folder, ("tiny-imagenet-200", "."), "Tiny ImageNet", HELP)
    listing = find_file(home, ("wnids.txt",), "list of classes", HELP)
    codes = sorted(listing.read_text(encoding="utf-8").split())
    words = {}
    if (home / "words.txt").exists():
        for line in (home / "words.txt").read_text(encoding="utf-8").splitlines():
            code, _, text = line.partition("\t")
            words[code] = text.split(",")[0].strip()
    paths: list[Path] = []
    labels: list[int] = []
    for column, code in enumerate(codes):
        found = list_images(home / "train" / code / "images")
        if not found:
            raise StoreError(f"{home / 'train' / code / 'images'} holds no image. {HELP}")
        paths += found
        labels += [column] * len(found)
    names = [words.get(code, code) for code in codes]
    twice = {name for name in names if names.count(name) > 1}  # words that stand for two classes
    names = [f"{name} ({code})" if name in twice else name for name, code in zip(names, codes, strict=True)]
    return dataset_of_files("tiny_imagenet", folder, paths, np.array(labels, dtype=np.int64), names, features)


SOURCE = Source(load_tiny_imagenet, "100,000 small photographs, 200 classes", HELP)
