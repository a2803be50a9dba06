"""From votes with names to weights: rate, weight, rate again; :func:`fit_annotators` is what estimators
call.
"""

from collections.abc import Callable, Sequence

import numpy as np

from softspread._common.types import FloatArray
from softspread.annotators.cells import NetVotes, net_votes
from softspread.annotators.choosing import KAPPAS, DiffusionAt, choose_alpha_kappa
from softspread.annotators.confusion import confuse_votes
from softspread.annotators.consistency import (
    CONSISTENCIES,
    LEAST_WEIGHT,
    Posterior,
    consistency_posterior,
    rate_annotators,
)
from softspread.annotators.crowd import Crowd
from softspread.annotators.report import AnnotatorFit, AnnotatorReport
from softspread.votes.table import RETRACTED, VoteTable

MIN_ANNOTATORS = 3  # with two, nobody can tell who of them strays
MIN_VOTES = 100  # below, intervals of r are about as wide as [0, 1]
FIRST_ROUNDS, LAST_ROUNDS, CONFUSION_ROUNDS = 3, 2, 3  # weights move by less than 0.01 afterwards
FLAG_BELOW = 24  # CONSISTENCIES[24] = 0.3: under it an annotator "does not follow the crowd"
FLAG_PROBABILITY = 0.95
TAIL = 0.05  # the interval holds r with probability 0.9

Choose = Callable[[VoteTable, FloatArray], tuple[float, float]]


def fit_annotators(
    diffusion_at: DiffusionAt,
    votes: VoteTable,
    n_classes: int,
    *,
    alphas: Sequence[float],
    kappas: Sequence[float] = KAPPAS,
    confusion: bool = False,
    prior: FloatArray | None = None,
    choose: Choose | None = None,
    min_annotators: int = MIN_ANNOTATORS,
    min_votes: float = MIN_VOTES,
) -> AnnotatorFit:
    """Rate annotators by how they vote with the crowd, and weight their votes, theory [consistency].

    Parameters
    ----------
    diffusion_at : gives the diffusion at an alpha; keep them, each is asked for more than once
    votes : in the user's numbering; votes of nobody (None) count 1 and take no part in the model
    alphas, kappas : to choose from by held-out score; one each = given
    confusion : also turn votes into soft votes, theory [confusion]; needs two or more votes an item to pay
    prior : (n, n_classes) in the user's numbering, enters the choice of kappa only; None = uniform
    choose : (votes, factors) -> (alpha, kappa) in place of :func:`choose_alpha_kappa`
    min_annotators, min_votes : with fewer, every vote counts 1 and every annotator is "unknown"

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import knn_graph
    >>> from softspread.diffusion.diffusion import Diffusion
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1, 2, 3], 50)
    >>> graph = knn_graph(rng.normal(size=(200, 2)) + 6 * truth[:, None], n_neighbors=10)
    >>> rows = rng.integers(0, 200, 300)
    >>> names = np.array(["ann", "bob", "cid", "eve"], dtype=object)[rng.integers(0, 4, 300)]
    >>> labels = np.where(names == "eve", rng.integers(0, 4, 300), truth[rows])
    >>> fit = fit_annotators(
    ...     lambda alpha: Diffusion(graph, alpha), VoteTable(rows, labels, np.ones(300), names), 4,
    ...     alphas=[0.9],
    ... )
    >>> fit.report.flag.tolist()
    ['ok', 'ok', 'ok', 'does not follow']
    """
    cells = net_votes(votes, n_classes)

    def choose_here(table: VoteTable, factors: FloatArray) -> tuple[float, float]:
        if len(alphas) == 1 and len(kappas) == 1:
            return float(alphas[0]), float(kappas[0])
        if choose is not None:
            return choose(table, factors)
        return choose_alpha_kappa(diffusion_at, table, factors, n_classes, alphas, kappas, prior)

    standing = cells.table()
    alpha, kappa = choose_here(standing, np.ones(len(cells.rows)))
    reason = why_neutral(votes, min_annotators, min_votes)
    if reason or not cells.n_annotators:
        field = Crowd(diffusion_at(alpha), cells) if cells.n_annotators else None
        report = _unknown(cells, field, kappa)
        ones = np.ones(cells.n_annotators)
        return AnnotatorFit(
            np.ones(len(votes)), None, report, alpha, kappa, reason or "no named votes", 1.0, None, ones
        )
    first = Crowd(diffusion_at(alpha), cells)
    posterior = rate_annotators(first, kappa, FIRST_ROUNDS)
    alpha_again, kappa = choose_here(standing, cells.spread_to_cells(posterior.weights()))
    crowd = first if alpha_again == alpha else Crowd(diffusion_at(alpha_again), cells)
    posterior = rate_annotators(crowd, kappa, LAST_ROUNDS)
    report = _report(cells, posterior)
    newcomer = posterior.prior_mean**2 + LEAST_WEIGHT
    if not confusion:
        weights = posterior.weights()
        return AnnotatorFit(
            cells.to_votes(weights), None, report, alpha_again, kappa, "", newcomer, None, weights
        )
    soft, matrices, weights = confuse_votes(crowd, kappa, CONFUSION_ROUNDS)
    soft_votes = cells.soft_to_votes(soft, votes)
    return AnnotatorFit(
        cells.to_votes(weights), soft_votes, report, alpha_again, kappa, "", newcomer, matrices, weights
    )


def why_neutral(votes: VoteTable, min_annotators: int = MIN_ANNOTATORS, min_votes: float = MIN_VOTES) -> str:
    """Why these votes cannot tell annotators apart; empty where they can."""
    cells = net_votes(votes, int(votes.columns.max(initial=0)) + 1)
    n_votes = float(cells.weights[cells.named].sum())
    if cells.n_annotators < min_annotators:
        noun = "annotator" if cells.n_annotators == 1 else "annotators"
        return f"{cells.n_annotators} named {noun}; at least {min_annotators} are needed to tell them apart."
    if n_votes < min_votes - RETRACTED:
        return f"{n_votes:g} votes by named annotators; about {min_votes:g} are needed to tell them apart."
    if len(np.unique(cells.columns)) < 2:
        return "all votes name the same class; nothing tells annotators apart."
    return ""


def _report(cells: NetVotes, posterior: Posterior) -> AnnotatorReport:
    not_following = posterior.density[:, :FLAG_BELOW].sum(axis=1)
    return AnnotatorReport(
        cells.names,
        cells.votes_of_each(),
        posterior.agreement,
        posterior.mean,
        posterior.quantile(TAIL),
        posterior.quantile(1 - TAIL),
        not_following,
        np.where(not_following > FLAG_PROBABILITY, "does not follow", "ok").astype(object),
    )


def _unknown(cells: NetVotes, crowd: Crowd | None, kappa: float) -> AnnotatorReport:
    """Nothing learned: r is anything between 0 and 1."""
    n = cells.n_annotators
    agreement = np.full(n, np.nan)
    if crowd is not None and len(np.unique(cells.who)) > 1:  # somebody else voted, with or without a name
        amounts = cells.choices() * cells.weights[:, None]
        others = crowd.others(crowd.spread(amounts), crowd.own(amounts), kappa)
        agreement = consistency_posterior(crowd, others).agreement
    return AnnotatorReport(
        cells.names,
        cells.votes_of_each(),
        agreement,
        np.full(n, 0.5),
        np.full(n, TAIL),
        np.full(n, 1 - TAIL),
        np.full(n, float(CONSISTENCIES[FLAG_BELOW])),
        np.full(n, "unknown", dtype=object),
    )
