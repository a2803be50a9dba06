"""Sets of places without sorting: items near each other lie in few blocks, whose flags fit in memory.

places  ->  flags over the blocks that they touch  ->  the distinct ones, ascending  ->  numbers of any
"""

from dataclasses import dataclass

import numpy as np

from softspread._common.types import AnyArray, IntArray
from softspread.blocks.job import Layout

NOBODY = -1  # in place of an item that is not known


@dataclass(frozen=True, slots=True, eq=False)
class PlaceSet:
    """Distinct places, ascending, and where each stands among them."""

    places: IntArray  # (p,)
    layout: Layout
    shifts: IntArray  # (n_blocks,)  from a place to its flag; -starts of blocks that nobody touches
    numbers_of_flags: AnyArray  # (flags,) int32, NOBODY where the flag is not set; the last is nobody's

    @classmethod
    def of(cls, layout: Layout, *parts: IntArray) -> "PlaceSet":
        """The places of some arrays, NOBODY left out."""
        flat = np.concatenate([part.ravel() for part in parts])
        flat = flat[flat != NOBODY]
        home = layout.block_of(flat)
        touched = np.flatnonzero(np.bincount(home, minlength=layout.n_blocks))
        ends = np.cumsum(np.diff(layout.starts)[touched])
        starts = np.concatenate([[0], ends])
        shifts = -layout.starts[:-1] - layout.starts[-1]  # far below 0: see numbers()
        shifts[touched] = starts[:-1] - layout.starts[touched]
        flags = np.zeros(starts[-1] + 1, dtype=bool)
        flags[flat + shifts[home]] = True
        here = np.flatnonzero(flags)
        numbers = np.full(len(flags), NOBODY, dtype=np.int32)
        numbers[here] = np.arange(len(here), dtype=np.int32)
        per_block = np.diff(np.searchsorted(here, starts))
        return cls(here - np.repeat(shifts[touched], per_block), layout, shifts, numbers)

    def numbers(self, places: IntArray) -> IntArray:
        """Where places stand in the set; NOBODY for those outside and for NOBODY itself."""
        home = self.layout.block_of(places)
        flag = np.where(places == NOBODY, NOBODY, places + self.shifts[home])
        return self.numbers_of_flags[np.maximum(flag, NOBODY)].astype(np.int64)
