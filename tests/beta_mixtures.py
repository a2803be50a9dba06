"""Mixtures of Beta distributions for tests, and their exact distribution function."""

import numpy as np
from scipy.special import betainc

from softspread._kernels.beta_mixture import Mixtures
from softspread.posterior.trust import RULE


def random_mixtures(n_items, n_classes, seed=0, spread=0.3, concentration=0.5):
    """Some items with own votes and some without; nu around a different number for every item."""
    rng = np.random.default_rng(seed)
    nus = RULE.nus
    m = rng.dirichlet(np.full(n_classes, concentration), n_items).astype(np.float32)
    total = rng.integers(0, 8, n_items) * (rng.random(n_items) < 0.7)
    own = rng.multinomial(total, m.astype(float) / m.sum(axis=1, keepdims=True, dtype=float)).astype(float)
    middle = rng.uniform(np.log(nus[0]), np.log(nus[-1]), n_items)
    weights = np.exp(-0.5 * ((np.log(nus) - middle[:, None]) / spread) ** 2)
    weights /= weights.sum(axis=1, keepdims=True)
    voted = np.flatnonzero(total)
    place = np.full(n_items, -1)
    place[voted] = np.arange(len(voted))
    return Mixtures(nus, weights, np.arange(n_items), m, own[voted], place)


def exact_cdf(mixtures, x):
    """F of every entry at its own x, from scipy."""
    place = mixtures.own_place[:, None]
    y = np.where(place >= 0, mixtures.own[mixtures.own_place], 0.0)
    a = mixtures.nus * mixtures.means[:, :, None].astype(float) + y[:, :, None]
    b = np.maximum(mixtures.nus + y.sum(axis=1)[:, None, None] - a, 0.0)
    tiny = np.finfo(float).tiny
    at = np.broadcast_to(x, mixtures.means.shape)[:, :, None]
    below = np.where(
        a <= 0, 1.0, np.where(b <= 0, 0.0, betainc(np.maximum(a, tiny), np.maximum(b, tiny), at))
    )
    below = np.where(at >= 1, 1.0, below)
    return (mixtures.weights[mixtures.place][:, None, :] * below).sum(axis=2)
