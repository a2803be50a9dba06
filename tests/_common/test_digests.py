"""Keys of files, values and arrays."""

import hashlib

import numpy as np
import pytest

from softspread._common.digests import DIGEST_BYTES, blocks, digest, digest_array, hash_file, hash_values
from softspread.errors import InputError


def test_a_digest_is_blake2b_of_the_parts_joined():
    """Text counts as UTF-8, arrays as their bytes, whatever their layout in memory."""
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    expected = hashlib.blake2b("ä".encode() + b"b" + table.T.tobytes(), digest_size=DIGEST_BYTES).digest()
    assert digest(["ä", b"b", table.T]) == expected
    assert len(digest([], size=5)) == 5


def test_text_that_is_not_valid_unicode_has_a_digest():
    """File names and texts may hold lone surrogates."""
    assert digest(["\udc80"]) != digest([""])


def test_arrays_differ_by_type_shape_and_numbers():
    """The same bytes in another shape are another array; a copy is the same one."""
    X = np.arange(12.0)
    arrays = (X, X[::-1], X.reshape(3, 4), X.reshape(4, 3), X.astype(np.float32), X[:11], X[:0])
    assert len({digest_array(array) for array in arrays}) == len(arrays)
    assert digest_array(X.copy()) == digest_array(X)


def test_hashes_depend_on_content_alone(tmp_path):
    """The same bytes have the same key, wherever the file lies; values keep their types."""
    for name, content in (("a", b"same"), ("b", b"same"), ("c", b"other")):
        (tmp_path / name).write_bytes(content)
    assert hash_file(tmp_path / "a") == hash_file(tmp_path / "b") != hash_file(tmp_path / "c")
    assert hash_values(1, "a") != hash_values("1", "a")
    assert len(hash_file(tmp_path / "a")) == len(hash_values()) == 16


def test_a_file_that_is_missing_is_bad_input(tmp_path):
    """The message names it."""
    with pytest.raises(InputError, match=r"cannot read .*none: No such file"):
        hash_file(tmp_path / "none")


def test_a_file_is_read_in_blocks(tmp_path):
    """A large file never stands in memory as a whole."""
    (tmp_path / "a").write_bytes(b"123456789")
    assert list(blocks(tmp_path / "a", 4)) == [b"1234", b"5678", b"9"]


def test_a_folder_s_key_depends_on_names_and_contents(tmp_path):
    """The same files in another folder have the same key; another name or content has another."""
    keys = []
    for place, (name, content) in enumerate([("x", "1"), ("x", "1"), ("y", "1"), ("x", "2")]):
        folder = tmp_path / str(place)
        (folder / "inner").mkdir(parents=True)
        (folder / "inner" / name).write_text(content)
        keys.append(hash_file(folder))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
