"""Features and predictions of a dataset lie where datasets look for them, row by row."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from datasets_on_disk import write_signs
from softspread import datasets
from softspread.datasets.dataset import Dataset
from softspread.datasets.features import (
    clear_work,
    encode_dataset,
    feature_name,
    items_of,
    work_folder,
    write_encoded,
    write_reduced,
    write_zero_shot,
)
from softspread.datasets.mtsd import load_mtsd
from softspread.embedding.embed import EncodingOptions
from softspread.embedding.encoders.registry import find_encoder
from softspread.errors import InputError

pytest.importorskip("PIL", reason="needs Pillow")
PIXELS = find_encoder("pixels:2")


@pytest.mark.parametrize(
    ("encoder", "name"),
    [
        ("clip", "clip"),
        ("some/where/vit", "vit"),
        ("openai/clip-vit-base-patch32", "clip"),
        ("owner/my_model-b", "mymodel-b"),
        ("model.onnx", "model"),
        ("pixels:8", "pixels8"),
    ],
)
def test_names_of_features_need_no_folder(encoder, name):
    """Letters, digits, dots and dashes; an underscore separates encoder and reducer."""
    assert feature_name(encoder) == name
    assert feature_name(encoder, "umap", 20) == f"{name}_umap20"


def test_unreduced_and_reduced_features_lie_beside_each_other(tmp_path, rng):
    """Both load by name, with a file that says how each was made."""
    labels = np.arange(40) % 2
    home = tmp_path / "toy"
    home.mkdir()
    np.save(home / "labels.npy", labels)
    images = rng.integers(256, size=(40, 4, 4, 3), dtype=np.uint8)
    data = Dataset("toy", np.arange(2), labels=labels, images=images)
    encoded = encode_dataset(data, PIXELS, EncodingOptions())
    write_encoded(home, "pixels2", encoded)
    write_reduced(home, "pixels2", "pca", 3, 0, 40)
    assert_array_equal(datasets.load("toy", tmp_path, features="pixels2").X, encoded.F)
    reduced = datasets.load("toy", tmp_path, features="pixels2_pca3")
    centred = encoded.F - encoded.F.mean(axis=0)
    assert_allclose(
        np.sort(np.linalg.svd(reduced.X - reduced.X.mean(axis=0))[1]),
        np.sort(np.linalg.svd(centred)[1][:3]),
        rtol=1e-3,
    )
    about = json.loads((home / "features_pixels2_pca3.json").read_text())
    assert (about["encoder"], about["reducer"], about["dim"]) == ("pixels:2", "pca", 3)


def test_parts_of_photographs_are_encoded_one_by_one(tmp_path):
    """Each row is the sign in its box, also from the cache; a box that moves is encoded again."""
    boxes = [("warning--a--g1", (5, 5, 20, 20)), ("regulatory--b--g1", (30, 5, 45, 25))]
    write_signs(tmp_path / "mtsd", {"a": boxes, "b": boxes})
    data = load_mtsd(tmp_path / "mtsd")
    options = EncodingOptions(cache=tmp_path / "cache")
    first, again = (encode_dataset(data, PIXELS, options).F for _ in range(2))
    assert_allclose(first[:, 0] * 255, [0, 10, 20, 30], atol=0.5)
    assert_array_equal(first, again)
    data.boxes[0] = (50, 30, 60, 40)  # white
    assert_allclose(encode_dataset(data, PIXELS, options).F[0], 1)


def test_zero_shot_predictions_have_the_columns_of_the_classes(torch, clip_folder, tmp_path, rng):
    """The dataset loads with them as a prior; the sentence is in the file beside them."""
    home = tmp_path / "toy"
    home.mkdir()
    labels = np.arange(6) % 3
    np.save(home / "labels.npy", labels)
    images = rng.integers(256, size=(6, 8, 8, 3), dtype=np.uint8)
    data = Dataset("toy", np.array(["cat", "dog", "ship"]), labels=labels, images=images)
    encoded = encode_dataset(data, find_encoder(str(clip_folder), device="cpu"), EncodingOptions())
    write_zero_shot(home, data, encoded, "default")
    found = datasets.load("toy", tmp_path)
    assert found.prior.shape == (6, 3)
    assert_allclose(found.prior.sum(axis=1), 1)
    assert found.prior_note == "zero-shot"
    assert json.loads((home / "zero_shot.json").read_text())["classes"] == ["cat", "dog", "ship"]


def test_a_dataset_without_images_is_refused():
    """Labels alone have no features."""
    with pytest.raises(InputError, match="no images to make features of"):
        items_of(Dataset("toy", np.arange(2), labels=np.zeros(3, dtype=int)))


def test_the_state_of_a_step_goes_when_it_is_done(tmp_path):
    """The folder above it goes with the last one."""
    for name in ("a", "b"):
        work_folder(tmp_path, name).mkdir(parents=True)
    clear_work(tmp_path, "a")
    assert work_folder(tmp_path, "b").is_dir()
    clear_work(tmp_path, "b")
    assert not any(tmp_path.iterdir())
