"""A task makes what it cannot read again, and gives up where only the driver can."""

import pytest

from small_blocks import runner_with_graph, runner_with_scales
from softspread.blocks.store import DamagedBlockError
from softspread.blocks.tasks import run_task


def test_damaged_and_missing_blocks_are_named_and_made_again(tmp_path):
    """Also those that a damaged block is made of."""
    job = runner_with_graph(tmp_path).job
    folder = tmp_path / "blocks"
    before = (folder / "operator" / "000001.npz").read_bytes()
    (folder / "affinity" / "000001.npz").unlink()
    (folder / "halves" / "000000.npz").write_bytes(b"junk")
    repaired = run_task(job, "operator", 1)
    assert [text.split("'")[1] for text in repaired] == ["affinity", "halves"]
    assert (folder / "operator" / "000001.npz").read_bytes() == before


def test_what_the_driver_holds_is_left_to_it(tmp_path):
    """Votes cannot be made by a task."""
    job = runner_with_scales(tmp_path).job
    job.store.forget("votes")
    with pytest.raises(DamagedBlockError, match="votes"):
        run_task(job, "scales", 0)
