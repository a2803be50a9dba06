"""Every dataset by its name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import datasets
from softspread.errors import InputError, StoreError


def test_hard_labels_get_light_soft_labels_unless_a_file_has_them(tmp_path, rng):
    """soft_labels.npy counts; else a cross-validated logistic regression on the features."""
    home = tmp_path / "blobs"
    home.mkdir()
    labels = np.repeat([3, 5], 30)
    np.save(home / "labels.npy", labels)
    np.save(home / "features_toy.npy", rng.normal(size=(60, 2)) + labels[:, None])
    light = datasets.load("blobs", tmp_path)
    assert "logistic" in light.note
    assert (light.p_true.argmax(axis=1) == light.labels).mean() > 0.8
    p = rng.dirichlet([1, 1], size=60)
    np.save(home / "soft_labels.npy", p)
    assert_allclose(datasets.load("blobs", tmp_path).p_true, p)


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
