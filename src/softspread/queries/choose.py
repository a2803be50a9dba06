"""Which items to vote on next.

    mass (n, n_classes), votes per item  ->  N, v = 1 - sum_c ((Y_c + s / C) / (N + s))^2  ->  rows, best
    first

    gain(q) = sum_i phi_iq^g v_i^(2g - 1) / ((N_i + 1) (N_i + 1 + phi_iq^g)),   g = 1 + min(1, m / 0.3 n)

theory: [query]. The default draws five random items among those with the fewest votes and takes the one with
the largest gain: while votes are few (g near 1), what a vote brings to the whole neighbourhood; later, with
ambiguities that can be relied on (g = 2), what it brings to the ambiguous items nearby, itself above all. A
pick's profile joins the evidence at once, so that the next pick goes elsewhere. Now and then a random voted
item comes back: choosing alpha needs items with two votes. Work per pick is a handful of local pushes,
however many items there are; a call makes a few passes over the items.
"""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from softspread import _kernels
from softspread._common import validation
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.push import PushWork
from softspread.errors import InputError
from softspread.spreading.state import SpreadState

ALPHA_CAP = 0.95  # votes that travel farther make all items look equally well covered
ALPHA_FLOOR = (
    0.9  # votes that travel less far tell too little about the neighbourhood of an item without votes
)
SHARPEST = 2.0  # largest g of the default: far and nearly certain items count less, see docs/queries.md ...
SHARPEST_FROM = 0.3  # ... from so many votes an item on; before, g grows evenly from 1
SMOOTHING = (
    0.1  # s: pseudo-votes over the classes before ambiguity is read off, so that one vote is not certainty
)
CANDIDATES = (
    5  # best of few keeps the picks close to a uniform sample; more gain on some data and lose on others
)
LOCAL_OFFSET = 0.1  # keeps v / N^2 finite where nothing has arrived
EAGER_REPEATS = (
    0.25  # largest share of picks that go to an already voted item, until repeats tell enough: fewer ...
)
MOST_REPEATS = (
    0.02  # ... leave the choice of alpha to chance; afterwards each one is a vote that a new item misses
)
ENOUGH_DIFFERENCES = (
    30.0  # enough: so many of the repeats are expected to differ from their item's other votes
)
WARM_UP_VOTES = (
    50  # below, ambiguity is mostly noise: the default picks like "balanced", and nothing is repeated
)
PUSH_FLOOR = 1e-3  # profiles for choosing are cut here; a test holds their ranking to that of exact ones
SHORTLIST = 20  # per pick, how many items the greedy strategies keep in view
SMALLEST_SHORTLIST = 1000
FARTHEST_CANDIDATES = 2000  # random items among which "farthest" looks; all items would cost n per pick
WHOLE_VOTE = 1e-9  # weights that sum to a whole number up to rounding count as that number


def choose_items(
    diffusion: Diffusion,
    mass: FloatArray,
    vote_counts: FloatArray,
    batch_size: int = 1,
    strategy: str = "uncertainty",
    rng: np.random.Generator | None = None,
    exclude: AnyArray | None = None,
) -> IntArray:
    """The rows of the items to vote on next, in the order in which they were picked; no row twice.

    Parameters
    ----------
    diffusion : the graph at the alpha of ``mass``; best take both from :func:`choosing_state`
    mass : (n, n_classes), in the user's order
    vote_counts : (n,) votes so far, in the user's order; fractions are rounded down
    batch_size : how many items
    strategy : "uncertainty" (the default), "gain" (the same with g = 1 throughout), "local" (by what
    neighbours leave
        open about the item itself), "balanced" (random among the items with the fewest votes, but for
        repeats), "uniform", "least_evidence", "entropy" or "farthest"
    rng : where chance comes from; the same generator state gives the same rows
    exclude : rows never to pick, such as items set apart for estimating quality or already handed out

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import knn_graph
    >>> graph = knn_graph(np.arange(20.0)[:, None], n_neighbors=2)
    >>> diffusion = Diffusion(graph, 0.9)
    >>> rows = choose_items(diffusion, np.zeros((20, 2)), np.zeros(20), 5, rng=np.random.default_rng(0))
    >>> len(set(rows.tolist()))
    5
    """
    scene = _Scene(
        diffusion, *_checked(diffusion, mass, vote_counts, exclude), rng or np.random.default_rng()
    )
    size = validation.count("batch_size", batch_size, smallest=1)
    pick = STRATEGIES[validation.choice("strategy", strategy, tuple(STRATEGIES))]
    n_open = int(scene.open.sum())
    if size > n_open:
        raise InputError(
            f"batch_size is {size} but only {n_open} items may be picked; ask for fewer or exclude fewer."
        )
    inner = pick(scene, size)
    return np.asarray(diffusion.graph.order[np.array(inner, dtype=np.int64)])


def choosing_state(state: SpreadState) -> SpreadState:
    """The state to choose from: the given one, or where its alpha is not in 0.9 to 0.95, one of the same
    votes that is.

    The second state costs a fit of its own. Keep it, and pass later votes to its ``add`` as to the first
    one's.
    """
    diffusion = state.diffusion
    alpha = min(max(diffusion.alpha, ALPHA_FLOOR), ALPHA_CAP)
    if alpha == diffusion.alpha:
        return state
    fit = Diffusion(
        diffusion.graph, alpha, scaling=diffusion.scaling, tol=diffusion.tol, n_jobs=diffusion.n_jobs
    )
    other = SpreadState(fit, state.votes, state.n_classes)
    other.solve()
    return other


def _checked(
    diffusion: Diffusion, mass: Any, vote_counts: Any, exclude: Any
) -> tuple[FloatArray, FloatArray, BoolArray]:
    n = diffusion.graph.n_items
    table, counts = np.asarray(mass, dtype=np.float64), np.asarray(vote_counts, dtype=np.float64)
    if table.ndim != 2 or len(table) != n:
        raise InputError(f"mass must have shape ({n}, n_classes), got {table.shape}.")
    if counts.shape != (n,):
        raise InputError(f"vote_counts must have shape ({n},), got {counts.shape}.")
    if not (np.isfinite(table).all() and np.isfinite(counts).all()):
        raise InputError("mass and vote_counts must be finite.")
    allowed = np.ones(n, dtype=bool)
    if exclude is not None and len(exclude):
        allowed[validation.rows_of_items(np.asarray(exclude), None, n)] = False
    return table, counts, allowed


class _Scene:
    """What a strategy sees, in inner numbering; ``evidence`` grows and ``open`` shrinks with every pick."""

    def __init__(
        self,
        diffusion: Diffusion,
        mass: FloatArray,
        vote_counts: FloatArray,
        allowed: BoolArray,
        rng: np.random.Generator,
    ) -> None:
        graph = diffusion.graph
        order = graph.order
        n, n_classes = mass.shape
        self.graph, self.alpha, self.rng, self.n = graph, diffusion.alpha, rng, n
        self.random_walk = graph.normalization == "random_walk"
        self.root = diffusion.root
        self.mass = mass
        counts = np.floor(vote_counts + WHOLE_VOTE)
        self.n_votes = float(counts.sum())
        self.counts = np.clip(counts, 0, np.iinfo(np.int16).max).astype(np.int16)[order]
        self.open = allowed[order]
        evidence = np.maximum(mass, 0.0).sum(axis=1)
        self.evidence = evidence[order]
        self.nothing_known = n_classes < 2 or self.n_votes == 0
        self._work, self._x, self._r = PushWork(n), np.zeros(n), np.zeros(n)

    def entropy(self) -> FloatArray:
        """Of each smoothed soft label (Y + s / C) / (N + s)."""
        smoothed = self.mass + SMOOTHING / self.mass.shape[1]
        total = smoothed.sum(axis=1)
        # -sum_c q_c / N ln(q_c / N) = ln N - sum_c q_c ln q_c / N, without a table of shares
        entropy = np.log(total) - np.einsum("ij,ij->i", smoothed, np.log(smoothed)) / total
        return np.asarray(entropy[self.graph.order])

    def ambiguity(self) -> FloatArray:
        """v: the chance that two votes drawn from an item's smoothed soft label differ."""
        n_classes = self.mass.shape[1]
        evidence = self.mass.sum(axis=1)
        # sum_c (Y_c + s/C)^2 = |Y|^2 + 2 s/C N + s^2/C, without a second table of mass's size
        squares = np.einsum("ij,ij->i", self.mass, self.mass)
        squares += SMOOTHING / n_classes * (2 * evidence + SMOOTHING)
        v = np.maximum(1 - squares / (evidence + SMOOTHING) ** 2, 0.0)  # rounding may leave -1e-16
        return np.asarray(v[self.graph.order])

    def profiles(self, rows: IntArray) -> list[tuple[IntArray, FloatArray]]:
        """Items reached by a vote on each row and how much they receive, largest entry 1."""
        work = self._work
        sizes, nodes, values = _kernels.push_profiles(
            self.graph.indptr,
            self.graph.indices,
            self.graph.weights,
            self.root,
            self.alpha,
            rows.astype(np.uint32),
            PUSH_FLOOR,
            self._x,
            self._r,
            work.touched,
            work.mark,
            work.queue,
            work.queued,
        )
        found = []
        last = 0
        for size in sizes.tolist():
            reached, phi = nodes[last : last + size], values[last : last + size]
            last += size
            if self.random_walk:
                phi = phi / self.root[reached]
            found.append((reached, phi / phi.max(initial=np.finfo(np.float64).tiny)))
        return found

    def take(self, row: int, profile: tuple[IntArray, FloatArray] | None = None) -> int:
        """Close an item and count its vote as cast."""
        reached, phi = self.profiles(np.array([row]))[0] if profile is None else profile
        self.evidence[reached] += phi
        self.open[row] = False
        return row


class _Pool:
    """Items to draw from at random; closed ones drop out when met, so that the cost of a draw does not depend
    on n.
    """

    def __init__(self, rows: IntArray, scene: _Scene) -> None:
        self.rows, self.size, self._scene = rows, len(rows), scene

    def draw(self, wanted: int) -> IntArray:
        """Up to ``wanted`` distinct open items, each set equally likely."""
        rows, still_open, rng = self.rows, self._scene.open, self._scene.rng
        found = 0
        while found < min(wanted, self.size):
            other = int(rng.integers(found, self.size))
            rows[found], rows[other] = rows[other], rows[found]
            if still_open[rows[found]]:
                found += 1
            else:
                self.size -= 1
                rows[found] = rows[self.size]
        return rows[:found].copy()


class _FewestVotes:
    """Draws among the open items with the fewest votes, level by level."""

    def __init__(self, scene: _Scene) -> None:
        self._scene = scene
        rows = np.flatnonzero(scene.open)
        self._rows = rows[np.argsort(scene.counts[rows], kind="stable")]
        self._ends = np.append(np.flatnonzero(np.diff(scene.counts[self._rows])) + 1, len(rows)).tolist()
        self._first = 0
        self._next_level()

    def _next_level(self) -> None:
        end = self._ends.pop(0)
        self._pool = _Pool(self._rows[self._first : end], self._scene)
        self._first = end

    def draw(self, wanted: int) -> IntArray:
        while True:
            found = self._pool.draw(wanted)
            if len(found):
                return found
            self._next_level()


def _uniform(scene: _Scene, size: int) -> list[int]:
    """Every set of open items equally likely, whatever votes there are: the paper's way, batch by batch."""
    return [int(row) for row in scene.rng.choice(np.flatnonzero(scene.open), size, replace=False)]


class _Repeats:
    """Now and then a random voted item, whatever its votes said: many until 30 of them are expected to
    differ.
    """

    def __init__(self, scene: _Scene, v: FloatArray | None = None) -> None:
        self._scene, self._share = scene, 0.0
        if scene.nothing_known or scene.n_votes < WARM_UP_VOTES:
            return
        self._voted = _Pool(np.flatnonzero(scene.open & (scene.counts > 0)), scene)
        differences = float(np.maximum(scene.counts - 1, 0) @ (scene.ambiguity() if v is None else v))
        most = EAGER_REPEATS if differences < ENOUGH_DIFFERENCES else MOST_REPEATS
        self._share = float(min(most, scene.n_votes / scene.n))

    def draw(self) -> IntArray:
        """One open voted item, or none: this pick is no repeat."""
        if self._share == 0 or self._scene.rng.random() >= self._share:
            return np.empty(0, np.int64)
        return self._voted.draw(1)


def _balanced(scene: _Scene, size: int) -> list[int]:
    """Repeats, else at random among the items with the fewest votes."""
    fewest, repeats = _FewestVotes(scene), _Repeats(scene)
    picked = []
    for _ in range(size):
        again = repeats.draw()
        row = int((again if len(again) else fewest.draw(1))[0])
        scene.open[row] = False
        picked.append(row)
    return picked


def _best_of_few(sharpest: float | None) -> Callable[[_Scene, int], list[int]]:
    """Repeats, else the best of five: by gain with g growing from 1 to ``sharpest``, or for None by local,
    [query].
    """

    def pick(scene: _Scene, size: int) -> list[int]:
        if scene.nothing_known or scene.n_votes < WARM_UP_VOTES:
            return _balanced(scene, size)
        v = scene.ambiguity()
        fewest, repeats = _FewestVotes(scene), _Repeats(scene, v)
        g = 1.0 if sharpest is None else _sharpness(scene.n_votes / scene.n, sharpest)
        worth = v ** (2 * g - 1)
        picked: list[int] = []
        while len(picked) < size:
            if len(again := repeats.draw()):
                picked.append(scene.take(int(again[0])))
                continue
            candidates = fewest.draw(CANDIDATES)
            if sharpest is None:
                local = v[candidates] / (scene.evidence[candidates] + LOCAL_OFFSET) ** 2
                picked.append(scene.take(int(candidates[int(np.argmax(local))])))
            else:
                profiles = scene.profiles(candidates)
                best = int(np.argmax([_gain(scene.evidence, worth, g, *profile) for profile in profiles]))
                picked.append(scene.take(int(candidates[best]), profiles[best]))
        return picked

    return pick


def _sharpness(votes_per_item: float, sharpest: float) -> float:
    """g: grows evenly from 1 without votes to the sharpest."""
    return 1 + (sharpest - 1) * min(1.0, votes_per_item / SHARPEST_FROM)


def _gain(evidence: FloatArray, worth: FloatArray, g: float, reached: IntArray, phi: FloatArray) -> float:
    """sum_i phi_i^g worth_i / ((N_i + 1) (N_i + 1 + phi_i^g))."""
    before, sharp = evidence[reached] + 1, phi if g == 1 else phi**g
    return float(np.sum(sharp * worth[reached] / (before * (before + sharp))))


def _least_evidence(scene: _Scene, size: int) -> list[int]:
    """The item that has received least, then the least given the votes just asked for."""
    return _lowest_first(scene, size, lambda rows: scene.evidence[rows])


def _entropy(scene: _Scene, size: int) -> list[int]:
    """The item with the largest entropy; a pick takes its neighbourhood out of view."""
    entropy = scene.entropy()
    start = scene.evidence.copy()
    return _lowest_first(scene, size, lambda rows: -entropy[rows] / (1 + scene.evidence[rows] - start[rows]))


def _lowest_first(scene: _Scene, size: int, score_of: Callable[[AnyArray], AnyArray]) -> list[int]:
    """Greedy picks by a score that never falls when evidence grows: an item leaves the top of the heap only
    if its
    score is still what the heap believes. Ties are broken at random."""  # noqa: D209
    picked: list[int] = []
    while len(picked) < size:
        rows = scene.rng.permutation(np.flatnonzero(scene.open))
        scores = score_of(rows)
        room = max(SMALLEST_SHORTLIST, SHORTLIST * (size - len(picked)))
        limit = np.inf
        if room < len(rows):
            near = np.argpartition(scores, room)
            limit = float(scores[near[room]])
            rows, scores = rows[near[:room]], scores[near[:room]]
        heap = list(zip(scores.tolist(), range(len(rows)), rows.tolist(), strict=True))
        heapq.heapify(heap)
        while heap and len(picked) < size:
            believed, number, row = heapq.heappop(heap)
            score = float(score_of(row))
            if score > believed:
                heapq.heappush(heap, (score, number, row))
            elif score > limit and picked:
                break  # an item outside the shortlist may be lower by now: look again
            else:
                picked.append(scene.take(row))
    return picked


def _farthest(scene: _Scene, size: int) -> list[int]:
    """Repeats, else the item farthest from all voted ones, of a random sample of those with the fewest
    votes.
    """
    from scipy.spatial import cKDTree

    features = scene.graph.features
    if features is None:
        raise InputError(
            "strategy 'farthest' needs features; a graph from an affinity has none. Try 'least_evidence'."
        )
    fewest, repeats = _FewestVotes(scene), _Repeats(scene)
    rows = np.concatenate(_draws(scene, fewest, max(size, FARTHEST_CANDIDATES)))
    near = np.asarray(features[scene.graph.order[rows]], dtype=np.float64)
    voted = np.flatnonzero(scene.counts > 0)
    if len(voted):
        distance = cKDTree(np.asarray(features[scene.graph.order[voted]], dtype=np.float64)).query(near)[0]
    else:
        distance = np.full(len(rows), np.inf)
    picked: list[int] = []
    for _ in range(size):
        again = repeats.draw()
        if len(again):
            row = int(again[0])
            distance[rows == row] = -1.0
        else:
            best = int(np.argmax(distance))
            row = int(rows[best])
            distance = np.minimum(distance, np.linalg.norm(near - near[best], axis=1))
            distance[best] = -1.0  # also where items coincide, none comes twice
        scene.open[row] = False
        picked.append(row)
    return picked


def _draws(scene: _Scene, fewest: _FewestVotes, wanted: int) -> list[IntArray]:
    """At least ``wanted`` distinct open items (or all), fewest votes first."""
    before = scene.open.copy()
    draws, found, n_open = [], 0, int(before.sum())
    while found < min(wanted, n_open):
        draws.append(fewest.draw(wanted - found))
        scene.open[draws[-1]] = False
        found += len(draws[-1])
    scene.open[:] = before
    return draws


STRATEGIES: dict[str, Callable[[_Scene, int], list[int]]] = {
    "uncertainty": _best_of_few(SHARPEST),
    "uniform": _uniform,
    "balanced": _balanced,
    "gain": _best_of_few(1.0),
    "local": _best_of_few(None),
    "least_evidence": _least_evidence,
    "entropy": _entropy,
    "farthest": _farthest,
}
