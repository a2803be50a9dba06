"""Words become numbers: what an estimator is fitted with where the user wrote "auto".

    votes  ->  graph, alpha, prior strength by held-out votes (`tuning`)
           ->  how much each annotator's votes count (`annotators`)  ->  alpha and strength again, with these
           weights

The second choice matters: with spammers toned down, votes need not travel as far to be averaged out.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray
from softspread.annotators.choosing import KAPPAS, DiffusionAt
from softspread.annotators.fit import fit_annotators, why_neutral
from softspread.annotators.report import LEAST_PART, AnnotatorFit, AnnotatorReport
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadWarning
from softspread.graph.graph import Graph
from softspread.heldout.masses import ScaleMemory
from softspread.tuning.candidates import Spreading
from softspread.tuning.result import Choice, Tuning
from softspread.tuning.search import (
    START_ALPHA,
    alpha_candidates,
    choose_parameters,
    neighbor_candidates,
    strength_candidates,
)
from softspread.votes.table import VoteTable

TRUSTED_WEIGHT = 0.25  # a consistency of one half
ANNOTATOR_MODELS = ("auto", "none", "consistency", "confusion")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What may be chosen: one candidate = given by the user."""

    alphas: Sequence[float]
    neighbors: Sequence[int]
    strengths: Sequence[float]
    annotator_model: str

    @classmethod
    def read(
        cls, alpha: Any, n_neighbors: Any, prior_strength: Any, annotator_model: Any, has_prior: bool
    ) -> "Wishes":
        """Check an estimator's parameters."""
        return cls(
            alpha_candidates(alpha),
            neighbor_candidates(n_neighbors),
            strength_candidates(prior_strength, has_prior),
            validation.choice("annotator_model", annotator_model, ANNOTATOR_MODELS),
        )

    @property
    def open(self) -> bool:
        """Whether anything but the annotators' weights is to be chosen."""
        return max(len(self.alphas), len(self.neighbors), len(self.strengths)) > 1


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What was chosen."""

    diffusion: Diffusion  # with the scales that were found on the way
    prior_strength: float
    tuning: Tuning | None  # None where nothing was open
    annotators: AnnotatorFit | None  # None where all votes count the same


def settle(
    items: AnyArray | Graph,
    votes: VoteTable,
    n_classes: int,
    wishes: Wishes,
    prior: FloatArray | None,
    how: Spreading,
) -> Settings:
    """Choose what is open; ``items`` is a Graph where no number of neighbours is to be chosen."""
    memory = ScaleMemory()

    def choose(on: AnyArray | Graph, table: VoteTable, start: float = START_ALPHA) -> Choice:
        return choose_parameters(
            on,
            table,
            n_classes,
            alphas=wishes.alphas,
            neighbors=wishes.neighbors,
            prior=prior,
            strengths=wishes.strengths,
            how=how,
            start=start,
            memory=memory,
        )

    if wishes.open:
        first = choose(items, votes)
        graph, alpha, strength, tuning = first.graph, first.alpha, first.prior_strength, first.tuning
    else:
        assert isinstance(items, Graph)
        graph, alpha, strength, tuning = items, wishes.alphas[0], wishes.strengths[0], None
    diffusion_at = cache(how.diffusion(graph, alpha).at)  # each is made once, with its scales
    fit = _rate(diffusion_at, graph, how, votes, n_classes, wishes, alpha, prior, memory)
    if fit is None or not wishes.open:
        return Settings(diffusion_at(alpha), strength, tuning, fit)
    # Soft votes already carry the neighbours' opinion and cannot judge it: the votes as cast do, with their
    # weights.
    again = choose(graph, votes.with_weights(votes.weights * fit.weights), alpha)
    return Settings(diffusion_at(again.alpha), again.prior_strength, again.tuning, fit)


def _rate(
    diffusion_at: DiffusionAt,
    graph: Graph,
    how: Spreading,
    votes: VoteTable,
    n_classes: int,
    wishes: Wishes,
    alpha: float,
    prior: FloatArray | None,
    memory: ScaleMemory,
) -> AnnotatorFit | None:
    if wishes.annotator_model == "none" or votes.annotators is None:
        return None
    reason = why_neutral(votes)
    if reason:
        if wishes.annotator_model != "auto":
            warnings.warn(
                f"annotator_model={wishes.annotator_model!r} is not applied, all votes count the same: "
                f"{reason}",
                SoftspreadWarning,
                stacklevel=5,
            )
        return None

    def choose(table: VoteTable, factors: FloatArray) -> tuple[float, float]:
        weighted = table.with_weights(table.weights * factors)
        alphas = [alpha] if (factors == 1).all() else wishes.alphas  # all alike: alpha was chosen so already
        found = choose_parameters(
            graph,
            weighted,
            n_classes,
            alphas=alphas,
            strengths=KAPPAS,
            prior=prior,
            how=how,
            start=alpha,
            memory=memory,
        )
        return found.alpha, found.prior_strength

    fit = fit_annotators(
        diffusion_at,
        votes,
        n_classes,
        alphas=[alpha] if len(wishes.alphas) == 1 else wishes.alphas,
        choose=None if len(wishes.alphas) == 1 else choose,
        confusion=wishes.annotator_model == "confusion",
        prior=prior,
    )
    return fit if fit.applied else None


def rate_only(diffusion: Diffusion, votes: VoteTable, n_classes: int) -> AnnotatorReport:
    """What the votes say about those who cast them, where it changes no weight."""
    return fit_annotators(lambda _: diffusion, votes, n_classes, alphas=[diffusion.alpha]).report


class Weighting:
    """How much each vote counts, also for votes that come or go after the fit."""

    def __init__(self, fit: AnnotatorFit, votes: VoteTable) -> None:
        self.fit = fit
        self._soft: dict[tuple[int, int, Any], FloatArray] = {}
        if fit.soft_votes is not None and votes.annotators is not None:
            keys = zip(votes.rows.tolist(), votes.columns.tolist(), votes.annotators.tolist(), strict=True)
            self._soft = dict(zip(keys, fit.soft_votes, strict=True))

    def weigh(self, votes: VoteTable) -> VoteTable:
        """The same votes with their annotators' weights, for the classes they name."""
        return votes.with_weights(votes.weights * self.fit.weights_for(votes.annotators, len(votes)))

    def trusted(self, votes: VoteTable) -> VoteTable:
        """The votes of those who mostly vote with the crowd, as they were cast."""
        return votes.take(self.fit.weights_for(votes.annotators, len(votes)) >= TRUSTED_WEIGHT)

    def apply(self, votes: VoteTable) -> VoteTable:
        """The same votes as they count; one that stands for several classes becomes several.

        A vote of an annotator for an item and a class seen in the fit counts as it did there, so that taking
        it back leaves nothing; any other counts for the class it names, with its annotator's weight.
        """
        weighed = self.weigh(votes)
        if not self._soft or votes.annotators is None:
            return weighed
        weights = weighed.weights
        which, columns, parts = [], [], []
        keys = zip(votes.rows.tolist(), votes.columns.tolist(), votes.annotators.tolist(), strict=True)
        for number, key in enumerate(keys):
            soft = self._soft.get(key)
            classes = np.array([key[1]]) if soft is None else np.flatnonzero(soft > LEAST_PART)
            which.append(np.full(len(classes), number))
            columns.append(classes)
            parts.append(np.ones(1) if soft is None else soft[classes])
        at = np.concatenate(which) if which else np.empty(0, np.int64)
        return VoteTable(
            votes.rows[at],
            np.concatenate(columns) if columns else np.empty(0, np.int64),
            weights[at] * (np.concatenate(parts) if parts else np.empty(0)),
            votes.annotators[at],
        )
