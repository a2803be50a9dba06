"""Votes and their mass, made in one line; tests of several rooms share them."""

import numpy as np

from softspread.diffusion.diffusion import Diffusion
from softspread.spreading.state import SpreadState
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


def table(rows, columns, weights=None, annotators=None):
    """Votes as numbers, of weight 1 unless said otherwise."""
    rows = np.asarray(rows, dtype=np.int64)
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    names = None if annotators is None else np.asarray(annotators, dtype=object)
    return VoteTable(rows, np.asarray(columns, dtype=np.int64), weights, names)


def ballots_of(rows, columns, weights=None, annotators=None, n_classes=2, groups=None):
    """The ballots of such a table."""
    return Ballots.of(table(rows, columns, weights, annotators), n_classes, groups)


def drawn(truth, n_votes, seed):
    """Votes on random items, each for a class drawn from the item's soft label."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(truth), size=n_votes)
    columns = (rng.random((n_votes, 1)) > truth[rows].cumsum(axis=1)).sum(axis=1)
    return table(rows, np.minimum(columns, truth.shape[1] - 1))


def solved(graph, votes, n_classes, alpha=0.9, **options):
    """The state after all votes are spread."""
    state = SpreadState(Diffusion(graph, alpha, **options), votes, n_classes)
    state.solve()
    return state


def mass_of(graph, votes, n_classes, alpha=0.9, **options):
    """(n, n_classes) of all items."""
    return solved(graph, votes, n_classes, alpha, **options).mass()


def dense_profiles(graph, alpha, scaling="peak"):
    """Column q: what a vote on q brings to every item."""
    M = np.linalg.inv(np.eye(graph.n_items) - alpha * graph.S.toarray())
    return M / M.max(axis=0) if scaling == "peak" else M
