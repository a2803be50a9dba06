"""The folder of a model on this machine, and a digest of its files.

    "clip" | "openai/clip-vit-base-patch32" | folder  ->  folder with config.json and weights

Nothing is fetched unless ``download`` says so: a model that is not here is an error that says how to get it.
"""

import json
from collections.abc import Iterator
from pathlib import Path

from softspread._common.digests import blocks, digest
from softspread._common.extras import needs_extra
from softspread.embedding.encoders.known_models import KNOWN
from softspread.errors import InputError

WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
SMALL_FILES = ["*.json", "*.txt", "*.model"]
FINGERPRINTED = (".json", ".safetensors", ".bin", ".txt", ".model", ".onnx", ".onnx_data")
HUB_TIMEOUT = 10.0  # seconds to wait for the hub to answer


def find_model(name: str, download: bool) -> Path:
    """The folder of a model: given, in Hugging Face's cache, or fetched if ``download``."""
    folder = Path(name)
    if name not in KNOWN and folder.is_dir():
        if not (folder / "config.json").is_file():
            raise InputError(f"{folder} has no config.json, so it is not the folder of a Hugging Face model.")
        _check_weights(folder, name)
        return folder
    return _from_hub(KNOWN.get(name, name), download)


def _from_hub(repository: str, download: bool) -> Path:
    with needs_extra("embed", f"encoder {repository!r} needs huggingface-hub"):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
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
        raise InputError(f"{repository!r} is not a name of a Hugging Face model ({error}).") from error
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
    """Instructions: which model to fetch, how, and where to put it."""
    return (
        f"The model {repository!r} is not on this machine. With a network: add --download (download=True), "
        f"or run 'hf download {repository}' (older: 'huggingface-cli download {repository}'). Without: do "
        "that elsewhere with '--local-dir FOLDER', copy FOLDER here and give it as the encoder; or copy the "
        "cache and set HF_HOME to it. Encoder 'pixels' needs no model."
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
