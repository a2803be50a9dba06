"""A tiny run in blocks, stopped before any stage: clusters of items, votes on some, a folder of blocks."""

import os
from functools import cache
from pathlib import Path

import numpy as np

from softspread import ProbabilisticLabelSpreading
from softspread._common import atomic
from softspread.blocks.drivers import Serial
from softspread.blocks.inputs import Inputs
from softspread.blocks.job import BlockSettings, Job
from softspread.blocks.operator import read_operator
from softspread.blocks.run import Runner, open_store
from softspread.io.stream import open_stream
from softspread.votes.reading import read_y

N_ITEMS, N_NEIGHBORS, BLOCK = 240, 6, 70


@cache
def items():
    """Items in three clusters, and their clusters."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, N_ITEMS)
    return 2.5 * np.eye(3)[truth] + rng.normal(size=(N_ITEMS, 3)), truth


@cache
def votes():
    """Votes on every fifth item, -1 elsewhere."""
    y = np.full(N_ITEMS, -1)
    y[::5] = items()[1][::5]
    return y


def in_memory(**parameters):
    """The estimator that a run in blocks must agree with."""
    given = {"n_neighbors": N_NEIGHBORS, "index": "exact", "alpha": 0.9} | parameters
    return ProbabilisticLabelSpreading(**given)


def small_runner(folder, y=None, prior=None, driver=None, X=None, **settings):
    """A runner over the items, which has done nothing yet."""
    folder = Path(folder)
    X = items()[0] if X is None else X
    np.save(folder / "X.npy", X)
    given = {"n_neighbors": N_NEIGHBORS, "index": "exact", "alpha": 0.9, "block_items": BLOCK} | settings
    inputs = Inputs(*read_y(votes() if y is None else y, len(X)), prior)
    store = open_store(f"{folder}/blocks", {"test": 1})
    driver = driver or Serial(1)
    facts = {"room": 10**8, "out": f"{folder}/out.parquet"}
    job = Job(store, open_stream([folder / "X.npy"]), BlockSettings(**given), driver.n_threads, facts)
    return Runner(job, inputs, driver)


def runner_with_graph(folder, **settings):
    """The same after all stages of the graph."""
    runner = small_runner(folder, **settings)
    runner.build_graph()
    return runner


def runner_with_scales(folder, **settings):
    """The same after the scales."""
    runner = runner_with_graph(folder, **settings)
    runner.take_votes()
    runner.find_scales()
    return runner


def fill_disk(monkeypatch, mark):
    """From the first file on whose path holds a word, the disk is full."""
    fsync, full = os.fsync, []

    def filling(number):
        if full or mark in os.readlink(f"/proc/self/fd/{number}"):
            full.append(True)
            raise OSError(28, "No space left on device")
        fsync(number)

    monkeypatch.setattr(atomic.os, "fsync", filling)


def rows_by_place(job):
    """The user's row of each place."""
    return np.concatenate(
        [job.store.read("vectors", block, ["rows"])["rows"] for block in range(job.layout.n_blocks)]
    )


def assembled_by_place(job):
    """S of all blocks as a table, by place."""
    n = job.source.n_items
    S = np.zeros((n, n))
    for block in range(job.layout.n_blocks):
        operator, start = read_operator(job, block), job.layout.starts[block]
        places = np.concatenate([start + np.arange(operator.n_items), operator.halo])
        ends = np.repeat(np.arange(operator.n_items), np.diff(operator.indptr))
        S[start + ends, places[operator.columns]] = operator.values
    return S
