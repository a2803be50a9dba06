"""Blocks are written whole, checked when read, and named when damaged."""

import pickle

import numpy as np
import pytest

from softspread._common import atomic
from softspread.blocks.store import BlockStore, DamagedBlockError
from softspread.errors import StoreError


@pytest.fixture(params=["local", "memory"])
def store(request, tmp_path):
    """The same store on a disk and on another file system of fsspec."""
    return BlockStore(str(tmp_path / "b") if request.param == "local" else f"memory://{tmp_path.name}", "key")


def test_what_is_written_is_read_and_listed(store):
    """Arrays with their types, facts, and the numbers that are there."""
    arrays = {"a": np.arange(3, dtype=np.uint32), "b": np.ones((2, 2), dtype=np.float32)}
    assert store.write("s", 7, arrays, {"n": 3}) == {"n": 3}
    found = store.read("s", 7)
    assert found.keys() == arrays.keys()
    assert all((found[name] == arrays[name]).all() for name in arrays)
    assert found["a"].dtype == np.uint32
    assert store.read("s", 7, ["a", "none"]).keys() == {"a"}
    assert store.facts("s", 7) == {"n": 3}
    assert store.present("s") == {7}
    assert store.present("t") == set()
    store.forget("s")
    assert store.present("s") == set()


def test_a_missing_block_is_named(store):
    """Stage and number stand in the error, which also survives the way to another process."""
    with pytest.raises(DamagedBlockError, match="block 3 of stage 's'") as caught:
        store.read("s", 3)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.stage, again.number) == ("s", 3)


def test_every_changed_byte_of_an_array_is_noticed(tmp_path):
    """Also one in the middle, and a file that is cut short."""
    store = BlockStore(str(tmp_path), "key")
    store.write("s", 0, {"a": np.arange(1000)})
    path = tmp_path / "s" / "000000.npz"
    whole = path.read_bytes()
    for damaged in (whole[:4000] + bytes([whole[4000] ^ 1]) + whole[4001:], whole[:-50], b"", b"junk"):
        path.write_bytes(damaged)
        with pytest.raises(DamagedBlockError):
            store.read("s", 0)


def test_a_block_of_another_run_is_not_ours(tmp_path):
    """The key of the settings stands in every block."""
    BlockStore(str(tmp_path), "one").write("s", 0, {})
    with pytest.raises(DamagedBlockError, match="other settings"):
        BlockStore(str(tmp_path), "two").facts("s", 0)


def test_a_full_disk_leaves_no_part_of_a_block(tmp_path, monkeypatch):
    """The error says what to do."""
    store = BlockStore(str(tmp_path), "key")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(StoreError, match=r"No space left on device.*free space"):
        store.write("s", 0, {"a": np.arange(5)})
    assert store.present("s") == set()
    assert list((tmp_path / "s").iterdir()) == []
