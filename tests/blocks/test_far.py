"""Scales by solves over all blocks; tests/blocks/test_scales.py compares them with the truth."""

import numpy as np

from small_blocks import runner_with_graph
from softspread.blocks.far import find_far_scales


def test_nothing_open_takes_no_solve(tmp_path):
    """An empty block is written all the same."""
    runner = runner_with_graph(tmp_path)
    runner.know(open=[])
    assert find_far_scales(runner.job, 0) == {"error": 0.0, "solves": 0}


def test_more_items_than_columns_at_once(tmp_path):
    """The seventeenth item has the scale that it has alone."""
    runner = runner_with_graph(tmp_path)
    runner.know(open=list(range(17)), alpha=0.9)
    find_far_scales(runner.job, 0)
    many = runner.job.store.read("far", 0)["scales"]
    runner.know(open=[16])
    find_far_scales(runner.job, 0)
    np.testing.assert_allclose(runner.job.store.read("far", 0)["scales"], many[16:], rtol=1e-6)
