"""The default search: exact where that is quick, else by cells."""

import numpy as np
from scipy.spatial import cKDTree

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, Neighbors
from softspread.graph.cells import search_cells
from softspread.graph.neighbors import TREE_DIMENSIONS, Search, search_exact, search_tree

EXACT_ITEMS = 50_000  # up to here the exact search is fast enough to be the default
EXACT_WORK = 1e12  # n * n * d of a blocked exact search, about a minute on two cores
DIMENSION_SAMPLE = 4_096  # items whose neighbours among themselves show the intrinsic dimension
DIMENSION_NEIGHBORS = 10  # of each; more average over more noise, but leave the neighbourhood
TREE_WINS = 3.5  # intrinsic dimensions up to which a tree is quicker than cells, at any number of items


def search_auto(
    X: AnyArray, n_neighbors: int, workers: Workers, rng: np.random.Generator, show: bool
) -> Neighbors:
    """Exact up to about 50,000 items and, by a tree, where a sample fills few dimensions; else by cells."""
    return choose_search(X, rng)(X, n_neighbors, workers, rng, show)


def choose_search(X: AnyArray, rng: np.random.Generator, exact_items: int = EXACT_ITEMS) -> Search:
    """The search that is quickest for these items, exact up to a size."""
    n, d = X.shape
    if exact_by_size(n, d, exact_items):
        return search_exact
    by_tree = d <= TREE_DIMENSIONS and intrinsic_dimension(X, rng) <= TREE_WINS
    return search_tree if by_tree else search_cells


def exact_by_size(n: int, d: int, exact_items: int = EXACT_ITEMS) -> bool:
    """Whether n items in d dimensions are few enough for an exact search."""
    return n <= exact_items and (d <= TREE_DIMENSIONS or n * n * d <= EXACT_WORK)


def intrinsic_dimension(X: AnyArray, rng: np.random.Generator) -> float:
    """In how many dimensions a sample of items spreads, by the maximum likelihood of their distances.

    Levina and Bickel's estimate, averaged as MacKay and Ghahramani propose:

        1 / dimension = mean of log(r_k / r_j) over items and j < k,   r_j the distance to the j-th neighbour

    Infinite where half of the sampled items or more have copies, as a tree cannot separate these.
    """
    sample = X[np.sort(rng.choice(len(X), min(len(X), DIMENSION_SAMPLE), replace=False))]
    k = min(DIMENSION_NEIGHBORS, len(sample) - 1)
    distances = cKDTree(sample).query(sample, k + 1)[0][:, 1:]
    apart = distances[:, 0] > 0
    if apart.mean() <= 0.5:
        return np.inf
    logs = np.log(distances[apart, -1:] / distances[apart, :-1])
    return float(1 / max(logs.mean(), np.finfo(np.float64).tiny))
