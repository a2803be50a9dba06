"""The votes behind one soft label.

    p_i = sum_j w_ij e_{c_j}  (up to the prior),  w_ij = phi_ij / N_i over all votes j   theory: [explanation]

One solve from item i gives the weights of all votes, because S is symmetric. Among many items, where only
the heaviest are asked for, a push from item i does: it goes no further than weights known to a thousandth of
the whole, theory [push bound]. Where that takes too many edges, alpha close to 1, a loose solve gives as
much, theory [entry bound].
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from softspread._common.types import FloatArray
from softspread.diffusion.diffusion import PROFILE_TOL, Diffusion
from softspread.diffusion.local_reach import LocalColumns
from softspread.diffusion.solver import entry_bound
from softspread.votes.table import VoteTable


@dataclass(frozen=True, slots=True)
class HeaviestRule:
    """How well the heaviest votes must be known."""

    from_items: int = 100_000  # below, a solve to many digits takes a fifth of a second
    error: float = 1e-3  # of what the item has received in all: no weight is off by more
    edges: int = 20_000_000  # of the push, about a tenth of a second; beyond, a solve takes no longer
    loosest: float = 1e-4  # relative residual of that solve


RULE = HeaviestRule()


def explain(
    diffusion: Diffusion,
    votes: VoteTable,
    row: int,
    top: int | None = None,
    *,
    evidence: float | None = None,
    rule: HeaviestRule = RULE,
) -> VoteTable:
    """The votes that make up one item's soft label, heaviest first, with their share of it as weight.

    Parameters
    ----------
    diffusion : how votes spread
    votes : all votes, as they count
    row : the item
    top : how many to keep; None = all, whose shares then sum to 1
    evidence : what the item has received in all, where it is known: then among many items the heaviest are
        known to 0.001 of it

    Returns
    -------
    Votes on one item for one class by one annotator are one row; none where no vote reaches the item
    """
    if top is None or evidence is None or diffusion.n_items < rule.from_items:
        reach = np.maximum(diffusion.reach_of_votes(row, votes.rows, PROFILE_TOL), 0.0)
        share = reach * votes.weights
        whole = float(share.sum())
    else:
        share, whole = _loose_shares(diffusion, votes, row, evidence, rule), evidence
    return heaviest(votes.with_weights(share / max(whole, np.finfo(np.float64).tiny)), top)


def _loose_shares(
    diffusion: Diffusion, votes: VoteTable, row: int, evidence: float, rule: HeaviestRule
) -> FloatArray:
    """What each vote brings to the item, off by at most ``rule.error`` of what has arrived in all."""
    if not len(votes):
        return np.zeros(0)
    alpha, error = diffusion.alpha, rule.error * evidence
    scales, spread = diffusion.scales(votes.rows), diffusion.root_degrees(votes.rows)
    if diffusion.graph.normalization == "random_walk":
        spread = spread**2 / diffusion.root_degrees(np.array([row]))
    widest = float((spread / scales * np.abs(votes.weights)).max())  # missed per floor / (1 - alpha)
    floor = error * (1 - alpha) / max(widest, np.finfo(np.float64).tiny)
    found, level = LocalColumns(diffusion.graph, floor, rule.edges).with_level(alpha, row, votes.rows)
    if level <= floor:
        return np.asarray(found / scales * votes.weights)
    tol = float(np.clip(error / entry_bound(alpha, 1.0), PROFILE_TOL, rule.loosest))
    return np.maximum(diffusion.reach_of_votes(row, votes.rows, tol), 0.0) * votes.weights


def heaviest(votes: VoteTable, top: int | None = None) -> VoteTable:
    """Votes alike as one row with the sum of their weights, heaviest first, none of weight 0 or below."""
    table = pd.DataFrame({"row": votes.rows, "column": votes.columns})
    if votes.annotators is not None:
        table["annotator"] = pd.Series(votes.annotators, dtype=object)
    groups = table.assign(share=votes.weights).groupby(list(table), sort=False, dropna=False)["share"]
    totals = groups.sum().reset_index()
    kept = totals[totals["share"] > 0].sort_values("share", ascending=False, kind="stable")[:top]
    names = None if votes.annotators is None else kept["annotator"].to_numpy()
    return VoteTable(kept["row"].to_numpy(), kept["column"].to_numpy(), kept["share"].to_numpy(), names)
