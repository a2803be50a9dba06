"""Which files are images, and those below a folder."""

import os
from collections.abc import Iterable
from pathlib import Path

BROWSER_TYPES = {  # browsers show these as they are; the media type of each
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".jpe": "image/jpeg",
    ".jfif": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
    ".ico": "image/x-icon",
}
OTHER_ENDINGS = (".tif", ".tiff", ".ppm", ".pgm", ".pbm", ".pnm", ".tga", ".jp2", ".j2k")
IMAGE_ENDINGS = (*BROWSER_TYPES, *OTHER_ENDINGS)  # all that Pillow reads and people use


def list_files(folder: Path, endings: Iterable[str] = IMAGE_ENDINGS) -> list[str]:
    """Files with such endings below a folder, as relative paths, sorted; hidden ones are left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.PNG", "a.jpg", ".hidden.jpg", "notes.txt"):
    ...         Path(folder, name).touch()
    ...     list_files(Path(folder))
    ['a.jpg', 'b.PNG']
    """
    wanted = frozenset(endings)
    found = []
    for home, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        place = Path(home).relative_to(folder)
        found += [
            (place / name).as_posix()
            for name in names
            if not name.startswith(".") and os.path.splitext(name)[1].lower() in wanted
        ]
    return sorted(found)
