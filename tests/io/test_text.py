"""Text in every encoding that says what it is, compressed or not, split by the delimiter that fits."""

import gzip

import pytest

from softspread.errors import InputError
from softspread.io.tables import read_table
from softspread.io.text import holds_byte, open_text, read_text

TABLE = "item,label\n007,cät\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"]
)
@pytest.mark.parametrize("compressed", [False, True])
def test_a_byte_order_mark_names_the_encoding(tmp_path, encoding, compressed):
    """UTF-8 without one; the text comes out the same."""
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    content = (mark + TABLE).encode(encoding)
    path = tmp_path / ("t.csv.gz" if compressed else "t.csv")
    path.write_bytes(gzip.compress(content) if compressed else content)
    assert read_text(path) == TABLE
    table = read_table(path)
    assert table.ids("item").tolist() == ["007"]
    assert list(table.columns["label"]) == ["cät"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", TABLE.encode("latin-1"), r"t\.csv is not UTF-8 text \(byte 16\); save it as UTF-8"),
        ("t.csv", TABLE.encode("utf-16-le"), "holds zero bytes, as UTF-16 without a byte order mark does"),
        ("t.csv", b"\xff\xfei", "is not UTF-16 text"),
        ("t.csv", gzip.compress(b"item", mtime=0), r"is compressed by gzip; name it t\.csv\.gz"),
        ("t.csv", b"PK\x03\x04", "is a zip archive or an Excel workbook, not text"),
        ("t.csv", b"\xd0\xcf\x11\xe0", "is an old or encrypted Office file"),
        ("t.csv.gz", b"item,label\n", "is not a whole gzip file"),
        ("t.csv.gz", gzip.compress(TABLE.encode(), mtime=0)[:-9], "is not a whole gzip file"),
        ("t.gz", b"x", r"ends in '\.gz'; a table may be"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path, name, content, message):
    """The message says what the file is and what to do."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("item,label\na,cat;dog\n", ["item", "label"]),
        ("item;label\na;cat, or dog\n", ["item", "label"]),
        ('"item, or task";label\na;b\n', ["item, or task", "label"]),
        ("item;weight, kg;label\na;1,5;cat\n", ["item", "weight, kg", "label"]),
        ("item|label\na|b\n", ["item", "label"]),
        ("item\tlabel\na\tb\n", ["item", "label"]),
        ("item\na;b\n", ["item"]),
        ('item;text\na;"x\ny, z"\n', ["item", "text"]),
    ],
)
def test_the_delimiter_splits_header_and_rows_alike(tmp_path, content, columns):
    """Commas in values, names in quotes and decimal commas mislead nobody."""
    (tmp_path / "t.csv").write_text(content)
    assert list(read_table(tmp_path / "t.csv").columns) == columns


def test_two_delimiters_that_fit_are_refused(tmp_path):
    """Neither is taken for the other; tabs are named by the ending."""
    (tmp_path / "t.csv").write_text("a;b,c\n1;2,3\n")
    with pytest.raises(InputError, match=r"separated by a comma or a semicolon\. Put names .* in quotes"):
        read_table(tmp_path / "t.csv")
    (tmp_path / "t.tsv").write_text("a;b,c\n1;2,3\n")
    assert list(read_table(tmp_path / "t.tsv").columns) == ["a;b,c"]


def test_line_ends_and_bytes_stay(tmp_path):
    """Both kinds of line ends are given as they stand."""
    (tmp_path / "t.txt").write_bytes(b"a\r\nb\n")
    with open_text(tmp_path / "t.txt") as file:
        assert file.read() == "a\r\nb\n"
    assert holds_byte(tmp_path / "t.txt", b"\r")
    assert not holds_byte(tmp_path / "t.txt", b"'")
