"""Sums of squared contributions to each item, and their bias.

    bias        B_i = sum_j (w_j phi_ij / N_i) min(1, L |x_j - x_i|)                      theory: [bias bound]

Mass is linear in the votes, its sums of squares are not: they come from local profiles. A push with floor f
finds phi = kept + missing with 0 <= missing_iq <= e_i b_q, where e_i = f sqrt(d_i) / (1 - alpha) and b_q = 1
/ s_q, and the missing mass rest_i = N_i - sum_q (sum w)_q kept_iq is known, because N_i is. By the triangle
inequality for the norm whose square is the sum of w^2 phi^2 over the votes,         theory: [missing squares]

    sqrt(sum w^2 phi^2) <= sqrt(sum w^2 kept^2) + sqrt(min(e_i rest_i max_q(w_q b_q), e_i^2 sum w^2 b_q^2))

so that intervals may come out too wide, never too narrow; the bias of the missing mass is at most
rest_i min(1, L diameter). In the random-walk form e_i = f / (1 - alpha) and b_q = sqrt(d_q) / s_q.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from softspread._common import validation
from softspread._common.types import AnyArray, FloatArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import profile_sums
from softspread.errors import InputError
from softspread.graph.graph import Graph
from softspread.graph.places import place_items
from softspread.votes.ballots import Ballots


@dataclass(frozen=True, slots=True, eq=False)
class SumsOfSquares:
    """The sums that Hoeffding's inequality needs beyond mass, per item."""

    squares: FloatArray  # (n,)   sum of w^2 phi^2 over the votes as far as the profiles go: a lower bound
    missing: FloatArray  # (n,)   the same sum over what the profiles miss is at most this
    rest: FloatArray  # (n,)      evidence that the profiles miss
    bias: FloatArray | None  # (n,)  sum of w phi min(1, L dist) is at most this; None without an L
    lipschitz: float | None
    floor: float  # of the push; 0 = nothing missed

    @property
    def upper(self) -> FloatArray:
        """(n,) sum of w^2 phi^2 over the votes, never too small, theory [missing squares]."""
        return np.asarray((np.sqrt(self.squares) + np.sqrt(self.missing)) ** 2)


def sums_of_squares(
    diffusion: Diffusion,
    ballots: Ballots,
    mass: FloatArray,
    *,
    lipschitz: float | None = None,
    mass_error: Any = 0.0,
    floor: float | None = None,
) -> SumsOfSquares:
    """Sums over the votes of w^2 phi^2, and of w phi min(1, L dist), for every item.

    Parameters
    ----------
    diffusion : the graph and alpha with which the votes were spread
    mass : (n, n_classes), all votes spread
    lipschitz : change of a soft label per unit of distance; None leaves the bias out
    mass_error : (n,) or a number, proven bound on the error of an item's evidence; widens what may be missing
    floor : of the push, smaller = tighter and slower; None = fine enough to miss 1 % of a profile, or the
        finest that visits at most a billion edges

    Returns
    -------
    Bounds that are never too small. Up to 2000 items exact, by the dense inverse. Memory: about 200 bytes
    per item.
    """
    graph = diffusion.graph
    if lipschitz is not None:
        lipschitz = validation.not_negative("lipschitz", lipschitz)
        if lipschitz > 0 and graph.features is None:
            raise InputError(
                "a Lipschitz constant needs distances, but this graph was made from an affinity and has no "
                "features; pass lipschitz=0 for intervals without bias, or method='wilson'."
            )
    voted, opinions = ballots.voted, ballots.opinions
    if floor is not None:
        validation.positive("floor", floor)
    weights = np.stack([ballots.totals, opinions.squares], axis=1)
    sums = profile_sums(diffusion, voted, weights, lipschitz or 0.0, floor)
    rest = np.maximum(mass.sum(axis=1) - sums.mass, 0.0) if sums.floor else np.zeros(graph.n_items)
    rest += np.asarray(mass_error, dtype=np.float64)
    reach = diffusion.missed_at_most(sums.floor)  # e_i
    sources = diffusion.sources(voted)  # b_q
    heaviest = float((opinions.largest * sources).max(initial=0.0))
    everywhere = float(opinions.squares @ sources**2)
    bias = None
    if lipschitz is not None:
        bias = sums.bias + rest * min(1.0, lipschitz * diameter(graph) if lipschitz else 0.0)
    return SumsOfSquares(
        squares=sums.squares,
        missing=np.minimum(reach * heaviest * rest, reach**2 * everywhere),  # [missing squares]
        rest=rest,
        bias=bias,
        lipschitz=lipschitz,
        floor=sums.floor,
    )


def diameter(graph: Graph) -> float:
    """No two items of a graph with features are further apart: the diagonal of the box around them."""
    X = np.asarray(graph.places, dtype=np.float64)
    return float(np.linalg.norm(X.max(axis=0) - X.min(axis=0)))


def sums_for_newcomers(
    graph: Graph, alpha: float, ties: csr_array, X: AnyArray, mass: FloatArray, sums: SumsOfSquares
) -> SumsOfSquares:
    """Sums of squares of new items from those of their neighbours.

    A new item receives phi_x = alpha sum_j s_xj phi_j, theory [new items]; so sqrt(sum phi_x^2) <= alpha
    sum_j s_xj sqrt(sum phi_j^2), and |x - x_q| <= |x - x_j| + |x_j - x_q| bounds the bias.

    Parameters
    ----------
    ties : (n_new, n) rows s_x over the graph's items in the user's order, see :func:`tie_newcomers`
    X : (n_new, d)
    mass : (n, n_classes) of the graph's items in the user's order
    sums : of the graph's items

    Returns
    -------
    For :func:`hoeffding` with the new items' mass, alpha * ties @ mass; never too small
    """
    root = alpha * (ties @ np.sqrt(sums.upper))
    bias = None
    if sums.bias is not None:
        bias = alpha * (ties @ sums.bias)
        if sums.lipschitz:
            ends = ties.tocoo()
            gap = (
                np.asarray(place_items(X, graph.metric), dtype=np.float64)[ends.row]
                - np.asarray(graph.places, dtype=np.float64)[ends.col]
            )
            step = np.minimum(1.0, sums.lipschitz * np.linalg.norm(gap, axis=1))
            bias += alpha * np.bincount(
                ends.row, ends.data * step * mass.sum(axis=1)[ends.col], ties.shape[0]
            )
    nothing = np.zeros(ties.shape[0])
    return SumsOfSquares(root**2, nothing, nothing, bias, sums.lipschitz, sums.floor)
