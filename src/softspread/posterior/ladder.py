"""Spreading at several alphas, coarse to fine: what a small alpha does not reach, the next larger answers.

    q_a = (Y_a + b q_coarser) / (N_a + b),   Y_a without the item's own votes             theory: [ladder]
    q_a,t ~ f (q_a / f)^t                    f = class shares: the same with more contrast

The coarsest alpha backs off to the class shares. Votes travel far at a large alpha and blur what they say;
at a small one they stay sharp and reach few items. What a large alpha blurs is not lost: it shows in small
differences from the class shares, which a contrast t brings out. Held-out votes decide how much each counts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from softspread._common.progress import progress_bar
from softspread._common.types import FloatArray, IntArray
from softspread.diffusion.diagonal import OwnScales, found_scales, sampled_scales
from softspread.diffusion.diffusion import Diffusion, Spread
from softspread.diffusion.local_reach import LocalReach
from softspread.posterior.experts import Expert, Float32Array, OwnVotes, normalized_exp

Contrasts = tuple[tuple[float, float], ...]  # contrast, and its weight before any vote
PLAIN: Contrasts = ((1.0, 1.0),)  # spreading as it is


@dataclass(frozen=True, slots=True)
class LadderRule:
    """Rungs, and how well each must be known; design runs: docs/measurements-posterior.md."""

    # Alpha, coarse to fine, and for each contrast its weight before any vote. At 24 votes on two moons plain
    # spreading at .99 has an RMSE of .053, with contrast 2 of .032; .999 adds nothing to that.
    rungs: tuple[tuple[float, Contrasts], ...] = (
        (0.99, ((2.0, 2.0), (4.0, 1.0))),
        (0.95, ((1.0, 1.5), (2.0, 1.0))),
        (0.9, ((1.0, 1.5),)),
        (0.75, ((1.0, 1.0),)),
        (0.5, ((1.0, 0.3),)),
        (0.25, ((1.0, 0.1),)),
        (0.05, ((1.0, 0.1),)),
    )
    back_off: float = 0.02  # votes of the next coarser rung ...
    first_back_off: float = 1e-3  # ... and of the class shares below the coarsest
    tol: float = 1e-4  # relative residual of the solves: soft labels need two digits less than intervals
    found_scales: int = 3_000  # up to this many voted items every scale is found, beyond a sample
    hint_alpha: float = 0.5  # where scales are cheap, and show which of the costly ones are large
    sample: int = 32  # voted items whose reach shows how concentrated profiles are
    floor: float = 1e-3  # of their pushes ...
    least_size: float = 1e-2  # votes' worth that any prediction counts as
    high_alpha: float = 0.98  # ... ten times coarser from here, where profiles are wide and flat

    @property
    def alphas(self) -> tuple[float, ...]:
        """Coarse to fine."""
        return tuple(alpha for alpha, _ in self.rungs)

    def contrasts_at(self, alpha: float, alone: bool) -> Contrasts:
        """Contrasts and their weights; plain spreading where one alpha stands alone."""
        return PLAIN if alone else dict(self.rungs)[alpha]


RULE = LadderRule()


@dataclass(frozen=True, slots=True, eq=False)
class Rung:
    """Mass of every item at one alpha."""

    alpha: float
    mass: Float32Array  # (n, n_classes)  own votes included
    scales: FloatArray  # (v,)  of the voted items
    reach: FloatArray  # (v,)  what a voted item keeps of a vote of its own
    concentration: float  # sum phi^2 / sum phi of a typical vote, its own item left out
    noise: float  # typical error of the scales, as a share

    def without_own(self, own: OwnVotes) -> Float32Array:
        """(n, n_classes) mass from other items' votes."""
        others = self.mass.copy()
        own.add_to(others, -self.reach[:, None])
        return np.maximum(others, np.float32(0.0))


def climb(
    diffusion: Diffusion, own: OwnVotes, alphas: Sequence[float], rule: LadderRule = RULE
) -> list[Rung]:
    """Spread the votes at every alpha; ``alphas`` and the rungs go from coarse to fine.

    Solved from fine to coarse, each from the solution before.
    """
    rungs: list[Rung] = []
    hint: FloatArray | None = None
    spread: Spread | None = None
    with progress_bar("spreading", len(alphas), diffusion.verbose) as advance:
        for alpha in sorted(alphas):
            here = diffusion.at(alpha, tol=rule.tol)
            scales, hint = _scales(here, own.voted, hint, rule)
            spread = here.spread(own.voted, own.counts, scales=scales.scales, start=spread)
            mass = np.maximum(spread.mass(), 0.0).astype(np.float32)
            concentration = _concentration(here, own.voted[np.argsort(hint, kind="stable")], rule)
            rungs.append(Rung(alpha, mass, scales.scales, scales.reach, concentration, scales.noise))
            advance(1)
    return rungs[::-1]


def climb_together(
    diffusion: Diffusion,
    questions: Sequence[OwnVotes],
    alphas: Sequence[float] | None,
    rule: LadderRule = RULE,
) -> list[list[Rung]]:
    """The ladders of several questions about the same items, climbed once.

    The votes of all questions are columns of one system, and an item that several ask about has one scale.
    """
    voted = np.unique(np.concatenate([own.voted for own in questions]))
    places = [np.searchsorted(voted, own.voted) for own in questions]
    starts = np.cumsum([0, *(own.n_classes for own in questions)])
    counts = np.zeros((len(voted), starts[-1]))
    for own, place, first in zip(questions, places, starts, strict=False):
        counts[place, first : first + own.n_classes] = own.counts
    all_votes = OwnVotes(voted, counts, counts, np.ones(len(voted), np.int64), questions[0].n_items)
    rungs = climb(diffusion, all_votes, rule.alphas if alphas is None else alphas, rule)
    return [
        [
            replace(
                rung,
                mass=np.ascontiguousarray(rung.mass[:, first : first + own.n_classes]),
                scales=rung.scales[place],
                reach=rung.reach[place],
            )
            for rung in rungs
        ]
        for own, place, first in zip(questions, places, starts, strict=False)
    ]


def _scales(
    diffusion: Diffusion, voted: IntArray, hint: FloatArray | None, rule: LadderRule
) -> tuple[OwnScales, FloatArray]:
    """Scales of the voted items, and the hint for the next alpha: M_qq where it is cheap to find."""
    if hint is None:
        cheap = diffusion.at(min(rule.hint_alpha, diffusion.alpha))
        hint = cheap.diagonal(voted)
    few = len(voted) <= rule.found_scales and diffusion.alpha < rule.high_alpha
    if few or not len(voted) or diffusion.exact_scales:
        return found_scales(diffusion, voted), hint
    return sampled_scales(diffusion, voted, hint), hint


def _concentration(diffusion: Diffusion, voted: IntArray, rule: LadderRule) -> float:
    """Sum phi^2 / sum phi over the other items that a vote reaches; 1 where it reaches none."""
    if not len(voted) or diffusion.alpha == 0.0:
        return 1.0
    floor = rule.floor * (10.0 if diffusion.alpha >= rule.high_alpha else 1.0)
    sample = voted[np.linspace(0, len(voted) - 1, min(rule.sample, len(voted))).astype(np.int64)]
    squares = total = 0.0
    for row, (rows, phi) in zip(sample.tolist(), LocalReach(diffusion, floor)(sample), strict=True):
        others = phi[rows != row]
        squares, total = squares + float(others @ others), total + float(others.sum())
    return squares / total if total > 0 else 1.0


class Rating(NamedTuple):
    """Predictions of one expert of the ladder for some items."""

    name: str
    q: Float32Array  # (r, n_classes)
    log_size: Float32Array  # (r,)
    belief: float


def ladder_experts(
    rungs: Sequence[Rung], shares: Float32Array, own: OwnVotes, rule: LadderRule = RULE
) -> list[Expert]:
    """The experts of all rungs; ``shares`` (n, n_classes) is what the coarsest backs off to."""
    others = (rung.without_own(own) for rung in rungs)
    return [
        Expert(name, q[own.voted], q, log_size, belief)
        for name, q, log_size, belief in descend(rungs, others, shares, rule)
    ]


def descend(
    rungs: Sequence[Rung], others: Iterable[Float32Array], shares: Float32Array, rule: LadderRule = RULE
) -> Iterator[Rating]:
    """Predictions for any items, rung by rung, each with its contrasts.

    ``others`` is what reaches these items at each rung, their own votes left out.
    """
    q, back_off = shares, np.float32(rule.first_back_off)
    for rung, mass in zip(rungs, others, strict=True):
        total = mass.sum(axis=1)
        q = (mass + back_off * q) / (total + back_off)[:, None]
        log_size = np.log(np.maximum(total / np.float32(rung.concentration), np.float32(rule.least_size)))
        for contrast, belief in rule.contrasts_at(rung.alpha, len(rungs) == 1):
            name = f"alpha {rung.alpha:g}" + (f", contrast {contrast:g}" if contrast != 1 else "")
            yield Rating(name, with_contrast(q, shares, contrast), log_size, belief)
        back_off = np.float32(rule.back_off)


def with_contrast(q: Float32Array, shares: Float32Array, contrast: float) -> Float32Array:
    """Shares times (q / shares)^contrast, rows summing to 1."""
    if contrast == 1.0:
        return q
    logs = np.log(shares)
    logs += np.float32(contrast) * (np.log(np.maximum(q, np.float32(1e-9))) - logs)
    return normalized_exp(logs)
