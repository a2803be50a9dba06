"""One image of any kind to the pixels that a model expects.

    file or array -> 8-bit RGB, upright -> resized and cropped (3, height, width)
                  -> (pixel / 255 - mean) / std

A JPEG is decoded at a fraction of its size where the model needs no more, and only what survives the crop is
resized; the result is that of resizing first and cropping then.
"""

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray
from softspread.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from PIL.Image import Image

Pixels = NDArray[np.uint8]
Resizer = Callable[
    [Pixels, int, int, int], Pixels
]  # (h, w, 3) image, height, width, Pillow's filter -> resized

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# A JPEG is decoded at twice the size wanted at least, so that resizing still averages enough pixels
DRAFT_GAP = 2
BILINEAR, BICUBIC = 2, 3  # Pillow's numbers, which model folders use too
LARGEST_WASTE = 4  # times the crop that a resizer may produce; long strips are left to Pillow
WHOLE_8_BIT, WHOLE_16_BIT = 255.0, 65535.0  # the largest value of a channel
# At this size and above its preparation squeezes the whole image instead of cropping
CONVNEXT_WARPS_FROM = 384
CONVNEXT_CROP_SHARE = 224 / 256  # of the shorter side, as its preparation in transformers has it
# Model folders written years ago give a single number as size; these kinds mean a square by it, others an
# edge.
_SQUARE_KINDS = ("vit", "deit", "beit", "siglip", "swin")


class UnreadableImage(Exception):  # noqa: N818 - it never leaves the package
    """An image that cannot be used, and why, in a few words."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """How a model wants its images."""

    height: int
    width: int  # of what the model sees
    # Resize the shorter side to this, then crop; None: squeeze to height x width
    shortest_edge: int | None = None
    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    std: tuple[float, ...] = (1.0, 1.0, 1.0)
    resample: int = BICUBIC
    scale: float = 1 / WHOLE_8_BIT

    def __post_init__(self) -> None:
        if min(self.height, self.width, self.shortest_edge or 1) < 1 or not all(
            value > 0 for value in self.std
        ):
            raise InputError(f"images must be prepared to a positive size and std, got {self}.")

    def facts(self) -> dict[str, Any]:
        """Everything that changes the pixels, for keys and records."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def normalize(self, pixels: Pixels) -> NDArray[np.float32]:
        """(b, 3, height, width) bytes to numbers as the model was trained on."""
        factor, shift = self.factor_and_shift()
        scaled = np.multiply(pixels, factor, dtype=np.float32)
        scaled -= shift
        return scaled

    def factor_and_shift(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """(3, 1, 1) each, with normalised = pixel * factor - shift."""
        std = np.asarray(self.std, dtype=np.float32).reshape(3, 1, 1)
        return np.float32(self.scale) / std, np.asarray(self.mean, dtype=np.float32).reshape(3, 1, 1) / std


def read_preparation(folder: Path, fallback: Preparation | None = None) -> Preparation:
    """The preparation that ``preprocessor_config.json`` of a model folder asks for."""
    path = folder / "preprocessor_config.json"
    if not path.is_file():
        if fallback is not None:
            return fallback
        raise InputError(
            f"{folder} has no preprocessor_config.json, so how to prepare images is unknown; add it."
        )
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        return preparation_from(settings)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f"cannot understand {path} ({error}); it must give size, image_mean and image_std."
        ) from error


def preparation_from(settings: Mapping[str, Any]) -> Preparation:
    """The same from the content of that file, in its older and newer forms."""
    kind = str(settings.get("image_processor_type") or settings.get("feature_extractor_type") or "").lower()
    height, width, edge = _size(settings["size"], square=kind.startswith(_SQUARE_KINDS))
    if "crop_pct" in settings or kind.startswith("convnext"):
        wanted = edge or height
        share = settings.get("crop_pct") or CONVNEXT_CROP_SHARE
        edge = int(wanted / share) if wanted < CONVNEXT_WARPS_FROM else None
        height = width = wanted
    elif settings.get("do_center_crop", "crop_size" in settings):
        crop_height, crop_width, crop_edge = _size(settings.get("crop_size", settings["size"]), square=True)
        if edge is None and (crop_height, crop_width) != (height, width):
            raise ValueError(f"a crop to {crop_height} x {crop_width} after squeezing to {height} x {width}")
        height, width = crop_edge or crop_height, crop_edge or crop_width
    elif edge is not None:
        raise ValueError("a shortest edge without a crop leaves images of different shapes")
    scale = settings.get("rescale_factor", 1 / WHOLE_8_BIT) if settings.get("do_rescale", True) else 1.0
    normal = settings.get("do_normalize", True)
    return Preparation(
        height=height,
        width=width,
        shortest_edge=edge,
        mean=tuple(map(float, settings["image_mean"])) if normal else (0.0, 0.0, 0.0),
        std=tuple(map(float, settings["image_std"])) if normal else (1.0, 1.0, 1.0),
        resample=int(settings.get("resample", BICUBIC)),
        scale=float(scale),
    )


def _size(value: Any, square: bool) -> tuple[int, int, int | None]:
    """(height, width, shortest edge) of a number or a mapping."""
    if isinstance(value, Mapping):
        if "shortest_edge" in value:
            edge = int(value["shortest_edge"])
            return edge, edge, edge
        return int(value["height"]), int(value["width"]), None
    if isinstance(value, list | tuple):
        return int(value[0]), int(value[1]), None
    return int(value), int(value), None if square else int(value)


def prepare(
    content: "bytes | AnyArray | Image", wanted: Preparation, resize: Resizer | None = None
) -> Pixels:
    """(3, height, width) bytes of one image: a file's content, an array or a Pillow image.

    ``resize`` may replace Pillow's for bilinear and bicubic filters, to do the same faster.
    """
    try:
        image = _opened(content)
        turned = _is_turned(image)
        _draft(image, wanted)
        image = _upright_rgb(image, turned)
        return np.asarray(_resized(image, wanted, resize)).transpose(2, 0, 1)
    except UnreadableImage:
        raise
    except MissingExtraError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # Pillow's plugins raise whatever their format's bytes make them raise
        raise UnreadableImage(_reason(error)) from error


def _reason(error: Exception) -> str:
    text = str(error).strip().split("\n")[0]
    if "cannot identify image file" in text:
        return "not an image, or of an unknown format"
    return text or type(error).__name__


def _opened(content: "bytes | AnyArray | Image") -> "Image":
    with needs_extra("images", "images need Pillow"):
        from PIL import Image
    if isinstance(content, bytes):
        if not content:
            raise UnreadableImage("the file is empty")
        return Image.open(io.BytesIO(content))
    if isinstance(content, np.ndarray):
        return Image.fromarray(_eight_bits(content))
    return content.copy()  # reading moves a Pillow image, and it may be the caller's


def _draft(image: "Image", wanted: Preparation) -> None:
    """Let the JPEG decoder leave out detail that resizing would average away."""
    if image.format in ("JPEG", "MPO"):
        edge = int(DRAFT_GAP * (wanted.shortest_edge or max(wanted.height, wanted.width)))
        if min(image.size) >= 2 * edge:  # decoders halve at least
            image.draft(None, (edge, edge))


_TURNS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}  # EXIF orientation -> Pillow's Transpose
_ORIENTATION = 0x0112  # EXIF's tag


def _is_turned(image: "Image") -> int | None:
    """What to do to the image so that it stands upright; read before decoding, which may drop the tag."""
    if not hasattr(image, "getexif"):
        return None
    try:
        return _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    except (ValueError, SyntaxError, OSError, KeyError, TypeError):  # damaged tags do not damage the picture
        return None


def _upright_rgb(image: "Image", turned: int | None) -> "Image":
    """8-bit RGB; transparent parts become white, as in a viewer."""
    from PIL import Image

    image.load()
    if image.mode.startswith("I") or image.mode == "F":
        image = Image.fromarray(_eight_bits(np.asarray(image)))
    if image.mode in ("LA", "PA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
    if image.mode == "RGBA":
        ground = Image.new("RGBA", image.size, "white")
        image = Image.alpha_composite(ground, image)
    if image.mode != "RGB":
        image = image.convert("RGB")
    return image if turned is None else image.transpose(Image.Transpose(turned))


def _eight_bits(array: AnyArray) -> AnyArray:
    """Grey or colour values of any usual type as bytes (height, width[, 3 or 4])."""
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[:, :, 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or 0 in array.shape:
        raise UnreadableImage(
            f"an array of shape {array.shape}; allowed are (height, width) and (height, width, 1|3|4)"
        )
    if array.dtype == np.uint8:
        return np.ascontiguousarray(array)
    if array.dtype == np.bool_:
        return array.astype(np.uint8) * np.uint8(WHOLE_8_BIT)
    if array.dtype.kind not in "iuf":
        raise UnreadableImage(f"an array of type {array.dtype}")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise UnreadableImage("values that are not finite")
    low, high = values.min(), values.max()
    if array.dtype.kind == "f":
        top = 1.0 if high <= 1 else WHOLE_8_BIT
    else:
        top = WHOLE_16_BIT if array.dtype == np.uint16 or high > WHOLE_8_BIT else WHOLE_8_BIT
    if low < 0 or high > top:
        raise UnreadableImage(f"values from {low:g} to {high:g}; allowed are 0 to 1 (floats), 255 or 65535")
    return np.rint(values * (WHOLE_8_BIT / top)).astype(np.uint8)


def _resized(image: "Image", wanted: Preparation, resize: Resizer | None) -> "Image | Pixels":
    """Resize and crop in one step."""
    from PIL import Image

    resample = Image.Resampling(wanted.resample)
    edge = wanted.shortest_edge
    if edge is None:
        if image.size == (wanted.width, wanted.height):
            return image
        if resize is not None and wanted.resample in (BILINEAR, BICUBIC):
            return resize(np.array(image), wanted.height, wanted.width, wanted.resample)
        return image.resize((wanted.width, wanted.height), resample)
    short = min(image.size)
    full = [edge if side == short else int(edge * side / short) for side in image.size]
    target = [min(wanted.width, full[0]), min(wanted.height, full[1])]
    corner = [(whole - part) // 2 for whole, part in zip(full, target, strict=True)]
    fits = (target[0], target[1]) == (wanted.width, wanted.height)
    small = full[0] * full[1] <= LARGEST_WASTE * target[0] * target[1]
    if resize is not None and fits and small and wanted.resample in (BILINEAR, BICUBIC):
        whole = resize(np.array(image), full[1], full[0], wanted.resample)
        return whole[corner[1] : corner[1] + target[1], corner[0] : corner[0] + target[0]]
    ratio = [side / whole for side, whole in zip(image.size, full, strict=True)]
    box = (
        corner[0] * ratio[0],
        corner[1] * ratio[1],
        min((corner[0] + target[0]) * ratio[0], image.width),
        min((corner[1] + target[1]) * ratio[1], image.height),
    )
    image = image.resize((target[0], target[1]), resample, box=box)
    if fits:
        return image
    ground = Image.new("RGB", (wanted.width, wanted.height))  # smaller than the crop: black around it
    ground.paste(image, ((wanted.width - target[0]) // 2, (wanted.height - target[1]) // 2))
    return ground
