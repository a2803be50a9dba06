"""The digits that scikit-learn ships: 1797 images of 8 x 8 pixels, with simulated soft labels.

p_true = cross-validated class probabilities of extremely randomised trees
"""

import warnings
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from softspread._common import validation
from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray, FloatArray
from softspread.datasets.dataset import Dataset, LackingError, Source
from softspread.errors import InputError
from softspread.simulate import N_FOLDS, N_TREES, simulate_soft_labels

LARGEST_GREY = 16.0  # pixels of the digits are 0 to 16
DIGITS_DIMENSION = 20  # of the embedding, as many as the paper uses
TECHNIQUES = ("pca", "isomap", "umap")
NESTED_DIMENSIONS = 512  # the most that the paper reduces to
ISOMAP_ITEMS = 20_000  # 6.4 GB for distances of all pairs


def digits(
    features: str | None = None, random_state: Any = 0, *, n_items: int | None = None, n_trees: int = N_TREES
) -> Dataset:
    """1797 images of handwritten digits with simulated soft labels; scikit-learn ships the images.

    Parameters
    ----------
    features : "pca20" (default), "pixels", or "<technique><dimension>" with pca, isomap or umap
    random_state : seeds the soft labels and the embedding
    n_items : how many of the images, from the first on; None = all
    n_trees : of the classifier whose probabilities are the soft labels

    Examples
    --------
    >>> digits("pixels").X.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    pixels, labels = np.asarray(pixels[:n_items], dtype=np.float64) / LARGEST_GREY, labels[:n_items]
    rng = validation.generator(random_state)
    p_true = simulate_soft_labels(pixels, labels, rng, n_trees=n_trees)
    name = f"pca{DIGITS_DIMENSION}" if features is None else features
    images = (pixels * 255).round().astype(np.uint8).reshape(-1, 8, 8)
    return Dataset(
        "digits",
        np.arange(10),
        reduced(pixels, name, seed=int(rng.integers(2**31 - 1))),
        p_true,
        np.asarray(labels, dtype=np.int64),
        images=images,
        features=name,
        note=f"class probabilities of {n_trees} extremely randomised trees, {N_FOLDS}-fold cross-validated",
    )


def split_technique(technique: str) -> tuple[str, int]:
    """Name and dimension of a reduction, such as ("pca", 20) of "pca20"."""
    kind = technique.rstrip("0123456789")
    number = technique[len(kind) :]
    if kind not in TECHNIQUES or not number:
        raise InputError(
            f"features must be pixels, pca<d>, isomap<d> or umap<d> with a number d, got {technique!r}."
        )
    return kind, int(number)


def largest_dimension(kind: str, X: AnyArray, wanted: int) -> int:
    """How many dimensions to compute: all that may be asked for where the first ones are always the same.

    The first dimensions of PCA and Isomap do not depend on how many follow; those of UMAP do.
    """
    if kind == "umap":
        return wanted
    return max(wanted, min(NESTED_DIMENSIONS, X.shape[1] if kind == "pca" else len(X) - 1, len(X) - 1))


def reduced(X: AnyArray, technique: str, seed: int = 0) -> FloatArray:
    """Features reduced by technique and dimension in one word, such as "pca20".

    "pixels" leaves them as they are. One thread of linear algebra and exact eigenvectors: the result does not
    depend on the number of threads.

    Examples
    --------
    >>> reduced(np.eye(6), "pca2").shape
    (6, 2)
    """
    if technique == "pixels":
        return np.asarray(X, dtype=np.float64)
    kind, d = split_technique(technique)
    if kind == "umap":
        with needs_extra("umap", "umap features need umap-learn"):
            from umap import UMAP
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that a seed turns off its threads
            return np.asarray(UMAP(n_components=d, random_state=seed).fit_transform(X), dtype=np.float64)
    from sklearn.decomposition import PCA
    from sklearn.manifold import Isomap

    most = min(X.shape) if kind == "pca" else len(X) - 1
    if d > most:
        raise LackingError(
            f"{kind} of {len(X):,} items with {X.shape[1]} features has at most {most} dimensions."
        )
    if kind == "isomap" and len(X) > ISOMAP_ITEMS:
        raise LackingError(
            f"Isomap of {len(X):,} items needs {2 * len(X) ** 2 * 8 / 1e9:.0f} GB for the distances of all "
            f"pairs; it is run up to {ISOMAP_ITEMS:,} items."
        )
    # Isomap's default starts its iterations at random; the dense solver has nothing to start
    model = PCA(d, svd_solver="full") if kind == "pca" else Isomap(n_components=d, eigen_solver="dense")
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # Isomap says that it joins the pieces of its graph, and how
        return np.asarray(model.fit_transform(X), dtype=np.float64)


SOURCE = Source(digits, "1797 handwritten digits, simulated soft labels")
