"""The one place that imports pyarrow, which reads and writes Parquet and comes with the extra ``parquet``.

check_arrow(what)  before any work, imports nothing          arrow(what)  the library itself
"""

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from softspread._common.extras import needs_extra


def arrow(module: str = "pyarrow", what: str = "Parquet") -> Any:
    """Import pyarrow or one of its modules; without it the error names the extra.

    Parameters
    ----------
    module : such as "pyarrow.parquet"
    what : needs it, for the message
    """
    with needs_extra("parquet", f"{what} needs pyarrow"):
        return importlib.import_module(module)


def has_arrow() -> bool:
    """Whether pyarrow is installed; it is not imported."""
    try:
        return find_spec("pyarrow") is not None
    except ImportError:
        return False


def check_arrow(what: str) -> None:
    """Raise the error of :func:`arrow` without importing anything."""
    with needs_extra("parquet", f"{what} needs pyarrow"):
        if not has_arrow():
            raise ImportError("pyarrow")


def check_parquet(path: str | Path) -> None:
    """Refuse a Parquet file where pyarrow is missing; other endings pass."""
    if Path(path).suffix.lower() == ".parquet":
        check_arrow(f"{path}, a Parquet file,")
