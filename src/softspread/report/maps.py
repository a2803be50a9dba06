"""Items in the plane, drawn by the page's own script; pointing at a dot shows its item.

positions (n, 2), soft labels, evidence  ->  packed bytes in the page  ->  dots
"""

import base64
from collections.abc import Mapping, Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softspread._common.types import AnyArray, FloatArray
from softspread.report.charts import LEAST_EVIDENCE
from softspread.report.markup import embed_json, escape

PALETTE = (
    "#4269d0",
    "#efb118",
    "#ff725c",
    "#6cc5b0",
    "#3ca951",
    "#ff8ab7",
    "#a463f2",
    "#97bbf5",
    "#9c6b4e",
    "#9498a0",
)  # fmt: skip  - ten hues that stay apart on white and on black
GOLDEN_ANGLE = 137.508  # degrees; hues in these steps never come close to each other
RAMP = "<div class='legend scale'><span class='least'></span><b></b><span class='most'></span></div>"
MAP_SIZE = 1000  # units of the square that a map is drawn in


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Soft labels and evidence of all items at one moment."""

    name: str
    p: FloatArray  # (n, n_classes)
    evidence: FloatArray  # (n,)
    n_votes: AnyArray  # (n,) votes on the item itself


@dataclass(frozen=True, slots=True, eq=False)
class ItemMap:
    """Items in the plane, with their soft labels at one or several moments."""

    positions: FloatArray  # (n, 2)
    classes: Sequence[Any]
    views: Sequence[View]
    start: int = 0  # the view shown first
    p_true: FloatArray | None = None  # (n, n_classes)
    images: AnyArray | None = None  # (n, height, width) grey, larger is darker
    marks: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # texts to write into the plane


def item_map(data: ItemMap, name: str = "items") -> str:
    """Two maps of all items: by most probable class and by evidence.

    Pointing at an item shows what is known about it.
    """
    options = "".join(
        f"<button type='button' data-view='{number}' aria-pressed='{str(number == data.start).lower()}'>"
        f"{escape(view.name)}</button>"
        for number, view in enumerate(data.views)
    )
    maps = "".join(
        f"<figure><figcaption>{escape(title)}</figcaption><svg class='map' data-kind='{kind}' viewBox='0 0 "
        f"{MAP_SIZE} {MAP_SIZE}' role='img' aria-label='{escape(title)}'></svg>{key}</figure>"
        for kind, title, key in (
            (
                "class",
                "Most probable class; paler is less certain, rings are votes",
                f"<div class='legend'>{''.join(legend(data.classes))}</div>",
            ),
            (
                "evidence",
                "Evidence: how many votes' worth has reached each item",
                RAMP,
            ),
        )
    )
    return (
        f"<div class='item-map' data-source='{escape(name)}'><div class='switch' role='group' "
        f"aria-label='votes so far'>{options}</div><div class='maps'>{maps}</div><div class='tip' "
        "hidden></div><noscript><p class='note'>The maps are drawn by the page's own script; allow "
        "it.</p></noscript></div>" + embed_json(name, _map_data(data))
    )


def legend(classes: Sequence[Any]) -> list[str]:
    """Name and colour of each class."""
    return [
        f"<span><i style='background:{color}'></i>{escape(label)}</span>"
        for label, color in zip(classes, class_colors(len(classes)), strict=True)
    ]


def _map_data(data: ItemMap) -> dict[str, Any]:
    centre = (data.positions.min(axis=0) + data.positions.max(axis=0)) / 2
    half = float(np.abs(data.positions - centre).max()) or 1.0
    room = 0.47 * MAP_SIZE  # a margin for the size of the dots

    def place(points: AnyArray) -> AnyArray:
        return np.asarray(np.round((points - centre) / half * [1, -1] * room + MAP_SIZE / 2))

    return {
        "classes": [str(label) for label in data.classes],
        "colors": class_colors(len(data.classes)),
        "start": data.start,
        "xy": packed(place(data.positions), "<u2"),
        "truth": None if data.p_true is None else packed(np.round(255 * data.p_true), "<u1"),
        "images": None if data.images is None else packed(_shades(data.images), "<u1"),
        "image_shape": None if data.images is None else list(data.images.shape[1:]),
        "marks": [[text, *place(np.array(position)).tolist()] for text, position in data.marks.items()],
        "views": [
            {
                "name": view.name,
                "p": packed(np.round(255 * view.p), "<u1"),
                "evidence": packed(view.evidence, "<f4"),
                "range": np.log10(
                    np.maximum([view.evidence.min(), view.evidence.max()], LEAST_EVIDENCE)
                ).tolist(),
                "votes": packed(np.minimum(view.n_votes, 65535), "<u2"),
            }
            for view in data.views
        ],
    }


def _shades(images: AnyArray) -> AnyArray:
    return np.asarray(
        np.round(255 * (images - images.min()) / max(float(np.ptp(images)), np.finfo(float).tiny))
    )


def packed(values: AnyArray, dtype: str) -> str:
    """Pack numbers into text that the page's script unpacks."""
    return base64.b64encode(np.ascontiguousarray(values).astype(dtype).tobytes()).decode()


def class_colors(n_classes: int) -> list[str]:
    """One colour per class: ten that were chosen by eye, beyond that evenly turning hues."""
    if n_classes <= len(PALETTE):
        return list(PALETTE[:n_classes])
    return [_hex(number * GOLDEN_ANGLE % 360, (0.45, 0.60)[number % 2], 0.6) for number in range(n_classes)]


def _hex(hue: float, lightness: float, saturation: float) -> str:
    """A colour that style sheets and matplotlib both read; the hue in degrees."""
    parts = hls_to_rgb(hue / 360, lightness, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
