"""Thumbnails are found by id, small, and never from outside their folder."""

import sys

import pytest

from softspread.errors import InputError, MissingExtraError
from softspread.report.pictures import SIDE, Thumbnails


def test_thumbnails_are_found_and_small(tmp_path):
    """With or without the ending; unreadable, absent and outside pictures are none."""
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "in").mkdir()
    image.new("RGB", (600, 300)).save(tmp_path / "in" / "a.png")
    image.new("RGB", (6, 3)).save(tmp_path / "outside.png")
    (tmp_path / "in" / "broken.png").write_text("x")
    pictures = Thumbnails(tmp_path / "in")
    assert pictures("a") == pictures("a.png")
    assert pictures("a").startswith("data:image/jpeg;base64,")
    assert [pictures(name) for name in ("broken", "none", "../outside.png", "", 3)] == [None] * 5
    import base64
    import io

    small = image.open(io.BytesIO(base64.b64decode(pictures("a").split(",")[1])))
    assert max(small.size) == SIDE


def test_thumbnails_need_a_folder_and_pillow(tmp_path, monkeypatch):
    """Both messages say what to do."""
    pytest.importorskip("PIL")
    with pytest.raises(InputError, match="no folder of images"):
        Thumbnails(tmp_path / "none")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingExtraError, match=r"softspread\[images\]"):
        Thumbnails(tmp_path)
