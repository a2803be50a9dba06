"""The DCIC benchmark's files are read and written as it has them, and its scores are what they claim."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import f1_score, recall_score

from datasets_on_disk import write_dcic
from softspread.errors import InputError
from softspread.reproduce.dcic import benchmark as dcic

PER_FOLD = 8


@pytest.fixture
def root(tmp_path):
    """Two classes, dark and light, 8 images a fold, 5 annotations each, one of them empty."""
    return write_dcic(tmp_path, per_fold=PER_FOLD)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_every_slice_has_one_val_and_one_test_fold(number):
    """Validation is fold v mod 5, test the next."""
    splits = [dcic.split_of(fold, number) for fold in range(5)]
    assert sorted(splits) == ["test", "train", "train", "train", "val"]
    assert splits[number % 5] == "val"
    assert splits[(number + 1) % 5] == "test"


@pytest.mark.parametrize(("share", "number", "budget"), [(0.25, 1, 8), (1.0, 1, 32), (1.0, 10, 320)])
def test_the_input_dataset_spends_its_budget(root, share, number, budget):
    """So many images with so many annotations each; the rest unlabeled, the test split complete and
    untouched."""
    raw = dcic.read_raw(root, "Toy")
    given = dcic.input_dataset(raw, 1, share, number, np.random.default_rng(0))
    assert given["budget"] == budget
    assert_allclose(given["weighted_budget"], budget / 32)
    by_split = pd.Series([image["split"] for image in given["images"]]).value_counts()
    assert by_split["test"] == PER_FOLD
    assert by_split.get("unlabeled", 0) == 32 - round(share * 32)
    for image in given["images"]:
        if image["split"] == "unlabeled":
            assert (image["soft_gt"], image["gt"], image["gt_verbose"]) == ([], -1, "unknown")
            assert image["info"]["original_split"] in ("train", "val")
        else:
            assert_allclose(sum(image["soft_gt"]), 1)
            assert image["gt_verbose"] == given["classes"][image["gt"]]
            if image["split"] != "test":
                assert_allclose(np.asarray(image["soft_gt"]) * number % 1, 0, atol=1e-9)


def test_our_method_labels_everything_but_the_test_images(root):
    """All images return to their own split with soft labels; test images stay as they were; the input is
    unchanged."""
    raw = dcic.read_raw(root, "Toy")
    given = dcic.input_dataset(raw, 1, 0.25, 1, np.random.default_rng(0))
    before = json.dumps(given)
    pixels = dcic.read_images([root / "raw_datasets" / path for path in raw.paths], 4)
    output = dcic.improve_labels(given, dcic.pixel_features(pixels), alpha=0.9, n_neighbors=5)
    assert json.dumps(given) == before
    for old, new in zip(given["images"], output["images"], strict=True):
        assert new["split"] == old["info"]["original_split"]
        assert_allclose(sum(new["soft_gt"]), 1)
        if old["split"] == "test":
            assert new == old
    right = [image["gt"] == row % 2 for row, image in enumerate(output["images"])]
    assert np.mean(right) > 0.9
    with pytest.raises(InputError, match="rows of features"):
        dcic.improve_labels(given, np.zeros((3, 2)), alpha=0.9)


def test_test_labels_never_reach_the_method(root):
    """Exchanging the test images' labels changes nothing."""
    raw = dcic.read_raw(root, "Toy")
    given = dcic.input_dataset(raw, 1, 1.0, 1, np.random.default_rng(0))
    twisted = json.loads(json.dumps(given))
    for image in twisted["images"]:
        if image["split"] == "test":
            image["soft_gt"] = image["soft_gt"][::-1]
    X = np.random.default_rng(1).normal(size=(40, 3))
    first, second = (dcic.improve_labels(one, X, alpha=0.75) for one in (given, twisted))
    for a, b in zip(first["images"], second["images"], strict=True):
        assert a["split"] == "test" or a["soft_gt"] == b["soft_gt"]


def test_output_goes_where_the_benchmark_looks(root):
    """Folder <Dataset>-<method>-<annotations>-<share>, one file a slice, that reads back."""
    raw = dcic.read_raw(root, "Toy")
    given = dcic.input_dataset(raw, 2, 0.1, 1, np.random.default_rng(0))
    folder = dcic.dataset_folder("Toy", "pls", 1, 0.1)
    path = dcic.write_dataset(root, "output_datasets", folder, given)
    assert path == root / "output_datasets" / "Toy-pls-01-0.10" / "Toy-pls-01-0.10-slice2.json"
    assert json.loads(path.read_text()) == given
    with pytest.raises(InputError, match="no dash"):
        dcic.dataset_folder("Toy", "my-method", 1, 0.1)


def test_scores_are_the_usual_ones():
    """KL by hand, macro F1 and macro accuracy as scikit-learn has them, ECE of a single bin by hand."""
    rng = np.random.default_rng(0)
    truth, p = rng.dirichlet([0.3] * 3, size=60), rng.dirichlet([0.3] * 3, size=60)
    scores = dcic.evaluate(truth, p)
    t, q = np.clip(truth, 1e-5, 1 - 1e-5), np.clip(p, 1e-5, 1 - 1e-5)
    assert_allclose(scores.kl, np.mean(np.sum(t * np.log(t / q), axis=1)))
    right, said = truth.argmax(axis=1), p.argmax(axis=1)
    assert_allclose(scores.macro_f1, f1_score(right, said, average="macro"))
    assert_allclose(scores.macro_accuracy, recall_score(right, said, average="macro"))
    flat = np.tile([0.7, 0.3], (10, 1))
    hard = np.eye(2)[[0] * 5 + [1] * 5]
    assert_allclose(dcic.evaluate(hard, flat).ece, 0.2)  # 70 % sure, 50 % right


def test_differences_are_over_datasets():
    """Mean over slices first, then median, mean and standard error over datasets."""
    rows = [
        {"budget": 0.1, "dataset": name, "method": method, "kl": kl}
        for name, method, kl in (
            ("a", "baseline", 1.0),
            ("a", "pls", 0.4),
            ("a", "pls", 0.6),
            ("b", "baseline", 1.0),
            ("b", "pls", 0.9),
        )
    ]
    found = dcic.difference_rows(pd.DataFrame(rows))["PLS, here"]["0.1"]
    assert_allclose(found, [-0.3, -0.3, 0.2])


def test_a_whole_trial_on_a_dataset_in_the_benchmarks_format(root, tmp_path):
    """Both phases, baseline and ours, from files to scores."""
    from softspread.reproduce.plan import Trial

    (root / "dcic").mkdir()
    (root / "raw_datasets").rename(root / "dcic" / "raw_datasets")
    options = {"slice": 1, "side": 4}
    trial = Trial("dcic", {"name": "Toy"}, "pls", {}, 0.1, None, {}, options, 0, 0)
    rows = dcic.run_trial(trial, dcic.open_dataset(trial, root))
    assert [row["method"] for row in rows] == ["baseline", "pls"]
    assert rows[0]["votes"] == 3
    assert all(0 <= row["accuracy"] <= 1 and row["kl"] >= 0 for row in rows)
