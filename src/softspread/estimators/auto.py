"""From "auto" to numbers: the settings that an estimator is fitted with.

    votes  ->  graph, alpha, prior strength by held-out votes (`tuning`)
           ->  how much each annotator's votes count (`annotators`)  ->  alpha and strength again, weighted

The second choice matters: with spammers toned down, votes need not travel as far to be averaged out.
"""

import warnings
from dataclasses import dataclass, replace
from functools import cache

from softspread._common.types import AnyArray, FloatArray
from softspread.annotators.fit import KAPPAS, fit_annotators, why_neutral
from softspread.annotators.report import AnnotatorFit, AnnotatorReport
from softspread.diffusion.diffusion import Diffusion
from softspread.errors import SoftspreadWarning
from softspread.graph.graph import Graph
from softspread.heldout.masses import ScaleMemory
from softspread.tuning.candidates import SearchSpace, SpreadOptions
from softspread.tuning.result import Choice, Tuning
from softspread.tuning.search import RULE as TUNING
from softspread.tuning.search import choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The chosen settings."""

    diffusion: Diffusion  # with the scales that were found on the way
    prior_strength: float
    tuning: Tuning | None  # None where nothing was open
    annotators: AnnotatorFit | None  # None where all votes count the same


def choose_settings(
    items: AnyArray | Graph,
    votes: VoteTable,
    n_classes: int,
    space: SearchSpace,
    annotator_model: str,
    prior: FloatArray | None,
    options: SpreadOptions,
    *,
    advise: bool = True,
) -> Settings:
    """Choose the open parameters; ``items`` is a Graph where the number of neighbours is given.

    Without ``advise`` no warning says that second votes are missing: the caller says so elsewhere.
    """
    named = annotator_model != "none" and votes.annotators is not None
    if isinstance(items, Graph) and not space.open and not named:
        return Settings(options.diffusion(items, space.alphas[0]), space.strengths[0], None, None)
    ballots, memory = Ballots.of(votes, n_classes), ScaleMemory()
    rule = TUNING if advise else replace(TUNING, blind_share=1.0)

    def search(
        on: AnyArray | Graph, counted: Ballots, space: SearchSpace, start: float | None = None
    ) -> Choice:
        return choose_parameters(
            on, counted, space, prior=prior, options=options, start=start, memory=memory, rule=rule
        )

    if isinstance(items, Graph) and not space.open:
        graph, alpha, strength, tuning = items, space.alphas[0], space.strengths[0], None
    else:
        first = search(items, ballots, space)
        graph, alpha, strength, tuning = first.graph, first.alpha, first.prior_strength, first.tuning
    diffusion_at = cache(options.diffusion(graph, alpha).at)  # each is made once, with its scales

    def choose(counted: Ballots, weighted: bool) -> tuple[Diffusion, float]:
        alphas = space.alphas if weighted else [alpha]  # without weights alpha was chosen already
        found = search(graph, counted, replace(space, alphas=alphas, strengths=KAPPAS), alpha)
        return diffusion_at(found.alpha), found.prior_strength

    if not named or _neutral(why_neutral(ballots), annotator_model):
        return Settings(diffusion_at(alpha), strength, tuning, None)
    fit = fit_annotators(
        diffusion_at(alpha),
        votes,
        n_classes,
        ballots=ballots,
        choose=choose if len(space.alphas) > 1 else None,
        confusion=annotator_model == "confusion",
        prior=prior,
    )
    if _neutral(fit.reason, annotator_model) or not space.open:
        return Settings(diffusion_at(alpha), strength, tuning, fit)
    # Soft votes already carry the neighbours' opinion and cannot judge it: the votes as cast do, weighted.
    again = search(graph, ballots.weighted(fit.annotator_weights), space, alpha)
    return Settings(diffusion_at(again.alpha), again.prior_strength, again.tuning, fit)


def _neutral(reason: str, annotator_model: str) -> bool:
    """Whether there is a reason to count all votes alike; warns where the user asked for something else."""
    if reason and annotator_model != "auto":
        warnings.warn(
            f"annotator_model={annotator_model!r} is not applied, all votes count the same: {reason}",
            SoftspreadWarning,
            stacklevel=5,
        )
    return bool(reason)


def rate_only(diffusion: Diffusion, votes: VoteTable, n_classes: int) -> AnnotatorReport:
    """Ratings of annotators that change no weight."""
    return fit_annotators(diffusion, votes, n_classes).report
