"""Features and zero-shot predictions of a dataset, written where datasets look for them.

    <home>/features_<encoder>.npy                   unreduced
    <home>/features_<encoder>_<reducer><dim>.npy    reduced, as features_clip_umap20.npy
    <home>/zero_shot.npy                            class probabilities from the names of the classes

One row per item, in the order of the dataset. Beside each file a .json says how it was made.
"""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.atomic import write_text
from softspread._common.versions import version_of
from softspread.datasets.dataset import Dataset
from softspread.datasets.local_files import check_length, read_array, write_array
from softspread.datasets.registry import ZERO_SHOT
from softspread.embedding.contents import Contents, CroppedContents, FileContents, HeldContents
from softspread.embedding.embed import EncodedItems, EncodingOptions, Features, describe, encode_items
from softspread.embedding.encoders.encoder import Encoder
from softspread.embedding.encoders.known_models import KNOWN
from softspread.embedding.items import Items
from softspread.embedding.reducers.by_name import fit_reducer
from softspread.embedding.zero_shot import ZeroShot, zero_shot_of
from softspread.errors import InputError

WORK = ".prepare"  # folder for what is only needed until a step is done


def feature_name(encoder: str, reducer: str = "none", dim: int = 0) -> str:
    """The name of features: encoder, reducer and dimension.

    Examples
    --------
    >>> feature_name("clip", "umap", 20), feature_name("models/vit"), feature_name("pixels:28", "pca", 5)
    ('clip_umap20', 'vit', 'pixels28_pca5')
    >>> feature_name("openai/clip-vit-base-patch32")
    'clip'
    """
    short = {repository: name for name, repository in KNOWN.items()}.get(encoder)
    last = short or Path(encoder).name.removesuffix(".onnx")
    word = re.sub(r"[^0-9A-Za-z.-]", "", last)
    return word if reducer == "none" else f"{word}_{reducer}{dim}"


def items_of(data: Dataset) -> Items:
    """The images of a dataset as encoders take them."""
    contents: Contents
    if data.images is not None:
        contents = HeldContents(data.images)
    elif data.paths is None:
        raise InputError(f"{data.name} has no images to make features of; its local copy holds only labels.")
    elif data.boxes is not None:
        contents = CroppedContents([Path(path) for path in data.paths], data.boxes)
    else:
        contents = FileContents([Path(path) for path in data.paths])
    return Items(np.arange(data.n_items), "image", contents, source=f"the dataset {data.name}")


def encode_dataset(data: Dataset, model: Encoder, options: EncodingOptions) -> EncodedItems:
    """Features of all images; one that cannot be read is an error, since rows must match the labels."""
    return encode_items(items_of(data), model, options)


def write_features(home: Path, name: str, F: Features, how: Mapping[str, Any]) -> Path:
    """Write one file of features and how they were made."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"features_{name}.npy"
    return _write(path, np.asarray(F, dtype=np.float32), how)


def write_encoded(home: Path, name: str, encoded: EncodedItems) -> Path:
    """Write unreduced features."""
    return write_features(home, name, encoded.F, describe(encoded, normalize=False))


def write_reduced(home: Path, base: str, reducer: str, dim: int, seed: int, n_items: int) -> Path:
    """Reduce features that were written before, and write the result beside them."""
    source = home / f"features_{base}.npy"
    F = check_length(read_array(source), n_items, source)
    fitted, X = fit_reducer(np.asarray(F, dtype=np.float32), reducer, dim, seed)
    about = source.with_suffix(".json")
    how = json.loads(about.read_text(encoding="utf-8")) if about.is_file() else {}
    how |= {"reducer": fitted.name, "dim": dim, "seed": seed, "reducer_settings": fitted.facts()}
    if fitted.name == "umap":
        how["umap-learn"] = version_of("umap-learn")
    return write_features(home, feature_name(base, fitted.name, dim), X, how)


def write_zero_shot(home: Path, data: Dataset, encoded: EncodedItems, template: str) -> Path:
    """Write zero-shot predictions of all images, with columns in the order of the dataset's classes."""
    found: ZeroShot = zero_shot_of(encoded, [str(name) for name in data.classes], template)
    how = describe(encoded, normalize=True) | {"template": template, "classes": list(map(str, data.classes))}
    return _write(home / ZERO_SHOT, found.p, how)


def _write(path: Path, array: Any, how: Mapping[str, Any]) -> Path:
    write_text(path.with_suffix(".json"), json.dumps(dict(how), indent=2, default=str) + "\n")
    write_array(path, array)
    return path


def work_folder(home: Path, name: str) -> Path:
    """A folder for the state of a step, so that an interrupted run can resume."""
    return home / WORK / name


def clear_work(home: Path, name: str) -> None:
    """Remove the state of a step that is done, and the folder above it once it is empty."""
    shutil.rmtree(work_folder(home, name), ignore_errors=True)
    above = home / WORK
    if above.is_dir() and not any(above.iterdir()):
        above.rmdir()
