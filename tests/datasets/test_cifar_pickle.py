"""CIFAR-10's pickles: numbers and bytes come out, and nothing that a pickle names is ever run."""

import os
import pickle
import subprocess

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from datasets_on_disk import write_python_batch
from softspread.datasets.cifar_pickle import read_pickled_batch
from softspread.errors import StoreError

BATCH = {"labels": [1, 2], "data": np.arange(2 * 3072, dtype=np.uint64).astype(np.uint8).reshape(2, 3072)}


def test_a_batch_as_python_2_wrote_it_is_read(tmp_path, rng):
    """The original files: old strings, numpy.core.multiarray; Python's own loader agrees on the format."""
    images = write_python_batch(tmp_path / "data_batch_1", [3, 9, 0], rng)
    rows, labels = read_pickled_batch(tmp_path / "data_batch_1", "help")
    assert_array_equal(rows.reshape(3, 3, 32, 32).transpose(0, 2, 3, 1), images)
    assert labels.tolist() == [3, 9, 0]
    assert set(pickle.loads((tmp_path / "data_batch_1").read_bytes(), encoding="bytes")) >= {
        b"data",
        b"labels",
    }


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_batches_that_python_3_wrote_are_read_or_refused(tmp_path, protocol):
    """Mirrors write them again; protocol 5 needs another way to build arrays, which is refused."""
    path = tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps(BATCH, protocol=protocol))
    if protocol == 5:
        with pytest.raises(StoreError, match="_frombuffer"):
            read_pickled_batch(path, "help")
        return
    rows, labels = read_pickled_batch(path, "help")
    assert_array_equal(rows, BATCH["data"])
    assert labels.tolist() == [1, 2]


class Calls:
    """Pickles as a call of something."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    "evil",
    [
        Calls(os.system, "touch {mark}"),
        Calls(eval, "open({mark!r}, 'w')"),
        Calls(subprocess.Popen, ["touch", "{mark}"]),
        Calls(getattr, dict, "get"),
        Calls(np.load, "{mark}"),
        Calls(__import__, "os"),
    ],
)
def test_a_pickle_that_asks_for_anything_else_is_refused(tmp_path, evil):
    """Commands, imports, attributes, even other functions of NumPy: the message names what was asked for."""
    mark = tmp_path / "mark"
    filled = Calls(
        evil.call[0],
        *[part.format(mark=str(mark)) if isinstance(part, str) else part for part in evil.call[1]],
    )
    path = tmp_path / "data_batch_1"
    path.write_bytes(pickle.dumps({"labels": [0], "data": filled}))
    with pytest.raises(StoreError, match="which no batch of CIFAR-10 needs"):
        read_pickled_batch(path, "help")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (pickle.dumps([1, 2]), "holds no dict"),
        (pickle.dumps({"data": 1}), "data|refused"),
        (pickle.dumps({"labels": [1]}), "no entry 'data'"),
        (pickle.dumps({"labels": [0], "data": np.zeros((1, 4))}, protocol=2), "does not hold bytes"),
        (pickle.dumps({"labels": [0, 1], "data": np.zeros((1, 4), np.uint8)}, protocol=2), "2 labels"),
        (pickle.dumps(BATCH, protocol=2)[:500], "refused"),
        (b"", "refused"),
        (
            b"\x80\x02cnumpy\ndtype\n}(U\x04codeK\x01ub.",
            "tries to change",
        ),  # sets an attribute of what it got
        (b"\x80\x02cnumpy\ndtype\nN}(U\x05_makeK\x01u\x86b.", "tries to change"),
    ],
)
def test_what_is_no_batch_is_refused(tmp_path, raw, message):
    """Other contents, cut files, pickles that reach into our own objects."""
    path = tmp_path / "data_batch_1"
    path.write_bytes(raw)
    with pytest.raises(StoreError, match=message):
        read_pickled_batch(path, "help")
