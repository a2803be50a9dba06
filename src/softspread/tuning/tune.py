"""The public function: arguments are checked, then one of two searches runs.

X, votes  ->  held-out votes (search.py), with a truth Bayesian optimisation (against_truth.py)  ->  Tuning
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.frames import as_frame
from softspread._common.types import FloatArray, RandomState
from softspread.diffusion.scales import SCALINGS
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.graph.places import Metric, check_metric
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
from softspread.votes.reading import NamedVotes, read_y
from softspread.votes.votes import Votes


def tune(
    X: ArrayLike | Graph,
    votes: ArrayLike | Votes | NamedVotes,
    *,
    alphas: Sequence[float] = ALPHAS,
    n_neighbors: int | str | Sequence[int] = DEFAULT_NEIGHBORS,
    prior: ArrayLike | None = None,
    prior_strengths: Sequence[float] | None = None,
    score: str = "brier",
    truth: ArrayLike | None = None,
    method: str = "pls",
    n_trials: int = 200,
    item_ids: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    bandwidth: str | float = "kth",
    scaling: str = "peak",
    index: str = "auto",
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
    random_state: RandomState = None,
    verbose: bool = False,
) -> Tuning:
    """Choose parameters by leaving votes out, or, if a truth is given, by comparing with it.

    Parameters
    ----------
    X : (n, d) array-like or Graph
        Features of the items, or their graph.
    votes : Votes or array-like
        Votes, (n,) labels with -1 for no vote, or (n, n_classes) counts.
    alphas : sequence of float, optional
        Candidates; high ones are only tried while the score still falls.
    n_neighbors : int, sequence of int or "auto", default 20
        One number, several, or "auto": 10, 20, 40.
    prior : (n, n_classes) or (n_classes,) array-like, optional
        Probabilities; uniform by default.
    prior_strengths : sequence of float, optional
        Candidates; by default a grid from 1e-4 to 100 where a prior is given, else 1e-4.
    score : {"brier", "log"}, default "brier"
        Score of the held-out votes.
    truth : (n, n_classes) array-like, optional
        Known soft labels: Bayesian optimisation of the RMSE, for studies.
    method : {"pls", "gkr", "knn"}, default "pls"
        Label spreading; against a truth also kernel regression or nearest voted items.
    n_trials : int, default 200
        Evaluations against the truth.
    item_ids : (n,) array-like, optional
        Names by which Votes refer to items; by default they refer to positions.
    classes : (n_classes,) array-like, optional
        Class names in order; by default the labels found, sorted.
    bandwidth : str or float, default "kth"
        Width of the kernel, as in :func:`~softspread.knn_graph`.
    scaling : str, default "peak"
        How a vote's reach is scaled, as in :class:`~softspread.ProbabilisticLabelSpreading`.
    index : str, default "auto"
        Search for neighbours, as in :func:`~softspread.knn_graph`.
    metric : str or function, default "euclidean"
        How far items are from each other, as in :func:`~softspread.knn_graph`.
    n_jobs : int, optional
        Threads; by default all cores.
    random_state : int, Generator or None, optional
        Seed.
    verbose : bool, default False
        Show progress.

    Returns
    -------
    Tuning
        What was tried and what was chosen.

    See Also
    --------
    ProbabilisticLabelSpreading : Does this by itself where a parameter is "auto"; the result is ``tuning_``.

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
    check_metric(metric)
    items = X if isinstance(X, Graph) else validation.features(X)
    n = items.n_items if isinstance(items, Graph) else len(items)
    table, names = read_y(votes, n, item_ids, classes, what="votes")
    n_classes = len(names.classes)
    options = SpreadOptions(bandwidth, scaling, "auto", index, n_jobs, random_state, verbose, metric=metric)
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
        prior=None
        if prior is None
        else names.prior(prior)
        if isinstance(as_frame(prior), pd.DataFrame)
        else _probabilities("prior", prior, n, n_classes),
        score=score,
        options=options,
    ).tuning


def _probabilities(name: str, values: ArrayLike, n: int, n_classes: int) -> FloatArray:
    """One row per item, scaled to sum 1; only a prior may be one row for all."""
    shape = np.shape(values)
    if shape != (n, n_classes) and (name == "truth" or shape != (n_classes,)):
        missing = " If some classes have no vote yet, pass classes with all of them."
        remedy = missing if shape[:1] == (n,) else ""
        raise InputError(
            f"{name} must have shape ({n}, {n_classes}), one column per class, got {shape}.{remedy}"
        )
    return validation.prior(values, n, n_classes)
