"""Traffic signs cut out of street photographs: Mapillary's public dataset, a stand-in for the paper's MTSD.

    images/<key>.jpg, annotations/<key>.json: objects with a label and a box, splits/train.txt: keys

The paper's labels are shapes of signs from a proprietary crowd; nobody else has them. Here the class of a
sign is the group in Mapillary's own label (``regulatory--yield--g1`` is regulatory), or, where ``shapes.csv``
(columns label, shape) lies in the folder, the shape that it gives to the label.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.local_files import find_file, read_features
from softspread.errors import InputError, StoreError
from softspread.io.tables import read_table

SMALLEST_SIDE = 8  # pixels; smaller signs show nothing
ENDINGS = (".jpg", ".jpeg", ".png")
STAND_IN = "public Mapillary labels, not the paper's proprietary shapes"
HELP = (
    "Download the training images and the annotations of the Mapillary Traffic Sign Dataset from "
    "https://www.mapillary.com/dataset/trafficsign and unpack them here: images/, annotations/, splits/."
)


def load_mtsd(folder: Path, features: str | None = None) -> Dataset:
    """Signs of the training photographs, one item per box."""
    home = find_file(
        folder, ("annotations", "mtsd_v2_fully_annotated/annotations"), "annotations", HELP
    ).parent
    shapes = _shapes(folder / "shapes.csv")
    paths, boxes, labels = [], [], []
    for key in _keys(home):
        objects = _objects(home / "annotations" / f"{key}.json")
        signs = [(box, name) for box, label in objects if (name := _class_of(label, shapes)) is not None]
        if not signs:
            continue
        image = find_file(home / "images", [key + ending for ending in ENDINGS], "image", HELP)
        for box, name in signs:
            paths.append(str(image))
            boxes.append(box)
            labels.append(name)
    if not paths:
        raise StoreError(f"{home} holds no sign of at least {SMALLEST_SIDE} pixels. {HELP}")
    classes, columns = np.unique(np.array(labels), return_inverse=True)
    X, name = read_features(folder, features, len(paths))
    return Dataset(
        "mtsd",
        classes,
        X,
        labels=columns.astype(np.int64),
        paths=np.array(paths),
        boxes=np.array(boxes, dtype=np.int64),
        features=name,
        stand_in=STAND_IN,
    )


def _keys(home: Path) -> list[str]:
    """Names of the training photographs; all annotated ones where there is no list."""
    listing = home / "splits" / "train.txt"
    if listing.is_file():
        return sorted(listing.read_text(encoding="utf-8").split())
    return sorted(path.stem for path in (home / "annotations").glob("*.json"))


def _objects(path: Path) -> list[tuple[list[int], str]]:
    """Box and label of each sign that is large enough and lies within the photograph."""
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
        found = []
        for entry in document["objects"]:
            corners = entry["bbox"]
            box = [round(float(corners[name])) for name in ("xmin", "ymin", "xmax", "ymax")]
            if min(box[2] - box[0], box[3] - box[1]) >= SMALLEST_SIDE and min(box) >= 0:
                found.append((box, str(entry["label"])))
        return found
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path} is not an annotation as Mapillary writes it ({error!r}). {HELP}") from error


def _shapes(path: Path) -> dict[str, str] | None:
    if not path.is_file():
        return None
    table = read_table(path, "shapes of signs")
    if "label" not in table.columns or "shape" not in table.columns:
        raise InputError(f"{path} needs the columns label and shape, it has {table.listed()}.")
    return dict(zip(map(str, table.complete("label")), map(str, table.complete("shape")), strict=True))


def _class_of(label: str, shapes: dict[str, str] | None) -> str | None:
    """The shape of a label, or its group; None leaves the sign out."""
    return label.partition("--")[0] if shapes is None else shapes.get(label)


SOURCE = Source(load_mtsd, "traffic signs, Mapillary's public classes", HELP, "mtsd")
