"""Usual names of columns and fields: the only lists of them, the preferred name first."""

from collections.abc import Container, Iterable

ITEM_NAMES = ("item", "task", "item_id", "task_id", "id")
LABEL_NAMES = ("label",)
ANNOTATOR_NAMES = ("annotator", "worker", "performer", "annotator_id", "worker_id")
PATH_NAMES = ("path", "image", "file", "filename", "file_name", "image_path", "file_path", "filepath")
TEXT_NAMES = ("text", "sentence", "content", "document", "tweet", "comment")
VECTOR_NAMES = ("embeddings", "embedding", "features", "X", "x", "vectors")
INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__", "index")  # what pandas calls a column of row names
# of items that have nothing but vectors: their path names them where nothing else does
ID_NAMES = (*ITEM_NAMES, "ids", "item_ids", "items", *PATH_NAMES)


def first_of(usual: Iterable[str], present: Container[str]) -> str | None:
    """The preferred name among those that are present.

    Examples
    --------
    >>> first_of(ITEM_NAMES, {"id", "task", "label"})
    'task'
    """
    return next((name for name in usual if name in present), None)
