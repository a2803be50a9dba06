"""What people see of an item in a notebook."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from softspread.errors import InputError
from softspread.notebook.contents import as_content, read_contents


def png(mode="RGB", size=(6, 4)):
    stream = io.BytesIO()
    Image.new(mode, size).save(stream, "PNG")
    return stream.getvalue()


def opened(content):
    assert content.kind == "picture", content.text
    return Image.open(io.BytesIO(content.data))


@pytest.mark.parametrize(
    ("thing", "text"),
    [
        ("A fine film.", "A fine film."),
        ("see photo.jpg", "see photo.jpg"),  # prose that ends like a file
        (7, "7"),
        (np.float32(0.5), "0.5"),
        ([1.0, 2.5], "1, 2.5"),
        (pd.Series({"age": 41, "height": 1.5}), "age: 41\nheight: 1.5"),
        ({"age": 41}, "age: 41"),
    ],
)
def test_text_and_numbers_are_written(thing, text):
    """Prose, numbers, rows of features and of tables."""
    found = as_content(thing, "id")
    assert (found.kind, found.text) == ("text", text)


@pytest.mark.parametrize("nothing", [None, float("nan")])
def test_an_item_without_contents_shows_its_name(nothing):
    """What people see then is the id."""
    assert as_content(nothing, "item 7") == as_content(nothing, "item 7")
    assert (as_content(nothing, "item 7").kind, as_content(nothing, "item 7").text) == ("name", "item 7")


def test_pixels_keep_their_range():
    """Bytes as they are, shares from 0 to 1, and any other range from its smallest to its largest value."""
    ramp = np.linspace(0, 1, 400 * 400).reshape(400, 400)
    for pixels in (np.round(255 * ramp).astype(np.uint8), ramp, 16 * ramp, 100 * ramp - 50):
        shown = np.asarray(opened(as_content(pixels, "id")))
        assert shown.shape == (400, 400)
        np.testing.assert_allclose(shown, 255 * ramp, atol=1)


@pytest.mark.parametrize("shape", [(400, 500, 3), (3, 400, 500)])
def test_colours_come_first_or_last(shape):
    """As Pillow and as torch have them."""
    assert opened(as_content(np.zeros(shape), "id")).size == (500, 400)


def test_small_pixels_are_enlarged():
    """A digit of 8 by 8 pixels would be a dot."""
    assert opened(as_content(np.eye(8), "id")).size == (320, 320)


def test_pictures_come_as_files_bytes_and_from_pillow(tmp_path):
    """All of them reach the browser; what browsers do not read becomes PNG."""
    path = tmp_path / "a.png"
    path.write_bytes(png())
    Image.new("RGB", (6, 4)).save(tmp_path / "b.tif")
    for thing in (path, str(path), png(), Image.new("P", (6, 4)), tmp_path / "b.tif"):
        assert opened(as_content(thing, "id")).size == (6, 4)
    assert as_content(path, "id").data == path.read_bytes()  # not packed again


def test_sounds_films_and_texts_come_as_files(tmp_path):
    """By the browser's own players."""
    for name, kind in (("a.wav", "audio"), ("b.mp4", "video"), ("c.txt", "text")):
        (tmp_path / name).write_bytes(b"content")
        found = as_content(tmp_path / name, "id")
        assert (found.kind, found.data or found.text.encode()) == (kind, b"content")


@pytest.mark.parametrize(
    "thing",
    [
        Path("nowhere.png"),
        "nowhere.png",
        b"no picture",
        np.zeros((2, 3, 4, 5)),
        np.array([["a", "b"]]),
        np.full((3, 3), np.nan),
        np.zeros((0, 3)),
    ],
)
def test_what_cannot_be_shown_says_why(thing):
    """The person skips it; nobody votes on an empty frame."""
    found = as_content(thing, "id")
    assert found.kind == "problem"
    assert len(found.text) > 10


def test_contents_are_found_by_row_by_id_in_a_folder_and_by_a_function(tmp_path):
    """Whatever a notebook has at hand."""
    (tmp_path / "b.txt").write_text("second")
    frame = pd.DataFrame({"title": ["first", "second"]})
    given = [
        ["first", "second"],
        np.array(["first", "second"]),
        pd.Series(["first", "second"], index=[8, 9]),
        frame,
        {"b": "second"},
        tmp_path,
        str(tmp_path),
        lambda item: {"b": "second"}[item],
    ]
    for items in given:
        found = as_content(read_contents(items, 2)("b", 1), "b")
        assert found.text in ("second", "title: second"), items
    assert read_contents(None, 2)("b", 1) is None
    assert read_contents(["first", "second"], 2)("new", None) is None  # an item that came later
    assert as_content(read_contents(tmp_path, 2)("c", 1), "c").kind == "problem"


@pytest.mark.parametrize(
    ("items", "words"), [(["one"], "one thing to see per fitted item"), ("nowhere", "folder"), (7, "list")]
)
def test_contents_that_fit_no_items_are_refused(items, words):
    """Before the first vote."""
    with pytest.raises(InputError, match=words):
        read_contents(items, 2)
