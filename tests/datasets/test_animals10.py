"""Animals-10."""

import pytest

from datasets_on_disk import write_image
from softspread.datasets.animals10 import ITALIAN, load_animals10
from softspread.errors import StoreError


def test_animals_get_english_names(tmp_path):
    """The ten Italian folders, however the files in them are called."""
    for number, name in enumerate(ITALIAN):
        write_image(tmp_path / "raw-img" / name / f"{number}.jpeg")
    write_image(tmp_path / "raw-img" / "gatto" / "more.png")
    data = load_animals10(tmp_path)
    assert data.n_items == 11
    names = data.classes[data.labels]
    assert all(ITALIAN[path.split("/")[-2]] == name for path, name in zip(data.paths, names, strict=True))
    for path in (tmp_path / "raw-img" / "gatto").iterdir():
        path.unlink()
    (tmp_path / "raw-img" / "gatto").rmdir()
    with pytest.raises(StoreError, match="gatto"):
        load_animals10(tmp_path)
