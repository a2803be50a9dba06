"""Draws of worlds that the posterior allows for a whole dataset, each with its own truth.

    law of trust, sharpness  ->  one true soft label per item  ->  RMSE, KL, accuracy of what is shown
                             ->  what the votes that were held out should have said

A world is one law of trust and one way to sharpen that the votes allow. It says how far the soft labels are
off, and it also predicts votes that we hold: so worlds can be checked, see :mod:`~softspread.quality.doubt`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.types import FloatArray, IntArray
from softspread._kernels.beta_mixture import Mixtures
from softspread.heldout.split import HeldOut
from softspread.metrics import KL_FLOOR
from softspread.posterior.blend import Blend, posterior_of
from softspread.posterior.experts import OwnVotes, no_votes
from softspread.posterior.posterior import Posterior, drawn, first_moments, second_moments
from softspread.quality.result import Trials
from softspread.votes.ballots import Ballots
from softspread.votes.table import ROUNDING


@dataclass(frozen=True, slots=True)
class WorldRule:
    """How many worlds are drawn, and on how many items each is looked at."""

    worlds: int = 100  # the ends of a 90 % interval then rest on five worlds each
    entries: int = 40_000  # items times classes of one world's truth: 400 items with 100 classes ...
    most_items: int = 2_000  # ... but no more than this many: their mean is known to 3 % of its spread
    fewest_items: int = 200  # ... and no fewer

    def n_items(self, n_classes: int) -> int:
        """Items on which one world is looked at."""
        return int(np.clip(self.entries // n_classes, self.fewest_items, self.most_items))


RULE = WorldRule()


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """The posterior of the items, and of the trials that check it.

    All three share one trust and the same ways to sharpen, so that one world speaks about all of them.
    """

    items: Posterior
    p: FloatArray  # (n, n_classes)  soft labels as they are shown
    trials: Posterior  # one row per trial, with the votes that its prediction saw
    voted: Posterior  # one row per item of ``Trials.votes``, without these votes

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.p.shape[1])


class Worlds(NamedTuple):
    """The figures of every world, (worlds,) each."""

    squared: FloatArray  # mean |p - t|^2 of the items
    kl: FloatArray
    wrong: FloatArray  # share of items whose shown class is not the most probable one
    differ: FloatArray  # mean chance that a vote names another class than the one shown
    noise: FloatArray  # mean chance that two votes on an item differ
    trial_brier: FloatArray  # expected score of the held-out votes ...
    trial_noise: FloatArray  # ... and the part of it that no prediction could avoid
    trial_cross: FloatArray  # expected -ln p of the held-out votes ...
    trial_entropy: FloatArray  # ... and the part of it that no prediction could avoid
    trial_differ: FloatArray  # expected share of them that name another class than the one shown
    repeat_noise: FloatArray  # chance that two votes on an item with several differ
    repeat_entropy: FloatArray

    def at(self, places: IntArray) -> "Worlds":
        """Some of the worlds, possibly several times."""
        return Worlds(*(values[places] for values in self))


def draw_worlds(
    beliefs: Beliefs, trials: Trials, repeated: IntArray, rng: np.random.Generator, rule: WorldRule = RULE
) -> Worlds:
    """Draw worlds from the posterior.

    Parameters
    ----------
    trials : those that the worlds have to predict, in the order of ``beliefs.trials``
    repeated : items of ``trials.votes`` with two or more votes
    """
    size = rule.n_items(beliefs.n_classes)
    items = _some(np.arange(beliefs.items.n_items), size, rng)
    few = _some(np.arange(len(trials.p)), size, rng)
    several = _some(repeated, size, rng)
    all_trials = np.arange(len(trials.p))
    share, few_share = trials.weights / trials.weights.sum(), trials.weights[few] / trials.weights[few].sum()
    log_p = np.log(np.maximum(trials.p, KL_FLOOR))
    top, squares = trials.p.argmax(axis=1), (trials.p**2).sum(axis=1)
    found = []
    for law, variant in beliefs.items.draw_worlds(rule.worlds, rng):
        shown = _shown(
            beliefs.items.under(law, beliefs.items.variants[variant], items), beliefs.p[items], rng
        )
        expected = first_moments(beliefs.trials.under(law, beliefs.trials.variants[variant], all_trials))
        noise, entropy = _unavoidable(beliefs.trials, law, variant, few, few_share, rng)
        even = np.full(len(several), 1 / max(1, len(several)))
        again = _unavoidable(beliefs.voted, law, variant, several, even, rng)
        found.append(
            (
                *shown,
                share @ (squares - 2 * (trials.p * expected).sum(axis=1) + 1),
                noise,
                -share @ (log_p * expected).sum(axis=1),
                entropy,
                1 - share @ expected[all_trials, top],
                *again,
            )
        )
    return Worlds(*np.array(found).T)


def _some(places: IntArray, number: int, rng: np.random.Generator) -> IntArray:
    return places if len(places) <= number else np.sort(rng.choice(places, number, replace=False))


def _shown(mixtures: Mixtures, p: FloatArray, rng: np.random.Generator) -> tuple[float, ...]:
    """Squared error, KL, shares of wrong classes and of votes for others, noise in one draw of the truth."""
    t, log_t = _truth(mixtures, rng)
    divergence = (t * (log_t - np.log(np.maximum(p, KL_FLOOR)))).sum(axis=1)
    top = p.argmax(axis=1)
    return (
        float(((t - p) ** 2).sum(axis=1).mean()),
        float(divergence.mean()),
        float((t.argmax(axis=1) != top).mean()),
        float(1 - t[np.arange(len(t)), top].mean()),
        float(1 - (t * t).sum(axis=1).mean()),
    )


def _unavoidable(
    posterior: Posterior, law: int, variant: int, rows: IntArray, share: FloatArray, rng: np.random.Generator
) -> tuple[float, float]:
    """Noise and entropy of the truth; 0 where there are no items."""
    if not len(rows):
        return 0.0, 0.0
    mixtures = posterior.under(law, posterior.variants[variant], rows)
    t, log_t = _truth(mixtures, rng)
    noise = 1 - second_moments(mixtures).sum(axis=1)
    return float(share @ noise), float(-share @ (t * log_t).sum(axis=1))


def _truth(mixtures: Mixtures, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """One draw of all soft labels, (r, n_classes), and its logarithm, kept above that of ``KL_FLOOR``."""
    logs = drawn(mixtures, np.arange(len(mixtures.means)), 1, rng)[0]
    logs -= logs.max(axis=1, keepdims=True)
    t = np.exp(logs)
    total = t.sum(axis=1, keepdims=True)
    return t / total, np.maximum(logs - np.log(total), np.log(KL_FLOOR))


def held_out_beliefs(
    blend: Blend, posterior: Posterior, p: FloatArray, ballots: Ballots, held: HeldOut
) -> Beliefs:
    """The posterior's beliefs about votes of its own fit, held out as in ``held``.

    Parameters
    ----------
    posterior : of all items
    p : (n, n_classes) soft labels as they are shown
    ballots : the votes of the fit
    """
    at, n_classes = held.position, ballots.n_classes
    kept = ballots.counts[at] - held.content.toarray()
    kept[kept <= ROUNDING * ballots.counts[at]] = 0.0
    voted = np.flatnonzero(kept.sum(axis=1) > 0)
    own = OwnVotes(voted, kept[voted], kept[voted], np.ones(len(voted), np.int64), len(at))
    q, size = blend.q_held, blend.log_size[ballots.voted]
    learned = blend.calibration, blend.trust, posterior.workers
    nobody = no_votes(len(q), n_classes)
    return Beliefs(
        posterior, p, posterior_of(q[at], size[at], own, *learned), posterior_of(q, size, nobody, *learned)
    )


def apart_beliefs(posterior: Posterior, p: FloatArray, rows: IntArray) -> Beliefs:
    """The posterior's beliefs about votes on some items that it has not seen."""
    part = posterior.part(rows)
    return Beliefs(posterior, p, part, part)
