"""Datasets that need no download: two moons, the sine curve, scikit-learn's digits.

two moons    make_moons, noise 0.1;  p_true = output of a network 2 -> 20 -> 20 -> 1 with ReLU, trained on
them
sine curve   x uniform on [0, 10];   P(Y = 1 | x) = (1 + sin x) / 2        theory: [sine curve]
digits       8 x 8 pixels;           p_true = cross-validated class probabilities of extremely randomised
trees
"""

import warnings
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray
from softspread.datasets.core import Dataset, Source
from softspread.simulate import N_FOLDS, N_TREES, simulate_soft_labels

N_MOONS = 1_000  # the paper's text; its published raw results have 10,000
MOON_NOISE = 0.1
HIDDEN = (20, 20)
N_STEPS = (
    2_500  # of Adam, in batches of 200: soft labels as sharp as those behind the authors' published runs
)
BATCH = 200
SINE_RANGE = 10.0
N_SINE = 2_000
SINE_LIPSCHITZ = 0.5  # largest slope of (1 + sin x) / 2
LARGEST_GREY = 16.0  # pixels of the digits are 0 to 16
DIGITS_DIMENSION = 20  # of the embedding, as many as the paper uses
DIGITS_TRUTH = f"class probabilities of {N_TREES} extremely randomised trees, {N_FOLDS}-fold cross-validated"


def two_moons(
    n_items: int = N_MOONS, noise: float = MOON_NOISE, random_state: int = 0, n_steps: int = N_STEPS
) -> Dataset:
    """Two half circles, with soft labels from a small neural network.

    Parameters
    ----------
    n_items : how many
    noise : standard deviation added to both coordinates
    random_state : seeds points and network
    n_steps : of the training; more make the soft labels sharper

    Examples
    --------
    >>> moons = two_moons(200, n_steps=100)
    >>> moons.X.shape, moons.p_true.shape
    ((200, 2), (200, 2))
    """
    from sklearn.datasets import make_moons
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    n = validation.count("n_items", n_items, smallest=4)
    seed = validation.count("random_state", random_state)
    batch = min(BATCH, n)
    epochs = max(1, round(validation.count("n_steps", n_steps, smallest=1) / -(-n // batch)))
    X, labels = make_moons(n, noise=validation.not_negative("noise", noise), random_state=seed)
    network = MLPClassifier(
        HIDDEN,
        activation="relu",
        batch_size=batch,
        max_iter=epochs,
        tol=0.0,
        n_iter_no_change=epochs,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is meant to stop after so many epochs
        p_true = network.fit(X, labels).predict_proba(X)
    return Dataset(
        "two_moons",
        np.arange(2),
        X,
        p_true,
        labels.astype(np.int64),
        features="coordinates",
        note=f"network with hidden layers {HIDDEN}, {epochs} passes of training",
    )


def sine_curve(n_items: int = N_SINE, random_state: Any = 0) -> Dataset:
    """Items uniform on [0, 10], two classes, the second with probability (1 + sin x) / 2.

    Examples
    --------
    >>> sine_curve(100).p_true.sum(axis=1).round(12).tolist() == [1.0] * 100
    True
    """
    n = validation.count("n_items", n_items, smallest=2)
    x = validation.generator(random_state).uniform(0, SINE_RANGE, size=n)
    second = (1 + np.sin(x)) / 2
    p_true = np.column_stack([1 - second, second])
    return Dataset("sine_curve", np.arange(2), x[:, None], p_true, features="x", note="closed form")


def digits(features: str | None = None, random_state: Any = 0) -> Dataset:
    """1797 images of handwritten digits with simulated soft labels; scikit-learn ships the images.

    Parameters
    ----------
    features : "pca20" (default), "pixels", or "<technique><dimension>" with pca, isomap or umap
    random_state : seeds the soft labels and the embedding

    Examples
    --------
    >>> digits("pixels").X.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    pixels = np.asarray(pixels, dtype=np.float64) / LARGEST_GREY
    rng = validation.generator(random_state)
    p_true = simulate_soft_labels(pixels, labels, rng)
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
        note=DIGITS_TRUTH,
    )


def reduced(X: AnyArray, technique: str, seed: int = 0) -> FloatArray:
    """Features of fewer dimensions by a technique and a dimension in one word, such as "pca20"; "pixels"
    changes none.

    Examples
    --------
    >>> reduced(np.eye(6), "pca2").shape
    (6, 2)
    """
    from softspread.errors import InputError, MissingExtraError

    if technique == "pixels":
        return np.asarray(X, dtype=np.float64)
    kind = technique.rstrip("0123456789")
    number = technique[len(kind) :]
    if kind not in ("pca", "isomap", "umap") or not number:
        raise InputError(
            f"features must be pixels, pca<d>, isomap<d> or umap<d> with a number d, got {technique!r}."
        )
    d = int(number)
    if kind == "umap":
        try:
            from umap import UMAP
        except ImportError as error:
            raise MissingExtraError(
                "umap features need umap-learn: pip install 'softspread[embed]'."
            ) from error
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that a seed turns off its threads
            return np.asarray(UMAP(n_components=d, random_state=seed).fit_transform(X), dtype=np.float64)
    from sklearn.decomposition import PCA
    from sklearn.manifold import Isomap

    model = PCA(d, svd_solver="full") if kind == "pca" else Isomap(n_components=d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Isomap says that it joins the pieces of its graph, and how
        return np.asarray(model.fit_transform(X), dtype=np.float64)


TWO_MOONS = Source(two_moons, "two half circles in the plane, 2 classes, soft labels of a small network")
SINE_CURVE = Source(sine_curve, "items on a line, 2 classes, closed-form soft labels")
DIGITS = Source(digits, "1797 handwritten digits, simulated soft labels")
