"""Contents behind ids, their digests and stamps."""

import os

import numpy as np
import pytest

from softspread.embedding.contents import FileContents, HeldContents, content_digest, stamp_bytes
from softspread.embedding.preparation import UnreadableImage

Image = pytest.importorskip("PIL.Image", reason="needs Pillow")


def test_digests_distinguish_contents():
    """The same bytes in another shape or type are another content."""
    zeros = np.zeros((2, 3), dtype=np.uint8)
    marks = {
        content_digest(content)
        for content in (
            b"",
            b"\0" * 6,
            zeros,
            zeros.T,
            zeros.astype(np.int8),
            "",
            "a",
            Image.fromarray(zeros),
        )
    }
    assert len(marks) == 7  # an empty text and an empty file are never of the same kind, so they may agree
    assert content_digest(zeros) == content_digest(zeros.copy())


def test_a_stamp_changes_with_the_file(tmp_path):
    """Size or time; a missing file has none and cannot be read."""
    path = tmp_path / "a.png"
    path.write_bytes(b"12")
    files = FileContents([path, tmp_path / "none.png"])
    first = files.stamp(0)
    assert files.stamp(0) == first
    os.utime(path, ns=(1, 1))
    assert files.stamp(0) != first
    assert files.read(0) == b"12"
    assert files.stamp(1) is None
    with pytest.raises(UnreadableImage, match="No such file"):
        files.read(1)
    assert len(files) == 2


def test_values_in_memory_have_no_stamp():
    """Only reading tells what they are."""
    held = HeldContents(["a", "b"])
    assert (len(held), held.read(1), held.stamp(1)) == (2, "b", None)
    assert stamp_bytes(None).tolist() == [0] * 16
    assert stamp_bytes(bytes(range(16))).tolist() == list(range(16))
