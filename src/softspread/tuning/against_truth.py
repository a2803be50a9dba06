"""Tuning against a known truth, to compare methods at their best; the result says that the truth was used.

alpha ~ Beta(5, 1),  n_neighbors <= 100  |  log gamma uniform in 1e-6..1e6  |  n_neighbors <= votes
->  Bayesian optimisation (tree-structured Parzen estimators)  ->  the lowest RMSE           theory: [metrics]
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray
from softspread.errors import InputError, MissingExtraError
from softspread.graph.graph import Graph
from softspread.heldout.masses import ACCURACY, find_scales
from softspread.metrics import rmse
from softspread.spreading.evidence import soft_labels
from softspread.tuning.candidates import DEFAULT_STRENGTH, CandidateGraphs, SpreadOptions
from softspread.tuning.result import Tuning, TuningPoint
from softspread.votes.ballots import Ballots

METHODS = ("pls", "gkr", "knn")
LARGEST_ALPHA = 0.999  # Beta(5, 1) passes it once in 200 draws; closer to 1 solves take ever longer
BETA = 5.0  # alpha ~ Beta(5, 1): the fifth root of a uniform number
MOST_NEIGHBORS = 100  # of the search over neighbours
GAMMA_RANGE = (1e-6, 1e6)  # of the search over kernels, on a logarithmic scale
# Of a uniform prior. Fits the authors' kernel runs where items lie far from all votes: two moons, gamma 100,
# 10 votes, the RMSE is .245 with it and theirs .250 ± .012; 1e-4 gives .310; 0, as printed, .218, but runs
# would scatter four times as much as theirs.
KERNEL_STRENGTH = 1e-8


def tune_against_truth(
    items: AnyArray | Graph,
    ballots: Ballots,
    truth: FloatArray,
    method: str,
    n_trials: int,
    options: SpreadOptions,
    fresh: Callable[[int], Ballots] | None = None,
) -> Tuning:
    """Bayesian optimisation of the RMSE to known soft labels.

    Parameters
    ----------
    ballots : the votes that every trial is measured on; with ``fresh`` only their number counts
    truth : (n, n_classes), rows summing to 1
    method : "pls", "gkr" or "knn"
    fresh : draws new votes for each trial, by its number, as the paper does; the winner is then the setting
        with the luckiest votes among the good ones, and has to be judged on others
    """
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError('tuning against a truth needs: pip install "softspread[tune]"') from error
    if isinstance(items, Graph) and method != "pls":
        raise InputError(f"method={method!r} needs the features of the items, not a Graph.")
    evaluate = _objective(items, ballots, truth, method, options)
    votes_of = fresh or (lambda _: ballots)
    seed = int(validation.generator(options.random_state).integers(2**31 - 1))
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        points = []
        for number in range(n_trials):
            trial = study.ask()
            points.append(evaluate(trial, votes_of(number)))
            study.tell(trial, points[-1].score)
    finally:
        optuna.logging.set_verbosity(level)
    best = min(points, key=lambda point: point.score)
    votes = ", each on votes of its own" if fresh else ""
    words = (
        f"lowest RMSE to the given truth, {best.score:.4f}, in {n_trials} trials{votes}; the ground truth "
        "WAS used."
    )
    return Tuning(best, tuple(points), "rmse", words, used_truth=True, method=method)


def _objective(
    items: AnyArray | Graph, ballots: Ballots, truth: FloatArray, method: str, options: SpreadOptions
) -> Callable[[Any, Ballots], TuningPoint]:
    """A function that draws a setting from a trial and measures it on some votes."""
    n, n_classes = truth.shape
    most_votes = max(1, ballots.n_votes)
    uniform = np.full((n, n_classes), 1 / n_classes)
    graphs = CandidateGraphs(items, range(1, min(MOST_NEIGHBORS, n - 1) + 1), options)

    def table(ballots: Ballots) -> FloatArray:
        counts = np.zeros_like(truth)
        counts[ballots.voted] = ballots.counts
        return counts

    def by_spreading(trial: Any, ballots: Ballots) -> TuningPoint:
        uniform_draw = trial.suggest_float("alpha_to_the_fifth", 0.0, LARGEST_ALPHA**BETA)
        alpha = float(uniform_draw ** (1 / BETA))
        number = 0 if isinstance(items, Graph) else trial.suggest_int("n_neighbors", 1, max(graphs.numbers))
        graph = graphs.build(number)
        diffusion = options.diffusion(graph, alpha).at(accuracy=ACCURACY.worst_scales)
        with diffusion.workers:
            scales = find_scales(diffusion, ballots.voted).scales
            spread = diffusion.spread(ballots.voted, ballots.counts, scales=scales, tol=ACCURACY.solve_tol)
        p = soft_labels(spread.mass(), uniform, DEFAULT_STRENGTH)
        return TuningPoint(alpha, graph.n_neighbors, DEFAULT_STRENGTH, None, rmse(truth, p), np.nan)

    def by_kernel(trial: Any, ballots: Ballots) -> TuningPoint:
        from softspread.estimators.baselines import GaussianKernelRegression

        gamma = trial.suggest_float("gamma", *GAMMA_RANGE, log=True)
        kernel = GaussianKernelRegression(gamma=gamma, prior_strength=KERNEL_STRENGTH)
        p = kernel.fit(items, table(ballots)).predict_proba()
        return TuningPoint(None, None, KERNEL_STRENGTH, gamma, rmse(truth, p), np.nan)

    def by_neighbors(trial: Any, ballots: Ballots) -> TuningPoint:
        from softspread.estimators.baselines import KNeighborsVotes

        number = trial.suggest_int("n_neighbors", 1, most_votes)
        nearest = KNeighborsVotes(n_neighbors=number, n_jobs=options.n_jobs)
        p = nearest.fit(items, table(ballots)).predict_proba()
        return TuningPoint(None, number, None, None, rmse(truth, p), np.nan)

    return {"pls": by_spreading, "gkr": by_kernel, "knn": by_neighbors}[method]
