"""Datasets that come as folders of image files: Animals-10, Tiny ImageNet, and any folder with votes of your
own.

Images stay on disk; the dataset names their paths, :func:`read_images` reads some of them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.types import AnyArray
from softspread.datasets.core import (
    Dataset,
    Source,
    check_length,
    find_file,
    read_array,
    read_features,
    shares,
)
from softspread.errors import InputError, MissingExtraError, StoreError
from softspread.votes.votes import Votes

IMAGE_TYPES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp")
ITALIAN = {
    "cane": "dog",
    "cavallo": "horse",
    "elefante": "elephant",
    "farfalla": "butterfly",
    "gallina": "chicken",
    "gatto": "cat",
    "mucca": "cow",
    "pecora": "sheep",
    "ragno": "spider",
    "scoiattolo": "squirrel",
}
ANIMALS_HELP = (
    "Download archive.zip from https://www.kaggle.com/datasets/alessiocorrado99/animals10 and unpack it here."
)
TINY_HELP = "Download http://cs231n.stanford.edu/tiny-imagenet-200.zip and unpack it here."
VOTES_HELP = (
    "A folder with votes holds votes.csv (columns item, label, and if known annotator), and images in it or "
    "below it, "
    "named by their path, or features_<name>.npy with items.csv (column item) that gives the order of the "
    "rows."
)


def list_images(folder: Path) -> list[Path]:
    """All image files below a folder, in the order of their paths."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_TYPES)


def read_images(paths: Any, side: int) -> AnyArray:
    """Images as bytes (n, side, side, 3), squeezed to a square."""
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtraError("reading images needs Pillow: pip install 'softspread[images]'.") from error
    found = np.empty((len(paths), side, side, 3), dtype=np.uint8)
    for row, path in enumerate(paths):
        try:
            with Image.open(path) as image:
                found[row] = np.asarray(image.convert("RGB").resize((side, side)))
        except OSError as error:
            raise StoreError(f"{path} is no readable image ({error}).") from error
    return found


def load_animals10(folder: Path, features: str | None = None) -> Dataset:
    """Photographs of ten animals; the folders have Italian names."""
    home = find_file(folder, ("raw-img", "animals10/raw-img"), "Animals-10", ANIMALS_HELP)
    missing = [name for name in ITALIAN if not (home / name).is_dir()]
    if missing:
        raise StoreError(f"{home} lacks the folders {', '.join(missing)}. {ANIMALS_HELP}")
    paths = [path for name in ITALIAN for path in list_images(home / name)]
    columns = {name: column for column, name in enumerate(ITALIAN)}
    labels = np.array([columns[path.relative_to(home).parts[0]] for path in paths], dtype=np.int64)
    return _of_files("animals10", folder, paths, labels, list(ITALIAN.values()), features)


def load_tiny_imagenet(folder: Path, features: str | None = None) -> Dataset:
    """The 100,000 training images, 200 classes named by the first of WordNet's words for them."""
    home = find_file(folder, ("tiny-imagenet-200", "."), "Tiny ImageNet", TINY_HELP)
    listing = find_file(home, ("wnids.txt",), "list of classes", TINY_HELP)
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
            raise StoreError(f"{home / 'train' / code / 'images'} holds no image. {TINY_HELP}")
        paths += found
        labels += [column] * len(found)
    names = [words.get(code, code) for code in codes]
    if len(set(names)) < len(names):  # some words stand for two classes
        names = [f"{name} ({code})" for name, code in zip(names, codes, strict=True)]
    return _of_files("tiny_imagenet", folder, paths, np.array(labels, dtype=np.int64), names, features)


def _of_files(
    name: str, folder: Path, paths: list[Path], labels: AnyArray, classes: list[str], features: str | None
) -> Dataset:
    if not paths:
        raise StoreError(f"{folder} holds no images.")
    X, found = read_features(folder, features, len(paths))
    return Dataset(
        name, np.array(classes), X, labels=labels, paths=np.array(list(map(str, paths))), features=found
    )


def load_folder(folder: Path, features: str | None = None) -> Dataset:
    """Your own items: images or features, and a table of votes whose relative frequencies count as the
    truth.
    """
    table = find_file(folder, ("votes.csv", "votes.parquet"), "votes", VOTES_HELP)
    frame = pd.read_parquet(table) if table.suffix == ".parquet" else pd.read_csv(table, dtype={"item": str})
    images = list_images(folder)
    if (folder / "items.csv").exists():
        listed = pd.read_csv(folder / "items.csv", dtype={"item": str})
        if "item" not in listed:
            raise InputError(
                f"{folder / 'items.csv'} has columns {', '.join(map(str, listed))}; it needs one named item."
            )
        items = listed["item"].to_numpy(dtype=object)
    elif images:
        items = np.array([path.relative_to(folder).as_posix() for path in images], dtype=object)
    else:
        raise StoreError(f"{folder} holds neither images nor items.csv. {VOTES_HELP}")
    votes = Votes.from_frame(frame)
    classes = votes.class_names()
    rows = validation.rows_of_items(votes.items, items, len(items))
    placed = Votes(rows, votes.labels, votes.weights, votes.annotators, classes=classes)
    counts = np.zeros((len(items), len(classes)))
    np.add.at(counts, (rows, validation.columns_of_labels(votes.labels, classes)), votes.weights)
    X, found = read_features(folder, features, len(items))
    paths = np.array(list(map(str, images))) if len(images) == len(items) else None
    return Dataset(
        folder.name,
        classes,
        X,
        shares(counts),
        votes=placed,
        paths=paths,
        features=found,
        note="relative frequencies of votes",
    )


def load_arrays(folder: Path, features: str | None = None) -> Dataset:
    """A folder of arrays: ``counts.npy`` (n, n_classes) votes, or ``labels.npy`` (n,), with
    ``features_<name>.npy``.
    """
    path = find_file(folder, ("counts.npy", "labels.npy"), "labels", "It needs counts.npy or labels.npy.")
    table = read_array(path)
    if table.ndim == 2:
        X, name = read_features(folder, features, len(table))
        votes = Votes.from_counts(table.astype(np.float64))
        note = "relative frequencies of votes"
        return Dataset(
            folder.name, np.arange(table.shape[1]), X, shares(table), votes=votes, features=name, note=note
        )
    classes, columns = np.unique(table, return_inverse=True)
    X, name = read_features(folder, features, len(table))
    labels = check_length(columns.astype(np.int64), len(table), path)
    return Dataset(folder.name, classes, X, labels=labels, features=name)


ANIMALS10 = Source(load_animals10, "26,179 photographs of animals, 10 classes", ANIMALS_HELP)
TINY_IMAGENET = Source(load_tiny_imagenet, "100,000 small photographs, 200 classes", TINY_HELP)
