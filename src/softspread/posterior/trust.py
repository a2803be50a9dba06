"""How far what others say can be trusted: a distribution over how many votes it is worth.

    p_i ~ Dirichlet(nu_i m_i),   ln nu_i ~ N(mu + b z_i + e x_i, s^2)                    theory: [trust]

z is the logarithm of the number of votes behind m, x that of 1 - max m, both measured from their mean over
all votes, each weighted by how far it is expected to be off. Only items with two or more votes can tell: a
single vote has law m whatever nu is. Everything they leave open about (mu, s, b, e) stays open as a posterior
over a grid, so that with few repeated votes intervals stay wide.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr

from softspread._common.types import BoolArray, FloatArray, IntArray
from softspread.posterior.experts import Float32Array


@dataclass(frozen=True, slots=True)
class TrustRule:
    """The grid of laws, and what is believed about them before any repeated vote."""

    smallest: float = 0.08  # votes' worth; less is as good as none
    largest: float = 400.0  # more is as good as certain
    n_nus: int = 16
    n_means: int = 16  # of mu, between ln smallest and ln largest_mean
    largest_mean: float = 300.0
    spreads: tuple[float, ...] = (0.3, 0.7, 1.4)  # s
    size_slopes: tuple[tuple[float, float], ...] = ((0.0, 0.25), (0.5, 0.5), (1.0, 0.25))  # b, probability
    # e, probability: where neighbours agree with each other they are worth more votes. At one vote an item,
    # judged by held-out votes of the same items, e is about -.5 on cifar10h, davidson and labelme alike.
    doubt_slopes: tuple[tuple[float, float], ...] = ((-1.0, 0.25), (-0.5, 0.5), (0.0, 0.25))
    size_bins: int = 6
    doubt_bins: int = 5
    furthest: float = 3.0  # z and x count no further from the middle
    least_cap: int = 5  # nu is never capped below this place of the grid: the size of a blend is rough
    # mu: the share R = 1 / (1 + nu) of the held-out loss that is not noise of single votes is uniform, times
    # (1 - R)^noise: people's votes are noisy. Without any repeated vote this is a policy, not knowledge. R is
    # then .4 on average; held-out votes say .62 to .74 on cifar10h, .34 on davidson, .20 on labelme.
    noise: float = 0.5
    least_doubt: float = 1e-3  # 1 - max m counts as at least this
    block: int = 20_000  # repeated items whose likelihoods are summed at once

    @property
    def nus(self) -> FloatArray:
        """(n_nus,) the grid of nu."""
        return np.geomspace(self.smallest, self.largest, self.n_nus)


RULE = TrustRule()


class Bins(NamedTuple):
    """Classes of one covariate, by quantiles."""

    edges: FloatArray
    centres: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """Posterior of nu."""

    nus: FloatArray  # (k,)
    laws: FloatArray  # (h, g, k)  distribution of nu in each group of items under each law
    chances: FloatArray  # (h,)  posterior probability of each law
    sizes: Bins
    doubts: Bins
    n_repeated: int  # items with two or more votes, which it was learned from
    rule: TrustRule

    @property
    def law(self) -> FloatArray:
        """(g, k) distribution of nu in each group, averaged over the laws."""
        return np.tensordot(self.chances, self.laws, 1)

    def groups(self, log_size: Float32Array, m: Float32Array) -> IntArray:
        """(n,) the group of each item."""
        doubt = np.log(np.maximum(1 - m.max(axis=1), self.rule.least_doubt))
        at = np.searchsorted(self.sizes.edges, log_size), np.searchsorted(self.doubts.edges, doubt)
        return np.asarray(at[0] * len(self.doubts.centres) + at[1])

    def draws(self, number: int) -> IntArray:
        """Laws drawn evenly from their posterior."""
        spaced = (np.arange(number) + 0.5) / number
        return np.searchsorted(np.cumsum(self.chances), spaced).clip(0, len(self.chances) - 1)


def log_likelihood(nus: FloatArray, m: Float32Array, counts: FloatArray) -> FloatArray:
    """(items, k) Dirichlet-multinomial log likelihood of each item's votes under each nu."""
    at, columns = np.nonzero(counts)
    votes = counts[at, columns]
    a = np.maximum(m[at, columns].astype(np.float64), 1e-12)[:, None] * nus
    rising = log_rising(a, votes[:, None])
    found = np.zeros((len(m), len(nus)))
    if len(at):  # entries come sorted by item
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        found[at[starts]] = np.add.reduceat(rising, starts, axis=0)
    return np.asarray(found - log_rising(nus, counts.sum(axis=1)[:, None]))


def log_rising(a: FloatArray, votes: FloatArray) -> FloatArray:
    """Logarithm of a (a + 1) ... (a + votes - 1); a vote of weight w < 1 adds w times what a whole one would.

    The gamma function would read a single light vote as a sign of large nu: it must say nothing.
    """
    whole = np.floor(votes)
    return np.asarray(gammaln(a + whole) - gammaln(a) + (votes - whole) * np.log(a + whole))


def fit_trust(
    log_size: Float32Array,
    m: Float32Array,
    voted: IntArray,
    m_held: Float32Array,
    counts: FloatArray,
    n_votes: IntArray,
    rule: TrustRule = RULE,
) -> Trust:
    """Learn from repeated votes.

    Parameters
    ----------
    log_size : (n,) logarithm of the votes behind the blend
    m : (n, n_classes) blend as it answers
    voted : (v,) items with votes
    m_held : (v, n_classes) blend for them without their own votes
    counts : (v, n_classes) their votes
    n_votes : (v,) how many observations these are
    """
    doubt = np.log(np.maximum(1 - m.max(axis=1), rule.least_doubt))
    held_doubt = np.log(np.maximum(1 - m_held.max(axis=1), rule.least_doubt))
    sizes, doubts = _bins(log_size, rule.size_bins), _bins(doubt, rule.doubt_bins)
    # A vote drawn from m is off from it by this much in square: so R is the share of the whole loss.
    weight = n_votes * (1 - np.square(m_held, dtype=np.float64).sum(axis=1))
    z = _centred(sizes.centres, log_size[voted], weight, rule)
    x = _centred(doubts.centres, held_doubt, weight, rule)
    nus = rule.nus
    laws, believed = _laws(np.repeat(z, len(x)), np.tile(x, len(z)), np.repeat(sizes.centres, len(x)), rule)
    repeated = n_votes > 1
    start = Trust(nus, laws, np.ones(len(laws)), sizes, doubts, int(repeated.sum()), rule)
    group = start.groups(log_size[voted], m_held)
    logs = believed + _evidence(laws, group, m_held, observations(counts, n_votes), repeated, nus, rule)
    chances = np.exp(logs - logs.max())
    return Trust(nus, laws, chances / chances.sum(), sizes, doubts, int(repeated.sum()), rule)


def observations(counts: FloatArray, n_votes: IntArray) -> FloatArray:
    """Counts scaled down to the number of votes: one heavy vote does not agree with itself."""
    total = np.maximum(counts.sum(axis=1), np.finfo(np.float64).tiny)
    return np.asarray(counts * np.minimum(1.0, n_votes / total)[:, None])


def _evidence(
    laws: FloatArray,
    group: IntArray,
    m_held: Float32Array,
    counts: FloatArray,
    repeated: BoolArray,
    nus: FloatArray,
    rule: TrustRule,
) -> FloatArray:
    """(h,) log likelihood of the repeated votes under each law."""
    found = np.zeros(len(laws))
    rows = np.flatnonzero(repeated)
    for first in range(0, len(rows), rule.block):
        part = rows[first : first + rule.block]
        likely = log_likelihood(nus, m_held[part], counts[part])
        likely = np.exp(likely - likely.max(axis=1, keepdims=True))
        for number in np.unique(group[part]).tolist():
            mixed = laws[:, number] @ likely[group[part] == number].T
            found += np.log(mixed + np.finfo(np.float64).tiny).sum(axis=1)
    return found


def _bins(values: Float32Array | FloatArray, number: int) -> Bins:
    edges = np.unique(np.quantile(values, np.arange(1, number) / number)).astype(np.float64)
    place = np.searchsorted(edges, values)
    size = np.bincount(place, minlength=len(edges) + 1)
    total = np.bincount(place, values, len(edges) + 1)
    middle = float(np.mean(values))
    return Bins(edges, np.where(size > 0, total / np.maximum(size, 1), middle))


def _centred(
    centres: FloatArray, values: Float32Array | FloatArray, weight: FloatArray, rule: TrustRule
) -> FloatArray:
    """Centres measured from the weighted mean."""
    middle = float(np.average(values, weights=weight)) if weight.sum() > 0 else float(centres.mean())
    return np.clip(centres - middle, -rule.furthest, rule.furthest)


def _laws(
    z: FloatArray, x: FloatArray, log_size: FloatArray, rule: TrustRule
) -> tuple[FloatArray, FloatArray]:
    """(h, g, k) distributions of nu, none above the votes behind m, and (h,) what is believed about them."""
    logs = np.log(rule.nus)
    cuts = np.concatenate([[-np.inf], (logs[1:] + logs[:-1]) / 2, [np.inf]])
    means = np.linspace(np.log(rule.smallest), np.log(rule.largest_mean), rule.n_means)
    cap = np.maximum(np.searchsorted(logs, log_size).clip(0, len(logs) - 1), rule.least_cap)
    beyond = np.arange(len(logs)) > cap[:, None]
    laws, believed = [], []
    for mu in means.tolist():
        share = 1 / (1 + np.exp(mu))  # R; uniform in R is logistic in mu
        usual = np.log(share) + (1 + rule.noise) * np.log1p(-share)
        for spread in rule.spreads:
            for b, chance_b in rule.size_slopes:
                for e, chance_e in rule.doubt_slopes:
                    law = np.diff(ndtr((cuts - (mu + b * z + e * x)[:, None]) / spread), axis=1)
                    law[np.arange(len(law)), cap] += np.where(beyond, law, 0.0).sum(axis=1)
                    laws.append(np.where(beyond, 0.0, law))
                    believed.append(usual + np.log(chance_b * chance_e))
    return np.array(laws), np.array(believed)
