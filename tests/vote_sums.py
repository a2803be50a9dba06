"""Random graphs with votes, and their sums of squares computed directly."""

import numpy as np

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.literal import literal_mass
from softspread.intervals.vote_sums import sums_of_squares
from softspread.votes.ballots import Ballots
from voting import table

ROUNDING = 1e-9


def sums_over(diffusion, votes, mass, **options):
    """Sums over a table of votes."""
    return sums_of_squares(diffusion, Ballots.of(votes, mass.shape[1]), mass, **options)


def random_case(
    seed, n=30, m=25, n_classes=3, alpha=0.9, normalization="symmetric", scaling="peak", weighted=False
):
    """A small graph, votes on it, their exact mass and the exact phi of every vote."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    graph = knn_graph(X, n_neighbors=min(4, n - 1), normalization=normalization)
    diffusion = Diffusion(graph, alpha, scaling=scaling, n_jobs=1)
    weights = rng.uniform(0.2, 3.0, m) if weighted else None
    votes = table(rng.integers(0, n, m), rng.integers(0, n_classes, m), weights)
    mass = literal_mass(diffusion, votes, n_classes)
    phi = np.stack([diffusion.literal_profile(row) for row in votes.rows], axis=1)
    return X, graph, diffusion, votes, mass, phi


def exact_sums(X, votes, phi, lipschitz):
    distance = np.linalg.norm(X[:, None] - X[votes.rows][None], axis=2)
    bias = (votes.weights * phi * np.minimum(1, lipschitz * distance)).sum(axis=1)
    return (votes.weights**2 * phi**2).sum(axis=1), bias
