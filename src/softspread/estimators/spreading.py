"""Probabilistic Label Spreading with scikit-learn's habits."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray, RandomState
from softspread.annotators.models import ANNOTATOR_MODELS
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.registry import SOLVERS
from softspread.diffusion.scales import SCALINGS, ScaleReport
from softspread.diffusion.solver import SolveReport, SolverFactory
from softspread.errors import InputError
from softspread.estimators.auto import choose_settings
from softspread.estimators.base import Answer, names_of
from softspread.estimators.graph_based import Choosing
from softspread.estimators.growing import places_of
from softspread.estimators.judged import JudgedEstimator
from softspread.graph.graph import Graph
from softspread.graph.places import Metric
from softspread.heldout.masses import mass_of_state
from softspread.intervals.task import Posteriors, SpreadFit
from softspread.posterior.blend import fit_blend
from softspread.posterior.experts import own_votes
from softspread.quality.estimate import FittedBlend, held_out_evidence
from softspread.quality.forecast import predict_gain
from softspread.quality.judge import Evidence as JudgingVotes
from softspread.quality.result import GainForecast
from softspread.queries.choose import choosing_state
from softspread.spreading.evidence import Evidence, soft_labels
from softspread.spreading.explain import explain
from softspread.spreading.state import SpreadState
from softspread.tuning.candidates import SearchSpace
from softspread.votes.ballots import Ballots
from softspread.votes.reading import NamedVotes, read_y
from softspread.votes.table import VoteTable
from softspread.votes.votes import Votes

if TYPE_CHECKING:
    from distributed import Client

    from softspread.graph.neighbors import Search

TAKEN_BY_BLOCKS = (  # parameters that a fit in blocks has as well
    *("alpha", "n_neighbors", "bandwidth", "index", "scaling"),
    *("prior_strength", "annotator_model", "tol", "n_jobs"),
)


class ProbabilisticLabelSpreading(JudgedEstimator):
    """Soft labels for all items from votes on a few.

    Every vote diffuses over the k-nearest-neighbour graph of the items, scaled so that the voted item
    receives 1. What an item has received per class, normalised, is its soft label; how much it has received
    is its evidence.

    Parameters
    ----------
    alpha : float or "auto", default "auto"
        How far votes travel: 0 = each item alone, below 1. "auto" chooses it by held-out votes, and is 0.9
        where there are fewer than 10.
    n_neighbors : int or "auto", default 20
        Neighbours per item, the item itself not counted; "auto" chooses among 10, 20 and 40.
    bandwidth : {"kth", "mean"} or float, default "kth"
        The kernel's sigma**2, see :func:`~softspread.knn_graph`.
    scaling : {"peak", "source", "none"}, default "peak"
        What a profile is divided by: its largest entry, the voted item's own, or nothing.
    prior : (n, n_classes) or (n_classes,) array-like, optional
        Probabilities that count as pseudo-votes; uniform by default. A DataFrame is matched by the names of
        classes and items.
    prior_strength : float or "auto", default 1e-4
        How many votes the prior counts as; "auto" chooses it by held-out votes. 0 is the paper's Algorithm 1
        as printed: soft labels of items that next to nothing reaches are then ratios of tiny numbers, and
        are solved for again until they are known to 1e-5. Where double precision does not suffice,
        ``stale_`` names the items.
    annotator_model : {"auto", "none", "consistency", "confusion"}, default "auto"
        "consistency" weights votes by how their annotators vote with the crowd; "confusion" also turns them
        into soft votes by what each annotator mixes up; "none" counts all the same. "auto" is consistency
        where votes carry names of 3 or more annotators and there are about 100 of them, else none.
    tol : float, default 1e-6
        Relative residual of the solves; 1e-6 keeps soft labels within 1e-4 of exact arithmetic, 1e-8 within
        1e-6.
    solver : str or class, default "auto"
        "auto", "dense", "direct", "cg", "push", "amg", "torch" (CUDA where torch finds it), or "literal": the
        paper's loop, one solve per vote. Or a class of yours, called as ``solver(graph, alpha, workers)``.
    index : str, default "auto"
        Neighbour search: "auto", "exact", "tree", "brute", "cells", "faiss",
        "pynndescent" or "cuvs" (on a CUDA device).
    metric : str or function, default "euclidean"
        "euclidean", "cosine", which compares directions only, "inner_product", or a function, see
        :func:`~softspread.knn_graph`.
    n_jobs : int, optional
        Threads; all cores by default.
    random_state : int, Generator or None, optional
        Seeds the approximate neighbour search and queries.
    verbose : bool, default False
        Show progress bars.

    Attributes
    ----------
    classes_ : (n_classes,) array
        Class names, in the order of columns.
    n_items_ : int
        How many items were fitted.
    item_ids_ : (n,) array or None
        Names of the items; None where votes name them by position.
    n_features_in_ : int
        Features per item; 0 for an affinity.
    feature_names_in_ : (d,) array
        Names of the features, where X had names.
    label_distributions_ : (n, n_classes) array
        Soft labels of the fitted items.
    transduction_ : (n,) array
        Their most probable classes.
    evidence_ : (n,) array
        How many virtual votes each item has received.
    votes_ : Votes
        All votes so far.
    vote_counts_ : (n, n_classes) array
        Each item's own votes.
    graph_ : Graph
        The graph over which votes travel.
    alpha_, n_neighbors_, prior_strength_ : float, int, float
        The values in use.
    prior_ : (n, n_classes) array
        The prior in use.
    tuning_ : Tuning or None
        How they were chosen, with the curve; None where all were given.
    annotators_ : pandas.DataFrame or None
        One row per annotator: votes, agreement, consistency with interval, flag; None where nobody is named.
    error_bound_ : (n,) array
        Proven bound on the numerical error of every entry of an item's mass.
    stale_ : (n,) array of bool
        Items whose soft label could be off by more than 0.01: after live updates, until :meth:`refine`.
    solve_report_ : SolveReport or None
        What the last solve reached.
    scale_report_ : ScaleReport
        How well the scales of the voted items are known.

    See Also
    --------
    VoteHistogram : Each item's own votes alone.
    softspread.tune : The choice of alpha by itself, with its curve.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, size=(50, 2)) for c in (0, 4)])
    >>> y = np.full(100, -1)
    >>> y[0], y[99] = 0, 1
    >>> est = ProbabilisticLabelSpreading(n_neighbors=10).fit(X, y)
    >>> bool((est.transduction_[:50] == 0).all() and (est.transduction_[50:] == 1).all())
    True
    """

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        n_neighbors: int | str = 20,
        bandwidth: str | float = "kth",
        scaling: str = "peak",
        prior: ArrayLike | None = None,
        prior_strength: float | str = 1e-4,
        annotator_model: str = "auto",
        tol: float = 1e-6,
        solver: str | SolverFactory = "auto",
        index: "str | Search" = "auto",
        metric: Metric = "euclidean",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.scaling = scaling
        self.prior = prior
        self.prior_strength = prior_strength
        self.annotator_model = annotator_model
        self.tol = tol
        self.solver = solver
        self.index = index
        self.metric = metric
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        has_prior = self.prior is not None
        self._space = SearchSpace.read(self.alpha, self.n_neighbors, self.prior_strength, has_prior)
        validation.choice("annotator_model", self.annotator_model, ANNOTATOR_MODELS)
        validation.choice("scaling", self.scaling, SCALINGS)
        if not callable(self.solver):
            SOLVERS.check(self.solver)
        if validation.positive("tol", self.tol) > 1e-2:
            raise InputError(
                f"tol must be at most 0.01, got {self.tol!r}; 1e-6 keeps soft labels within 1e-4."
            )

    def fit(
        self,
        X: "ArrayLike | Graph | str | Path | Sequence[str | Path]",
        y: "ArrayLike | Votes | NamedVotes",
        *,
        sample_weight: ArrayLike | None = None,
        item_ids: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        out: str | Path | None = None,
        memory_limit: str | float | None = None,
        client: "Client | None" = None,
        work: str | Path | None = None,
    ) -> Self:
        """Learn from votes on some of the items of X, in memory or block by block.

        Parameters
        ----------
        X : (n, d) array-like, or Graph
            Features of the items, one row each, or their graph. In blocks also the path of an .npy or
            .parquet file, or a list of paths.
        y : (n,) or (n, n_classes) array-like, or Votes
            One label per item with -1 or None for no vote, votes per item and class, or Votes. NamedVotes
            are votes that were read before: they bring their ids and classes along.
        sample_weight : (n,) array-like, optional
            How much each label counts, where y is one label per item; 0 is not a vote.
        item_ids : (n,) array-like, optional
            Names by which Votes refer to items; by default the index of X where X is a DataFrame whose index
            holds text or is called item (or task, id, ...), else positions.
        classes : (n_classes,) array-like, optional
            Class names in the order of columns; by default the labels found, sorted.
        out : str or Path, optional
            For a fit in blocks: folder for the results, see :func:`~softspread.spread_in_blocks`. The
            estimator then reads it for answers about the fitted items; what needs their graph (further votes,
            new items, queries, explanations, posterior intervals) is refused.
        memory_limit : str or float, optional
            For a fit in blocks: memory of this process, such as "8GB", or of each worker.
        client : distributed.Client, optional
            For a fit in blocks on a Dask cluster.
        work : str or Path, optional
            For a fit in blocks: folder for blocks and checkpoints; by default beside ``out``.

        Returns
        -------
        self
            The fitted estimator.

        See Also
        --------
        update : Further votes on the same items.
        softspread.spread_in_blocks : A run in blocks with all its settings.

        Examples
        --------
        >>> import tempfile
        >>> X, y = [[0.0], [1.0], [9.0], [10.0]], [0, -1, -1, 1]
        >>> est = ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=1)
        >>> est.fit(X, y).transduction_.tolist()
        [0, 0, 1, 1]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     est.fit(X, y, out=f"{folder}/soft.parquet", memory_limit="1GB").transduction_.tolist()
        [0, 0, 1, 1]
        """
        if out is None and memory_limit is None and client is None and work is None:
            if isinstance(X, str | Path):
                raise InputError(
                    f"X is a path ({str(X)[:80]}). Read it with read_embeddings, or fit in blocks: "
                    "out='soft.parquet'."
                )
            items: Any = X
            return super().fit(items, y, sample_weight=sample_weight, item_ids=item_ids, classes=classes)
        if out is None:
            raise InputError(
                "memory_limit, client and work are for a fit in blocks, whose results are files: name the "
                "folder for them, such as out='soft.parquet'."
            )
        where: dict[str, Any] = {"work": work, "client": client}
        if memory_limit is not None:
            where["memory_limit"] = memory_limit
        with self._unchanged_on_failure():
            self._check_parameters()
            self._fit_in_blocks(X, partial(read_y, y, weights=sample_weight), item_ids, classes, (out, where))
        return self

    def _spread(self) -> None:
        space, options = self._space, self._options()
        items = self._items
        if len(space.neighbors) == 1:
            items = self._graph_of_items(space.neighbors[0])
        given = None if self.prior is None else self.prior_
        n_classes = len(self.classes_)
        settings = choose_settings(items, self._votes, n_classes, space, self.annotator_model, given, options)
        diffusion, self.prior_strength_ = settings.diffusion, settings.prior_strength
        self.graph_, self.alpha_ = diffusion.graph, diffusion.alpha
        self.n_neighbors_ = self.graph_.n_neighbors
        self.tuning_ = settings.tuning
        self._use_weighting(
            None if settings.annotators is None else Weighting(settings.annotators, self._votes)
        )
        self._state = SpreadState(diffusion, self._counted_votes, n_classes)
        self._state.solve()
        self._state.sharpen(self.prior_strength_)
        self._forget_answers()

    def _fit_in_blocks(
        self,
        X: Any,
        read: Callable[..., NamedVotes],
        item_ids: ArrayLike | None,
        classes: ArrayLike | None,
        target: tuple[str | Path, dict[str, Any]],
    ) -> None:
        """Run in blocks, and hold what can be read from its result."""
        from softspread.blocks.fitted import MassInBlocks  # late: a fit in memory does without
        from softspread.blocks.spread import is_path, spread_in_blocks
        from softspread.io.stream import open_stream

        self._check_possible_in_blocks(X)
        if is_path(X):
            items: Any = open_stream([X] if isinstance(X, str | Path) else X)
            self.n_features_in_ = items.n_dimensions
            self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        else:
            items = self._read_features(X, reset=True)
            item_ids = names_of(X) if item_ids is None else item_ids
        n = items.n_items if is_path(X) else len(items)
        self._classes_given = classes is not None
        votes, names = read(n, item_ids, classes)
        self._use_names(names)
        self._n_first_classes = len(names.classes)
        self._set_prior()
        result = spread_in_blocks(
            items,
            NamedVotes(votes, names),
            target[0],
            **target[1],
            **{name: getattr(self, name) for name in TAKEN_BY_BLOCKS},
            prior=None if self.prior is None else self.prior_,
            random_state=self._seed_of_blocks(),
            verbose=bool(self.verbose),
        )
        facts = result.facts
        self.alpha_, self.prior_strength_ = facts["alpha"], facts["prior_strength"]
        self.n_neighbors_, self.tuning_ = min(int(self.n_neighbors), n - 1), None
        self._votes = votes
        self._use_weighting(None)
        held: Any = MassInBlocks(result, names, self.prior_)
        self._state = self._items = self.graph_ = held
        self._forget_answers()

    def _seed_of_blocks(self) -> int:
        """The seed of a run in blocks; None is 0, so that a run that was interrupted can go on."""
        given = self.random_state
        if given is None or isinstance(given, int | np.integer):
            return int(given or 0)
        return int(self._generator(None).integers(2**31))

    def _check_possible_in_blocks(self, X: Any) -> None:
        """Refuse what a fit in blocks cannot do, with what it can."""
        given = {
            "a Graph as X": isinstance(X, Graph),
            f"solver={self.solver!r}": self.solver != "auto",
            f"metric={self.metric!r}": self.metric != "euclidean",
            "n_neighbors='auto'": self.n_neighbors == "auto",
            "an index of your own": callable(self.index),
        }
        refused = [name for name, is_given in given.items() if is_given]
        if refused:
            raise InputError(
                f"{refused[0]} does not work in blocks; leave it out, or fit in memory: without out, "
                "memory_limit and client."
            )

    def _take_in(self, new: AnyArray) -> None:
        before = np.append(np.arange(self.graph_.n_items), np.full(len(new), -1))
        self._grow_graph(new, self.n_neighbors_ if self.n_neighbors == "auto" else int(self.n_neighbors))
        self._follow(before)

    def _let_go(self, keep: BoolArray, votes_lost: bool) -> None:
        self._shrink_graph(keep)
        if votes_lost:
            items, self._items = self._items, self.graph_
            self._spread()
            self._items = items
            return
        if self._weighting is not None:
            self._weighting = self._weighting.moved(places_of(keep))
        self._follow(np.flatnonzero(keep))

    # Votes keep their scales when items come or go, until the next refine; when more than this share of the
    # items do, scales would be off by too much, and all is solved for at once.
    _moved_share = 0.01

    def _follow(self, before: IntArray) -> None:
        """The state of the graph's items by now, of which each had a row ``before``, or -1."""
        self._use_weighting(self._weighting)
        self.n_neighbors_ = self.graph_.n_neighbors
        diffusion = self._options().diffusion(self.graph_, self.alpha_)
        state = SpreadState(diffusion, self._counted_votes, len(self.classes_))
        state.follow(self._state, before)
        moved = len(before) + self._state.diffusion.graph.n_items - 2 * int((before >= 0).sum())
        self._state = state
        if moved > self._moved_share * len(before):
            self._state.refine()
        self._forget_answers()

    def _forget_answers(self) -> None:
        """Drop all that is derived from the refined votes and kept until they change."""
        self._forget_derived()
        self._chooser: tuple[SpreadState, int] | None = None

    def _diffusion(self) -> Diffusion:
        return self._state.diffusion

    def _spread_more(self, new: VoteTable) -> None:
        missing = len(self.classes_) - self._state.n_classes
        if missing:
            self._state.add_classes(missing)
        new = self._counted(new)
        self._forget_derived()
        self._state.add(new)

    def _spread_less(self) -> None:
        if self._weighting is not None:
            self._counted_votes = self._state.votes = self._weighting.apply(self._votes)
        self._forget_answers()
        self._state.recover(len(self.classes_))

    def _spread_fewer_classes(self) -> None:
        self._spread_less()
        self._refine()

    def refine(self, tol: float | None = None) -> Self:
        """Bring all soft labels back to the accuracy of a fresh fit, or to a tighter ``tol``.

        Live updates answer at once and let small errors add up; this removes them.

        Parameters
        ----------
        tol : float, optional
            A tighter relative residual than that of the estimator.

        Returns
        -------
        self
            The refined estimator.

        See Also
        --------
        ProbabilisticLabelSpreading.update : Adds votes and answers at once, a little less exactly.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> est = ProbabilisticLabelSpreading(n_neighbors=1).fit(X, [0, -1, -1, 1])
        >>> bool(est.update(1, 0).refine().stale_.any())
        False
        """
        check_is_fitted(self)
        self._state.refine(None if tol is None else validation.positive("tol", tol))
        self._state.sharpen(self.prior_strength_)
        return self

    def _refine(self) -> None:
        self.refine()

    def _evidence(self) -> Evidence:
        return Evidence(self._state.mass(), self._state.error_bound())

    def _evidence_of_new(self, X: AnyArray) -> tuple[Evidence, FloatArray]:
        """One more step of the diffusion; a new item's prior is that of its neighbours."""
        ties, fitted = self._ties(X), self._evidence()
        evidence = Evidence(self.alpha_ * (ties @ fitted.mass), self.alpha_ * (ties @ fitted.error_bound))
        near = ties @ self.prior_
        total = near.sum(axis=1, keepdims=True)
        prior = np.where(total > 0, near / np.where(total > 0, total, 1.0), self.prior_.mean(axis=0))
        return evidence, prior

    def soft_labels_of(self, items: ArrayLike) -> FloatArray:
        """Soft labels of a few fitted items, (len(items), n_classes): the quick answer after an update.

        Parameters
        ----------
        items : (m,) array-like
            Ids of the items, or positions where items have no ids.

        Returns
        -------
        (m, n_classes) array
            Soft labels of these items.

        See Also
        --------
        ProbabilisticLabelSpreading.soft_labels : The same for all fitted items.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> est = ProbabilisticLabelSpreading(n_neighbors=1).fit(X, [0, -1, -1, 1])
        >>> est.soft_labels_of([0, 3]).round(2).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        self._checked(None)
        rows = self._names.rows(items)
        return soft_labels(self._state.mass(rows), self.prior_[rows], self.prior_strength_)

    def _spread_fit(self, answer: Answer) -> SpreadFit:
        def fitted() -> tuple[Evidence, FloatArray]:
            known = answer if answer.X is None else self._about(None)
            return known.evidence, known.p

        return SpreadFit(
            self._state,
            self._state_of_cast_votes,
            fitted,
            None if self.prior is None else self.prior_,
            self._kept,
        )

    def _posteriors(self, answer: Answer) -> Posteriors:
        """Of a blend with one rung, this alpha, and the prior if one was given."""
        blend, fitted = self._fitted_blend()
        if answer.X is None:
            return Posteriors(fitted, fitted)
        masses = [rung.mass for rung in blend.rungs]
        new = blend.posterior_of_new(self._ties(answer.X), answer.X, masses, fitted.workers)
        return Posteriors(new, fitted)

    def _state_of_cast_votes(self) -> SpreadState:
        """The state, but with the classes that annotators named where votes became soft.

        A soft vote already carries its neighbours' opinion, so it cannot tell how far they are to be trusted.
        """
        if self._weighting is None or self._weighting.fit.soft_votes is None:
            return self._state
        named = SpreadState(self._state.diffusion, self._named_votes(), len(self.classes_))
        named.solve()
        return named

    # ---------------------------------------------------------------------------------- decisions that follow
    def _choosing(self) -> Choosing:
        state = self._choosing_state()
        return Choosing(state.diffusion, state.mass(), None)

    def _choosing_state(self) -> SpreadState:
        """A state at an alpha fit for choosing, kept and brought up to date with the votes since."""
        votes = self._counted_votes
        if self._chooser is None:
            state = choosing_state(self._state)
        else:
            state, n_seen = self._chooser
            if state is not self._state and n_seen < len(votes):
                state.add_classes(len(self.classes_) - state.n_classes)
                state.add(votes.take(slice(n_seen, None)))
        self._chooser = state, len(votes)
        return state

    def _fitted_blend(self) -> FittedBlend:
        """Of a blend with one rung, this alpha, and the prior if one was given."""
        self.refine()
        if "blend" not in self._kept:
            cast, n_classes = self._state_of_cast_votes().votes, len(self.classes_)
            own = own_votes(self._counted_votes, cast, self.n_items_, n_classes)
            given = None if self.prior is None else self.prior_
            blend = fit_blend(self._state.diffusion, own, alphas=[self.alpha_], prior=given)
            self._kept["blend"] = FittedBlend(blend, blend.posterior(self._state.diffusion.workers))
        fitted: FittedBlend = self._kept["blend"]
        return fitted

    def _held_out(self, probabilities: ArrayLike | None, rng: np.random.Generator) -> JudgingVotes:
        self.refine()
        return held_out_evidence(
            self._state_of_cast_votes(),
            self.prior_,
            self.prior_strength_,
            rng,
            fitted=self._fitted_blend(),
            cast=self._trusted_votes(),
            probabilities=probabilities,
        )

    def _forecast(self, more: int, level: float, rng: np.random.Generator) -> GainForecast:
        whole = None
        if self._weighting is None:  # else the votes of the state are not whole ones
            self.refine()
            whole = [mass_of_state(self._state, Ballots.of(self._votes, len(self.classes_)).voted)]
        return predict_gain(
            [self._state.diffusion],
            self._votes,
            len(self.classes_),
            more,
            prior=None if self.prior is None else self.prior_,
            prior_strength=self.prior_strength_,
            confidence_level=level,
            rng=rng,
            whole=whole,
        )

    def explain(self, item: Hashable, top: int | None = 10) -> pd.DataFrame:
        """The votes behind one soft label: item, label, annotator (if named), weight, heaviest first.

        A soft label is exactly the weighted mean of the votes (up to the prior), with these weights; over all
        votes (``top=None``) they sum to 1. An item that no vote reaches gets an empty table.

        Parameters
        ----------
        item : id or position
            Id of the item, or its position where items have no ids.
        top : int, optional
            How many votes to keep; None keeps all.

        Returns
        -------
        pandas.DataFrame
            Columns item, label, annotator (if votes are named) and weight, heaviest first. Over all
            votes (``top=None``) the weights sum to 1; an item that no vote reaches gets an empty table.

        See Also
        --------
        ProbabilisticLabelSpreading.soft_labels : The soft labels that this explains.

        Examples
        --------
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> est = ProbabilisticLabelSpreading(n_neighbors=1).fit(X, [0, -1, -1, 1])
        >>> est.explain(1)["label"].tolist()
        [0]
        """
        row, top = self._asked_about(item, top)
        evidence = float(self._state.mass(np.array([row])).sum())
        shares = explain(self._state.diffusion, self._counted_votes, row, top, evidence=evidence)
        behind = self._names.votes(shares).to_frame()
        return behind[[*behind.columns.drop("weight"), "weight"]]

    @property
    def error_bound_(self) -> FloatArray:
        """Proven bound on the error of every entry of an item's mass, (n,), for the scales in use."""
        check_is_fitted(self)
        return self._state.error_bound()

    @property
    def stale_(self) -> BoolArray:
        """Items whose soft label could be off by more than 0.01, (n,); none after a refinement.

        Without a prior (``prior_strength`` below 1e-4) an item stays here if double precision does not settle
        its soft label.
        """
        check_is_fitted(self)
        return self._state.stale(self.prior_strength_)

    @property
    def solve_report_(self) -> SolveReport | None:
        """Accuracy of the last solve; None before the first one."""
        check_is_fitted(self)
        return self._state.solve_report

    @property
    def scale_report_(self) -> ScaleReport:
        """How well the scales of the voted items are known."""
        check_is_fitted(self)
        return self._state.diffusion.scale_report()
