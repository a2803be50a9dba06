"""Base of estimators on a graph: the graph, annotators' weights, reasons for uncertainty."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.threads import Workers, count_threads
from softspread._common.types import AnyArray, BoolArray, FloatArray, RandomState
from softspread.annotators.report import AnnotatorReport
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.solver import SolverFactory
from softspread.estimators.auto import rate_only
from softspread.estimators.growing import GrowingEstimator
from softspread.graph.builders import knn_graph
from softspread.graph.extension import tie_newcomers
from softspread.graph.graph import Graph
from softspread.graph.growing import distances_to_neighbors, with_items, without_items
from softspread.graph.novelty import far_from_all
from softspread.graph.places import Metric
from softspread.intervals.task import IntervalMethod
from softspread.intervals.uncertainty import split_posterior, split_uncertainty_of
from softspread.notebook.contents import Contents
from softspread.notebook.voter import Voter
from softspread.posterior.posterior import Posterior
from softspread.queries.choose import choose_items
from softspread.queries.pool import Strategy
from softspread.tuning.candidates import SpreadOptions
from softspread.votes.table import VoteTable

if TYPE_CHECKING:
    from softspread.graph.neighbors import Search


class Choosing(NamedTuple):
    """The input of queries."""

    diffusion: Diffusion
    mass: FloatArray  # (n, n_classes)  what the votes bring at the diffusion's alpha
    posterior: Posterior | None


class GraphEstimator(GrowingEstimator):
    """An estimator whose votes travel over a graph."""

    _accepts_graph = True
    _tells_fitted_from_new = True
    _default_interval = "posterior"
    _has_posterior = True
    # Parameters that not every subclass lets the user choose
    bandwidth: str | float = "kth"
    scaling: str = "peak"
    tol: float = 1e-6
    solver: str | SolverFactory = "auto"
    index: "str | Search" = "auto"
    metric: Metric = "euclidean"
    n_jobs: int | None = None
    random_state: RandomState = None
    verbose: bool = False

    graph_: Graph
    _moved_graph: Graph | None = None  # with the items that came or went, where it is known already

    def _diffusion(self) -> Diffusion:
        """The graph at the alpha in use."""
        raise NotImplementedError  # pragma: no cover

    def _options(self) -> SpreadOptions:
        return SpreadOptions(
            self.bandwidth,
            self.scaling,
            self.solver,
            self.index,
            self.n_jobs,
            self.random_state,
            bool(self.verbose),
            self.tol,
            self.metric,
        )

    def _graph_of_items(self, n_neighbors: int) -> Graph:
        """The user's own graph, or one with this many neighbours."""
        return self._items if isinstance(self._items, Graph) else self._build_graph(n_neighbors)

    def _build_graph(self, n_neighbors: int) -> Graph:
        return knn_graph(
            self._items,
            n_neighbors,
            self.bandwidth,
            self.index,
            metric=self.metric,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=bool(self.verbose),
        )

    def _grow_graph(self, new: AnyArray, n_neighbors: int | None) -> None:
        """Join new items to the graph."""
        with self._workers() as workers:
            self._use_graph(self._moved_graph or with_items(self.graph_, new, n_neighbors, workers))

    def _shrink_graph(self, keep: BoolArray) -> None:
        """Leave some items of the graph."""
        with self._workers() as workers:
            self._use_graph(self._moved_graph or without_items(self.graph_, keep, workers))

    def _use_graph(self, graph: Graph) -> None:
        self.graph_ = graph
        self._items = graph if isinstance(self._items, Graph) else graph.features

    def _workers(self) -> Workers:
        return Workers(count_threads(self.n_jobs))

    def _generator(self, random_state: RandomState) -> np.random.Generator:
        """Of this call, else the estimator's own."""
        return validation.generator(self.random_state if random_state is None else random_state)

    def _use_weighting(self, weighting: Weighting | None) -> None:
        """Weigh the votes by their annotators.

        ``_counted_votes`` are the votes as they count: the table of ``votes_`` itself where all
        count the same.
        """
        self._weighting = weighting
        self._counted_votes = self._votes if weighting is None else weighting.apply(self._votes)

    def _counted(self, new: VoteTable) -> VoteTable:
        """Further votes as they count; the votes that count have them from now on."""
        if self._weighting is not None:
            new = self._weighting.apply(new)
            self._counted_votes.append(new)
        return new

    def _named_votes(self) -> VoteTable:
        """Weighted votes with the classes that annotators named, where the votes that count became soft."""
        return self._votes if self._weighting is None else self._weighting.weigh(self._votes)

    def _trusted_votes(self) -> VoteTable | None:
        """Votes as cast by those whose votes count; None where all count the same."""
        return None if self._weighting is None else self._weighting.trusted(self._votes)

    def _asked_about(self, item: Hashable, top: int | None) -> tuple[int, int | None]:
        """The row of one item, and how many lines to show of it."""
        self._checked(None)
        if top is not None:
            top = validation.count("top", top, smallest=1)
        return int(self._names.rows([item])[0]), top

    def _forget_derived(self) -> None:
        """Drop all that is derived from the votes and kept until they change."""
        self._kept: dict[str, Any] = {}
        self._unrated: AnnotatorReport | None = None

    def _ties(self, X: AnyArray) -> csr_array:
        return tie_newcomers(self.graph_, X, self._workers())

    def _choosing(self) -> Choosing:
        """The input of queries."""
        raise NotImplementedError  # pragma: no cover

    def query(
        self,
        batch_size: int = 1,
        strategy: str | Strategy = "uncertainty",
        *,
        exclude: ArrayLike | None = None,
        return_probabilities: bool = False,
        random_state: RandomState = None,
    ) -> Any:
        """Which items to vote on next, in the order in which they were picked.

        Parameters
        ----------
        batch_size : int, default 1
            How many items.
        strategy : str or Strategy, default "uncertainty"
            "uncertainty": first items that cover all others, then where a vote is expected to lower the
            error most, with some uniform picks and second votes. Or "uniform" (the paper's), "balanced",
            "gain", "local", "least_evidence", "entropy", "farthest", the name of a plug-in, or a function,
            see :func:`~softspread.queries.choose.choose_items`.
        exclude : array-like, optional
            Items never to pick, such as those already handed out.
        return_probabilities : bool, default False
            Also return the probability with which each pick was drawn at its step, so that chosen items can
            speak for all. Known for "uniform" and for "uncertainty" of a SoftLabeler.
        random_state : int, Generator or None, optional
            Seeds the picks; None takes the estimator's.

        Returns
        -------
        (batch_size,) array, or a pair of arrays
            Ids, or positions where items have no ids, in the order in which they were picked; with
            ``return_probabilities`` also their probabilities.

        See Also
        --------
        update : Adds the votes that come in.

        Examples
        --------
        >>> from softspread import SoftLabeler
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=2).fit(X, [0, -1, -1, 1])
        >>> sorted(lab.query(4, random_state=0).tolist())
        [0, 1, 2, 3]
        >>> items, probabilities = lab.query(2, return_probabilities=True, random_state=0)
        >>> bool((probabilities > 0).all())
        True
        """
        check_is_fitted(self)
        rows = np.empty(0, np.int64) if exclude is None else self._names.rows(exclude)
        diffusion, mass, posterior = self._choosing()
        rng = self._generator(random_state)
        chances: list[float] | None = [] if return_probabilities else None
        votes = self.vote_counts_.sum(axis=1)
        picked = choose_items(
            diffusion,
            mass,
            votes,
            batch_size,
            strategy,
            rng,
            rows,
            posterior=posterior,
            probabilities=chances,
        )
        items = self._names.items(picked)
        return items if chances is None else (items, np.array(chances))

    def vote_here(
        self,
        items: Contents | None = None,
        *,
        which: ArrayLike | None = None,
        annotator: str | None = None,
        question: str = "Which class is it?",
        strategy: str | Strategy = "uncertainty",
        random_state: RandomState = None,
    ) -> Voter:
        """Vote in a notebook: one key is one vote, which goes into this estimator at once.

        The last line of a cell shows it. It has the keys of the voting page, takes votes back by
        :meth:`undo`, and shows after each vote what moved. Needs ``pip install "softspread[notebook]"``.

        Parameters
        ----------
        items : folder, sequence, mapping or callable, optional
            What people see: a folder with a file per item id; one thing per fitted item, in their order; a
            dict from ids to things; or a function of the id. A thing is the path of a picture, text, sound or
            film, text itself, a number, an array of pixels (height by width, with 3 colours or none) or of
            features, a picture of Pillow, or bytes. By default the ids.
        which : array-like, optional
            Ids of the items to vote on, in this order, or positions where items have no ids; by default
            what :meth:`query` picks after every vote, without items on which the same person voted before.
        annotator : str, optional
            Who votes; can be changed in the notebook. Votes without a name stay unnamed.
        question : str, default "Which class is it?"
            What people are asked.
        strategy : str or Strategy, default "uncertainty"
            How items are picked, see :meth:`query`.
        random_state : int, Generator or None, optional
            Seeds the picks; None takes the estimator's.

        Returns
        -------
        Voter
            What the notebook shows; its ``votes`` are those cast there.

        See Also
        --------
        update : The same votes from Python.
        query : Which items to vote on next.

        Examples
        --------
        >>> from softspread import SoftLabeler
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> lab = SoftLabeler(n_neighbors=2).fit(X, ["cat", None, None, "dog"])
        >>> lab.vote_here(["a small cat", "a cat", "a dog", "a large dog"], annotator="ada")
        Voter(0 votes on 4 items; classes: cat, dog)
        """
        check_is_fitted(self)
        return Voter(
            self,
            items,
            which=which,
            annotator=annotator,
            question=question,
            strategy=strategy,
            random_state=random_state,
        )

    def uncertainty(
        self, confidence_level: float = 0.9, method: str | IntervalMethod | None = None
    ) -> pd.DataFrame:
        """Why each item is uncertain: people disagree, or too few votes reached it.

        Parameters
        ----------
        confidence_level : float, default 0.9
            How sure a verdict must be, strictly between 0 and 1.
        method : str or function, optional
            By default "posterior". Any other method of :meth:`predict_interval` judges by its intervals, see
            :func:`~softspread.uncertainty_split`.

        Returns
        -------
        pandas.DataFrame
            One row per item: aleatoric (expected entropy of the true soft label over its largest value),
            epistemic (what one more vote would tell about it, over the same value), evidence, and a verdict:
            "clear" (one class has a probability of at least 0.7), "ambiguous" (no class has), each with
            ``confidence_level``, or "not enough votes".

        See Also
        --------
        softspread.uncertainty_split : The same from intervals.

        Examples
        --------
        >>> from softspread import ProbabilisticLabelSpreading
        >>> X = [[0.0], [1.0], [9.0], [10.0]]
        >>> est = ProbabilisticLabelSpreading(n_neighbors=1).fit(X, [0, -1, -1, 1])
        >>> est.uncertainty()["verdict"].tolist()[0]
        'not enough votes'
        """
        if self._reads_posterior(method):
            level = validation.between_0_and_1("confidence_level", confidence_level)
            check_is_fitted(self)
            self._refine()
            split = split_posterior(self._posteriors(self._about(None)).asked, level, len(self.classes_))
        else:
            split = split_uncertainty_of(self.soft_labels(confidence_level, method))
        frame = split.to_frame()
        if self.item_ids_ is not None:
            frame.insert(0, "item", self.item_ids_)
        return frame

    @property
    def novelty_(self) -> pd.DataFrame:
        """How far each item lies from all others: the distance to its farthest neighbour.

        ``novelty`` is the distance over the median of all items; ``far`` marks those that lie beyond the far
        outer fence of its logarithm. Votes hardly reach such items: look at them, or vote on them.
        """
        check_is_fitted(self)
        with self._workers() as workers:
            distance = distances_to_neighbors(self.graph_, workers)
        frame = pd.DataFrame({"item": self._names.items(np.arange(self.n_items_)), "distance": distance})
        frame["novelty"], frame["far"] = far_from_all(distance)
        return frame

    @property
    def annotators_(self) -> pd.DataFrame | None:
        """One row per named annotator; flag "unknown" where votes cannot tell; None where nobody is named."""
        check_is_fitted(self)
        if self._weighting is not None:
            return self._weighting.fit.report.to_frame()
        if self._votes.annotators is None or len(self.classes_) == 0:
            return None
        if self._unrated is None:
            self._unrated = rate_only(self._diffusion(), self._votes, len(self.classes_))
        return self._unrated.to_frame()
