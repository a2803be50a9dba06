"""A suggestion that stood beside an item during a vote, as the log keeps it.

    shares by class, seen or withheld  ->  {"seen": true, "p": {"cat": 0.62, "dog": 0.3}}  ->  Suggestion

In assisted mode a random share of the items comes without its suggestion. What would have been shown is kept
there too: the difference between both is how far suggestions pull votes.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

LEAST_SHARE = 0.005  # a bar below this is not visible
LONGEST_SHOWN = 20_000  # characters


class Suggestion(NamedTuple):
    """Shares by class, and whether the person saw them."""

    p: dict[str, float]
    seen: bool


def written(shares: Mapping[str, float], *, seen: bool) -> str | None:
    """Shares by class as text; None where there is nothing to show.

    Examples
    --------
    >>> written({"cat": 0.62, "dog": 0.3799, "cow": 0.0001}, seen=True)
    '{"seen":true,"p":{"cat":0.62,"dog":0.38}}'
    """
    kept = {name: round(share, 3) for name, share in shares.items() if share >= LEAST_SHARE}
    if not kept:
        return None
    text = json.dumps({"seen": seen, "p": kept}, ensure_ascii=False, separators=(",", ":"))
    return text if len(text) <= LONGEST_SHOWN else written(_leading(kept), seen=seen)


def _leading(shares: Mapping[str, float]) -> dict[str, float]:
    """The leading class alone: where names are too many or too long to be kept."""
    name = max(shares, key=lambda name: shares[name])
    return {name: shares[name]}


def read(text: str | None) -> Suggestion | None:
    """The suggestion that the log holds, or None.

    Examples
    --------
    >>> read('{"seen":false,"p":{"cat":0.62,"dog":0.38}}')
    Suggestion(p={'cat': 0.62, 'dog': 0.38}, seen=False)
    """
    if text is None:
        return None
    found = json.loads(text)
    return Suggestion(found["p"], found["seen"])
