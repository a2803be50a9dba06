"""From mass to soft labels.

p = (Y + kappa prior) / (N + kappa)                                                       theory: [soft label]
"""

import numpy as np

from softspread._common.types import AnyArray, FloatArray


def soft_labels(mass: FloatArray, prior: AnyArray, prior_strength: float) -> FloatArray:
    """(Y + kappa prior) / (N + kappa), rows summing to 1; the prior where both are 0. Theory [soft label]."""
    mass = np.maximum(mass, 0.0)  # a solver's rounding may leave -1e-12
    total = mass + prior_strength * prior
    evidence = total.sum(axis=1, keepdims=True)
    return np.where(evidence > 0, total / np.where(evidence > 0, evidence, 1.0), prior)
