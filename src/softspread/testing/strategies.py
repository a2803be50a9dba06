"""The requirements on a query strategy."""

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.queries.choose import choose_items
from softspread.queries.pool import Strategy
from softspread.queries.registry import STRATEGIES, needs_features
from softspread.spreading.state import SpreadState
from softspread.testing.claims import answer_of, require
from softspread.testing.examples import N_ITEMS, clustered_graph, vote_counts
from softspread.votes.table import VoteTable

CASES = ((0, 3), (20, 3), (150, 3), (150, 1))  # votes, classes
EXCLUDED = np.arange(0, N_ITEMS, 9)


def check_strategy(strategy: str | Strategy) -> None:
    """Check that a query strategy keeps the promises of :class:`~softspread.queries.pool.Strategy`.

    Without votes, with few, with many and with a single class, on graphs with and without features: it
    returns as many distinct rows as asked, none of them excluded, also when all open items are asked for; the
    same seed gives the same rows; its inputs stay as they are.

    Parameters
    ----------
    strategy : str or callable
        A registered name, or what would be registered: ``strategy(pool, batch_size)`` returns rows.

    Raises
    ------
    AssertionError
        Naming the first promise that is broken.

    Examples
    --------
    >>> from softspread.testing import check_strategy
    >>> check_strategy(lambda pool, batch_size: pool.open_rows()[:batch_size])
    """
    pick = STRATEGIES.find(strategy)
    for features in (True,) if needs_features(pick) else (True, False):
        diffusion = Diffusion(clustered_graph(features=features), 0.9, n_jobs=1)
        for n_votes, n_classes in CASES:
            graph = "a graph with features" if features else "a graph without features"
            where = f"on {graph} and with {n_votes} votes for {n_classes} classes"
            _check_on(pick, diffusion, vote_counts(n_votes, n_classes), where)


def _check_on(pick: Strategy, diffusion: Diffusion, counts: FloatArray, where: str) -> None:
    rows, columns = np.nonzero(counts)
    state = SpreadState(diffusion, VoteTable(rows, columns, counts[rows, columns]), counts.shape[1])
    state.solve()
    mass, per_item = state.mass(), counts.sum(axis=1)
    kept = mass.copy(), per_item.copy()

    def picked(size: int) -> IntArray:
        rng = np.random.default_rng(0)
        return answer_of(
            lambda: choose_items(diffusion, mass, per_item, size, pick, rng, EXCLUDED),
            f"{where} a batch of {size} is picked",
        )

    for size in (1, 7, N_ITEMS - len(EXCLUDED)):
        same = np.array_equal(picked(size), picked(size))
        require(same, f"{where} the same seed picks the same {size} rows")
    require(np.array_equal(kept[0], mass), f"{where} mass stays as it is")
    require(np.array_equal(kept[1], per_item), f"{where} the numbers of votes stay as they are")
