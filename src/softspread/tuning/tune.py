"""What people call: arguments are checked, then one of two searches runs.

X, votes  ->  held-out votes (search.py), with a truth Bayesian optimisation (against_truth.py)  ->  Tuning
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.types import FloatArray
from softspread.diffusion.scales import SCALINGS
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.heldout.scores import SCORES
from softspread.tuning.against_truth import METHODS, tune_against_truth
from softspread.tuning.candidates import (
    ALPHAS,
    DEFAULT_NEIGHBORS,
    DEFAULT_STRENGTH,
    SearchSpace,
    SpreadOptions,
    neighbor_candidates,
    some_of,
    strength_candidates,
)
from softspread.tuning.result import Tuning
from softspread.tuning.search import RULE, choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.reading import read_y


def tune(
    X: Any,
    votes: Any,
    *,
    alphas: Sequence[float] = ALPHAS,
    n_neighbors: int | str | Sequence[int] = DEFAULT_NEIGHBORS,
    prior: Any = None,
    prior_strengths: Sequence[float] | None = None,
    score: str = "brier",
    truth: Any = None,
    method: str = "pls",
    n_trials: int = 200,
    item_ids: Any = None,
    classes: Any = None,
    bandwidth: str | float = "kth",
    scaling: str = "peak",
    index: str = "auto",
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Tuning:
    """Choose parameters by leaving votes out, or, if a truth is given, by comparing with it.

    Parameters
    ----------
    X : (n, d) array or frame, or a Graph
    votes : Votes, (n,) labels with -1 for no vote, or (n, n_classes) counts
    alphas : candidates; high ones are only tried while the score still falls
    n_neighbors : one number, several, or "auto": 10, 20, 40
    prior : (n, n_classes) or (n_classes,) probabilities; None = uniform
    prior_strengths : candidates; None: a grid from 1e-4 to 100 where a prior is given, else 1e-4
    score : "brier" or "log", of the held-out votes
    truth : (n, n_classes) known soft labels: Bayesian optimisation of the RMSE, for studies
    method : "pls"; against a truth also "gkr" (kernel regression) and "knn"
    n_trials : evaluations against the truth
    item_ids, classes, bandwidth, scaling, index, n_jobs, random_state, verbose : as in
        :class:`~softspread.ProbabilisticLabelSpreading`

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> y = np.full(100, -1)
    >>> y[::5] = np.arange(0, 100, 5) // 50
    >>> tuning = tune(X, y, n_neighbors=[5, 10])
    >>> tuning.used_truth, tuning.n_neighbors in (5, 10)
    (False, True)
    """
    validation.choice("score", score, SCORES)
    validation.choice("scaling", scaling, SCALINGS)
    validation.choice("method", method, METHODS)
    items = X if isinstance(X, Graph) else validation.features(X)
    n = items.n_items if isinstance(items, Graph) else len(items)
    table, names = read_y(votes, n, item_ids, classes, what="votes")
    n_classes = len(names.classes)
    options = SpreadOptions(bandwidth, scaling, "auto", index, n_jobs, random_state, verbose)
    ballots = Ballots.of(table, n_classes)
    if truth is not None:
        if not ballots.n_votes:
            raise InputError("tuning against a truth needs at least 1 vote, got 0.")
        known = _probabilities("truth", truth, n, n_classes)
        n_trials = validation.count("n_trials", n_trials, 1)
        return tune_against_truth(items, ballots, known, method, n_trials, options)
    if method != "pls":
        raise InputError(f"method={method!r} can only be tuned against a truth; pass truth, or method='pls'.")
    if ballots.n_votes < RULE.fewest_votes:
        raise InputError(
            f"tuning needs at least {RULE.fewest_votes} votes, got {ballots.n_votes}; collect some more, or "
            "set the parameters yourself (alpha=0.9 is a fair start)."
        )
    listed = [validation.alpha(value) for value in some_of("alphas", alphas)]
    if prior_strengths is None:
        strengths = strength_candidates("auto" if prior is not None else DEFAULT_STRENGTH, prior is not None)
    else:
        strengths = [
            validation.not_negative("prior_strengths", value)
            for value in some_of("prior_strengths", prior_strengths)
        ]
    return choose_parameters(
        items,
        ballots,
        SearchSpace(listed, neighbor_candidates(n_neighbors), strengths),
        prior=None if prior is None else _probabilities("prior", prior, n, n_classes),
        score=score,
        options=options,
    ).tuning


def _probabilities(name: str, values: Any, n: int, n_classes: int) -> FloatArray:
    """One row per item, scaled to sum 1; only a prior may be one row for all."""
    shape = np.shape(values)
    if shape != (n, n_classes) and (name == "truth" or shape != (n_classes,)):
        missing = " If some classes have no vote yet, pass classes with all of them."
        remedy = missing if shape[:1] == (n,) else ""
        raise InputError(
            f"{name} must have shape ({n}, {n_classes}), one column per class, got {shape}.{remedy}"
        )
    return validation.prior(values, n, n_classes)
