"""A Dask cluster gives the bits of one process, also when its workers or its scheduler die."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from small_blocks import N_NEIGHBORS, fill_disk, items, votes
from softspread import spread_in_blocks
from softspread.blocks import cluster
from softspread.errors import InputError, SoftspreadWarning, StoreError

pytest.importorskip("distributed", reason="needs the extra cluster")

PATIENCE = 120  # seconds until a worker is there, on a busy machine


def run(folder, client=None, **more):
    """A run in a folder, from a file that workers can read."""
    if not (folder / "X.npy").exists():  # a file written again counts as another one
        np.save(folder / "X.npy", items()[0])
    given = {"n_neighbors": N_NEIGHBORS, "alpha": 0.9, "block_items": 70} | more
    return spread_in_blocks(folder / "X.npy", votes(), folder / "out.parquet", client=client, **given)


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """Soft labels of one process."""
    return run(tmp_path_factory.mktemp("serial")).read()


@pytest.fixture
def local():
    """Two workers in processes of their own; those that die are started again."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as found,
        Client(found) as client,
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_any_number_of_workers_gives_the_bits_of_one_process(tmp_path, serial, n_workers):
    """Threads of this process as workers: what travels is the same."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None
        ) as found,
        Client(found) as client,
    ):
        assert (run(tmp_path, client).read().p == serial.p).all()


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 50])
def test_blocks_are_dealt_out_evenly(n_parts):
    """Every block in one part, no part empty, none with more than its share and half of the largest block."""
    sizes = np.random.default_rng(0).integers(50, 150, size=20)
    parts = cluster.parts_of(sizes, n_parts)
    assert sorted(block for part in parts for block in part) == list(range(20))
    assert 0 < len(parts) <= n_parts
    assert len(parts) == min(n_parts, 20)
    assert max(sizes[part].sum() for part in parts) <= sizes.sum() / n_parts + sizes.max()


@pytest.mark.parametrize("stage", ["neighbors", "scales", "mass-0024", "labels"])
def test_a_killed_worker_changes_nothing(tmp_path, serial, local, stage):
    """kill -9 of a worker that is about to write the stage: its tasks run elsewhere."""
    mark = tmp_path / "killed"

    def arm(stage, mark):
        from softspread.blocks.store import BlockStore

        write = BlockStore.write

        def deadly(self, name, number, arrays, facts=None):
            try:
                if name == stage:
                    os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                    os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass
            return write(self, name, number, arrays, facts)

        BlockStore.write = deadly

    local.run(arm, stage, str(mark))
    done = run(tmp_path, local)
    assert mark.exists()
    assert (done.read().p == serial.p).all()


def test_a_full_disk_of_a_worker_is_told_and_the_next_call_goes_on(tmp_path, serial, monkeypatch):
    """The error is that of one process, not one of the cluster."""
    from distributed import Client, LocalCluster

    fill_disk(monkeypatch, "neighbors")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as found,
        Client(found) as client,
    ):
        with pytest.raises(StoreError, match=r"neighbors.*No space left on device.*free space"):
            run(tmp_path, client)
        monkeypatch.undo()
        assert (run(tmp_path, client).read().p == serial.p).all()


def test_damage_is_named_and_repaired_by_workers(tmp_path, serial):
    """A block that is cut short, and one that is gone."""
    from distributed import Client, LocalCluster

    run(tmp_path, keep_work=True)
    blocks = tmp_path / "out.parquet.blocks"
    for stage in ("scales", "mass-0024", "mass-0036", "labels"):
        for file in (blocks / stage).iterdir():
            file.unlink()
    cut, gone = blocks / "operator" / "000001.npz", blocks / "vectors" / "000000.npz"
    cut.write_bytes(cut.read_bytes()[:-30])
    gone.unlink()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as found,
        Client(found) as client,
        pytest.warns(SoftspreadWarning, match="block 1 of stage 'operator' is damaged"),
    ):
        assert (run(tmp_path, client, keep_work=True).read().p == serial.p).all()
    assert gone.exists()


def test_a_lost_scheduler_ends_with_what_to_do_and_the_next_call_goes_on(tmp_path, serial):
    """A scheduler and a worker as processes; both are killed in the middle."""
    from distributed import Client

    file = tmp_path / "scheduler.json"
    common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": os.environ}
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*start, "--scheduler-file", file, "--port", "0", "--no-dashboard"], **common
    )
    start = [sys.executable, "-m", "distributed.cli.dask_worker"]
    worker = subprocess.Popen([*start, "--scheduler-file", file, "--nthreads", "1", "--no-nanny"], **common)
    try:
        with Client(scheduler_file=str(file), timeout=PATIENCE) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            blocks = tmp_path / "out.parquet.blocks"
            watcher = threading.Thread(target=_kill_when, args=(scheduler, blocks / "vectors"))
            watcher.start()
            with pytest.raises(StoreError, match="repeat the same call"):
                run(tmp_path, client)
            watcher.join()
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    assert not (tmp_path / "out.parquet").exists()
    assert any((blocks / "vectors").iterdir())
    assert (run(tmp_path).read().p == serial.p).all()


def _kill_when(process, folder: Path):
    """Kill a process as soon as a folder exists."""
    for _ in range(6000):
        if folder.exists():
            break
        time.sleep(0.01)
    process.kill()


def test_workers_with_other_versions_are_refused(monkeypatch):
    """By name, with what to do."""
    monkeypatch.setattr(cluster, "versions", lambda *more: {"numpy": "0.1"})
    with pytest.raises(InputError, match=r"has other versions: numpy .*\(here 0\.1\)\. Install the same"):
        cluster.check_versions(_Client({"tcp://w": {"numpy": "2.0"}}))
    with pytest.raises(InputError, match="no workers"):
        cluster.check_versions(_Client({}))


class _Client:
    """What a client says about its workers."""

    def __init__(self, found):
        self.found = found

    def run(self, function, *arguments):
        return self.found


def test_an_address_that_is_none_is_refused():
    """And one where nobody answers."""
    with pytest.raises(InputError, match="tcp://host:8786"), cluster.connected("everywhere", 10**9):
        pass
