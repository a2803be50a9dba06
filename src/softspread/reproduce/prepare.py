"""From downloaded datasets to everything that the paper's experiments need, step by step.

    images -> features_clip.npy -> features_clip_umap20.npy, zero_shot.npy;  the same for resnet and vit
    images, hard labels -> soft_labels.npy by fine-tuning

A step whose file is there is done. An interrupted step resumes where it stopped. A step that lacks its
dataset or its model is left out, and its reason says where to get what is missing.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread import datasets
from softspread._common.progress import progress_bar, spinner
from softspread._common.threads import count_threads
from softspread.datasets import dcic, finetune
from softspread.datasets.dataset import Dataset
from softspread.datasets.features import (
    clear_work,
    encode_dataset,
    feature_name,
    work_folder,
    write_encoded,
    write_reduced,
    write_zero_shot,
)
from softspread.datasets.local_files import read_array
from softspread.datasets.registry import SOFT_LABELS, ZERO_SHOT, home_of, load_items, source_of
from softspread.embedding.embed import EncodedItems, EncodingOptions
from softspread.embedding.encoders.encoder import Encoder
from softspread.embedding.encoders.model_files import find_model
from softspread.embedding.encoders.registry import find_encoder
from softspread.errors import InputError, MissingExtraError, SoftspreadError

PAPER_DATASETS = (
    *("cifar10h", "cifar10", "emnist_digits", "animals10", "tiny_imagenet", "mtsd", "mnist"),
    "dcic",
)
KINDS = ("features", "reduced", "zero-shot", "soft-labels")
TRIED = 8  # images that the time of a step is measured on
MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of the preparation; the defaults are the paper's."""

    encoders: tuple[str, ...] = ("clip", "resnet", "vit")
    words: str = "clip"  # the encoder of zero-shot predictions
    classifier: str = "efficientnet"  # fine-tuned for soft labels
    reducer: str = "umap"
    dim: int = 20
    n_folds: int = finetune.N_FOLDS
    epochs: int = finetune.EPOCHS
    batch_size: int = finetune.BATCH
    learning_rate: float = finetune.LEARNING_RATE
    side: int | None = None  # pixels; None: what the classifier was trained on
    umap_seconds: float = 0.009  # per item on one core: 8,000 items took 74 s

    def model(self, name: str, models: Path | None) -> str:
        """The folder of a model below ``models``, else its name for Hugging Face's cache."""
        return str(models / name) if models is not None and (models / name).is_dir() else name


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things are and how the work is done."""

    data: Path
    models: Path | None = None
    kinds: tuple[str, ...] = KINDS
    device: str = "auto"
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool = False
    recipe: Recipe = field(default_factory=Recipe)


@dataclass(frozen=True, slots=True)
class Step:
    """One file to make."""

    dataset: str
    kind: str
    target: Path
    model: str  # name or folder; empty where none is needed
    n_items: int
    megabytes: float = float("nan")
    seconds: float = float("nan")  # expected; NaN: not measured
    state: str = "to do"  # or "done", "missing", "made", "failed"
    reason: str = ""  # why it was not made

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        entries = ("dataset", "kind", "state", "n_items", "megabytes", "seconds", "model", "reason")
        return {"file": str(self.target), **{name: getattr(self, name) for name in entries}}


def dataset_names(wanted: Sequence[str], data: Path) -> list[str]:
    """Names of the datasets to prepare; "all" and "dcic" stand for several.

    "dcic" stands for the benchmark's datasets that are there, or for itself where none is.
    """
    known = datasets.names()
    names: list[str] = []
    for word in PAPER_DATASETS if list(wanted) == ["all"] else wanted:
        bare = word.partition(":")[0]
        if bare not in known or not source_of(bare).download:
            raise InputError(
                f"{word!r} cannot be prepared; there are {', '.join(PAPER_DATASETS)}, dcic:<Name> and all."
            )
        names += (
            [f"dcic:{name}" for name in dcic.names_below(data / "dcic")] or [word]
            if word == "dcic"
            else [word]
        )
    return list(dict.fromkeys(names))


# ------------------------------------------------------------------------------------------------------- plan
def plan_steps(name: str, settings: Settings) -> list[Step]:
    """All steps of one dataset in the order in which they are done; nothing is computed."""
    recipe, home = settings.recipe, home_of(name, settings.data)
    try:
        data = load_items(name, settings.data)
        if data.images is None and data.paths is None:
            raise InputError(f"{home} holds no images. {datasets.describe(name)}")
    except SoftspreadError as error:
        return [Step(name, "dataset", home, "", 0, state="missing", reason=str(error))]
    n = data.n_items
    found = []
    for encoder in recipe.encoders:
        model = recipe.model(encoder, settings.models)
        base, reduced = feature_name(encoder), feature_name(encoder, recipe.reducer, recipe.dim)
        width = n_features(model)
        found.append(
            Step(name, "features", home / f"features_{base}.npy", model, n, n * width * 4 / MEGABYTE)
        )
        size = n * recipe.dim * 4 / MEGABYTE
        found.append(Step(name, "reduced", home / f"features_{reduced}.npy", model, n, size))
        if encoder == recipe.words:
            size = n * len(data.classes) * 8 / MEGABYTE
            found.append(Step(name, "zero-shot", home / ZERO_SHOT, model, n, size))
    if data.p_true is None:
        model = recipe.model(recipe.classifier, settings.models)
        size = n * len(data.classes) * 8 / MEGABYTE
        found.append(Step(name, "soft-labels", home / SOFT_LABELS, model, n, size))
    return [_state(step) for step in found if step.kind in settings.kinds]


def n_features(model: str) -> float:
    """Numbers per image that a model gives, as its settings say; NaN where it is not here."""
    about = _config(model)
    last = about.get("hidden_sizes") or [None]
    for value in (about.get("projection_dim"), about.get("num_features"), last[-1], about.get("hidden_size")):
        if isinstance(value, int):
            return float(value)
    return float("nan")


def _config(model: str) -> dict[str, Any]:
    """The content of a model's config.json; empty where it is not here."""
    try:
        path = find_model(model, download=False) / "config.json"
        found = json.loads(path.read_text(encoding="utf-8"))
    except (SoftspreadError, OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _state(step: Step) -> Step:
    """Done if the file is there with one row per item; missing if its model is not."""
    if step.target.is_file():
        n_rows = len(read_array(step.target, mapped=True))
        if n_rows == step.n_items:
            return replace(step, state="done")
        reason = f"{step.target} has {n_rows} rows for {step.n_items} items; remove it and start again."
        return replace(step, state="missing", reason=reason)
    unreduced = step.kind == "reduced" and step.target.with_name(_source_of(step)).is_file()
    try:
        if not unreduced:
            find_model(step.model, download=False)
    except (InputError, MissingExtraError) as error:
        return replace(step, state="missing", reason=str(error))
    return step


def _source_of(step: Step) -> str:
    """The file of unreduced features that a reduced one is made of."""
    return f"{step.target.stem.rpartition('_')[0]}.npy"


# ------------------------------------------------------------------------------------------------------- time
def with_times(steps: Sequence[Step], settings: Settings) -> list[Step]:
    """Expected seconds of the steps that are to do, measured on a few images with the models themselves."""
    recipe = settings.recipe
    known: dict[tuple[str, str], float] = {}
    timed = []
    for step in steps:
        if step.state != "to do":
            timed.append(step)
            continue
        if step.kind == "reduced":
            timed.append(replace(step, seconds=recipe.umap_seconds * step.n_items))
            continue
        if step.kind == "zero-shot":  # the features are there by then; texts take a moment
            timed.append(replace(step, seconds=1.0))
            continue
        if (step.kind, step.model) not in known:
            measure = _encoding_seconds if step.kind == "features" else _training_seconds
            known[step.kind, step.model] = measure(step.model, settings)
        timed.append(replace(step, seconds=known[step.kind, step.model] * step.n_items))
    return timed


def _encoding_seconds(model: str, settings: Settings) -> float:
    """Seconds per image of an encoder."""
    encoder = find_encoder(model, device=settings.device)
    if encoder.preparation is None:
        raise InputError(f"{model} does not take images; name a model of images.")
    shape = (TRIED, 3, encoder.preparation.height, encoder.preparation.width)
    pixels = np.zeros(shape, dtype=np.uint8)
    with encoder.running(count_threads(settings.n_jobs)) as at_once:
        return _best_of(lambda: encoder.encode_images(pixels)) / TRIED / at_once


def _training_seconds(model: str, settings: Settings) -> float:
    """Seconds per image of all folds and epochs: it trains folds - 1 times per epoch and is judged once."""
    recipe = settings.recipe
    how = replace(_train_settings(model, settings), epochs=1, batch_size=TRIED)
    images = np.zeros((TRIED, 8, 8, 3), dtype=np.uint8)
    rows, soft = np.arange(TRIED), np.full((TRIED, 2), 0.5)
    network = finetune.transformers_model(model)(2)
    step = _best_of(lambda: finetune.train_classifier(lambda n: network, images, rows, soft, how))
    judged = _best_of(lambda: finetune.predict_classes(network, images, rows, how))
    return ((recipe.n_folds - 1) * recipe.epochs * step + judged) / TRIED


def _best_of(work: Callable[[], Any], turns: int = 3) -> float:
    seconds = []
    for _ in range(turns):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def _train_settings(model: str, settings: Settings) -> finetune.TrainSettings:
    recipe, own = settings.recipe, _config(model).get("image_size")
    side = recipe.side or (own if isinstance(own, int) else finetune.SIDE)
    device = _device(settings)
    return finetune.TrainSettings(
        recipe.epochs, recipe.batch_size, recipe.learning_rate, side, device, settings.seed
    )


def _device(settings: Settings) -> str:
    from softspread.embedding.encoders.transformer import choose_device

    return choose_device(settings.device)


# -------------------------------------------------------------------------------------------------------- run
def run_steps(name: str, settings: Settings) -> Iterator[Step]:
    """Run the steps of one dataset; each is yielded when it is made, was made before, or is left out."""
    steps = plan_steps(name, settings)
    if all(step.state != "to do" for step in steps):
        yield from steps
        return
    worker = _Worker(load_items(name, settings.data), settings)
    for step in steps:
        if step.state != "to do":
            yield step
            continue
        try:
            yield worker.run(step)
        except SoftspreadError as error:  # other steps and datasets may still go well
            yield replace(step, state="failed", reason=f"{step.target}: {error}")


class _Worker:
    """Makes the files of one dataset; the last encoder's features stay in memory for the step after."""

    def __init__(self, data: Dataset, settings: Settings) -> None:
        self.data, self.settings = data, settings
        self.home = home_of(data.name, settings.data)
        self._encoded: tuple[str, EncodedItems] | None = None

    def run(self, step: Step) -> Step:
        """Make one file."""
        started = time.monotonic()
        if step.kind == "features":
            write_encoded(self.home, _base(step), self._features(step))
            clear_work(self.home, _base(step))
        elif step.kind == "reduced":
            self._reduce(step)
        elif step.kind == "zero-shot":
            template = source_of(self.data.name).template
            write_zero_shot(self.home, self.data, self._features(step), template)
            clear_work(self.home, feature_name(Path(step.model).name))
        else:
            self._finetune(step)
        return replace(step, state="made", seconds=time.monotonic() - started)

    def _features(self, step: Step) -> EncodedItems:
        if self._encoded is None or self._encoded[0] != step.model:
            settings = self.settings
            model = find_encoder(step.model, device=settings.device)
            stored = self._stored(step, model)
            if stored is None:
                cache = work_folder(self.home, feature_name(Path(step.model).name))
                options = EncodingOptions(
                    device=settings.device, cache=cache, n_jobs=settings.n_jobs, verbose=settings.verbose
                )
                stored = encode_dataset(self.data, model, options)
            self._encoded = (step.model, stored)
        return self._encoded[1]

    def _stored(self, step: Step, model: Encoder) -> EncodedItems | None:
        """Features that were written before, for zero-shot predictions of a second run."""
        from softspread.datasets.features import items_of

        path = self.home / f"features_{feature_name(Path(step.model).name)}.npy"
        if step.kind != "zero-shot" or not path.is_file():
            return None
        F = np.asarray(read_array(path), dtype=np.float32)
        return EncodedItems(items_of(self.data), np.arange(len(F)), F, (), model)

    def _reduce(self, step: Step) -> None:
        recipe, base = self.settings.recipe, _base(step).rpartition("_")[0]
        text = f"reducing {base} of {self.data.name}, {step.n_items:,} items ..."
        with spinner(text, self.settings.verbose):
            write_reduced(self.home, base, recipe.reducer, recipe.dim, self.settings.seed, step.n_items)

    def _finetune(self, step: Step) -> None:
        recipe, how = self.settings.recipe, _train_settings(step.model, self.settings)
        self.home.mkdir(parents=True, exist_ok=True)
        total = recipe.n_folds * how.n_steps(step.n_items * (recipe.n_folds - 1) // recipe.n_folds)
        with progress_bar("fine-tuning", total, self.settings.verbose, "batches") as advance:
            finetune.write_soft_labels(
                self.data,
                self.home,
                keep=work_folder(self.home, "soft_labels"),
                advance=advance,
                model=step.model,
                n_folds=recipe.n_folds,
                epochs=recipe.epochs,
                batch_size=recipe.batch_size,
                learning_rate=recipe.learning_rate,
                side=how.side,
                random_state=self.settings.seed,
                device=how.device,
            )
        clear_work(self.home, "soft_labels")


def _base(step: Step) -> str:
    return step.target.stem.removeprefix("features_")
