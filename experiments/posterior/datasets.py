"""Items with known soft labels: some to design on, some that only judge.

    name, folder  ->  Dataset: X for the graph, features for classifiers where there are any, truth, role

Every dataset is cut to the same items each time. "design" sets may be looked at as often as one likes;
"judge" sets are run once, after the method is frozen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.special import softmax
from sklearn.datasets import load_digits, make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.neural_network import MLPClassifier

from softspread._common.types import FloatArray, IntArray

SIZE = 1_200  # items: dense inverses stay cheap, and ten datasets fit into an afternoon
FEATURES = 128  # principal components that the classifiers see
MNIST_NOISE = 0.02  # share of uniform votes


@dataclass(frozen=True)
class Dataset:
    """Items whose true soft labels are known."""

    name: str
    role: str  # "design", "judge" or "extra"
    X: FloatArray  # (n, d)  what the graph is made of
    features: FloatArray | None  # (n, 128)  unreduced features in their own scale, for classifiers
    truth: FloatArray  # (n, n_classes)
    prior: FloatArray | None = None  # (n, n_classes)  what a model says that has never seen a vote


Parts = tuple[FloatArray, FloatArray | None, FloatArray]  # X, features, truth


def seed_of(name: str) -> int:
    """A number that belongs to the name, the same on every machine."""
    return crc32(name.encode())


def rows_of(n: int, size: int, name: str) -> IntArray:
    """The items that a dataset is cut to, the same each time."""
    rng = np.random.default_rng(seed_of(name))
    return np.sort(rng.choice(n, min(size, n), replace=False))


def _components(F: FloatArray, d: int) -> FloatArray:
    """The first principal components, in the scale of the data: columns are not standardised."""
    F = F.astype(np.float64)
    U, s, _ = np.linalg.svd(F - F.mean(axis=0), full_matrices=False)
    return np.asarray(U[:, :d] * s[:d])


def _shares(counts: FloatArray) -> FloatArray:
    counts = counts.astype(np.float64)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _array(path: Path, rows: IntArray) -> FloatArray:
    return np.asarray(np.load(path, mmap_mode="r")[rows], dtype=np.float64)


def cifar10h(data: Path, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Images, ten classes, about 50 human votes each."""
    folder = data / "cifar10h"
    rows = rows_of(10_000, size, "cifar10h")
    features = _components(_array(folder / "features_efflite2_l2_f16.npy", rows), FEATURES)
    return (
        _array(folder / "features_efflite2_umap20.npy", rows),
        features,
        _shares(_array(folder / "counts.npy", rows)),
    )


def cifar10h_pca(data: Path, size: int) -> Parts:
    """The same images without a map, as many users bring them: 50 main directions, nothing else."""
    _, features, truth = cifar10h(data, size)
    return features[:, :50], None, truth


def davidson(data: Path, size: int) -> Parts:
    """Tweets, three unbalanced classes, 3 to 9 votes each."""
    folder = data / "davidson"
    rows = rows_of(24_783, size, "davidson")
    return (
        _array(folder / "features_minilm_umap20.npy", rows),
        None,
        _shares(_array(folder / "counts.npy", rows)),
    )


def digits(data: Path, size: int) -> Parts:
    """Small digits; the truth is what a random forest says about digits it has not seen."""
    pixels, y = load_digits(return_X_y=True)
    forest = RandomForestClassifier(100, random_state=0)
    truth = cross_val_predict(forest, pixels, y, cv=3, method="predict_proba")
    rows = rows_of(len(y), size, "digits")
    return _components(pixels[rows], 20), None, truth[rows]


def mnist(data: Path, size: int) -> Parts:
    """Digits that nearly everybody reads alike: 98 % of the votes name the label, 2 % any class."""
    folder = data / "mnist"
    y = np.load(folder / "labels.npy").astype(np.int64)
    rows = rows_of(len(y), size, "mnist")
    truth = np.full((len(rows), 10), MNIST_NOISE / 10)
    truth[np.arange(len(rows)), y[rows]] += 1 - MNIST_NOISE
    return _array(folder / "features_pixels_umap20.npy", rows), None, truth


def labelme(data: Path, size: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """1,000 images, eight classes; the truth is the share of about 2.5 votes."""
    folder = data / "labelme"
    votes = np.load(folder / "annotations.npy")
    rows = rows_of(len(votes), size, "labelme")
    counts = np.stack([(votes[rows] == c).sum(axis=1) for c in range(8)], axis=1)
    features = _components(_array(folder / "features_vgg16.npy", rows), FEATURES)
    return _array(folder / "features_vgg16_umap20.npy", rows), features, _shares(counts)


def labelme_pca(data: Path, size: int) -> Parts:
    """The same images as 50 main directions, nothing else."""
    _, features, truth = labelme(data, size)
    return features[:, :50], None, truth


def moons(data: Path, size: int) -> Parts:
    """Two moons; soft labels of a small network."""
    X, y = make_moons(size, noise=0.1, random_state=0)
    return X, None, MLPClassifier((20, 20), max_iter=200, random_state=0).fit(X, y).predict_proba(X)


def gaussians(data: Path, size: int) -> Parts:
    """Five overlapping classes in six dimensions, with the mixture's own probabilities."""
    rng = np.random.default_rng(0)
    centres = 1.2 * rng.normal(size=(5, 6))
    X = centres[rng.integers(5, size=size)] + rng.normal(size=(size, 6))
    return X, None, softmax(-0.5 * ((X[:, None] - centres) ** 2).sum(axis=2), axis=1)


def sine(data: Path, size: int) -> Parts:
    """Points on a line, P = (sin x + 1) / 2: smooth, and everything between 0 and 1."""
    x = np.sort(np.random.default_rng(0).uniform(0, 10, size))
    p = 0.5 * (np.sin(x) + 1)
    return x[:, None], None, np.stack([1 - p, p], axis=1)


def chaosnli(data: Path, size: int) -> Parts:
    """Sentence pairs on which people disagree, three classes, 100 votes each."""
    folder = data / "chaosnli"
    rows = rows_of(1_800, size, "chaosnli")
    features = _components(_array(folder / "features_minilm_f16.npy", rows), FEATURES)
    return features[:, :50], features, _shares(_array(folder / "counts.npy", rows))


def mdagreement(data: Path, size: int) -> Parts:
    """Tweets, offensive or not, 5 votes each."""
    folder = data / "mdagreement"
    rows = rows_of(10_753, size, "mdagreement")
    return (
        _array(folder / "features_tfidfsvd50_f16.npy", rows),
        None,
        _shares(_array(folder / "counts.npy", rows)),
    )


def hundred(data: Path, size: int) -> Parts:
    """A hundred overlapping classes in ten dimensions, with the mixture's own probabilities."""
    rng = np.random.default_rng(0)
    centres = 2.0 * rng.normal(size=(100, 10))
    X = centres[rng.integers(100, size=size)] + rng.normal(size=(size, 10))
    return X, None, softmax(-0.5 * ((X[:, None] - centres) ** 2).sum(axis=2), axis=1)


Loader = Callable[[Path, int], Parts]
DESIGN: dict[str, Loader] = {
    "cifar10h": cifar10h,
    "davidson": davidson,
    "digits": digits,
    "mnist": mnist,
    "labelme": labelme,
    "cifar10h_pca": cifar10h_pca,
    "labelme_pca": labelme_pca,
    "moons": moons,
    "gaussians": gaussians,
    "sine": sine,
}
JUDGE: dict[str, Loader] = {"chaosnli": chaosnli, "mdagreement": mdagreement}
EXTRA: dict[str, Loader] = {"hundred": hundred}  # run where many classes matter
MADE_UP = ("moons", "gaussians", "sine")  # items and truths from a formula
HUMAN = (
    "cifar10h",
    "cifar10h_pca",
    "davidson",
    "labelme",
    "labelme_pca",
    "chaosnli",
    "mdagreement",
)  # truths that come from people


def role_of(name: str) -> str:
    """Whether a dataset was there to design on, only judges, or was run once for its many classes."""
    return "judge" if name in JUDGE else "extra" if name in EXTRA else "design"


def load(name: str, data: Path, size: int = SIZE) -> Dataset:
    """One dataset by name, the same items every time."""
    X, features, truth = (DESIGN | JUDGE | EXTRA)[name](data, size)
    prior = None
    if name.startswith("cifar10h"):
        prior = _array(data / "cifar10h" / "classifier_probs.npy", rows_of(10_000, size, "cifar10h"))
    return Dataset(name, role_of(name), X, features, truth, prior)
