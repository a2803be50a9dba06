"""Tables of Beta distributions, and mixtures of them over many items."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc

from softspread._common.threads import Workers
from softspread._common.types import FloatArray, IntArray
from softspread._kernels.beta_mixture import BetaTable, Mixtures, corner, mixture_cdf, mixture_ends

CHUNK_ENTRIES = 200_000  # items times classes per task


@dataclass(frozen=True, slots=True)
class TableGrid:
    """Where Beta distributions are tabulated.

    From the first inner point to the last, 0.0005 to 0.9995, a mixture's distribution function is off by at
    most 0.03, by less than 0.006 in 99 of 100 entries, and by 0.0004 on average; a test measures it. Closer
    to 0 and 1 it is a straight line to the end, whatever the distribution does there.
    """

    smallest: float = 0.05  # concentration; below, nearly all mass is at 0 and 1
    largest: float = 8192.0  # concentration; an item with more own votes gets this interval, a little wide
    concentrations: int = 64
    fine: float = 0.05  # grid points are dense below this and above 1 - this ...
    fine_steps: tuple[float, ...] = (0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.0125, 0.015)
    step: float = 0.01  # ... and this far apart in between


GRID = TableGrid()


@lru_cache(maxsize=4)
def beta_table(grid: TableGrid = GRID) -> BetaTable:
    """The table, made once per process in a third of a second."""
    edge = np.concatenate([[0.0], grid.fine_steps, np.arange(0.02, grid.fine, 0.005)])
    middle = np.arange(grid.fine, 1 - grid.fine + grid.step / 2, grid.step)
    nodes = np.unique(np.round(np.concatenate([edge, middle, 1 - edge]), 6))
    logs = np.linspace(np.log(grid.smallest), np.log(grid.largest), grid.concentrations)
    a = np.exp(logs)[:, None, None] * nodes[None, 1:-1, None]
    b = np.exp(logs)[:, None, None] * (1 - nodes)[None, 1:-1, None]
    values = np.ones((len(logs), len(nodes), len(nodes)), dtype=np.float32)
    values[:, 1:-1] = betainc(a, b, nodes)
    values[:, -1, :-1] = 0.0  # a mean of 1: all mass at 1; a mean of 0: all mass at 0
    return BetaTable(float(logs[0]), float(logs[1] - logs[0]), nodes, nodes, values)


@dataclass(frozen=True, slots=True)
class EndsRule:
    """How intervals end near 0 and 1."""

    least: float = 0.02  # no upper end below this and no lower end above 1 - this: votes cannot show more
    snap: float = 0.005  # a true probability this close to 0 or 1 counts as 0 or 1


ENDS = EndsRule()


def interval_ends(
    mixtures: Mixtures,
    rows: IntArray,
    tail: float,
    workers: Workers,
    rule: EndsRule = ENDS,
    chunk_entries: int = CHUNK_ENTRIES,
) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals that leave out ``tail``, (len(rows), n_classes) each."""
    shape = len(rows), mixtures.means.shape[1]
    table, lower, upper = beta_table(), np.empty(shape), np.empty(shape)

    def work(part: slice) -> None:
        spot = corner(len(mixtures.nus))
        mixture_ends(table, mixtures, rows[part], tail, rule.least, rule.snap, spot, lower[part], upper[part])

    workers.run(work, _parts(*shape, chunk_entries))
    return lower, upper


def probability_below(
    mixtures: Mixtures,
    rows: IntArray,
    x: FloatArray | float,
    workers: Workers,
    chunk_entries: int = CHUNK_ENTRIES,
) -> FloatArray:
    """Probability that each entry is at most x, (len(rows), n_classes)."""
    shape = len(rows), mixtures.means.shape[1]
    table, out = beta_table(), np.empty(shape)
    points = np.broadcast_to(np.asarray(x, dtype=np.float64), shape)

    def work(part: slice) -> None:
        spot = corner(len(mixtures.nus))
        mixture_cdf(table, mixtures, rows[part], np.ascontiguousarray(points[part]), spot, out[part])

    workers.run(work, _parts(*shape, chunk_entries))
    return out


def _parts(n_rows: int, n_classes: int, chunk_entries: int) -> list[slice]:
    size = max(1, chunk_entries // max(1, n_classes))
    return [slice(first, min(first + size, n_rows)) for first in range(0, max(n_rows, 1), size)]
