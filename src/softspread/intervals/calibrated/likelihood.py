"""The error share from items with two or more votes: a posterior of (c, b, g).

votes of item i ~ Dirichlet-multinomial(nu_i po_i),   nu_i = 1 / R_i(c, b, g) - 1     theory: [calibration]
"""

import numpy as np
from scipy.special import expit, gammaln, logit

from softspread._common.types import FloatArray
from softspread.intervals.calibrated.constants import MODEL, CalibrationModel
from softspread.votes.ballots import Ballots

Parameters = tuple[float, float, float]  # c, b, g


class Likelihood:
    """Negative log posterior of (c, b, g)."""

    def __init__(
        self,
        ballots: Ballots,
        log_sizes: FloatArray,
        po: FloatArray,
        curve_share: float,
        rng: np.random.Generator,
        model: CalibrationModel = MODEL,
    ) -> None:
        self.model, self.curve_share = model, curve_share
        self.voted_sizes = log_sizes[ballots.voted]
        self.voted_weights = ballots.totals / ballots.totals.sum()
        repeated = np.flatnonzero(ballots.opinions.number > 1)
        self.scale = max(1.0, len(repeated) / model.most_repeated)
        if len(repeated) > model.most_repeated:
            repeated = np.sort(rng.permutation(repeated)[: model.most_repeated])
        rows = ballots.voted[repeated]
        self.sizes, self.own = log_sizes[rows], ballots.totals[repeated]
        counts = ballots.counts[repeated]
        self.item, classes = np.nonzero(counts)  # classes without own votes drop out of the likelihood
        self.count = counts[self.item, classes]
        self.po = po[rows[self.item], classes]

    def smooth_share(self, log_sizes: FloatArray, c: float, b: float) -> FloatArray:
        """Rs for items with these effective sizes."""
        return np.asarray(1 / (1 + np.exp(np.clip(c + b * log_sizes, *self.model.exponent_range))))

    def mean_share(self, c: float, b: float) -> float:
        """Mean Rs over the votes."""
        return float(self.smooth_share(self.voted_sizes, c, b) @ self.voted_weights)

    def share(self, log_sizes: FloatArray, parameters: Parameters) -> FloatArray:
        """R for items with these effective sizes."""
        c, b, g = parameters
        nugget = float(expit(logit(self.mean_share(c, b)) + g))
        smooth = self.smooth_share(log_sizes, c, b)
        return np.asarray(smooth + (1 - smooth) * nugget)

    def __call__(self, parameters: FloatArray) -> float:
        c, b, g = (float(value) for value in parameters)
        model = self.model
        priors = (model.level_prior, model.slope_prior, model.nugget_prior)
        value = sum(
            0.5 * ((x - centre) / width) ** 2 for x, (centre, width) in zip((c, b, g), priors, strict=True)
        )
        if not np.isnan(self.curve_share):
            value += 0.5 * (np.log(self.mean_share(c, b) / self.curve_share) / model.curve_prior) ** 2
        if len(self.own):
            nu = 1 / self.share(self.sizes, (c, b, g)) - 1
            a = nu[self.item] * self.po
            fit = (gammaln(nu) - gammaln(nu + self.own)).sum() + (gammaln(a + self.count) - gammaln(a)).sum()
            value -= self.scale * float(fit)
        return float(value)

    def best(self) -> Parameters:
        """The better of the local minima reached from each start."""
        from scipy.optimize import minimize  # slow to load, and only needed here

        options = {"maxiter": 300, "xatol": 1e-2, "fatol": 1e-2}
        centre = [self.model.level_prior[0], self.model.slope_prior[0]]
        found = [
            minimize(self, [*centre, start], method="Nelder-Mead", options=options)
            for start in self.model.nugget_starts
        ]
        c, b, g = min(found, key=lambda result: float(result.fun)).x
        return float(c), float(b), float(g)
