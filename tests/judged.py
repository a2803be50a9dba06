"""Soft labels to judge, and votes to judge them by."""

import numpy as np

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.spreading.evidence import soft_labels
from softspread.spreading.state import SpreadState
from voting import table

N_CLASSES = 3


def draw(truth, r, rng):
    """r votes on each item."""
    return rng.multinomial(r, truth).astype(float)


def missed_truth():
    """300 true soft labels and predictions that miss them."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(N_CLASSES, 0.4), size=300)
    return truth, 0.8 * truth + 0.2 * rng.dirichlet(np.ones(N_CLASSES), size=300)


def ring():
    """A ring of items whose soft label turns smoothly: its diffusion and its truth."""
    rng = np.random.default_rng(1)
    angle = np.sort(rng.uniform(0, 2 * np.pi, 600))
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    first = 0.5 + 0.45 * np.sin(angle)
    return Diffusion(knn_graph(X, 10, n_jobs=1), 0.9, n_jobs=1), np.stack([first, 1 - first], axis=1)


def votes_on(rows, truth, rng):
    """One vote on each row, for one of two classes."""
    return table(rows, rng.random(len(rows)) > truth[rows, 0])


def spread(diffusion, votes, n_classes=2):
    """The solved state, its soft labels and their prior."""
    state = SpreadState(diffusion, votes, n_classes)
    state.solve()
    prior = np.full((diffusion.n_items, n_classes), 1 / n_classes)
    return state, soft_labels(state.mass(), prior, 1e-4), prior


def entropy_of(truth):
    """Of each row."""
    return -(truth * np.log(np.maximum(truth, 1e-300))).sum(axis=1)
