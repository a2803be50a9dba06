"""Files that people see: pictures, texts, sounds, films, and pictures as browsers show them."""

import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from softspread._common.extras import needs_extra

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
TEXT_ENDINGS = (".txt", ".md")
MEDIA_TYPES = {  # what browsers play, as far as their makers' codecs go
    **{".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".oga": "audio/ogg"},
    **{".flac": "audio/flac", ".m4a": "audio/mp4", ".opus": "audio/ogg"},
    **{".mp4": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".mov": "video/quicktime"},
}
SHOWN_ENDINGS = (*IMAGE_ENDINGS, *TEXT_ENDINGS, *MEDIA_TYPES)
LONGEST_TEXT = 20_000  # characters shown
LARGEST_PICTURE = 64 * 2**20  # bytes of a file that is sent or opened
MOST_PIXELS = 50_000_000  # a picture that unpacks to more is refused, whatever its file size
LARGEST_SIDE = 4_096  # pixels of a picture that is sent as it is; a larger one is made smaller
SMALL_PICTURE = 320  # small arrays of pixels are enlarged to about this side


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


def find_file(folder: Path, name: str, endings: Sequence[str] = IMAGE_ENDINGS) -> Path | None:
    """The file of an item below a folder, named with or without its ending; None where there is none.

    An id such as ../../secret.png reaches no other folder, nor does a link.
    """
    if not name or "\0" in name:
        return None
    for candidate in (name, *(f"{name}{ending}" for ending in endings)):
        path = folder / candidate
        inside = path.suffix.lower() in endings and path.resolve().is_relative_to(folder.resolve())
        if inside and path.is_file():
            return path
    return None


def of_bearable_size(content: bytes, kind: str) -> tuple[bytes, str] | None:
    """A picture for a browser, made smaller where a phone would struggle; None if it unpacks to too much."""
    size = size_of(content)
    if size is None or max(size) <= LARGEST_SIDE:  # what Pillow cannot open, a browser may: such as drawings
        return content, kind
    smaller = to_png(content, LARGEST_SIDE, "JPEG")
    return None if smaller is None else (smaller, "image/jpeg")


def size_of(content: bytes) -> tuple[int, int] | None:
    """Width and height as the picture's head says; None where it is not a picture that Pillow reads."""
    with needs_extra("images", "pictures need Pillow"):
        from PIL import Image
    try:
        with Image.open(io.BytesIO(content)) as image:
            return image.width, image.height
    except Image.DecompressionBombError:
        return MOST_PIXELS, MOST_PIXELS
    except (OSError, ValueError, SyntaxError):
        return None


def to_png(content: bytes, longest_side: int | None = None, form: str = "PNG") -> bytes | None:
    """Any picture that Pillow reads as PNG or JPEG, made smaller on demand; None where it cannot be read."""
    with needs_extra("images", "pictures need Pillow"):
        from PIL import Image, UnidentifiedImageError
    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            if longest_side is not None:
                image.thumbnail((longest_side, longest_side))
            stream = io.BytesIO()
            image.convert("RGB").save(stream, form)
            return stream.getvalue()
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
