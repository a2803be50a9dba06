"""Intervals for soft labels: mass, sums of squares and a level -> lower, upper.

wilson.py       Y successes in N trials
standing.py     votes that stand, after retractions
squares.py      sums of squares of what each item has received, and the bias bound
hoeffding.py    intervals that hold for soft labels that change slowly
uncertainty.py  "people disagree" against "too few votes"
"""

from softspread.intervals.hoeffding import estimate_lipschitz, hoeffding
from softspread.intervals.squares import (
    DENSE_ITEMS,
    SumsOfSquares,
    dense_inverse,
    sums_for_newcomers,
    sums_of_squares,
)
from softspread.intervals.standing import StandingVotes, standing_votes
from softspread.intervals.uncertainty import uncertainty_split
from softspread.intervals.wilson import SNAP, snap_ends, wilson

__all__ = [
    "DENSE_ITEMS",
    "SNAP",
    "StandingVotes",
    "SumsOfSquares",
    "dense_inverse",
    "estimate_lipschitz",
    "hoeffding",
    "snap_ends",
    "standing_votes",
    "sums_for_newcomers",
    "sums_of_squares",
    "uncertainty_split",
    "wilson",
]
