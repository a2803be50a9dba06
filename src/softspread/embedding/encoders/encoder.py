"""The interface of encoders, and the code that encoders of images share."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softspread.embedding.preparation import Pixels, Preparation, Resizer
from softspread.errors import InputError

MOST_AT_ONCE = 8  # batches encoded at the same time on a processor: each keeps its activations in memory


class Encoder(Protocol):
    """Prepared inputs to features."""

    @property
    def name(self) -> str:
        """As the user wrote it."""

    @property
    def takes(self) -> tuple[str, ...]:
        """The accepted input: "image", "text" or both, the usual one first; "features": nothing to do."""

    @property
    def fingerprint(self) -> str:
        """Changes when the features could."""

    @property
    def preparation(self) -> Preparation | None:
        """Of images."""

    @property
    def resize(self) -> Resizer | None:
        """A faster way to resize images than Pillow's, to the same pixels but for rounding."""

    def running(self, n_threads: int) -> AbstractContextManager[int]:
        """Prepare for a run on ``n_threads``; yields how many batches may be encoded at the same time."""

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        """(b, 3, height, width) bytes to (b, d)."""

    def encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        """Texts to (b, d)."""

    def facts(self) -> dict[str, Any]:
        """Facts to record: device, precision, versions."""


class EncoderFactory(Protocol):
    """The registered object: makes the encoder of a name."""

    def __call__(self, name: str, *, device: str, half: bool | None, download: bool) -> Encoder:
        """The encoder of ``name``, as the user wrote it: "pixels:28" comes whole.

        ``device``, ``half`` and ``download`` are the user's; an encoder without a model ignores them.
        """


class ImageEncoder:
    """Base of encoders of images alone: one batch at a time, Pillow resizes, no text."""

    name: str
    takes: tuple[str, ...] = ("image",)
    resize: Resizer | None = None

    def running(self, n_threads: int) -> AbstractContextManager[int]:
        """One batch at a time."""
        del n_threads
        return nullcontext(1)

    def encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        """Refuse text."""
        del texts
        raise InputError(f"encoder {self.name!r} takes images, got text; use 'sentence' or 'clip'.")

    def facts(self) -> dict[str, Any]:
        """Nothing worth recording but the name."""
        return {}
