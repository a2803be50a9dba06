"""The Data-Centric Image Classification benchmark: our method as one of its algorithms, and its evaluation.

    raw annotations (JSON)  ->  input dataset: few annotations  ->  soft labels by spreading  ->  output
    dataset
      ->  a classifier trained on it  ->  KL, macro F1, macro accuracy, ECE on the test fold

Two phases as in the benchmark: an algorithm improves the labels of train, val and unlabeled images; then a
classifier is trained with a KL loss and judged on test images against their complete soft labels. Reported is
the difference to the classifier that was trained on the annotated images alone, median and mean (SEM) over
the datasets.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread import report
from softspread._common.types import AnyArray, FloatArray
from softspread.datasets.dataset import Dataset, LackingError
from softspread.datasets.dcic import HELP, N_FOLDS, RAW, RawDataset, features_folder, read_raw
from softspread.datasets.digits import digits
from softspread.datasets.local_files import read_features, read_images
from softspread.errors import InputError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.reproduce.dcic.miniatures import MiniatureSize, write_miniature
from softspread.reproduce.methods.network import SmallNetwork
from softspread.reproduce.plan import Trial
from softspread.simulate import draw_columns
from softspread.votes.votes import Votes

ALPHAS = {0.1: 0.9, 1.0: 0.75, 10.0: 0.1}  # the paper's, by budget
BUDGETS = {0.1: (0.1, 1), 1.0: (1.0, 1), 10.0: (1.0, 10)}  # share of the images, annotations each
CLIP = 1e-5  # of both distributions in the KL divergence
ECE_BINS = 15
SIDE = 16  # pixels that images are squeezed to for the small network
DIMENSION = 20  # of the features that the graph is built on
UNKNOWN = "unknown"


def split_of(fold: int, slice_number: int) -> str:
    """Which split a fold belongs to in a slice.

    Examples
    --------
    >>> [split_of(fold, 1) for fold in range(5)]
    ['train', 'val', 'test', 'train', 'train']
    """
    if fold == slice_number % N_FOLDS:
        return "val"
    return "test" if fold == (slice_number + 1) % N_FOLDS else "train"


# --------------------------------------------------------------------------------------------------- datasets
def input_dataset(
    raw: RawDataset, slice_number: int, share: float, n_annotations: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Build what an algorithm gets as input.

    Some train and val images have a few annotations, the others none; the test split is complete.
    """
    splits = np.array([split_of(int(fold), slice_number) for fold in raw.folds])
    pool = np.flatnonzero(splits != "test")
    labelled = np.sort(rng.permutation(pool)[: max(1, round(share * len(pool)))])
    soft: dict[int, FloatArray] = {}
    for row in labelled:
        drawn = draw_columns(raw.soft, np.full(n_annotations, row), rng.random(n_annotations))
        soft[int(row)] = np.bincount(drawn, minlength=len(raw.classes)) / n_annotations
    complete = raw.soft
    images = []
    for row, path in enumerate(raw.paths.tolist()):
        if splits[row] == "test":
            images.append(_image(path, "test", raw.classes, complete[row], "test"))
        elif row in soft:
            images.append(_image(path, splits[row], raw.classes, soft[row], splits[row]))
        else:
            images.append(_image(path, "unlabeled", raw.classes, None, splits[row]))
    budget = len(labelled) * n_annotations
    return {
        "name": raw.name,
        "v_fold": slice_number,
        "classes": list(raw.classes),
        "budget": budget,
        "weighted_budget": budget / len(pool),
        "images": images,
    }


def _image(
    path: str, split: str, classes: tuple[str, ...], soft: FloatArray | None, original: str
) -> dict[str, Any]:
    best = -1 if soft is None else int(np.argmax(soft))
    return {
        "path": path,
        "split": str(split),
        "gt": best,
        "gt_verbose": UNKNOWN if best < 0 else classes[best],
        "soft_gt": [] if soft is None else [float(value) for value in soft],
        "info": {"original_split": str(original)},
    }


def dataset_folder(name: str, method: str, n_annotations: int, share: float) -> str:
    """Name the folder of a method's output.

    Examples
    --------
    >>> dataset_folder("Pig", "pls", 1, 0.1)
    'Pig-pls-01-0.10'
    """
    if "-" in method:
        raise InputError(f"a method's name has no dash here, got {method!r}.")
    return f"{name}-{method}-{n_annotations:02d}-{share:.2f}"


def write_dataset(root: Path, kind: str, folder: str, dataset: dict[str, Any]) -> Path:
    """Write ``<kind>/<folder>/<folder>-slice<v>.json``.

    ``kind`` is input_datasets, output_datasets or evaluate_datasets.
    """
    home = root / kind / folder
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{folder}-slice{dataset['v_fold']}.json"
    report.write_text(path, json.dumps(dataset))
    return path


# ------------------------------------------------------------------------------------------------- the method
def improve_labels(
    dataset: dict[str, Any], X: FloatArray, alpha: float, n_annotations: int = 1, n_neighbors: int = 20
) -> dict[str, Any]:
    """Spread the annotations of an input dataset to all its images but the test images: our algorithm.

    Parameters
    ----------
    dataset : as read from JSON; it is not changed
    X : (n_images, d) features in the order of ``dataset["images"]``
    alpha : spreading intensity, see ``ALPHAS``
    n_annotations : how many annotations stand behind each given soft label

    Returns
    -------
    output : the same with soft labels for train, val and unlabeled images; these return to their original
    split
    """
    images, classes = dataset["images"], tuple(dataset["classes"])
    if len(X) != len(images):
        raise InputError(f"{len(X)} rows of features for {len(images)} images; they must agree.")
    counts = np.zeros((len(images), len(classes)))
    for row, image in enumerate(images):
        if image["split"] in ("train", "val") and image["soft_gt"]:
            counts[row] = np.asarray(image["soft_gt"]) * n_annotations
    # test images take part in the graph by their features only
    estimator = ProbabilisticLabelSpreading(
        alpha=alpha, n_neighbors=n_neighbors, annotator_model="none", n_jobs=1
    )
    p = estimator.fit(
        X, Votes.from_counts(counts, classes=list(classes)), classes=list(classes)
    ).predict_proba()
    improved = []
    for row, image in enumerate(images):
        if image["split"] == "test":
            improved.append(image)
        else:
            original = image["info"].get("original_split", "train")
            improved.append(_image(image["path"], original, classes, p[row], original))
    return {**dataset, "images": improved}


# ------------------------------------------------------------------------------------------------- evaluation
@dataclass(frozen=True, slots=True)
class Scores:
    """How a classifier does on the test images."""

    kl: float
    macro_f1: float
    macro_accuracy: float
    ece: float


def evaluate(p_true: FloatArray, p: FloatArray) -> Scores:
    """Score predictions: KL (both clipped to [1e-5, 1 - 1e-5]), macro F1, macro accuracy, calibration error.

    Examples
    --------
    >>> evaluate(np.eye(2), np.eye(2)).macro_f1
    1.0
    """
    truth, found = np.clip(p_true, CLIP, 1 - CLIP), np.clip(p, CLIP, 1 - CLIP)
    kl = float(np.mean(np.sum(truth * np.log(truth / found), axis=1)))
    right, said = p_true.argmax(axis=1), p.argmax(axis=1)
    f1, recalls = [], []
    for column in np.unique(right):
        hits = float(np.sum((right == column) & (said == column)))
        n_right, n_said = float(np.sum(right == column)), float(np.sum(said == column))
        recalls.append(hits / n_right)
        f1.append(2 * hits / (n_right + n_said))
    sure = p.max(axis=1)
    bins = np.minimum((sure * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = [
        abs(float(np.mean(right[bins == b] == said[bins == b])) - float(sure[bins == b].mean()))
        * float(np.mean(bins == b))
        for b in np.unique(bins)
    ]
    return Scores(kl, float(np.mean(f1)), float(np.mean(recalls)), float(np.sum(gaps)))


def train_and_judge(
    dataset: dict[str, Any], pixels: AnyArray, truth: FloatArray, seed: int, classifier: str = "small"
) -> Scores:
    """Train a classifier on the train images of an output dataset, and judge it on the test images.

    Parameters
    ----------
    pixels : (n_images, side, side, 3) bytes
    truth : (n_images, n_classes) complete soft labels
    classifier : "small", a network on a CPU; else the name or folder of a transformers image classifier
    """
    images = dataset["images"]
    rows = [row for row, image in enumerate(images) if image["split"] == "train" and image["soft_gt"]]
    test = np.array([row for row, image in enumerate(images) if image["split"] == "test"])
    soft = np.array([images[row]["soft_gt"] for row in rows])
    train = np.array(rows)
    if classifier == "small":
        flat = pixels.reshape(len(pixels), -1) / 255
        network = SmallNetwork(seed=seed).fit(flat[train], soft)
        return evaluate(truth[test], network.predict_proba(flat[test]))
    from softspread.datasets.finetune import (
        TrainSettings,
        predict_classes,
        train_classifier,
        transformers_model,
    )

    how = TrainSettings(seed=seed)
    trained = train_classifier(transformers_model(classifier), pixels, train, soft, how)
    return evaluate(truth[test], predict_classes(trained, pixels, test, how))


def pixel_features(pixels: AnyArray) -> FloatArray:
    """Principal components of the pixels, (n, 20): features that need no model."""
    from sklearn.decomposition import PCA

    flat = pixels.reshape(len(pixels), -1) / 255
    return np.asarray(
        PCA(min(DIMENSION, *flat.shape), svd_solver="full").fit_transform(flat), dtype=np.float64
    )


# ----------------------------------------------------------------------------------------------------- trials
@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A dataset of the benchmark in memory: trials share it."""

    raw: RawDataset
    pixels: AnyArray  # (n_images, side, side, 3) bytes
    X: FloatArray  # (n_images, d) features


def open_dataset(trial: Trial, data: Path | None, load_digits: Callable[[], Dataset] = digits) -> Opened:
    """Read the dataset that a trial asks for; miniatures are written to a temporary folder and read back."""
    import tempfile

    name, side = str(trial.dataset["name"]), int(trial.options.get("side", SIDE))
    if name.startswith("mini_"):
        with tempfile.TemporaryDirectory() as folder:
            size = MiniatureSize(**trial.options.get("size", {}))
            write_miniature(Path(folder), name, load_digits(), trial.seed, size)
            return _open(Path(folder), name, side)
    if data is None or not (data / "dcic").is_dir():
        raise LackingError(f"the DCIC datasets are not in the data folder. {HELP}")
    return _open(data / "dcic", name, side)


def _open(root: Path, name: str, side: int) -> Opened:
    raw = read_raw(root, name)
    pixels = read_images([root / RAW / path for path in raw.paths], side)
    X, _ = read_features(features_folder(root, name), None, len(raw.paths))
    return Opened(raw, pixels, pixel_features(pixels) if X is None else X)


def run_trial(trial: Trial, opened: Opened) -> list[dict[str, Any]]:
    """Run one dataset, budget and slice: the annotated images alone, then with improved labels."""
    budget, number = float(trial.budget or 1.0), int(trial.options["slice"])
    if budget not in BUDGETS:
        raise InputError(f"budget must be one of {', '.join(map(str, BUDGETS))}, got {budget}.")
    raw, pixels = opened.raw, opened.pixels
    share, n_annotations = BUDGETS[budget]
    rng = np.random.default_rng([trial.seed, trial.draw, number, int(10 * budget)])
    given = input_dataset(raw, number, share, n_annotations, rng)
    improved = improve_labels(given, opened.X, ALPHAS[budget], n_annotations)
    rows = []
    for method, dataset in (("baseline", given), ("pls", improved)):
        judged = train_and_judge(
            dataset, pixels, raw.soft, trial.seed, str(trial.options.get("classifier", "small"))
        )
        rows.append(
            {
                "method": method,
                "n_items": len(pixels),
                "votes": given["budget"],
                "slice": number,
                "kl": judged.kl,
                "macro_f1": judged.macro_f1,
                "accuracy": judged.macro_accuracy,
                "ece": judged.ece,
            }
        )
    return rows


def difference_rows(frame: pd.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Compare the KL with improved labels to the KL without.

    Returns ``{"PLS, here": {budget: [median, mean, SEM over datasets]}}``.
    """
    means = frame.groupby(["budget", "dataset", "method"])["kl"].mean().unstack()
    difference = means["pls"] - means["baseline"]
    found = {}
    for budget, part in difference.groupby("budget"):
        values = part.to_numpy()
        error = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
        found[f"{float(str(budget)):g}"] = [float(np.median(values)), float(values.mean()), error]
    return {"PLS, here": found}
