"""Two moons: two half circles in the plane, with soft labels of a small network.

make_moons, noise 0.1;  p_true = output of a network 2 -> 20 -> 20 -> 1 with ReLU, trained on them
"""

import warnings

import numpy as np

from softspread._common import validation
from softspread.datasets.dataset import Dataset, Source

N_MOONS = 1_000  # the paper's text; its published raw results have 10,000
MOON_NOISE = 0.1  # of make_moons: the moons stay apart
HIDDEN = (20, 20)  # units of the network that makes the soft labels
# Of Adam, in batches of 200: soft labels as sharp as those behind the authors' published runs
N_STEPS = 2_500
BATCH = 200  # items per step of Adam


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
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is meant to stop early
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


SOURCE = Source(two_moons, "two half circles in the plane, 2 classes, soft labels of a small network")
