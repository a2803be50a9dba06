"""Libraries that only an extra installs."""

from collections.abc import Iterator
from contextlib import contextmanager

from softspread.errors import MissingExtraError


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn a failed import inside the block into an error that says how to install the library.

    Parameters
    ----------
    extra : of this package, such as "embed"
    what : start of the message, such as "UMAP needs umap-learn"

    Examples
    --------
    >>> with needs_extra("embed", "UMAP needs umap-learn"):
    ...     import no_such_library
    Traceback (most recent call last):
    softspread.errors.MissingExtraError: UMAP needs umap-learn: pip install 'softspread[embed]'.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtraError(f"{what}: pip install 'softspread[{extra}]'.") from error
