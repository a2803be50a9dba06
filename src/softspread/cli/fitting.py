"""From options to a fitted estimator; with a workspace, only what changed is computed.

    files  ->  items (graph, ids), votes  ->  est.fit

Votes are read before the graph is built: a mistake in a file should not cost minutes.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.kinds import ORDINAL
from softspread._common.types import AnyArray
from softspread._common.versions import version_of
from softspread.cli.items import (
    Items,
    build_graph,
    grow_graph,
    load_added,
    load_items,
    together,
    warn_of_far_items,
)
from softspread.cli.options import (
    PRIOR_OF_VOTES,
    FitInputs,
    FitOptions,
    VoteOptions,
)
from softspread.cli.runner import Run
from softspread.errors import InputError
from softspread.estimators.graph_based import GraphEstimator
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.methods import BLEND, SPREADING, estimator_of, method_of
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph.graph import Graph
from softspread.io.embeddings import read_embeddings
from softspread.io.ids import rows_of_ids
from softspread.io.matching import MatchedVotes, match_votes, read_classes
from softspread.io.soft_labels import read_prior
from softspread.io.tables import shown
from softspread.io.votes import read_vote_files
from softspread.votes.reading import NamedVotes, Names
from softspread.votes.table import VoteTable
from softspread.votes.votes import Votes


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted estimator with what it was fitted on."""

    est: Any  # a SoftLabeler or a ProbabilisticLabelSpreading
    items: Items
    votes: MatchedVotes | None  # None where there are none yet
    has_features: bool = False  # unreduced ones, beside the embeddings

    @property
    def matched(self) -> MatchedVotes:
        """The votes, of a fit that needs some."""
        if self.votes is None:
            raise InputError("--votes is missing; this needs votes.")
        return self.votes

    @property
    def method(self) -> dict[str, Any]:
        """The method by name, and the alpha of the paper's; ready for JSON."""
        if isinstance(self.est, ProbabilisticLabelSpreading):
            return {"method": SPREADING, "alpha": self.est.alpha_}
        return {"method": BLEND}


def in_brief(est: GraphEstimator) -> str:
    """The choices of a fit, in a few words."""
    if isinstance(est, ProbabilisticLabelSpreading):
        return f"alpha {est.alpha_:g}{' (chosen)' if est.tuning_ is not None else ''}"
    if isinstance(est, SoftLabeler) and len(est.classes_):
        weights = est.weights_
        return f"{(weights > 0).sum()} of {len(weights)} experts count, most of all {weights.index[0]}"
    return "nothing to learn from yet"


# ----------------------------------------------------------------------------------------------- votes, prior
def load_votes(
    run: Run,
    options: VoteOptions,
    item_ids: AnyArray | None,
    n_items: int,
    classes: Sequence[str] | None = None,
    models: Sequence[str] = (),
) -> MatchedVotes:
    """Votes on the items; unknown items and classes are refused or, on request, left out.

    Parameters
    ----------
    classes : known from elsewhere; None = those of the options, or of the file
    models : annotators that are models
    """
    with run.stage("votes") as tell:
        named = classes if classes is not None else read_classes(options.classes)
        file = read_vote_files(*options.files(), how=options.reading(), classes=named)
        matched = match_votes(file, item_ids, n_items, named, options.skip_unknown, models=models)
        tell(f"{len(matched.found.table):,} votes for {len(matched.classes)} classes ({file.votes_format})")
    for trouble in matched.unknown:
        run.warn(f"left out: {trouble}")
    for what, count in file.notes.items():
        run.note(f"left out: {count:,} {what}")
    return matched


def no_votes_yet(items: Items, classes: str | None) -> NamedVotes:
    """An empty set of votes for an estimator."""
    named = np.array(read_classes(classes) or [], dtype=object)
    return NamedVotes(VoteTable.empty(), Names(items.n_items, items.item_ids, named))


def load_features(run: Run, path: Path | None, items: Items) -> AnyArray | None:
    """Unreduced features in the order of the items: found by id where both files have ids, else by row."""
    if path is None:
        return None
    with run.stage("features") as tell:
        found = read_embeddings(path)
        n_items = items.n_items
        if found.item_ids is None or items.item_ids is None:
            if len(found.X) != n_items:
                raise InputError(
                    f"{path} holds {len(found.X):,} rows, the embeddings {n_items:,}; give the features of "
                    "the same items in the same order, or ids in both files."
                )
            tell(f"{found.X.shape[1]} dimensions, matched row by row")
            return found.X
        rows = rows_of_ids(items.item_ids, found.item_ids, len(found.X))
        if (rows < 0).any():
            raise InputError(
                f"{path} lacks {int((rows < 0).sum()):,} of the {n_items:,} items, such as "
                f"{shown(items.item_ids[rows < 0][:2])}; give the features of all items."
            )
        tell(f"{found.X.shape[1]} dimensions, matched by id")
        return np.asarray(found.X[rows])


def load_prior(options: FitOptions, items: Items, classes: AnyArray) -> AnyArray | None:
    """(n, n_classes) predictions of a file; None where there is none, or the votes' classifier is wanted."""
    if options.prior is None or options.of_votes:
        return None
    found, wanted = read_prior(options.prior, items.names, classes), (items.n_items, len(classes))
    if found.shape != wanted:
        raise InputError(
            f"{options.prior} holds predictions of shape {found.shape}; a prior needs items by classes, "
            f"{wanted}."
        )
    return found


def classifier_of_votes(run: Run, items: Items, votes: NamedVotes) -> AnyArray:
    """(n, n_classes) predictions of a classifier trained on the votes."""
    from softspread.estimators.priors import classifier_prior  # loads scipy.stats

    X = items.X.features if isinstance(items.X, Graph) else items.X
    return classifier_prior(np.asarray(X), votes, random_state=run.seed)


# -------------------------------------------------------------------------------------------------------- fit
def fit(run: Run, inputs: FitInputs, *, needs_votes: bool = True) -> Fit:
    """Everything from the files to a fitted estimator.

    Parameters
    ----------
    needs_votes : False also fits to no votes at all, for a first batch of items to vote on
    """
    parameters, method = inputs.parameters, method_of(inputs.fit.method)
    base = items = load_items(run, inputs.items)
    added = []
    if inputs.fit.add:
        added = load_added(run, inputs.items, inputs.fit.add, base)
        items = reduce(together, added, base)
    votes = None
    if needs_votes or inputs.votes.votes:
        votes = load_votes(run, inputs.votes, items.item_ids, items.n_items, models=inputs.fit.models)
    found = no_votes_yet(items, inputs.votes.classes) if votes is None else votes.found
    in_order = inputs.votes.classes is not None or found.names.classes.dtype.kind in "iu"
    if inputs.votes.kind == ORDINAL and not in_order:
        raise InputError("--kind ordinal needs the order of the classes: --classes low,middle,high.")
    features = load_features(run, inputs.fit.features, items)
    prior = load_prior(inputs.fit, items, found.names.classes)
    items = grow_graph(run, base, added, inputs.graph) if added else build_graph(run, items, inputs.graph)
    y, models = (found, ()) if votes is None else (votes.given, votes.models)
    given: dict[str, Any] = {} if features is None else {"features": features}
    if isinstance(y, Votes):
        given["item_ids"] = items.item_ids
    if models:
        given["model_annotators"] = models

    def estimate(prior: AnyArray | None) -> Any:
        verbose = run.shows_bars and items.are_many
        est: Any = estimator_of(method)(**parameters, prior=prior, random_state=run.seed, verbose=verbose)
        return est.fit(items.X, y, **given)

    make = partial(estimate, prior)
    if inputs.fit.of_votes:
        make = partial(_helped, estimate, run, items, found, parameters["prior_strength"] == "auto")
    made_from = _made_from(run, inputs, items, found.names.classes)
    with run.stage("fit", own_bars=items.are_many) as tell:
        est = run.remember("fit", made_from, _load_fit, make, _save_fit)
        tell(in_brief(est))
    if inputs.fit.of_votes and est.prior is None:
        run.note("the classifier of the votes is left out: held-out votes are predicted better without it")
    if run.workspace is not None and run.reused:
        run.note(f"reused from {run.workspace.folder}: {', '.join(run.reused)}")
    if added:
        warn_of_far_items(run, est, base.n_items)
    return Fit(est, items, votes, features is not None)


def _made_from(run: Run, inputs: FitInputs, items: Items, classes: AnyArray) -> tuple[Any, ...]:
    """All that a fit depends on, for the workspace."""
    votes, fit = inputs.votes, inputs.fit
    votes_key = (*(votes.votes or ()), *dataclasses.astuple(votes)[1:], classes.tolist())
    fit_key = (PRIOR_OF_VOTES if fit.of_votes else fit.prior, fit.features, *fit.models)
    chosen = (method_of(fit.method), sorted(inputs.parameters.items()), run.seed, version_of("softspread"))
    return (*items.made_from, *votes_key, *fit_key, *chosen)


def _helped(
    estimate: Callable[[AnyArray | None], Any], run: Run, items: Items, votes: NamedVotes, chosen: bool
) -> Any:
    """A fit with a classifier of the votes as prior, where its strength is ``chosen`` only if that helps."""
    helped = estimate(classifier_of_votes(run, items, votes))
    if not chosen:
        return helped
    from softspread.estimators.priors import better_of

    return better_of(estimate(None), helped)


def _save_fit(est: GraphEstimator, path: Path) -> None:
    from softspread.estimators.storage import save

    save(est, path)


def _load_fit(path: Path) -> Any:
    from softspread.estimators.storage import load

    return load(path)
