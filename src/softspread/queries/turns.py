"""Several questions about the same items choose together: each in turn names one.

picks of each question, all different  ->  first of each, second of each, ...
"""

from collections.abc import Callable
from itertools import chain, zip_longest
from typing import TypeVar

import numpy as np

_Pick = TypeVar("_Pick")


def pick_in_turn(
    n_questions: int,
    size: int,
    rng: np.random.Generator,
    pick: Callable[[int, int, list[_Pick]], list[_Pick]],
) -> list[_Pick]:
    """Picks of several questions, in alternation; which question comes first is drawn.

    Parameters
    ----------
    size : how many picks; at most as many as there are items left
    pick : the picks of one question, given its number, how many are wanted and those taken before

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> pick_in_turn(2, 5, rng, lambda question, wanted, taken: [f"{question}{k}" for k in range(wanted)])
    ['00', '10', '01', '11', '02']
    """
    picked: list[list[_Pick]] = []
    shares = [len(part) for part in np.array_split(np.arange(size), n_questions)]
    for wanted, question in zip(shares, rng.permutation(n_questions).tolist(), strict=True):
        if wanted:
            picked.append(pick(question, wanted, [one for part in picked for one in part]))
    nothing = object()
    return [one for one in chain.from_iterable(zip_longest(*picked, fillvalue=nothing)) if one is not nothing]  # type: ignore[misc]
