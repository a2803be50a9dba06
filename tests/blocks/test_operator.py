"""Rows of S in blocks are those of the graph in memory."""

import numpy as np
import pytest

from small_blocks import N_NEIGHBORS, assembled_by_place, items, rows_by_place, runner_with_graph
from softspread import knn_graph
from softspread.blocks.operator import kernel_width, read_operator


def assembled(job):
    """S of all blocks by the user's rows."""
    rank = np.argsort(rows_by_place(job))
    return assembled_by_place(job)[rank][:, rank]


@pytest.mark.parametrize("bandwidth", ["kth", "mean", 0.5])
@pytest.mark.parametrize("block_items", [30, 500])
def test_exact_neighbours_give_the_graph_of_memory(tmp_path, bandwidth, block_items):
    """The same edges, and weights to single precision; one block or many."""
    runner = runner_with_graph(tmp_path, bandwidth=bandwidth, block_items=block_items)
    graph = knn_graph(items()[0], N_NEIGHBORS, bandwidth, "exact")
    S, wanted = assembled(runner.job), graph.S.toarray()
    assert ((S != 0) == (wanted != 0)).all()
    np.testing.assert_allclose(S, wanted, rtol=2e-7)
    assert runner.job.facts["sigma2"] == pytest.approx(graph.sigma2, rel=1e-13)
    assert runner.job.facts["most_degree"] == pytest.approx(graph.degrees.max(), rel=1e-13)


def test_the_width_is_that_of_all_blocks():
    """Weighted by their items."""
    facts = [{"kth": 3.0, "all": 4.0, "items": 3}, {"kth": 5.0, "all": 12.0, "items": 1}]
    assert (kernel_width("kth", facts, 2), kernel_width("mean", facts, 2), kernel_width(7, facts, 2)) == (
        2,
        2,
        7,
    )


def test_a_boundary_is_what_others_touch(tmp_path):
    """The halo of a block lies in the boundaries of its neighbours."""
    job = runner_with_graph(tmp_path).job
    for block in range(job.layout.n_blocks):
        halo = read_operator(job, block).halo
        for other in job.facts["touched"][block]:
            mine = halo[job.layout.block_of(halo) == other] - job.layout.starts[other]
            assert np.isin(mine, read_operator(job, other).boundary).all()
