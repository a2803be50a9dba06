"""A function of the user's as encoder: batches of texts or of pixels to features.

fn(["loved it", ...])  or  fn(uint8 (b, 3, height, width))  ->  (b, d)
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softspread._common.types import AnyArray
from softspread.embedding.encoders.encoder import ImageEncoder
from softspread.embedding.preparation import Pixels, Preparation
from softspread.errors import InputError

SIDE = 224  # pixels: what most models of images take

Encode = Callable[[Any], AnyArray]


class FunctionEncoder(ImageEncoder):
    """A function that encodes one batch; images are squeezed to one size."""

    takes = ("text", "image")
    preparation = Preparation(SIDE, SIDE)

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self.name = getattr(encode, "__qualname__", type(encode).__name__)

    @property
    def fingerprint(self) -> str:
        """Name and code of the function. What it refers to may change unseen, so nothing is cached by it."""
        code = getattr(self._encode, "__code__", None)
        return hashlib.sha256(self.name.encode() + (code.co_code if code else b"")).hexdigest()[:16]

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        """Features of a batch of images."""
        return self._checked(self._encode(pixels), len(pixels))

    def encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        """Features of a batch of texts."""
        return self._checked(self._encode(texts), len(texts))

    def _checked(self, features: Any, n: int) -> NDArray[np.float32]:
        made = np.asarray(features)
        if made.ndim != 2 or len(made) != n or made.dtype.kind not in "fiub":
            raise InputError(
                f"the encoder {self.name} must turn {n} items into ({n}, d) numbers, got {made.shape} of "
                f"{made.dtype}; it is called with a list of texts or with pixels (b, 3, {SIDE}, {SIDE})."
            )
        return made.astype(np.float32)
