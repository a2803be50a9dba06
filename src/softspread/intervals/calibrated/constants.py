"""The assumptions of calibrated intervals, with the reason for each number."""

from dataclasses import dataclass, replace

import numpy as np

from softspread.diffusion.diagonal import SampleRule
from softspread.diffusion.random_signs import SIGNS, SignRule
from softspread.heldout.masses import LOOSE, SAMPLE, HeldOutAccuracy
from softspread.votes.repeats import REPEATS, RepeatRule

Gaussian = tuple[float, float]  # centre and width
SAMPLE_OF_MANY = replace(SAMPLE, check_factor=0.1)  # means over many votes tell no more from tighter checks


@dataclass(frozen=True, slots=True)
class CalibrationModel:
    """Constants of the model.

    Centres and widths of the priors were chosen once, on the datasets of
    ``python -m experiments.interval_coverage``, then frozen.
    """

    # ----- prior mean
    kappas: tuple[float, ...] = (1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0)
    kappa_prior: Gaussian = (float(np.log(0.05)), 1.5)  # of ln kappa
    smallest_size: float = 1e-3  # effective number of other votes where none arrived
    least_squares: float = 1e-12  # sums of squares below this are rounding: nobody else is reached

    # ----- Brier curve
    alphas: tuple[float, ...] = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999)
    below: int = 3  # alphas of this grid below the one in use at which the score is looked at ...
    # ... and above. Two below and one above leave intervals of davidson as they are, but those of a sine with
    # 20,500 voted items then hold 79 % of the truth instead of 82
    above: int = 2
    window_tol: float = 1e-4  # of the scales at these alphas; only means over many votes are read from them
    accuracy: HeldOutAccuracy = LOOSE  # of the solves there; curve_noise forgives a hundred times as much
    signs: SignRule = SIGNS
    scales_of_many: SampleRule = SAMPLE_OF_MANY  # from as many voted items on
    curve_kappa: float = 0.01  # prior strength of the scored predictions
    curve_noise: float = 0.15  # of a difference of scores that the curve's form may miss
    curve_slack: float = 1e-4  # added to standard errors, so that no difference counts as known exactly
    curve_grid: int = 400
    curve_powers: tuple[float, ...] = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)  # smoothing error ~ reach^power
    largest_bias: float = 0.9  # share of the score that smoothing may explain
    noise_factor: float = 1.3  # neighbours' means are at least this much noisier than their effective size
    smallest_share: float = 1e-3  # of the error, from the curve ...
    largest_curve_share: float = 0.9  # ... and at most
    largest_share: float = 0.98  # altogether

    # ----- likelihood of repeated votes
    level_prior: Gaussian = (float(np.log(0.4)), 1.0)  # c
    slope_prior: Gaussian = (0.9, 0.15)  # b
    nugget_prior: Gaussian = (-3.0, 1.8)  # g
    nugget_starts: tuple[float, ...] = (-3.0, 1.5)  # the likelihood may have two local minima
    curve_prior: float = 0.3  # how far ln(mean Rs) may be from what the Brier curve says
    exponent_range: tuple[float, float] = (-6.0, 9.0)  # keeps Rs away from 0 and 1
    most_repeated: int = 20_000  # items with two or more votes to look at; more would not move the result
    repeats: RepeatRule = REPEATS  # with fewer items that have a second vote we warn

    # ----- intervals
    tail_share: float = 0.75  # of delta left out by a one-sided interval where the density peaks at 0 or 1


MODEL = CalibrationModel()
