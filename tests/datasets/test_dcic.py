"""The raw datasets of the DCIC benchmark."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from datasets_on_disk import write_dcic
from softspread import datasets
from softspread.datasets import dcic
from softspread.datasets.dataset import LackingError
from softspread.errors import InputError, StoreError


@pytest.fixture
def root(tmp_path):
    return write_dcic(tmp_path / "dcic")


def test_annotations_become_counts_and_null_is_no_annotation(root):
    """Classes are the sorted labels, folds count from zero, paths start at the name of the dataset."""
    raw = dcic.read_raw(root, "Toy")
    assert raw.classes == ("dark", "light")
    assert raw.counts.shape == (40, 2)
    assert_allclose(raw.counts.sum(axis=1), 5)
    assert_allclose(raw.soft[0], [0.8, 0.2])
    assert np.bincount(raw.folds).tolist() == [8] * 5
    assert raw.paths[0] == "Toy/fold1/img-1-0.png"


def test_what_is_missing_is_said(root):
    """Another dataset, a file that is not a list."""
    with pytest.raises(LackingError, match="zenodo"):
        dcic.read_raw(root, "Pig")
    (root / "raw_datasets" / "Toy" / "annotations.json").write_text("{}")
    with pytest.raises(StoreError, match="not a list of annotation sets"):
        dcic.read_raw(root, "Toy")
    (root / "raw_datasets" / "Toy" / "annotations.json").write_text("{")
    with pytest.raises(StoreError, match="not readable JSON"):
        dcic.read_raw(root, "Toy")


def test_one_of_them_loads_by_name(root):
    """With votes, paths and features of its own; without a name the error lists what is there."""
    home = dcic.features_folder(root, "Toy")
    home.mkdir(parents=True)
    np.save(home / "features_clip_umap20.npy", np.zeros((40, 20)))
    data = datasets.load("dcic:Toy", root.parent)
    assert (data.name, data.features, data.n_items) == ("dcic:Toy", "clip_umap20", 40)
    assert data.votes.weights.sum() == 200
    assert data.stand_in == ""
    assert dcic.names_below(root) == ["Toy"]
    with pytest.raises(InputError, match="holds Toy"):
        datasets.load("dcic", root.parent)
