"""A simulation of the consistency theorem: errors vanish far earlier than the bound promises.

uniform items, smooth soft labels, votes  ->  the variant of the proof  ->  largest error as n grows
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray, RandomState
from softspread.errors import InputError
from softspread.guarantees.theorem import SMALLEST_N, log_ball_volume

SINE_LIPSCHITZ = math.sqrt(2) * math.pi  # of the two-class soft labels of `sine_soft_labels`, in the 2-norm
RADIUS_FACTORS = {1: 0.4, 2: 0.7}  # smallest tried that left 500 uniform items in at most 2 pieces
BUDGET_FACTOR = 0.25  # a third of a vote per item at n = 500, d = 1


@dataclass(frozen=True, slots=True)
class ConsistencyPoint:
    """Results of several draws at one number of items.

    Attributes
    ----------
    graph : str
        "epsilon" or "knn".
    dimension : int
        Of the features.
    n_items, n_votes : int
        Items, and votes on them.
    alpha : float
        Spreading intensity.
    radius : float
        Of the epsilon-graph; nan for the k-nearest-neighbour graph.
    mean_degree : float
        Edges per item, mean over the draws.
    largest_errors : tuple of float
        Largest distance of a soft label from the truth, per draw.
    rmses : tuple of float
        Root mean squared error, per draw.

    Examples
    --------
    >>> ConsistencyPoint("knn", 1, 100, 50, 0.9, float("nan"), 8.0, (0.25, 0.75), (0.1, 0.1)).largest_error
    0.5
    """

    graph: str
    dimension: int
    n_items: int
    n_votes: int
    alpha: float
    radius: float
    mean_degree: float
    largest_errors: tuple[float, ...]
    rmses: tuple[float, ...]

    @property
    def votes_per_item(self) -> float:
        """Budget over number of items."""
        return self.n_votes / self.n_items

    @property
    def largest_error(self) -> float:
        """Mean of the largest errors."""
        return float(np.mean(self.largest_errors))

    @property
    def largest_error_spread(self) -> float:
        """Standard deviation of the largest errors over the draws."""
        return float(np.std(self.largest_errors, ddof=1)) if len(self.largest_errors) > 1 else 0.0

    @property
    def rmse(self) -> float:
        """Mean of the root mean squared errors."""
        return float(np.mean(self.rmses))

    @property
    def rmse_spread(self) -> float:
        """Standard deviation of the root mean squared errors over the draws."""
        return float(np.std(self.rmses, ddof=1)) if len(self.rmses) > 1 else 0.0


def sine_soft_labels(X: AnyArray) -> FloatArray:
    """Known soft labels of two classes, (1 + sin(2 pi x_1)) / 2 and the rest.

    Their Lipschitz constant is sqrt(2) pi.

    Parameters
    ----------
    X : (n, d) array
        Features; only the first column counts.

    Returns
    -------
    (n, 2) array
        Rows sum to 1.

    See Also
    --------
    simulate_consistency : Draws votes from them.

    Examples
    --------
    >>> sine_soft_labels(np.array([[0.0], [0.25]])).tolist()
    [[0.5, 0.5], [1.0, 0.0]]
    """
    first = (1 + np.sin(2 * np.pi * X[:, 0])) / 2
    return np.column_stack([first, 1 - first])


def simulate_consistency(
    dimension: int = 1,
    n_items: Sequence[int] = (500, 2_000, 8_000, 32_000),
    *,
    graph: str = "epsilon",
    n_draws: int = 5,
    budget_factor: float = BUDGET_FACTOR,
    radius_factor: float | None = None,
    random_state: RandomState = 0,
) -> list[ConsistencyPoint]:
    """Watch the largest error fall while votes per item vanish, theory [guarantee].

    Uniform items on the unit cube, soft labels :func:`sine_soft_labels`, votes on items drawn with
    replacement. alpha_n is the theorem's, radius and budget have its rates with practical factors: h_n =
    radius_factor * n**-gamma, m_n = budget_factor * n**(1 - gamma / 2) * log(n), gamma = 1 / (d + 1).
    Profiles are not scaled and there is no prior, as in the theorem.

    Parameters
    ----------
    dimension : int, default 1
        1 or 2 unless a radius_factor is given.
    n_items : sequence of int, default (500, 2000, 8000, 32000)
        Numbers of items to try.
    graph : {"epsilon", "knn"}, default "epsilon"
        "epsilon": random-walk normalisation, the theorem's graph; "knn": Gaussian weights, symmetric, with as
        many neighbours as the epsilon-graph has inside the cube.
    n_draws : int, default 5
        Independent repetitions.
    budget_factor : float, default 0.25
        Factor of the number of votes, see above.
    radius_factor : float, optional
        Factor of the radius, see above; by default one that keeps 500 items connected.
    random_state : int, Generator or None, default 0
        Seed.

    Returns
    -------
    list of ConsistencyPoint
        One per number of items.

    See Also
    --------
    plan : What the theorem itself promises.

    Examples
    --------
    >>> few, many = simulate_consistency(n_items=(200, 2_000), n_draws=3)
    >>> many.votes_per_item < few.votes_per_item, many.rmse < few.rmse
    (True, True)
    """
    d = validation.count("dimension", dimension, 1)
    validation.choice("graph", graph, ("epsilon", "knn"))
    n_draws = validation.count("n_draws", n_draws, 1)
    budget_factor = validation.positive("budget_factor", budget_factor)
    if radius_factor is None and d not in RADIUS_FACTORS:
        raise InputError(
            f"there is no tried radius for dimension {d}; pass radius_factor, 0.4 and 0.7 fit 1 and 2."
        )
    factor = (
        RADIUS_FACTORS[d] if radius_factor is None else validation.positive("radius_factor", radius_factor)
    )
    rng = validation.generator(random_state)
    sizes = [validation.count("n_items", n, SMALLEST_N) for n in n_items]
    return [_simulate_at(n, d, graph, n_draws, budget_factor, factor, rng) for n in sizes]


def _simulate_at(
    n: int,
    d: int,
    kind: str,
    n_draws: int,
    budget_factor: float,
    radius_factor: float,
    rng: np.random.Generator,
) -> ConsistencyPoint:
    gamma = 1 / (d + 1)
    alpha, radius = 1 - n**-gamma, radius_factor * n**-gamma
    n_votes = math.ceil(budget_factor * n ** (1 - gamma / 2) * math.log(n))
    n_neighbors = max(1, min(n - 1, round(n * radius**d * math.exp(log_ball_volume(d)))))
    draws = [
        _one_draw(n, d, n_votes, alpha, radius if kind == "epsilon" else n_neighbors, rng)
        for _ in range(n_draws)
    ]
    degrees, largest, rmses = zip(*draws, strict=True)
    shown_radius = radius if kind == "epsilon" else math.nan
    return ConsistencyPoint(kind, d, n, n_votes, alpha, shown_radius, float(np.mean(degrees)), largest, rmses)


def _one_draw(
    n: int, d: int, n_votes: int, alpha: float, reach: float | int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Edges per item, largest error and RMSE of one draw.

    An integer ``reach`` is a number of neighbours, a float a radius.
    """
    from softspread.estimators.spreading import ProbabilisticLabelSpreading
    from softspread.graph.builders import epsilon_graph, knn_graph
    from softspread.metrics import rmse
    from softspread.votes.votes import Votes

    X = rng.random((n, d))
    truth = sine_soft_labels(X)
    items = rng.integers(n, size=n_votes)
    votes = Votes.from_pairs(items, (rng.random(n_votes) >= truth[items, 0]).astype(int), classes=[0, 1])
    if isinstance(reach, int):
        ties = knn_graph(X, reach, n_jobs=1)
    else:
        ties = epsilon_graph(X, reach, normalization="random_walk")
    estimator = ProbabilisticLabelSpreading(
        alpha=alpha, scaling="none", prior_strength=0.0, annotator_model="none", n_jobs=1
    )
    p = estimator.fit(ties, votes).predict_proba()
    return ties.n_edges / n, float(np.linalg.norm(p - truth, axis=1).max()), float(rmse(truth, p))
