"""How sharp the blend of experts should be, averaged over what the votes leave open.

    m = (1 - lam) q^tau / sum + lam pi,   pi = 0.7 class shares + 0.3 uniform            theory: [sharpening]

Experts that agree make their blend too blunt, experts that overfit too sharp. Held-out votes say which; a
part lam of the class shares keeps every class possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from softspread._common.types import FloatArray
from softspread.posterior.experts import Float32Array, normalized_exp


@dataclass(frozen=True, slots=True)
class Belief:
    """Prior of the settings, and how much the votes count against it."""

    usual_lam: float  # lam is near this / sqrt(votes) ...
    least_lam: float  # ... but not below this, nor below 1 / votes
    power: float  # of the likelihood


@dataclass(frozen=True, slots=True)
class CalibrationRule:
    """The grid of settings, and what is believed about them before any vote."""

    taus: tuple[float, ...] = (0.6, 0.8, 1.0, 1.2, 1.45, 1.75, 2.1, 2.5)  # below 1 blunter, above sharper
    lams: tuple[float, ...] = (0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
    spread: float = 0.35  # standard deviation of log tau
    # Soft labels take the votes at their word. Intervals doubt them: votes on neighbouring items repeat each
    # other, and a few of them that agree do not rule out the other classes.
    answer: Belief = Belief(usual_lam=0.1, least_lam=0.001, power=1.0)
    doubt: Belief = Belief(usual_lam=2.0, least_lam=0.02, power=0.5)
    uniform: float = 0.3  # of pi
    keep: int = 8  # settings that are averaged ...
    least: float = 0.02  # ... and none below this share of the best
    floor: float = 1e-6  # of q, before it is raised to a power


RULE = CalibrationRule()


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to sharpen, and its posterior probability."""

    tau: float
    lam: float
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Posterior of the sharpness."""

    settings: Sequence[Setting]  # of the soft labels
    doubts: Sequence[Setting]  # that intervals reckon with
    pi: FloatArray  # (n_classes,)

    def apply(self, q: Float32Array, setting: Setting) -> Float32Array:
        """Sharpen by one setting."""
        pi = self.pi.astype(np.float32)
        return np.float32(1 - setting.lam) * sharpened(q, setting.tau) + np.float32(setting.lam) * pi

    def average(self, q: Float32Array) -> Float32Array:
        """Mean over the settings."""
        total = np.zeros_like(q)
        for setting in self.settings:
            total += np.float32(setting.weight) * self.apply(q, setting)
        return total

    @property
    def tau(self) -> float:
        """Mean of tau."""
        return sum(setting.weight * setting.tau for setting in self.settings)


def sharpened(q: Float32Array, tau: float, floor: float = RULE.floor) -> Float32Array:
    """q^tau, rows summing to 1."""
    if tau == 1.0:
        return q
    return normalized_exp(np.float32(tau) * np.log(np.maximum(q, np.float32(floor))))


def fit_calibration(q: Float32Array, counts: FloatArray, rule: CalibrationRule = RULE) -> Calibration:
    """Weigh the settings by the votes.

    Parameters
    ----------
    q : (v, n_classes) blend for the voted items, without their own votes
    counts : (v, n_classes) their votes
    """
    total, n_classes = float(counts.sum()), counts.shape[1]
    shares = (counts.sum(axis=0) + 1) / (total + n_classes)
    pi = (1 - rule.uniform) * shares + rule.uniform / n_classes
    at, columns = np.nonzero(counts)
    votes = counts[at, columns]
    fits = np.empty((len(rule.taus), len(rule.lams)))
    for row, tau in enumerate(rule.taus):
        told = sharpened(q, tau)[at, columns].astype(np.float64)
        for column, lam in enumerate(rule.lams):
            fits[row, column] = votes @ np.log((1 - lam) * told + lam * pi[columns])
    return Calibration(
        _weighed(fits, rule.answer, total, rule), _weighed(fits, rule.doubt, total, rule), np.asarray(pi)
    )


def _weighed(fits: FloatArray, belief: Belief, n_votes: float, rule: CalibrationRule) -> list[Setting]:
    """The most probable settings, given their log likelihoods (taus, lams)."""
    # A vote or two judge nothing: then the class shares count about as much as the experts.
    usual = max(belief.least_lam, belief.usual_lam / np.sqrt(n_votes + 1), 1 / (n_votes + 1))
    distance = (np.log(rule.taus)[:, None] / rule.spread) ** 2 + np.log(np.array(rule.lams) / usual) ** 2
    logs = (belief.power * fits - 0.5 * distance).ravel()
    best = np.argsort(-logs, kind="stable")[: rule.keep]
    weights = np.exp(logs[best] - logs[best[0]])
    weights[weights < rule.least] = 0.0
    weights /= weights.sum()
    return [
        Setting(rule.taus[number // len(rule.lams)], rule.lams[number % len(rule.lams)], weight)
        for number, weight in zip(best.tolist(), weights.tolist(), strict=True)
        if weight > 0
    ]
