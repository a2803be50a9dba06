"""Held-out votes: single ones, or all but a few of an item, and how much each trial counts.

    items with j own votes  <-  votes held out on items with j + 1 votes               theory: [leave one out]

A vote held out on an item with j + 1 votes shows how well items with j votes are known. Such trials together
count as much as there are items with j votes, so that a mean over trials holds for all items however the
votes were placed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from softspread._common.types import FloatArray, IntArray
from softspread.votes.ballots import Ballots

ENOUGH_VOTES = 10  # fewer votes judge nothing by themselves: they join their neighbours
BORROWED_ITEMS = 2_000  # items from which held-out votes are borrowed; more would not change the score


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Trials: votes taken away from an item, which then judge the prediction for it."""

    position: IntArray  # (t,)  the item of each trial, as a place in ``Ballots.voted``
    content: csr_array  # (t, n_classes)  weight taken away
    shares: FloatArray  # (t,)  how much each trial counts; sum 1
    judged: csr_array  # (t, n_classes)  weight of the votes that judge: all that was taken away, or one of it


def hold_out(ballots: Ballots, n_items: int, rng: np.random.Generator | None = None) -> HeldOut:
    """Choose trials whose weighted mean holds for all items.

    Items with j votes of their own are judged by votes held out on items with j + 1 votes. Where fewer than
    10 such votes exist, several votes are left out at once on items with more of them; where that is
    impossible too, the items are judged as if they had fewer votes, as many as can be.

    Parameters
    ----------
    n_items : all items, voted or not
    rng : draws the votes to leave out where several are left out at once

    Examples
    --------
    >>> from softspread.votes.table import VoteTable
    >>> votes = VoteTable(np.array([0, 0, 2]), np.array([0, 1, 1]), np.ones(3))
    >>> hold_out(Ballots.of(votes, n_classes=2), n_items=4).content.toarray().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    rng = np.random.default_rng(0) if rng is None else rng
    n_own = ballots.votes_per_item
    each = np.asarray(ballots.content.sum(axis=1)).ravel()
    position, content, shares = [np.empty(0, np.int64)], [csr_array((0, ballots.n_classes))], [np.empty(0)]
    judges = _judges_of_levels(n_own, n_items, lambda level: _enough(n_own, level))
    for level, (merged, share) in sorted(judges.items()):
        if _one_by_one(n_own, level) >= ENOUGH_VOTES:
            votes = np.flatnonzero(np.isin(n_own[ballots.item_of_vote], np.append(merged, level) + 1))
            items, gather = ballots.item_of_vote[votes], _rows_of(votes, np.arange(len(votes)), ballots)
        else:
            items, gather = _leave_several(ballots, level, rng)
        taken = csr_array(gather @ ballots.content)
        weight = gather @ each
        position.append(items)
        content.append(taken)
        shares.append(share * weight / weight.sum())
    taken = csr_array(vstack(content, format="csr"))
    return HeldOut(np.concatenate(position), taken, np.concatenate(shares), taken)


def hold_out_in_turn(ballots: Ballots, n_items: int, importance: FloatArray) -> HeldOut:
    """Let every vote judge the item as it was when the vote was asked for, without it and all later ones.

    Items with j votes of their own are judged by the (j + 1)-th votes, whatever came after them; where fewer
    than 10 exist, as if they had fewer votes. Right also where earlier votes decided which items get more.

    Parameters
    ----------
    ballots : votes in the order in which they were cast
    n_items : all items, voted or not
    importance : (n_votes,) how much each vote speaks for all items, among those that judge the same items

    Examples
    --------
    >>> from softspread.votes.table import VoteTable
    >>> votes = VoteTable(np.array([0] * 10 + [1]), np.array([1] * 10 + [0]), np.ones(11))
    >>> held = hold_out_in_turn(Ballots.of(votes, n_classes=2), n_items=2, importance=np.ones(11))
    >>> held.content.toarray().tolist(), held.judged.toarray().tolist()
    ([[0.0, 10.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    item, turn = ballots.item_of_vote, ballots.turn_of_vote
    each = np.asarray(ballots.content.sum(axis=1)).ravel() * importance
    at_turn = np.bincount(turn)
    judges = _judges_of_levels(
        ballots.votes_per_item, n_items, lambda level: int(at_turn[level : level + 1].sum()) >= ENOUGH_VOTES
    )
    judging, content, shares = [np.empty(0, np.int64)], [csr_array((0, ballots.n_classes))], [np.empty(0)]
    for level, (_, share) in sorted(judges.items()):
        votes = np.flatnonzero(turn == level)
        trial_of = np.full(len(ballots.voted), -1)
        trial_of[item[votes]] = np.arange(len(votes))
        away = np.flatnonzero((turn >= level) & (trial_of[item] >= 0))
        judging.append(votes)
        content.append(csr_array(_rows_of(away, trial_of[item[away]], ballots) @ ballots.content))
        shares.append(share * each[votes] / each[votes].sum())
    votes = np.concatenate(judging)
    taken = csr_array(vstack(content, format="csr"))
    return HeldOut(item[votes], taken, np.concatenate(shares), csr_array(ballots.content[votes]))


def _one_by_one(n_own: IntArray, level: int) -> int:
    """Votes whose items have ``level`` others."""
    return (level + 1) * int(np.count_nonzero(n_own == level + 1))


def _judges_of_levels(
    n_own: IntArray, n_items: int, enough: Callable[[int], bool]
) -> dict[int, tuple[list[int], float]]:
    """Number of kept votes at which items are judged -> their own numbers of votes, their share of all items.

    The number that items have, where enough votes judge it; else the next lower one with enough; else 0.
    """
    sizes, numbers = np.unique(np.append(n_own, np.zeros(n_items - len(n_own), np.int64)), return_counts=True)
    found: dict[int, tuple[list[int], float]] = {}
    for own, number in zip(sizes.tolist(), numbers.tolist(), strict=True):
        level = next((lower for lower in range(own, 0, -1) if enough(lower)), 0)
        merged, share = found.get(level, ([], 0.0))
        found[level] = [*merged, own], share + number / n_items
    return found


def _enough(n_own: IntArray, level: int) -> bool:
    several = int((n_own[n_own > level] - level).sum())
    return max(_one_by_one(n_own, level), several) >= ENOUGH_VOTES


def _leave_several(ballots: Ballots, keep: int, rng: np.random.Generator) -> tuple[IntArray, csr_array]:
    """On each item with more than ``keep`` votes all but ``keep`` random ones are left out and judge.

    Returns the items, and (items, n_votes) which votes are left out.
    """
    items = np.flatnonzero(ballots.votes_per_item > keep)
    if keep > 0 and len(items) > BORROWED_ITEMS:
        items = np.sort(rng.choice(items, BORROWED_ITEMS, replace=False))
    votes = np.flatnonzero(np.isin(ballots.item_of_vote, items))
    votes = votes[np.lexsort((rng.random(len(votes)), ballots.item_of_vote[votes]))]
    at = ballots.item_of_vote[votes]
    left = votes[np.arange(len(votes)) - np.searchsorted(at, at) >= keep]  # places 0, 1, 2, ... on each item
    items, trial = np.unique(ballots.item_of_vote[left], return_inverse=True)
    return items, _rows_of(left, trial, ballots)


def _rows_of(votes: IntArray, trial: IntArray, ballots: Ballots) -> csr_array:
    """(trials, n_votes) 1 where a vote belongs to a trial."""
    n_trials = int(trial.max(initial=-1)) + 1
    return csr_array((np.ones(len(votes)), (trial, votes)), shape=(n_trials, ballots.n_votes))
