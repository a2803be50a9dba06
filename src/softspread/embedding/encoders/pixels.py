"""The encoders that need no model: the image's own pixels, and features that exist already."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from softspread.embedding.encoders.encoder import ImageEncoder
from softspread.embedding.preparation import Pixels, Preparation
from softspread.errors import InputError

PIXELS_SIZE = 32  # small, as distances between pixels mean little in large images
LARGEST_SIZE = 1024  # of a side: three million numbers per image


class PixelsEncoder(ImageEncoder):
    """The image itself, squeezed to a small square; a baseline."""

    def __init__(self, size: int = PIXELS_SIZE) -> None:
        self.name = self.fingerprint = f"pixels:{size}"
        self.preparation: Preparation | None = Preparation(size, size)

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        """Channels last, 0 to 1, flat."""
        return pixels.transpose(0, 2, 3, 1).reshape(len(pixels), -1).astype(np.float32) / np.float32(255)


class NoEncoder(PixelsEncoder):
    """Marks features that exist already."""

    takes: tuple[str, ...] = ("features",)

    def __init__(self) -> None:
        self.name = self.fingerprint = "none"
        self.preparation = None


def pixels_encoder(name: str, **unused: Any) -> PixelsEncoder:
    """The encoder of "pixels", or "pixels:28" for another size than 32."""
    del unused
    digits = name.removeprefix("pixels").removeprefix(":") or str(PIXELS_SIZE)
    if not digits.isdecimal() or not 1 <= int(digits) <= LARGEST_SIZE:
        raise InputError(
            f"encoder {name!r} is unknown; write 'pixels' or 'pixels:28', of size 1 to {LARGEST_SIZE}."
        )
    return PixelsEncoder(int(digits))


def no_encoder(name: str, **unused: Any) -> NoEncoder:
    """The encoder of "none"."""
    del name, unused
    return NoEncoder()
