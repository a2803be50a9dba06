"""The seam between soft labels and their intervals: what an interval method sees, and what it returns.

IntervalTask (p, mass, level, ...)  ->  IntervalMethod  ->  lower, upper (n, n_classes)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from softspread._common.types import AnyArray, FloatArray
from softspread.errors import InputError
from softspread.posterior.posterior import Posterior
from softspread.spreading.evidence import Evidence
from softspread.spreading.state import SpreadState


@dataclass(frozen=True, slots=True, eq=False)
class SpreadFit:
    """How the votes of a fit were spread, for methods that look behind mass."""

    state: SpreadState  # the votes as they count, and their mass
    cast_state: Callable[[], SpreadState]  # the votes as cast, before a model made them soft
    fitted: Callable[[], tuple[Evidence, FloatArray]]  # evidence and soft labels of the fitted items
    prior: FloatArray | None  # (n, n_classes) as the user gave it
    kept: dict[str, Any]  # where a method may keep a result until the votes change


@dataclass(frozen=True, slots=True, eq=False)
class Posteriors:
    """The posterior of the items asked about, and that of the fitted ones, which says how wide to be."""

    asked: Posterior
    fitted: Posterior


@dataclass(frozen=True, slots=True, eq=False)
class IntervalTask:
    """Soft labels for which intervals are wanted.

    Parameters
    ----------
    p, mass : (n, n_classes) float
        Soft labels, and the mass that they were made from.
    confidence_level : float
        Strictly between 0 and 1.
    n_intervals : int, default 1
        How many intervals must hold together; a union bound divides 1 - confidence_level by it.
    lipschitz : float, optional
        How fast soft labels change with distance, where a method needs to know.
    new_items : (n, d) float, optional
        Features of the items if they are new; None: the fitted items.
    spread : SpreadFit, optional
        How the votes were spread; None for estimators that do not spread votes.
    posteriors : function, optional
        Makes the posterior of the items; None for estimators that have none.
    """

    p: FloatArray
    mass: FloatArray
    confidence_level: float
    n_intervals: int = 1
    lipschitz: float | None = None
    new_items: AnyArray | None = None
    spread: SpreadFit | None = None
    posteriors: Callable[[], Posteriors] | None = None

    def spread_fit(self) -> SpreadFit:
        """How the votes were spread, or an :class:`InputError` where they were not."""
        if self.spread is None:
            raise InputError(
                "this interval method needs to know how votes were spread over a graph, and this estimator "
                "spreads none; use method='wilson' or 'wilson_floor'."
            )
        return self.spread


class IntervalMethod(Protocol):
    """An interval method: any function of a task.

    A method that needs soft labels at the solver's full accuracy, also right after live updates, carries an
    attribute ``needs_refined = True``.
    """

    def __call__(self, task: IntervalTask, /) -> tuple[FloatArray, FloatArray]:
        """``lower`` and ``upper``, (n, n_classes) each, in [0, 1]."""
        ...
