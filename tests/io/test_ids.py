"""Ids: read, and matched as text."""

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.io.ids import are_positions, as_text, read_ids, rows_of_ids


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("ids.txt", "a\nb\n007\n", ["a", "b", "007"]),
        ("ids.txt", "3\n1\n2\n", [3, 1, 2]),
        ("ids.txt", "\ufeffa\r\nb\r\n", ["a", "b"]),
        ("ids.csv", "n,item\n1,x\n2,y\n", ["x", "y"]),
        ("ids.tsv", "only\n01\n02\n", ["01", "02"]),
        ("ids.jsonl", '{"id": 4}\n{"id": 5}\n', [4, 5]),
    ],
)
def test_ids_from_text(tmp_path, name, content, expected):
    """Whole numbers are numbers only if all are and each is written as such."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_ids(tmp_path / name).tolist() == expected


def test_files_without_ids_are_refused(tmp_path):
    """Several columns of which none is called item or id, and a line without one."""
    (tmp_path / "i.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"no column of ids; call it item or id. It has 'a', 'b'"):
        read_ids(tmp_path / "i.csv")
    (tmp_path / "i.txt").write_text("a\n\nb\n")
    with pytest.raises(InputError, match="line 2: no value"):
        read_ids(tmp_path / "i.txt")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (np.array(["007", "7", "x"]), [0, 1, -1, 2]),
        (np.array(["007", 7, "x"], dtype=object), [0, 1, -1, 2]),
        (np.array([5, 7, 9]), [-1, 1, -1, -1]),
        (None, [-1, 7, -1, -1]),
    ],
)
def test_ids_meet_as_text_whatever_their_type(ids, expected):
    """007 is not 7; a number and its text are one id; without ids, positions."""
    wanted = np.array(["007", 7.0, "10", "x"], dtype=object)
    assert rows_of_ids(wanted, ids, 9).tolist() == expected


def test_ids_that_are_the_same_text_are_refused():
    """7 and '7' cannot both be items."""
    with pytest.raises(InputError, match="ids must differ; '7' appear more than once"):
        rows_of_ids(np.array(["7"]), np.array([7, "7"], dtype=object), 2)


def test_text_of_ids():
    """Whole floats lose their decimals, text stays; only plain whole numbers may be positions."""
    assert as_text(np.array([1.0, 1.5, "01", 2], dtype=object)).tolist() == ["1", "1.5", "01", "2"]
    assert as_text(np.arange(2)).tolist() == ["0", "1"]
    written = np.array(["1", "-3", "01", "+3", "1.0", ""])
    assert are_positions(written).tolist() == [True, True, False, False, False, False]
