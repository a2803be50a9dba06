"""A task that every method solves, for the tests of the reproduction."""

import numpy as np

from softspread.datasets.dataset import Dataset
from softspread.reproduce.methods.methods import Task
from softspread.simulate import draw_crowd_votes, make_crowd


def blobs(n_votes=150, seed=0):
    """Three clouds with certain soft labels, 60 items each, votes by ten honest people."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 2)) * 0.5 + np.array([[0, 0], [4, 0], [0, 4]])[labels]
    p = np.eye(3)[labels]
    votes = draw_crowd_votes(p, n_votes, rng, make_crowd(10, 3, rng))
    data = Dataset("blobs", np.arange(3), X, p, labels, prior=np.full((180, 3), 1 / 3))
    return Task(data, votes, 0)
