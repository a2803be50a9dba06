"""Our method as an algorithm of the DCIC benchmark, and the classifier that judges it."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from datasets_on_disk import write_dcic
from small_plans import one_trial
from softspread.datasets.dataset import LackingError
from softspread.datasets.dcic import read_raw
from softspread.datasets.local_files import read_images
from softspread.errors import InputError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.reproduce.dcic import benchmark as dcic
from softspread.reproduce.dcic.files import input_dataset
from softspread.votes.votes import Votes

PER_FOLD = 8


@pytest.fixture
def root(tmp_path):
    """Two classes, dark and light, 8 images a fold, 5 annotations each, one of them empty."""
    return write_dcic(tmp_path / "dcic", per_fold=PER_FOLD)


@pytest.fixture
def opened(root):
    return dcic.open_dataset(dcic_trial(), root.parent)


def dcic_trial(budget=0.1, name="Toy", **options):
    options = {"slice": 1, "side": 4} | options
    return one_trial(measure="dcic", dataset={"name": name}, parameters={}, budget=budget, options=options)


def test_our_method_labels_every_image(root):
    """All images return to their own split with soft labels; the input is unchanged."""
    raw = read_raw(root, "Toy")
    given = input_dataset(raw, 1, 0.25, 1)
    before = json.dumps(given)
    pixels = read_images([root / "raw_datasets" / path for path in raw.paths], 4)
    settings = dcic.SpreadSettings(0.9, n_neighbors=5)
    output = dcic.improve_labels(given, dcic.pixel_features(pixels), settings)
    assert json.dumps(given) == before
    for old, new in zip(given["images"], output["images"], strict=True):
        assert new["split"] == old["info"]["original_split"]
        assert new["path"] == old["path"]
        assert_allclose(sum(new["soft_gt"]), 1)
    right = [image["gt"] == row % 2 for row, image in enumerate(output["images"])]
    assert np.mean(right) > 0.9
    with pytest.raises(InputError, match="rows of features"):
        dcic.improve_labels(given, np.zeros((3, 2)))


def test_test_labels_never_reach_the_method(root):
    """An input that holds them gives the same output as one that does not."""
    given = input_dataset(read_raw(root, "Toy"), 1, 1.0, 1)
    twisted = json.loads(json.dumps(given))
    for image in twisted["images"]:
        if image["split"] == "test":
            image["soft_gt"] = [0.0, 1.0]
    X = np.random.default_rng(1).normal(size=(40, 3))
    assert dcic.improve_labels(given, X) == dcic.improve_labels(twisted, X)


def test_the_number_of_annotations_is_read_off_the_budget(root):
    """Ten on each image weigh ten times as much as one; a budget of nothing is refused."""
    given = input_dataset(read_raw(root, "Toy"), 1, 1.0, 10)
    counts = dcic.counts_of(given)
    assert counts.sum() == 320
    assert set(counts.sum(axis=1).tolist()) == {0.0, 10.0}
    with pytest.raises(InputError, match="the budget of the input is 0"):
        dcic.counts_of(given | {"budget": 0})
    for image in given["images"]:
        image["soft_gt"] = []
    with pytest.raises(InputError, match="--share and --annotations"):
        dcic.counts_of(given)


def test_the_authors_settings_are_an_option(root):
    """Theirs: 19 neighbours besides the item, the mean width, a prior of 1e-10, alpha by the budget."""
    given = input_dataset(read_raw(root, "Toy"), 1, 1.0, 1)
    X = np.random.default_rng(1).normal(size=(40, 3))
    votes = Votes.from_counts(dcic.counts_of(given), classes=["dark", "light"])
    theirs = ProbabilisticLabelSpreading(
        alpha=0.75, n_neighbors=19, bandwidth="mean", prior_strength=1e-10, annotator_model="none"
    )
    expected = theirs.fit(X, votes, classes=["dark", "light"]).predict_proba()
    output = dcic.improve_labels(given, X, dcic.SpreadSettings.authors())
    assert_allclose([image["soft_gt"] for image in output["images"]], expected, atol=1e-9)


@pytest.mark.parametrize(("budget", "alpha"), [(0.0995, 0.9), (1.0, 0.75), (10.0, 0.1), (3.0, "auto")])
def test_the_papers_alpha_depends_on_the_budget(budget, alpha):
    """Others than the three are left to held-out votes; a number is a number."""
    assert dcic.SpreadSettings().alpha_for(budget) == alpha
    assert dcic.SpreadSettings(0.5).alpha_for(budget) == 0.5


def test_miniatures_take_part_only_without_real_datasets(root):
    """And what is not there says what to download."""
    assert dcic.reason_against("mini_size", None) == ""
    assert "zenodo" in dcic.reason_against("Pig", None)
    assert dcic.reason_against("mini_size", root.parent) == ""  # Toy is none of the ten
    assert dcic.reason_against("Toy", root.parent) == ""
    write_dcic(root, "Pig")
    assert "left out" in dcic.reason_against("mini_size", root.parent)
    assert dcic.reason_against("Pig", root.parent) == ""
    assert "Turkey is not in" in dcic.reason_against("Turkey", root.parent)
    with pytest.raises(LackingError, match="zenodo"):
        dcic.open_dataset(dcic_trial(), None)


def test_prepared_features_are_used(root):
    """Those of `reproduce prepare`; without them principal components of the pixels."""
    raw = read_raw(root, "Toy")
    assert dcic.features_of(root, "Toy", raw)[1] == "pixels_pca20"
    home = root / "features" / "Toy"
    home.mkdir(parents=True)
    X = np.random.default_rng(0).normal(size=(40, 20)).astype(np.float32)
    np.save(home / "features_clip_umap20.npy", X)
    found, name = dcic.features_of(root, "Toy", raw)
    assert name == "clip_umap20"
    assert_allclose(found, X)


def test_a_whole_trial_on_a_dataset_in_the_benchmarks_format(opened):
    """Both phases, baseline and ours, from files to scores; three of 32 images have an annotation."""
    rows = dcic.run_trial(dcic_trial(), opened)
    assert [row["method"] for row in rows] == ["baseline", "pls"]
    assert rows[0]["votes"] == 3
    assert {row["classifier"] for row in rows} == {"small"}
    assert all(0 <= row["accuracy"] <= 1 and row["kl"] >= 0 for row in rows)


def test_auto_takes_the_small_network_where_no_weights_are(opened):
    """Nothing is downloaded; a name is taken as it is."""
    assert dcic.find_classifier("auto", opened) == "small"
    assert dcic.find_classifier("some/model", opened) == "some/model"


def test_a_transformers_classifier_judges_full_size_images(opened, tmp_path):
    """A tiny ResNet with its own weights, augmentation and class weights; dark and light can be told."""
    torch = pytest.importorskip("torch", reason="needs softspread[embed]")
    transformers = pytest.importorskip("transformers", reason="needs softspread[embed]")
    torch.manual_seed(0)
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", num_labels=3
    )
    transformers.ResNetForImageClassification(config).save_pretrained(tmp_path / "resnet")
    given = input_dataset(opened.raw, 1, 1.0, 10)
    how = dcic.Evaluation(epochs=6, batch_size=8, learning_rate=0.02, side=16)
    scores = dcic.train_and_judge(given, opened, 0, str(tmp_path / "resnet"), how)
    assert scores.macro_accuracy > 0.6
    assert_allclose(dcic.class_weights(opened.raw.soft), (1.0, 1.0))
