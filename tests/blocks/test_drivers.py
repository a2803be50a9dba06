"""The driver of one process."""

from small_blocks import small_runner
from softspread.blocks.drivers import Serial


def test_blocks_come_one_after_the_other(tmp_path):
    """Each with nothing repaired."""
    job = small_runner(tmp_path).job
    assert list(Serial(1).run(job, "cells", [0])) == [(0, [])]
    assert list(Serial(1).solve(job, [], 3)) == []


def test_the_number_of_threads_changes_nothing(tmp_path):
    """Three threads give the bits of one."""
    runners = []
    for threads in (1, 3):
        (folder := tmp_path / str(threads)).mkdir()
        runner = small_runner(folder, driver=Serial(threads))
        runner.build_graph(), runner.take_votes(), runner.find_scales(), runner.solve()
        runners.append(runner.job.store)
    for block in range(3):
        one, other = (store.read("mass-0036", block)["x"] for store in runners)
        assert (one == other).all()
