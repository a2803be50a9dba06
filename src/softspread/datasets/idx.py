"""MNIST and EMNIST-digits: the IDX files in which they are distributed, packed with gzip or not.

two zero bytes, type (8 = unsigned byte), number of dimensions, each dimension as 4 bytes big-endian, the
bytes
"""

import gzip
import math
from pathlib import Path

import numpy as np

from softspread._common.types import AnyArray
from softspread.datasets.core import Dataset, Source, check_length, find_file, read_array, read_features
from softspread.errors import StoreError

UNSIGNED_BYTE = 8
MNIST_HELP = (
    "Download train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz and the t10k files from "
    "https://yann.lecun.com/exdb/mnist or a mirror such as https://ossci-datasets.s3.amazonaws.com/mnist/."
)
EMNIST_HELP = (
    "Download gzip.zip ('Binary format as the original MNIST dataset') from "
    "https://www.nist.gov/itl/products-and-services/emnist-dataset and unpack it here."
)


def read_idx(path: Path) -> AnyArray:
    """The array in an IDX file of bytes."""
    try:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise StoreError(f"{path} cannot be unpacked ({error}); download it again.") from error
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != UNSIGNED_BYTE:
        raise StoreError(f"{path} is no IDX file of unsigned bytes; download it again.")
    n_dimensions = raw[3]
    start = 4 + 4 * n_dimensions
    shape = tuple(np.frombuffer(raw[4:start], dtype=">u4").astype(int).tolist())
    if len(shape) != n_dimensions or len(raw) - start != math.prod(shape):
        raise StoreError(
            f"{path} promises shape {shape} and holds {len(raw) - start} values; download it again."
        )
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


def _pair(folder: Path, images: str, labels: str, help_text: str) -> tuple[AnyArray, AnyArray]:
    """Images and labels of one part; dots and dashes occur in both places of the names."""

    def file(name: str) -> Path:
        spellings = (f"{name}.gz", name, f"{name.replace('-idx', '.idx')}.gz", name.replace("-idx", ".idx"))
        return find_file(folder, spellings, "IDX file", help_text)

    pictures, path = read_idx(file(images)), file(labels)
    return pictures, check_length(read_idx(path), len(pictures), path).astype(np.int64)


def load_mnist(folder: Path, features: str | None = None) -> Dataset:
    """70,000 digits, training part first; or only features and ``labels.npy`` where the images are not
    there.
    """
    if (folder / "labels.npy").exists():
        labels, images = read_array(folder / "labels.npy").astype(np.int64), None
    else:
        parts = [
            _pair(folder, f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte", MNIST_HELP)
            for part in ("train", "t10k")
        ]
        images = np.concatenate([pictures for pictures, _ in parts])
        labels = np.concatenate([numbers for _, numbers in parts])
    X, name = read_features(folder, features, len(labels))
    return Dataset("mnist", np.arange(10), X, labels=labels, images=images, features=name)


def load_emnist_digits(folder: Path, features: str | None = None) -> Dataset:
    """The 240,000 training digits of EMNIST; its files hold the images lying on their side, they are turned
    upright.
    """
    home = folder / "gzip" if (folder / "gzip").is_dir() else folder
    images, labels = _pair(
        home, "emnist-digits-train-images-idx3-ubyte", "emnist-digits-train-labels-idx1-ubyte", EMNIST_HELP
    )
    X, name = read_features(folder, features, len(images))
    upright = np.ascontiguousarray(images.transpose(0, 2, 1))
    return Dataset("emnist_digits", np.arange(10), X, labels=labels, images=upright, features=name)


MNIST = Source(load_mnist, "70,000 handwritten digits", MNIST_HELP)
EMNIST_DIGITS = Source(load_emnist_digits, "240,000 handwritten digits", EMNIST_HELP)
