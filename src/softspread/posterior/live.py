"""A blend that follows further votes: the ladder's states are pushed at once, what was learned stays.

    further votes  ->  push at every local alpha  ->  mass of any rows  ->  their posterior

Reading a few rows costs no more with a million items than with a thousand. Weights, classifiers, sharpness,
trust and the tail of intervals are those of the fit, until there is another one.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.posterior.blend import Blend
from softspread.posterior.experts import Float32Array, OwnVotes
from softspread.posterior.ladder import Rung
from softspread.posterior.posterior import Posterior
from softspread.spreading.state import SpreadState
from softspread.votes.table import ROUNDING, VoteTable


@dataclass(frozen=True, slots=True)
class LiveRule:
    """How much is done for a vote at once."""

    local_alpha: float = 0.98  # votes are pushed at once below this alpha; above, each reaches everything


RULE = LiveRule()
_VOTES = ("rows", "columns", "weights")


class Moved(NamedTuple):
    """The effect of votes since the fit on some items; a copy that further votes do not change."""

    rows: IntArray | slice
    own: OwnVotes  # by now, numbered as in ``rows``; its counts alone are up to date
    totals: FloatArray  # (n_classes,)  all votes by now, of all items
    more: dict[float, FloatArray]  # (r, n_classes) by alpha


class LiveBlend:
    """A blend and the votes since its fit.

    One thread may add votes; whoever reads or refines beside it does so while nobody adds: under a lock of
    the caller's, ``turn``, which is held a piece at a time. The posterior of what was read needs no lock.

    Parameters
    ----------
    blend : as it was fitted
    diffusion : the graph with its solver; its alpha is not used
    """

    def __init__(self, blend: Blend, diffusion: Diffusion, rule: LiveRule = RULE) -> None:
        self.blend, self.graph, self.workers = blend, diffusion.graph, diffusion.workers
        self.since = VoteTable.empty()  # votes as they count, negative weights for those taken back
        self._totals = blend.own.counts.sum(axis=0)
        self._at_fit: Posterior | None = None
        tol = blend.rule.ladder.tol
        self._states = {
            rung.alpha: SpreadState(diffusion.at(rung.alpha, tol=tol), self.since, blend.own.n_classes)
            for rung in blend.rungs
            if rung.alpha < rule.local_alpha
        }

    # ------------------------------------------------------------------------------------ following the votes
    def add(self, new: VoteTable, share: float = 1.0) -> None:
        """Add weighted votes; with a ``share`` below 1 each gets less work."""
        self.since.append(VoteTable(new.rows, new.columns, new.weights))
        np.add.at(self._totals, new.columns, new.weights)
        for state in self._states.values():
            state.add(new, share)

    def forget(self, n_votes: int) -> None:
        """Drop the last votes, after a failed :meth:`add`; some states have followed them, and are solved."""
        self.since.forget(n_votes)
        self._totals = self.blend.own.counts.sum(axis=0)
        np.add.at(self._totals, self.since.columns, self.since.weights)
        self.recover()
        self.refine()

    @property
    def unchanged(self) -> bool:
        """Whether nothing stands of the votes since the fit: none came, or all were taken back."""
        if not (self.since.weights < 0).any():
            return not len(self.since)
        rows, place = np.unique(self.since.rows, return_inverse=True)
        net, turned = np.zeros((2, len(rows), self.blend.own.n_classes))
        np.add.at(net, (place, self.since.columns), self.since.weights)
        np.add.at(turned, (place, self.since.columns), np.abs(self.since.weights))
        return bool((np.abs(net) <= ROUNDING * turned).all())

    def recover(self) -> None:
        """After a failed :meth:`add`: bounds hold again, from the votes that were taken in."""
        for state in self._states.values():
            state.recover(self.blend.own.n_classes)

    @property
    def refined(self) -> bool:
        """Whether everything pushed is at the solver's tolerance."""
        return all(state.refined for state in self._states.values())

    def refine(self, turn: AbstractContextManager[object] | None = None) -> bool:
        """Bring what was pushed to the solver's tolerance; whether that changed anything.

        With a ``turn`` the solves run beside further votes, and only their results are added under it.
        """
        rough = [state for state in self._states.values() if not state.refined]
        for state in rough:
            if turn is None:
                state.refine()
            else:
                _refine_beside(state, turn)
        return bool(rough)

    def prepare(self, rows: IntArray) -> None:
        """Find the scales of items that will be voted on soon."""
        for state in self._states.values():
            state.diffusion.scales(rows)

    def share_scales(self, other: "LiveBlend") -> None:
        """Find scales together with another blend on the same graph, each once."""
        for alpha in self._states.keys() & other._states.keys():
            self._states[alpha].diffusion.share_scales(other._states[alpha].diffusion)

    def take_scales(self, known: Mapping[float, dict[str, AnyArray]]) -> None:
        """Take over scales that were found before on the same graph, by alpha."""
        for alpha, state in self._states.items():
            if alpha in known:
                state.diffusion.restore_scales(known[alpha])

    def known_scales(self) -> dict[float, dict[str, AnyArray]]:
        """All scales found so far, by alpha."""
        return {alpha: state.diffusion.known_scales() for alpha, state in self._states.items()}

    # ------------------------------------------------------------------------------------------------- files
    def arrays(self) -> dict[str, AnyArray]:
        """The arrays to save beside the blend; opaque, for :meth:`restore`."""
        found: dict[str, AnyArray] = {f"since.{name}": getattr(self.since, name) for name in _VOTES}
        tails = {} if self._at_fit is None else self._at_fit.tails
        found["tails"] = np.array(list(tails.items())).reshape(-1, 2)
        for number, state in enumerate(self._states.values()):
            parts: dict[str, AnyArray] = {f"scales.{k}": v for k, v in state.diffusion.known_scales().items()}
            if len(self.since):
                parts["refined"] = np.asarray(state.refined)
                for name, array in state.arrays().items():
                    parts[f"{name}.at"] = np.flatnonzero(array)  # a few votes reach few items
                    parts[f"{name}.values"] = array.ravel()[parts[f"{name}.at"]]
            found |= {f"{number}.{name}": array for name, array in parts.items()}
        return found

    def restore(self, arrays: Mapping[str, AnyArray]) -> None:
        """The inverse of :meth:`arrays`, for a blend that has seen no further vote yet."""
        self.since.append(VoteTable(*(arrays[f"since.{name}"] for name in _VOTES)))
        np.add.at(self._totals, self.since.columns, self.since.weights)
        self.at_fit.tails.update((level, tail) for level, tail in arrays["tails"].tolist())
        for number, state in enumerate(self._states.values()):
            mine = {k.removeprefix(f"{number}."): v for k, v in arrays.items() if k.startswith(f"{number}.")}
            state.diffusion.restore_scales(
                {name.removeprefix("scales."): v for name, v in mine.items() if name.startswith("scales.")}
            )
            if len(self.since):
                parts = state.arrays()
                for name, array in parts.items():
                    array.ravel()[mine[f"{name}.at"]] = mine[f"{name}.values"]
                state.restore(parts, bool(mine["refined"]))

    # ------------------------------------------------------------------------------------------------ answers
    @property
    def at_fit(self) -> Posterior:
        """The posterior of all items as of the fit, which also holds the tails of intervals."""
        if self._at_fit is None:
            self._at_fit = self.blend.posterior(self.workers)
        return self._at_fit

    def posterior(self) -> Posterior:
        """The posterior of all items."""
        return self.at_fit if self.unchanged else self.of_rows(slice(None))

    def of_rows(self, rows: IntArray | slice) -> Posterior:
        """The posterior of some items, numbered as in ``rows``: ascending, each once."""
        if self.unchanged:
            return self.blend.posterior(self.workers, rows)
        return self.posterior_of(self.moved(rows))

    def moved(self, rows: IntArray | slice, turn: AbstractContextManager[object] | None = None) -> Moved:
        """The change of some items.

        With a ``turn``, mass is read without it, so that nobody waits for a look at all items: a vote that is
        just being pushed may be there in part. Only the items' own votes are read under it.
        """
        asked = None if isinstance(rows, slice) else rows
        more = {alpha: state.mass_change(asked) for alpha, state in self._states.items()}
        with turn or nullcontext():
            return Moved(rows, self._own(rows), np.maximum(self._totals, 0.0), more)

    def posterior_of(self, moved: Moved) -> Posterior:
        """The posterior of what was read by :meth:`moved`."""
        return self.blend.posterior_of_rows(*moved, self.workers)

    @property
    def voted(self) -> IntArray:
        """Items that were voted on, ascending."""
        return np.union1d(self.blend.own.voted, self.since.rows)

    def sources(self, rung: Rung, rows: IntArray) -> FloatArray:
        """(r, n_classes) what the votes on some voted items put into the system at one rung, at least 0."""
        fitted, place = self.blend.own.on_rows(rows)
        found = np.zeros((len(rows), fitted.n_classes))
        found[fitted.voted] = fitted.counts / rung.scales[place, None]
        state = self._states.get(rung.alpha)
        at = np.searchsorted(rows, self.since.rows)
        known = np.append(rows, -1)[at] == self.since.rows
        if state is not None and known.any():
            mine = self.since.take(known)
            amounts = mine.weights / state.diffusion.scales(mine.rows)
            np.add.at(found, (at[known], mine.columns), amounts)
        return np.maximum(found, 0.0)

    def mass(self, rung: Rung) -> Float32Array:
        """(n, n_classes) what all votes bring to every item at one rung."""
        state = self._states.get(rung.alpha)
        if state is None or self.unchanged:
            return rung.mass
        return rung.mass + state.mass_change().astype(np.float32)

    def _own(self, rows: IntArray | slice) -> OwnVotes:
        """Present mass of the items."""
        fitted, mine = self.blend.own.on_rows(rows)[0], self.since
        place = mine.rows
        if not isinstance(rows, slice):
            place = np.searchsorted(rows, mine.rows)
            known = np.append(rows, -1)[place] == mine.rows
            place, mine = place[known], mine.take(known)
        voted = np.union1d(fitted.voted, place)
        counts, turnover = np.zeros((2, len(voted), fitted.n_classes))
        before = np.searchsorted(voted, fitted.voted)
        counts[before] = turnover[before] = fitted.counts
        cells = np.searchsorted(voted, place), mine.columns
        np.add.at(counts, cells, mine.weights)
        np.add.at(turnover, cells, np.abs(mine.weights))
        counts[counts <= ROUNDING * turnover] = 0.0  # what rounding leaves of a retracted vote is none
        return OwnVotes(voted, counts, counts, np.ones(len(voted), np.int64), fitted.n_items)


def _refine_beside(state: SpreadState, turn: AbstractContextManager[object]) -> None:
    """Refine a copy and add the correction: everything is linear, Y = Y_now + (Y_refined - Y_then)."""
    with turn:
        copy = state.copy()
    change = {name: -then for name, then in copy.arrays().items()}
    copy.refine()
    for name, refined in copy.arrays().items():
        change[name] += refined
    with turn:
        state.shift(change, len(state.votes) == len(copy.votes))
