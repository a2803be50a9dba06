"""The requirements on an encoder."""

import json

import numpy as np

from softspread._common.types import AnyArray
from softspread.embedding.encoders.encoder import Encoder, EncoderFactory
from softspread.embedding.encoders.registry import find_encoder
from softspread.testing.claims import require, require_close

KINDS = {"image", "text", "features"}
TEXTS = ["a cat", "two dogs in the rain", "nothing at all", "a cat"]


def check_encoder(encoder: str | EncoderFactory, *, tolerance: float = 1e-4) -> None:
    """Check that an encoder keeps its promises.

    They are those of :class:`~softspread.embedding.encoders.encoder.Encoder`.

    It names itself, says what it takes, has a fingerprint that does not change by itself and facts that JSON
    can hold; features are finite, in single precision, one row per input, and those of one input do not
    depend on the others in its batch.

    Parameters
    ----------
    encoder : str or callable
        A registered name, or what would be registered: ``make(name, *, device, half, download)``.
    tolerance : float, default 1e-4
        How far the features of an input alone may be from those in a batch.

    Raises
    ------
    AssertionError
        Naming the first promise that is broken.

    Examples
    --------
    >>> from softspread.testing import check_encoder
    >>> check_encoder("pixels:8")
    """
    first, again = _made(encoder), _made(encoder)
    for name, value in (("name", first.name), ("fingerprint", first.fingerprint)):
        require(isinstance(value, str) and value, f"an encoder has a {name}, got {value!r}")
    require(first.fingerprint == again.fingerprint, "the same encoder has the same fingerprint")
    require(
        len(first.takes) > 0 and set(first.takes) <= KINDS,
        f"takes names some of {sorted(KINDS)}, got {first.takes!r}",
    )
    require(json.loads(json.dumps(first.facts())) == first.facts(), "facts are what JSON can hold")
    with first.running(2) as at_once:
        require(isinstance(at_once, int) and at_once >= 1, "running yields how many batches may run at once")
        if "image" in first.takes:
            _check_images(first, tolerance)
        if "text" in first.takes:
            whole = first.encode_texts(TEXTS)
            parts = [first.encode_texts([text]) for text in TEXTS]
            _check_features(whole, parts, len(TEXTS), tolerance, "texts")


def _made(encoder: str | EncoderFactory) -> Encoder:
    if isinstance(encoder, str):
        return find_encoder(encoder)
    return encoder(getattr(encoder, "__name__", "encoder"), device="auto", half=None, download=False)


def _check_images(encoder: Encoder, tolerance: float) -> None:
    preparation = encoder.preparation
    require(preparation is not None, "an encoder of images says how they are prepared")
    if preparation is None:
        return
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, size=(4, 3, preparation.height, preparation.width), dtype=np.uint8)
    kept = pixels.copy()
    parts = [encoder.encode_images(pixels[row : row + 1]) for row in range(len(pixels))]
    _check_features(encoder.encode_images(pixels), parts, len(pixels), tolerance, "images")
    require(np.array_equal(pixels, kept), "images stay as they are")


def _check_features(whole: AnyArray, parts: list[AnyArray], n: int, tolerance: float, what: str) -> None:
    require(
        whole.ndim == 2 and len(whole) == n, f"{n} {what} give {n} rows of features, got shape {whole.shape}"
    )
    require(whole.dtype == np.float32, f"features of {what} are in single precision, got {whole.dtype}")
    require(np.isfinite(whole).all(), f"features of {what} are finite")
    scale = max(1.0, float(np.abs(whole).max()))
    require_close(np.concatenate(parts), whole, tolerance * scale, f"{what} alone have the same features")
