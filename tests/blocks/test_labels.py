"""Parts: the columns of a file from memory, a checksum for each."""

import numpy as np
import pytest

from small_blocks import in_memory, items, runner_with_scales, votes
from softspread.blocks.labels import check_part, labels_of_block, part_name, parts_folder, write_part
from softspread.blocks.store import DamagedBlockError


@pytest.mark.parametrize("interval", ["wilson", "goodman"])
def test_labels_of_blocks_are_those_of_memory(tmp_path, interval):
    """Soft label, evidence, interval and verdict."""
    runner = runner_with_scales(tmp_path, interval=interval)
    runner.solve()
    parts = [labels_of_block(runner.job, block) for block in range(runner.job.layout.n_blocks)]
    wanted = in_memory().fit(items()[0], votes()).soft_labels(0.9, interval)
    for part in parts:
        mine = wanted.take(part.ids)
        for name in ("p", "evidence", "lower", "upper"):
            np.testing.assert_allclose(getattr(part, name), getattr(mine, name), atol=5e-4)
        assert (part.verdict == mine.verdict).mean() > 0.98
    assert [name for name, _ in parts[0].columns()] == [name for name, _ in wanted.columns()]


def test_a_changed_part_is_noticed(tmp_path):
    """And so is a missing one."""
    runner = runner_with_scales(tmp_path)
    runner.solve()
    write_part(runner.job, 0)
    check_part(runner.job, 0)
    folder = parts_folder(runner.job)
    folder.write_bytes(b"junk", part_name(0))
    with pytest.raises(DamagedBlockError, match="has changed"):
        check_part(runner.job, 0)
    folder.remove()
    with pytest.raises(DamagedBlockError, match=r"no part-00000\.parquet"):
        check_part(runner.job, 0)
