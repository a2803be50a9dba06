"""Embeddings in parts are those of the whole file."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softspread.errors import InputError
from softspread.io.stream import open_stream, read_stream_ids


@pytest.fixture
def files(tmp_path):
    """Ten rows in .npy, then twelve in a Parquet file of columns with small row groups."""
    X = np.arange(66.0).reshape(22, 3)
    np.save(tmp_path / "a.npy", X[:10].astype(np.float32))
    columns = {f"e{c}": X[10:, c] for c in range(3)}
    pq.write_table(pa.table(columns), tmp_path / "b.parquet", row_group_size=5)
    return [tmp_path / "a.npy", tmp_path / "b.parquet"], X


@pytest.mark.parametrize(("first", "last"), [(0, 22), (3, 7), (8, 13), (11, 12), (14, 22)])
def test_any_range_of_rows_is_read(files, first, last):
    """Across files and row groups."""
    stream = open_stream(files[0])
    assert (stream.n_items, stream.n_dimensions, stream.itemsize) == (22, 3, 8)
    assert (stream.read(first, last) == files[1][first:last]).all()


def test_the_key_changes_with_a_file(files):
    """And with the column."""
    before = open_stream(files[0]).key
    assert before == open_stream(files[0]).key != open_stream(files[0], "e*").key
    np.save(files[0][0], np.zeros((11, 3), dtype=np.float32))
    assert open_stream(files[0]).key != before


def test_what_cannot_be_read_in_parts_is_refused(tmp_path, files):
    """Other endings, other widths, numbers that are none."""
    np.savez(tmp_path / "c.npz", X=np.zeros((2, 3)))
    with pytest.raises(InputError, match="npz"):
        open_stream([tmp_path / "c.npz"])
    np.save(tmp_path / "d.npy", np.zeros((2, 4)))
    with pytest.raises(InputError, match="4 dimensions"):
        open_stream([files[0][0], tmp_path / "d.npy"])
    np.save(tmp_path / "e.npy", np.full((2, 3), np.nan))
    with pytest.raises(InputError, match="NaN"):
        open_stream([tmp_path / "e.npy"]).read(0, 2)


def test_ids_are_read_without_vectors(tmp_path, files):
    """From columns, or a file of their own; all files have some or none has."""
    pq.write_table(pa.table({"item": ["a", "b"], "x": [1.0, 2.0]}), tmp_path / "f.parquet")
    pq.write_table(pa.table({"item": ["c"], "x": [3.0]}), tmp_path / "g.parquet")
    stream = open_stream([tmp_path / "f.parquet", tmp_path / "g.parquet"])
    assert read_stream_ids(stream).tolist() == ["a", "b", "c"]
    (tmp_path / "ids.txt").write_text("u\nv\nw\n")
    assert read_stream_ids(stream, ids=tmp_path / "ids.txt").tolist() == ["u", "v", "w"]
    assert read_stream_ids(open_stream(files[0])) is None
    np.save(tmp_path / "h.npy", np.zeros((2, 1)))
    with pytest.raises(InputError, match="give all of them ids"):
        read_stream_ids(open_stream([tmp_path / "f.parquet", tmp_path / "h.npy"]))
