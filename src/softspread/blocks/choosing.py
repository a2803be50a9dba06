"""Alpha, the prior's strength and annotators' weights, on whole cells that fit in memory.

    some blocks, or all  ->  their part of the graph, their votes  ->  estimators.auto.choose_settings

Alpha depends on how soft labels vary within a neighbourhood, which whole cells show as well as all items do.
With all blocks the choice is that of a fit in memory.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import IntArray
from softspread.annotators.weighting import Weighting
from softspread.blocks.inputs import Inputs
from softspread.blocks.job import Job
from softspread.errors import InputError, SoftspreadWarning
from softspread.estimators.auto import choose_settings
from softspread.graph.builders import gaussian_weights
from softspread.graph.graph import Graph, operator_from_affinity
from softspread.tuning.candidates import SearchSpace, SpreadOptions
from softspread.votes.table import VoteTable

LEAST_STRENGTH = 1e-4  # a weaker prior does not cover the errors of single precision where evidence is tiny


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """The chosen settings and the weighted votes."""

    alpha: float
    prior_strength: float
    counted: VoteTable
    facts: dict[str, Any]


def search_space(job: Job, has_prior: bool) -> SearchSpace:
    """The parameters to choose; a prior weaker than the arithmetic allows is refused."""
    given = job.settings
    space = SearchSpace.read(given.alpha, given.n_neighbors, given.prior_strength, has_prior)
    if min(space.strengths) < LEAST_STRENGTH:
        raise InputError(
            f"in blocks prior_strength must be at least {LEAST_STRENGTH:g}, got "
            f"{min(space.strengths):g}: vectors "
            "are in single precision, and soft labels of items that next to nothing reaches need the "
            "prior. Fit "
            "in memory for a weaker one."
        )
    return space


def choose(job: Job, inputs: Inputs) -> Chosen:
    """Numbers for whatever is "auto", and the weighted votes."""
    space = search_space(job, inputs.prior is not None)
    named = job.settings.annotator_model != "none" and inputs.votes.annotators is not None
    if not space.open and not named:
        return Chosen(space.alphas[0], space.strengths[0], inputs.votes, {"chosen_on": 0})
    blocks = blocks_to_choose_on(job)
    whole = len(blocks) == job.layout.n_blocks
    if job.settings.annotator_model == "confusion" and not whole:
        raise InputError(
            f"annotator_model='confusion' turns every vote into a soft vote of its own, for which all "
            f"{job.source.n_items:,} items must fit in memory at once; use 'consistency', or raise "
            f"tune_items."
        )
    return _choose_on(job, inputs, space, blocks)


def blocks_to_choose_on(job: Job) -> list[int]:
    """All blocks where they fit, else some at random, at least one."""
    sizes = np.diff(job.layout.starts)
    if sizes.sum() <= job.settings.tune_items:
        return list(range(len(sizes)))
    order = job.rng("choose").permutation(len(sizes))
    n_blocks = max(1, int(np.searchsorted(np.cumsum(sizes[order]), job.settings.tune_items, side="right")))
    return sorted(order[:n_blocks].tolist())


def _choose_on(job: Job, inputs: Inputs, space: SearchSpace, blocks: list[int]) -> Chosen:
    places = np.concatenate([np.arange(*job.layout.starts[block : block + 2]) for block in blocks])
    rows = np.concatenate([job.store.read("vectors", block, ["rows"])["rows"] for block in blocks])
    votes = _votes_on(inputs.votes, rows)
    prior, given = inputs.prior_of(rows), job.settings
    options = SpreadOptions(
        scaling=given.scaling, n_jobs=job.n_threads, tol=given.tol, random_state=given.seed
    )
    graph = part_of_graph(job, places)
    settings = choose_settings(graph, votes, inputs.n_classes, space, given.annotator_model, prior, options)
    counted = inputs.votes
    if settings.annotators is not None:
        counted = Weighting(settings.annotators, _in_rows(votes, rows)).apply(inputs.votes)
    if len(places) < job.source.n_items:
        warnings.warn(
            f"alpha {settings.diffusion.alpha:g} was chosen on {len(places):,} of "
            f"{job.source.n_items:,} items in "
            f"{len(blocks)} whole cells, with {len(votes):,} votes.",
            SoftspreadWarning,
            stacklevel=2,
        )
    return Chosen(settings.diffusion.alpha, settings.prior_strength, counted, {"chosen_on": len(places)})


def _votes_on(votes: VoteTable, rows: IntArray) -> VoteTable:
    """The votes on some items, which are numbered as they are listed."""
    order = np.argsort(rows)
    place = np.minimum(np.searchsorted(rows[order], votes.rows), len(rows) - 1)
    here = np.flatnonzero(rows[order][place] == votes.rows)
    some = votes.take(here)
    return _with_rows(some, order[place[here]])


def _in_rows(votes: VoteTable, rows: IntArray) -> VoteTable:
    """The inverse of :func:`_votes_on`."""
    return _with_rows(votes, rows[votes.rows])


def _with_rows(votes: VoteTable, rows: IntArray) -> VoteTable:
    other = VoteTable(rows, votes.columns, votes.weights, votes.annotators)
    other.repeats = votes.repeats
    return other


def part_of_graph(job: Job, places: IntArray) -> Graph:
    """The graph of some items: of each list the neighbours among them, at the width of the whole graph."""
    lists = [job.store.read("neighbors", block) for block in np.unique(job.layout.block_of(places)).tolist()]
    near = np.concatenate([found["near"] for found in lists])
    squared = np.concatenate([found["squared"] for found in lists])
    column = np.minimum(np.searchsorted(places, near), len(places) - 1)
    inside = places[column] == near
    rows = np.nonzero(inside)[0]
    weights = 0.5 * gaussian_weights(squared[inside], job.facts["sigma2"])
    W = csr_array((weights, (rows, column[inside])), shape=(len(places), len(places)))
    n_neighbors, sigma2 = job.settings.n_neighbors, job.facts["sigma2"]
    facts = {"kind": "knn", "n_neighbors": n_neighbors, "sigma2": sigma2, "index": job.settings.index}
    return operator_from_affinity(csr_array(W + W.T), np.arange(len(places)), **facts)
