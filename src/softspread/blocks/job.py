"""Shared by all tasks of a run: where blocks are kept, where items come from, and how they are numbered.

place of an item = start of its block + position in the block
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, IntArray
from softspread.blocks.store import BlockStore
from softspread.io.stream import EmbeddingStream


@dataclass(frozen=True, slots=True)
class BlockSettings:
    """The settings that decide the result of a run, apart from its files.

    Parameters
    ----------
    index : the search inside a cell by name; "exact" looks into all cells that could hold a neighbour
    alpha, prior_strength : "auto" = chosen by held-out votes
    chunk_items, group_cells : what is read at once while items are sorted by cell, see ``partition``
    tune_items : items of the whole cells on which alpha and annotators' weights are chosen
    """

    n_neighbors: int = 20
    bandwidth: str | float = "kth"
    index: str = "auto"
    alpha: float | str = "auto"
    prior_strength: float | str = 1e-4
    annotator_model: str = "auto"
    scaling: str = "peak"
    tol: float = 1e-6
    seed: int = 0
    block_items: int = 100_000
    chunk_items: int = 1_000_000
    group_cells: int = 32
    tune_items: int = 200_000
    interval: str = "wilson"
    confidence_level: float = 0.9


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the blocks begin, and the cell of each."""

    starts: IntArray  # (n_blocks + 1,)  places
    cells: IntArray  # (n_blocks,)  cells that hold an item
    block_of_cell: IntArray  # (n_cells,)  -1 = nobody's first choice

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.cells)

    @classmethod
    def of(cls, sizes: IntArray) -> "Layout":
        """From the number of items of each cell."""
        cells = np.flatnonzero(sizes)
        block_of_cell = np.full(len(sizes), -1)
        block_of_cell[cells] = np.arange(len(cells))
        return cls(np.concatenate([[0], np.cumsum(sizes[cells])]), cells, block_of_cell)

    def block_of(self, places: AnyArray) -> IntArray:
        """The block of each place."""
        return np.asarray(np.searchsorted(self.starts, places, side="right") - 1)


@dataclass(frozen=True)
class Job:
    """A run as its tasks see it; cheap to send to another process."""

    store: BlockStore
    source: EmbeddingStream
    settings: BlockSettings
    n_threads: int = 1
    facts: dict[str, Any] = field(default_factory=dict)  # numbers that earlier stages have added up

    @property
    def n_chunks(self) -> int:
        """Files of the first pass over the input."""
        return max(1, -(-self.source.n_items // self.settings.chunk_items))

    @property
    def n_groups(self) -> int:
        """Groups of cells, known after the stage "assign"."""
        return -(-len(self.facts["sizes"]) // self.settings.group_cells)

    def chunk(self, number: int) -> tuple[int, int]:
        """First row, and last + 1, of a chunk of the input."""
        size = self.settings.chunk_items
        return number * size, min(self.source.n_items, (number + 1) * size)

    @cached_property
    def layout(self) -> Layout:
        """Numbering of the items, known after the stage "assign"."""
        return Layout.of(np.asarray(self.facts["sizes"], dtype=np.int64))

    def rng(self, *parts: str | int) -> np.random.Generator:
        """Chance for one purpose, the same on every worker and in every attempt."""
        numbers = [part if isinstance(part, int) else int.from_bytes(part.encode(), "big") for part in parts]
        return np.random.default_rng([self.settings.seed, *numbers])

    def workers(self) -> Workers:
        """Threads for one task."""
        return Workers(self.n_threads)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "layout"}
