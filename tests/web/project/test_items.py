"""What people look at: folders, tables, links that lead out, pictures that are none."""

import io

import numpy as np
import pytest
from PIL import Image

from softspread.errors import InputError, StoreError
from softspread.io.images import IMAGE_ENDINGS, TEXT_ENDINGS, list_files
from softspread.web.project.items import ArrayItems, read_items


def png(side=20, colour="red"):
    stream = io.BytesIO()
    Image.new("RGB", (side, side), colour).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "photos"
    (home / "sub").mkdir(parents=True)
    (home / "b.png").write_bytes(png())
    (home / "sub" / "a.PNG").write_bytes(png(30))
    (home / "note.txt").write_text("<b>hello</b>")
    (home / ".hidden.png").write_bytes(png())
    (home / "data.bin").write_bytes(b"no")
    return home


def test_a_folder_is_read_in_the_order_of_its_paths(folder):
    """Pictures and texts, not hidden or other files; ids are relative paths."""
    items = read_items(folder, None, 3)
    assert items.ids.tolist() == ["b.png", "note.txt", "sub/a.PNG"]
    assert items.picture(0)[1] == "image/png"
    assert (items.text(1), items.picture(1), items.has_picture(1)) == ("<b>hello</b>", None, False)


def test_ids_of_the_embeddings_choose_and_order(folder):
    """Matched by id, whatever the order; unknown ones are named."""
    items = read_items(folder, np.array(["sub/a.PNG", "b.png"], dtype=object), 2)
    assert items.ids.tolist() == ["sub/a.PNG", "b.png"]
    with pytest.raises(StoreError, match="gone"):
        read_items(folder, np.array(["b.png", "gone.png"], dtype=object), 2)
    with pytest.raises(InputError, match="3 items, the embeddings 7 rows"):
        read_items(folder, None, 7)


@pytest.mark.parametrize(
    "bad", ["../secret.png", "/etc/hostname", "sub/../../secret.png", "b.png/../../secret.png"]
)
def test_a_table_cannot_name_files_outside_its_folder(folder, bad):
    """Whatever the path says, only what lies below is read."""
    (folder.parent / "secret.png").write_bytes(png())
    table = folder / "items.csv"
    table.write_text(f"item,image\nx,{bad}\ny,b.png\n")
    items = read_items(table, None, 2)
    assert items.picture(0) is None
    assert items.thumbnail(0) is None
    assert items.picture(1) is not None


def test_a_link_that_leads_out_is_not_followed(folder):
    """Links within the folder are fine."""
    (folder.parent / "secret.png").write_bytes(png())
    (folder / "evil.png").symlink_to(folder.parent / "secret.png")
    (folder / "good.png").symlink_to(folder / "b.png")
    items = read_items(folder, None, len(list_files(folder, (*IMAGE_ENDINGS, *TEXT_ENDINGS))))
    assert items.picture(items.row_of("evil.png")) is None
    assert items.picture(items.row_of("good.png")) is not None


def test_a_table_has_texts_pictures_or_both(folder):
    """Missing cells are nothing."""
    table = folder / "items.csv"
    table.write_text('id,text,image\n1,"one, two",b.png\n2,,b.png\n3,three,\n')
    items = read_items(table, None, 3)
    assert [items.text(row) for row in range(3)] == ["one, two", None, "three"]
    assert [items.has_picture(row) for row in range(3)] == [True, True, False]


def test_a_file_that_is_no_picture_has_no_thumbnail(folder):
    """It is sent as what it claims to be, and the browser may not guess; a thumbnail is not made of it."""
    (folder / "fake.png").write_bytes(b"<script>alert(1)</script>")
    items = read_items(folder, None, 4)
    assert items.thumbnail(items.row_of("fake.png")) is None


def test_a_picture_that_unpacks_to_too_much_is_not_opened(folder, monkeypatch):
    """Size in pixels counts, not size on disk."""
    monkeypatch.setattr("softspread.io.images.MOST_PIXELS", 100)
    items = read_items(folder, None, 3)
    assert items.thumbnail(0) is None


def test_a_huge_picture_is_made_smaller_or_refused(folder, monkeypatch):
    """Phones cannot show every file that a camera or an attacker can make; others are sent as they are."""
    items = read_items(folder, None, 3)
    assert items.picture(0) == (png(), "image/png")
    monkeypatch.setattr("softspread.io.images.LARGEST_SIDE", 8)
    smaller, kind = items.picture(0)
    assert kind == "image/jpeg"
    with Image.open(io.BytesIO(smaller)) as image:
        assert max(image.size) == 8
    monkeypatch.setattr("softspread.io.images.MOST_PIXELS", 10)
    assert items.picture(0) is None


def test_thumbnails_are_small_pngs(folder):
    """Of every kind of picture."""
    (folder / "b.png").write_bytes(png(400))
    with Image.open(io.BytesIO(read_items(folder, None, 3).thumbnail(0))) as image:
        assert (image.format, image.size) == ("PNG", (96, 96))
    with Image.open(io.BytesIO(ArrayItems(["a"], np.zeros((1, 8, 8))).picture(0)[0])) as image:
        assert image.size == (320, 320)


def test_ids_must_differ(tmp_path):
    """A log that names items by id could not tell them apart."""
    table = tmp_path / "items.csv"
    table.write_text("item,text\na,x\na,y\n")
    with pytest.raises(InputError, match="'a' appears more than once"):
        read_items(table, None, 2)


def test_sounds_and_films_are_played_and_stay_in_their_folder(tmp_path):
    """By their ending; a link that leads elsewhere is not followed."""
    folder = tmp_path / "items"
    folder.mkdir()
    (folder / "a.wav").write_bytes(b"RIFF")
    (folder / "b.mp4").write_bytes(b"film")
    (tmp_path / "secret.mp3").write_bytes(b"secret")
    (folder / "c.mp3").symlink_to(tmp_path / "secret.mp3")
    items = read_items(folder, None, 3)
    assert [items.media_kind(row) for row in range(3)] == ["audio", "video", "audio"]
    assert not any(items.has_picture(row) for row in range(3))
    assert items.media(0) == (folder / "a.wav", "audio/wav")
    assert items.media(2) is None
