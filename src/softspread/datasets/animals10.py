"""Animals-10: photographs of ten animals, in folders with Italian names."""

from pathlib import Path

import numpy as np

from softspread.datasets.dataset import Dataset, Source
from softspread.datasets.image_files import dataset_of_files, list_images
from softspread.datasets.local_files import find_file
from softspread.errors import StoreError

ITALIAN = {
    "cane": "dog",
    "cavallo": "horse",
    "elefante": "elephant",
    "farfalla": "butterfly",
    "gallina": "chicken",
    "gatto": "cat",
    "mucca": "cow",
    "pecora": "sheep",
    "ragno": "spider",
    "scoiattolo": "squirrel",
}
HELP = (
    "Download archive.zip from https://www.kaggle.com/datasets/alessiocorrado99/animals10 and unpack it here."
)


def load_animals10(folder: Path, features: str | None = None) -> Dataset:
    """Photographs of ten animals; the folders have Italian names."""
    home = find_file(folder, ("raw-img", "animals10/raw-img"), "Animals-10", HELP)
    missing = [name for name in ITALIAN if not (home / name).is_dir()]
    if missing:
        raise StoreError(f"{home} lacks the folders {', '.join(missing)}. {HELP}")
    paths = [path for name in ITALIAN for path in list_images(home / name)]
    columns = {name: column for column, name in enumerate(ITALIAN)}
    labels = np.array([columns[path.relative_to(home).parts[0]] for path in paths], dtype=np.int64)
    return dataset_of_files("animals10", folder, paths, labels, list(ITALIAN.values()), features)


SOURCE = Source(load_animals10, "26,179 photographs of animals, 10 classes", HELP)
