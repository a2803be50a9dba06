"""The benchmark's files: its own annotations, its own places, and nothing of the test images."""

import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from datasets_on_disk import write_dcic
from softspread.datasets.dcic import read_raw
from softspread.errors import InputError, StoreError
from softspread.reproduce.dcic import files

PER_FOLD = 8


@pytest.fixture
def raw(tmp_path):
    return read_raw(write_dcic(tmp_path, per_fold=PER_FOLD), "Toy")


@pytest.mark.parametrize("seed", [0, 1, 3, 49312])
def test_draws_are_those_of_pythons_own_generator(seed):
    """Shuffling and choosing, one after the other from one generator, as the benchmark does."""
    theirs, ours = random.Random(seed), files.PythonRandom(seed)
    for n in (1, 2, 7, 100, 1000):
        order = np.arange(n)
        theirs.shuffle(order)
        assert_array_equal(ours.shuffled(n), order)
        weights = np.arange(1, 6) / 15
        assert ours.choices(weights, 20) == theirs.choices(range(5), weights=weights, k=20)


def benchmark_annotations(raw, v_fold, share, number):
    """What the benchmark's algorithms start from, told again from its description with Python's generator."""
    splits = ["train"] * 5
    splits[(v_fold + 1) % 5] = "test"
    splits[v_fold % 5] = "val"
    paths = [path for path, fold in zip(raw.paths, raw.folds, strict=True) if splits[fold] != "test"]
    order = np.arange(len(paths))
    random.Random(v_fold).shuffle(order)
    supervised = set(np.array(paths)[order[: int(len(paths) * share)]].tolist())
    oracle = random.Random(49312)
    soft = {}
    for row, path in enumerate(raw.paths.tolist()):
        if path in supervised:
            drawn = oracle.choices(range(len(raw.classes)), weights=raw.soft[row], k=number)
            soft[path] = [drawn.count(column) / number for column in range(len(raw.classes))]
    return soft


@pytest.mark.parametrize("v_fold", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("share", "number"), [(0.1, 1), (1.0, 1), (1.0, 10)])
def test_a_method_starts_from_the_benchmarks_own_annotations(raw, v_fold, share, number):
    """The same images, the same draws, image by image."""
    given = files.input_dataset(raw, v_fold, share, number)
    found = {image["path"]: image["soft_gt"] for image in given["images"] if image["soft_gt"]}
    assert found == benchmark_annotations(raw, v_fold, share, number)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_every_slice_has_one_val_and_one_test_fold(number):
    """Validation is fold v mod 5, test the next."""
    splits = [files.split_of(fold, number) for fold in range(5)]
    assert sorted(splits) == ["test", "train", "train", "train", "val"]
    assert splits[number % 5] == "val"
    assert splits[(number + 1) % 5] == "test"


@pytest.mark.parametrize(
    ("share", "number", "budget"), [(0.25, 1, 8), (0.1, 1, 3), (1.0, 1, 32), (1.0, 10, 320)]
)
def test_the_input_dataset_spends_its_budget(raw, share, number, budget):
    """Whole images, rounded down; test images have no soft label, nor have unlabeled ones."""
    given = files.input_dataset(raw, 1, share, number)
    assert given["budget"] == given["weighted_budget"] == budget
    by_split = pd.Series([image["split"] for image in given["images"]]).value_counts()
    assert by_split["test"] == PER_FOLD
    assert by_split.get("unlabeled", 0) == 32 - int(share * 32)
    for image in given["images"]:
        assert not image["path"].startswith("raw_datasets")
        if image["split"] in ("unlabeled", "test"):
            assert (image["soft_gt"], image["gt"], image["gt_verbose"]) == ([], -1, "unknown")
        else:
            assert_allclose(sum(image["soft_gt"]), 1)
            assert image["gt_verbose"] == given["classes"][image["gt"]]
        assert image["info"]["original_split"] in ("train", "val", "test")


def test_further_draws_differ(raw):
    """Draw 0 is the benchmark's; others are others."""
    first, second = (json.dumps(files.input_dataset(raw, 1, 0.5, 1, draw)) for draw in (0, 1))
    assert first != second
    assert second == json.dumps(files.input_dataset(raw, 1, 0.5, 1, 1))


def test_output_goes_where_the_benchmark_looks(raw, tmp_path):
    """Folder <Dataset>-<method>-<annotations>-<share>; its files, sorted, are the slices in order."""
    folder = files.dataset_folder("Toy", "pls", 1, 0.1)
    for number in (2, 1, 3):
        given = files.input_dataset(raw, number, 0.1, 1)
        path = files.write_dataset(files.output_path(tmp_path, folder, number), given)
        assert json.loads(path.read_text()) == given == files.read_dataset(path)
    home = tmp_path / "output_datasets" / "Toy-pls-01-0.10"
    assert [json.loads(path.read_text())["v_fold"] for path in sorted(home.iterdir())] == [1, 2, 3]
    with pytest.raises(InputError, match="no dash"):
        files.dataset_folder("Toy", "my-method", 1, 0.1)


def test_files_that_the_benchmark_would_not_open_are_refused(raw, tmp_path):
    """Missing entries, soft labels of another length, two images of one name."""
    given = files.input_dataset(raw, 1, 0.5, 1)
    path = Path(tmp_path / "in.json")
    path.write_text("[]")
    with pytest.raises(StoreError, match="lacks name, v_fold"):
        files.read_dataset(path)
    broken = json.loads(json.dumps(given))
    broken["images"][0]["soft_gt"] = [1.0]
    path.write_text(json.dumps(broken))
    with pytest.raises(StoreError, match="1 shares for 2 classes"):
        files.read_dataset(path)
    given["images"].append(given["images"][0])
    path.write_text(json.dumps(given))
    with pytest.raises(StoreError, match="same name"):
        files.read_dataset(path)
