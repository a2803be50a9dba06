"""Tuning against a known truth, as studies do to compare methods at their best; the result says that it saw
the truth.

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
from softspread.heldout.masses import LARGEST_DELTA, spread_votes
from softspread.heldout.split import own_votes
from softspread.metrics import rmse
from softspread.spreading.evidence import soft_labels
from softspread.tuning.candidates import Graphs, Spreading
from softspread.tuning.result import Tuning, TuningPoint
from softspread.tuning.search import DEFAULT_STRENGTH
from softspread.votes.table import VoteTable

METHODS = ("pls", "gkr", "knn")
LARGEST_ALPHA = 0.999  # Beta(5, 1) passes it once in 200 draws; closer to 1 solves take longer and longer
BETA = 5.0  # alpha ~ Beta(5, 1): the fifth root of a uniform number
MOST_NEIGHBORS = 100
GAMMA_RANGE = (1e-6, 1e6)


def tune_against_truth(
    items: AnyArray | Graph, votes: VoteTable, truth: FloatArray, method: str, n_trials: int, how: Spreading
) -> Tuning:
    """Bayesian optimisation of the RMSE to known soft labels.

    Parameters
    ----------
    truth : (n, n_classes), rows summing to 1, in the user's numbering
    method : "pls", "gkr" or "knn"
    """
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError('tuning against a truth needs: pip install "softspread[tune]"') from error
    if isinstance(items, Graph) and method != "pls":
        raise InputError(f"method={method!r} needs the features of the items, not a Graph.")
    evaluate = _objective(items, votes, truth, method, how)
    seed = int(validation.generator(how.random_state).integers(2**31 - 1))
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        points = []
        for _ in range(n_trials):
            trial = study.ask()
            points.append(evaluate(trial))
            study.tell(trial, points[-1].score)
    finally:
        optuna.logging.set_verbosity(level)
    best = min(points, key=lambda point: point.score)
    words = (
        f"lowest RMSE to the given truth, {best.score:.4f}, in {n_trials} trials; the ground truth WAS used."
    )
    return Tuning(best, tuple(points), "rmse", words, used_truth=True, method=method)


def _objective(
    items: AnyArray | Graph, votes: VoteTable, truth: FloatArray, method: str, how: Spreading
) -> Callable[[Any], TuningPoint]:
    """A function that draws a setting from a trial and measures it."""
    n, n_classes = truth.shape
    counts, own = votes.counts(n, n_classes), own_votes(votes, n_classes)
    uniform = np.full((n, n_classes), 1 / n_classes)
    graphs = Graphs(items, range(1, min(MOST_NEIGHBORS, n - 1) + 1), how)

    def by_spreading(trial: Any) -> TuningPoint:
        uniform_draw = trial.suggest_float("alpha_to_the_fifth", 0.0, LARGEST_ALPHA**BETA)
        alpha = float(uniform_draw ** (1 / BETA))
        number = 0 if isinstance(items, Graph) else trial.suggest_int("n_neighbors", 1, max(graphs.numbers))
        graph = graphs.build(number)
        diffusion = how.diffusion(graph, alpha).at(accuracy=LARGEST_DELTA)
        with diffusion.workers:
            mass = spread_votes(diffusion, own.voted, own.weight, None).spread.mass()
        p = soft_labels(mass, uniform, DEFAULT_STRENGTH)
        return TuningPoint(alpha, graph.n_neighbors, DEFAULT_STRENGTH, None, rmse(truth, p), np.nan)

    def by_kernel(trial: Any) -> TuningPoint:
        from softspread.estimators.baselines import GaussianKernelRegression

        gamma = trial.suggest_float("gamma", *GAMMA_RANGE, log=True)
        p = GaussianKernelRegression(gamma=gamma).fit(items, counts).predict_proba()
        return TuningPoint(None, None, None, gamma, rmse(truth, p), np.nan)

    def by_neighbors(trial: Any) -> TuningPoint:
        from softspread.estimators.baselines import KNeighborsVotes

        number = trial.suggest_int("n_neighbors", 1, max(1, len(votes)))
        p = KNeighborsVotes(n_neighbors=number, n_jobs=how.n_jobs).fit(items, counts).predict_proba()
        return TuningPoint(None, number, None, None, rmse(truth, p), np.nan)

    return {"pls": by_spreading, "gkr": by_kernel, "knn": by_neighbors}[method]
