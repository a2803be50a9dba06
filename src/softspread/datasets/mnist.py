"""MNIST: 70,000 handwritten digits."""

from pathlib import Path

import numpy as np

from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.idx import read_pair
from softspread.datasets.local_files import first_folder, read_array, read_features

HELP = (
    "Download train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz and the t10k files from "
    "https://yann.lecun.com/exdb/mnist or a mirror such as https://ossci-datasets.s3.amazonaws.com/mnist/; "
    "torchvision's folder MNIST/raw is read, too."
)


def load_mnist(folder: Path, features: str | None = None) -> Dataset:
    """70,000 digits, training part first.

    Only features and ``labels.npy`` are needed where the images are not there.
    """
    if (folder / "labels.npy").exists():
        labels, images = read_array(folder / "labels.npy").astype(np.int64), None
    else:
        home = first_folder(folder, ("MNIST/raw", "raw"))
        parts = [
            read_pair(home, f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte", HELP)
            for part in ("train", "t10k")
        ]
        images = np.concatenate([pictures for pictures, _ in parts])
        labels = np.concatenate([numbers for _, numbers in parts])
    X, name = read_features(folder, features, len(labels))
    return Dataset("mnist", np.arange(10), X, labels=labels, images=images, features=name)


SOURCE = Source(load_mnist, "70,000 handwritten digits", HELP, "emnist-digits")
