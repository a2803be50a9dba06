"""Candidates: values, and graphs with several numbers of neighbours from one search."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softspread._common import validation
from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.solver import SolverFactory
from softspread.errors import InputError, SoftspreadWarning
from softspread.graph.builders import NeighborSearch, tell_of_gaps
from softspread.graph.graph import Graph
from softspread.graph.places import Metric

if TYPE_CHECKING:
    from softspread.graph.neighbors import Search

DEFAULT_ALPHA, DEFAULT_NEIGHBORS, DEFAULT_STRENGTH = 0.9, 20, 1e-4
# From nearly counting to averages over whole components: 1 / (1 - alpha) is 1.05 to 1,000
ALPHAS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
NEIGHBORS = (10, 20, 40)  # the default, its half and its double
STRENGTHS = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0)  # without a prior: 1e-4 only breaks ties, 1 smooths a lot
PRIOR_STRENGTHS = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0)


@dataclass(frozen=True, slots=True)
class SearchSpace:
    """Candidates of each parameter; one candidate = given."""

    alphas: Sequence[float] = ALPHAS
    neighbors: Sequence[int] = (DEFAULT_NEIGHBORS,)
    strengths: Sequence[float] = (DEFAULT_STRENGTH,)

    @classmethod
    def read(cls, alpha: Any, n_neighbors: Any, prior_strength: Any, has_prior: bool) -> "SearchSpace":
        """Check the parameters of an estimator, and replace "auto" by a grid.

        Examples
        --------
        >>> SearchSpace.read(0.9, "auto", 1e-4, has_prior=False)
        SearchSpace(alphas=(0.9,), neighbors=(10, 20, 40), strengths=(0.0001,))
        """
        return cls(
            alpha_candidates(alpha),
            neighbor_candidates(n_neighbors),
            strength_candidates(prior_strength, has_prior),
        )

    @property
    def open(self) -> bool:
        """Whether there is anything to choose."""
        return max(len(self.alphas), len(self.neighbors), len(self.strengths)) > 1

    @property
    def first_alpha(self) -> float:
        """The default where it is allowed, else the first candidate."""
        return DEFAULT_ALPHA if DEFAULT_ALPHA in self.alphas else self.alphas[0]

    @property
    def first_strength(self) -> float:
        """The default where it is allowed, else the first candidate."""
        return DEFAULT_STRENGTH if DEFAULT_STRENGTH in self.strengths else self.strengths[0]


def alpha_candidates(alpha: float | str) -> Sequence[float]:
    """Candidates for an estimator's ``alpha``: itself, or for "auto" the grid."""
    if isinstance(alpha, str) and alpha != "auto":
        raise InputError(f"alpha must be at least 0 and below 1, or 'auto', got {alpha!r}.")
    return ALPHAS if isinstance(alpha, str) else (validation.alpha(alpha),)


def neighbor_candidates(n_neighbors: int | str | Sequence[int]) -> Sequence[int]:
    """Candidates for an estimator's ``n_neighbors``: itself, several, or for "auto" 10, 20 and 40."""
    if isinstance(n_neighbors, str):
        validation.choice("n_neighbors", n_neighbors, ("auto",), "or a whole number")
        return NEIGHBORS
    several = [n_neighbors] if np.ndim(n_neighbors) == 0 else some_of("n_neighbors", n_neighbors)
    return [validation.count("n_neighbors", number, smallest=1) for number in several]


def strength_candidates(prior_strength: float | str, has_prior: bool) -> Sequence[float]:
    """Candidates for an estimator's ``prior_strength``: itself, or a grid, longer where a prior is given."""
    if isinstance(prior_strength, str):
        validation.choice("prior_strength", prior_strength, ("auto",), "or a number, 0 or above")
        return PRIOR_STRENGTHS if has_prior else STRENGTHS
    return (validation.not_negative("prior_strength", prior_strength),)


def some_of(name: str, values: Any) -> list[Any]:
    """A list of candidates that is not empty."""
    listed = list(np.atleast_1d(values).tolist()) if not isinstance(values, str) else []
    if not listed:
        raise InputError(f"{name} must list at least one candidate, got {values!r}.")
    return listed


@dataclass(frozen=True, slots=True)
class SpreadOptions:
    """How votes spread otherwise: see :class:`~softspread.ProbabilisticLabelSpreading`."""

    bandwidth: str | float = "kth"
    scaling: str = "peak"
    solver: str | SolverFactory = "auto"
    index: "str | Search" = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False
    tol: float = 1e-6
    metric: Metric = "euclidean"

    def diffusion(self, graph: Graph, alpha: float) -> Diffusion:
        """The graph at one alpha; :meth:`Diffusion.at` leads to other alphas."""
        return Diffusion(
            graph,
            alpha,
            scaling=self.scaling,
            solver=self.solver,
            tol=self.tol,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )


class CandidateGraphs:
    """The graph of each candidate number of neighbours; a given Graph is the only candidate."""

    def __init__(self, items: AnyArray | Graph, numbers: Sequence[int], options: SpreadOptions) -> None:
        self.items, self.options = items, options
        self._found: NeighborSearch | None = None
        self._built: dict[int, Graph] = {}
        if isinstance(items, Graph):
            self.n_items, self.numbers, self.first = items.n_items, [0], 0
            self._built[0] = items
            return
        self.n_items = len(items)
        most = self.n_items - 1
        if len(numbers) == 1 and numbers[0] > most > 0:
            words = f"n_neighbors={numbers[0]} but there are only {self.n_items} items; using {most}."
            warnings.warn(words, SoftspreadWarning, stacklevel=4)
        self.numbers = list(dict.fromkeys(min(number, most) for number in numbers))
        self.first = DEFAULT_NEIGHBORS if DEFAULT_NEIGHBORS in self.numbers else self.numbers[0]

    def build(self, number: int) -> Graph:
        """The graph of each item's ``number`` nearest neighbours."""
        if number not in self._built:
            self._built = {number: self._from_neighbors(number)}  # only the last is kept: a graph is large
        return self._built[number]

    def _from_neighbors(self, number: int) -> Graph:
        options = self.options
        with Workers(count_threads(options.n_jobs)) as workers:
            if self._found is None:
                rng = validation.generator(options.random_state)
                self._found = NeighborSearch(
                    np.asarray(self.items),
                    max(self.numbers),
                    options.index,
                    workers,
                    rng,
                    options.verbose,
                    options.metric,
                )
            graph = self._found.graph(number, options.bandwidth, workers)
        return tell_of_gaps(graph) if len(self.numbers) == 1 else graph
