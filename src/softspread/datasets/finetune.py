"""Soft labels for images with hard labels, as the paper makes them, by a fine-tuned classifier.

Each image keeps the prediction of a classifier that has not seen it.

    folds 1 .. k:  train on the others  ->  softmax on the fold
    together (n, n_classes), every item out of fold

Needs torch (and transformers for a model by name) and a model whose weights are on this machine. With a
folder to keep its state in, a killed run resumes where it stopped and ends with the same soft labels. A quick
version, a classifier on features, is :func:`softspread.simulate.simulate_soft_labels`.
"""

import json
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.atomic import replaced_file, write_text
from softspread._common.digests import digest, digest_array
from softspread._common.extras import needs_extra
from softspread._common.progress import Advance
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread._common.versions import version_of
from softspread.datasets.dataset import Dataset, normalized_entropy
from softspread.datasets.local_files import read_array, read_images, write_array
from softspread.embedding.encoders.model_files import find_model, fingerprint_files
from softspread.embedding.encoders.transformer import load_pretrained
from softspread.embedding.preparation import IMAGENET_MEAN, IMAGENET_STD
from softspread.errors import InputError

MODEL = "efficientnet"  # google/efficientnet-b0
N_FOLDS, EPOCHS, BATCH, LEARNING_RATE = 3, 5, 64, 1e-4  # the paper's
SIDE = 224  # pixels that EfficientNet-B0 was trained on
NEW_LAYER = (
    "classifier",
    "fc.",
    "head.",
)  # what replaces the last layer, by the names that models have for it
SAVE_SECONDS = 120.0  # no more work than this is lost when a run is killed

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
    keep: Path | None = None,
    save_seconds: float = SAVE_SECONDS,
    advance: Advance | None = None,
) -> FineTuned:
    """Softmax outputs of classifiers fine-tuned on the other folds.

    Parameters
    ----------
    images : (n, height, width) or (n, height, width, 3) bytes, or (n,) paths
    labels : (n,) hard labels, every class at least ``n_folds`` times
    model : name or folder of a transformers image classifier, or a function that makes a torch module
    side : images are resized to this many pixels per side
    device : "cpu", "cuda", ...; None takes a GPU where there is one
    keep : folder for the state of the work; the same call goes on from there
    save_seconds : how often the state is written
    advance : called with 1 after every batch of training, see :func:`n_steps`

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
    _check_kept(keep, settings, folds, model, targets)
    parts = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    tell = advance or (lambda steps: None)
    for number, (train, held) in enumerate(parts.split(np.zeros(len(targets)), targets), start=1):
        kept = None if keep is None else keep / f"fold{number}.npy"
        if kept is not None and kept.is_file():
            p[held] = read_array(kept)
            tell(settings.n_steps(len(train)))
            continue
        state = None if keep is None else Saved(keep / f"fold{number}.pt", save_seconds)
        network = train_classifier(make, images, train, one_hot[targets[train]], settings, state, tell)
        p[held] = predict_classes(network, images, held, settings)
        if kept is not None and state is not None:
            write_array(kept, p[held])
            state.path.unlink(missing_ok=True)
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
    # Flips, quarter turns, zoom and colours, as the DCIC benchmark's evaluation has them
    augment: bool = False
    class_weights: tuple[float, ...] = ()  # by the most probable class of a target; empty: all alike

    def n_steps(self, n_images: int) -> int:
        """Batches of the whole training; a last batch of one image is left out."""
        whole, rest = divmod(n_images, self.batch_size)
        return self.epochs * (whole + (rest > 1))


@dataclass(slots=True)
class Saved:
    """The state of a training, saved regularly, so that an interrupted one resumes and ends the same."""

    path: Path
    seconds: float = SAVE_SECONDS
    clock: Callable[[], float] = time.monotonic
    _last: float | None = None

    def load(self, network: Any, optimizer: Any, device: str) -> int:
        """Restore the state; the number of steps that are done."""
        torch = import_torch()
        self._last = self.clock()
        if not self.path.is_file():
            return 0
        found = torch.load(self.path, map_location=device, weights_only=True)
        network.load_state_dict(found["network"])
        optimizer.load_state_dict(found["optimizer"])
        torch.set_rng_state(found["random"].cpu())
        return int(found["step"])

    def maybe_save(self, network: Any, optimizer: Any, step: int) -> None:
        """Write the state if the last one is old."""
        if self._last is not None and self.clock() - self._last < self.seconds:
            return
        torch = import_torch()
        state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
        with replaced_file(self.path) as temporary:
            torch.save({**state, "random": torch.get_rng_state()}, temporary)
        self._last = self.clock()


def train_classifier(
    make: MakeModel,
    images: Any,
    rows: IntArray,
    soft: FloatArray,
    how: TrainSettings,
    saved: Saved | None = None,
    advance: Advance = lambda steps: None,
) -> Any:
    """Train on some images with soft targets by cross-entropy (KL up to a constant); the torch module."""
    torch = import_torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(how.seed)
        network = make(soft.shape[1]).to(how.device)
        network.train()
        optimizer = torch.optim.Adam(network.parameters(), lr=how.learning_rate)
        done = 0 if saved is None else saved.load(network, optimizer, how.device)
        advance(done)
        step = 0
        for epoch in range(how.epochs):
            order = np.random.default_rng([how.seed, epoch]).permutation(len(rows))
            for first in range(0, len(rows), how.batch_size):
                chosen = order[first : first + how.batch_size]
                if len(chosen) < 2:
                    continue  # batch normalisation needs two images
                step += 1
                if step <= done:
                    continue
                _one_step(network, optimizer, _tensor(images, rows[chosen], how), soft[chosen], how)
                advance(1)
                if saved is not None:
                    saved.maybe_save(network, optimizer, step)
    return network


def _one_step(network: Any, optimizer: Any, inputs: Any, soft: FloatArray, how: TrainSettings) -> None:
    torch = import_torch()
    target = torch.as_tensor(soft, dtype=torch.float32, device=how.device)
    scores = _scores(network(augmented(inputs) if how.augment else inputs))
    losses = -(target * torch.log_softmax(scores, dim=1)).sum(dim=1)
    if how.class_weights:
        weights = torch.tensor(how.class_weights, dtype=torch.float32, device=how.device)
        losses = losses * weights[target.argmax(dim=1)]
    optimizer.zero_grad()
    losses.mean().backward()
    optimizer.step()


def augmented(inputs: Any) -> Any:
    """Each image flipped, turned by quarters, zoomed or recoloured at random, as the DCIC benchmark does.

    Flips and turns with probability 0.5, zoom by up to 20 % with 0.3, brightness, contrast and saturation
    always.
    """
    torch = import_torch()
    found = []
    for given in inputs:
        image = given
        if torch.rand(()) < 0.5:
            image = image.flip([axis for axis in (1, 2) if torch.rand(()) < 0.5])
        brighter, contrast, colour = torch.rand(3).tolist()
        image = image + 0.4 * (brighter - 0.5)
        mean = image.mean(dim=(1, 2), keepdim=True)
        image = mean + (0.5 + contrast) * (image - mean)
        grey = image.mean(dim=0, keepdim=True)
        image = grey + (0.6 + colour) * (image - grey)
        if torch.rand(()) < 0.3:
            image = _zoomed(image, 0.8 + 0.2 * float(torch.rand(())))
        if torch.rand(()) < 0.5:
            image = image.rot90(int(torch.randint(4, ())), (1, 2))
        found.append(image)
    return torch.stack(found)


def _zoomed(image: Any, share: float) -> Any:
    """The centre of an image, ``share`` of each side, at the size of the whole."""
    torch = import_torch()
    side = image.shape[1]
    cut = max(1, round(share * side))
    first = (side - cut) // 2
    centre = image[None, :, first : first + cut, first : first + cut]
    return torch.nn.functional.interpolate(centre, size=(side, side), mode="bilinear", antialias=True)[0]


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


@dataclass(frozen=True, slots=True, eq=False)
class Crops:
    """Parts of image files."""

    paths: AnyArray  # (n,)
    boxes: IntArray  # (n, 4)

    def __len__(self) -> int:
        return len(self.paths)


def images_of(data: Dataset) -> Any:
    """Images of a dataset as training takes them: bytes, paths, or parts of files."""
    if data.images is not None:
        return data.images
    if data.paths is None:
        raise InputError(
            f"{data.name} has no images; see datasets.describe({data.name.partition(':')[0]!r})."
        )
    return data.paths if data.boxes is None else Crops(data.paths, data.boxes)


def _pixels(images: Any, rows: IntArray, side: int) -> AnyArray:
    if isinstance(images, Crops):
        return read_images(images.paths[rows].tolist(), side, images.boxes[rows])
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
        folder = find_model(name, download=False)
        options = {"num_labels": n_classes, "ignore_mismatched_sizes": True}
        model, report = load_pretrained(AutoModelForImageClassification, folder, name, **options)
        missing = sorted(part for part in report["missing_keys"] if not part.startswith(NEW_LAYER))
        if missing:
            raise InputError(
                f"the weights in {folder} lack {len(missing)} parts of the model, such as {missing[0]!r}; "
                "fine-tuning would start from noise. Fetch the model again."
            )
        return model

    return make


def import_torch() -> Any:
    """Torch, or an error that names the extra."""
    with needs_extra("embed", "fine-tuning needs torch"):
        import torch
    return torch


def write_soft_labels(
    data: Dataset, folder: Path, *, keep: Path | None = None, advance: Advance | None = None, **options: Any
) -> FineTuned:
    """Simulate a dataset's soft labels by fine-tuning; keep them and how they were made in its folder.

    A killed call resumes where it stopped: its state is in ``keep``, by default a hidden folder beside them.
    """
    if data.labels is None:
        raise InputError(f"{data.name} has no images with hard labels to train on.")
    state = folder / ".prepare" / "soft_labels" if keep is None else keep
    found = finetune_soft_labels(images_of(data), data.labels, keep=state, advance=advance, **options)
    about = {
        "made": "softmax outputs of networks that have not seen the image",
        **{name: value for name, value in options.items() if isinstance(value, int | float | str)},
        "model": _model_fact(options.get("model", MODEL)),
        "accuracy": found.accuracy,
        "mean_normalized_entropy": float(found.entropy.mean()),
        "softspread": version_of("softspread"),
    }
    write_text(folder / "soft_labels.json", json.dumps(about, indent=2) + "\n")
    write_array(folder / "soft_labels.npy", found.p)
    shutil.rmtree(state, ignore_errors=True)
    return found


def _model_fact(model: str | MakeModel) -> Any:
    if not isinstance(model, str):
        return getattr(model, "__name__", "a function")
    return {"name": model, "weights": fingerprint_files(find_model(model, download=False))}


def _check_kept(
    keep: Path | None, settings: "TrainSettings", folds: int, model: str | MakeModel, targets: IntArray
) -> None:
    """Make the folder for the state; what another model, other labels or settings left there is removed."""
    if keep is None:
        return
    about: Mapping[str, Any] = {
        **asdict(settings),
        "folds": folds,
        "model": _model_fact(model),
        "labels": digest([digest_array(targets)]).hex(),
    }
    text = json.dumps(about, sort_keys=True)
    mark = keep / "settings.json"
    if mark.is_file() and mark.read_text(encoding="utf-8") != text:
        shutil.rmtree(keep)
    keep.mkdir(parents=True, exist_ok=True)
    write_text(mark, text)
