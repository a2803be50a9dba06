"""Which items to vote on next.

    a diffusion, mass (n, n_classes), votes per item  ->  CandidatePool  ->  strategy  ->  rows, best first

theory: [query]. Work per pick is a handful of local pushes, however many items there are; a call makes a few
passes over the items.
"""

from collections.abc import Sequence

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import InputError
from softspread.posterior.posterior import Posterior
from softspread.queries.pool import CandidatePool, Strategy
from softspread.queries.registry import STRATEGIES
from softspread.queries.rule import DEFAULT_LOTTERY, DEFAULT_RULE, LotteryRule, QueryRule
from softspread.spreading.state import SpreadState


def choose_items(
    diffusion: Diffusion,
    mass: FloatArray,
    vote_counts: FloatArray,
    batch_size: int = 1,
    strategy: str | Strategy = "uncertainty",
    rng: np.random.Generator | None = None,
    exclude: AnyArray | None = None,
    *,
    posterior: Posterior | None = None,
    probabilities: list[float] | None = None,
    rule: QueryRule = DEFAULT_RULE,
    lottery: LotteryRule = DEFAULT_LOTTERY,
) -> IntArray:
    """Choose the items to vote on next.

    Parameters
    ----------
    diffusion : Diffusion
        The graph at the alpha of ``mass``; best take both from :func:`choosing_state`.
    mass : (n, n_classes) float
        What each item has received per class.
    vote_counts : (n,) float
        Votes so far; fractions are rounded down.
    batch_size : int, default 1
        How many items.
    strategy : str or function, default "uncertainty"
        A name in :data:`~softspread.queries.registry.STRATEGIES`, or a function of a
        :class:`~softspread.queries.pool.CandidatePool` and the batch size that returns rows.
    rng : numpy.random.Generator, optional
        The same generator state gives the same rows.
    exclude : array of int, optional
        Rows never to pick, such as items set apart for estimating quality or already handed out.
    posterior : Posterior, optional
        What is known about every soft label; the default strategy then picks by it.
    probabilities : list, optional
        The probability of each pick is appended here: that of the draw at its step, given the picks before
        it, theory [query probability]. Refused for strategies that do not know it.
    rule, lottery : QueryRule, LotteryRule
        The constants of the built-in strategies.

    Returns
    -------
    (batch_size,) int
        Distinct rows, in the order in which they were picked.

    See Also
    --------
    choosing_state : The state to choose from.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import knn_graph
    >>> graph = knn_graph(np.arange(20.0)[:, None], n_neighbors=2)
    >>> diffusion = Diffusion(graph, 0.9)
    >>> rows = choose_items(diffusion, np.zeros((20, 2)), np.zeros(20), 5, rng=np.random.default_rng(0))
    >>> len(set(rows.tolist()))
    5
    >>> choose_items(diffusion, np.zeros((20, 2)), np.zeros(20), 2, lambda pool, size: range(size))
    array([0, 1])
    >>> chances = []
    >>> rows = choose_items(diffusion, np.zeros((20, 2)), np.zeros(20), 3, "uniform", probabilities=chances)
    >>> np.round(chances, 4).tolist()
    [0.05, 0.0526, 0.0556]
    """
    n = diffusion.graph.n_items
    table, counts = _checked_votes(mass, vote_counts, n)
    allowed = _not_excluded(exclude, n)
    size = validation.count("batch_size", batch_size, smallest=1)
    pick = STRATEGIES.find(strategy)
    if size > (n_open := int(allowed.sum())):
        raise InputError(
            f"batch_size is {size} but only {n_open} items may be picked; ask for fewer or exclude fewer."
        )
    pool = CandidatePool(diffusion, table, counts, allowed.copy(), rng or np.random.default_rng(), rule)
    pool.posterior, pool.lottery, pool.probabilities = posterior, lottery, probabilities
    n_known = 0 if probabilities is None else len(probabilities)
    rows = _checked_picks(pick(pool, size), size, allowed, strategy)
    if probabilities is not None and len(probabilities) != n_known + size:
        raise InputError(
            f"strategy {_name(strategy)!r} does not say how probable its picks are; 'uniform' does, and so "
            "does the default of SoftLabeler."
        )
    return rows


def _name(strategy: str | Strategy) -> str:
    return str(getattr(strategy, "__name__", strategy))


def choosing_state(state: SpreadState, rule: QueryRule = DEFAULT_RULE) -> SpreadState:
    """The state to choose from: the given one, or the same votes at the nearest alpha fit for choosing.

    A second state costs a fit of its own. Keep it, and pass later votes to its ``add`` as to the first one's.

    Parameters
    ----------
    state : SpreadState
        What the votes say at any alpha.
    rule : QueryRule
        Its ``smallest_alpha`` and ``largest_alpha`` are the bounds.

    Returns
    -------
    SpreadState
        ``state`` itself where its alpha is within the bounds.
    """
    diffusion = state.diffusion
    alpha = min(max(diffusion.alpha, rule.smallest_alpha), rule.largest_alpha)
    if alpha == diffusion.alpha:
        return state
    other = SpreadState(diffusion.at(alpha), state.votes, state.n_classes)
    other.solve()
    return other


def _checked_votes(mass: FloatArray, vote_counts: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    table, counts = np.asarray(mass, dtype=np.float64), np.asarray(vote_counts, dtype=np.float64)
    if table.ndim != 2 or len(table) != n:
        raise InputError(f"mass must have shape ({n}, n_classes), got {table.shape}.")
    if counts.shape != (n,):
        raise InputError(f"vote_counts must have shape ({n},), got {counts.shape}.")
    if not (np.isfinite(table).all() and np.isfinite(counts).all()):
        raise InputError("mass and vote_counts must be finite.")
    return table, counts


def _not_excluded(exclude: AnyArray | None, n: int) -> BoolArray:
    allowed = np.ones(n, dtype=bool)
    if exclude is not None and len(exclude):
        allowed[validation.rows_of_items(np.asarray(exclude), None, n)] = False
    return allowed


def _checked_picks(
    picked: Sequence[int] | IntArray, size: int, allowed: BoolArray, strategy: str | Strategy
) -> IntArray:
    """The picks of a strategy as rows; refused unless there are as many as asked, distinct and allowed."""
    rows, name = np.asarray(picked), _name(strategy)
    if rows.shape != (size,) or rows.dtype.kind not in "iu":
        raise InputError(f"strategy {name!r} must return {size} rows, got {picked!r}.")
    known = (rows >= 0) & (rows < len(allowed))
    if not known.all() or not allowed[rows].all() or len(np.unique(rows)) < size:
        raise InputError(
            f"strategy {name!r} must return distinct rows of items that may be picked, got {picked!r}."
        )
    return rows.astype(np.int64)
