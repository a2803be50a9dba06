"""The edge of tuning: what a user hands over is checked, then one of two searches runs.

X, votes  ->  held-out votes (choosing.py), or with truth=... Bayesian optimisation (truth.py)  ->  Tuning
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
from softspread.heldout.split import ENOUGH_VOTES, own_votes
from softspread.tuning.against_truth import METHODS, tune_against_truth
from softspread.tuning.candidates import DEFAULT_NEIGHBORS, Spreading
from softspread.tuning.result import Tuning
from softspread.tuning.search import (
    ALPHAS,
    DEFAULT_STRENGTH,
    choose_parameters,
    neighbor_candidates,
    some_of,
    strength_candidates,
)
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
    truth : (n, n_classes) known soft labels: Bayesian optimisation of the RMSE, for studies; the result says
    so
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
    how = Spreading(bandwidth, scaling, "auto", index, n_jobs, random_state, verbose)
    n_votes = own_votes(table, n_classes).n_votes
    if truth is not None:
        if n_votes == 0:
            raise InputError("tuning against a truth needs at least 1 vote, got 0.")
        known = _probabilities("truth", truth, n, n_classes)
        return tune_against_truth(items, table, known, method, validation.count("n_trials", n_trials, 1), how)
    if method != "pls":
        raise InputError(f"method={method!r} can only be tuned against a truth; pass truth, or method='pls'.")
    if n_votes < ENOUGH_VOTES:
        raise InputError(
            f"tuning needs at least {ENOUGH_VOTES} votes, got {n_votes}; collect some more, or set the "
            "parameters "
            "yourself (alpha=0.9 is a fair start)."
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
        table,
        n_classes,
        alphas=listed,
        neighbors=neighbor_candidates(n_neighbors),
        prior=None if prior is None else _probabilities("prior", prior, n, n_classes),
        strengths=strengths,
        score=score,
        how=how,
    ).tuning


def _probabilities(name: str, values: Any, n: int, n_classes: int) -> FloatArray:
    """One row per item, scaled to sum 1; one row for all is a prior's privilege."""
    shape = np.shape(values)
    if shape != (n, n_classes) and (name == "truth" or shape != (n_classes,)):
        remedy = (
            " If some classes have no vote yet, pass classes with all of them." if shape[:1] == (n,) else ""
        )
        raise InputError(
            f"{name} must have shape ({n}, {n_classes}), one column per class, got {shape}.{remedy}"
        )
    return validation.prior(values, n, n_classes)
