"""A project that needs no files: handwritten digits that ship with scikit-learn."""

from typing import Any

from sklearn.datasets import load_digits

from softspread.datasets.digits import DIGITS_DIMENSION, LARGEST_GREY
from softspread.web.project.item_map import principal_components
from softspread.web.project.items import ArrayItems
from softspread.web.project.service import Service
from softspread.web.project.settings import Settings

CLASSES = tuple("0123456789")


def open_demo(**settings: Any) -> Service:
    """A service on the digits, not started yet; ``settings`` are those of the project."""
    pixels = load_digits().data / LARGEST_GREY
    items = ArrayItems([f"digit-{row:04d}" for row in range(len(pixels))], pixels.reshape(-1, 8, 8))
    named = (
        {"title": "Handwritten digits", "classes": CLASSES} | settings | {"question": "Which digit is it?"}
    )
    return Service(Settings(**named), items, principal_components(pixels, DIGITS_DIMENSION))
