"""Places of items, and chance that does not depend on who asks."""

import pickle

import numpy as np

from small_blocks import small_runner
from softspread.blocks.job import Layout


def test_empty_cells_get_no_block():
    """Places run over the cells that hold items."""
    layout = Layout.of(np.array([2, 0, 3]))
    assert layout.starts.tolist() == [0, 2, 5]
    assert layout.cells.tolist() == [0, 2]
    assert layout.block_of_cell.tolist() == [0, -1, 1]
    assert layout.block_of(np.arange(5)).tolist() == [0, 0, 1, 1, 1]


def test_a_job_travels(tmp_path):
    """Chunks and chance are the same on the other side."""
    job = small_runner(tmp_path, chunk_items=100).job
    other = pickle.loads(pickle.dumps(job))
    assert [other.chunk(number) for number in range(other.n_chunks)] == [(0, 100), (100, 200), (200, 240)]
    assert other.rng("cells", 3).random() == job.rng("cells", 3).random() != job.rng("cells", 4).random()
