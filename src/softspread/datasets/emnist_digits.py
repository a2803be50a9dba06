"""EMNIST-digits: 240,000 handwritten digits."""

from pathlib import Path

import numpy as np

from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.idx import read_pair
from softspread.datasets.local_files import first_folder, read_features

HELP = (
    "Download gzip.zip ('Binary format as the original MNIST dataset') from "
    "https://www.nist.gov/itl/products-and-services/emnist-dataset and unpack it here; torchvision's folder "
    "EMNIST/raw is read, too."
)


def load_emnist_digits(folder: Path, features: str | None = None) -> Dataset:
    """The 240,000 training digits of EMNIST.

    Its files hold the images lying on their side; they are turned upright.
    """
    home = first_folder(folder, ("gzip", "EMNIST/raw", "EMNIST/raw/gzip", "raw"))
    images, labels = read_pair(
        home, "emnist-digits-train-images-idx3-ubyte", "emnist-digits-train-labels-idx1-ubyte", HELP
    )
    X, name = read_features(folder, features, len(images))
    upright = np.ascontiguousarray(images.transpose(0, 2, 1))
    return Dataset("emnist_digits", np.arange(10), X, labels=labels, images=upright, features=name)


SOURCE = Source(load_emnist_digits, "240,000 handwritten digits", HELP, "emnist-digits")
