"""Files of a local copy."""

import numpy as np
import pytest

from datasets_on_disk import write_image
from softspread.datasets.cifar10h import load_cifar10h
from softspread.datasets.local_files import read_images
from softspread.errors import StoreError


def test_without_a_name_the_features_of_fewest_dimensions_are_taken(tmp_path, rng):
    """Reduced features before raw ones, and the first by name of equals."""
    np.save(tmp_path / "cifar10h-counts.npy", np.ones((4, 10)))
    for name, d in (("raw", 30), ("b_umap", 2), ("a_umap", 2)):
        np.save(tmp_path / f"features_{name}.npy", rng.normal(size=(4, d)))
    assert load_cifar10h(tmp_path).features == "a_umap"
    np.save(tmp_path / "features_clip_umap20.npy", rng.normal(size=(4, 20)))
    assert load_cifar10h(tmp_path).features == "clip_umap20"  # the paper's, where they are there


def test_arrays_that_do_not_fit_are_refused(tmp_path, rng):
    """Features of another dataset, and a file that is none."""
    np.save(tmp_path / "cifar10h-counts.npy", np.ones((4, 10)))
    np.save(tmp_path / "features_toy.npy", rng.normal(size=(5, 2)))
    with pytest.raises(StoreError, match="do not belong together"):
        load_cifar10h(tmp_path)
    (tmp_path / "cifar10h-counts.npy").write_bytes(b"nonsense")
    with pytest.raises(StoreError, match=r"damaged or no \.npy file.*make it again"):
        load_cifar10h(tmp_path)


def test_images_are_squeezed_to_squares(tmp_path):
    """Any shape becomes side x side x 3 bytes; what is not an image is refused."""
    write_image(tmp_path / "a.png", 7, (9, 4))
    found = read_images([tmp_path / "a.png"], 3)
    assert found.shape == (1, 3, 3, 3)
    assert (found == 7).all()
    write_image(tmp_path / "b.png", 9, (4, 4))
    part = read_images([tmp_path / "b.png"], 3, np.array([[1, 1, 3, 3]]))
    assert (part == 9).all()
    (tmp_path / "b.png").write_text("no image")
    with pytest.raises(StoreError, match="not a readable image"):
        read_images([tmp_path / "b.png"], 3)
