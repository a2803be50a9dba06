"""ONNX models of images by onnxruntime, without torch.

    pixels -> (b, 3, height, width) or (b, height, width, 3) -> graph -> features (b, d)

Preparation comes from ``preprocessor_config.json`` beside the file or one folder up (as exporters put it);
without it the size is the graph's and mean and std are ImageNet's.
"""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softspread._common.extras import needs_extra
from softspread._common.threads import count_threads
from softspread._common.types import AnyArray
from softspread._common.versions import version_of
from softspread.embedding.encoders.encoder import MOST_AT_ONCE, ImageEncoder
from softspread.embedding.encoders.model_files import fingerprint_files
from softspread.embedding.preparation import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    Pixels,
    Preparation,
    read_preparation,
)
from softspread.errors import InputError

DEFAULT_SIZE = 224  # of a graph that leaves height and width open
USUAL_OUTPUTS = (
    "image_embeds",
    "embeddings",
    "features",
    "pooler_output",
)  # preferred where there are several
_TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(uint8)": np.uint8}


def onnx_encoder(name: str, **unused: Any) -> "OnnxEncoder":
    """The encoder of a file that ends in .onnx."""
    del unused
    return OnnxEncoder(Path(name))


class OnnxEncoder(ImageEncoder):
    """One graph, loaded."""

    def __init__(self, path: Path) -> None:
        self.name, self.path = str(path), path
        self._at_once = min(count_threads(None), MOST_AT_ONCE)
        self._session = _open_session(path, max(1, count_threads(None) // self._at_once))
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4:
            shapes = {entry.name: entry.shape for entry in inputs}
            raise InputError(f"{path} must take one batch of images (4 dimensions), it takes {shapes}.")
        self._input = inputs[0]
        if self._input.type not in _TYPES:
            raise InputError(f"{path} takes {self._input.type}; allowed are {', '.join(_TYPES)}.")
        self._channels_last = self._input.shape[3] == 3 and self._input.shape[1] != 3
        fixed = self._input.shape[0]
        self._fixed_batch = fixed if isinstance(fixed, int) and fixed > 0 else None
        self._output = _choose_output(self._session.get_outputs())
        self.preparation: Preparation = self._read_preparation()
        self.fingerprint = fingerprint_files(
            path.parent, [path.name, *sorted(file.name for file in path.parent.glob(path.name + "*data"))]
        )

    def running(self, n_threads: int) -> AbstractContextManager[int]:
        del n_threads  # decided when the graph was loaded
        return nullcontext(self._at_once)

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        if self._fixed_batch is None:
            return self._run(pixels)
        size = self._fixed_batch
        parts = []
        for start in range(0, len(pixels), size):
            part = pixels[start : start + size]
            padded = np.concatenate([part, np.repeat(part[-1:], size - len(part), axis=0)])
            parts.append(self._run(padded)[: len(part)])
        return np.concatenate(parts)

    def facts(self) -> dict[str, Any]:
        return {
            "onnxruntime": version_of("onnxruntime"),
            "output": self._output,
            "providers": self._session.get_providers(),
        }

    def _run(self, pixels: Pixels) -> NDArray[np.float32]:
        kind = _TYPES[self._input.type]
        values: AnyArray = pixels if kind == np.uint8 else self.preparation.normalize(pixels)
        if self._channels_last:
            values = values.transpose(0, 2, 3, 1)
        feed = {self._input.name: np.ascontiguousarray(values, dtype=kind)}
        found = np.asarray(self._session.run([self._output], feed)[0], dtype=np.float32)
        if found.ndim == 4:
            return np.asarray(found.mean(axis=(2, 3)))
        if found.ndim == 3:
            return np.asarray(found.mean(axis=1))
        if found.ndim != 2 or len(found) != len(pixels):
            raise InputError(
                f"output {self._output!r} of {self.path} has shape {found.shape}, expected (batch, features)."
            )
        return found

    def _read_preparation(self) -> Preparation:
        shape = self._input.shape
        height, width = (shape[1], shape[2]) if self._channels_last else (shape[2], shape[3])
        height, width = (side if isinstance(side, int) and side > 0 else None for side in (height, width))
        fallback = Preparation(
            height or DEFAULT_SIZE, width or DEFAULT_SIZE, max(height or DEFAULT_SIZE, width or DEFAULT_SIZE),
            mean=IMAGENET_MEAN, std=IMAGENET_STD,
        )  # fmt: skip
        for folder in (self.path.parent, self.path.parent.parent):
            if (folder / "preprocessor_config.json").is_file():
                found = read_preparation(folder)
                if (height or found.height, width or found.width) != (found.height, found.width):
                    raise InputError(
                        f"{self.path} takes images of {height} x {width}, but preprocessor_config.json makes "
                        f"{found.height} x {found.width}; make them agree."
                    )
                return found
        return fallback


def _open_session(path: Path, n_threads: int) -> Any:
    if not path.is_file():
        raise InputError(f"there is no ONNX model at {path}.")
    with needs_extra("onnx", "ONNX models need onnxruntime"):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = (
        n_threads  # batches side by side rather than threads that wait for each other
    )
    options.log_severity_level = 3  # errors only; they arrive as exceptions too
    try:
        return onnxruntime.InferenceSession(
            str(path), options, providers=onnxruntime.get_available_providers()
        )
    except Exception as error:  # onnxruntime's own kinds of exceptions share no other base
        raise InputError(
            f"cannot load {path} as an ONNX model: {str(error).strip().splitlines()[0]}"
        ) from error


def _choose_output(outputs: Any) -> str:
    names = [entry.name for entry in outputs]
    usual = [name for name in USUAL_OUTPUTS if name in names]
    flat = [entry.name for entry in outputs if len(entry.shape or ()) == 2]
    return str((usual or flat or names)[0])
