"""CIFAR-10 from its binary version.

*.bin: records of 1 + 3072 bytes: class, then 32 x 32 red, green, blue, row by row
"""

from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.local_files import find_file, read_features
from softspread.errors import StoreError

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE = 32
RECORD = 1 + 3 * SIDE * SIDE
BATCHES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
HELP = (
    "Download cifar-10-binary.tar.gz ('CIFAR-10 binary version') from "
    "https://www.cs.toronto.edu/~kriz/cifar.html and unpack it here; its folder is cifar-10-batches-bin."
)


def read_batch(path: Path) -> tuple[AnyArray, IntArray]:
    """Images (n, 32, 32, 3) and classes (n,) of one binary batch."""
    raw = np.fromfile(path, dtype=np.uint8)
    if not len(raw) or len(raw) % RECORD:
        raise StoreError(
            f"{path} has {len(raw)} bytes, which is no whole number of records of {RECORD} bytes. {HELP}"
        )
    records = raw.reshape(-1, RECORD)
    labels = records[:, 0].astype(np.int64)
    if labels.max() >= len(CLASSES):
        raise StoreError(f"{path} holds class {labels.max()}; CIFAR-10 has classes 0 to 9. {HELP}")
    return records[:, 1:].reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1), labels


def load_cifar10(folder: Path, features: str | None = None) -> Dataset:
    """The 50,000 training images; soft labels have to be simulated."""
    home = find_file(folder, ("cifar-10-batches-bin", BATCHES[0]), "CIFAR-10", HELP)
    home = home if home.is_dir() else folder
    batches = [read_batch(find_file(home, (name,), "training batch", HELP)) for name in BATCHES]
    images = np.concatenate([part for part, _ in batches])
    labels = np.concatenate([part for _, part in batches])
    X, name = read_features(folder, features, len(images))
    return Dataset("cifar10", np.array(CLASSES), X, labels=labels, images=images, features=name)


SOURCE = Source(load_cifar10, "50,000 photographs, 10 classes", HELP)
