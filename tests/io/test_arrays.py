"""Arrays from NumPy's files."""

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.io.arrays import read_array, read_arrays


def test_arrays_read_back(tmp_path):
    """One, several, and one that stays on disk."""
    np.save(tmp_path / "a.npy", np.arange(3))
    np.savez(tmp_path / "a.npz", x=np.eye(2), ids=np.array(["p", "q"]))
    assert read_array(tmp_path / "a.npy").tolist() == [0, 1, 2]
    assert read_array(tmp_path / "a.npy", mapped=True).base is not None
    assert {name: array.tolist() for name, array in read_arrays(tmp_path / "a.npz").items()} == {
        "x": [[1, 0], [0, 1]],
        "ids": ["p", "q"],
    }


@pytest.mark.parametrize(("read", "name"), [(read_array, "a.npy"), (read_arrays, "a.npz")])
def test_other_files_are_refused(tmp_path, read, name):
    """Damaged bytes, and Python objects, which are never unpickled."""
    (tmp_path / name).write_bytes(b"nonsense")
    with pytest.raises(InputError, match=rf"is damaged or no {name[1:]} file"):
        read(tmp_path / name)
    save = np.save if name.endswith("y") else np.savez
    save(tmp_path / name, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="holds Python objects, not numbers"):
        read(tmp_path / name)
