"""Probabilistic Label Spreading with scikit-learn's habits."""

from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from softspread import checks
from softspread.base import VotesEstimator
from softspread.data import AnyArray, BoolArray, FloatArray
from softspread.diffusion.scales import SCALINGS
from softspread.errors import InputError
from softspread.graph import Graph, knn_graph
from softspread.graph.newcomers import tie_newcomers
from softspread.intervals import estimate_lipschitz, hoeffding, sums_of_squares
from softspread.live import SpreadState
from softspread.parallel import Workers, count_threads
from softspread.spreading import Diffusion, soft_labels
from softspread.votes import VoteTable

SOLVERS = ("auto", "dense", "direct", "cg", "push", "amg", "literal")


class ProbabilisticLabelSpreading(VotesEstimator):
    """Soft labels for all items from votes on a few.

    Every vote diffuses over the k-nearest-neighbour graph of the items, scaled so that the voted item receives 1. What
    an item has received per class, normalised, is its soft label; how much it has received is its evidence.

    Parameters
    ----------
    alpha : how far votes travel, 0 = each item alone, below 1
    n_neighbors : neighbours per item, the item itself not counted
    bandwidth : the kernel's sigma**2: "kth", "mean" or a positive number, see :func:`~softspread.knn_graph`
    scaling : "peak" divides a profile by its largest entry, "source" by the voted item's own, "none" not at all
    prior : (n, n_classes) or (n_classes,) probabilities that count as pseudo-votes; None = uniform
    prior_strength : how many votes the prior counts as
    annotator_model : "none": all annotators count the same; "auto" chooses
    tol : relative residual of the solves; 1e-6 keeps soft labels within 1e-4 of exact arithmetic, 1e-8 within 1e-6
    solver : "auto", "dense", "direct", "cg", "push", "amg", or "literal": the paper's loop, one solve per vote
    index : neighbour search: "auto", "exact", "tree", "brute", "faiss" or "pynndescent"
    n_jobs : threads; None = all cores
    random_state : seeds the approximate neighbour search
    verbose : show progress bars

    Attributes
    ----------
    classes_ : (n_classes,) class names
    label_distributions_ : (n, n_classes) soft labels
    transduction_ : (n,) most probable classes
    evidence_ : (n,) how many virtual votes each item has received
    graph_ : the graph
    alpha_ : the alpha in use
    error_bound_ : (n,) proven bound on the numerical error of every entry of an item's mass
    stale_ : (n,) mask of items whose soft label needs :meth:`refine` after live updates

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

    _accepts_graph = True

    def __init__(
        self,
        alpha: float | str = 0.9,
        n_neighbors: int | str = 20,
        bandwidth: str | float = "kth",
        scaling: str = "peak",
        prior: Any = None,
        prior_strength: float | str = 1e-4,
        annotator_model: str = "auto",
        tol: float = 1e-6,
        solver: str = "auto",
        index: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
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
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        checks.alpha(self.alpha)
        checks.choice("scaling", self.scaling, SCALINGS)
        checks.not_negative("prior_strength", self.prior_strength)
        checks.choice("annotator_model", self.annotator_model, ("auto", "none"))
        checks.choice("solver", self.solver, SOLVERS)
        if checks.positive("tol", self.tol) > 1e-2:
            raise InputError(f"tol must be at most 0.01, got {self.tol!r}; 1e-6 keeps soft labels within 1e-4.")

    def _spread(self) -> None:
        self.alpha_ = float(self.alpha)
        self.graph_ = self._items if isinstance(self._items, Graph) else self._build_graph()
        self._state = SpreadState(self._make_diffusion(), self.votes_, len(self.classes_))
        self._state.solve()

    def _make_diffusion(self) -> Diffusion:
        return Diffusion(
            self.graph_,
            self.alpha_,
            scaling=self.scaling,
            solver=self.solver,
            tol=self.tol,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )

    def _build_graph(self) -> Graph:
        return knn_graph(
            self._items,
            self.n_neighbors,  # type: ignore[arg-type]  # words are resolved before
            self.bandwidth,
            self.index,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            verbose=bool(self.verbose),
        )

    def _spread_more(self, new: VoteTable) -> None:
        missing = len(self.classes_) - self._state.n_classes
        if missing:
            self._state.add_classes(missing)
        self._state.add(new)

    def _spread_less(self) -> None:
        self._state.recover(len(self.classes_))

    def refine(self, tol: float | None = None) -> "ProbabilisticLabelSpreading":
        """Bring all soft labels to the accuracy of a fresh fit after live updates, or to a tighter ``tol``."""
        check_is_fitted(self)
        self._state.refine(None if tol is None else checks.positive("tol", tol))
        return self

    def _mass(self) -> FloatArray:
        return np.asarray(self.graph_.to_user_order(self._state.mass()))

    def _mass_of_new(self, X: AnyArray) -> FloatArray:
        return np.asarray(self.alpha_ * (self._ties(X) @ self._mass()))

    def _prior_of_new(self, X: AnyArray) -> FloatArray:
        """A new item's prior is that of its neighbours."""
        ties = self._ties(X)
        near = ties @ self.prior_
        total = near.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, near / np.where(total > 0, total, 1.0), self.prior_.mean(axis=0)))

    def _ties(self, X: AnyArray) -> Any:
        return tie_newcomers(self.graph_, X, Workers(count_threads(self.n_jobs)))

    def soft_labels_of(self, items: Any) -> FloatArray:
        """Soft labels of a few fitted items, (len(items), n_classes): the quick answer after an update."""
        self._checked(None)
        rows = self._rows_of(items)
        mass = self._state.mass(self._state.diffusion.rank[rows])
        return soft_labels(mass, self.prior_[rows], self._prior_strength())

    def _rows_of(self, items: Any) -> AnyArray:
        return checks.rows_of_items(checks.names(items, "item"), self.item_ids_, self.n_items_)

    def predict_interval(
        self,
        X: Any = None,
        confidence_level: float = 0.9,
        method: str = "wilson",
        lipschitz: float | None = None,
        simultaneous: bool = False,
    ) -> tuple[FloatArray, FloatArray]:
        """Lower and upper end of an interval for each soft label, (n, n_classes) each.

        Parameters
        ----------
        confidence_level : strictly between 0 and 1
        method : "wilson" reads mass as votes; "wilson_floor" rounds it down to whole votes first, as the paper does;
            "hoeffding" holds for any soft labels that change by at most ``lipschitz`` per unit of distance
            (a vote of weight w is read as one heavy vote, so tables of counts get wider intervals than needed)
        lipschitz : for "hoeffding": None estimates it from the soft labels of neighbours, 0 leaves the bias out
        simultaneous : hold for all classes of an item together, by a union bound
        """
        if method != "hoeffding":
            checks.choice("method", method, ("wilson", "wilson_floor", "hoeffding"))
            return super().predict_interval(X, confidence_level, method, lipschitz, simultaneous)
        level = checks.between_0_and_1("confidence_level", confidence_level)
        if self._checked(X) is not None:
            raise InputError(
                "Hoeffding intervals exist for the fitted items only; method='wilson' also takes new ones."
            )
        mass, p = self._mass(), self.predict_proba()
        if lipschitz is None:
            lipschitz = estimate_lipschitz(self.graph_, p, mass.sum(axis=1))
        n_classes = mass.shape[1]
        error = n_classes * self.error_bound_
        sums = sums_of_squares(self._state.diffusion, self.votes_, mass, lipschitz=lipschitz, mass_error=error)
        return hoeffding(p, mass, sums, level, n_classes if simultaneous else 1)

    def explain(self, item: Any, top: int | None = 10) -> pd.DataFrame:
        """The votes behind one soft label: item, label, annotator (if named), weight, heaviest first.

        A soft label is exactly the weighted mean of the votes (up to the prior), with these weights; over all votes
        (``top=None``) they sum to 1. An item that no vote reaches gets an empty table.

        Examples
        --------
        >>> est = ProbabilisticLabelSpreading(n_neighbors=1).fit([[0.0], [1.0], [9.0], [10.0]], [0, -1, -1, 1])
        >>> est.explain(1)["label"].tolist()
        [0]
        """
        self._checked(None)
        if top is not None:
            top = checks.count("top", top, smallest=1)
        row = int(self._rows_of([item])[0])
        state, votes = self._state, self.votes_
        rank = state.diffusion.rank
        reach = np.maximum(state.diffusion.reach_of_votes(int(rank[row]), rank[votes.rows]), 0.0)
        table = pd.DataFrame({"row": votes.rows, "column": votes.columns, "weight": reach * votes.weights})
        keys = ["row", "column"]
        if votes.annotators is not None:
            table["annotator"] = pd.Series(votes.annotators, dtype=object)
            keys.append("annotator")
        totals = table.groupby(keys, sort=False, dropna=False)["weight"].sum().reset_index()
        totals = (
            totals[totals["weight"] > 0]
            .sort_values("weight", ascending=False, kind="stable")
            .head(len(totals) if top is None else top)
        )
        evidence = float(reach @ votes.weights)
        columns = {
            "item": totals["row"].to_numpy() if self.item_ids_ is None else self.item_ids_[totals["row"].to_numpy()],
            "label": self.classes_[totals["column"].to_numpy()],
        }
        if votes.annotators is not None:
            columns["annotator"] = totals["annotator"].to_numpy()
        return pd.DataFrame({**columns, "weight": totals["weight"].to_numpy() / (evidence if evidence > 0 else 1.0)})

    @property
    def error_bound_(self) -> FloatArray:
        """Proven bound on the numerical error of every entry of an item's mass, for the scales in use, (n,)."""
        check_is_fitted(self)
        return np.asarray(self.graph_.to_user_order(self._state.error_bound()))

    @property
    def stale_(self) -> BoolArray:
        """Items whose soft label could be off by more than 0.01 since the last refinement, (n,)."""
        check_is_fitted(self)
        return np.asarray(self.graph_.to_user_order(self._state.stale(self._prior_strength())))

    @property
    def solve_report_(self) -> Any:
        """What the last solve reached; None before the first vote needed one."""
        check_is_fitted(self)
        return self._state.solve_report

    @property
    def scale_report_(self) -> Any:
        """How well the scales of the voted items are known."""
        check_is_fitted(self)
        return self._state.diffusion.scale_report()
