"""From downloaded files to all that the experiments need: what is there, what is missing, to the table."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from paper_data import write_data, write_models
from softspread import datasets
from softspread.errors import InputError
from softspread.reproduce.prepare import (
    KINDS,
    Recipe,
    Settings,
    dataset_names,
    plan_steps,
    run_steps,
    with_times,
)

pytest.importorskip("torch", reason="needs softspread[embed]")
QUICK = Recipe(reducer="pca", dim=5, epochs=1)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """Data in their original formats and tiny models, never changed by a test."""
    home = tmp_path_factory.mktemp("given")
    write_data(home / "data", np.random.default_rng(0))
    write_models(home / "models")
    return home


@pytest.fixture
def settings(given, tmp_path):
    shutil.copytree(given / "data", tmp_path / "data")
    return Settings(tmp_path / "data", given / "models", recipe=QUICK)


def test_every_dataset_of_the_paper_is_prepared_from_its_original_format(settings):
    """Features by three encoders, reduced and not, predictions, soft labels where people gave none."""
    names = dataset_names(["all"], settings.data)
    assert names[-1] == "dcic:Toy"
    for name in names:
        made = list(run_steps(name, settings))
        assert {step.state for step in made} == {"made"}, made
        data = datasets.load(name, settings.data, features="clip_pca5")
        assert data.X.shape == (data.n_items, 5)
        for word in ("clip", "resnet", "vit", "resnet_pca5", "vit_pca5"):
            assert len(datasets.load(name, settings.data, features=word).X) == data.n_items
        assert data.prior_note == "zero-shot"
        assert data.stand_in == ("" if name != "mtsd" else data.stand_in)
        has_votes = name in ("cifar10h", "dcic:Toy")
        assert any(step.kind == "soft-labels" for step in made) != has_votes
        assert ("votes" if has_votes else "fine-tuned") in data.note
        assert {step.state for step in run_steps(name, settings)} == {"done"}
    assert not list(settings.data.rglob(".prepare"))


def test_classes_have_their_own_sentences(settings):
    """Digits and signs are asked for as in the paper."""
    for name, words in (("emnist_digits", "emnist-digits"), ("mtsd", "mtsd"), ("animals10", "default")):
        only = replace(settings, kinds=("zero-shot",))
        assert [step.state for step in run_steps(name, only)] == ["made"]
        assert json.loads((settings.data / name / "zero_shot.json").read_text())["template"] == words


def test_the_defaults_are_the_papers():
    """CLIP, ResNet-101 and ViT-B/32 with UMAP to 20; EfficientNet-B0, 3 folds, 5 epochs, batch 64, 1e-4."""
    recipe = Recipe()
    assert (recipe.encoders, recipe.reducer, recipe.dim) == (("clip", "resnet", "vit"), "umap", 20)
    assert (recipe.n_folds, recipe.epochs, recipe.batch_size, recipe.learning_rate) == (3, 5, 64, 1e-4)


def test_what_is_missing_is_named_with_where_to_get_it(settings):
    """A dataset that is not there, models that are not, a dataset without images."""
    shutil.rmtree(settings.data / "animals10")
    (step,) = plan_steps("animals10", settings)
    assert (step.state, step.kind) == ("missing", "dataset")
    assert "kaggle" in step.reason
    alone = replace(settings, models=None)
    missing = [step for step in plan_steps("cifar10h", alone) if step.state == "missing"]
    assert any("hf download openai/clip-vit-base-patch32" in step.reason for step in missing)
    assert any("hf download timm/vit_base_patch32_224.augreg_in1k" in step.reason for step in missing)
    shutil.rmtree(settings.data / "cifar10")
    (step,) = plan_steps("cifar10h", settings)
    assert "holds no images" in step.reason


def test_features_that_are_there_are_reduced_without_a_model(settings):
    """A colleague's features need no encoder."""
    np.save(settings.data / "cifar10h" / "features_clip.npy", np.random.default_rng(0).normal(size=(30, 8)))
    found = list(run_steps("cifar10h", replace(settings, models=None)))
    states = {step.target.name: step.state for step in found}
    assert states["features_clip.npy"] == "done"
    assert states["features_clip_pca5.npy"] == "made"
    assert states["zero_shot.npy"] == "missing"


def test_files_of_another_size_are_not_taken_for_done(settings):
    """Rows must be those of the items."""
    np.save(settings.data / "cifar10h" / "features_clip.npy", np.zeros((7, 8)))
    first = plan_steps("cifar10h", settings)[0]
    assert first.state == "missing"
    assert "7 rows, but there are 30 items" in first.reason


def test_a_step_that_fails_does_not_stop_the_others(settings):
    """Too few items for so many dimensions; everything else is made."""
    many = replace(settings, recipe=replace(QUICK, dim=50))
    found = list(run_steps("cifar10h", many))
    states = {step.target.name: step.state for step in found}
    assert states["features_clip_pca50.npy"] == "failed"
    assert states["zero_shot.npy"] == states["features_vit.npy"] == "made"


def test_the_dry_run_expects_time_and_space_and_writes_nothing(settings):
    """Space is exact for arrays; times are measured with the models."""
    before = sorted(settings.data.rglob("*"))
    steps = with_times(plan_steps("cifar10", settings), settings)
    assert sorted(settings.data.rglob("*")) == before
    assert all(step.seconds > 0 for step in steps)
    sizes = {step.target.name: step.megabytes for step in steps}
    assert sizes["features_clip.npy"] == 50 * 12 * 4 / 1e6
    assert sizes["features_vit.npy"] == 50 * 64 * 4 / 1e6
    assert sizes["soft_labels.npy"] == 50 * 10 * 8 / 1e6


def test_unknown_datasets_are_refused(settings):
    """What needs no preparation, and what does not exist."""
    for name in ("two_moons", "nonsense"):
        with pytest.raises(InputError, match="cannot be prepared"):
            dataset_names([name], settings.data)
    assert dataset_names(["dcic", "dcic:Toy"], settings.data) == ["dcic:Toy"]
    shutil.rmtree(settings.data / "dcic")
    assert dataset_names(["dcic"], settings.data) == ["dcic"]


CHILD = """
import sys, time
from pathlib import Path
import torch
from softspread.datasets import finetune
from softspread.reproduce import prepare
torch.set_num_threads(1)
data, models = map(Path, sys.argv[1:])
finetune.SAVE_SECONDS = 0.0
finetune.finetune_soft_labels.__kwdefaults__["save_seconds"] = 0.0
step = finetune._one_step
def slow(*arguments):
    time.sleep(0.3)
    step(*arguments)
finetune._one_step = slow
recipe = prepare.Recipe(reducer="pca", dim=5, epochs=4, batch_size=16)
settings = prepare.Settings(data, models, ("soft-labels",), recipe=recipe)
print("begin", flush=True)
list(prepare.run_steps("cifar10", settings))
"""


@pytest.mark.slow
def test_a_killed_fine_tuning_ends_like_one_that_was_not(settings, given, request):
    """SIGKILL in the middle; the second run starts from the state that was written, to the same numbers."""
    import torch

    n_threads = torch.get_num_threads()
    request.addfinalizer(lambda: torch.set_num_threads(n_threads))
    torch.set_num_threads(1)  # as in the child: sums depend on the number of threads
    other = settings.data.parent / "other"
    shutil.copytree(settings.data, other)
    recipe = replace(QUICK, epochs=4, batch_size=16)
    quiet = replace(settings, kinds=("soft-labels",), recipe=recipe)
    list(run_steps("cifar10", replace(quiet, data=other)))
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(settings.data), str(given / "models")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    state = settings.data / "cifar10" / ".prepare" / "soft_labels"
    deadline = time.monotonic() + 120
    while not (state / "fold2.pt").is_file():
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert (state / "fold1.npy").is_file()
    assert not (settings.data / "cifar10" / "soft_labels.npy").exists()
    list(run_steps("cifar10", quiet))
    first, second = (np.load(home / "cifar10" / "soft_labels.npy") for home in (other, settings.data))
    assert_array_equal(first, second)


def test_only_some_kinds_of_steps_are_done():
    """Their names are those of the command's option."""
    assert KINDS == ("features", "reduced", "zero-shot", "soft-labels")
