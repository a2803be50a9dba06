"""Posteriors made by hand: what others say counts as a known number of votes."""

import numpy as np

from softspread._common.threads import Workers
from softspread.posterior.posterior import Posterior
from softspread.posterior.trust import RULE, Bins, Trust


def trust_of(nus, laws=None, chances=None):
    """One group of items; by default every nu is one law of its own, equally probable."""
    nus = np.asarray(nus, dtype=np.float64)
    laws = np.eye(len(nus)) if laws is None else np.asarray(laws, dtype=np.float64)
    chances = np.full(len(laws), 1 / len(laws)) if chances is None else np.asarray(chances)
    one = Bins(np.empty(0), np.zeros(1))
    return Trust(nus, laws[:, None, :], chances, one, one, 0, RULE)


def posterior_of(m, counts, nus, laws=None, chances=None):
    """Items with these means and own votes."""
    m, counts = np.asarray(m, dtype=np.float32), np.asarray(counts, dtype=np.float64)
    voted = np.flatnonzero(counts.sum(axis=1) > 0)
    trust = trust_of(np.atleast_1d(nus), laws, chances)
    groups = np.zeros(len(m), dtype=np.int64)
    return Posterior(m, groups, trust, voted, counts[voted], [(1.0, lambda rows: m[rows])], Workers(1))
