"""Small datasets in the formats in which the real ones are distributed."""

import gzip

import numpy as np
import pytest


def write_batch(path, labels, rng):
    """Records of one label and three planes of bytes, as the binary version has them."""
    images = rng.integers(256, size=(len(labels), 32, 32, 3), dtype=np.uint8)
    planes = images.transpose(0, 3, 1, 2).reshape(len(labels), -1)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.concatenate([np.asarray(labels, dtype=np.uint8)[:, None], planes], axis=1).tofile(path)
    return images


def write_idx(path, array):
    """Magic number, big-endian sizes, bytes; packed if the name ends so."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    raw = head + array.astype(np.uint8).tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


def write_image(path, value=0, size=(6, 5)):
    Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((*size, 3), value, dtype=np.uint8)).save(path)
