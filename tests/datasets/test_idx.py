"""IDX files."""

import gzip

import pytest

from softspread.datasets.idx import read_idx
from softspread.errors import StoreError


@pytest.mark.parametrize(
    "raw",
    [b"", b"\0\0\x0d\1\0\0\0\1\0", b"\0\0\x08\1\0\0\0\5ab", gzip.compress(b"\0\0\x08\1", mtime=0)[:-6]],
    ids=["empty", "of floats", "cut short", "cut while compressed"],
)
def test_broken_idx_files_are_refused(tmp_path, raw):
    """Empty, of another type, too short, a cut archive."""
    path = tmp_path / ("file.gz" if raw[:2] == b"\x1f\x8b" else "file")
    path.write_bytes(raw)
    with pytest.raises(StoreError, match="download it again"):
        read_idx(path)
