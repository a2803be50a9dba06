"""Votes by item, experts and posteriors made by hand; tests of the posterior share them."""

import numpy as np

from softspread._common.threads import Workers
from softspread.posterior.experts import Expert, OwnVotes
from softspread.posterior.posterior import Posterior
from softspread.posterior.trust import RULE, Bins, Trust


def own_of(counts, n_votes=None):
    """Own votes from an (n, n_classes) table of counts."""
    counts = np.asarray(counts, dtype=float)
    voted = np.flatnonzero(counts.sum(axis=1) > 0)
    mine = counts[voted]
    cast = np.ceil(mine.sum(axis=1)).astype(np.int64) if n_votes is None else np.asarray(n_votes)[voted]
    return OwnVotes(voted, mine, mine, cast, len(counts))


def random_counts(n_items, n_classes, n_voted, seed=0, most=4):
    """Whole votes on some of the items, most of them with several."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((n_items, n_classes))
    rows = rng.choice(n_items, n_voted, replace=False)
    truth = rng.dirichlet(np.full(n_classes, 0.5), n_voted)
    counts[rows] = rng.multinomial(rng.integers(1, most + 1, n_voted), truth)
    return counts


def expert_of(held, belief=1.0, name="expert"):
    """An expert that answers for the voted items alone."""
    held = np.asarray(held, dtype=np.float32)
    return Expert(name, held, held, np.zeros(1, np.float32), belief)


def trust_of(laws, nus=RULE.nus, chances=None):
    """Trust with given laws, (h, k), and one group of items."""
    laws = np.atleast_2d(np.asarray(laws, dtype=float))
    chances = np.full(len(laws), 1 / len(laws)) if chances is None else np.asarray(chances, dtype=float)
    one = Bins(np.empty(0), np.zeros(1))
    return Trust(np.asarray(nus, dtype=float), laws[:, None, :], chances, one, one, 0, RULE)


def posterior_of_counts(m, counts, trust, variants=None):
    """The posterior of items with a given blend m and own votes."""
    m, own = np.asarray(m, dtype=np.float32), own_of(counts)
    group = np.zeros(len(m), dtype=np.int64)
    variants = [(1.0, lambda rows: m[rows])] if variants is None else variants
    return Posterior(m, group, trust, own.voted, own.counts, variants, Workers(1))
