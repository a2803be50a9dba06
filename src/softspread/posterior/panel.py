"""What models say beside people, such as language models: a source of its own, never votes of people.

    a model's votes on an item  ->  one soft vote s  ->  what people say when it says s:  s T
    T_ac = (sum_i s_ia y_ic + k (l 1[a = c] + (1 - l) f_c)) / sum over c                       theory: [panel]
    all models together:  q ~ f prod_j (q_j / f)^t,   t = 1 / (1 + (n - 1) rho)

Every prediction for an item leaves out what people said about it. Models err together: n of them are worth
n t = n / (1 + (n - 1) rho) independent ones, and only people's votes say how large rho is. Items about which
the models say nothing are answered by their soft votes on other items, spread over the graph.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.posterior.experts import Expert, Float32Array, OwnVotes, other_shares
from softspread.votes.table import VoteTable

MODELS = "models"  # what explanations call this source


@dataclass(frozen=True, slots=True)
class PanelRule:
    """What is believed about models before any person voted."""

    likely: float = 0.7  # l: a person says what the model says
    strength: float = 5.0  # k: votes of people per class that this belief counts as
    belief: float = 2.0  # weight of the whole panel before any vote, as of a prior
    size: float = 20.0  # votes that a panel's word is taken to rest on, as of a prior
    alpha: float = 0.9  # at which the models' soft votes are spread
    back_off: float = 0.02  # votes of their class shares, where little of that arrives
    tol: float = 1e-4  # of that solve: soft labels need no more
    n_rhos: int = 41  # grid of rho from 0 to 1, all equally probable at first
    block: int = 4_000_000  # numbers at once


RULE = PanelRule()


class SoftVotes(NamedTuple):
    """What one model says: a distribution per item, however often it was asked."""

    name: str
    rows: IntArray  # (r,)  ascending
    said: FloatArray  # (r, n_classes)  rows sum to 1
    n_votes: int  # samples in all


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """What all models say."""

    models: Sequence[SoftVotes]
    n_items: int
    n_classes: int

    @classmethod
    def of(cls, votes: VoteTable, names: Iterable[object], n_items: int, n_classes: int) -> "Panel":
        """Votes of models by model; one class alone gets a second column, as in a blend."""
        columns = max(2, n_classes)
        asked = np.empty(0, dtype=object) if votes.annotators is None else votes.annotators.astype(object)
        return cls([_soft_votes(votes, asked, name, columns) for name in names], n_items, columns)

    def mean(self) -> tuple[FloatArray, IntArray]:
        """(n, n_classes) mean soft vote of every item over the models that spoke, and (n,) how many did."""
        total, number = np.zeros((self.n_items, self.n_classes)), np.zeros(self.n_items, dtype=np.int64)
        for model in self.models:
            total[model.rows] += model.said
            number[model.rows] += 1
        return total / np.maximum(number, 1)[:, None], number


def _soft_votes(votes: VoteTable, asked: AnyArray, name: object, columns: int) -> SoftVotes:
    mine = votes.take(asked == name)
    rows, place = np.unique(mine.rows, return_inverse=True)
    moved = VoteTable(place.astype(np.int64), mine.columns, mine.weights)
    counts = moved.counts(len(rows), columns)
    left = counts.sum(axis=1) > 0  # all votes on an item may have been taken back
    n_votes = int(np.count_nonzero(mine.weights > 0) - np.count_nonzero(mine.weights < 0))
    return SoftVotes(str(name), rows[left], counts[left] / counts[left].sum(axis=1, keepdims=True), n_votes)


class Pooled(NamedTuple):
    """What all models say together, before it is known how much they repeat each other."""

    logs: FloatArray  # (n, n_classes)  sum over the models of log q_j / f
    number: IntArray  # (n,)  models that spoke


def panel_experts(panel: Panel, diffusion: Diffusion, own: OwnVotes, rule: PanelRule = RULE) -> list[Expert]:
    """One expert per model, one of their soft votes spread, and last one of all models together."""
    shares, _, _ = other_shares(own, own.counts.sum(axis=0))
    smooth = translated(_spread(panel, diffusion, rule), np.arange(panel.n_items), own, shares, rule)
    size = np.log([rule.size]).astype(np.float32)
    several = len(panel.models) > 1
    each = rule.belief / (4 * len(panel.models)) if several else rule.belief / 2
    experts = []
    for model in panel.models:
        final = smooth.copy()
        final[model.rows] = translated(model.said, model.rows, own, shares, rule)
        experts.append(Expert(f"model {model.name}", final[own.voted], final, size, each, MODELS))
    whole = Expert(
        "models, spread", smooth[own.voted], smooth, size, rule.belief / (4 if several else 2), MODELS
    )
    if not several:
        return [whole, *experts]
    pooled = pool(panel, own, shares, rule)
    rho = float(rhos(rule) @ correlation_law(pooled, own, shares, rule))
    final = np.where(pooled.number[:, None] > 0, together(pooled, shares, rho), smooth)
    return [
        whole,
        *experts,
        Expert("models together", final[own.voted], final, size, rule.belief / 2, MODELS),
    ]


def translated(
    said: FloatArray | Float32Array,
    rows: IntArray,
    own: OwnVotes,
    shares: Float32Array,
    rule: PanelRule = RULE,
) -> Float32Array:
    """(r, n_classes) what people say where a model says this, without the votes on the item itself.

    Parameters
    ----------
    said : (r, n_classes) soft votes on the items ``rows``, ascending
    shares : (n, n_classes) class shares of all other items' votes
    """
    mine, at = own.on_rows(rows)
    counts, s = own.counts[at], np.asarray(said[mine.voted], dtype=np.float64)
    met, n_classes = s.T @ counts, said.shape[1]
    likely = rule.strength * rule.likely * np.eye(n_classes)
    rest = rule.strength * (1 - rule.likely)
    nobody = own.counts.sum(axis=0) + 1.0
    table = met + likely + rest * nobody / nobody.sum()
    found: Float32Array = (said @ (table / table.sum(axis=1, keepdims=True))).astype(np.float32)
    step = max(1, rule.block // n_classes**2)
    for first in range(0, len(s), step):
        part = slice(first, first + step)
        without = np.maximum(met - s[part, :, None] * counts[part, None, :], 0.0) + likely
        without += rest * shares[rows[mine.voted[part]], None, :]
        without /= without.sum(axis=2, keepdims=True)
        found[mine.voted[part]] = np.einsum("ia,iac->ic", s[part], without)
    return found


def _spread(panel: Panel, diffusion: Diffusion, rule: PanelRule) -> Float32Array:
    """(n, n_classes) the models' mean soft votes, spread over the graph, an item's own among them."""
    mean, number = panel.mean()
    rows = np.flatnonzero(number)
    here = diffusion.at(rule.alpha, tol=rule.tol)
    mass = np.maximum(here.spread(rows, mean[rows], scales=np.ones(len(rows))).mass(), 0.0)
    usual = (mean.sum(axis=0) + 1) / (len(rows) + panel.n_classes)
    total = mass.sum(axis=1, keepdims=True)
    return np.asarray((mass + rule.back_off * usual) / (total + rule.back_off), dtype=np.float32)


# ------------------------------------------------------------------------------------------ models together
def pool(panel: Panel, own: OwnVotes, shares: Float32Array, rule: PanelRule = RULE) -> Pooled:
    """Add up what every model says, as far as it differs from the class shares."""
    logs, number = np.zeros((panel.n_items, panel.n_classes)), np.zeros(panel.n_items, dtype=np.int64)
    for model in panel.models:
        q = translated(model.said, model.rows, own, shares, rule)
        logs[model.rows] += np.log(q) - np.log(shares[model.rows])
        number[model.rows] += 1
    return Pooled(logs, number)


def together(pooled: Pooled, shares: Float32Array, rho: float) -> Float32Array:
    """(n, n_classes) q ~ f prod_j (q_j / f)^t for one rho."""
    logs = np.log(shares) + pooled.logs / (1 + (np.maximum(pooled.number, 1) - 1) * rho)[:, None]
    logs -= logs.max(axis=1, keepdims=True)
    np.exp(logs, out=logs)
    return np.asarray(logs / logs.sum(axis=1, keepdims=True), dtype=np.float32)


def rhos(rule: PanelRule = RULE) -> FloatArray:
    """The grid of rho."""
    return np.linspace(0, 1, rule.n_rhos)


def correlation_law(
    pooled: Pooled, own: OwnVotes, shares: Float32Array, rule: PanelRule = RULE
) -> FloatArray:
    """(n_rhos,) how probable each rho is, by people's votes on items about which several models spoke."""
    met = np.flatnonzero(pooled.number[own.voted] > 1)
    rows, said = own.voted[met], own.cast[met]
    some = Pooled(pooled.logs[rows], pooled.number[rows])
    fits = np.array(
        [(said * np.log(np.maximum(together(some, shares[rows], rho), 1e-9))).sum() for rho in rhos(rule)]
    )
    chances = np.exp(fits - fits.max())
    return np.asarray(chances / chances.sum())
