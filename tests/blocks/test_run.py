"""Stages in order, whatever an earlier attempt has left."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from small_blocks import N_NEIGHBORS, fill_disk, items, small_runner, votes
from softspread import spread_in_blocks
from softspread.blocks.run import open_store
from softspread.errors import SoftspreadWarning, StoreError

STOPPED = """
import sys
import numpy as np
from softspread import spread_in_blocks
from softspread.blocks.store import BlockStore

stage, folder = sys.argv[1:]
write = BlockStore.write

def stop(self, name, number, arrays, facts=None):
    if name == stage and number == 1:
        print("ready", flush=True)
        sys.stdin.read()  # killed here, with one block of the stage written
    return write(self, name, number, arrays, facts)

BlockStore.write = stop
X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
spread_in_blocks(X, y, f"{folder}/out.parquet", alpha=0.9, n_neighbors=6, block_items=70, n_jobs=1)
"""


def run(folder, **more):
    """The whole run in a folder."""
    given = {"alpha": 0.9, "n_neighbors": N_NEIGHBORS, "block_items": 70, "n_jobs": 1} | more
    return spread_in_blocks(items()[0], votes(), folder / "out.parquet", **given)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Soft labels of a run that nothing interrupted."""
    return run(tmp_path_factory.mktemp("whole")).read()


@pytest.mark.parametrize("stage", ["neighbors", "scales", "mass-0024", "labels"])
def test_a_killed_run_goes_on_and_gives_the_same(tmp_path, undisturbed, stage):
    """kill -9 of a real process; blocks that stood are not made again, and no half result is seen."""
    np.save(tmp_path / "X.npy", items()[0])
    np.save(tmp_path / "y.npy", votes())
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, stage, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ,
    )
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "out.parquet").exists()
    vectors = tmp_path / "out.parquet.blocks" / "vectors" / "000000.npz"
    made = vectors.stat().st_mtime_ns
    found = run(tmp_path, keep_work=True).read()
    assert vectors.stat().st_mtime_ns == made
    assert (found.p == undisturbed.p).all()
    assert (found.ids == undisturbed.ids).all()


def test_a_changed_setting_is_refused_by_name_or_starts_over(tmp_path, undisturbed):
    """The folder of another run is not touched unless asked."""
    run(tmp_path, keep_work=True, alpha=0.5)
    with pytest.raises(StoreError, match=r"another alpha\. Restart"):
        run(tmp_path)
    found = run(tmp_path, restart=True)
    assert (found.read().p == undisturbed.p).all()
    assert not (tmp_path / "out.parquet.blocks").exists()


def test_a_folder_of_other_files_is_refused(tmp_path):
    """Also a damaged manifest."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "thesis.txt").write_text("years")
    with pytest.raises(StoreError, match="holds other files"):
        open_store(f"{tmp_path}/work", {})
    (tmp_path / "work" / "manifest.json").write_text("{")
    with pytest.raises(StoreError, match="is damaged"):
        open_store(f"{tmp_path}/work", {})


@pytest.mark.parametrize("stage", ["vectors", "operator", "choice", "votes", "given", "names", "mass-0036"])
def test_damage_between_two_runs_is_named_and_repaired(tmp_path, undisturbed, stage):
    """Whichever stage it hits."""
    run(tmp_path, keep_work=True)
    blocks = tmp_path / "out.parquet.blocks"
    block = sorted((blocks / stage).iterdir())[-1]
    block.write_bytes(block.read_bytes()[:-30])
    for made_of_it in (
        "labels",
        "scales",
        "far",
        "remainder",
        *(["mass-0024", "mass-0036"] if stage != "mass-0036" else []),
    ):
        for file in (blocks / made_of_it).iterdir():
            file.unlink()
    with pytest.warns(SoftspreadWarning, match=f"stage '{stage}' is damaged"):
        found = run(tmp_path)
    assert (found.read().p == undisturbed.p).all()


@pytest.mark.parametrize("stage", ["assign", "neighbors", "scales", "mass-0024", "part-"])
def test_a_full_disk_ends_with_an_error_and_the_next_call_goes_on(tmp_path, undisturbed, monkeypatch, stage):
    """Whatever was about to be written: the file is named, nothing is half written, what stood is used."""
    fill_disk(monkeypatch, stage)
    with pytest.raises(StoreError, match=rf"cannot write .*{stage}.*No space left on device.*free space"):
        run(tmp_path)
    assert not (tmp_path / "out.parquet").exists()
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".tmp")]
    monkeypatch.undo()
    assert (run(tmp_path).read().p == undisturbed.p).all()


def test_a_part_that_vanished_is_written_again(tmp_path, undisturbed):
    """Results are checked before they get their name."""
    run(tmp_path, keep_work=True)
    part = tmp_path / "out.parquet" / "part-00001.parquet"
    part.unlink()
    with pytest.warns(SoftspreadWarning, match="stage 'labels'"):
        assert (run(tmp_path).read().p == undisturbed.p).all()


def test_the_facts_of_a_run_stand_beside_its_parts(tmp_path):
    """As JSON, which readers of the parts leave out."""
    done = run(tmp_path)
    facts = json.loads((tmp_path / "out.parquet" / "_softspread.json").read_text())
    assert facts["alpha"] == 0.9
    assert facts["parts"] == done.facts["parts"] >= 3
    assert sum(facts["verdicts"].values()) == 240


def test_runner_counts_only_what_is_missing(tmp_path):
    """A stage that is there takes no task."""
    runner = small_runner(tmp_path)
    runner.complete("cells", 1)
    runner.driver = None
    assert runner.complete("cells", 1)[0]["n_cells"] >= 3
