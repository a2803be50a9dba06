"""Experts: predictions for every item that have not seen its own votes.

expert e:  held (v, n_classes) for judging,  final (n, n_classes) for answering,  size (n,) in votes' worth

Most experts answer as they are judged. A classifier is judged by cross-fitted predictions and answers with a
model of all votes once one item's votes hardly move it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softspread._common.places import places
from softspread._common.types import FloatArray, IntArray
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable

Float32Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Expert:
    """One expert's predictions; rows sum to 1."""

    name: str
    held: Float32Array  # (v, n_classes)  for the voted items, without their own votes
    final: Float32Array  # (n, n_classes)
    log_size: NDArray[np.float32]  # (n,) or (1,)  logarithm of how many votes speak through it
    belief: float  # its weight before any vote, up to a factor common to all
    source: str = "votes"  # what explanations call it: "votes", "class shares", "classifiers" or "prior"


@dataclass(frozen=True, slots=True, eq=False)
class OwnVotes:
    """The votes that items hold themselves."""

    voted: IntArray  # (v,)  items with votes, ascending
    counts: FloatArray  # (v, n_classes)  their votes as they count
    cast: FloatArray  # (v, n_classes)  their votes for the classes named, as they judge experts
    n_votes: IntArray  # (v,)  how many observations these are
    n_items: int

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.counts.shape[1])

    @property
    def total(self) -> float:
        """All votes together."""
        return float(self.counts.sum())

    @property
    def mean_vote(self) -> FloatArray:
        """(v, n_classes) what each item's votes say on average."""
        return np.asarray(self.cast / np.maximum(self.cast.sum(axis=1, keepdims=True), np.finfo(float).tiny))

    def places(self, order: IntArray) -> IntArray:
        """(v,) the places of the voted items here, in an order of all items."""
        dealt = places(self.voted, self.n_items)[order]
        return np.asarray(dealt[dealt >= 0])

    def on_rows(self, rows: IntArray | slice) -> "tuple[OwnVotes, IntArray]":
        """The votes that some items hold, numbered as in ``rows``, and their places here."""
        if isinstance(rows, slice):
            return self, np.arange(len(self.voted))
        place = np.searchsorted(self.voted, rows)
        known = np.flatnonzero(np.append(self.voted, -1)[place] == rows)
        at = place[known]
        return OwnVotes(known, self.counts[at], self.cast[at], self.n_votes[at], len(rows)), at

    def add_to(self, table: Float32Array | FloatArray, factor: float | FloatArray = 1.0) -> None:
        """Add ``factor`` times the counts to the voted rows of an (n, n_classes) table."""
        table[self.voted] += np.asarray(factor * self.counts, dtype=table.dtype)


def own_votes(counted: VoteTable, cast: VoteTable, n_items: int, n_classes: int) -> OwnVotes:
    """Read votes by item.

    Parameters
    ----------
    counted : the votes as they count, soft ones as rows of their own
    cast : the same votes for the classes that annotators named
    n_classes : one class alone gets a second column, for whatever else there may be
    """
    columns = max(2, n_classes)
    ballots = Ballots.of(cast, columns)
    counts = np.maximum(counted.counts(n_items, columns)[ballots.voted], 0.0)
    return OwnVotes(ballots.voted, counts, ballots.counts, ballots.votes_per_item, n_items)


def order_by_content(degrees: FloatArray, own: OwnVotes) -> IntArray:
    """(n,) items in an order that depends on what they are, not on where they stand.

    Folds, samples and landmarks follow it, so that shuffling the items shuffles the answer and changes
    nothing else. By degree in the graph, rounded since sums depend on their order, then by votes; items alike
    in both keep the order in which they come.
    """
    votes = np.zeros(own.n_items)
    votes[own.voted] = (own.counts**2).sum(axis=1)
    return np.lexsort((votes, np.round(np.log(np.maximum(degrees, np.finfo(np.float64).tiny)), 9)))


def alike(arrays: Iterable[IntArray]) -> list[tuple[IntArray, list[int]]]:
    """Each distinct array, and the numbers of all that equal it: what depends on it alone is found once."""
    groups: list[tuple[IntArray, list[int]]] = []
    for number, array in enumerate(arrays):
        same = next((numbers for known, numbers in groups if np.array_equal(known, array)), None)
        if same is None:
            groups.append((array, [number]))
        else:
            same.append(number)
    return groups


def no_votes(n_items: int, n_classes: int) -> OwnVotes:
    """Items without any vote of their own."""
    nothing = np.empty((0, n_classes))
    return OwnVotes(np.empty(0, np.int64), nothing, nothing, np.empty(0, np.int64), n_items)


def class_shares(own: OwnVotes) -> FloatArray:
    """(n_classes,) shares of the classes among all votes, one vote for each class added."""
    totals = own.counts.sum(axis=0) + 1.0
    return np.asarray(totals / totals.sum())


def shares_expert(own: OwnVotes, belief: float) -> Expert:
    """The class shares of all *other* items' votes."""
    final, held, size = other_shares(own, own.counts.sum(axis=0))
    return Expert("shares", held, final, size, belief, "class shares")


def other_shares(own: OwnVotes, totals: FloatArray) -> tuple[Float32Array, Float32Array, NDArray[np.float32]]:
    """Class shares without each item's own votes: of all items, of the voted ones; and their log size.

    ``totals`` (n_classes,) are the votes of all items, also where ``own`` is about some of them.
    """
    held = totals + 1.0 - own.counts
    held /= held.sum(axis=1, keepdims=True)
    final = np.empty((own.n_items, own.n_classes), dtype=np.float32)
    final[:] = (totals + 1.0) / (totals + 1.0).sum()
    final[own.voted] = held
    return final, held.astype(np.float32), np.log([totals.sum() + 1.0]).astype(np.float32)


def prior_expert(prior: FloatArray, own: OwnVotes, belief: float, size: float) -> Expert:
    """Probabilities from elsewhere, such as a model's predictions."""
    final = prior.astype(np.float32)
    return Expert("prior", final[own.voted], final, np.log([size]).astype(np.float32), belief, "prior")


def normalized_exp(logs: Float32Array) -> Float32Array:
    """e^logs in place, rows summing to 1."""
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=1, keepdims=True)
    return logs


def blended(predictions: Sequence[Float32Array], weights: FloatArray) -> Float32Array:
    """sum_e w_e q_e; experts of weight 0 are not read."""
    total = np.zeros_like(predictions[0])
    for weight, prediction in zip(weights.tolist(), predictions, strict=True):
        if weight > 0:
            total += np.float32(weight) * prediction
    return total


def blended_size(experts: Sequence[Expert], weights: FloatArray, n_items: int) -> Float32Array:
    """(n,) sum_e w_e ln(size_e)."""
    total = np.zeros(n_items, dtype=np.float32)
    for weight, expert in zip(weights.tolist(), experts, strict=True):
        if weight > 0:
            total += np.float32(weight) * expert.log_size
    return total
