"""What everybody else says: mass at the voted items, with and without an annotator's own votes.

own mass: few votes are pushed one by one, many are solved for at once                   theory: [consistency]
"""

from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import FloatArray, IntArray
from softspread.annotators.cells import NetVotes
from softspread.diffusion.diagonal import own_reach
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import local_profiles

LEAST_STRENGTH = 0.3  # of the class shares in p_v: an item that hardly anybody else reaches proves nothing
OWN_TOL = 1e-4  # relative residual of the own mass: a few 1e-4 of a vote, next to LEAST_STRENGTH
OWN_FLOOR = 1e-4  # where a push stops: it keeps about 90 % of a profile's mass at alpha 0.9
SAMPLE = 32  # profiles that tell how far pushes reach
PUSH_WORK = 6.0  # an item is pushed about this / (1 - alpha) times, measured at alpha 0.5 to 0.99
BATCH_COLUMNS = 64
BATCH_ENTRIES = 10_000_000  # of pushed profiles in memory at once: 240 MB


class Crowd:
    """Votes that stand on one diffusion: mass at the voted items, with and without an annotator's own
    votes.
    """

    def __init__(self, diffusion: Diffusion, cells: NetVotes) -> None:
        self.diffusion, self.cells = diffusion, cells
        self.rows = cells.rows
        starts = np.searchsorted(cells.who, np.arange(cells.n_annotators + 1))
        self.parts = [slice(int(first), int(last)) for first, last in pairwise(starts)]
        self.starts: IntArray = starts[:-1] - cells.named.start  # among the named cells
        self.trust = cells.trust()
        totals = cells.choices().T @ cells.weights
        self.class_shares: FloatArray = (totals + 1) / (totals.sum() + cells.n_classes)
        self._blocks: dict[int, csr_array] | None = None
        self._reach = 1.0  # items that a push reaches, on average

    def spread(self, amounts: FloatArray) -> FloatArray:
        """Mass at each cell's item from soft votes ``amounts`` (cells, n_classes), same shape."""
        return self.diffusion.spread(self.rows, amounts).mass(self.rows)

    @cached_property
    def own_as_cast(self) -> FloatArray:
        """:meth:`own` of the votes as they were cast, (cells, n_classes)."""
        return self.own(self.cells.choices() * self.cells.weights[:, None])

    def own(self, amounts: FloatArray) -> FloatArray:
        """Mass at each cell's item from the votes of the cell's annotator alone; 0 for nobody's cells.

        Few votes are pushed one by one, many are solved for at once, whichever is less work. Memory: n * 64
        and 240 MB.
        """
        out = np.zeros_like(amounts)
        blocks = self._local_blocks()
        for number, block in blocks.items():
            part = self.parts[number]
            _, place = np.unique(self.rows[part], return_inverse=True)
            totals = np.zeros((block.shape[0], amounts.shape[1]))
            np.add.at(totals, place, amounts[part])
            out[part] = (block.T @ totals)[place]
        waiting: list[tuple[slice, IntArray]] = []
        for number, part in enumerate(self.parts):
            if number in blocks:
                continue
            waiting.append((part, np.flatnonzero(amounts[part].any(axis=0))))
            if sum(len(columns) for _, columns in waiting) >= BATCH_COLUMNS:
                self._solve_own(waiting, amounts, out)
                waiting = []
        self._solve_own(waiting, amounts, out)
        return out

    def _solve_own(self, waiting: list[tuple[slice, IntArray]], amounts: FloatArray, out: FloatArray) -> None:
        """One column per annotator and class."""
        ends = np.cumsum([0, *(len(columns) for _, columns in waiting)])
        if ends[-1] == 0:
            return
        blocks = list(zip(waiting, ends[:-1].tolist(), strict=True))
        rows = np.concatenate([np.repeat(self.rows[part], len(columns)) for part, columns in waiting])
        weights = np.concatenate([amounts[part][:, columns].ravel() for part, columns in waiting])
        places = np.concatenate(
            [
                np.tile(first + np.arange(len(columns)), part.stop - part.start)
                for (part, columns), first in blocks
            ]
        )
        spread = self.diffusion.spread_entries(rows, places, weights, int(ends[-1]), OWN_TOL)
        for (part, columns), first in blocks:
            mass = spread.mass(self.rows[part], slice(first, first + len(columns)))
            out[part.start : part.stop, columns] = mass

    def _local_blocks(self) -> dict[int, csr_array]:
        """Profiles between the items of each annotator with so few items that pushes are less work than
        solves.
        """
        if self._blocks is None:
            self._blocks = {}
            items = [np.unique(self.rows[part]) for part in self.parts]
            few = np.array([len(rows) for rows in items]) < self._break_even()
            pushed = np.unique(
                np.concatenate([items[number] for number in np.flatnonzero(few)] or [self.rows[:0]])
            )
            room = max(1.0, BATCH_ENTRIES / self._reach)
            if len(pushed) <= room:
                room = np.inf  # items of several annotators are then pushed once
            group: list[int] = []
            for number in np.flatnonzero(few).tolist():
                group.append(number)
                if sum(len(items[other]) for other in group) >= room:
                    self._push_blocks(group, items)
                    group = []
            self._push_blocks(group, items)
        return self._blocks

    def _break_even(self) -> FloatArray:
        """(annotators,) the number of items at which pushing them one by one costs as much as solving for
        all.
        """
        diffusion = self.diffusion
        graph = diffusion.graph
        if diffusion.factored:  # a column costs next to nothing once there is a factor
            return np.zeros(len(self.parts))
        voted = np.unique(self.rows)
        sample = voted[np.linspace(0, len(voted) - 1, min(len(voted), SAMPLE)).astype(np.int64)]
        self._reach = local_profiles(diffusion, sample, OWN_FLOOR).nnz / len(sample)
        push = self._reach / graph.n_items * PUSH_WORK / (1 - diffusion.alpha)  # in passes over all edges
        condition = np.sqrt((1 + diffusion.alpha) / (1 - diffusion.alpha))
        solve = 0.5 * condition * np.log(2 * condition / OWN_TOL)
        n_columns = [len(np.unique(self.cells.columns[part])) for part in self.parts]
        return np.asarray(np.asarray(n_columns) * solve / push)

    def _push_blocks(self, group: list[int], items: list[IntArray]) -> None:
        if not group or self._blocks is None:
            return
        rows = np.unique(np.concatenate([items[number] for number in group]))
        profiles = csr_array(local_profiles(self.diffusion, rows, OWN_FLOOR)[:, rows])
        profiles.setdiag(own_reach(self.diffusion, rows))  # known better than a push finds it
        for number in group:
            place = np.searchsorted(rows, items[number])
            self._blocks[number] = csr_array(profiles[place][:, place])

    def others(self, mass: FloatArray, own: FloatArray, kappa: float) -> FloatArray:
        """p_v for the named cells: what everybody but the annotator says about the item, theory
        [consistency].
        """
        named = self.cells.named
        total = np.maximum(mass[named] - own[named], 0.0)
        total = total + max(kappa, LEAST_STRENGTH) * self.class_shares
        return np.asarray(total / total.sum(axis=1, keepdims=True))
