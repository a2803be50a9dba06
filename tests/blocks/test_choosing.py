"""Alpha and weights on whole cells: the choice of memory where all of them fit."""

import numpy as np
import pytest

from small_blocks import N_NEIGHBORS, items, rows_by_place, runner_with_graph, small_runner
from softspread import Votes, knn_graph
from softspread.blocks.choosing import blocks_to_choose_on, choose, part_of_graph
from softspread.errors import InputError, SoftspreadWarning


def test_all_cells_give_the_whole_graph(tmp_path):
    """By place, equal to that of memory."""
    job = runner_with_graph(tmp_path).job
    graph = part_of_graph(job, np.arange(240))
    rank = np.argsort(rows_by_place(job))
    wanted = knn_graph(items()[0], N_NEIGHBORS, "kth", "exact").S
    assert abs(graph.S[rank][:, rank] - wanted).max() < 1e-12


@pytest.mark.filterwarnings("ignore:No item has a second vote")
def test_some_cells_are_whole_and_say_so(tmp_path):
    """At most as many items as fit, and a warning that names the share."""
    runner = runner_with_graph(tmp_path, alpha="auto", tune_items=100)
    blocks = blocks_to_choose_on(runner.job)
    assert 1 <= len(blocks) < runner.job.layout.n_blocks
    with pytest.warns(SoftspreadWarning, match="of 240 items in"):
        chosen = choose(runner.job, runner.inputs)
    assert 0 < chosen.alpha < 1
    assert len(chosen.counted) == 48


def test_nothing_open_reads_no_graph(tmp_path):
    """The settings as given."""
    chosen = choose(small_runner(tmp_path, alpha=0.7).job, small_runner(tmp_path).inputs)
    assert (chosen.alpha, chosen.prior_strength, chosen.facts) == (0.7, 1e-4, {"chosen_on": 0})


def test_what_blocks_cannot_do_is_refused(tmp_path):
    """A prior too weak for single precision, and confusion of annotators on some cells."""
    runner = small_runner(tmp_path, prior_strength=0.0)
    with pytest.raises(InputError, match=r"at least 0\.0001, got 0"):
        choose(runner.job, runner.inputs)
    named = Votes.from_pairs([0, 1, 2], [0, 1, 2], annotators=["a", "b", "c"])
    other = runner_with_graph(tmp_path, y=named, annotator_model="confusion", tune_items=50)
    with pytest.raises(InputError, match="use 'consistency'"):
        choose(other.job, other.inputs)
