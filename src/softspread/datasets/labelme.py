"""LabelMe with real annotators: 1,000 images, 8 classes, 59 people, about 2.5 votes per image.

    answers.txt: one line per image, one number per annotator, -1 = no vote;  labels_train.txt: the true class

Distributed by F. Rodrigues with "Learning supervised topic models for classification and regression
from crowds".
"""

from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray
from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.local_files import check_length, find_file, read_array, read_features
from softspread.errors import StoreError
from softspread.votes.votes import Votes

CLASSES = ("highway", "insidecity", "tallbuilding", "street", "forest", "coast", "mountain", "opencountry")
HELP = (
    "Download http://fprodrigues.com/deep_LabelMe.tar.gz and unpack it here; its folder is LabelMe, with "
    "answers.txt, labels_train.txt and filenames_train.txt."
)


def load_labelme(folder: Path, features: str | None = None) -> Dataset:
    """Votes with the names of their annotators (numbers), and the true classes as one-hot soft labels."""
    home = folder / "LabelMe" if (folder / "LabelMe").is_dir() else folder
    answers = _table(
        find_file(home, ("answers.txt", "prepared/answers.npy", "annotations.npy"), "votes", HELP)
    )
    label_file = find_file(
        home, ("labels_train.txt", "prepared/labels_train.npy", "labels.npy"), "labels", HELP
    )
    labels = check_length(_table(label_file).reshape(-1), len(answers), label_file)
    if answers.ndim != 2 or answers.max() >= len(CLASSES) or labels.min() < 0 or labels.max() >= len(CLASSES):
        raise StoreError(f"{home} does not hold the 8 classes of LabelMe. {HELP}")
    items, people = np.nonzero(answers >= 0)
    votes = Votes.from_pairs(
        items,
        np.array(CLASSES)[answers[items, people]].tolist(),
        annotators=people,
        classes=list(CLASSES),
    )
    paths = None
    if (home / "filenames_train.txt").exists():
        names = (home / "filenames_train.txt").read_text(encoding="utf-8").split()
        at = [home / "train" / CLASSES[label] / name for name, label in zip(names, labels, strict=False)]
        paths = check_length(np.array(list(map(str, at))), len(answers), home / "filenames_train.txt")
    X, name = read_features(folder, features, len(answers))
    return Dataset(
        "labelme",
        np.array(CLASSES),
        X,
        np.eye(len(CLASSES))[labels],
        labels,
        votes,
        paths=paths,
        features=name,
        note="the true classes; the images have no soft labels of their own",
    )


def _table(path: Path) -> AnyArray:
    if path.suffix == ".npy":
        return read_array(path).astype(np.int64)
    try:
        return np.loadtxt(path, dtype=np.float64, ndmin=2 if path.name == "answers.txt" else 1).astype(
            np.int64
        )
    except ValueError as error:
        raise StoreError(f"{path} is not a table of numbers ({error}). {HELP}") from error


SOURCE = Source(load_labelme, "1,000 photographs, 8 classes, votes of 59 people", HELP)
