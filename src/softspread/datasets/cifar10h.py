"""CIFAR-10-H: about 50 human votes on each of CIFAR-10's test images.

cifar10h-counts.npy: (10000, 10) votes per class, in the order of test_batch.bin
"""

from pathlib import Path

import numpy as np

from softspread.datasets.cifar10 import CLASSES, read_batch
from softspread.datasets.dataset import Dataset, Source, shares
from softspread.datasets.local_files import check_length, find_file, read_array, read_features
from softspread.errors import StoreError
from softspread.votes.votes import Votes

HELP = (
    "Download data/cifar10h-counts.npy from https://github.com/jcpeterson/cifar-10h, and features or "
    "cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html for the images."
)


def load_cifar10h(folder: Path, features: str | None = None) -> Dataset:
    """The 10,000 test images with the relative frequencies of about 50 human votes as soft labels."""
    path = find_file(folder, ("cifar10h-counts.npy", "data/cifar10h-counts.npy", "counts.npy"), "votes", HELP)
    counts = read_array(path)
    if counts.ndim != 2 or counts.shape[1] != len(CLASSES):
        raise StoreError(f"{path} has shape {counts.shape}; votes are a table with 10 columns. {HELP}")
    n = len(counts)
    images = labels = None
    batch = next(
        (
            p
            for p in (folder / "cifar-10-batches-bin/test_batch.bin", folder / "test_batch.bin")
            if p.exists()
        ),
        None,
    )
    if batch is not None:
        images, labels = read_batch(batch)
        check_length(images, n, batch)
    elif (folder / "labels.npy").exists():
        labels = check_length(read_array(folder / "labels.npy"), n, folder / "labels.npy").astype(np.int64)
    X, name = read_features(folder, features, n)
    prior_path = folder / "classifier_probs.npy"
    prior = (
        check_length(read_array(prior_path), n, prior_path).astype(np.float64)
        if prior_path.exists()
        else None
    )
    return Dataset(
        "cifar10h",
        np.array(CLASSES),
        X,
        shares(counts),
        labels,
        Votes.from_counts(counts.astype(np.float64), classes=list(CLASSES)),
        images,
        prior=None if prior is None else prior / prior.sum(axis=1, keepdims=True),
        features=name,
        note="relative frequencies of human votes",
    )


SOURCE = Source(load_cifar10h, "10,000 photographs, 10 classes, about 50 human votes each", HELP)
