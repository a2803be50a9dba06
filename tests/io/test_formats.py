"""Wrong paths, endings and formats are refused before anything is read, computed or even imported."""

import subprocess
import sys

import pytest

from softspread.errors import InputError, StoreError
from softspread.io.formats import CONTAINERS, OUTPUT_FORMATS, TABLE_ENDINGS, check_output, check_source


@pytest.mark.parametrize(
    ("name", "chosen", "error", "message"),
    [
        ("s.xlsx", "auto", InputError, r"ends in '\.xlsx'; soft labels may be \.parquet, \.csv"),
        ("s.csv", "excel", InputError, "format must be one of auto, parquet"),
        ("s.json", "weighted", InputError, "weighted rows may be .parquet"),
        ("no/s.csv", "auto", StoreError, "there is no folder"),
        ("file/s.csv", "auto", StoreError, "there is no folder"),
        ("file", "auto", StoreError, "there is a file of that name"),
    ],
)
def test_bad_outputs_are_refused_before_any_work(tmp_path, name, chosen, error, message):
    """Endings, formats and folders."""
    (tmp_path / "file").write_text("")
    with pytest.raises(error, match=message):
        check_output(tmp_path / name, chosen)


def test_the_format_of_an_output_follows_its_ending(tmp_path):
    """Unless it is named."""
    assert check_output(tmp_path / "s.parquet") == "parquet"
    assert check_output(tmp_path / "s.json") == "labelstudio"
    assert check_output(tmp_path / "folder") == "huggingface"
    assert check_output(tmp_path / "s.csv", "weighted") == "weighted"
    assert set(CONTAINERS) < set(TABLE_ENDINGS)
    assert set(CONTAINERS.values()) < set(OUTPUT_FORMATS)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "no file at .*none.csv; check the path of the votes"),
        ("", "is a folder; name the file with the votes"),
        ("file.txt", r"ends in '\.txt'; votes may be \.csv"),
        ("empty.csv", "is empty; it should hold votes"),
    ],
)
def test_bad_sources_are_refused(tmp_path, name, message):
    """What is there, and what may be."""
    (tmp_path / "file.txt").write_text("x")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(InputError, match=message):
        check_source(tmp_path / name, TABLE_ENDINGS, "votes")


def test_the_checks_load_nothing_heavy():
    """Neither numpy nor anything above it."""
    heavy = ("numpy", "pandas", "pyarrow", "scipy", "sklearn")
    code = f"import sys, softspread.io.formats; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
