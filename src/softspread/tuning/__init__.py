"""Choosing alpha, the number of neighbours and the strength of a prior.

    votes  ->  predictions for voted items without their own votes  ->  score  ->  the setting with the lowest

held_out.py   which votes are held out, and what they count
masses.py     what voted items hold without them, warm-started from alpha to alpha
scores.py     the Brier score of all items from those of voted ones, theory [score]; the log score
choosing.py   the search; :func:`choose_parameters` is what estimators call
truth.py      Bayesian optimisation against a known truth, for studies
edge.py       :func:`tune`, what people call
"""

from softspread.tuning.choosing import (
    ALPHAS,
    NEIGHBORS,
    PRIOR_STRENGTHS,
    START_ALPHA,
    STRENGTHS,
    alpha_candidates,
    choose_parameters,
    neighbor_candidates,
    strength_candidates,
)
from softspread.tuning.edge import tune
from softspread.tuning.graphs import DEFAULT_NEIGHBORS, Spreading
from softspread.tuning.held_out import HeldOut, hold_out, own_votes
from softspread.tuning.masses import ScaleMemory, leave_one_out_masses, own_reach
from softspread.tuning.results import Choice, Tuning, TuningPoint

__all__ = [
    "ALPHAS",
    "DEFAULT_NEIGHBORS",
    "NEIGHBORS",
    "PRIOR_STRENGTHS",
    "START_ALPHA",
    "STRENGTHS",
    "Choice",
    "HeldOut",
    "ScaleMemory",
    "Spreading",
    "Tuning",
    "TuningPoint",
    "alpha_candidates",
    "choose_parameters",
    "hold_out",
    "leave_one_out_masses",
    "neighbor_candidates",
    "own_reach",
    "own_votes",
    "strength_candidates",
    "tune",
]
