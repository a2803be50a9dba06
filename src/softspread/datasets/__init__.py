"""Items with known soft labels or real votes, to try the method on.

    name (, folder)  ->  Dataset(X, p_true, votes, images, ...)

Synthetic datasets and the digits need nothing. The others are read from a local copy in the format in which
they are distributed: :func:`describe` says what to download, :func:`load` checks and parses it. Nothing here
opens a connection.
"""

from softspread.datasets.dataset import Dataset, Source, normalized_entropy
from softspread.datasets.registry import available, describe, load, names

__all__ = ["Dataset", "Source", "available", "describe", "load", "names", "normalized_entropy"]
