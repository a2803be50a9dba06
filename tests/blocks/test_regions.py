"""A region has whole rows near its seeds, and a wall beyond."""

import numpy as np

from small_blocks import assembled_by_place, runner_with_graph
from softspread.blocks.regions import WALL, grow_region


def test_rows_of_a_region_are_those_of_the_operator(tmp_path):
    """With two rings around two seeds, over several blocks."""
    job = runner_with_graph(tmp_path).job
    S = assembled_by_place(job)
    seeds = np.array([3, 200])
    region = grow_region(job, seeds, 0.9, rings=1, most_rows=1000)
    ring = np.unique(np.nonzero(S[seeds])[1])
    assert set(region.places.tolist()) == set(ring.tolist()) | {3, 200}
    near = np.concatenate([region.places, np.setdiff1d(np.nonzero(S[region.places])[1], region.places)])
    for number, place in enumerate(region.places):
        part = slice(*region.system.indptr[number : number + 2])
        row = np.zeros(len(S))
        row[near[region.system.indices[part]]] = region.system.weights[part]
        np.testing.assert_array_equal(row, S[place])


def test_nobody_passes_the_wall(tmp_path):
    """Items without a row here have more edges than any memory."""
    region = grow_region(runner_with_graph(tmp_path).job, np.array([0]), 0.9, rings=0, most_rows=10)
    assert len(region.places) == 1
    assert (np.diff(region.system.indptr)[1:] == WALL).all()
    assert len(region.degrees) > 1


def test_rings_stop_at_the_most_rows(tmp_path):
    """The seeds themselves are always there."""
    job = runner_with_graph(tmp_path).job
    region = grow_region(job, np.arange(20), 0.9, rings=5, most_rows=1)
    assert region.places.tolist() == list(range(20))
    assert region.numbers(np.array([0, 19])).tolist() == [0, 19]
