"""Soft labels by fine-tuning: every item is judged by a network that has not seen it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from softspread import datasets
from softspread.datasets.dataset import Dataset
from softspread.datasets.finetune import (
    TrainSettings,
    augmented,
    finetune_soft_labels,
    images_of,
    train_classifier,
    transformers_model,
    write_soft_labels,
)
from softspread.errors import InputError

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
    with pytest.raises(InputError, match="not on this machine"):
        transformers_model("nobody/nothing")(2)


class KilledError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("steps", [1, 5, 12, 13, 23])
def test_a_killed_run_goes_on_and_ends_with_the_same_soft_labels(tmp_path, steps):
    """Whatever the step at which it is killed; dropout draws the same numbers as without the kill."""

    def noisy(n_classes):
        return torch.nn.Sequential(tiny(n_classes)[0], torch.nn.Dropout(0.3), tiny(n_classes)[1])

    images, labels = dark_and_light()
    whole = finetune_soft_labels(images, labels, model=noisy, **QUICK)
    left = [steps]

    def kill(done):
        left[0] -= done
        if left[0] <= 0:
            raise KilledError

    kept = {"model": noisy, "keep": tmp_path, "save_seconds": 0.0, **QUICK}  # state after every batch
    with pytest.raises(KilledError):
        finetune_soft_labels(images, labels, advance=kill, **kept)
    seen = []
    again = finetune_soft_labels(images, labels, advance=seen.append, **kept)
    assert_array_equal(again.p, whole.p)
    assert sum(seen) == 2 * TrainSettings(epochs=6, batch_size=16).n_steps(20)


def test_state_of_other_settings_is_not_gone_on_with(tmp_path):
    """Another learning rate starts over."""
    images, labels = dark_and_light()
    finetune_soft_labels(images, labels, model=tiny, keep=tmp_path, **QUICK)
    assert (tmp_path / "fold2.npy").is_file()
    other = QUICK | {"learning_rate": 0.01}
    kept = finetune_soft_labels(images, labels, model=tiny, keep=tmp_path, **other)
    assert_array_equal(kept.p, finetune_soft_labels(images, labels, model=tiny, **other).p)


def test_weights_of_classes_scale_the_loss(tmp_path):
    """A class of weight 0 is never learned; all weights 1 change nothing."""
    images, labels = dark_and_light()
    soft, rows = np.eye(2)[labels], np.arange(len(labels))
    base = TrainSettings(epochs=3, batch_size=16, learning_rate=0.05, side=4)

    def trained(weights):
        from dataclasses import replace

        network = train_classifier(tiny, images, rows, soft, replace(base, class_weights=weights))
        return network[1].weight.detach().numpy()

    assert_array_equal(trained(()), trained((1.0, 1.0)))
    assert not np.array_equal(trained(()), trained((1.0, 0.2)))


def test_augmentation_keeps_the_shape_and_changes_the_picture():
    """Flips, turns, zoom and colours; another state of the generator gives other pictures."""
    torch.manual_seed(0)
    images = torch.rand(6, 3, 8, 8)
    first, second = augmented(images), augmented(images)
    assert first.shape == images.shape
    assert torch.isfinite(first).all()
    assert not torch.equal(first, second)


def test_training_without_images_is_refused():
    """What has neither bytes nor paths."""
    with pytest.raises(InputError, match="no images"):
        images_of(Dataset("toy", np.arange(2)))
