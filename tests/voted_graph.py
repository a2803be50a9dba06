"""Four clusters of items with some votes, for tests of what is chosen or told from them."""

import numpy as np

from softspread import knn_graph
from softspread.spreading.state import SpreadState
from softspread.votes.table import VoteTable

N, N_CLASSES, N_VOTES = 400, 3, 80


def four_clusters(**settings):
    """A graph of four clusters in the plane."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(4 * c, 1, size=(N // 4, 2)) for c in range(4)])
    return knn_graph(X, 10, n_jobs=1, **settings)


def spread(diffusion, n_votes=N_VOTES, seed=1):
    """The diffusion, mass of random votes that mostly follow the clusters, and votes per item."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(N, size=n_votes)
    columns = np.where(
        rng.random(n_votes) < 0.8, rows // (N // 4) % N_CLASSES, rng.integers(N_CLASSES, size=n_votes)
    )
    state = SpreadState(diffusion, VoteTable(rows, columns, np.ones(n_votes)), N_CLASSES)
    state.solve()
    mass = state.mass()
    return diffusion, mass, np.bincount(rows, minlength=N).astype(float)


def dense_reach(graph, alphas):
    """Scaled inverse for each alpha: column q is what every item receives from a vote on q, at most 1."""
    S = graph.S.toarray()
    inverses = {alpha: np.linalg.inv(np.eye(len(S)) - alpha * S) for alpha in alphas}
    return {alpha: M / M.max(axis=0) for alpha, M in inverses.items()}
