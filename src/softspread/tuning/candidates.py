"""Graphs with several numbers of neighbours from one search."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadWarning
from softspread.graph.builders import NeighborSearch, tell_of_gaps
from softspread.graph.graph import Graph

DEFAULT_NEIGHBORS = 20


@dataclass(frozen=True, slots=True)
class Spreading:
    """How votes spread, apart from what is being chosen: see
    :class:`~softspread.ProbabilisticLabelSpreading`.
    """

    bandwidth: str | float = "kth"
    scaling: str = "peak"
    solver: str = "auto"
    index: str = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False
    tol: float = 1e-6

    def diffusion(self, graph: Graph, alpha: float) -> Diffusion:
        """The graph at one alpha, solved as the user asked; :meth:`Diffusion.at` leads to other alphas."""
        return Diffusion(
            graph,
            alpha,
            scaling=self.scaling,
            solver=self.solver,
            tol=self.tol,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )


class Graphs:
    """The graph of each item's nearest neighbours for every candidate number; a given Graph stands for
    itself.
    """

    def __init__(self, items: AnyArray | Graph, numbers: Sequence[int], how: Spreading) -> None:
        self.items, self.how = items, how
        self._found: NeighborSearch | None = None
        self._built: dict[int, Graph] = {}
        if isinstance(items, Graph):
            self.n_items, self.numbers, self.first = items.n_items, [0], 0
            self._built[0] = items
        else:
            self.n_items = len(items)
            if len(numbers) == 1 and numbers[0] >= self.n_items > 1:
                words = f"n_neighbors={numbers[0]} but there are only {self.n_items} items; using "
                warnings.warn(f"{words}{self.n_items - 1}.", SoftspreadWarning, stacklevel=4)
            self.numbers = list(dict.fromkeys(min(number, self.n_items - 1) for number in numbers))
            self.first = DEFAULT_NEIGHBORS if DEFAULT_NEIGHBORS in self.numbers else self.numbers[0]

    def build(self, number: int) -> Graph:
        """The graph of each item's ``number`` nearest neighbours."""
        if number not in self._built:
            self._built = {number: self._from_neighbors(number)}  # only the last is kept: a graph is large
        return self._built[number]

    def _from_neighbors(self, number: int) -> Graph:
        how = self.how
        if self._found is None:
            with Workers(count_threads(how.n_jobs)) as workers:
                rng = validation.generator(how.random_state)
                most, items = max(self.numbers), np.asarray(self.items)
                self._found = NeighborSearch(items, most, how.index, workers, rng, how.verbose)
        graph = self._found.graph(number, how.bandwidth)
        return tell_of_gaps(graph) if len(self.numbers) == 1 else graph
