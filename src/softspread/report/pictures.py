"""Thumbnails of items from a folder of images, small enough to stand inside a page."""

import base64
import io
from pathlib import Path
from typing import Any

from softspread._common.extras import needs_extra
from softspread.errors import InputError
from softspread.io.images import find_file

SIDE = 128  # pixels: twice what is shown, for sharp screens
QUALITY = 80  # of the JPEG


class Thumbnails:
    """Pictures of items, found by id with or without the ending; None where there is none."""

    def __init__(self, folder: str | Path) -> None:
        with needs_extra("images", "thumbnails need Pillow"):
            import PIL  # noqa: F401
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise InputError(f"no folder of images at {self.folder}; check --images.")

    def __call__(self, name: Any) -> str | None:
        """A data address with a small picture; None where none can be read."""
        from PIL import Image

        path = find_file(self.folder, str(name))
        if path is None:
            return None
        try:
            with Image.open(path) as opened:
                opened.draft("RGB", (SIDE, SIDE))  # lets JPEG decode at a fraction of the size
                picture = opened.convert("RGB")
                picture.thumbnail((SIDE, SIDE))
                content = io.BytesIO()
                picture.save(content, "JPEG", quality=QUALITY)
        except (OSError, ValueError, Image.DecompressionBombError):
            return None  # a picture that cannot be read is not a reason to lose the report
        return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
