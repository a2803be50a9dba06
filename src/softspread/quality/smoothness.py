"""Do votes go with those of their neighbours? A permutation test, per class: what all spreading rests on.

    u_q = mean of the votes on other items, weighted by how much of each arrives at q         theory: [link]
    T_c = sum_q y_qc u_qc / sum_q y_qc,  against the same with votes dealt to the voted items at random
    link_c = (T_c - E T_c) / (1 - E T_c)      0: neighbours say no more than chance, 1: they say all

T_c below chance is a contradiction. A link near 0 with an upper end below the least that is of use says that
the space is of no use for these votes; without enough votes for that, nothing is said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

from softspread._common.notebook import ShownAsTable
from softspread._common.places import places
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread._common.validation import class_names
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.local_reach import LocalReach
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable

FOLLOW, CONTRADICT, NO_LINK, UNKNOWN = "follow", "contradict", "no link", "unknown"
OVERALL = "overall"
ADVICE = "Try another space: compare_spaces (embed --check) rates several by the same votes."


@dataclass(frozen=True, slots=True)
class SmoothnessRule:
    """How the test is done, and what counts as too little."""

    alpha: float = 0.9  # at which neighbours speak
    floor: float = 1e-3  # of the pushes that find them
    sample: int = 1_000  # voted items that are compared with their neighbours
    nearest: int = 30  # voted neighbours of each: the others hardly count, and cost time
    permutations: int = 199  # they give mean and standard deviation; tails are normal
    level: float = 0.05  # chance of any false alarm
    least_link: float = 0.1  # a link below is of no use
    fewest: float = 20.0  # votes for a class, and items with neighbours: below nothing is said


RULE = SmoothnessRule()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Smoothness(ShownAsTable):
    """Whether votes go with those of their neighbours, per class and overall.

    Attributes
    ----------
    classes : (n_classes,) array
        Names.
    votes : (n_classes + 1,) array
        Votes for each class among the items compared, the last entry overall.
    agreement : (n_classes + 1,) array
        Share of neighbours' votes for the same class.
    by_chance : (n_classes + 1,) array
        The same if votes were dealt to the voted items at random.
    link : (n_classes + 1,) array
        0: neighbours say no more than chance, 1: they say all; below 0 they say the opposite.
    link_upper : (n_classes + 1,) array
        Upper end of its interval, with 95 % for all classes together.
    p_contradict : (n_classes + 1,) array
        How often chance alone gives so little agreement.
    verdict : list of str
        "follow", "contradict", "no link" or "unknown" (too few votes to tell).

    See Also
    --------
    SoftLabeler.smoothness : Makes one.
    softspread.compare_spaces : Which of several spaces suits the votes.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import SoftLabeler
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> SoftLabeler(n_neighbors=5).fit(X, (X[:, 0] > 0.5).astype(int)).smoothness()
    Smoothness(200 votes; link 0.96 overall; all 2 classes follow their neighbours)
    """

    classes: AnyArray
    votes: FloatArray
    agreement: FloatArray
    by_chance: FloatArray
    link: FloatArray
    link_upper: FloatArray
    p_contradict: FloatArray
    verdict: list[str]

    def __repr__(self) -> str:
        return (
            f"Smoothness({self.votes[-1]:,.0f} votes; link {self.link[-1]:.2f} overall; {self._in_words()})"
        )

    def _in_words(self) -> str:
        each = self.verdict[:-1]
        if all(verdict == FOLLOW for verdict in each):
            return f"all {len(each)} classes follow their neighbours"
        return ", ".join(f"{each.count(name)} {name}" for name in dict.fromkeys(each))

    @property
    def finding(self) -> str | None:
        """What is wrong, in whole sentences; None where votes go with their neighbours."""
        *each, overall = self.verdict
        named = {
            verdict: [str(name) for name, found in zip(self.classes, each, strict=True) if found == verdict]
            for verdict in (CONTRADICT, NO_LINK)
        }
        if overall in named:
            named[overall] = ["all classes"]
        if not any(named.values()):
            return None
        texts = {
            CONTRADICT: "Votes contradict their neighbours more than chance allows",
            NO_LINK: "Neighbours say hardly more about votes than chance",
        }
        return " ".join(
            f"{texts[verdict]} ({', '.join(names)})." for verdict, names in named.items() if names
        )

    @property
    def warning(self) -> str | None:
        """The finding and what to do about it; None where votes go with their neighbours."""
        return None if self.finding is None else f"{self.finding} {ADVICE}"

    def to_frame(self) -> pd.DataFrame:
        """One row per class, and one overall.

        Returns
        -------
        pandas.DataFrame
            Columns class, votes, agreement, by_chance, link, link_upper, p_contradict and verdict.

        Examples
        --------
        >>> from softspread import SoftLabeler
        >>> lab = SoftLabeler(n_neighbors=1).fit([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
        >>> lab.smoothness().to_frame()["verdict"].tolist()
        ['unknown', 'unknown', 'unknown']
        """
        columns: dict[str, Any] = {"class": [*self.classes.tolist(), OVERALL]}
        names = ("votes", "agreement", "by_chance", "link", "link_upper", "p_contradict", "verdict")
        return pd.DataFrame(columns | {name: getattr(self, name) for name in names})


def smoothness_of_all(found: Mapping[Any, Smoothness]) -> Smoothness:
    """Of several questions with answers of their own: each as a whole, and their mean.

    All have a verdict together only where it is the same for each.
    """
    each = list(found.values())

    def beside(part: str) -> FloatArray:
        values = np.array([getattr(one, part)[-1] for one in each])
        return np.append(values, values.sum() if part == "votes" else values.mean())

    verdicts = [one.verdict[-1] for one in each]
    whole = verdicts[0] if len(set(verdicts)) == 1 else UNKNOWN
    names = ("votes", "agreement", "by_chance", "link", "link_upper", "p_contradict")
    numbers: dict[str, Any] = {name: beside(name) for name in names}
    return Smoothness(classes=class_names(list(found)), verdict=[*verdicts, whole], **numbers)


def judge_smoothness(
    diffusion: Diffusion,
    votes: VoteTable,
    classes: AnyArray,
    rng: np.random.Generator,
    rule: SmoothnessRule = RULE,
) -> Smoothness:
    """Test whether votes go with those of their neighbours.

    Parameters
    ----------
    diffusion : the graph; its alpha is not used
    votes : that people cast
    classes : (n_classes,) names
    """
    ballots = Ballots.of(votes, len(classes))
    counts = ballots.counts
    said = counts / np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    asked = np.sort(rng.choice(len(said), min(rule.sample, len(said)), replace=False))
    near = neighbor_weights(diffusion, ballots.voted, asked, rule)
    heard = np.flatnonzero(near.sum(axis=1) > 0)
    near, asked = near[heard], asked[heard]
    found, noise = _agreement(near, said, asked), _noise(near, said, asked)
    dealt = np.array(
        [_agreement(near, said[order], asked) for order in _orders(len(said), rule.permutations, rng)]
    )
    votes_per_class = said[asked].sum(axis=0)
    number = np.append(votes_per_class, votes_per_class.sum())
    chance = _Chance(dealt.mean(axis=0), dealt.std(axis=0, ddof=1))
    return _judged(classes, number, found, noise, chance, rule)


def neighbor_weights(
    diffusion: Diffusion, voted: IntArray, asked: IntArray, rule: SmoothnessRule = RULE
) -> csr_array:
    """(asked, voted) how much the votes on other items say about some voted items; rows sum to 1 or 0."""
    if not len(asked):
        return csr_array((0, len(voted)))
    place = places(voted, diffusion.n_items)
    sizes, columns, weights = [], [], []
    reach = LocalReach(diffusion.at(rule.alpha), rule.floor)
    for number, (rows, phi) in zip(asked.tolist(), reach(voted[asked]), strict=True):
        others = np.flatnonzero((place[rows] >= 0) & (place[rows] != number))
        nearest = others[np.argsort(-phi[others], kind="stable")[: rule.nearest]]
        sizes.append(len(nearest))
        columns.append(place[rows[nearest]])
        weights.append(phi[nearest] / max(float(phi[nearest].sum()), np.finfo(float).tiny))
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    parts = (np.concatenate([*part, np.empty(0)]) for part in (weights, columns))
    data, indices = parts
    return csr_array((data, indices.astype(np.int64), starts), shape=(len(asked), len(voted)))


def _orders(size: int, number: int, rng: np.random.Generator) -> Any:
    return (rng.permutation(size) for _ in range(number))


def _agreement(near: csr_array, said: FloatArray, asked: IntArray) -> FloatArray:
    """(n_classes + 1,) share of neighbours' votes for the class that was voted for; the last is overall."""
    mine = said[asked]
    same = (mine * (near @ said)).sum(axis=0)
    total = mine.sum(axis=0)
    same, total = np.append(same, same.sum()), np.append(total, total.sum())
    return np.asarray(same / np.maximum(total, np.finfo(float).tiny))


def _noise(near: csr_array, said: FloatArray, asked: IntArray) -> FloatArray:
    """(n_classes + 1,) standard errors of the agreement, from how it differs between items.

    Where a class lies in clusters, its few votes agree far more or less than if they were dealt at random:
    the spread of permutations alone would make a link of few votes look better known than it is.
    """
    mine, heard = said[asked], near @ said
    total = mine.sum(axis=0)
    mean = (mine * heard).sum(axis=0) / np.maximum(total, np.finfo(float).tiny)
    squares = (mine**2 * (heard - mean) ** 2).sum(axis=0)
    same = (mine * heard).sum(axis=1)
    squares = np.append(squares, ((same - same.mean()) ** 2).sum() if len(same) else 0.0)
    total = np.append(total, total.sum())
    return np.asarray(np.sqrt(squares) / np.maximum(total, np.finfo(float).tiny))


class _Chance(NamedTuple):
    """Agreement where votes are dealt at random."""

    mean: FloatArray  # (n_classes + 1,)
    deviation: FloatArray  # (n_classes + 1,)


def _judged(
    classes: AnyArray,
    number: FloatArray,
    found: FloatArray,
    noise: FloatArray,
    by_chance: _Chance,
    rule: SmoothnessRule,
) -> Smoothness:
    """Compare with chance; each class may raise a false alarm in its share of ``level``."""
    chance, spread = by_chance
    level = rule.level / max(1, len(classes))
    room = np.maximum(1 - chance, np.finfo(float).tiny)
    several = chance < 1 - 1e-9  # of one class alone there is nothing to compare
    z = np.where(spread > 0, (found - chance) / np.where(spread > 0, spread, 1.0), 0.0)
    link = np.where(several, (found - chance) / room, 0.0)
    above = found - chance - ndtri(level) * np.maximum(spread, noise)
    upper = np.where(several, np.minimum(above / room, 1.0), 1.0)
    below = ndtr(z)
    verdict = np.full(len(found), UNKNOWN, dtype=object)
    enough = (number >= rule.fewest) & several
    verdict[enough & (upper < rule.least_link)] = NO_LINK
    verdict[enough & (1 - below < level)] = FOLLOW
    verdict[enough & (below < level)] = CONTRADICT
    return Smoothness(classes, number, found, chance, link, upper, below, verdict.tolist())
