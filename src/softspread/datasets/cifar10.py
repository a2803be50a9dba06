"""CIFAR-10 from its binary or its Python version.

cifar-10-batches-bin/*.bin: records of 1 + 3072 bytes: class, then 32 x 32 red, green, blue, row by row
cifar-10-batches-py/*: the same rows and the classes in a pickle, see :mod:`softspread.datasets.cifar_pickle`
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread.datasets.cifar_pickle import read_pickled_batch
from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.local_files import find_file, read_features
from softspread.errors import StoreError

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
SIDE = 32
PIXELS = 3 * SIDE * SIDE
RECORD = 1 + PIXELS
BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
TEST_BATCH = "test_batch"
BINARY, PYTHON = "cifar-10-batches-bin", "cifar-10-batches-py"
HELP = (
    "Download cifar-10-binary.tar.gz ('CIFAR-10 binary version') or cifar-10-python.tar.gz from "
    f"https://www.cs.toronto.edu/~kriz/cifar.html and unpack it here; its folder is {BINARY} or {PYTHON}."
)


def read_batch(path: Path) -> tuple[AnyArray, IntArray]:
    """Images (n, 32, 32, 3) and classes (n,) of one batch; a file without ending is a pickle."""
    rows, labels = _read_binary(path) if path.suffix == ".bin" else read_pickled_batch(path, HELP)
    if rows.shape[1] != PIXELS:
        raise StoreError(f"{path} has {rows.shape[1]} values per image; CIFAR-10 has {PIXELS}. {HELP}")
    if labels.min() < 0 or labels.max() >= len(CLASSES):
        wrong = labels.min() if labels.min() < 0 else labels.max()
        raise StoreError(f"{path} holds class {wrong}; CIFAR-10 has classes 0 to 9. {HELP}")
    return rows.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1), labels


def _read_binary(path: Path) -> tuple[AnyArray, IntArray]:
    raw = np.fromfile(path, dtype=np.uint8)
    if not len(raw) or len(raw) % RECORD:
        raise StoreError(
            f"{path} has {len(raw)} bytes, which is not a whole number of records of {RECORD} bytes. {HELP}"
        )
    records = raw.reshape(-1, RECORD)
    return records[:, 1:], records[:, 0].astype(np.int64)


def find_batch(folders: Sequence[Path], name: str) -> Path | None:
    """A batch in the binary or else the Python version, below the first folder that has it."""
    for folder in folders:
        for path in (
            folder / BINARY / f"{name}.bin",
            folder / f"{name}.bin",
            folder / PYTHON / name,
            folder / name,
        ):
            if path.is_file():
                return path
    return None


def load_cifar10(folder: Path, features: str | None = None) -> Dataset:
    """The 50,000 training images; soft labels have to be simulated."""
    first = find_batch([folder], BATCHES[0])
    if first is None:
        raise StoreError(f"{folder} holds no CIFAR-10: neither {BINARY} nor {PYTHON}. {HELP}")
    names = [f"{name}{first.suffix}" for name in BATCHES]
    batches = [read_batch(find_file(first.parent, (name,), "training batch", HELP)) for name in names]
    images = np.concatenate([part for part, _ in batches])
    labels = np.concatenate([part for _, part in batches])
    X, name = read_features(folder, features, len(images))
    return Dataset("cifar10", np.array(CLASSES), X, labels=labels, images=images, features=name)


SOURCE = Source(load_cifar10, "50,000 photographs, 10 classes", HELP)
