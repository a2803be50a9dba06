"""Soft labels for images with hard labels, as the paper makes them, by a fine-tuned classifier.

Each image keeps the prediction of a classifier that has not seen it.

    folds 1 .. k:  train on the others  ->  softmax on the fold;  together (n, n_classes), every item out of
    fold

Needs torch (and transformers for a model by name) and a model whose weights are on this machine. The light
version, a classifier on features, is :func:`softspread.simulate.simulate_soft_labels`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.datasets.dataset import Dataset, normalized_entropy
from softspread.datasets.local_files import read_images
from softspread.embedding.preparation import IMAGENET_MEAN, IMAGENET_STD
from softspread.errors import InputError, StoreError

MODEL = "google/efficientnet-b0"
N_FOLDS, EPOCHS, BATCH, LEARNING_RATE = 3, 5, 64, 1e-4  # the paper's
SIDE = 224  # pixels that EfficientNet-B0 was trained on

MakeModel = Callable[[int], Any]  # number of classes -> torch module from (batch, 3, side, side) to scores


@dataclass(frozen=True, slots=True, eq=False)
class FineTuned:
    """Simulated soft labels, and how sure and how right they are."""

    p: FloatArray  # (n, n_classes)
    accuracy: float  # share of items whose most probable class is the hard label
    entropy: FloatArray  # (n,) normalised

    def summary(self) -> str:
        """In one sentence."""
        return (
            f"accuracy {self.accuracy:.3f}, normalised entropy mean {self.entropy.mean():.3f}, "
            f"median {np.median(self.entropy):.3f}, 90 % quantile {np.quantile(self.entropy, 0.9):.3f}"
        )


def finetune_soft_labels(
    images: Any,
    labels: Any,
    *,
    model: str | MakeModel = MODEL,
    n_folds: int = N_FOLDS,
    epochs: int = EPOCHS,
    batch_size: int = BATCH,
    learning_rate: float = LEARNING_RATE,
    side: int = SIDE,
    random_state: int = 0,
    device: str | None = None,
) -> FineTuned:
    """Softmax outputs of classifiers fine-tuned on the other folds.

    Parameters
    ----------
    images : (n, height, width) or (n, height, width, 3) bytes, or (n,) paths
    labels : (n,) hard labels, every class at least ``n_folds`` times
    model : name or folder of a transformers image classifier, or a function that makes a torch module
    side : images are resized to this many pixels per side
    device : "cpu", "cuda", ...; None takes a GPU where there is one

    Returns
    -------
    found : soft labels with columns in the order of ``numpy.unique(labels)``
    """
    from sklearn.model_selection import StratifiedKFold

    torch = import_torch()
    classes, targets = np.unique(validation.names(labels, "label"), return_inverse=True)
    if len(targets) != len(images):
        raise InputError(
            f"{len(images)} images but {len(targets)} labels; there must be one label per image."
        )
    folds = validation.count("n_folds", n_folds, smallest=2)
    if len(classes) < 2 or np.bincount(targets).min() < folds:
        raise InputError(f"{folds} folds need at least two classes with {folds} images each.")
    make = transformers_model(model) if isinstance(model, str) else model
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    p = np.zeros((len(targets), len(classes)))
    one_hot = np.eye(len(classes))
    settings = TrainSettings(epochs, batch_size, learning_rate, side, place, random_state)
    parts = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    for train, held in parts.split(np.zeros(len(targets)), targets):
        network = train_classifier(make, images, train, one_hot[targets[train]], settings)
        p[held] = predict_classes(network, images, held, settings)
    right = float(np.mean(p.argmax(axis=1) == targets))
    return FineTuned(p, right, normalized_entropy(p))


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How a classifier is trained."""

    epochs: int = EPOCHS
    batch_size: int = BATCH
    learning_rate: float = LEARNING_RATE
    side: int = SIDE
    device: str = "cpu"
    seed: int = 0


def train_classifier(
    make: MakeModel, images: Any, rows: IntArray, soft: FloatArray, how: TrainSettings
) -> Any:
    """Train on some images with soft targets by cross-entropy (KL up to a constant); the torch module."""
    torch = import_torch()
    rng = np.random.default_rng(how.seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(how.seed)
        network = make(soft.shape[1]).to(how.device)
        network.train()
        optimizer = torch.optim.Adam(network.parameters(), lr=how.learning_rate)
        for _ in range(how.epochs):
            order = rng.permutation(len(rows))
            for first in range(0, len(rows), how.batch_size):
                chosen = order[first : first + how.batch_size]
                if len(chosen) < 2:
                    continue  # batch normalisation needs two images
                inputs = _tensor(images, rows[chosen], how)
                target = torch.as_tensor(soft[chosen], dtype=torch.float32, device=how.device)
                loss = -(target * torch.log_softmax(_scores(network(inputs)), dim=1)).sum(dim=1).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return network


def predict_classes(network: Any, images: Any, rows: IntArray, how: TrainSettings) -> FloatArray:
    """Softmax outputs for some images, (len(rows), n_classes)."""
    torch = import_torch()
    network.eval()
    found = []
    with torch.no_grad():
        for first in range(0, len(rows), how.batch_size):
            scores = _scores(network(_tensor(images, rows[first : first + how.batch_size], how)))
            found.append(torch.softmax(scores.double(), dim=1).cpu().numpy())
    return np.concatenate(found)


def _scores(output: Any) -> Any:
    return getattr(output, "logits", output)


def _tensor(images: Any, rows: IntArray, how: TrainSettings) -> Any:
    """Images as (batch, 3, side, side), normalised as ImageNet's."""
    torch = import_torch()
    pixels = _pixels(images, rows, how.side)
    tensor = torch.as_tensor(pixels, dtype=torch.float32, device=how.device).permute(0, 3, 1, 2) / 255
    if tensor.shape[-2:] != (how.side, how.side):
        tensor = torch.nn.functional.interpolate(
            tensor, size=(how.side, how.side), mode="bilinear", antialias=True
        )
    mean = torch.tensor(IMAGENET_MEAN, device=how.device)[None, :, None, None]
    spread = torch.tensor(IMAGENET_STD, device=how.device)[None, :, None, None]
    return (tensor - mean) / spread


def _pixels(images: Any, rows: IntArray, side: int) -> AnyArray:
    chosen = np.asarray(images)[rows]
    if chosen.ndim == 1:
        return read_images(chosen.tolist(), side)
    grey = chosen.ndim == 3
    return np.repeat(chosen[..., None], 3, axis=3) if grey else chosen


def transformers_model(name: str) -> MakeModel:
    """A function that loads an image classifier with a new last layer.

    Its weights have to be on this machine.
    """
    with needs_extra("embed", "models by name need transformers"):
        from transformers import AutoModelForImageClassification

    def make(n_classes: int) -> Any:
        try:
            return AutoModelForImageClassification.from_pretrained(
                name, num_labels=n_classes, ignore_mismatched_sizes=True, local_files_only=True
            )
        except OSError as error:
            raise StoreError(
                f"the weights of {name} are not on this machine. Download them first (hf download {name}), "
                "name a folder that holds them, or use the light version on features."
            ) from error

    return make


def import_torch() -> Any:
    """Torch, or an error that names the extra."""
    with needs_extra("embed", "fine-tuning needs torch"):
        import torch
    return torch


def write_soft_labels(data: Dataset, folder: Path, **options: Any) -> FineTuned:
    """Simulate a dataset's soft labels by fine-tuning; keep them in its ``soft_labels.npy``."""
    images = data.images if data.images is not None else data.paths
    if images is None or data.labels is None:
        raise InputError(f"{data.name} has no images with hard labels to train on.")
    found = finetune_soft_labels(images, data.labels, **options)
    np.save(folder / "soft_labels.npy", found.p)
    return found
