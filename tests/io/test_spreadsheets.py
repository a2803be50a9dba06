"""Cells that a spreadsheet would run are written as text and read back as they were."""

import csv

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from softspread import SoftLabels
from softspread.io.soft_labels import read_soft_labels, write_soft_labels
from softspread.io.spreadsheets import NUMBER, defused, frame_for_csv, restored
from softspread.io.tables import read_table

NASTY = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx", "'=1", "''@", "-1", "+2.5", "'tis", "", "cat"]
RISKY = ("=", "+", "-", "@", "\t", "\r")


@given(st.text())
@example("'-1")
@example("-1")
@example("''=x")
def test_what_is_written_is_read_back(cell):
    """Whatever the text."""
    assert restored(defused(cell)) == cell


@given(st.text(alphabet="=+-@'\t\r1.e", max_size=6))
def test_nothing_that_is_written_begins_like_a_formula(cell):
    """But numbers, which stay numbers."""
    written = defused(cell)
    assert not written.startswith(RISKY) or NUMBER.fullmatch(written)


def labels():
    ids, classes = np.array(NASTY[:-2], dtype=object), np.array(["=A", "b"], dtype=object)
    p = np.full((len(ids), 2), 0.5)
    return SoftLabels(ids, classes, p, -np.arange(len(ids), dtype=float), verdict=ids)


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("form", ["auto", "weighted"])
def test_soft_labels_hold_no_formula(tmp_path, ending, form):
    """Neither ids nor classes; numbers below zero stay numbers, and ids come back exactly."""
    path = tmp_path / f"soft.{ending}"
    write_soft_labels(path, labels(), form)
    with path.open(newline="") as file:
        rows = list(csv.reader(file, delimiter="," if ending == "csv" else "\t"))
    cells = [cell for row in rows for cell in row if cell.startswith(RISKY)]
    assert all(NUMBER.fullmatch(cell) for cell in cells)
    table = read_table(path)
    assert list(dict.fromkeys(table.columns["item"])) == NASTY[:-2]
    assert float(table.columns["evidence"][-1]) == 1 - len(NASTY[:-2])
    if form == "auto":
        assert read_soft_labels(path).ids.tolist() == NASTY[:-2]
        assert read_soft_labels(path).classes.tolist() == ["=A", "b"]


def test_frames_hold_no_formula(tmp_path):
    """Text, categories and the names of columns; times, numbers and gaps stay as they are."""
    frame = pd.DataFrame(
        {
            "=name": NASTY,
            "kind": pd.Categorical(NASTY),
            "n": -np.arange(len(NASTY)),
            "at": pd.to_datetime("2026-01-01"),
            "gap": [None] * len(NASTY),
        }
    )
    safe = frame_for_csv(frame)
    assert next(iter(safe.columns)) == "'=name"
    assert safe["'=name"].tolist() == safe["kind"].tolist() == [defused(cell) for cell in NASTY]
    assert safe["n"].equals(frame["n"])
    assert safe["at"].equals(frame["at"])
    assert safe["gap"].isna().all()
    safe.to_csv(tmp_path / "t.csv", index=False)
    assert list(read_table(tmp_path / "t.csv").columns["=name"]) == NASTY
