"""Soft labels by fine-tuning: every item is judged by a network that has not seen it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from softspread import datasets
from softspread.datasets.dataset import Dataset
from softspread.datasets.finetune import finetune_soft_labels, transformers_model, write_soft_labels
from softspread.errors import InputError, StoreError

torch = pytest.importorskip("torch", reason="needs torch")
QUICK = {"n_folds": 2, "epochs": 6, "batch_size": 16, "learning_rate": 0.05, "side": 4}


def tiny(n_classes):
    """A linear classifier of 4 x 4 pixels."""
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(48, n_classes))


def dark_and_light(n=40):
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 2
    images = (rng.integers(40, size=(n, 6, 6)) + 170 * labels[:, None, None]).astype(np.uint8)
    return images, labels


def test_easy_images_get_confident_and_right_soft_labels():
    """Rows sum to 1; dark against light is learned; the report has accuracy and entropy."""
    images, labels = dark_and_light()
    found = finetune_soft_labels(images, labels, model=tiny, **QUICK)
    assert_allclose(found.p.sum(axis=1), 1)
    assert found.accuracy > 0.95
    assert found.entropy.shape == (40,)
    assert "normalised entropy" in found.summary()


def test_an_item_is_never_judged_by_a_network_that_saw_its_label():
    """Flipping one label leaves the soft label of that very item unchanged when folds stay the same."""
    images, labels = dark_and_light()
    seen = []

    def remember(n_classes):
        seen.append(n_classes)
        return tiny(n_classes)

    first = finetune_soft_labels(images, labels, model=remember, **QUICK)
    again = finetune_soft_labels(images, labels, model=remember, **QUICK)
    assert_array_equal(first.p, again.p)
    assert seen == [2] * 4  # one network a fold
    nonsense = np.random.default_rng(1).permutation(labels)  # labels that nothing in the image predicts
    blind = finetune_soft_labels(images, nonsense, model=tiny, **QUICK)
    assert blind.accuracy < 0.8  # memorising the training half does not help on the other


def test_what_cannot_be_folded_is_refused():
    """Too few of a class, lengths that differ."""
    images, labels = dark_and_light(4)
    with pytest.raises(InputError, match="folds need"):
        finetune_soft_labels(images, labels, model=tiny, n_folds=3)
    with pytest.raises(InputError, match="one label per image"):
        finetune_soft_labels(images, labels[:3], model=tiny)


def test_soft_labels_are_kept_beside_the_data(tmp_path):
    """Afterwards the dataset loads with them."""
    home = tmp_path / "toy"
    home.mkdir()
    images, labels = dark_and_light()
    np.save(home / "labels.npy", labels)
    np.save(home / "features_mean.npy", images.reshape(40, -1).mean(axis=1, keepdims=True))
    data = Dataset("toy", np.arange(2), labels=labels, images=images)
    found = write_soft_labels(data, home, model=tiny, **QUICK)
    assert_allclose(datasets.load("toy", tmp_path).p_true, found.p)
    with pytest.raises(InputError, match="no images"):
        write_soft_labels(Dataset("toy", np.arange(2), labels=labels), home)


@pytest.mark.slow
def test_a_model_by_name_is_loaded_from_disk(tmp_path):
    """A tiny EfficientNet with random weights, saved in a folder, gets a new last layer and trains."""
    transformers = pytest.importorskip("transformers", reason="needs transformers")
    config = transformers.EfficientNetConfig(
        image_size=16,
        width_coefficient=0.1,
        depth_coefficient=0.1,
        hidden_dim=128,
        num_labels=5,
        dropout_rate=0.0,
    )
    transformers.EfficientNetForImageClassification(config).save_pretrained(tmp_path / "tiny")
    images, labels = dark_and_light(12)
    found = finetune_soft_labels(
        images, labels, model=str(tmp_path / "tiny"), n_folds=2, epochs=1, batch_size=6, side=32
    )
    assert found.p.shape == (12, 2)
    assert_allclose(found.p.sum(axis=1), 1)


def test_weights_that_are_not_here_are_not_fetched(tmp_path):
    """The message says how to get them; nothing is downloaded."""
    pytest.importorskip("transformers", reason="needs transformers")
    with pytest.raises(StoreError, match="not on this machine"):
        transformers_model(str(tmp_path / "nothing"))(2)
