"""Folders for Hugging Face datasets."""

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.io.huggingface import DATASET_FILE, read_dataset, write_dataset
from softspread.io.soft_labels import write_soft_labels


def test_datasets_opens_the_folder(tmp_path, labels):
    """Hugging Face's own library reads what we wrote without it."""
    datasets = pytest.importorskip("datasets")
    for _ in range(2):  # the second time replaces the first
        write_soft_labels(tmp_path / "folder", labels)
    found = datasets.load_from_disk(str(tmp_path / "folder"))
    assert found["item"][:] == labels.ids.tolist()
    assert found.features["label"].names == ["cat", "dog"]
    assert found["label"][:] == [1, 1, 0]
    np.testing.assert_allclose(np.array(found["soft_label"][:]), labels.p, rtol=1e-6)


def test_a_folder_reads_back(tmp_path, labels):
    """Ids, classes, numbers and facts."""
    write_dataset(tmp_path / "folder", labels)
    found = read_dataset(tmp_path / "folder")
    assert found.ids.tolist() == labels.ids.tolist()
    assert found.classes.tolist() == labels.classes.tolist()
    for name in ("p", "evidence", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(labels, name), rtol=1e-6)
    assert found.metadata == labels.metadata


def test_other_folders_are_refused(tmp_path):
    """Without the file, and with one of other bytes."""
    with pytest.raises(InputError, match=f"it lacks {DATASET_FILE}"):
        read_dataset(tmp_path)
    (tmp_path / DATASET_FILE).write_bytes(b"no table")
    with pytest.raises(InputError, match="is not a datasets folder of soft labels"):
        read_dataset(tmp_path)
