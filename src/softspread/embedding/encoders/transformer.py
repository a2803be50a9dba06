"""Hugging Face models by torch and transformers: CLIP, ViT, ResNet, DINOv2, sentence encoders.

    pixels -> model -> projected features (CLIP) | class token | mean over tokens or over the image
    text   -> model -> projected features (CLIP) | mean over tokens, at length 1 if the model says so

Always from a folder on this machine, in evaluation mode, without gradients.
"""

import json
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softspread._common.extras import needs_extra
from softspread._common.versions import version_of
from softspread.embedding.encoders.encoder import MOST_AT_ONCE
from softspread.embedding.encoders.model_files import find_model, fingerprint_files
from softspread.embedding.encoders.timm_vit import load_timm_vit, timm_preparation, timm_settings
from softspread.embedding.preparation import BICUBIC, Pixels, Preparation, read_preparation
from softspread.errors import InputError

UNUSED = (
    "pooler.",
    "position_ids",
    "classifier.",
    "mask_token",
)  # parts that our features do not pass through
ENDLESS = 100_000  # tokenizers without a limit report a huge one
DEFAULT_TOKENS = 512  # where neither model nor tokenizer names a limit
TOKENIZERS = (
    *(
        "tokenizer.json",
        "vocab.json",
        "vocab.txt",
        "spiece.model",
        "sentencepiece.bpe.model",
        "tokenizer.model",
    ),
)
SMALLEST_NORM = 1e-12  # of a vector that is divided by its length


def model_encoder(
    name: str, *, device: str = "auto", half: bool | None = None, download: bool = False
) -> "TransformerEncoder":
    """The encoder of a short name, a Hugging Face name or a folder."""
    return TransformerEncoder(name, find_model(name, download), device=device, half=half)


class TransformerEncoder:
    """One model, loaded."""

    def __init__(self, name: str, folder: Path, *, device: str = "auto", half: bool | None = None) -> None:
        torch = _import_torch()
        self.name, self.folder = name, folder
        self.device = choose_device(device)
        self.half = choose_precision(half, self.device)
        self._torch = torch
        timm = timm_settings(folder)
        self._model = _load_model(folder, name) if timm is None else load_timm_vit(folder, timm)
        self._model.eval().to(self.device)
        if self.half:
            self._model.half()
        self.takes = self._what_it_takes()
        self.preparation: Preparation | None = None
        if "image" in self.takes:
            self.preparation = read_preparation(folder) if timm is None else timm_preparation(timm)
        self.fingerprint = fingerprint_files(folder)
        self._has_class_token = any(
            part.endswith(("cls_token", "class_embedding")) for part, _ in self._model.named_parameters()
        )
        self._tokenizer: Any = None
        self._pooling, self._unit_length = _sentence_settings(folder)
        if self.preparation is not None:
            both = self.preparation.factor_and_shift()
            self._factor, self._shift = (torch.from_numpy(values).to(self.device) for values in both)
        self._own = (
            threading.local()
        )  # of each thread: a large array for batch after batch, as fresh memory is slow
        self._tokenizing = threading.Lock()

    @property
    def temperature(self) -> float | None:
        """CLIP's factor of cosines before the softmax; None for models without text beside images."""
        scale = getattr(self._model, "logit_scale", None)
        return None if scale is None else float(scale.detach().float().exp())

    def _what_it_takes(self) -> tuple[str, ...]:
        if hasattr(self._model, "get_image_features"):
            return ("image", "text")
        return ("image",) if self._model.main_input_name == "pixel_values" else ("text",)

    @contextmanager
    def running(self, n_threads: int) -> Iterator[int]:
        """On a processor: batches side by side, each on its own thread.

        Threads that share one batch wait for each other busily and take time from those that decode images.
        torch has one number of threads for the whole process: it is set for the run and put back after it.
        """
        if self.device != "cpu":
            yield 1
            return
        at_once = min(n_threads, MOST_AT_ONCE)
        before = self._torch.get_num_threads()
        self._torch.set_num_threads(max(1, n_threads // at_once))
        try:
            yield at_once
        finally:
            self._torch.set_num_threads(before)

    def resize(self, image: Pixels, height: int, width: int, resample: int) -> Pixels:
        """Resize as Pillow does, faster where the processor allows.

        To within one shade of grey, three in pure noise.
        """
        torch = self._torch
        mode = "bicubic" if resample == BICUBIC else "bilinear"
        with torch.inference_mode():
            given = torch.from_numpy(image).permute(2, 0, 1).unsqueeze(0)
            found = torch.nn.functional.interpolate(given, size=(height, width), mode=mode, antialias=True)
            return np.asarray(found[0].permute(1, 2, 0).numpy())

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        torch = self._torch
        with torch.inference_mode():
            inputs = self._normalized(torch.from_numpy(pixels))
            if "text" in self.takes:
                found = _projected(self._model.get_image_features(pixel_values=inputs))
            else:
                found = self._pooled_image(self._model(pixel_values=inputs).last_hidden_state)
            return self._to_numpy(found)

    def encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        torch = self._torch
        if "text" not in self.takes:
            raise InputError(f"encoder {self.name!r} takes images, got text; use 'sentence' or 'clip'.")
        tokens = self._tokens(texts).to(self.device)
        with torch.inference_mode():
            if "image" in self.takes:
                tokens.pop("token_type_ids", None)
                return self._to_numpy(_projected(self._model.get_text_features(**tokens)))
            states = self._model(**tokens).last_hidden_state
            if self._pooling == "cls":
                found = states[:, 0]
            else:
                there = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
                found = (states * there).sum(1) / there.sum(1).clamp(min=1)
            if self._unit_length:
                found = found / found.norm(dim=1, keepdim=True).clamp(min=SMALLEST_NORM)
            return self._to_numpy(found)

    def _tokens(self, texts: list[str]) -> Any:
        with self._tokenizing:  # a tokenizer keeps its settings inside, so one thread at a time
            if self._tokenizer is None:
                self._tokenizer = _load_tokenizer(self.folder)
            limit = min(self._tokenizer.model_max_length, self._longest_text())
            fill = (
                "max_length" if self._model.config.model_type.startswith("siglip") else True
            )  # as it was trained
            return self._tokenizer(
                texts, padding=fill, truncation=True, max_length=limit, return_tensors="pt"
            )

    def facts(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "half": self.half,
            "architecture": type(self._model).__name__,
            "torch": version_of("torch"),
            "transformers": version_of("transformers"),
        }

    def _normalized(self, pixels: Any) -> Any:
        """(b, 3, height, width) numbers on the device."""
        if self.device != "cpu":
            values = pixels.to(self.device).float().mul_(self._factor).sub_(self._shift)
            return values.half() if self.half else values
        room = getattr(self._own, "room", None)
        if room is None or room.shape[1:] != pixels.shape[1:] or len(room) < len(pixels):
            room = self._own.room = self._torch.empty(pixels.shape, dtype=self._torch.float32)
        values = room[: len(pixels)]
        for image, row in zip(
            pixels, values, strict=True
        ):  # one at a time stays within the processor's cache
            self._torch.mul(image, self._factor, out=row)
            row.sub_(self._shift)
        return values

    def _pooled_image(self, states: Any) -> Any:
        if states.ndim == 4:  # (b, channels, height, width) of a convolutional network
            return states.mean(dim=(2, 3))
        return states[:, 0] if self._has_class_token else states.mean(dim=1)

    def _longest_text(self) -> int:
        """Tokens the model has positions for."""
        settings = getattr(self._model.config, "text_config", self._model.config)
        positions = getattr(settings, "max_position_embeddings", DEFAULT_TOKENS)
        if getattr(settings, "model_type", "") in ("roberta", "xlm-roberta", "camembert", "mpnet"):
            positions -= 2  # these count positions from the padding token on
        return int(min(positions, _sentence_limit(self.folder)))

    def _to_numpy(self, found: Any) -> NDArray[np.float32]:
        return np.asarray(found.float().cpu().numpy())


def choose_device(device: str) -> str:
    """The device to compute on."""
    torch = _import_torch()
    if device == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise InputError(
            f"device {device!r} is unknown; use 'auto', 'cpu', 'cuda', 'cuda:1' or 'mps'."
        ) from error
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if not there.get(kind, False):
        raise InputError(f"device {device!r} is not available on this machine; use 'auto' or 'cpu'.")
    return device


def choose_precision(half: bool | None, device: str) -> bool:
    """Half precision or not: slower or unsafe anywhere but on CUDA."""
    on_cuda = device.startswith("cuda")
    if half and not on_cuda:
        raise InputError(
            f"half precision is for CUDA, but the device is {device!r}; leave --half (half=True) out."
        )
    return on_cuda if half is None else half


def _import_torch() -> Any:
    with needs_extra("embed", "this encoder needs torch and transformers"):
        import torch
        import transformers  # noqa: F401
    return torch


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Without transformers' bars and lists, such as that of a classifier's unused head."""
    from transformers.utils import logging as module

    logging: Any = module  # its functions carry no types
    loud = logging.get_verbosity()
    bars = logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.set_verbosity(loud)
        if bars:
            logging.enable_progress_bar()


def load_pretrained(kind: Any, folder: Path, name: str, **options: Any) -> tuple[Any, Any]:
    """A model of a transformers class from a folder, and the report of what was not in its weights."""
    try:
        with quiet_transformers():
            model, report = kind.from_pretrained(
                str(folder), local_files_only=True, output_loading_info=True, **options
            )
    except Exception as error:  # damaged weights raise kinds of their own that share no other base
        raise InputError(
            f"cannot load the model {name!r} from {folder}: {str(error).strip().splitlines()[0]}"
        ) from error
    return model, report


def _load_model(folder: Path, name: str) -> Any:
    from transformers import AutoModel

    model, report = load_pretrained(AutoModel, folder, name)
    missing = [part for part in report["missing_keys"] if not any(word in part for word in UNUSED)]
    if missing:
        raise InputError(
            f"the weights in {folder} lack {len(missing)} parts of the model, such as "
            f"{sorted(missing)[0]!r}; its features would be noise. Fetch the model again."
        )
    return model


def _load_tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    if not any((folder / name).is_file() for name in TOKENIZERS):  # some kinds would be made up without
        raise InputError(f"{folder} has no tokenizer ({', '.join(TOKENIZERS[:3])}, ...); fetch it too.")
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError, TypeError) as error:
        raise InputError(
            f"{folder} has no usable tokenizer ({str(error).strip().splitlines()[0]}); fetch tokenizer.json "
            "too."
        ) from error


def _projected(found: Any) -> Any:
    """Older versions of transformers return the features, newer ones an object around them."""
    return getattr(found, "pooler_output", found)


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _sentence_settings(folder: Path) -> tuple[str, bool]:
    """(pooling, scaled to length 1) of a sentence encoder's folder; mean and yes where it does not say."""
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    modules = _read_json(folder / "modules.json")
    by_class_token = isinstance(pooling, dict) and bool(pooling.get("pooling_mode_cls_token"))
    scaled = not isinstance(modules, list) or any(
        "Normalize" in str(module.get("type")) for module in modules
    )
    return "cls" if by_class_token else "mean", scaled


def _sentence_limit(folder: Path) -> int:
    settings = _read_json(folder / "sentence_bert_config.json")
    found = settings.get("max_seq_length") if isinstance(settings, dict) else None
    return int(found) if found else ENDLESS
