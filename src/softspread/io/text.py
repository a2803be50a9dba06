"""Text files as people save them: which encoding, compressed or not, and what separates the columns.

bytes, perhaps gzip  ->  text, by its byte order mark, else UTF-8  ->  the delimiter of a table

Nothing is guessed: where two answers fit, the file is refused with what to do.
"""

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TextIO

from softspread._common.columns import ANNOTATOR_NAMES, ID_NAMES, LABEL_NAMES, TEXT_NAMES
from softspread.errors import InputError
from softspread.io.formats import ending_of

READ_AT_ONCE = 2**20  # bytes
LOOKED_AT = 4096  # bytes at the start that show what a file is
SAMPLE = 1000  # rows that show which delimiter fits
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
USUAL_NAMES = {*ID_NAMES, *LABEL_NAMES, *ANNOTATOR_NAMES, *TEXT_NAMES, "weight", "created_at", "evidence"}
_MARKS = {  # the longer ones first: one begins with another
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHERS = {
    b"\x1f\x8b": "is compressed by gzip; name it {name}.gz",
    b"PK\x03\x04": "is a zip archive or an Excel workbook, not text; unpack it, or name it .xlsx",
    b"\xd0\xcf\x11\xe0": "is an old or encrypted Office file, not text; save it as .xlsx or .csv",
}


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """A text file, with the line ends that it has; anything that is not text is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("é", encoding="utf-16")
    ...     with open_text(Path(folder, "a.txt")) as file:
    ...         file.read()
    'é'
    """
    with open_bytes(path) as raw:
        encoding = _encoding(path, raw.read(LOOKED_AT))
        raw.seek(0)
        try:
            with io.TextIOWrapper(raw, encoding, newline="") as file:
                yield file
        except UnicodeError as error:
            name = "UTF-8" if encoding.startswith("utf-8") else encoding.upper()
            place = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
            raise InputError(f"{path} is not {name} text{place}; save it as UTF-8.") from error


def read_text(path: Path) -> str:
    """The whole text of a file, without its byte order mark."""
    with open_text(path) as file:
        return file.read()


@contextmanager
def open_bytes(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed."""
    try:
        if ending_of(path).endswith(".gz"):
            with gzip.open(path) as file:
                yield file  # type: ignore[misc]  # which reads and seeks as any other
        else:
            with path.open("rb") as file:
                yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{path} is not a whole gzip file ({error}); compress it again.") from error


def holds_byte(path: Path, byte: bytes) -> bool:
    """Whether a file holds a byte anywhere."""
    with open_bytes(path) as file:
        return any(byte in block for block in iter(lambda: file.read(READ_AT_ONCE), b""))


def _encoding(path: Path, start: bytes) -> str:
    """By the byte order mark; without one it is UTF-8."""
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    for mark, what in _OTHERS.items():
        if start.startswith(mark):
            raise InputError(f"{path} {what.format(name=path.name)}.")
    if b"\0" in start:
        raise InputError(
            f"{path} is not UTF-8 text: it holds zero bytes, as UTF-16 without a byte order mark does; save "
            "it as UTF-8."
        )
    return "utf-8"


def delimiter_of(path: Path, file: TextIO) -> str:
    r"""The delimiter of the columns: by the ending, else the one that splits header and rows alike.

    Examples
    --------
    >>> delimiter_of(Path("a.csv"), io.StringIO("item;label\na;cat, or dog\n")) == ";"
    True
    """
    if ending_of(path).startswith(".tsv"):
        return "\t"
    split = {mark: _split(file, mark) for mark in DELIMITERS}
    fits = {mark: header for mark, (header, alike) in split.items() if alike and len(header) > 1}
    if len(fits) == 1:
        return next(iter(fits))
    if not fits:  # one column, or rows of different lengths, which the reader names
        return max(split, key=lambda mark: len(split[mark][0]))
    usual = {mark: len(USUAL_NAMES & set(header)) for mark, header in fits.items()}
    best = [mark for mark in fits if usual[mark] == max(usual.values())]
    if len(best) > 1:
        words = " or ".join(DELIMITERS[mark] for mark in best)
        raise InputError(
            f"{path}: the columns could be separated by {words}. Put names and values that hold one of these "
            "in quotes, or save with tabs as .tsv."
        )
    return best[0]


def _split(file: TextIO, mark: str) -> tuple[list[str], bool]:
    """The header under one delimiter, and whether the first rows have as many values."""
    file.seek(0)
    try:
        rows = [row for row in islice(csv.reader(file, delimiter=mark, strict=True), SAMPLE) if row]
    except csv.Error:
        return [], False
    finally:
        file.seek(0)
    header = [name.strip() for name in rows[0]] if rows else []
    return header, all(len(row) == len(header) for row in rows)
