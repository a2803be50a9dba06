"""Confusion matrices of annotators, and the soft votes that follow from them.

soft vote  ~  p_v(t) Pi_a[t, c_v]        theory: [confusion]
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import FloatArray
from softspread.annotators.consistency import (
    CONSISTENCY,
    ConsistencyModel,
    Posterior,
    consistency_posterior,
    sharpened,
)
from softspread.heldout.crowd import Crowd


@dataclass(frozen=True, slots=True)
class ConfusionModel:
    """Assumptions about confusions; source: docs/annotators.md."""

    strength: float = 20.0  # of r I + (1 - r) 1 u_a^T in each row of Pi_a
    steps: int = 3  # of expectation and maximisation; further ones hardly move the matrices
    surest: float = 0.98  # r in the prior of Pi_a: at 1 a class never confused could not be learned


CONFUSION = ConfusionModel()


def confuse_votes(
    crowd: Crowd,
    kappa: float,
    rounds: int,
    model: ConfusionModel = CONFUSION,
    consistency: ConsistencyModel = CONSISTENCY,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Soft votes (e, n_classes), confusion matrices (a, true, named) and factors (a,), theory [confusion].

    One latent class per vote, not per item: people may truly see different things in one item.
    """
    ballots = crowd.ballots
    soft = crowd.choices
    factors = np.ones(ballots.n_annotators)
    matrices = np.empty((0, ballots.n_classes, ballots.n_classes))
    for _ in range(rounds):
        amounts = soft * (ballots.weight * ballots.per_entry(factors))[:, None]
        others = crowd.others(amounts, crowd.own(amounts), consistency.strength(kappa))
        posterior = consistency_posterior(crowd, others, consistency)
        sharp = sharpened(others, crowd.class_shares, *posterior.sharpening)
        matrices = confusion_matrices(crowd, posterior, sharp, model)
        likely = others * matrices[crowd.who, :, crowd.columns]
        soft = crowd.choices.copy()
        soft[crowd.named] = likely / likely.sum(axis=1, keepdims=True)
        factors = posterior.weights()
    return soft, matrices, factors


def confusion_matrices(
    crowd: Crowd, posterior: Posterior, others: FloatArray, model: ConfusionModel = CONFUSION
) -> FloatArray:
    """(a, true, named) by a few steps of expectation and maximisation from the consistency model."""
    n_classes, who, columns = crowd.ballots.n_classes, crowd.who, crowd.columns
    r = np.minimum(posterior.mean, model.surest)[:, None, None]
    start = r * np.eye(n_classes) + (1 - r) * posterior.habits[:, None, :]
    gather = csr_array(
        (crowd.trust, (who * n_classes + columns, np.arange(len(who)))),
        shape=(crowd.ballots.n_annotators * n_classes, len(who)),
    )
    matrices = start
    for _ in range(model.steps):
        likely = others * matrices[who, :, columns]
        likely /= likely.sum(axis=1, keepdims=True)
        counts = (gather @ likely).reshape(-1, n_classes, n_classes).swapaxes(1, 2)
        matrices = counts + model.strength * start
        matrices /= matrices.sum(axis=2, keepdims=True)
    return np.asarray(matrices)
