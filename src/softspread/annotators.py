"""Who votes with the crowd? One number per annotator, and votes that count accordingly.

    votes with names  ->  p_v: what all others say  ->  consistency r_a  ->  weight r_a^2    theory: [consistency]

For a vote v of annotator a for class c_v, *all* votes of a are taken out of its item's mass. What remains is p_v, and

    P(c_v | r) = r p_v^tau(c_v) + (1 - r) u_a(c_v),      u_a: the classes a tends to name whatever the item is

with r between 0 (names classes without looking) and 1 (votes like everybody else). The graph carries the comparison, so
it works where no item has two votes. Consistency with the crowd is not accuracy: a crowd may err together.

Optionally a vote becomes a soft vote, proportional to p_v(t) Pi_a[t, c_v] with a's confusion matrix Pi_a.
                                                                                                    theory: [confusion]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import betaln, xlog1py, xlogy

from softspread import checks
from softspread.data import AnyArray, FloatArray, IntArray
from softspread.profiles import local_profiles
from softspread.spreading import Diffusion
from softspread.tuning import own_reach
from softspread.votes import RETRACTED, VoteTable

MIN_ANNOTATORS = 3  # with two, nobody can tell who of them strays
MIN_VOTES = 100  # below, intervals of r are about as wide as [0, 1]
KAPPAS = (0.01, 0.1, 0.3, 1.0)  # prior strengths to choose from
FIRST_ROUNDS, LAST_ROUNDS, CONFUSION_ROUNDS = 3, 2, 3  # weights move by less than 0.01 afterwards
CONSISTENCIES = np.linspace(0.0, 1.0, 81)
FLAG_BELOW = 24  # CONSISTENCIES[24] = 0.3: under it an annotator "does not follow the crowd"
FLAG_PROBABILITY = 0.95
TAIL = 0.05  # the interval holds r with probability 0.9
TEMPERS = (1.0, 1.3, 1.7, 2.2, 3.0)  # diffusion blurs: annotators see the item itself and are surer than p_v
PRIOR_MEANS = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
PRIOR_SIZES = (2.0, 4.0, 8.0, 16.0, 50.0)
PRIOR_SHARE = 0.95  # the rest of the prior is uniform: a spammer in a crowd of honest people must stay possible
USUAL_MEAN, USUAL_SPREAD = 0.8, 0.3  # weak opinion on the crowd's mean, felt only with few annotators
LEAST_STRENGTH = 0.3  # of the class shares in p_v: an item that hardly anybody else reaches proves nothing
HABIT_STRENGTH = 10.0  # of the class shares in u_a
CONFUSION_STRENGTH = 20.0  # of r I + (1 - r) 1 u_a^T in each row of Pi_a
CONFUSION_STEPS = 3
SUREST = 0.98  # r in the prior of Pi_a: at 1 a class never confused could not be learned
LEAST_WEIGHT = 1e-6  # keeps an item that only a spammer voted on above no evidence at all
LEAST_LIKELIHOOD = 1e-6
LEAST_PART = 1e-6  # of a soft vote: smaller parts change no soft label and cost time
OWN_TOL = 1e-4  # relative residual of the own mass: a few 1e-4 of a vote, next to LEAST_STRENGTH
OWN_FLOOR = 1e-4  # where a push stops: it keeps about 90 % of a profile's mass at alpha 0.9
SAMPLE = 32  # profiles that tell how far pushes reach
PUSH_WORK = 6.0  # an item is pushed about this / (1 - alpha) times, measured at alpha 0.5 to 0.99
BATCH_COLUMNS = 64
BATCH_ENTRIES = 10_000_000  # of pushed profiles in memory at once: 240 MB
RISES = 2  # the held-out score has one valley over alpha: after so many rises in a row no larger alpha is tried

DiffusionAt = Callable[[float], Diffusion]
Choose = Callable[[VoteTable, FloatArray], tuple[float, float]]


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorReport:
    """One line per named annotator, in order of names."""

    annotator: AnyArray  # (a,) names
    votes: FloatArray  # (a,) total weight of the votes that stand
    agreement: FloatArray  # (a,) share of them for the class that all others find most probable there; NaN if alone
    consistency: FloatArray  # (a,) posterior mean of r
    lower: FloatArray  # (a,) 5 % quantile of r
    upper: FloatArray  # (a,) 95 % quantile
    p_not_following: FloatArray  # (a,) probability of r < 0.3
    flag: AnyArray  # (a,) "ok", "does not follow" or "unknown"

    def to_frame(self) -> pd.DataFrame:
        """The report as a table."""
        return pd.DataFrame({name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorFit:
    """What the votes say about those who cast them, and how much each vote should count."""

    weights: FloatArray  # (m,) factor of each vote of the table, 1 for nobody's
    soft_votes: FloatArray | None  # (m, n_classes) what each vote stands for; None = the class that was named
    report: AnnotatorReport
    alpha: float
    kappa: float
    reason: str = ""  # why all votes count the same; empty where the model was applied
    newcomer_weight: float = 1.0  # factor for an annotator not seen yet
    confusion: FloatArray | None = field(default=None, repr=False)  # (a, true class, named class)
    annotator_weights: FloatArray = field(default_factory=lambda: np.empty(0), repr=False)  # (a,)

    @property
    def applied(self) -> bool:
        """Whether annotators were told apart."""
        return not self.reason

    def weights_for(self, annotators: AnyArray | None, n_votes: int) -> FloatArray:
        """Factors for votes yet to come, (n_votes,): as fitted, ``newcomer_weight`` for new names, 1 for nobody."""
        if annotators is None:
            return np.ones(n_votes)
        names = pd.Index(self.report.annotator, dtype=object)
        found = names.get_indexer(pd.Index(annotators, dtype=object))
        known = np.append(self.annotator_weights, self.newcomer_weight)[found]  # -1 takes the last
        return np.where(pd.isna(annotators), 1.0, known)

    def reweighted(self, votes: VoteTable) -> VoteTable:
        """The table that was fitted, with each vote's factor, and with a row per class where votes became soft."""
        weights = votes.weights * self.weights
        if self.soft_votes is None:
            return VoteTable(votes.rows, votes.columns, weights, votes.annotators)
        which, columns = np.nonzero(self.soft_votes > LEAST_PART)
        names = None if votes.annotators is None else votes.annotators[which]
        return VoteTable(votes.rows[which], columns, weights[which] * self.soft_votes[which, columns], names)


def fit_annotators(
    diffusion_at: DiffusionAt,
    votes: VoteTable,
    n_classes: int,
    *,
    alphas: Sequence[float],
    kappas: Sequence[float] = KAPPAS,
    confusion: bool = False,
    prior: FloatArray | None = None,
    choose: Choose | None = None,
    min_annotators: int = MIN_ANNOTATORS,
    min_votes: float = MIN_VOTES,
) -> AnnotatorFit:
    """Rate annotators by how they vote with the crowd, and weight their votes, theory [consistency].

    Parameters
    ----------
    diffusion_at : gives the diffusion at an alpha; keep them, each is asked for more than once
    votes : in the user's numbering; votes of nobody (None) count 1 and take no part in the model
    alphas, kappas : to choose from by held-out score; one each = given
    confusion : also turn votes into soft votes, theory [confusion]; needs two or more votes an item to pay
    prior : (n, n_classes) in the user's numbering, enters the choice of kappa only; None = uniform
    choose : (votes, factors) -> (alpha, kappa) in place of :func:`choose_alpha_kappa`
    min_annotators, min_votes : with fewer, every vote counts 1 and every annotator is "unknown"

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import knn_graph
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1, 2, 3], 50)
    >>> graph = knn_graph(rng.normal(size=(200, 2)) + 6 * truth[:, None], n_neighbors=10)
    >>> rows = rng.integers(0, 200, 300)
    >>> names = np.array(["ann", "bob", "cid", "eve"], dtype=object)[rng.integers(0, 4, 300)]
    >>> labels = np.where(names == "eve", rng.integers(0, 4, 300), truth[rows])
    >>> fit = fit_annotators(
    ...     lambda alpha: Diffusion(graph, alpha), VoteTable(rows, labels, np.ones(300), names), 4, alphas=[0.9]
    ... )
    >>> fit.report.flag.tolist()
    ['ok', 'ok', 'ok', 'does not follow']
    """
    cells = net_votes(votes, n_classes)

    def choose_here(table: VoteTable, factors: FloatArray) -> tuple[float, float]:
        if len(alphas) == 1 and len(kappas) == 1:
            return float(alphas[0]), float(kappas[0])
        if choose is not None:
            return choose(table, factors)
        return choose_alpha_kappa(diffusion_at, table, factors, n_classes, alphas, kappas, prior)

    standing = cells.table()
    alpha, kappa = choose_here(standing, np.ones(len(cells.rows)))
    reason = why_neutral(votes, min_annotators, min_votes)
    if reason or not cells.n_annotators:
        field = _Crowd(diffusion_at(alpha), cells) if cells.n_annotators else None
        report = _unknown(cells, field, kappa)
        ones = np.ones(cells.n_annotators)
        return AnnotatorFit(
            np.ones(len(votes)), None, report, alpha, kappa, reason or "no named votes", 1.0, None, ones
        )
    first = _Crowd(diffusion_at(alpha), cells)
    posterior = rate_annotators(first, kappa, FIRST_ROUNDS)
    alpha_again, kappa = choose_here(standing, cells.spread_to_cells(posterior.weights()))
    crowd = first if alpha_again == alpha else _Crowd(diffusion_at(alpha_again), cells)
    posterior = rate_annotators(crowd, kappa, LAST_ROUNDS)
    report = _report(cells, posterior)
    newcomer = posterior.prior_mean**2 + LEAST_WEIGHT
    if not confusion:
        weights = posterior.weights()
        return AnnotatorFit(cells.to_votes(weights), None, report, alpha_again, kappa, "", newcomer, None, weights)
    soft, matrices, weights = confuse_votes(crowd, kappa, CONFUSION_ROUNDS)
    soft_votes = cells.soft_to_votes(soft, votes)
    return AnnotatorFit(
        cells.to_votes(weights), soft_votes, report, alpha_again, kappa, "", newcomer, matrices, weights
    )


def why_neutral(votes: VoteTable, min_annotators: int = MIN_ANNOTATORS, min_votes: float = MIN_VOTES) -> str:
    """Why these votes cannot tell annotators apart; empty where they can."""
    cells = net_votes(votes, int(votes.columns.max(initial=0)) + 1)
    n_votes = float(cells.weights[cells.named].sum())
    if cells.n_annotators < min_annotators:
        noun = "annotator" if cells.n_annotators == 1 else "annotators"
        return f"{cells.n_annotators} named {noun}; at least {min_annotators} are needed to tell them apart."
    if n_votes < min_votes - RETRACTED:
        return f"{n_votes:g} votes by named annotators; about {min_votes:g} are needed to tell them apart."
    if len(np.unique(cells.columns)) < 2:
        return "all votes name the same class; nothing tells annotators apart."
    return ""


# ----------------------------------------------------------------------------------------------------- votes that stand
@dataclass(frozen=True, slots=True, eq=False)
class NetVotes:
    """Votes after retractions: one cell per annotator, item and class with a weight above 0, nobody's cells first."""

    rows: IntArray  # (cells,) user's numbering
    columns: IntArray  # (cells,)
    weights: FloatArray  # (cells,)
    who: IntArray  # (cells,) number of the annotator, ascending, -1 = nobody
    names: AnyArray  # (annotators,)
    n_classes: int
    cell_of_vote: IntArray  # (m,) -1 where a vote was taken back
    who_of_vote: IntArray  # (m,) -1 = nobody, or an annotator without standing votes

    @property
    def n_annotators(self) -> int:
        return len(self.names)

    @property
    def named(self) -> slice:
        """The cells of named annotators."""
        return slice(int(np.searchsorted(self.who, 0)), len(self.who))

    def votes_of_each(self) -> FloatArray:
        """(annotators,) total weight."""
        return np.bincount(self.who[self.named], self.weights[self.named], self.n_annotators).astype(np.float64)

    def table(self) -> VoteTable:
        """As a table of votes; names are not needed any more."""
        return VoteTable(self.rows, self.columns, self.weights)

    def choices(self) -> FloatArray:
        """(cells, n_classes) 1 at the class that was named."""
        return np.eye(self.n_classes)[self.columns]

    def spread_to_cells(self, values: FloatArray) -> FloatArray:
        """A value per annotator -> one per cell, 1 for nobody's."""
        return np.append(values, 1.0)[self.who]

    def to_votes(self, values: FloatArray) -> FloatArray:
        """A value per annotator -> one per vote, 1 for nobody's."""
        return np.append(values, 1.0)[self.who_of_vote]

    def soft_to_votes(self, soft: FloatArray, votes: VoteTable) -> FloatArray:
        """A soft vote per cell -> one per vote; what was taken back stays what it was, and cancels."""
        out = np.eye(self.n_classes)[votes.columns]
        standing = self.cell_of_vote >= 0
        out[standing] = soft[self.cell_of_vote[standing]]
        return out

    def trust(self) -> FloatArray:
        """(named cells,) how much each counts as an observation: all votes of one annotator on one item at most 1."""
        named = self.named
        _, pair = np.unique(np.stack([self.who[named], self.rows[named]]), axis=1, return_inverse=True)
        pair = pair.ravel()
        totals = np.bincount(pair, self.weights[named])
        return np.asarray(self.weights[named] / np.maximum(1.0, totals)[pair])


def net_votes(votes: VoteTable, n_classes: int) -> NetVotes:
    """Add up the votes of each annotator on each item for each class, and drop what was taken back."""
    m = len(votes)
    codes, names = np.full(m, -1), np.empty(0, dtype=object)
    if votes.annotators is not None:
        codes, found = pd.factorize(pd.Series(votes.annotators, dtype=object))
        names = np.asarray(found, dtype=object)
    keys, cell = np.unique(np.stack([codes, votes.rows, votes.columns]), axis=1, return_inverse=True)
    cell = cell.ravel()
    totals = np.bincount(cell, votes.weights, minlength=keys.shape[1]).astype(np.float64)
    standing = totals > RETRACTED
    who = keys[0][standing]
    kept = np.unique(who[who >= 0])
    in_order = checks.distinct_sorted(names[kept]) if len(kept) else names[:0]
    place = np.full(len(names) + 1, -1)  # the last place is nobody's
    place[kept] = pd.Index(in_order, dtype=object).get_indexer(pd.Index(names[kept], dtype=object))
    who = place[who]
    by_annotator = np.argsort(who, kind="stable")
    number = np.full(len(standing), -1)
    number[np.flatnonzero(standing)[by_annotator]] = np.arange(len(by_annotator))
    rows, columns, weights = keys[1][standing], keys[2][standing], totals[standing]
    return NetVotes(
        rows[by_annotator],
        columns[by_annotator],
        weights[by_annotator],
        who[by_annotator],
        np.asarray(in_order, dtype=object),
        n_classes,
        number[cell],
        place[codes],
    )


# --------------------------------------------------------------------------------------------- what everybody else says
class _Crowd:
    """Votes that stand on one diffusion: mass at the voted items, with and without an annotator's own votes."""

    def __init__(self, diffusion: Diffusion, cells: NetVotes) -> None:
        self.diffusion, self.cells = diffusion, cells
        self.rows = diffusion.rank[cells.rows]
        self._unit = diffusion.sources(self.rows, np.ones(len(self.rows)))
        starts = np.searchsorted(cells.who, np.arange(cells.n_annotators + 1))
        self.parts = [slice(int(first), int(last)) for first, last in pairwise(starts)]
        self.starts: IntArray = starts[:-1] - cells.named.start  # among the named cells
        self.trust = cells.trust()
        totals = cells.choices().T @ cells.weights
        self.class_shares: FloatArray = (totals + 1) / (totals.sum() + cells.n_classes)
        self._blocks: dict[int, csr_array] | None = None
        self._reach = 1.0  # items that a push reaches, on average

    def spread(self, amounts: FloatArray) -> FloatArray:
        """Mass at each cell's item from soft votes ``amounts`` (cells, n_classes), same shape."""
        B = np.zeros((self.diffusion.graph.n_items, amounts.shape[1]))
        np.add.at(B, self.rows, amounts * self._unit[:, None])
        Y = self.diffusion.solve(B, self.diffusion.tol).X
        return np.asarray(self.diffusion.mass(Y, self.rows))

    @cached_property
    def own_as_cast(self) -> FloatArray:
        """:meth:`own` of the votes as they were cast, (cells, n_classes)."""
        return self.own(self.cells.choices() * self.cells.weights[:, None])

    def own(self, amounts: FloatArray) -> FloatArray:
        """Mass at each cell's item from the votes of the cell's annotator alone; 0 for nobody's cells.

        Few votes are pushed one by one, many are solved for at once, whichever is less work. Memory: n * 64 and 240 MB.
        """
        out = np.zeros_like(amounts)
        blocks = self._local_blocks()
        for number, block in blocks.items():
            part = self.parts[number]
            _, place = np.unique(self.rows[part], return_inverse=True)
            totals = np.zeros((block.shape[0], amounts.shape[1]))
            np.add.at(totals, place, amounts[part])
            out[part] = (block.T @ totals)[place]
        waiting: list[tuple[slice, IntArray]] = []
        for number, part in enumerate(self.parts):
            if number in blocks:
                continue
            waiting.append((part, np.flatnonzero(amounts[part].any(axis=0))))
            if sum(len(columns) for _, columns in waiting) >= BATCH_COLUMNS:
                self._solve_own(waiting, amounts, out)
                waiting = []
        self._solve_own(waiting, amounts, out)
        return out

    def _solve_own(self, waiting: list[tuple[slice, IntArray]], amounts: FloatArray, out: FloatArray) -> None:
        """One column per annotator and class."""
        ends = np.cumsum([0, *(len(columns) for _, columns in waiting)])
        if ends[-1] == 0:
            return
        B = np.zeros((self.diffusion.graph.n_items, int(ends[-1])))
        for (part, columns), first in zip(waiting, ends[:-1].tolist(), strict=True):
            sources = amounts[part][:, columns] * self._unit[part][:, None]
            np.add.at(B[:, first : first + len(columns)], self.rows[part], sources)
        X = self.diffusion.solve(B, OWN_TOL).X
        for (part, columns), first in zip(waiting, ends[:-1].tolist(), strict=True):
            mass = self.diffusion.mass(X[:, first : first + len(columns)], self.rows[part])
            out[part.start : part.stop, columns] = mass

    def _local_blocks(self) -> dict[int, csr_array]:
        """Profiles between the items of each annotator with so few items that pushes are less work than solves."""
        if self._blocks is None:
            self._blocks = {}
            items = [np.unique(self.rows[part]) for part in self.parts]
            few = np.array([len(rows) for rows in items]) < self._break_even()
            pushed = np.unique(np.concatenate([items[number] for number in np.flatnonzero(few)] or [self.rows[:0]]))
            room = max(1.0, BATCH_ENTRIES / self._reach)
            if len(pushed) <= room:
                room = np.inf  # items of several annotators are then pushed once
            group: list[int] = []
            for number in np.flatnonzero(few).tolist():
                group.append(number)
                if sum(len(items[other]) for other in group) >= room:
                    self._push_blocks(group, items)
                    group = []
            self._push_blocks(group, items)
        return self._blocks

    def _break_even(self) -> FloatArray:
        """(annotators,) the number of items at which pushing them one by one costs as much as solving for all."""
        diffusion = self.diffusion
        graph = diffusion.graph
        if diffusion.solver.name in ("dense", "direct"):  # a column costs next to nothing once there is a factor
            return np.zeros(len(self.parts))
        voted = np.unique(self.rows)
        sample = voted[np.linspace(0, len(voted) - 1, min(len(voted), SAMPLE)).astype(np.int64)]
        self._reach = local_profiles(diffusion, sample, OWN_FLOOR).nnz / len(sample)
        push = self._reach / graph.n_items * PUSH_WORK / (1 - diffusion.alpha)  # in passes over all edges
        condition = np.sqrt((1 + diffusion.alpha) / (1 - diffusion.alpha))
        solve = 0.5 * condition * np.log(2 * condition / OWN_TOL)
        n_columns = [len(np.unique(self.cells.columns[part])) for part in self.parts]
        return np.asarray(np.asarray(n_columns) * solve / push)

    def _push_blocks(self, group: list[int], items: list[IntArray]) -> None:
        if not group or self._blocks is None:
            return
        rows = np.unique(np.concatenate([items[number] for number in group]))
        profiles = csr_array(local_profiles(self.diffusion, rows, OWN_FLOOR)[:, rows])
        for number in group:
            place = np.searchsorted(rows, items[number])
            self._blocks[number] = csr_array(profiles[place][:, place])

    def others(self, mass: FloatArray, own: FloatArray, kappa: float) -> FloatArray:
        """p_v for the named cells: what everybody but the annotator says about the item, theory [consistency]."""
        named = self.cells.named
        total = np.maximum(mass[named] - own[named], 0.0)
        total = total + max(kappa, LEAST_STRENGTH) * self.class_shares
        return np.asarray(total / total.sum(axis=1, keepdims=True))


# ---------------------------------------------------------------------------------------------------------- consistency
@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """What is known about r of each annotator."""

    density: FloatArray  # (a, 81) probability of each of CONSISTENCIES
    temper: float
    prior_mean: float
    habits: FloatArray  # (a, n_classes) u_a
    agreement: FloatArray  # (a,)

    @property
    def mean(self) -> FloatArray:
        return np.asarray(self.density @ CONSISTENCIES)

    def quantile(self, level: float) -> FloatArray:
        """(a,) smallest r with at least this probability at or below it."""
        below = (np.cumsum(self.density, axis=1) < level).sum(axis=1)
        return np.asarray(CONSISTENCIES[np.minimum(below, len(CONSISTENCIES) - 1)])

    def weights(self) -> FloatArray:
        """(a,) factor of the annotator's votes."""
        return self.mean**2 + LEAST_WEIGHT


def rate_annotators(crowd: _Crowd, kappa: float, rounds: int) -> Posterior:
    """Start from equal votes; rate, weight, and rate again by what the weighted votes say."""
    cells = crowd.cells
    amounts = cells.choices() * cells.weights[:, None]
    own = crowd.own_as_cast  # an annotator's factor is common to all own votes, so once is enough
    factors = np.ones(len(cells.rows))
    for number in range(rounds):
        scale = factors[:, None]
        others = crowd.others(crowd.spread(amounts * scale), own * scale, kappa)
        posterior = consistency_posterior(crowd, others)
        if number + 1 < rounds:
            factors = cells.spread_to_cells(posterior.weights())
    return posterior


def consistency_posterior(crowd: _Crowd, others: FloatArray) -> Posterior:
    """Posterior of r per annotator; temper and prior maximise the likelihood of all votes, theory [consistency]."""
    cells = crowd.cells
    columns = cells.columns[cells.named]
    habits = HABIT_STRENGTH * crowd.class_shares + _per_annotator(crowd, cells.choices()[cells.named])
    habits /= habits.sum(axis=1, keepdims=True)
    by_habit = habits[cells.who[cells.named], columns]
    priors, opinions, means = _priors()
    best: tuple[float, FloatArray, float, float] | None = None
    for temper in TEMPERS:
        by_crowd = np.take_along_axis(tempered(others, temper), columns[:, None], axis=1)[:, 0]
        loglik = _log_likelihood(crowd, by_crowd, by_habit)
        top = loglik.max(axis=1, keepdims=True)
        likelihood = np.exp(loglik - top)
        evidence = (np.log(likelihood @ priors.T) + top).sum(axis=0) + opinions
        chosen = int(np.argmax(evidence))
        if best is None or evidence[chosen] > best[0]:
            density = likelihood * priors[chosen]
            density /= density.sum(axis=1, keepdims=True)
            best = float(evidence[chosen]), density, temper, float(means[chosen])
    assert best is not None
    same = (others.argmax(axis=1) == columns).astype(np.float64)
    counted = _per_annotator(crowd, np.stack([same, np.ones_like(same)], axis=1))
    return Posterior(best[1], best[2], best[3], habits, counted[:, 0] / counted[:, 1])


def tempered(p: FloatArray, temper: float) -> FloatArray:
    """Rows of p to a power, summing to 1 again."""
    if temper == 1.0:
        return p
    powers = p**temper
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def _per_annotator(crowd: _Crowd, values: FloatArray) -> FloatArray:
    """Sums of (named cells, k) values over each annotator's cells, each counted as far as it is trusted."""
    return np.asarray(np.add.reduceat(values * crowd.trust[:, None], crowd.starts, axis=0))


def _log_likelihood(crowd: _Crowd, by_crowd: FloatArray, by_habit: FloatArray) -> FloatArray:
    """(a, 81) log probability of all votes of each annotator; one r at a time, so memory stays that of the votes."""
    out = np.empty((crowd.cells.n_annotators, len(CONSISTENCIES)))
    for number, r in enumerate(CONSISTENCIES.tolist()):
        probability = np.maximum(r * by_crowd + (1 - r) * by_habit, LEAST_LIKELIHOOD)
        out[:, number] = _per_annotator(crowd, np.log(probability)[:, None])[:, 0]
    return out


def _priors() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Candidate priors over CONSISTENCIES (k, 81), the opinion on each (k,), and its mean (k,)."""
    inside = np.clip(CONSISTENCIES, 0.005, 0.995)  # a Beta density may be infinite at its ends
    means = np.repeat(PRIOR_MEANS, len(PRIOR_SIZES))
    sizes = np.tile(PRIOR_SIZES, len(PRIOR_MEANS))
    a, b = (means * sizes)[:, None], ((1 - means) * sizes)[:, None]
    shapes = np.exp(xlogy(a - 1, inside) + xlog1py(b - 1, -inside) - betaln(a, b))  # densities of Beta(a, b)
    shapes /= shapes.sum(axis=1, keepdims=True)
    priors = PRIOR_SHARE * shapes + (1 - PRIOR_SHARE) / len(CONSISTENCIES)
    return priors, -0.5 * ((means - USUAL_MEAN) / USUAL_SPREAD) ** 2, means


# ------------------------------------------------------------------------------------------------------------ confusion
def confuse_votes(crowd: _Crowd, kappa: float, rounds: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Soft votes (cells, n_classes), confusion matrices (a, true, named) and factors (a,), theory [confusion].

    One latent class per vote, not per item: people may truly see different things in one item.
    """
    cells = crowd.cells
    named, who, columns = cells.named, cells.who[cells.named], cells.columns[cells.named]
    soft = cells.choices()
    factors = np.ones(cells.n_annotators)
    matrices = np.empty((0, cells.n_classes, cells.n_classes))
    for _ in range(rounds):
        amounts = soft * (cells.weights * cells.spread_to_cells(factors))[:, None]
        others = crowd.others(crowd.spread(amounts), crowd.own(amounts), kappa)
        posterior = consistency_posterior(crowd, others)
        matrices = confusion_matrices(crowd, posterior, tempered(others, posterior.temper))
        likely = others * matrices[who, :, columns]
        soft = cells.choices()
        soft[named] = likely / likely.sum(axis=1, keepdims=True)
        factors = posterior.weights()
    return soft, matrices, factors


def confusion_matrices(crowd: _Crowd, posterior: Posterior, others: FloatArray) -> FloatArray:
    """(a, true, named) by a few steps of expectation and maximisation from the consistency model."""
    cells = crowd.cells
    n_classes = cells.n_classes
    who, columns = cells.who[cells.named], cells.columns[cells.named]
    r = np.minimum(posterior.mean, SUREST)[:, None, None]
    start = r * np.eye(n_classes) + (1 - r) * posterior.habits[:, None, :]
    n_cells = len(who)
    cell_to_pair = csr_array(
        (crowd.trust, (who * n_classes + columns, np.arange(n_cells))),
        shape=(cells.n_annotators * n_classes, n_cells),
    )
    matrices = start
    for _ in range(CONFUSION_STEPS):
        likely = others * matrices[who, :, columns]
        likely /= likely.sum(axis=1, keepdims=True)
        counts = (cell_to_pair @ likely).reshape(-1, n_classes, n_classes).swapaxes(1, 2)
        matrices = counts + CONFUSION_STRENGTH * start
        matrices /= matrices.sum(axis=2, keepdims=True)
    return np.asarray(matrices)


# -------------------------------------------------------------------------------------------------------------- reports
def _report(cells: NetVotes, posterior: Posterior) -> AnnotatorReport:
    not_following = posterior.density[:, :FLAG_BELOW].sum(axis=1)
    return AnnotatorReport(
        cells.names,
        cells.votes_of_each(),
        posterior.agreement,
        posterior.mean,
        posterior.quantile(TAIL),
        posterior.quantile(1 - TAIL),
        not_following,
        np.where(not_following > FLAG_PROBABILITY, "does not follow", "ok").astype(object),
    )


def _unknown(cells: NetVotes, crowd: _Crowd | None, kappa: float) -> AnnotatorReport:
    """Nothing learned: r is anything between 0 and 1."""
    n = cells.n_annotators
    agreement = np.full(n, np.nan)
    if crowd is not None and len(np.unique(cells.who)) > 1:  # somebody else voted, with or without a name
        amounts = cells.choices() * cells.weights[:, None]
        others = crowd.others(crowd.spread(amounts), crowd.own(amounts), kappa)
        agreement = consistency_posterior(crowd, others).agreement
    return AnnotatorReport(
        cells.names,
        cells.votes_of_each(),
        agreement,
        np.full(n, 0.5),
        np.full(n, TAIL),
        np.full(n, 1 - TAIL),
        np.full(n, float(CONSISTENCIES[FLAG_BELOW])),
        np.full(n, "unknown", dtype=object),
    )


# --------------------------------------------------------------------------------------------- alpha and prior strength
def choose_alpha_kappa(
    diffusion_at: DiffusionAt,
    votes: VoteTable,
    factors: FloatArray,
    n_classes: int,
    alphas: Sequence[float],
    kappas: Sequence[float],
    prior: FloatArray | None = None,
) -> tuple[float, float]:
    """The pair with the best leave-one-vote-out Brier score, every vote counting with its factor.

    Parameters
    ----------
    votes : (m,) weights above 0; of a weight above 1 one vote at a time is held out
    factors : (m,)
    prior : (n, n_classes) or None = uniform
    """
    if len(votes) == 0:
        return float(alphas[0]), float(kappas[0])
    best: tuple[float, float, float] | None = None
    rises, last = 0, np.inf
    for alpha in sorted(alphas):
        scores = held_out_scores(diffusion_at(alpha), votes, factors, n_classes, kappas, prior)
        chosen = int(np.argmin(scores))
        if best is None or scores[chosen] < best[0]:
            best = float(scores[chosen]), float(alpha), float(kappas[chosen])
        rises = rises + 1 if scores[chosen] > last else 0
        last = scores[chosen]
        if rises >= RISES:
            break
    assert best is not None
    return best[1], best[2]


def held_out_scores(
    diffusion: Diffusion,
    votes: VoteTable,
    factors: FloatArray,
    n_classes: int,
    kappas: Sequence[float],
    prior: FloatArray | None = None,
) -> FloatArray:
    """Weighted mean Brier score of each vote predicted without it, per kappa, theory [leave one vote out]."""
    rows = diffusion.rank[votes.rows]
    choices = np.eye(n_classes)[votes.columns]
    B = np.zeros((diffusion.graph.n_items, n_classes))
    np.add.at(B, (rows, votes.columns), diffusion.sources(rows, votes.weights * factors))
    mass = diffusion.mass(diffusion.solve(B, diffusion.tol).X, rows)
    single = np.minimum(votes.weights, 1.0) * factors * own_reach(diffusion, rows)
    held_out = np.maximum(mass - choices * single[:, None], 0.0)
    expected = np.full((1, n_classes), 1 / n_classes) if prior is None else prior[votes.rows]
    weight = votes.weights * factors
    scores = []
    for kappa in kappas:
        p = held_out + kappa * expected
        p /= np.maximum(p.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        scores.append(float(weight @ ((p - choices) ** 2).sum(axis=1)) / float(weight.sum()))
    return np.asarray(scores)
