"""``est.plot``: the pictures of a fitted estimator."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from softspread._common import validation
from softspread._common.extras import needs_extra
from softspread._common.types import AnyArray, RandomState
from softspread.annotators.verdict import odd_first
from softspread.errors import InputError
from softspread.plots import pictures
from softspread.report.points import plane_of, sample_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("class", "evidence", "uncertainty")
MOST_DOTS = 50_000  # beyond, matplotlib becomes slow and dots cover each other


class Plots:
    """Pictures of a fitted estimator, on matplotlib axes; ``est.plot`` is one.

    Every method draws on ``ax``, or on the axes of a new figure, and returns the axes. Needs
    ``pip install "softspread[plots]"``.

    Parameters
    ----------
    est : estimator
        A fitted estimator of this package.
    features : callable
        Gives the features of its items for a map, or None where there are none.

    See Also
    --------
    SoftLabeler.report : All pictures and tables on one page.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from softspread import VoteHistogram
    >>> est = VoteHistogram().fit([[0.0], [1.0]], [[3, 1], [0, 2]])
    >>> est.plot.evidence(Figure().subplots()).get_xlabel()
    'evidence, in votes'
    """

    def __init__(self, est: BaseEstimator, features: Callable[[], AnyArray | None]) -> None:
        self._est: Any = est
        self._features = features

    def map(self, ax: "Axes | None" = None, *, color: str = "class", random_state: RandomState = 0) -> "Axes":
        """Items in the plane, similar ones together, as in the report.

        A picture for the eye: no figure comes from it. Beyond 50,000 items a random sample is drawn.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        color : {"class", "evidence", "uncertainty"}, default "class"
            The most probable class (paler is less certain, rings are votes), the evidence, or the width of
            the widest interval.
        random_state : int or Generator, default 0
            Seeds the layout.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        See Also
        --------
        evidence : How evidence is distributed.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from softspread import VoteHistogram
        >>> est = VoteHistogram().fit([[0.0], [1.0]], [[3, 1], [0, 2]])
        >>> est.plot.map(Figure().subplots()).get_title()
        '2 items by class'
        """
        validation.choice("color", color, COLORS)
        labels = self._est.soft_labels()
        X = self._features()
        if X is None:
            raise InputError(
                "a map needs features, and this estimator was fitted on an affinity; fit on X, or a graph "
                "that was made from X."
            )
        axes = _axes(ax)
        rng = validation.generator(random_state)
        rows = sample_rows(len(X), rng, MOST_DOTS)
        voted = self._est.vote_counts_[rows].sum(axis=1) > 0
        pictures.draw_map(axes, plane_of(X[rows], rng), labels.take(rows), voted, color)
        return axes

    def evidence(self, ax: "Axes | None" = None) -> "Axes":
        """How many votes' worth of evidence items have.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        See Also
        --------
        map : Where evidence is.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from softspread import VoteHistogram
        >>> est = VoteHistogram().fit([[0.0], [1.0]], [[3, 1], [0, 2]])
        >>> est.plot.evidence(Figure().subplots()).get_ylabel()
        'items'
        """
        evidence = self._est.evidence_
        axes = _axes(ax)
        pictures.draw_evidence(axes, evidence)
        return axes

    def annotators(self, ax: "Axes | None" = None, *, most: int = 30) -> "Axes":
        """How consistent annotators are, with 90 % intervals and verdicts; the odd ones first.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        most : int, default 30
            How many to draw.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        See Also
        --------
        SoftLabeler : Its ``annotators_`` is the table.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from softspread import SoftLabeler, Votes
        >>> votes = Votes.from_pairs([0, 0, 1, 2], [0, 0, 0, 1], ["ann", "bob", "ann", "bob"])
        >>> lab = SoftLabeler(n_neighbors=1).fit([[0.0], [1.0], [9.0]], votes)
        >>> len(lab.plot.annotators(Figure().subplots()).get_yticks())
        2
        """
        most = validation.count("most", most, smallest=1)
        frame = self._answer("annotators_", "which annotators are consistent")
        if frame is None or not len(frame):
            raise InputError(
                "the votes name no annotators; give their names, such as Votes.from_pairs(..., annotators=)."
            )
        axes = _axes(ax)
        pictures.draw_annotators(axes, odd_first(frame).head(most), len(frame))
        return axes

    def alpha(self, ax: "Axes | None" = None) -> "Axes":
        """Why votes travel as far as they do.

        For spreading alone: the score of held-out votes at each alpha, and the choice. For a SoftLabeler,
        which spreads at several alphas: what each of them and the other experts count.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        See Also
        --------
        softspread.tune : Chooses alpha, neighbours and prior strength.

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from softspread import SoftLabeler
        >>> lab = SoftLabeler(n_neighbors=1).fit([[0.0], [1.0], [9.0]], [0, -1, 1])
        >>> lab.plot.alpha(Figure().subplots()).get_xlabel()
        'share in the blend'
        """
        if hasattr(self._est, "weights_"):
            weights = self._est.weights_
            axes = _axes(ax)
            pictures.draw_experts(axes, weights)
            return axes
        tuning = self._answer("tuning_", "how alpha was chosen")
        if tuning is None:
            raise InputError(
                "alpha was given, not chosen; fit with alpha='auto' and at least 10 votes to see the curve."
            )
        axes = _axes(ax)
        tuning.plot(axes)
        return axes

    def learning_curve(
        self, ax: "Axes | None" = None, *, more: int | None = None, random_state: RandomState = None
    ) -> "Axes":
        """The estimated RMSE now and what further votes are expected to make of it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        more : int, optional
            How many further votes; by default as many as there are.
        random_state : int, Generator or None, optional
            Seeds what is drawn at random; by default the estimator's own.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        See Also
        --------
        SoftLabeler.forecast : The numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from softspread import SoftLabeler
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> counts = np.zeros((200, 2))
        >>> counts[np.arange(0, 200, 4), (X[::4, 0] > 0).astype(int)] = 3
        >>> lab = SoftLabeler(random_state=0).fit(X, counts)
        >>> lab.plot.learning_curve(Figure().subplots()).get_ylabel()
        'estimated RMSE'
        """
        forecast = self._answer("forecast", "what further votes bring")
        found = forecast(len(self._est.votes_) if more is None else more, random_state=random_state)
        axes = _axes(ax)
        pictures.draw_forecast(axes, found)
        return axes

    def coverage(
        self, ax: "Axes | None" = None, *, p_true: ArrayLike | None = None, random_state: RandomState = None
    ) -> "Axes":
        """Whether predictions hold what they promise.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a new figure.
        p_true : (n, n_classes) array-like, optional
            Known soft labels; by default held-out votes judge.
        random_state : int, Generator or None, optional
            Seeds what is drawn at random; by default the estimator's own.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        See Also
        --------
        SoftLabeler.coverage : The numbers, and what they mean.

        Examples
        --------
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from softspread import SoftLabeler
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> y = np.where(np.arange(200) % 4 == 0, X[:, 0] > 0, -1)
        >>> SoftLabeler(random_state=0).fit(X, y).plot.coverage(Figure().subplots()).get_xlabel()
        'confidence level'
        """
        frame = self._answer("coverage", "how far intervals can be trusted")(
            p_true, random_state=random_state
        )
        axes = _axes(ax)
        pictures.draw_coverage(axes, frame, p_true is not None)
        return axes

    def _answer(self, name: str, what: str) -> Any:
        if not hasattr(type(self._est), name) and not hasattr(self._est, name):
            raise InputError(f"{type(self._est).__name__} does not know {what}; SoftLabeler does.")
        return getattr(self._est, name)

    def __repr__(self) -> str:
        names = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"pictures of a {type(self._est).__name__}: {', '.join(f'{name}()' for name in names)}"


def _axes(ax: "Axes | None") -> "Axes":
    """The given axes, or those of a new figure."""
    with needs_extra("plots", "pictures need matplotlib"):
        import matplotlib.pyplot as plt
    return plt.subplots(layout="constrained")[1] if ax is None else ax
