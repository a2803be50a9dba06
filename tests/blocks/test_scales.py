"""Scales from regions are those of the whole graph, within their certificate."""

import numpy as np
import pytest

from small_blocks import assembled_by_place, runner_with_graph, runner_with_scales
from softspread.blocks import scales as room
from softspread.blocks.scales import RegionRule, region_around, solve_in


def true_scales(job):
    """The largest entry of each column of (I - alpha S)^-1, by place."""
    S = assembled_by_place(job)
    return np.linalg.inv(np.eye(len(S)) - job.facts["alpha"] * S).max(axis=0)


def found_scales(job):
    """Places of the voted items, their scales and the bounds of the errors."""
    parts = [job.store.read("scales", block) for block in range(job.layout.n_blocks)]
    starts = np.repeat(job.layout.starts[:-1], [len(part["here"]) for part in parts])
    names = ("here", "scales", "errors")
    here, scales, errors = (np.concatenate([part[name] for part in parts]) for name in names)
    return here + starts, scales, errors


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_scales_keep_their_certificate(tmp_path, alpha):
    """No scale is further off than its bound says."""
    job = runner_with_scales(tmp_path, alpha=alpha).job
    places, scales, errors = found_scales(job)
    known = ~np.isnan(scales)
    truth = true_scales(job)[places]
    assert known.sum() > 40
    assert len(places) == 48
    assert (np.abs(scales - truth) <= errors * scales + 1e-6)[known].all()


def test_a_solve_that_needs_more_than_its_region_says_so(tmp_path):
    """Without any ring nothing can be certified."""
    runner = runner_with_graph(tmp_path)
    runner.take_votes()
    seeds = np.array([0, 5])
    found = solve_in(region_around(runner.job, seeds, 0), runner.job, seeds, 1e-4)
    assert (found[:, 4] == 1).all()


def test_what_no_region_settles_is_left_open_and_solved_on_the_whole_graph(tmp_path, monkeypatch):
    """The far scales agree with the truth, too."""
    monkeypatch.setattr(room, "RULE", RegionRule(rings=(0,)))
    runner = runner_with_scales(tmp_path)
    job = runner.job
    assert len(job.facts["open"]) == 48
    far = job.store.read("far", 0)
    np.testing.assert_allclose(far["scales"], true_scales(job)[far["places"]], rtol=1e-4)
    assert job.store.facts("far", 0)["solves"] == 48
