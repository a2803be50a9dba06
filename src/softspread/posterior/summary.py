"""Expectations of the posterior for every item: entropy, and distance from the soft label shown.

    a_kc = nu_k m_c + y_c,   c_k = nu_k + t
    E H(p) = sum_k w_k (digamma(c_k + 1) - sum_c a_kc / c_k digamma(a_kc + 1))    theory: [two uncertainties]

H(mean) = E H(p) + what one more vote would tell about p: what people disagree about, and what is not known.
"""

import numpy as np
from scipy.special import digamma

from softspread._common.threads import Workers
from softspread._common.types import FloatArray, IntArray
from softspread._kernels.beta_mixture import Mixtures

BLOCK_TERMS = 2_000_000  # items times classes times components per task: 16 MB


def expected_entropy(mixtures: Mixtures, workers: Workers) -> FloatArray:
    """(r,) expected entropy of each true soft label."""
    n_rows, n_classes = mixtures.means.shape
    found = np.empty(n_rows)

    def work(part: slice) -> None:
        found[part] = _entropy_of(mixtures, np.arange(part.start, part.stop))

    size = max(1, BLOCK_TERMS // (n_classes * len(mixtures.nus)))
    workers.run(work, [slice(first, min(first + size, n_rows)) for first in range(0, n_rows, size)])
    return found


def _entropy_of(mixtures: Mixtures, rows: IntArray) -> FloatArray:
    a, weights = concentrations(mixtures, rows)
    total = a.sum(axis=2)
    inner = (a * digamma(a + 1)).sum(axis=2) / total
    return np.asarray((weights * (digamma(total + 1) - inner)).sum(axis=1))


def concentrations(mixtures: Mixtures, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """(rows, k, n_classes) parameters of every Dirichlet component, and (rows, k) their weights."""
    a = mixtures.nus[:, None] * mixtures.means[rows, None, :].astype(np.float64)
    place = mixtures.own_place[rows]
    mine = np.flatnonzero(place >= 0)
    a[mine] += mixtures.own[place[mine], None, :]
    return a, np.asarray(mixtures.weights[mixtures.place[rows]])
