"""From votes with names to weights: rate, weight, rate again; estimators call :func:`fit_annotators`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from softspread._common.types import FloatArray
from softspread._common.wording import counted
from softspread.annotators.confusion import ConfusionModel, confuse_votes
from softspread.annotators.consistency import (
    ConsistencyModel,
    Posterior,
    consistency_posterior,
    rate_annotators,
)
from softspread.annotators.evidence import EvidenceRule, others_say_something
from softspread.annotators.report import AnnotatorFit, AnnotatorReport
from softspread.annotators.verdict import UNKNOWN, flags
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.crowd import Crowd, OwnMassRule
from softspread.heldout.masses import voted_mass
from softspread.heldout.scores import leave_one_out_scores
from softspread.votes.ballots import Ballots
from softspread.votes.table import ROUNDING, VoteTable

KAPPAS = (0.01, 0.1, 0.3, 1.0)  # prior strengths to choose from
NOTHING_SHARED = "no annotator's votes can be predicted from those of the others; nothing shows who strays."
Choose = Callable[[Ballots, bool], tuple[Diffusion, float]]


@dataclass(frozen=True, slots=True)
class AnnotatorModel:
    """When and how annotators are rated."""

    min_annotators: int = 3  # with two, nobody can tell which of them strays
    min_votes: float = 100  # below, intervals of r are about as wide as [0, 1]
    first_rounds: int = 3  # weights move by less than 0.01 afterwards
    last_rounds: int = 2
    confusion_rounds: int = 3
    # An annotator "does not follow the crowd" if r is below this. .3 missed more of those who vote at random
    # with the class shares: 80 votes leave r open by about .3.
    flag_below: float = 0.4
    # ... with this probability. The highest of 2,784 honest people in the design crowds was .963, of 1,632 in
    # the judging crowds .888 (docs/measurements-annotators.md).
    flag_probability: float = 0.97
    check_probability: float = 0.5  # above this one, a look pays: probably so, not enough votes to be sure
    tail: float = 0.05  # the interval holds r with probability 0.9
    consistency: ConsistencyModel = field(default_factory=ConsistencyModel)
    confusion: ConfusionModel = field(default_factory=ConfusionModel)
    evidence: EvidenceRule = field(default_factory=EvidenceRule)
    own_mass: OwnMassRule = field(default_factory=OwnMassRule)


MODEL = AnnotatorModel()


def fit_annotators(
    diffusion: Diffusion,
    votes: VoteTable,
    n_classes: int,
    *,
    ballots: Ballots | None = None,
    kappas: Sequence[float] = KAPPAS,
    prior: FloatArray | None = None,
    choose: Choose | None = None,
    confusion: bool = False,
    model: AnnotatorModel = MODEL,
) -> AnnotatorFit:
    """Rate annotators by how they vote with the crowd, and weight their votes, theory [consistency].

    Parameters
    ----------
    diffusion : the graph at the alpha in use
    votes : votes without a name count 1 and take no part in the model
    ballots : of these votes, where they are known already
    kappas : prior strengths to choose from by leaving one vote out
    prior : (n, n_classes), enters the choice of kappa only; None = uniform
    choose : (ballots, whether they are weighted by annotator) -> (diffusion, kappa), in place of both
    confusion : also turn votes into soft votes, theory [confusion]; pays from two votes per item on

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import knn_graph
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1, 2, 3], 50)
    >>> graph = knn_graph(rng.normal(size=(200, 2)) + 6 * truth[:, None], n_neighbors=10)
    >>> rows = rng.integers(0, 200, 300)
    >>> names = np.array(["ann", "bob", "cid", "eve"], dtype=object)[rng.integers(0, 4, 300)]
    >>> labels = np.where(names == "eve", rng.integers(0, 4, 300), truth[rows])
    >>> fit = fit_annotators(Diffusion(graph, 0.9), VoteTable(rows, labels, np.ones(300), names), 4)
    >>> fit.report.flag.tolist()
    ['ok', 'ok', 'ok', 'does not follow']
    """
    ballots = Ballots.of(votes, n_classes) if ballots is None else ballots

    def by_held_out_votes(weighted: Ballots, _: bool) -> tuple[Diffusion, float]:
        return diffusion, _choose_strength(diffusion, weighted, kappas, prior)

    choose = by_held_out_votes if choose is None else choose
    here, kappa = choose(ballots, False)
    crowd = Crowd(here, ballots, model.own_mass)
    reason = why_neutral(ballots, model)
    if not reason and not others_say_something(crowd, kappa, model.consistency, model.evidence):
        reason = NOTHING_SHARED
    if reason:
        ones = np.ones(len(votes)), np.ones(ballots.n_annotators)
        report = _unknown(crowd, kappa, model)
        return AnnotatorFit(ones[0], None, report, here.alpha, kappa, reason, annotator_weights=ones[1])
    posterior = rate_annotators(crowd, kappa, model.first_rounds, model.consistency)
    again, kappa = choose(ballots.weighted(posterior.weights()), True)
    if again.alpha != here.alpha:
        crowd = Crowd(again, ballots, model.own_mass)
    posterior = rate_annotators(crowd, kappa, model.last_rounds, model.consistency)
    weights, soft_votes, matrices = posterior.weights(), None, None
    if confusion:
        soft, matrices, weights = confuse_votes(
            crowd, kappa, model.confusion_rounds, model.confusion, model.consistency
        )
        soft_votes = np.eye(n_classes)[votes.columns]  # what was taken back stays what it was, and cancels
        stands = ballots.entry_of_row >= 0
        soft_votes[stands] = soft[ballots.entry_of_row[stands]]
    unit = effective_unit(weights, ballots.weight_of_annotators)
    fit = AnnotatorFit(
        np.empty(0),
        soft_votes,
        _report(ballots, posterior, model),
        again.alpha,
        kappa,
        newcomer_weight=unit * (posterior.prior_mean**2 + model.consistency.least_weight),
        confusion=matrices,
        annotator_weights=unit * weights,
    )
    return replace(fit, weights=fit.weights_for(votes.annotators, len(votes)))


def effective_unit(weights: FloatArray, n_votes: FloatArray) -> float:
    """The factor that makes all weights together the effective number of votes, (sum w)^2 / sum w^2.

    r is known up to a factor common to the crowd, and so is its square. Where all are alike, a vote counts 1.
    """
    return float(n_votes @ weights / (n_votes @ weights**2))


def _choose_strength(
    diffusion: Diffusion, ballots: Ballots, kappas: Sequence[float], prior: FloatArray | None
) -> float:
    """The strength with the best leave-one-vote-out Brier score."""
    if len(kappas) == 1 or not ballots.n_votes:
        return float(kappas[0])
    held = voted_mass(diffusion, ballots.voted, ballots.counts)
    uniform = np.full((len(ballots.voted), ballots.n_classes), 1 / ballots.n_classes)
    scores = leave_one_out_scores(held, ballots, uniform if prior is None else prior[ballots.voted], kappas)
    return float(kappas[int(np.argmin(scores))])


def why_neutral(ballots: Ballots, model: AnnotatorModel = MODEL) -> str:
    """Why these votes do not show how annotators differ; empty where they do."""
    n_votes, n_annotators = float(ballots.weight_of_annotators.sum()), ballots.n_annotators
    if n_annotators < model.min_annotators:
        named = counted(n_annotators, "named annotator")
        return f"{named}; at least {model.min_annotators} are needed to compare them with each other."
    if n_votes < model.min_votes * (1 - ROUNDING):
        return f"{n_votes:g} votes by named annotators; about {model.min_votes:g} are needed to compare them."
    if len(np.unique(ballots.column)) < 2:
        return "all votes name the same class; nothing distinguishes annotators."
    return ""


def _report(ballots: Ballots, posterior: Posterior, model: AnnotatorModel) -> AnnotatorReport:
    not_following = posterior.density[:, posterior.model.grid < model.flag_below].sum(axis=1)
    return AnnotatorReport(
        ballots.names,
        ballots.weight_of_annotators,
        posterior.agreement,
        posterior.mean,
        posterior.quantile(model.tail),
        posterior.quantile(1 - model.tail),
        not_following,
        flags(not_following, model.check_probability, model.flag_probability),
    )


def _unknown(crowd: Crowd, kappa: float, model: AnnotatorModel) -> AnnotatorReport:
    """Nothing learned: r is anything between 0 and 1."""
    ballots = crowd.ballots
    n = ballots.n_annotators
    agreement = np.full(n, np.nan)
    if n and len(np.unique(ballots.annotator)) > 1:  # others voted too, with or without a name
        others = crowd.others(crowd.cast, crowd.own_as_cast, model.consistency.strength(kappa))
        agreement = consistency_posterior(crowd, others, model.consistency).agreement
    return AnnotatorReport(
        ballots.names,
        ballots.weight_of_annotators,
        agreement,
        np.full(n, 0.5),
        np.full(n, model.tail),
        np.full(n, 1 - model.tail),
        np.full(n, model.flag_below),
        np.full(n, UNKNOWN, dtype=object),
    )
