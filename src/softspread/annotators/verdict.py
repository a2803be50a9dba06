"""The verdict on an annotator, defined once for the library, the command line, reports and pages.

P(consistency below the limit)  ->  flag  ->  what a reader sees, and what to do
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from softspread._common.types import AnyArray, FloatArray

FOLLOWS, CHECK, STRAYS, UNKNOWN = "ok", "check", "does not follow", "unknown"  # flags, as tables have them


class Verdict(NamedTuple):
    """A flag in words."""

    words: str
    advice: str  # what to do about it; empty where nothing needs doing


VERDICTS = {
    FOLLOWS: Verdict("follows the crowd", ""),
    CHECK: Verdict("doubtful", "look at some votes together, or wait for more"),
    STRAYS: Verdict("does not follow", "talk to them; their votes hardly count"),
    UNKNOWN: Verdict("not known yet", ""),
}


def flags(not_following: FloatArray, doubtful: float, sure: float) -> AnyArray:
    """(a,) flag of annotators who do not follow with these probabilities.

    Parameters
    ----------
    not_following : (a,) probability that the consistency is below the limit
    doubtful, sure : above these probabilities an annotator is worth a look, or does not follow

    Examples
    --------
    >>> flags(np.array([0.1, 0.9, 0.99]), 0.5, 0.97).tolist()
    ['ok', 'check', 'does not follow']
    """
    names = np.array([FOLLOWS, CHECK, STRAYS], dtype=object)
    above = np.stack([not_following > doubtful, not_following > sure])
    return np.asarray(names[above.sum(axis=0)])


def odd_first(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of annotators, those who may not follow first, then by consistency.

    Parameters
    ----------
    frame : columns flag and consistency, one row per annotator

    Examples
    --------
    >>> frame = pd.DataFrame({"flag": ["ok", "does not follow", "check"], "consistency": [0.9, 0.1, 0.4]})
    >>> odd_first(frame)["flag"].tolist()
    ['does not follow', 'check', 'ok']
    """
    place = frame["flag"].map({STRAYS: 0, CHECK: 1}).fillna(2)
    order = np.lexsort((frame["consistency"], place))
    return frame.iloc[order]
