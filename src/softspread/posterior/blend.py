"""From votes to the posterior of every item.

    votes  ->  experts (ladder, classifiers, prior, shares)  ->  weights by held-out votes  ->  blend q
           ->  sharpness  ->  m  ->  trust from repeated votes  ->  posterior with each item's own votes

Judged and learned with predictions that have not seen an item's votes, answered with predictions that use all
of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from softspread._common.threads import Workers
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.posterior.calibration import RULE as CALIBRATION
from softspread.posterior.calibration import Belief, Calibration, CalibrationRule, Setting, fit_calibration
from softspread.posterior.classifiers import RULE as CLASSIFIERS
from softspread.posterior.classifiers import (
    BumpSpace,
    ClassifierRule,
    MainDirections,
    Model,
    OneScale,
    Space,
    classifier_experts,
)
from softspread.posterior.experts import (
    Expert,
    Float32Array,
    OwnVotes,
    alike,
    blended,
    blended_size,
    class_shares,
    no_votes,
    order_by_content,
    other_shares,
    prior_expert,
    shares_expert,
)
from softspread.posterior.kernels import RULE as KERNELS
from softspread.posterior.kernels import KernelRule, kernel_experts
from softspread.posterior.ladder import RULE as LADDER
from softspread.posterior.ladder import LadderRule, Rung, climb, descend, ladder_experts
from softspread.posterior.panel import RULE as PANEL
from softspread.posterior.panel import Panel, PanelRule, panel_experts
from softspread.posterior.posterior import Posterior, Variant
from softspread.posterior.records import pack_record, unpack_record
from softspread.posterior.stack import RULE as STACK
from softspread.posterior.stack import StackRule, stack_weights
from softspread.posterior.trust import RULE as TRUST
from softspread.posterior.trust import Bins, Trust, TrustRule, fit_trust


@dataclass(frozen=True, slots=True)
class BlendRule:
    """All constants of the blend in one place."""

    ladder: LadderRule = LADDER
    classifiers: ClassifierRule = CLASSIFIERS
    kernels: KernelRule = KERNELS
    stack: StackRule = STACK
    calibration: CalibrationRule = CALIBRATION
    trust: TrustRule = TRUST
    panel: PanelRule = PANEL
    shares_belief: float = 0.3
    prior_belief: float = 2.0  # whoever hands over a prior believes in it
    prior_size: float = 20.0  # votes that a prior is taken to rest on, where it matters how many


RULE = BlendRule()
SEEN_AT_ONCE = 8_000_000  # of 15 experts at 4 bytes: half a gigabyte
RECORDS = (  # what a blend is made of, for files
    *(BlendRule, LadderRule, ClassifierRule, KernelRule, StackRule, CalibrationRule, Belief, TrustRule),
    PanelRule,
    *(Rung, Space, BumpSpace, MainDirections, OneScale, Model, Calibration, Setting, Trust, Bins, OwnVotes),
)


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """The predictions of an expert that does not follow further votes."""

    source: str  # as of the expert
    final: Float32Array  # (n, n_classes)  no row where it counts nothing
    log_size: Float32Array  # (n,) or (1,)

    def on_rows(self, rows: IntArray | slice) -> tuple[Float32Array, Float32Array]:
        """Its predictions for some items, and their sizes."""
        if not len(self.final):
            return self.final, self.log_size
        return self.final[rows], self.log_size if len(self.log_size) == 1 else self.log_size[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """All that was learned from the votes: enough to answer, and to follow further votes."""

    names: Sequence[
        str
    ]  # class shares, ladder, classifiers, kernels, then a prior and models if there are any
    weights: FloatArray  # (experts,)
    rungs: Sequence[Rung]
    models: Sequence[tuple[Space, Model]]  # of the classifiers
    fixed: Sequence[Fixed]  # classifiers, kernels, prior, models
    calibration: Calibration
    trust: Trust
    own: OwnVotes  # of the fit
    q: Float32Array  # (n, n_classes)  blend before sharpening
    q_held: Float32Array  # (v, n_classes)  the same for the voted items, without their own votes
    log_size: Float32Array  # (n,)
    rule: BlendRule

    def posterior(self, workers: Workers, rows: IntArray | slice = slice(None)) -> Posterior:
        """The posterior of every item, or of some, as of the fit."""
        own, _ = self.own.on_rows(rows)
        return posterior_of(self.q[rows], self.log_size[rows], own, self.calibration, self.trust, workers)

    def posterior_of_rows(
        self,
        rows: IntArray | slice,
        own: OwnVotes,
        totals: FloatArray,
        more: Mapping[float, FloatArray],
        workers: Workers,
    ) -> Posterior:
        """The posterior of some items after further votes; what was learned stays.

        Work grows with their number, not with that of all items.

        Parameters
        ----------
        rows : (r,) the items
        own : what they hold by now, numbered as in ``rows``
        totals : (n_classes,) all votes by now, of all items
        more : what the further votes bring to these items at some of the alphas, (r, n_classes)
        """
        shares, _, size = other_shares(own, totals)
        ratings = descend(self.rungs, self.others(rows, own, more), shares, self.rule.ladder)
        ladder = ((rating.q, rating.log_size) for rating in ratings)
        predictions = chain([(shares, size)], ladder, self._fixed(rows))
        q, log_size = self._blend(predictions, own.n_items)
        return posterior_of(q, log_size, own, self.calibration, self.trust, workers)

    def others(
        self, rows: IntArray | slice, own: OwnVotes, more: Mapping[float, FloatArray]
    ) -> Iterator[Float32Array]:
        """(r, n_classes) what other items' votes bring to some items, rung by rung."""
        fitted, place = self.own.on_rows(rows)
        for rung in self.rungs:
            mass = rung.mass[rows] + np.float32(0.0)  # a copy, also of a slice
            reach = np.ones(own.n_items)
            reach[fitted.voted] = rung.reach[place]
            # Close to 1 further votes reach everything: there the fit's votes count until the next fit.
            counted = own if rung.alpha in more else fitted
            if rung.alpha in more:
                mass += more[rung.alpha].astype(np.float32)
            counted.add_to(mass, -reach[counted.voted, None])
            yield np.maximum(mass, np.float32(0.0))

    def posterior_of_new(
        self,
        ties: csr_array,
        X: AnyArray,
        masses: Sequence[Float32Array],
        workers: Workers,
        features: AnyArray | None = None,
    ) -> Posterior:
        """The posterior of new items, tied to the fitted ones.

        Parameters
        ----------
        ties : (r, n) rows of the operator, see :func:`~softspread.graph.extension.tie_newcomers`
        X : (r, d) the new items
        masses : what the fitted items hold at each rung
        features : (r, f) their unreduced features; None = not known
        """
        fixed = self.fixed_of_new(ties, X, features)
        q, log_size = self.predictions_of_new(ties, masses, fixed)
        nobody = no_votes(len(X), self.q.shape[1])
        return posterior_of(q, log_size, nobody, self.calibration, self.trust, workers)

    def predictions_of_new(
        self,
        ties: csr_array,
        masses: Sequence[Float32Array],
        fixed: Iterable[tuple[Float32Array, Float32Array]],
    ) -> tuple[Float32Array, Float32Array]:
        """Blend and log size of new items; ``fixed`` is what the experts say that do not move with votes."""
        n_new = ties.shape[0]
        shares = shares_expert(self.own, self.rule.shares_belief)
        start = np.tile(class_shares(self.own).astype(np.float32), (n_new, 1))
        others = (
            (rung.alpha * (ties @ mass)).astype(np.float32)
            for rung, mass in zip(self.rungs, masses, strict=True)
        )
        ratings = descend(self.rungs, others, start, self.rule.ladder)
        ladder = ((rating.q, rating.log_size) for rating in ratings)
        return self._blend(chain([(start, shares.log_size)], ladder, fixed), n_new)

    def _fixed(self, rows: IntArray | slice) -> Iterator[tuple[Float32Array, Float32Array]]:
        return (expert.on_rows(rows) for expert in self.fixed)

    def fixed_of_new(
        self, ties: csr_array, X: AnyArray, features: AnyArray | None
    ) -> Iterator[tuple[Float32Array, Float32Array]]:
        """Classifiers answer by themselves where they can; for the others the neighbours' mean stands in."""
        total = np.asarray(ties.sum(axis=1)).ravel()
        near = csr_array(ties.multiply(1 / np.where(total > 0, total, 1.0)[:, None]))
        for number, expert in enumerate(self.fixed):
            space, model = self.models[number] if number < len(self.models) else (None, None)
            seen = features if space is not None and space.name == MainDirections.name else X
            if not len(expert.final):
                yield expert.final, expert.log_size
            elif space is None or model is None or seen is None:
                yield _near(expert.final, near), _near(expert.log_size, near)
            else:
                yield model.predict(space.of(seen)).astype(np.float32), expert.log_size

    def _blend(
        self, predictions: Iterable[tuple[Float32Array, Float32Array]], n_items: int
    ) -> tuple[Float32Array, Float32Array]:
        q, log_size = np.zeros((n_items, self.q.shape[1]), np.float32), np.zeros(n_items, np.float32)
        for weight, (prediction, size) in zip(self.weights.tolist(), predictions, strict=True):
            if weight > 0:
                q += np.float32(weight) * prediction
                log_size += np.float32(weight) * size
        return q, log_size


def pack_blend(blend: Blend) -> tuple[Any, dict[str, AnyArray]]:
    """Plain values and arrays, for a file."""
    return pack_record(blend)


def unpack_blend(facts: Any, arrays: dict[str, AnyArray]) -> Blend:
    """The inverse of :func:`pack_blend`; KeyError or TypeError where a part is missing."""
    blend: Blend = unpack_record(facts, arrays, (Blend, Fixed, *RECORDS))
    return blend


def _near(values: Float32Array, near: csr_array) -> Float32Array:
    """Mean over each new item's neighbours, over all items where it has none; one value stays that value."""
    if len(values) == 1:
        return values
    alone = np.asarray(near.sum(axis=1)).ravel() == 0
    found = np.asarray(near @ values, dtype=np.float32)
    found[alone] = values.mean(axis=0)
    return found


def posterior_of(
    q: Float32Array,
    log_size: Float32Array,
    own: OwnVotes,
    calibration: Calibration,
    trust: Trust,
    workers: Workers,
) -> Posterior:
    """Posterior of items with a given blend, own votes, sharpness and trust."""
    m = calibration.average(q)

    def variant(setting: Setting) -> Variant:
        return setting.weight, lambda rows: calibration.apply(q[rows], setting)

    variants = [variant(setting) for setting in calibration.doubts]
    return Posterior(m, trust.groups(log_size, m), trust, own.voted, own.counts, variants, workers)


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What classifiers and kernels make of the features and the votes of one question."""

    by_content: IntArray  # (n,)  the items in the order in which folds are dealt
    classifiers: Sequence[tuple[Expert, Space, Model]]
    kernels: Sequence[Expert]


def see_together(
    diffusion: Diffusion,
    questions: Sequence[OwnVotes],
    X: AnyArray | None,
    features: AnyArray | None,
    rule: BlendRule = RULE,
    at_once: int = SEEN_AT_ONCE,
) -> Iterator[Sight]:
    """What each of several questions about the same items sees; what the answers do not change is found once.

    X and features as in :func:`fit_blend`. Predictions of experts that will count nothing wait until their
    question has learned: ``at_once``, items times classes of the questions seen together, limits these.
    """
    largest = max(own.n_items * own.n_classes for own in questions)
    step = max(1, at_once // max(1, largest))
    for first in range(0, len(questions), step):
        yield from _see(diffusion, questions[first : first + step], X, features, rule)


def _see(
    diffusion: Diffusion,
    questions: Sequence[OwnVotes],
    X: AnyArray | None,
    features: AnyArray | None,
    rule: BlendRule,
) -> list[Sight]:
    classified: dict[int, tuple[IntArray, list[tuple[Expert, Space, Model]]]] = {}
    kernels: dict[int, list[Expert]] = {}
    for order, numbers in alike(order_by_content(diffusion.graph.degrees, own) for own in questions):
        some = [questions[number] for number in numbers]
        found = classifier_experts(X, features, some, order, rule.classifiers)
        classified |= {number: (order, one) for number, one in zip(numbers, found, strict=True)}
    for _, numbers in alike(own.voted for own in questions):
        some = [questions[number] for number in numbers]
        weighted = kernel_experts(X, diffusion.graph.sigma2, some, rule.kernels)
        kernels |= dict(zip(numbers, weighted, strict=True))
    return [Sight(*classified[number], kernels[number]) for number in range(len(questions))]


def fit_blend(
    diffusion: Diffusion,
    own: OwnVotes,
    *,
    alphas: Sequence[float] | None = None,
    X: AnyArray | None = None,
    features: AnyArray | None = None,
    prior: FloatArray | None = None,
    panel: Panel | None = None,
    ordered: bool = False,
    rungs: Sequence[Rung] | None = None,
    sight: Sight | None = None,
    rule: BlendRule = RULE,
) -> Blend:
    """Learn everything from the votes.

    Parameters
    ----------
    diffusion : the graph with its solver; its alpha is not used
    own : the votes
    alphas : rungs of the ladder, coarse to fine; None = as the rule says
    X : (n, d) items as classifiers see them; None = no classifiers on them
    features : (n, f) unreduced features; None = none
    prior : (n, n_classes) given probabilities; None = none
    panel : what models say; None = there are none
    ordered : classes have an order, which scores of experts respect
    rungs : the ladder where it was climbed before, see :func:`~softspread.posterior.ladder.climb_together`
    sight : what :func:`see_together` found before, in place of X and features
    """
    shares = shares_expert(own, rule.shares_belief)
    if rungs is None:
        rungs = climb(diffusion, own, rule.ladder.alphas if alphas is None else alphas, rule.ladder)
    experts = [shares, *ladder_experts(rungs, shares.final, own, rule.ladder)]
    moving, models = len(experts), []  # shares and ladder answer from the rungs
    if sight is None:
        sight = next(see_together(diffusion, [own], X, features, rule))
    for expert, space, model in sight.classifiers:
        experts.append(expert)
        models.append((space, model))
    experts += sight.kernels
    if prior is not None:
        experts.append(prior_expert(prior, own, rule.prior_belief, rule.prior_size))
    if panel is not None:
        experts += panel_experts(panel, diffusion, own, rule.panel)
    weights = stack_weights(experts, own.mean_vote, rule.stack, own.places(sight.by_content), ordered)
    alone = (prior is not None or panel is not None) and not len(own.voted)
    if alone:  # nothing but the prior or the models says anything yet
        weights = np.eye(len(experts))[-1]
    q = blended([expert.final for expert in experts], weights)
    q_held = blended([expert.held for expert in experts], weights)
    log_size = blended_size(experts, weights, own.n_items)
    sharpness = fit_calibration(q_held, own.cast, rule.calibration)
    if alone:
        sharpness = replace(sharpness, settings=[Setting(1.0, rule.calibration.answer.least_lam, 1.0)])
    m, m_held = sharpness.average(q), sharpness.average(q_held)
    learned = fit_trust(log_size, m, own.voted, m_held, own.cast, own.n_votes, rule.trust)
    nothing = q[:0].copy()
    fixed = [
        Fixed(expert.source, expert.final if weight > 0 else nothing, expert.log_size)
        for expert, weight in zip(experts[moving:], weights[moving:], strict=True)
    ]
    names = [expert.name for expert in experts]
    return Blend(names, weights, rungs, models, fixed, sharpness, learned, own, q, q_held, log_size, rule)
