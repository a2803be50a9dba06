"""The Data-Centric Image Classification benchmark: our method as one of its algorithms, and its evaluation.

    raw annotations  ->  input dataset: few annotations  ->  soft labels by spreading  ->  output dataset
      ->  a classifier trained on it  ->  KL, macro F1, macro accuracy, ECE on the test fold

Two phases as in the benchmark: an algorithm improves the labels of train, val and unlabeled images; then a
classifier is trained and judged on test images against their complete soft labels. Files are in
:mod:`softspread.reproduce.dcic.files`, scores and report in :mod:`softspread.reproduce.dcic.scores`.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.datasets.dataset import Dataset, LackingError
from softspread.datasets.dcic import HELP, NAMES, RAW, RawDataset, features_folder, names_below, read_raw
from softspread.datasets.digits import digits
from softspread.datasets.local_files import read_features, read_images
from softspread.errors import InputError, MissingExtraError
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.reproduce.dcic.files import image_entry, input_dataset
from softspread.reproduce.dcic.miniatures import MiniatureSize, write_miniature
from softspread.reproduce.dcic.scores import MINIATURE, Scores, evaluate
from softspread.reproduce.methods.network import SmallNetwork
from softspread.reproduce.plan import Trial
from softspread.votes.votes import Votes

ALPHAS = {0.1: 0.9, 1.0: 0.75, 10.0: 0.1}  # the paper's, by annotations per image that is not a test image
BUDGETS = {0.1: (0.1, 1), 1.0: (1.0, 1), 10.0: (1.0, 10)}  # share of the images, annotations each
# A budget this close to one of the paper's, relatively, has its alpha: images come in whole numbers
NEAR = 0.02
SIDE = 16  # pixels that images are squeezed to for the small network
DIMENSION = 20  # of the features that the graph is built on
SMALL, AUTO = "small", "auto"
NOT_HERE = f"the datasets of the DCIC benchmark are not in the data folder. {HELP}"


# ------------------------------------------------------------------------------------------------- the method
@dataclass(frozen=True, slots=True)
class SpreadSettings:
    """How annotations are spread; ``authors()`` is what the paper's authors ran."""

    alpha: float | str = "paper"  # by the budget; "auto": by held-out votes
    n_neighbors: int = 20
    bandwidth: str = "kth"
    prior_strength: float = 1e-4

    @classmethod
    def authors(cls, alpha: float | str = "paper") -> "SpreadSettings":
        """Their graph counts an item among its 20 neighbours and averages its width over all of them."""
        return cls(alpha, 19, "mean", 1e-10)

    def alpha_for(self, budget: float) -> float | str:
        """The paper's alpha for this many annotations per image; "auto" where it has none."""
        if self.alpha != "paper":
            return self.alpha
        near = [value for known, value in ALPHAS.items() if abs(budget - known) <= NEAR * known]
        return near[0] if near else "auto"


def improve_labels(
    dataset: dict[str, Any], X: FloatArray, settings: SpreadSettings | None = None
) -> dict[str, Any]:
    """Spread the annotations of an input dataset to all its images: our algorithm.

    Parameters
    ----------
    dataset : as read from JSON; it is not changed
    X : (n_images, d) features in the order of ``dataset["images"]``

    Returns
    -------
    output : the same with a soft label for every image, each in its original split; labels of test images
        are predictions, as in the authors' files, and are never read from the input
    """
    how = SpreadSettings() if settings is None else settings
    images, classes = dataset["images"], tuple(dataset["classes"])
    if len(X) != len(images):
        raise InputError(f"{len(X)} rows of features for {len(images)} images; they must agree.")
    votes = counts_of(dataset)
    n_open = sum(image["split"] != "test" for image in images)
    estimator = ProbabilisticLabelSpreading(
        alpha=how.alpha_for(float(votes.sum()) / max(1, n_open)),
        n_neighbors=min(how.n_neighbors, len(images) - 1),
        bandwidth=how.bandwidth,
        prior_strength=how.prior_strength,
        annotator_model="none",
        n_jobs=1,
    )
    names = list(classes)
    p = estimator.fit(X, Votes.from_counts(votes, classes=names), classes=names).predict_proba()
    improved = []
    for row, image in enumerate(images):
        info = image.get("info") or {}
        split = str(info.get("original_split", image["split"]))
        split = "train" if split == "unlabeled" else split
        improved.append(image_entry(image["path"], split, classes, p[row], {**info, "original_split": split}))
    return {**dataset, "images": improved}


def counts_of(dataset: dict[str, Any]) -> FloatArray:
    """Annotations per image and class, from the shares and the budget; none of test images."""
    images = dataset["images"]
    rows = [row for row, one in enumerate(images) if one["split"] in ("train", "val") and one["soft_gt"]]
    if not rows:
        raise InputError(
            "no train or val image of the input has annotations; draw them with --share and --annotations."
        )
    each = float(dataset["budget"]) / len(rows)
    if each <= 0:
        raise InputError(
            f"the budget of the input is {dataset['budget']}, but {len(rows)} images have labels."
        )
    counts = np.zeros((len(images), len(dataset["classes"])))
    counts[rows] = each * np.array([images[row]["soft_gt"] for row in rows])
    whole = np.round(counts)
    return whole if np.allclose(counts, whole, atol=1e-6) else counts


def features_of(
    root: Path, name: str, raw: RawDataset, features: str | None = None
) -> tuple[FloatArray, str]:
    """Features of a dataset's images in the order of ``raw``, and their name.

    Those that ``reproduce prepare`` made, else principal components of small pixels.
    """
    X, found = read_features(features_folder(root, name), features, len(raw.paths))
    if X is not None:
        return X, found
    return pixel_features(read_images([root / RAW / path for path in raw.paths], SIDE)), "pixels_pca20"


def pixel_features(pixels: AnyArray) -> FloatArray:
    """Principal components of the pixels, (n, 20): features that need no model."""
    from sklearn.decomposition import PCA

    flat = pixels.reshape(len(pixels), -1) / 255
    return np.asarray(
        PCA(min(DIMENSION, *flat.shape), svd_solver="full").fit_transform(flat), dtype=np.float64
    )


# --------------------------------------------------------------------------------------------- the evaluation
@dataclass(frozen=True, slots=True)
class Evaluation:
    """How the benchmark trains its classifier, all datasets alike."""

    model: str = "microsoft/resnet-50"  # ImageNet-1k's; the benchmark has Keras's ResNet50V2
    epochs: int = 60
    batch_size: int = 32
    learning_rate: float = 1e-4
    side: int = 224  # pixels; the benchmark enlarges smaller images, too


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """A dataset of the benchmark in memory: trials share it."""

    raw: RawDataset
    pixels: AnyArray  # (n_images, side, side, 3) bytes, for the small network
    X: FloatArray  # (n_images, d) features
    features: str  # where they come from
    paths: tuple[Path, ...] = ()  # full-size images; empty for miniatures


def find_classifier(name: str, opened: Opened) -> str:
    """The classifier to train: "auto" takes the benchmark's where weights and full-size images are there."""
    if name != AUTO:
        return name
    from softspread.embedding.encoders.model_files import find_model

    if not opened.paths:
        return SMALL
    try:
        find_model(Evaluation().model, download=False)
    except (InputError, MissingExtraError):
        return SMALL
    return Evaluation().model


def train_and_judge(
    dataset: dict[str, Any],
    opened: Opened,
    seed: int,
    classifier: str = SMALL,
    how: Evaluation | None = None,
) -> Scores:
    """Train a classifier on the train images of an output dataset, and judge it on the test images.

    ``classifier`` is "small", a network on a CPU, or the name or folder of a transformers image classifier,
    which sees full-size, augmented images and weighs classes by how rare they are.
    """
    images, truth = dataset["images"], opened.raw.soft
    rows = [row for row, image in enumerate(images) if image["split"] == "train" and image["soft_gt"]]
    test = np.array([row for row, image in enumerate(images) if image["split"] == "test"])
    soft, train = np.array([images[row]["soft_gt"] for row in rows]), np.array(rows)
    if classifier == SMALL:
        flat = opened.pixels.reshape(len(opened.pixels), -1) / 255
        network = SmallNetwork(seed=seed).fit(flat[train], soft)
        return evaluate(truth[test], network.predict_proba(flat[test]))
    from softspread.datasets.finetune import (
        TrainSettings,
        predict_classes,
        train_classifier,
        transformers_model,
    )
    from softspread.embedding.encoders.transformer import choose_device

    if not opened.paths:
        raise InputError("a transformers classifier needs full-size images; miniatures have none.")
    how = Evaluation() if how is None else how
    device = choose_device("auto")
    settings = TrainSettings(how.epochs, how.batch_size, how.learning_rate, how.side, device, seed)
    weighted = replace(settings, augment=True, class_weights=class_weights(truth))
    paths = np.array([str(path) for path in opened.paths])
    trained = train_classifier(transformers_model(classifier), paths, train, soft, weighted)
    return evaluate(truth[test], predict_classes(trained, paths, test, settings))


def class_weights(truth: FloatArray) -> tuple[float, ...]:
    """Images / (classes * images of the class), by the most frequent annotation; 1 for an empty class.

    Examples
    --------
    >>> class_weights(np.eye(2)[[0, 0, 0, 1]])
    (0.6666666666666666, 2.0)
    """
    sizes = np.bincount(truth.argmax(axis=1), minlength=truth.shape[1])
    return tuple(float(len(truth) / (len(sizes) * n)) if n else 1.0 for n in sizes)


# ----------------------------------------------------------------------------------------------------- trials
def reason_against(name: str, data: Path | None) -> str:
    """Why a dataset takes no part; empty where it does: real ones that are there, else the miniatures."""
    there = names_below(data / "dcic") if data is not None else []
    real = set(there) & set(NAMES)
    if name.startswith(MINIATURE):
        return "miniatures are left out where real datasets of the DCIC benchmark are there." if real else ""
    if name in there:
        return ""
    return f"{name} is not in {data}/dcic/{RAW}. {HELP}" if real else NOT_HERE


def open_dataset(trial: Trial, data: Path | None, load_digits: Callable[[], Dataset] = digits) -> Opened:
    """Read the dataset that a trial asks for; miniatures are written to a temporary folder and read back."""
    name, side = str(trial.dataset["name"]), int(trial.options.get("side", SIDE))
    if name.startswith(MINIATURE):
        with tempfile.TemporaryDirectory() as folder:
            size = MiniatureSize(**trial.options.get("size", {}))
            write_miniature(Path(folder), name, load_digits(), trial.seed, size)
            return _open(Path(folder), name, side, keep_paths=False)
    if data is None or not (data / "dcic").is_dir():
        raise LackingError(NOT_HERE)
    return _open(data / "dcic", name, side, keep_paths=True)


def _open(root: Path, name: str, side: int, keep_paths: bool) -> Opened:
    raw = read_raw(root, name)
    paths = tuple(root / RAW / path for path in raw.paths)
    X, found = features_of(root, name, raw)
    return Opened(raw, read_images(paths, side), X, found, paths if keep_paths else ())


def run_trial(trial: Trial, opened: Opened) -> list[dict[str, Any]]:
    """Run one dataset, budget and slice: the annotated images alone, then with improved labels."""
    budget, number = float(trial.budget or 1.0), int(trial.options["slice"])
    if budget not in BUDGETS:
        raise InputError(f"budget must be one of {', '.join(map(str, BUDGETS))}, got {budget}.")
    given = input_dataset(opened.raw, number, *BUDGETS[budget], draw=trial.draw)
    authors = bool(trial.options.get("authors", True))
    settings = SpreadSettings.authors(ALPHAS[budget]) if authors else SpreadSettings(ALPHAS[budget])
    improved = improve_labels(given, opened.X, settings)
    classifier = find_classifier(str(trial.options.get("classifier", SMALL)), opened)
    rows = []
    for method, dataset in (("baseline", given), ("pls", improved)):
        judged = train_and_judge(dataset, opened, trial.seed, classifier)
        rows.append(
            {
                "method": method,
                "n_items": len(opened.pixels),
                "features": opened.features,
                "votes": given["budget"],
                "slice": number,
                "classifier": classifier,
                "kl": judged.kl,
                "macro_f1": judged.macro_f1,
                "accuracy": judged.macro_accuracy,
                "ece": judged.ece,
            }
        )
    return rows
