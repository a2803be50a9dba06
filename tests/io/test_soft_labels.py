"""Soft labels keep ids, classes, numbers and facts in every format."""

import json
import os

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from softspread.errors import InputError, StoreError
from softspread.io.soft_labels import (
    read_prior,
    read_soft_labels,
    with_evidence,
    write_soft_labels,
)
from softspread.spreading.evidence import SoftLabels


def assert_same(found, labels):
    assert found.ids.tolist() == labels.ids.tolist()
    assert found.classes.tolist() == labels.classes.tolist()
    for name in ("p", "evidence", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(labels, name), rtol=1e-6)
    assert found.metadata == labels.metadata
    assert found.verdict.tolist() == labels.verdict.tolist()


@pytest.mark.parametrize("name", ["s.parquet", "s.csv", "s.tsv", "s.jsonl", "folder"])
def test_every_readable_format_reads_back(tmp_path, labels, name):
    """Names with quotes, commas and line ends, numbers in single precision, and the facts."""
    written = write_soft_labels(tmp_path / name, labels)
    assert_same(read_soft_labels(tmp_path / name), labels)
    assert sorted(path.name for path in written) == sorted(os.listdir(tmp_path))


@pytest.mark.parametrize("name", ["s.parquet", "s.csv", "s.jsonl", "folder"])
def test_numbers_stay_numbers(tmp_path, name):
    """Ids and classes that are numbers come back as numbers, without intervals too."""
    labels = SoftLabels(
        np.array([3, 1]), np.array([0, 10]), np.eye(2), np.ones(2), metadata={"classes": [0, 10]}
    )
    write_soft_labels(tmp_path / name, labels)
    found = read_soft_labels(tmp_path / name)
    assert found.ids.tolist() == [3, 1]
    assert found.classes.tolist() == [0, 10]
    assert found.lower is None
    assert found.verdict is None


def test_parquet_has_the_promised_columns_and_the_facts_inside(tmp_path, labels):
    """One row per item: item, p, evidence, lower, upper, verdict."""
    write_soft_labels(tmp_path / "s.parquet", labels)
    table = pq.read_table(tmp_path / "s.parquet")
    assert table.column_names == [
        "item", "p_cat", "p_dog", "evidence", "lower_cat", "lower_dog", "upper_cat", "upper_dog",
        "verdict",
    ]  # fmt: skip
    assert json.loads(table.schema.metadata[b"softspread"]) == labels.metadata


def test_text_formats_have_the_facts_beside_and_stay_plain(tmp_path, labels):
    """A CSV is a CSV to every reader; numbers are short."""
    write_soft_labels(tmp_path / "s.csv", labels)
    assert pd.read_csv(tmp_path / "s.csv", dtype={"item": str})["item"].tolist() == labels.ids.tolist()
    assert json.loads((tmp_path / "s.csv.meta.json").read_text()) == labels.metadata
    write_soft_labels(tmp_path / "s.jsonl", labels)
    assert json.loads((tmp_path / "s.jsonl").read_text().splitlines()[1])["p_cat"] == 0.1


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".jsonl"])
def test_weighted_rows_sum_to_one_per_item(tmp_path, labels, ending):
    """One row per item and class; it cannot be turned back."""
    path = tmp_path / f"w{ending}"
    write_soft_labels(path, labels, "weighted")
    readers = {
        ".parquet": pd.read_parquet,
        ".csv": pd.read_csv,
        ".jsonl": lambda p: pd.read_json(p, lines=True),
    }
    frame = readers[ending](path)
    assert list(frame.columns) == ["item", "label", "weight", "evidence"]
    assert len(frame) == 6
    np.testing.assert_allclose(frame.groupby("item", sort=False)["weight"].sum(), 1.0, rtol=1e-6)
    with pytest.raises(InputError, match="weighted rows cannot be turned back"):
        read_soft_labels(path)


def test_items_with_little_evidence_can_be_left_out(labels):
    """Rows stay together; nothing left is an error."""
    found = with_evidence(labels, 1.0)
    assert found.ids.tolist() == ["007", "c\nd"]
    assert found.metadata["least_evidence"] == 1.0
    assert with_evidence(labels, 0.0) is labels
    with pytest.raises(InputError, match="no item has 99 votes' worth"):
        with_evidence(labels, 99)


def test_a_full_disk_leaves_no_half_file(tmp_path, labels, monkeypatch):
    """The old labels stand."""
    import softspread._common.atomic as atomic

    write_soft_labels(tmp_path / "s.parquet", labels)
    before = (tmp_path / "s.parquet").read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        write_soft_labels(tmp_path / "s.parquet", with_evidence(labels, 1.0))
    assert (tmp_path / "s.parquet").read_bytes() == before
    assert os.listdir(tmp_path) == ["s.parquet"]


def test_files_that_hold_no_soft_labels_are_refused(tmp_path):
    """Tables of something else, damaged files, other folders."""
    (tmp_path / "a.csv").write_text("item,label\na,b\n")
    (tmp_path / "b.parquet").write_text("x")
    (tmp_path / "c.csv").write_text("item,p_a,evidence\n1,much,2\n")
    (tmp_path / "d.csv").write_text("item,p_a,evidence,lower_a\n1,1,2,1\n")
    (tmp_path / "other").mkdir()
    for name, message in {
        "a.csv": "holds no soft labels; expected the columns item, p_<class>",
        "b.parquet": "not a readable Parquet",
        "c.csv": "must hold numbers",
        "d.csv": "lacks the column 'upper_a'",
        "other": "not a datasets folder",
    }.items():
        with pytest.raises(InputError, match=message):
            read_soft_labels(tmp_path / name)


def test_a_prior_is_found_by_the_names_of_items_and_classes(tmp_path):
    """In the order that is asked for; an array is taken as it is; what is missing is refused."""
    pd.DataFrame({"item": ["7", "a"], "p_dog": [0.25, 1.0], "p_cat": [0.75, 0.0]}).to_csv(
        tmp_path / "p.csv", index=False
    )
    classes = np.array(["cat", "dog"])
    assert read_prior(tmp_path / "p.csv", np.array(["a", "7"]), classes).tolist() == [[0, 1], [0.75, 0.25]]
    np.save(tmp_path / "p.npy", np.eye(2))
    assert read_prior(tmp_path / "p.npy", np.arange(2), classes).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(InputError, match="lacks 1 of the 2 items"):
        read_prior(tmp_path / "p.csv", np.array(["a", "b"]), classes)
    with pytest.raises(InputError, match="lacks the classes 'emu' that the votes name"):
        read_prior(tmp_path / "p.csv", np.array(["a", "7"]), np.array(["cat", "emu"]))
