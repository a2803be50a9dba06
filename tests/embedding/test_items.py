"""Folders, tables, arrays and lists give the ids and contents that a person expects."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.embed import embed
from softspread.embedding.items import find_items
from softspread.errors import InputError, StoreError

Image = pytest.importorskip("PIL.Image", reason="needs Pillow")


def pixels(source, **options):
    return embed(source, encoder="pixels:4", reduce="none", **options)


def test_a_folder_gives_relative_paths_in_order(picture_folder, pictures):
    """Images inside folders inside, names of any script, no other files."""
    space = pixels(picture_folder)
    assert len(space) == len(pictures)
    assert space.item_ids.tolist() == sorted(space.item_ids)
    assert "東京/bild 00 ß.png" in space.item_ids
    row = space.item_ids.tolist().index("東京/bild 00 ß.png")
    assert_allclose(space.X[row], pixels([pictures[0]]).X[0])


def test_hidden_files_and_other_endings_are_left_alone(picture_folder, pictures):
    """Thumbnails of an operating system are no items; endings may be capitals."""
    Image.fromarray(pictures[0]).save(picture_folder / ".hidden.png")
    (picture_folder / ".cache").mkdir()
    Image.fromarray(pictures[0]).save(picture_folder / ".cache" / "a.png")
    Image.fromarray(pictures[0]).save(picture_folder / "LOUD.JPG")
    ids = pixels(picture_folder).item_ids.tolist()
    assert len(ids) == len(pictures) + 1
    assert "LOUD.JPG" in ids


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".jsonl"])
def test_a_table_of_paths_is_read_relative_to_itself(ending, picture_folder, tmp_path):
    """The same images by a column as by the folder, with the table's own ids."""
    whole = pixels(picture_folder)
    frame = pd.DataFrame({"path": whole.item_ids, "item": [f"i{row}" for row in range(len(whole))]})
    table = picture_folder / f"table{ending}"
    if ending == ".parquet":
        frame.to_parquet(table)
    elif ending == ".jsonl":
        frame.to_json(table, orient="records", lines=True, force_ascii=False)
    else:
        frame.to_csv(table, index=False, sep="\t" if ending == ".tsv" else ",")
    by_table = pixels(table)
    assert by_table.item_ids.tolist() == frame["item"].tolist()
    assert (by_table.X == whole.X).all()
    elsewhere = tmp_path / table.name
    table.rename(elsewhere)
    assert (pixels(elsewhere, root=picture_folder).X == whole.X).all()


def test_columns_are_found_or_named(picture_folder):
    """Usual names by themselves, others on request; ids fall back to paths."""
    names = pixels(picture_folder).item_ids
    frame = pd.DataFrame({"where": names, "who": np.arange(len(names))})
    with pytest.raises(InputError, match=r"'where', 'who'\. Name it with column / --column"):
        pixels(frame, root=picture_folder)
    named = pixels(frame, root=picture_folder, column="where")
    assert named.item_ids.tolist() == names.tolist()
    assert (
        pixels(frame, root=picture_folder, column="where", id_column="who").item_ids.tolist()
        == frame["who"].tolist()
    )
    with pytest.raises(InputError, match="no column 'nothing'"):
        pixels(frame, column="nothing")
    with pytest.raises(InputError, match="no column 'nobody'"):
        pixels(frame, column="where", id_column="nobody")


def test_an_empty_cell_is_an_error_with_its_row():
    """Not an item called nan."""
    with pytest.raises(InputError, match=r"the table, row 1 \(counted from 0\): no value in 'path'"):
        pixels(pd.DataFrame({"path": ["a.png", None]}))


def test_arrays_lists_and_pillow_images_agree(pictures, tmp_path):
    """The same pictures by every door."""
    same = [np.asarray(Image.fromarray(picture).resize((12, 9))) for picture in pictures]
    array = np.stack(same)
    np.save(tmp_path / "images.npy", array)
    found = pixels(array).X
    for source in (same, [Image.fromarray(picture) for picture in same], tmp_path / "images.npy"):
        assert (found == pixels(source).X).all()


def test_grey_arrays_have_three_equal_channels():
    """(n, height, width) is grey."""
    images = np.random.default_rng(0).integers(0, 256, size=(3, 4, 4), dtype=np.uint8)
    assert_allclose(
        pixels(images).X.reshape(3, 16, 3), np.repeat(images.reshape(3, 16, 1) / 255, 3, axis=2), rtol=1e-6
    )


def test_own_ids_are_kept_and_must_be_distinct(pictures):
    """Ids of any plain kind."""
    ids = list("abcdefghijklmnopqrst")
    assert pixels(pictures, item_ids=ids).item_ids.tolist() == ids
    with pytest.raises(InputError, match="distinct"):
        pixels(pictures, item_ids=["a"] * 20)


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda folder: folder / "nowhere", "nothing at"),
        (lambda folder: folder, "holds no image"),
        (lambda folder: np.zeros((5, 3)), "encoder='none'"),
        (lambda folder: [], "nothing to embed"),
        (lambda folder: [1, 2], "is a int"),
        (lambda folder: 5, "got int"),
        (lambda folder: _touch(folder / "table.xlsx"), "table.xlsx is empty; it should hold items"),
        (lambda folder: _touch(folder / "table.doc", b"text"), "neither a folder"),
        (lambda folder: _touch(folder / "array.npy", b"no array"), "is damaged or no .npy file"),
        (lambda folder: _touch(folder / "table.parquet", b"no table"), "is not a readable Parquet file"),
    ],
)
def test_a_source_that_cannot_be_used_says_why(make, part, tmp_path):
    """Each with what is allowed."""
    with pytest.raises((InputError, StoreError), match=part):
        pixels(make(tmp_path))


def _touch(path, content=b""):
    path.write_bytes(content)
    return path


def test_unreadable_images_are_all_listed_and_skipped_on_request_only(picture_folder, pictures):
    """An error names them; with skip_corrupt the others stay, in order, and the names are kept."""
    (picture_folder / "broken.png").write_bytes(b"no picture")
    (picture_folder / "empty.jpg").write_bytes(b"")
    with pytest.raises(
        InputError, match=r"2 of 22 .*broken\.png \(not an image.*empty\.jpg \(.*--skip-corrupt"
    ):
        pixels(picture_folder)
    space = pixels(picture_folder, skip_corrupt=True)
    assert [entry.item_id for entry in space.skipped] == ["broken.png", "empty.jpg"]
    assert len(space) == len(pictures)
    assert not {"broken.png", "empty.jpg"} & set(space.item_ids)
    for path in picture_folder.rglob("*.png"):
        path.write_bytes(b"")
    with pytest.raises(InputError, match="none of the 22 images"):
        pixels(picture_folder, skip_corrupt=True)


def test_missing_files_hint_at_the_root(tmp_path):
    """A table whose paths all lead nowhere was probably written elsewhere."""
    with pytest.raises(InputError, match=r"No such file.*--root"):
        pixels(pd.DataFrame({"path": ["a.png", "b.png"]}), root=tmp_path)


def test_features_come_with_their_ids(tmp_path):
    """Arrays, columns of numbers and columns of vectors."""
    F = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    wide = pd.DataFrame(F, columns=["x0", "x1", "x2"]).assign(item=list("abcdef"))
    tall = pd.DataFrame({"item": list("abcdef"), "x": list(F)})
    tall.to_parquet(tmp_path / "F.parquet")
    np.save(tmp_path / "F.npy", F)
    for source in (wide, tall, tmp_path / "F.parquet"):
        space = embed(source, encoder="none", reduce="none")
        assert (space.X == F).all()
        assert space.item_ids.tolist() == list("abcdef")
    assert (embed(tmp_path / "F.npy", encoder="none", reduce="none").X == F).all()
    with pytest.raises(InputError, match="folder"):
        embed(tmp_path, encoder="none")
    with pytest.raises(InputError, match="has no column of numbers"):
        embed(pd.DataFrame({"item": ["a"], "name": ["b"]}), encoder="none")
    with pytest.raises(InputError, match="NaN"):
        embed(np.full((3, 2), np.nan), encoder="none")


def test_text_needs_a_text_column():
    """A table for a text encoder is searched for text."""
    frame = pd.DataFrame({"tweet": ["a", "b"], "path": ["x", "y"]})
    items = find_items(frame, ("text",))
    assert items.kind == "text"
    assert items.contents.read(1) == "b"
    assert find_items(frame, ("image", "text")).kind == "image"
    assert find_items(frame, ("image", "text"), column="tweet").kind == "text"
