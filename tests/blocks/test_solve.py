"""Steps over all blocks, checkpoints, and what moves between blocks."""

import numpy as np
import pytest

from small_blocks import assembled_by_place, runner_with_scales
from softspread._common.threads import Workers
from softspread.blocks import run as run_module
from softspread.blocks import solve as solve_module
from softspread.blocks.chebyshev import omegas
from softspread.blocks.operator import read_operator
from softspread.blocks.solve import (
    Operators,
    Vectors,
    boundary_of,
    halo_of,
    mapped_file,
    n_steps,
    right_side,
    stage_after,
    start_of,
    step,
)
from softspread.errors import SoftspreadWarning, StoreError


def mass_of(job):
    """Mass of all items by place, from the last checkpoint."""
    stage = stage_after(n_steps(job))
    return np.concatenate([job.store.read(stage, block)["x"] for block in range(job.layout.n_blocks)])


def test_mass_solves_the_system_of_all_blocks(tmp_path):
    """As a dense solve does; the report measures the residual."""
    runner = runner_with_scales(tmp_path)
    report, job = runner.solve(), runner.job
    B = np.zeros((240, 3))
    for block in range(job.layout.n_blocks):
        right = right_side(job, block)
        B[job.layout.starts[block] + right.rows] = right.values
    truth = np.linalg.solve(np.eye(240) - 0.9 * assembled_by_place(job), B)
    np.testing.assert_allclose(mass_of(job), truth, atol=2e-6)
    assert report["residual"] < 2e-6
    assert report["iterations"] == 36


def test_a_solve_goes_on_from_its_last_whole_checkpoint(tmp_path, monkeypatch):
    """Damage in the newest one is named, the older one is used, and mass is the same to the last digit."""
    monkeypatch.setattr(run_module, "SEGMENT", 10)
    runner = runner_with_scales(tmp_path)
    runner.solve()
    job = runner.job
    before = mass_of(job)
    assert job.store.present(stage_after(10)) == set()  # only the last two are kept
    path = tmp_path / "blocks" / stage_after(36) / "000001.npz"
    path.write_bytes(path.read_bytes()[:-40])
    taken = []
    solve = runner.driver.solve
    monkeypatch.setattr(
        runner.driver, "solve", lambda job, spans, n: taken.extend(spans) or solve(job, spans, n)
    )
    with pytest.warns(SoftspreadWarning, match="mass-0036"):
        runner.solve()
    assert taken == [(30, 36)]
    assert (mass_of(job) == before).all()


def test_a_step_from_boundaries_is_a_step_of_all(tmp_path):
    """What a cluster computes block by block, and what one process computes, are the same bits."""
    job = runner_with_scales(tmp_path).job
    blocks = range(job.layout.n_blocks)
    rights = {block: right_side(job, block) for block in blocks}
    operators = [read_operator(job, block) for block in blocks]
    vectors = Vectors(job, rights, 3, 0, room=10**8)
    states = [start_of(job, block, 0, 3) for block in blocks]
    for omega in omegas(0.9, 3):
        vectors.advance(omega, Operators(job, 10**8), Workers(1))
        edges = {b: (operators[b].boundary, boundary_of(operators[b], states[b])) for b in blocks}
        halos = [
            halo_of(job, operators[b], {other: edges[other] for other in job.facts["touched"][b]}, 3)
            for b in blocks
        ]
        states = [step(operators[b], 0.9, omega, states[b], halos[b], rights[b], Workers(1)) for b in blocks]
    assert (np.concatenate([state.x for state in states]) == vectors.x).all()


def test_a_full_disk_is_noticed_before_the_first_step(tmp_path, monkeypatch):
    """The file takes all its room when it is made: nothing is half written, and nothing is killed later."""
    table = mapped_file(tmp_path / "x.bin", (1000, 3))
    assert (tmp_path / "x.bin").stat().st_blocks * 512 >= table.nbytes == 12_000

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(solve_module.os, "posix_fallocate", full)
    with pytest.raises(StoreError, match=r"x\.bin: No space left on device.*free space"):
        mapped_file(tmp_path / "x.bin", (1000, 3))
    assert list(tmp_path.iterdir()) == []


def test_vectors_without_room_live_in_a_file(tmp_path):
    """And give the same mass."""
    runner = runner_with_scales(tmp_path)
    runner.know(room=0)
    vectors = Vectors(runner.job, {}, 3, 0, room=0)
    assert isinstance(vectors.x, np.memmap)
    assert isinstance(vectors.previous, np.memmap)
    runner.solve()
    small = mass_of(runner.job)
    runner.know(room=10**8)
    runner.job.store.forget(stage_after(36))
    runner.job.store.forget(stage_after(24))
    runner.solve()
    assert (mass_of(runner.job) == small).all()
