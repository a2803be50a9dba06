"""One file format: whole or not at all, and nothing foreign is mistaken for ours."""

import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from softspread import StoreError
from softspread._common.archive import pack_names, read_archive, unpack_names, write_archive

ARRAYS = {
    "numbers": np.arange(6.0).reshape(2, 3),
    "columns.first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "words": np.array(["a", "größer", ""]),
    "flags": np.array([True, False]),
    "none": np.empty((0, 3), dtype=np.uint32),
    "single": np.array([1.5], dtype=np.float32),
}


@pytest.fixture
def saved(tmp_path):
    """A file with a few arrays."""
    path = tmp_path / "thing.softspread"
    write_archive(path, "thing", 2, {"facts": {"a": [1, None, "ü"], "x": 0.1}}, ARRAYS)
    return path


def test_what_was_written_is_read(saved):
    """Values, shapes, types and the header survive."""
    header, arrays = read_archive(saved, "thing", 2)
    assert header["facts"] == {"a": [1, None, "ü"], "x": 0.1}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_older_versions_are_read_and_newer_ones_refused(saved):
    """A newer format is named together with what this version can read."""
    assert read_archive(saved, "thing", 3)[0]["version"] == 2
    with pytest.raises(
        StoreError, match="format version 2, this softspread reads up to 1; upgrade softspread"
    ):
        read_archive(saved, "thing", 1)


def test_another_kind_of_ours_is_refused_by_name(saved):
    """A graph is not an estimator, and the message says which is which."""
    with pytest.raises(StoreError, match="holds 'softspread/thing', expected a saved graph"):
        read_archive(saved, "graph", 2)


def test_a_file_cut_anywhere_is_refused(saved):
    """No prefix of a file passes for the file."""
    content = saved.read_bytes()
    for size in [*range(0, len(content), 37), *range(len(content) - 30, len(content))]:
        saved.write_bytes(content[:size])
        with pytest.raises(StoreError, match=r"damaged or cut short|was not written by softspread"):
            read_archive(saved, "thing", 2)


def test_a_changed_byte_is_noticed_or_harmless(saved, rng):
    """A flipped byte gives a StoreError, or the very same arrays where it hit padding or a date."""
    content = saved.read_bytes()
    refused = 0
    for position in rng.permutation(len(content))[:150]:
        broken = bytearray(content)
        broken[position] ^= int(rng.integers(1, 256))
        saved.write_bytes(bytes(broken))
        try:
            header, arrays = read_archive(saved, "thing", 2)
        except StoreError:
            refused += 1
            continue
        assert header["facts"] == {"a": [1, None, "ü"], "x": 0.1}
        for name in arrays.keys() & ARRAYS.keys():
            np.testing.assert_array_equal(arrays[name], ARRAYS[name])
    assert refused > 40


def foreign_files():
    """Things that people keep beside our files."""

    def plain_zip(path):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("notes.txt", "hello")

    def wrong_header(content):
        return lambda path: np.savez(path.open("wb"), header=np.frombuffer(content, dtype=np.uint8))

    yield "empty", lambda path: path.write_bytes(b"")
    yield "text", lambda path: path.write_text("item,label\n1,cat\n")
    yield "random bytes", lambda path: path.write_bytes(np.random.default_rng(0).bytes(5000))
    yield "npy", lambda path: np.save(path.open("wb"), np.arange(3))
    yield "npz", lambda path: np.savez(path.open("wb"), a=np.arange(3))
    yield "npz with a header of numbers", lambda path: np.savez(path.open("wb"), header=np.arange(3))
    yield "zip", plain_zip
    yield "pickle", lambda path: path.write_bytes(pickle.dumps({"a": 1}))
    yield "json header", wrong_header(b"[1, 2]")
    yield "other format", wrong_header(json.dumps({"format": "other/thing", "version": 1}).encode())
    yield "no version", wrong_header(json.dumps({"format": "softspread/thing"}).encode())
    yield "version as text", wrong_header(json.dumps({"format": "softspread/thing", "version": "1"}).encode())
    yield "not text", wrong_header(b"\xff\xfe\x00")


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in foreign_files()])
def test_foreign_files_are_refused(tmp_path, make):
    """Whatever somebody else wrote is recognised as such."""
    path = tmp_path / "foreign"
    make(path)
    with pytest.raises(StoreError, match="was not written by softspread; expected a saved thing"):
        read_archive(path, "thing", 1)


def test_pickled_objects_are_never_loaded(tmp_path):
    """An archive with our header and a pickle inside is refused, not run."""
    path = tmp_path / "trap"
    header = json.dumps({"format": "softspread/thing", "version": 1}).encode()
    with path.open("wb") as file:
        np.savez(file, header=np.frombuffer(header, dtype=np.uint8), a=np.array([{"a": 1}], dtype=object))
    with pytest.raises(StoreError, match="damaged"):
        read_archive(path, "thing", 1)


def test_a_missing_file_is_named(tmp_path):
    """Neither an absent file nor a folder can be read."""
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(StoreError, match=f"no file at {path}"):
            read_archive(path, "thing", 1)


def test_places_that_cannot_be_written_are_named(tmp_path):
    """No folder, a file in place of a folder, a folder in place of the file: a StoreError each, and nothing
    is left."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "absent" / "x", tmp_path / "file" / "x", tmp_path / "folder"):
        with pytest.raises(StoreError, match="cannot write"):
            write_archive(path, "thing", 1, {}, ARRAYS)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


def test_long_file_names_are_no_problem(tmp_path):
    """Any name that the file system takes can be used."""
    path = tmp_path / ("x" * 250)
    write_archive(path, "thing", 1, {}, ARRAYS)
    assert read_archive(path, "thing", 1)[1].keys() == ARRAYS.keys()


@pytest.mark.parametrize("failing", ["savez", "fsync", "replace"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()]
)
def test_a_failed_write_leaves_the_old_file_and_no_other(saved, monkeypatch, failing, error):
    """Wherever and however writing stops, the old file stands alone and whole."""

    def fail(file, *args, **kwargs):
        if failing == "savez":
            file.write(b"PK half a file")
        raise error

    module = np if failing == "savez" else os
    monkeypatch.setattr(module, failing, fail)
    expected = StoreError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected, match="No space left on device" if expected is StoreError else None):
        write_archive(saved, "thing", 2, {}, {"new": np.zeros(3)})
    monkeypatch.undo()
    assert [entry.name for entry in saved.parent.iterdir()] == [saved.name]
    assert read_archive(saved, "thing", 2)[1].keys() == ARRAYS.keys()


def test_writing_replaces_the_old_file(saved):
    """The second save wins, and no temporary file stays."""
    write_archive(saved, "thing", 2, {}, {"new": np.zeros(3)})
    assert read_archive(saved, "thing", 2)[1].keys() == {"new"}
    assert [entry.name for entry in saved.parent.iterdir()] == [saved.name]


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", "größer", "", "\ud800"], dtype=object),
        np.array([1, "1", 1.5, True, 2**70, -1], dtype=object),
        np.array([np.str_("a"), np.int64(3), np.float32(0.5), np.bool_(True)], dtype=object),
        np.array([], dtype=object),
        np.array(["a", "bc"]),
        np.arange(3),
        np.array([2**64 - 1], dtype=np.uint64),
    ],
)
def test_names_survive_packing(values):
    """Text and numbers keep value and kind without pickle."""
    packed = pack_names(values)
    assert packed.dtype != object
    again = unpack_names(packed, values.dtype == object)
    assert again.tolist() == values.tolist()
    kinds = [type(value) for value in np.array(again, dtype=object).tolist()]
    assert kinds == [
        type(value.item() if isinstance(value, np.generic) else value) for value in values.tolist()
    ]


def test_nobody_and_an_empty_name_stay_two_things():
    """None is kept where it may occur, and refused where it may not."""
    values = np.array(["", None, "ann"], dtype=object)
    assert unpack_names(pack_names(values, may_be_none=True), True).tolist() == ["", None, "ann"]
    with pytest.raises(StoreError, match="cannot save the name None"):
        pack_names(values)


def test_names_that_are_no_plain_values_are_refused():
    """What JSON cannot hold is named instead of changed."""
    values = np.empty(1, dtype=object)
    values[0] = ("a", 1)
    with pytest.raises(
        StoreError, match=r"cannot save the name \('a', 1\) of type tuple; use strings or numbers"
    ):
        pack_names(values)
