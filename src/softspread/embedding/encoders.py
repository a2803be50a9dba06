"""From a name to an encoder: known models, any Hugging Face name or folder, an ONNX file, or plain pixels.

    "clip" | "openai/clip-vit-base-patch32" | folder | model.onnx | "pixels" | "pixels:28" | "none"  ->
    Encoder

Nothing is fetched unless ``download`` says so: a model that is not here is an error that tells how to get it.
"""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from softspread._common.digests import blocks, digest
from softspread.embedding.preparation import Pixels, Preparation, Resizer
from softspread.errors import InputError, MissingExtraError

KNOWN = {
    "clip": "openai/clip-vit-base-patch32",  # images and text, 512 features; the paper's
    "vit": "google/vit-base-patch32-224-in21k",  # images, 768 features
    "resnet": "microsoft/resnet-101",  # images, 2048 features
    "dinov2": "facebook/dinov2-base",  # images, 768 features
    "sentence": "sentence-transformers/all-MiniLM-L6-v2",  # text, 384 features
}
PIXELS_SIZE = 32  # small, as distances between pixels mean little in large images
WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
SMALL_FILES = ["*.json", "*.txt", "*.model"]
FINGERPRINTED = (".json", ".safetensors", ".bin", ".txt", ".model", ".onnx", ".onnx_data")
MOST_AT_ONCE = (
    8  # batches that are encoded at the same time on a processor: each holds its activations in memory
)
HUB_TIMEOUT = 10.0  # seconds to wait for the hub to answer


class Encoder(Protocol):
    """Prepared inputs to features."""

    @property
    def name(self) -> str:
        """As the user wrote it."""

    @property
    def takes(self) -> tuple[str, ...]:
        """What goes in: "image", "text" or both, the usual one first; "features": nothing to do."""

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
        """Prepare for a run on so many threads; yields how many batches may be encoded at the same time."""

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        """(b, 3, height, width) bytes to (b, d)."""

    def encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        """Texts to (b, d)."""

    def facts(self) -> dict[str, Any]:
        """What is worth recording: device, precision, versions."""


class PixelsEncoder:
    """The image itself, squeezed to a small square; a baseline that needs no model."""

    takes: tuple[str, ...] = ("image",)
    resize: Resizer | None = None

    def __init__(self, size: int = PIXELS_SIZE) -> None:
        self.name = f"pixels:{size}"
        self.fingerprint = self.name
        self.preparation: Preparation | None = Preparation(size, size)

    def running(self, n_threads: int) -> AbstractContextManager[int]:
        del n_threads
        return nullcontext(1)

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        return pixels.transpose(0, 2, 3, 1).reshape(len(pixels), -1).astype(np.float32) / np.float32(255)

    def encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        raise InputError("encoder 'pixels' takes images, got text; use 'sentence'.")

    def facts(self) -> dict[str, Any]:
        return {}


class NoEncoder(PixelsEncoder):
    """Marks features that exist already."""

    takes: tuple[str, ...] = ("features",)

    def __init__(self) -> None:
        self.name = self.fingerprint = "none"
        self.preparation = None


def find_encoder(
    name: str | Path, *, device: str = "auto", half: bool | None = None, download: bool = False
) -> Encoder:
    """The encoder of a name.

    Parameters
    ----------
    name : see the top of this module
    device : "auto" (CUDA, then MPS, then the CPU), or a name that torch knows
    half : half precision; None: on CUDA only, where it is safe. True elsewhere is refused
    download : whether a model that is not on this machine may be fetched
    """
    text = str(name)
    if text == "none":
        return NoEncoder()
    if text == "pixels" or text.startswith("pixels:"):
        return PixelsEncoder(_pixels_size(text))
    if text.endswith(".onnx"):
        from softspread.embedding.onnx import OnnxEncoder

        return OnnxEncoder(Path(name))
    folder = find_model(text, download)
    from softspread.embedding.transformer import TransformerEncoder

    return TransformerEncoder(text, folder, device=device, half=half)


def _pixels_size(text: str) -> int:
    digits = text.removeprefix("pixels").removeprefix(":") or str(PIXELS_SIZE)
    if not digits.isdecimal() or not 1 <= int(digits) <= 1024:
        raise InputError(
            f"encoder {text!r} is unknown; write 'pixels' or 'pixels:28' with a size from 1 to 1024."
        )
    return int(digits)


def find_model(name: str, download: bool) -> Path:
    """The folder of a model: given, in Hugging Face's cache, or fetched if ``download``."""
    folder = Path(name)
    if name not in KNOWN and folder.is_dir():
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder} has no config.json, so it is no folder of a Hugging Face model.")
        _check_weights(folder, name)
        return folder
    repository = KNOWN.get(name, name)
    if name not in KNOWN and (name.count("/") != 1 or name.startswith((".", "/", "~"))):
        raise InputError(
            f"encoder {name!r} is unknown: allowed are {', '.join(KNOWN)}, pixels, none, a Hugging Face name "
            "(owner/model), a folder with config.json, or a file that ends in .onnx."
        )
    return _from_hub(repository, download)


def _from_hub(repository: str, download: bool) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError as error:
        raise MissingExtraError(f"encoder {repository!r} needs pip install 'softspread[embed]'.") from error
    try:
        folder = Path(snapshot_download(repository, local_files_only=True))
        if not download:
            _check_weights(folder, repository)
            return folder
        if _has_weights(folder):
            return folder
    except LocalEntryNotFoundError as error:
        if not download:
            raise InputError(how_to_get(repository)) from error
    except HFValidationError as error:
        raise InputError(f"{repository!r} is no name of a Hugging Face model ({error}).") from error
    try:
        patterns = [*SMALL_FILES, "*.safetensors"]
        folder = Path(snapshot_download(repository, allow_patterns=patterns, etag_timeout=HUB_TIMEOUT))
        if not _has_weights(folder):  # an old repository without safetensors
            patterns = [*SMALL_FILES, "pytorch_model*.bin"]
            folder = Path(snapshot_download(repository, allow_patterns=patterns, etag_timeout=HUB_TIMEOUT))
    except Exception as error:
        raise InputError(
            f"could not download {repository!r}: {str(error).splitlines()[0]}. {how_to_get(repository)}"
        ) from error
    _check_weights(folder, repository)
    return folder


def _has_weights(folder: Path) -> bool:
    return any((folder / name).is_file() for name in WEIGHTS)


def _check_weights(folder: Path, name: str) -> None:
    if not _has_weights(folder):
        raise InputError(
            f"{folder} has no weights ({WEIGHTS[0]} or {WEIGHTS[2]}). {how_to_get(KNOWN.get(name, name))}"
        )


def how_to_get(repository: str) -> str:
    """Which model to fetch, how, and where to put it."""
    return (
        f"The model {repository!r} is not on this machine. With a network: add --download (download=True), "
        "or run "
        f"'hf download {repository}' (older: 'huggingface-cli download {repository}'). Without: do that "
        "elsewhere with "
        "'--local-dir FOLDER', copy FOLDER here and give it as the encoder; or copy the cache and set "
        "HF_HOME to it. "
        "Encoder 'pixels' needs no model."
    )


def fingerprint_files(folder: Path, names: list[str] | None = None) -> str:
    """A digest of all files that decide what a model computes."""
    if names is not None:
        paths = [folder / name for name in names]
    else:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in FINGERPRINTED and path.is_file())
        has_safe = any(path.suffix == ".safetensors" for path in paths)
        paths = [
            path for path in paths if not (has_safe and path.suffix == ".bin") and ".cache" not in path.parts
        ]
    return digest(part for path in paths for part in _about_and_content(path, folder)).hex()


def _about_and_content(path: Path, folder: Path) -> Iterator[str | bytes]:
    yield json.dumps([path.relative_to(folder).as_posix(), path.stat().st_size])
    yield from blocks(path)
