"""Clusters of items and crowds that vote on them: honest people, spammers, liars."""

import numpy as np

from softspread import knn_graph
from softspread.annotators.fit import fit_annotators
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.votes.table import VoteTable

N_CLASSES = 6
ALPHA, KAPPA = 0.8, 0.1


def make_clusters(rng, size=40):
    """One cluster of items per class, and the class of each item."""
    truth = np.repeat(np.arange(N_CLASSES), size)
    centres = 5 * rng.normal(size=(N_CLASSES, 5))
    return knn_graph(centres[truth] + rng.normal(size=(len(truth), 5)), n_neighbors=8), truth


def make_crowd(rng, truth, n_votes, kinds, error=0.15):
    """Random items: "honest" errs at times, "uniform" names anything, "one" always class 1, "next" the class
    after."""
    rows = np.concatenate([rng.integers(0, len(truth), n_votes) for _ in kinds])
    names = np.repeat(np.array([f"{kind}{i}" for i, kind in enumerate(kinds)], dtype=object), n_votes)
    columns = truth[rows].copy()
    anything = rng.integers(0, N_CLASSES, len(rows))
    columns = np.where(rng.random(len(rows)) < error, anything, columns)
    kind = np.repeat(np.array(kinds), n_votes)
    columns = np.where(kind == "uniform", anything, columns)
    columns = np.where(kind == "one", 1, columns)
    columns = np.where(kind == "next", (truth[rows] + 1) % N_CLASSES, columns)
    return VoteTable(rows, columns, np.ones(len(rows)), names)


def fit_at(graph, votes, alpha=ALPHA, solver="auto", **options):
    """At one alpha and kappa, so that nothing is chosen."""
    return fit_annotators(Diffusion(graph, alpha, solver=solver), votes, N_CLASSES, kappas=[KAPPA], **options)


def counted(fit, votes):
    """The votes as they count."""
    return Weighting(fit, votes).apply(votes)
