"""CIFAR-10 from its binary version, and CIFAR-10-H: about 50 human votes on each of CIFAR-10's test images.

*.bin: records of 1 + 3072 bytes: class, then 32 x 32 red, green, blue, row by row
cifar10h-counts.npy: (10000, 10) votes per class, in the order of test_batch.bin
"""

from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread.datasets.core import (
    Dataset,
    Source,
    check_length,
    find_file,
    read_array,
    read_features,
    shares,
)
from softspread.errors import StoreError
from softspread.votes.votes import Votes

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE = 32
RECORD = 1 + 3 * SIDE * SIDE
BATCHES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
CIFAR10_HELP = (
    "Download cifar-10-binary.tar.gz ('CIFAR-10 binary version') from "
    "https://www.cs.toronto.edu/~kriz/cifar.html and "
    "unpack it here; its folder is cifar-10-batches-bin."
)
CIFAR10H_HELP = (
    "Download data/cifar10h-counts.npy from https://github.com/jcpeterson/cifar-10h, and features or "
    "cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html for the images."
)


def read_batch(path: Path) -> tuple[AnyArray, IntArray]:
    """Images (n, 32, 32, 3) and classes (n,) of one binary batch."""
    raw = np.fromfile(path, dtype=np.uint8)
    if not len(raw) or len(raw) % RECORD:
        raise StoreError(
            f"{path} has {len(raw)} bytes, which is no whole number of records of {RECORD} bytes. "
            f"{CIFAR10_HELP}"
        )
    records = raw.reshape(-1, RECORD)
    labels = records[:, 0].astype(np.int64)
    if labels.max() >= len(CLASSES):
        raise StoreError(f"{path} holds class {labels.max()}; CIFAR-10 has classes 0 to 9. {CIFAR10_HELP}")
    return records[:, 1:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1), labels


def load_cifar10(folder: Path, features: str | None = None) -> Dataset:
    """The 50,000 training images; soft labels have to be simulated."""
    home = find_file(folder, ("cifar-10-batches-bin", BATCHES[0]), "CIFAR-10", CIFAR10_HELP)
    home = home if home.is_dir() else folder
    batches = [read_batch(find_file(home, (name,), "training batch", CIFAR10_HELP)) for name in BATCHES]
    images = np.concatenate([part for part, _ in batches])
    labels = np.concatenate([part for _, part in batches])
    X, name = read_features(folder, features, len(images))
    return Dataset("cifar10", np.array(CLASSES), X, labels=labels, images=images, features=name)


def load_cifar10h(folder: Path, features: str | None = None) -> Dataset:
    """The 10,000 test images with the relative frequencies of about 50 human votes as soft labels."""
    path = find_file(
        folder, ("cifar10h-counts.npy", "data/cifar10h-counts.npy", "counts.npy"), "votes", CIFAR10H_HELP
    )
    counts = read_array(path)
    if counts.ndim != 2 or counts.shape[1] != len(CLASSES):
        raise StoreError(
            f"{path} has shape {counts.shape}; votes are a table with 10 columns. {CIFAR10H_HELP}"
        )
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


CIFAR10 = Source(load_cifar10, "50,000 photographs, 10 classes", CIFAR10_HELP)
CIFAR10H = Source(load_cifar10h, "10,000 photographs, 10 classes, about 50 human votes each", CIFAR10H_HELP)
