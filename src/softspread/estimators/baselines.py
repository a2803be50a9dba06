"""The paper's baselines: counted votes, a Gaussian kernel, an average over the nearest voted items.

Same habits as :class:`~softspread.ProbabilisticLabelSpreading`. Theory: [histogram], [kernel regression],
[neighbour votes].
"""

from collections.abc import Iterator

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from softspread._common import validation
from softspread._common.progress import progress_bar
from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray, BoolArray, FloatArray
from softspread.errors import InputError
from softspread.estimators.growing import GrowingEstimator
from softspread.graph.neighbors import nearest_items
from softspread.spreading.evidence import Evidence

FAINT = 1e-290  # less than this has lost digits to underflow
AVERAGES = ("votes", "items")
TOO_FEW = ("fewer", "error")


class _Baseline(GrowingEstimator):
    """Shared by the baselines: their prior is uniform and only fills items without any evidence."""

    def _check_parameters(self) -> None:
        pass

    def _take_in(self, new: AnyArray) -> None:
        self._items = np.concatenate([self._items, new.astype(self._items.dtype)])
        self._spread()

    def _let_go(self, keep: BoolArray, votes_lost: bool) -> None:
        self._items = self._items[keep]
        self._spread()

    def _mass_of(self, X: AnyArray) -> FloatArray:
        """Mass of any items."""
        raise NotImplementedError  # pragma: no cover

    def _prior_of(self, X: AnyArray, mass: FloatArray) -> FloatArray:
        """The answer without any mass: uniform."""
        n_classes = len(self.classes_)
        return np.broadcast_to(np.full(n_classes, 1 / max(1, n_classes)), (len(X), n_classes))

    def _spread(self) -> None:
        counts = self.vote_counts_
        self._voted = np.flatnonzero(counts.any(axis=1))
        self._voted_counts = counts[self._voted]
        mass = self._mass_of(self._items)
        self._fitted, self.prior_ = _exact(mass), self._prior_of(self._items, mass)

    def _evidence(self) -> Evidence:
        return _exact(self._fitted.mass.copy())

    def _evidence_of_new(self, X: AnyArray) -> tuple[Evidence, FloatArray]:
        mass = self._mass_of(X)
        return _exact(mass), self._prior_of(X, mass)


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
    prior_strength : float, default 0.0
        How many votes a uniform prior counts as. 0 is the formula as the paper prints it: an item far from
        all votes has the soft label of the nearest ones. In the authors' published runs such an item is
        uniform, as if about 1e-8 were added.
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
    Computed in blocks: memory does not grow with items times votes. Where every weight is too small for
    double precision, evidence is 0 and the soft label is the limit of the formula.

    Examples
    --------
    >>> est = GaussianKernelRegression(gamma=1.0).fit([[0.0], [1.0], [2.0]], [0, -1, 1])
    >>> est.predict_proba()[1].tolist()
    [0.5, 0.5]
    >>> far = GaussianKernelRegression(gamma=1.0).fit([[0.0], [1.0], [99.0]], [0, 1, -1])
    >>> far.predict_proba()[2].round(3).tolist()
    [0.0, 1.0]
    """

    _block_entries = 4_000_000  # of the kernel, held at once: 32 MB

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        prior_strength: float = 0.0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.gamma = gamma
        self.prior_strength = prior_strength
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        validation.positive("gamma", self.gamma)
        self.prior_strength_ = validation.not_negative("prior_strength", self.prior_strength)

    def _mass_of(self, X: AnyArray) -> FloatArray:
        mass = np.zeros((len(X), len(self.classes_)))
        for block, distances in self._distances(X):
            mass[block] = np.exp(-self.gamma * distances) @ self._voted_counts
        mass[mass.sum(axis=1) < FAINT] = 0.0
        return mass

    def _prior_of(self, X: AnyArray, mass: FloatArray) -> FloatArray:
        """Uniform; without strength the limit of the formula where all weights vanish: nearest votes win."""
        uniform = super()._prior_of(X, mass)
        far = np.flatnonzero(~mass.any(axis=1))
        if self.prior_strength_ > 0 or not len(far) or not len(self._voted):
            return uniform
        prior = uniform.copy()
        for block, distances in self._distances(X[far]):
            nearer = np.exp(-self.gamma * (distances - distances.min(axis=1, keepdims=True)))
            share = nearer @ self._voted_counts
            prior[far[block]] = share / share.sum(axis=1, keepdims=True)
        return prior

    def _distances(self, X: AnyArray) -> Iterator[tuple[slice, FloatArray]]:
        """Squared distances of some items at a time to all voted ones."""
        if len(self._voted) == 0:
            return
        items = np.asarray(self._items, dtype=np.float64)
        centre = items.mean(axis=0)  # distances by products lose digits far from 0
        seeds = items[self._voted] - centre
        size = max(1, self._block_entries // len(seeds))
        with progress_bar("kernel regression", len(X), bool(self.verbose)) as advance:
            for first in range(0, len(X), size):
                block = slice(first, min(first + size, len(X)))
                rows = np.asarray(X[block], dtype=np.float64) - centre
                yield block, euclidean_distances(rows, seeds, squared=True)
                advance(len(rows))


class KNeighborsVotes(_Baseline):
    """Votes of the nearest voted items, an item's own votes among them.

    Parameters
    ----------
    n_neighbors : int, default 20
        How many voted items.
    average : {"votes", "items"}, default "votes"
        "votes" counts all their votes together, as the paper's Algorithm 3 does; "items" averages their
        histograms, as its text has it: an item with ten votes counts as much as one with a single vote.
        The two are equal where every item has the same number of votes.
    too_few : {"fewer", "error"}, default "fewer"
        Where fewer items have votes: "fewer" takes all there are, "error" refuses to answer, as the paper
        does.
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
    >>> X, counts = [[0.0], [1.0], [2.0]], [[3, 0], [0, 0], [0, 1]]
    >>> KNeighborsVotes(n_neighbors=2).fit(X, counts).predict_proba()[1].tolist()
    [0.75, 0.25]
    >>> KNeighborsVotes(n_neighbors=2, average="items").fit(X, counts).predict_proba()[1].tolist()
    [0.5, 0.5]
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 20,
        average: str = "votes",
        too_few: str = "fewer",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.average = average
        self.too_few = too_few
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        validation.count("n_neighbors", self.n_neighbors, smallest=1)
        validation.choice("average", self.average, AVERAGES)
        validation.choice("too_few", self.too_few, TOO_FEW)

    def _mass_of(self, X: AnyArray) -> FloatArray:
        n_voted = len(self._voted)
        if self.too_few == "error" and n_voted < self.n_neighbors:
            raise InputError(
                f"{n_voted} items have votes, fewer than n_neighbors={self.n_neighbors}; lower n_neighbors, "
                "or pass too_few='fewer' to take all there are."
            )
        if n_voted == 0:
            return np.zeros((len(X), len(self.classes_)))
        k = min(self.n_neighbors, n_voted)
        with Workers(count_threads(self.n_jobs)) as workers:
            found, _ = nearest_items(self._items[self._voted], X, k, workers)
        counts = self._voted_counts
        pooled = np.asarray(counts[found].sum(axis=1))
        if self.average == "votes":
            return pooled
        histograms = counts / counts.sum(axis=1, keepdims=True)
        return np.asarray(histograms[found].mean(axis=1) * pooled.sum(axis=1, keepdims=True))
