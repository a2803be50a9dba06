"""Miniature datasets in the DCIC benchmark's format, made of the digits: no download needed."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from softspread import report
from softspread._common.extras import needs_extra
from softspread.datasets.dataset import Dataset
from softspread.datasets.dcic import N_FOLDS, RAW
from softspread.errors import InputError
from softspread.simulate import draw_columns

MINIATURES: dict[str, tuple[str, ...]] = {  # what the ten digits are called
    "mini_digits": tuple("0123456789"),
    "mini_parity": ("even", "odd") * 5,
    "mini_size": ("small",) * 5 + ("large",) * 5,
}


@dataclass(frozen=True, slots=True)
class MiniatureSize:
    """How large a miniature is: large enough for a small network, small enough for seconds."""

    items: int = 600
    annotations: int = 20  # per image


def write_miniature(
    root: Path, name: str, data: Dataset, seed: int = 0, size: MiniatureSize | None = None
) -> Path:
    """Write a dataset in the benchmark's format from the digits, with simulated annotations."""
    with needs_extra("images", "images need Pillow"):
        from PIL import Image
    size = MiniatureSize() if size is None else size
    if name not in MINIATURES:
        raise InputError(f"miniature must be one of {', '.join(MINIATURES)}, got {name!r}.")
    rng = np.random.default_rng([seed, len(name)])
    chosen = rng.permutation(data.n_items)[: size.items]
    if data.p_true is None or data.images is None:
        raise InputError("the digits came without images.")
    home = root / RAW / name
    entries = []
    for place, row in enumerate(chosen):
        folder = home / f"fold{place % N_FOLDS + 1}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"digit{row:04d}.png"
        Image.fromarray(data.images[row]).save(path)
        drawn = draw_columns(data.p_true, np.full(size.annotations, row), rng.random(size.annotations))
        entries += [
            {
                "image_path": path.relative_to(root / RAW).as_posix(),
                "class_label": MINIATURES[name][int(digit)],
                "created_at": "2024-01-01T00:00:00",
            }
            for digit in drawn
        ]
    annotation_set = {
        "name": "INVALID",
        "user_mail": "INVALID",
        "annotation_time": 0,
        "dataset_name": name,
        "annotations": entries,
    }
    report.write_text(home / "annotations.json", json.dumps([annotation_set]))
    return home
