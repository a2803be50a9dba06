"""Votes that stand after retractions, as intervals count them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from softspread._common.types import FloatArray, IntArray
from softspread.votes.table import RETRACTED, VoteTable


@dataclass(frozen=True, slots=True, eq=False)
class StandingVotes:
    """The votes that no retraction took back, by distinct item (in the user's numbering, sorted)."""

    rows: IntArray  # (v,)    distinct voted items
    counts: FloatArray  # (v, n_classes)  sum of weights per class
    squares: FloatArray  # (v,)  sum of squared weights
    largest: FloatArray  # (v,)  largest weight
    n_votes: IntArray  # (v,)  how many votes

    @property
    def totals(self) -> FloatArray:
        """(v,) sum of weights."""
        return np.asarray(self.counts.sum(axis=1))


def standing_votes(votes: VoteTable, n_classes: int, weights_are_counts: bool = False) -> StandingVotes:
    """Votes per distinct item, retractions carried out.

    Parameters
    ----------
    votes : in the user's numbering; a negative weight takes back from the same item, class and annotator.
    Where it is
        not clear which of several votes was taken back, the lightest are: that leaves the largest sum of
        squares. What one named annotator says about one item is one vote of the total weight: its parts are
        not independent
    weights_are_counts : a weight of 3 is three votes (a table of counts), not one vote that counts three
    times

    Returns
    -------
    The votes of each item that has any left
    """
    rows, columns, weights = votes.rows, votes.columns, votes.weights
    who = np.full(len(rows), -1) if votes.annotators is None else pd.factorize(pd.Series(votes.annotators))[0]
    if len(weights) and weights.min() < 0:
        rows, columns, weights, who = _retracted(rows, columns, weights, who)
    distinct, where = np.unique(rows, return_inverse=True)
    counts = np.zeros((len(distinct), n_classes))
    np.add.at(counts, (where, columns), weights)
    whole = np.floor(weights) if weights_are_counts else np.zeros_like(weights)
    if not weights_are_counts and (who >= 0).any():
        where, weights = _one_vote_each(where, weights, who)
        whole = np.zeros_like(weights)
    rest = weights - whole
    squares = np.bincount(where, whole + rest * rest, len(distinct))
    largest = np.zeros(len(distinct))
    np.maximum.at(largest, where, np.where(whole > 0, 1.0, rest))
    n_votes = np.bincount(where, whole + (rest > 0), len(distinct)).astype(np.int64)
    kept = counts.sum(axis=1) > 0
    return StandingVotes(distinct[kept], counts[kept], squares[kept], largest[kept], n_votes[kept])


def _one_vote_each(where: IntArray, weights: FloatArray, who: IntArray) -> tuple[IntArray, FloatArray]:
    """Items and weights with the rows of each annotator (number ``who``, -1 = nobody) on one item added
    up.
    """
    named = who >= 0
    n_annotators = int(who.max()) + 1
    pairs, place = np.unique(where[named] * n_annotators + who[named], return_inverse=True)
    totals = np.bincount(place, weights[named], len(pairs))
    return np.append(where[~named], pairs // n_annotators), np.append(weights[~named], totals)


def _retracted(
    rows: IntArray, columns: IntArray, weights: FloatArray, who: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    table = pd.DataFrame({"row": rows, "column": columns, "who": who, "weight": weights})
    keys = ["row", "column", "who"]
    table["left"] = table.groupby(keys, sort=False)["weight"].transform("sum")
    table = table[table["weight"] > 0].sort_values("weight", ascending=False, kind="stable")
    before = table.groupby(keys, sort=False)["weight"].cumsum() - table["weight"]
    left = np.clip((table["left"] - before).to_numpy(), 0.0, table["weight"].to_numpy())
    kept = table[left > RETRACTED]
    return kept["row"].to_numpy(), kept["column"].to_numpy(), left[left > RETRACTED], kept["who"].to_numpy()
