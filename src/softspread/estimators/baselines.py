"""The paper's baselines: counted votes, a Gaussian kernel, an average over the nearest voted items.

Same habits as :class:`~softspread.ProbabilisticLabelSpreading`. Theory: [histogram], [kernel regression],
[neighbour votes].
"""

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from softspread._common import validation
from softspread._common.progress import progress_bar
from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray, FloatArray
from softspread.estimators.base import VotesEstimator
from softspread.graph.neighbors import nearest_items
from softspread.spreading.evidence import Evidence

BLOCK_ENTRIES = 4_000_000  # kernel entries held at once: 32 MB


class _Baseline(VotesEstimator):
    """Shared by the baselines: their prior is uniform and only fills items without any evidence."""

    def _check_parameters(self) -> None:
        pass

    def _mass_of(self, X: AnyArray) -> FloatArray:
        """Mass of any items."""
        raise NotImplementedError  # pragma: no cover

    def _spread(self) -> None:
        counts = self.vote_counts_
        self._voted = np.flatnonzero(counts.any(axis=1))
        self._voted_counts = counts[self._voted]
        self._fitted = _exact(self._mass_of(self._items))

    def _evidence(self) -> Evidence:
        return self._fitted

    def _evidence_of_new(self, X: AnyArray) -> tuple[Evidence, FloatArray]:
        return _exact(self._mass_of(X)), np.broadcast_to(
            self.prior_.mean(axis=0), (len(X), len(self.classes_))
        )


def _exact(mass: FloatArray) -> Evidence:
    return Evidence(mass, np.zeros(len(mass)))


class VoteHistogram(_Baseline):
    """Relative class frequencies of each item's own votes: spreading with alpha = 0. A new item has no votes.

    See Also
    --------
    ProbabilisticLabelSpreading : Also uses the votes on similar items.

    Examples
    --------
    >>> VoteHistogram().fit([[0.0], [1.0]], [[3, 1], [0, 0]]).predict_proba().tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    def _spread(self) -> None:
        pass

    def _evidence(self) -> Evidence:
        return _exact(self.vote_counts_)

    def _mass_of(self, X: AnyArray) -> FloatArray:
        """An item that was fitted has its own votes; anything else has none."""
        counts = self.vote_counts_
        known: dict[bytes, FloatArray] = {}
        for row, vector in enumerate(np.ascontiguousarray(self._items) + 0.0):  # -0.0 is 0.0
            key = vector.tobytes()
            known[key] = known.get(key, 0) + counts[row]
        none = np.zeros(len(self.classes_))
        queries = np.ascontiguousarray(X.astype(self._items.dtype)) + 0.0
        return np.array([known.get(vector.tobytes(), none) for vector in queries])


class GaussianKernelRegression(_Baseline):
    """Every vote reaches every item with weight exp(-gamma * squared distance).

    Parameters
    ----------
    gamma : float, default 10.0
        Rate of decay.
    n_jobs : int, optional
        Accepted for symmetry; the products run on all cores of the linear algebra library.
    verbose : bool, default False
        Show progress.

    See Also
    --------
    ProbabilisticLabelSpreading : Spreads votes over a graph of neighbours instead.
    KNeighborsVotes : Takes the nearest voted items only.

    Notes
    -----
    Computed in blocks: memory does not grow with items times votes.

    Examples
    --------
    >>> est = GaussianKernelRegression(gamma=1.0).fit([[0.0], [1.0], [2.0]], [0, -1, 1])
    >>> est.predict_proba()[1].tolist()
    [0.5, 0.5]
    """

    def __init__(self, *, gamma: float = 10.0, n_jobs: int | None = None, verbose: bool = False) -> None:
        self.gamma = gamma
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        validation.positive("gamma", self.gamma)

    def _mass_of(self, X: AnyArray) -> FloatArray:
        mass = np.zeros((len(X), len(self.classes_)))
        if len(self._voted) == 0:
            return mass
        centre = np.asarray(self._items, dtype=np.float64).mean(
            axis=0
        )  # distances by products lose digits far from 0
        seeds = np.asarray(self._items, dtype=np.float64)[self._voted] - centre
        size = max(1, BLOCK_ENTRIES // len(seeds))
        with progress_bar("kernel regression", len(X), bool(self.verbose)) as advance:
            for first in range(0, len(X), size):
                block = slice(first, first + size)
                kernel = euclidean_distances(
                    np.asarray(X[block], dtype=np.float64) - centre, seeds, squared=True
                )
                kernel *= -self.gamma
                np.exp(kernel, out=kernel)
                mass[block] = kernel @ self._voted_counts
                advance(len(kernel))
        return mass


class KNeighborsVotes(_Baseline):
    """All votes of the nearest voted items, an item's own votes among them, counted together.

    Parameters
    ----------
    n_neighbors : int, default 20
        How many voted items; fewer where fewer have votes.
    n_jobs : int, optional
        Threads; all cores by default.

    See Also
    --------
    ProbabilisticLabelSpreading : Spreads votes over a graph of neighbours instead.
    GaussianKernelRegression : Takes all voted items, weighted by distance.

    Examples
    --------
    >>> est = KNeighborsVotes(n_neighbors=1).fit([[0.0], [1.0], [5.0]], [0, -1, 1])
    >>> est.predict().tolist()
    [0, 0, 1]
    """

    def __init__(self, *, n_neighbors: int = 20, n_jobs: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        validation.count("n_neighbors", self.n_neighbors, smallest=1)

    def _mass_of(self, X: AnyArray) -> FloatArray:
        if len(self._voted) == 0:
            return np.zeros((len(X), len(self.classes_)))
        k = min(self.n_neighbors, len(self._voted))
        with Workers(count_threads(self.n_jobs)) as workers:
            found, _ = nearest_items(self._items[self._voted], X, k, workers)
        return np.asarray(self._voted_counts[found].sum(axis=1))
