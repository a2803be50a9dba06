"""Every dataset by its name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from datasets_on_disk import write_idx
from softspread import datasets
from softspread.datasets.registry import load_items, shrunk
from softspread.errors import InputError, StoreError


def write_blobs(home, rng):
    home.mkdir()
    labels = np.repeat([3, 5], 30)
    np.save(home / "labels.npy", labels)
    np.save(home / "features_toy.npy", rng.normal(size=(60, 2)) + labels[:, None])


def test_soft_labels_made_of_the_features_are_marked(tmp_path, rng):
    """Without images there is nothing else to make them of; they are smooth in the features."""
    write_blobs(tmp_path / "blobs", rng)
    light = datasets.load("blobs", tmp_path)
    assert "features that are spread" in light.note
    assert "smooth by construction" in light.stand_in
    assert (light.p_true.argmax(axis=1) == light.labels).mean() > 0.8


def test_a_file_of_soft_labels_counts(tmp_path, rng):
    """Nothing is simulated, and nothing is marked; a note of its making says that it is fine-tuned."""
    write_blobs(tmp_path / "blobs", rng)
    p = rng.dirichlet([1, 1], size=60)
    np.save(tmp_path / "blobs" / "soft_labels.npy", p)
    data = datasets.load("blobs", tmp_path)
    assert_allclose(data.p_true, p)
    assert (data.stand_in, data.note) == ("", "soft_labels.npy")
    (tmp_path / "blobs" / "soft_labels.json").write_text("{}")
    assert "fine-tuned" in datasets.load("blobs", tmp_path).note


def test_with_images_quick_soft_labels_are_made_of_pixels(tmp_path, rng):
    """The features do not matter for them, so truth is the same for all features; still a stand-in."""
    labels = np.arange(60) % 10
    for part in ("train", "t10k"):
        write_idx(
            tmp_path / "mnist" / f"{part}-images-idx3-ubyte",
            np.full((60, 28, 28), 25) * labels[:, None, None],
        )
        write_idx(tmp_path / "mnist" / f"{part}-labels-idx1-ubyte", labels)
    for name in ("a", "b"):
        np.save(tmp_path / "mnist" / f"features_{name}.npy", rng.normal(size=(120, 2)))
    a, b = (datasets.load("mnist", tmp_path, features=name) for name in ("a", "b"))
    assert_array_equal(a.p_true, b.p_true)
    assert (a.p_true.argmax(axis=1) == a.labels).mean() > 0.9
    assert "pixels" in a.stand_in
    assert load_items("mnist", tmp_path).p_true is None


@pytest.mark.parametrize("side", [1, 2, 3, 5, 8])
def test_shrinking_averages_blocks(side, rng):
    """Against a loop over blocks, also where the side does not divide the size."""
    images = rng.integers(256, size=(3, 5, 7, 3), dtype=np.uint8)
    found = shrunk(images, side)
    rows, columns = min(side, 5), min(side, 7)
    for r in range(rows):
        for c in range(columns):
            block = images[:, r * 5 // rows : (r + 1) * 5 // rows, c * 7 // columns : (c + 1) * 7 // columns]
            assert_allclose(found[:, r, c], block.mean(axis=(1, 2)) / 255, rtol=1e-5)


def test_zero_shot_predictions_are_read_for_every_dataset(tmp_path, rng):
    """zero_shot.npy before another model's; rows are made to sum to 1; a wrong shape is refused."""
    write_blobs(tmp_path / "blobs", rng)
    assert datasets.load("blobs", tmp_path).prior is None
    np.save(tmp_path / "blobs" / "classifier_probs.npy", np.ones((60, 2)))
    other = datasets.load("blobs", tmp_path)
    assert (other.prior[0].tolist(), other.prior_note) == ([0.5, 0.5], "classifier_probs.npy")
    np.save(tmp_path / "blobs" / "zero_shot.npy", np.tile([3.0, 1.0], (60, 1)))
    found = datasets.load("blobs", tmp_path)
    assert (found.prior[0].tolist(), found.prior_note) == ([0.75, 0.25], "zero-shot")
    np.save(tmp_path / "blobs" / "zero_shot.npy", np.ones((60, 3)))
    with pytest.raises(StoreError, match="2 classes"):
        datasets.load("blobs", tmp_path)


@pytest.mark.parametrize("name", [name for name in datasets.names() if not datasets.available(name)])
def test_every_dataset_says_what_to_download(name, tmp_path):
    """Without a folder, and with one that is not there or empty, the message has an address."""
    assert "http" in datasets.describe(name)
    with pytest.raises(InputError, match="--data"):
        datasets.load(name)
    with pytest.raises(StoreError, match="http"):
        datasets.load(name, tmp_path)
    (tmp_path / name).mkdir()
    with pytest.raises(StoreError, match="http"):
        datasets.load(name, tmp_path)


def test_unknown_names_are_explained():
    """The list of what there is."""
    with pytest.raises(InputError, match="two_moons"):
        datasets.describe("moons")


@pytest.mark.shared
def test_the_shared_data_load_by_path(shared_data):
    """Human votes, annotators, and hard labels that get soft ones."""
    cifar10h = datasets.load("cifar10h", shared_data, features="efflite2_umap20")
    assert cifar10h.X.shape == (10_000, 20)
    assert cifar10h.prior.shape == (10_000, 10)
    assert cifar10h.votes.weights.sum() > 500_000
    people = datasets.load("labelme", shared_data, features="vgg16_umap20")
    assert len(set(people.votes.annotators.tolist())) == 59
    # with the 8 class names in the right order, votes agree with the true class far more often than by chance
    truth = people.classes[people.labels[people.votes.items.astype(int)]]
    assert (truth == people.votes.labels).mean() > 0.6
    assert datasets.load("davidson", shared_data).p_true.shape == (24_783, 3)
