"""What each annotator mixes up, and votes that become soft votes.

soft vote  ~  p_v(t) Pi_a[t, c_v]        theory: [confusion]
"""

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import FloatArray
from softspread.annotators.consistency import Posterior, consistency_posterior, tempered
from softspread.annotators.crowd import Crowd

CONFUSION_STRENGTH = 20.0  # of r I + (1 - r) 1 u_a^T in each row of Pi_a
CONFUSION_STEPS = 3
SUREST = 0.98  # r in the prior of Pi_a: at 1 a class never confused could not be learned


def confuse_votes(crowd: Crowd, kappa: float, rounds: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Soft votes (cells, n_classes), confusion matrices (a, true, named) and factors (a,), theory
    [confusion].

    One latent class per vote, not per item: people may truly see different things in one item.
    """
    cells = crowd.cells
    named, who, columns = cells.named, cells.who[cells.named], cells.columns[cells.named]
    soft = cells.choices()
    factors = np.ones(cells.n_annotators)
    matrices = np.empty((0, cells.n_classes, cells.n_classes))
    for _ in range(rounds):
        amounts = soft * (cells.weights * cells.spread_to_cells(factors))[:, None]
        others = crowd.others(crowd.spread(amounts), crowd.own(amounts), kappa)
        posterior = consistency_posterior(crowd, others)
        matrices = confusion_matrices(crowd, posterior, tempered(others, posterior.temper))
        likely = others * matrices[who, :, columns]
        soft = cells.choices()
        soft[named] = likely / likely.sum(axis=1, keepdims=True)
        factors = posterior.weights()
    return soft, matrices, factors


def confusion_matrices(crowd: Crowd, posterior: Posterior, others: FloatArray) -> FloatArray:
    """(a, true, named) by a few steps of expectation and maximisation from the consistency model."""
    cells = crowd.cells
    n_classes = cells.n_classes
    who, columns = cells.who[cells.named], cells.columns[cells.named]
    r = np.minimum(posterior.mean, SUREST)[:, None, None]
    start = r * np.eye(n_classes) + (1 - r) * posterior.habits[:, None, :]
    n_cells = len(who)
    cell_to_pair = csr_array(
        (crowd.trust, (who * n_classes + columns, np.arange(n_cells))),
        shape=(cells.n_annotators * n_classes, n_cells),
    )
    matrices = start
    for _ in range(CONFUSION_STEPS):
        likely = others * matrices[who, :, columns]
        likely /= likely.sum(axis=1, keepdims=True)
        counts = (cell_to_pair @ likely).reshape(-1, n_classes, n_classes).swapaxes(1, 2)
        matrices = counts + CONFUSION_STRENGTH * start
        matrices /= matrices.sum(axis=2, keepdims=True)
    return np.asarray(matrices)
