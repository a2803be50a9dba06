"""Items as a notebook shows them.

    a folder | one thing per item | ids and things | a function of the id  ->  picture, sound, film or text

A thing is a path, text, a number, an array of pixels or of numbers, a picture of Pillow, or bytes.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray
from softspread.errors import InputError
from softspread.io.images import (
    BROWSER_TYPES,
    IMAGE_ENDINGS,
    LARGEST_PICTURE,
    LONGEST_TEXT,
    MEDIA_TYPES,
    SHOWN_ENDINGS,
    SMALL_PICTURE,
    TEXT_ENDINGS,
    find_file,
    of_bearable_size,
    size_of,
    to_png,
)

MOST_NUMBERS = 60  # of a row of features
CHANNELS = (1, 3, 4)  # of pixels: grey, colours, colours and opacity
PICTURE, TEXT, NAME, PROBLEM = "picture", "text", "name", "problem"

# What people see: a folder, one thing per item, things by id, or a function of the id
Contents = str | Path | Sequence[Any] | Mapping[Any, Any] | Callable[[Any], Any] | ArrayLike | pd.DataFrame
Find = Callable[[Any, int | None], Any]  # (id, row where the item was known at the start) -> thing


@dataclass(frozen=True, slots=True)
class Content:
    """One item as a person sees it."""

    kind: str  # "picture", "audio", "video", "text", "name" or "problem"
    text: str = ""
    data: bytes = b""
    media_type: str = ""


def read_contents(items: Contents | None, n_items: int) -> Find:
    """How to find what people see of an item.

    Parameters
    ----------
    items : a folder, one thing per item in the order of the rows, a dict by id, a function of the id, or None

    Examples
    --------
    >>> read_contents(["first", "second"], 2)("id", 1)
    'second'
    >>> read_contents({"b": "second"}, 2)("b", 1)
    'second'
    """
    if items is None:
        return lambda item, row: None
    if isinstance(items, str | Path):
        folder = Path(items)
        if not folder.is_dir():
            raise InputError(f"no folder at {folder}; items takes a folder, or one thing to see per item.")
        return partial(_in_folder, folder)
    if isinstance(items, Mapping):
        return lambda item, row: items.get(item)
    if callable(items):
        return lambda item, row: items(item)
    if not hasattr(items, "__len__") or not hasattr(items, "__getitem__"):
        raise InputError(
            f"items must hold what people see, one per item, got {type(items).__name__}; pass a list, an "
            "array, a dict by id, a folder, or a function of the id."
        )
    things: Any = items
    if len(things) != n_items:
        raise InputError(f"items must hold one thing to see per fitted item ({n_items}), got {len(things)}.")
    rows = things.iloc if isinstance(things, pd.DataFrame | pd.Series) else things
    return lambda item, row: None if row is None else rows[row]


def _in_folder(folder: Path, item: Any, row: int | None) -> Any:
    found = find_file(folder, str(item), SHOWN_ENDINGS)
    return found or Content(PROBLEM, f"no picture, text, sound or film of {item} in {folder}")


def as_content(thing: Any, name: str) -> Content:
    """A thing in the form that a browser shows; the item's name where there is nothing to see.

    Examples
    --------
    >>> as_content("Great film!", "7").text, as_content(0.25, "7").text, as_content(None, "7").text
    ('Great film!', '0.25', '7')
    >>> as_content([[0, 255], [255, 0]], "7").kind
    'picture'
    """
    if isinstance(thing, Content):
        return thing
    if thing is None or (isinstance(thing, float) and np.isnan(thing)):
        return Content(NAME, name)
    if isinstance(thing, Path) or (isinstance(thing, str) and _names_a_file(thing)):
        return _of_file(Path(thing))
    if isinstance(thing, str):
        return Content(TEXT, thing[:LONGEST_TEXT])
    if isinstance(thing, Mapping | pd.Series):
        return Content(TEXT, "\n".join(f"{key}: {_written(value)}" for key, value in thing.items()))
    return _of_bytes_or_numbers(thing)


def _of_bytes_or_numbers(thing: Any) -> Content:
    if isinstance(thing, bytes):
        return _of_picture(thing, None)
    if hasattr(thing, "convert") and hasattr(thing, "save"):  # of Pillow
        return _of_pillow(thing)
    return _of_array(np.asarray(thing))


def _names_a_file(text: str) -> bool:
    """Whether text is the path of something to look at: by its ending and without a line break."""
    if "\n" in text or "\0" in text or len(text) > 4096 or Path(text).suffix.lower() not in SHOWN_ENDINGS:
        return False
    return Path(text).is_file() or " " not in text  # a path that leads nowhere is said to


def _of_file(path: Path) -> Content:
    ending = path.suffix.lower()
    try:
        if path.stat().st_size > LARGEST_PICTURE:
            return Content(PROBLEM, f"{path} is larger than {LARGEST_PICTURE >> 20} MiB")
        data = path.read_bytes()
    except OSError:
        return Content(PROBLEM, f"no file that can be read at {path}")
    if ending in TEXT_ENDINGS:
        return Content(TEXT, data.decode("utf-8", "replace")[:LONGEST_TEXT])
    if ending in MEDIA_TYPES:
        media_type = MEDIA_TYPES[ending]
        return Content(media_type.partition("/")[0], data=data, media_type=media_type)
    if ending not in IMAGE_ENDINGS:
        return Content(PROBLEM, f"{path} is not a picture, text, sound or film")
    return _of_picture(data, BROWSER_TYPES.get(ending), str(path))


def _of_picture(data: bytes, media_type: str | None, what: str = "these bytes") -> Content:
    """A picture as a browser shows it; of a type that browsers lack, or an unknown one, as PNG."""
    if media_type is not None and size_of(data) is not None:
        found = of_bearable_size(data, media_type)
    else:
        converted = to_png(data)
        found = None if converted is None else (converted, "image/png")
    return Content(PROBLEM, f"{what} cannot be read as a picture") if found is None else _shown(*found)


def _shown(data: bytes, media_type: str) -> Content:
    return Content(PICTURE, data=data, media_type=media_type)


def _of_pillow(image: Any) -> Content:
    stream = io.BytesIO()
    (image if image.mode in ("L", "RGB", "RGBA") else image.convert("RGB")).save(stream, "PNG")
    return _of_picture(stream.getvalue(), "image/png")


def _of_array(values: AnyArray) -> Content:
    if values.ndim == 0:
        return Content(TEXT, _written(values.item()))
    if values.ndim == 1:
        more = f" and {len(values) - MOST_NUMBERS} more" if len(values) > MOST_NUMBERS else ""
        return Content(TEXT, ", ".join(_written(value) for value in values[:MOST_NUMBERS].tolist()) + more)
    if values.ndim == 3 and values.shape[2] not in CHANNELS and values.shape[0] in CHANNELS:
        values = np.moveaxis(values, 0, 2)  # colours come first, as in torch
    is_picture = values.ndim == 2 or (values.ndim == 3 and values.shape[2] in CHANNELS)
    if not is_picture or values.size == 0 or values.dtype.kind not in "biuf":
        return Content(PROBLEM, f"an array of shape {values.shape} and {values.dtype} is not a picture")
    if not np.isfinite(values).all():
        return Content(PROBLEM, "a picture with values that are not finite")
    return _of_pixels(values[:, :, 0] if values.ndim == 3 and values.shape[2] == 1 else values)


def _of_pixels(values: AnyArray) -> Content:
    """(h, w) or (h, w, 3 or 4): bytes as they are, 0 to 1 as shares, other ranges stretched to both ends."""
    with needs_extra("images", "pictures need Pillow"):
        from PIL import Image
    if values.dtype != np.uint8:
        values = values.astype(np.float64)
        low, high = values.min(), values.max()
        if low < 0 or high > 1:
            values = (values - low) / (high - low or 1.0)
        values = np.round(255 * values).astype(np.uint8)
    image = Image.fromarray(np.ascontiguousarray(values))
    times = max(1, SMALL_PICTURE // max(image.size))
    if times > 1:
        image = image.resize((times * image.width, times * image.height), Image.Resampling.BICUBIC)
    return _of_pillow(image)


def _written(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
