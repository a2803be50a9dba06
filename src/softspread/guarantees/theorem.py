"""The consistency theorem as numbers.

    epsilon, delta, dimension, region  ->  alpha_n, l_n, h_n, c0 .. c5, zeta  ->  n, m, failure bound
                                                            theory: [guarantee], [guarantee constants],
                                                            [weight bound]

Everything is computed in logarithms, because n may well have a thousand digits. docs/guarantees.md says which
steps of the published proof were repaired, and why the numbers below hold all the same.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softspread._common import validation
from softspread.errors import InputError

BOUNDS = ("theorem", "refined")
LARGEST_DISTANCE = math.sqrt(2)  # between two probability vectors: no error can be larger
OUTSIDE = 12 * math.sqrt(
    2
)  # weight epsilon / OUTSIDE may come from afar: 4 times that, times sqrt(2), is epsilon / 3
N_TERMS = 3  # bias, variance and far votes each get a third of epsilon
N_ARGUMENTS = 6  # probabilistic arguments of the proof; each gets delta / 6
SMALLEST_N = 9  # from here the Chernoff bound of n points also covers the n - 1 others around each item
CUBE_RADIUS = 0.5  # in the unit cube, a ball up to this radius keeps at least one whole orthant
MOST_DIGITS = 4_000  # Python prints no longer whole numbers
LARGEST_EXACT = 2.0**53  # whole numbers up to here are exact floats
LARGEST = 1e300  # logarithms of failure probabilities are cut here instead of overflowing
ROUNDING = 1e-9  # conditions that hold with equality by construction must not fail by rounding
LN10 = math.log(10)
BISECTIONS = 200  # halves any bracket of floats down to neighbours


@dataclass(frozen=True, slots=True)
class Condition:
    """One "for n sufficiently large" of the proof, evaluated."""

    name: str
    statement: str
    value: float  # what the statement compares ...
    limit: float  # ... and with what
    holds: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A number of items, a budget, and what the theorem says about them; made by :func:`plan`.

    Numbers that may leave the range of floats are kept as ``log10_...``; the property without that prefix
    gives the number itself, 0.0 or inf where a float cannot hold it.

    Attributes
    ----------
    bound : str
        "theorem" or "refined".
    epsilon, delta : float
        Largest error, and the probability with which it may be exceeded.
    dimension, n_classes : int
        Of the features, and of the soft labels.
    lipschitz : float
        How fast the soft labels may change.
    p_min, p_max : float
        Bounds of the features' density.
    rho, r_0 : float
        Shape of the region: a ball of radius below ``r_0`` has at least a share ``rho`` of its volume inside.
    n_items, n_votes : int or float
        What is needed or given; inf where it has more than 4000 digits.
    log10_n_items, log10_n_votes : float
        The same as logarithms.
    gamma : float
        1 / (dimension + 1).
    rate : float
        The largest weight falls at least like n ** -rate.
    far_share : float
        Weight that may come from outside an item's surrounding, epsilon / (12 sqrt(2)).
    log10_ball_volume : float
        Volume of the unit ball.
    log10_alpha_gap : float
        1 - alpha.
    path_length : int or float
        Steps after which at most ``far_share`` of the weight is left.
    log10_path_length : float
        The same as a logarithm.
    log10_radius : float
        Radius of the epsilon-graph.
    log10_c0, log10_c1, log10_c2, log10_c3, log10_c4, log10_c5, log10_zeta : float
        The theorem's constants.
    log10_failure_graph : float
        Probability that some ball holds too few items; it does not depend on the votes.
    log10_failure_votes : float
        Bound on the failure of the four arguments about votes.
    log10_failure_closed : float
        The theorem's closed form, 12 n C exp(-zeta m / n ** (1 - rate)).
    log10_n_one_vote : float
        From this many items on, the theorem's budget is at most one vote per item.
    conditions : tuple of Condition
        Each "for n sufficiently large" of the proof, evaluated.

    See Also
    --------
    plan : Makes one.

    Examples
    --------
    >>> from softspread import plan
    >>> needed = plan(dimension=1)
    >>> needed.holds, needed.votes_per_item > 1
    (True, True)
    """

    bound: str
    epsilon: float
    delta: float
    dimension: int
    n_classes: int
    lipschitz: float
    p_min: float
    p_max: float
    rho: float
    r_0: float
    n_items: int | float
    n_votes: int | float
    log10_n_items: float
    log10_n_votes: float
    gamma: float
    rate: float
    far_share: float
    log10_ball_volume: float
    log10_alpha_gap: float
    path_length: int | float
    log10_path_length: float
    log10_radius: float
    log10_c0: float
    log10_c1: float
    log10_c2: float
    log10_c3: float
    log10_c4: float
    log10_c5: float
    log10_zeta: float
    log10_failure_graph: float
    log10_failure_votes: float
    log10_failure_closed: float
    log10_n_one_vote: float
    conditions: tuple[Condition, ...]

    @property
    def holds(self) -> bool:
        """Whether all conditions hold, so that the error stays within epsilon with probability 1 - delta."""
        return all(condition.holds for condition in self.conditions)

    @property
    def log10_failure(self) -> float:
        """Of the provable bound, graph and votes together; above 0 it says nothing."""
        return _log_sum(self.log10_failure_graph * LN10, self.log10_failure_votes * LN10) / LN10

    @property
    def failure(self) -> float:
        """Provable bound on P(some soft label is off by more than epsilon), at most 1."""
        return _power10(min(0.0, self.log10_failure))

    @property
    def failure_closed(self) -> float:
        """The theorem's closed form, at most 1; forgets the graph, so it is too small where votes abound."""
        return _power10(min(0.0, self.log10_failure_closed))

    @property
    def alpha(self) -> float:
        """Spreading intensity 1 - n ** (-1 / (d + 1)); 1.0 where a float cannot tell."""
        return 1 - _power10(self.log10_alpha_gap)

    @property
    def radius(self) -> float:
        """Radius h_n of the epsilon-graph."""
        return _power10(self.log10_radius)

    @property
    def zeta(self) -> float:
        """Rate at which votes lower the failure probability."""
        return _power10(self.log10_zeta)

    @property
    def votes_per_item(self) -> float:
        """Budget over number of items."""
        return _power10(self.log10_n_votes - self.log10_n_items)

    @property
    def votes_per_item_counting(self) -> float:
        """Votes on each item that guarantee the same without a graph.

        By Hoeffding's inequality and a union bound.
        """
        log_failures = math.log(2 * self.n_classes) + self.log10_n_items * LN10 - math.log(self.delta)
        return self.n_classes * log_failures / 2 / self.epsilon / self.epsilon

    def constants(self) -> dict[str, float]:
        """The theorem's constants c0 .. c5 and zeta as plain floats.

        Returns
        -------
        dict of str to float
            0.0 or inf where a float cannot hold one.

        Examples
        --------
        >>> from softspread import plan
        >>> list(plan(dimension=1).constants())
        ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'zeta']
        """
        names = ("c0", "c1", "c2", "c3", "c4", "c5", "zeta")
        return {name: _power10(getattr(self, f"log10_{name}")) for name in names}

    def summary(self) -> str:
        """The plan in plain words.

        Returns
        -------
        str
            A few lines.

        Examples
        --------
        >>> from softspread import plan
        >>> print(plan(dimension=1).summary().splitlines()[0])
        Guaranteed: every soft label within 0.1 of the truth, except with probability 0.05.
        """
        promise = (
            f"every soft label within {self.epsilon:g} of the truth, except with probability {self.delta:g}"
        )
        lines = [
            f"{'Guaranteed' if self.holds else 'Not guaranteed'}: {promise}.",
            f"Items: {_shown(self.log10_n_items)}. Votes: {_shown(self.log10_n_votes)} "
            f"({_shown(self.log10_n_votes - self.log10_n_items)} per item).",
            f"Graph: all items closer than {_shown(self.log10_radius)}; "
            f"alpha = 1 - {_shown(self.log10_alpha_gap)}; paths of {_shown(self.log10_path_length)} steps.",
            f"Bound on the probability of a larger error: {_shown(min(0.0, self.log10_failure))} "
            f"(graph {_shown(min(0.0, self.log10_failure_graph))}, "
            f"votes {_shown(min(0.0, self.log10_failure_votes))}).",
            f"At most one vote per item is enough from {_shown(self.log10_n_one_vote)} items on.",
        ]
        if self.votes_per_item > self.votes_per_item_counting:
            lines.append(
                f"{self.votes_per_item_counting:,.4g} votes on each item would guarantee it without any "
                "graph."
            )
        lines += [f"Fails: {condition.statement}." for condition in self.conditions if not condition.holds]
        lines.append(
            "This is a worst case over all data that fit the numbers given; practice needs far less."
        )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Logs:
    """Natural logarithms of the constants, theory [guarantee constants]."""

    gamma: float
    rate: float
    far: float  # log(1 / far_share)
    ball: float
    c: tuple[float, float, float, float, float, float]  # c0 .. c5
    zeta: float


def plan(
    *,
    dimension: int,
    epsilon: float = 0.1,
    delta: float = 0.05,
    n_classes: int = 2,
    lipschitz: float = 1.0,
    n_items: int | None = None,
    n_votes: int | None = None,
    p_min: float = 1.0,
    p_max: float = 1.0,
    rho: float | None = None,
    r_0: float | None = None,
    bound: str = "theorem",
) -> Plan:
    """How many items and votes guarantee an error of at most epsilon everywhere, theory [guarantee].

    Leave out ``n_items`` for the smallest number that the theorem accepts, ``n_votes`` for the budget that
    belongs to it. With both given, the result says whether they suffice and bounds the probability of
    failure.

    Parameters
    ----------
    dimension : int
        Number of features.
    epsilon : float, default 0.1
        Largest distance between an item's soft label and the truth, above 0 and at most sqrt(2), the largest
        possible.
    delta : float, default 0.05
        Probability with which it may be exceeded.
    n_classes : int, default 2
        Number of classes.
    lipschitz : float, default 1.0
        How fast soft labels change: their distance is at most ``lipschitz`` times that of the features.
    n_items : int, optional
        Items there are; by default as many as are needed.
    n_votes : int, optional
        Votes there are; by default as many as are needed.
    p_min : float, default 1.0
        Smallest density of the features; 1 for the uniform density on the unit cube.
    p_max : float, default 1.0
        Largest density of the features.
    rho : float, optional
        A ball of radius below ``r_0`` around any item has at least this share of its volume in the region. By
        default the unit cube's, ``2**-dimension``.
    r_0 : float, optional
        Largest such radius; by default the unit cube's, 1/2.
    bound : {"theorem", "refined"}, default "theorem"
        The constants as published, or a sharper bound on the weights under the same assumptions, see
        docs/guarantees.md.

    Returns
    -------
    Plan
        Items, votes, graph and failure probability, with a ``summary``.

    See Also
    --------
    GainForecast : What further votes are expected to bring on your own data; far less than the worst case.

    Examples
    --------
    >>> needed = plan(dimension=1, epsilon=0.1, delta=0.05)
    >>> needed.holds, needed.failure <= 0.05
    (True, True)
    >>> plan(dimension=1, n_items=10_000, n_votes=5_000).holds
    False
    >>> plan(dimension=20).log10_n_items > 300
    True
    """
    d, n_classes = validation.count("dimension", dimension, 1), validation.count("n_classes", n_classes, 2)
    delta = validation.between_0_and_1("delta", delta)
    lipschitz = validation.positive("lipschitz", lipschitz)
    validation.choice("bound", bound, BOUNDS)
    epsilon = validation.positive("epsilon", epsilon)
    if epsilon > LARGEST_DISTANCE:
        raise InputError(
            f"epsilon must be at most sqrt(2), the largest distance of two soft labels, got {epsilon!r}."
        )
    p_min, p_max, log_rho, r_0 = _checked_region(d, p_min, p_max, rho, r_0)
    logs = _constants(d, n_classes, epsilon, lipschitz, (p_min, p_max, log_rho), bound)
    # log of l_n h_n, the radius of the surrounding
    scale = math.log(epsilon) - math.log(N_TERMS) - math.log(lipschitz)
    log_union = math.log(12 * n_classes)  # of the union bound over votes
    if n_items is None:
        n, log_n = _smallest_n(logs, delta, scale, r_0)
    else:
        n = validation.count("n_items", n_items, 2)
        log_n = math.log(n)
    m, log_m = _votes(n_votes, logs, log_n, log_union, delta)
    log_path = _log_path_length(logs, log_n)
    graph = math.log(2) + log_n - _exponent(logs.c[1] + logs.gamma * log_n)
    arguments = _vote_arguments(logs, n_classes, log_n, log_m)
    closed = log_union + log_n - _exponent(logs.zeta + log_m - (1 - logs.rate) * log_n)
    one_vote = _from_here_on(logs.zeta, logs.rate, log_union - math.log(delta))
    return Plan(
        bound=bound,
        epsilon=epsilon,
        delta=delta,
        dimension=d,
        n_classes=n_classes,
        lipschitz=lipschitz,
        p_min=p_min,
        p_max=p_max,
        rho=math.exp(log_rho),
        r_0=r_0,
        n_items=n,
        n_votes=m,
        log10_n_items=log_n / LN10,
        log10_n_votes=log_m / LN10,
        gamma=logs.gamma,
        rate=logs.rate,
        far_share=epsilon / OUTSIDE,
        log10_ball_volume=logs.ball / LN10,
        log10_alpha_gap=-logs.gamma * log_n / LN10,
        path_length=_whole(log_path, nearest=True),
        log10_path_length=log_path / LN10,
        log10_radius=(scale - log_path) / LN10,
        **{f"log10_c{number}": value / LN10 for number, value in enumerate(logs.c)},
        log10_zeta=logs.zeta / LN10,
        log10_failure_graph=graph / LN10,
        log10_failure_votes=_log_sum(*arguments.values()) / LN10,
        log10_failure_closed=closed / LN10,
        log10_n_one_vote=one_vote / LN10,
        conditions=_conditions(log_n, scale - log_path, r_0, delta, graph, arguments),
    )


def _votes(
    n_votes: int | None, logs: _Logs, log_n: float, log_union: float, delta: float
) -> tuple[int | float, float]:
    """How many votes there are, or are needed, and the logarithm of that."""
    if n_votes is not None:
        m = validation.count("n_votes", n_votes, 1)
        return m, math.log(m)
    log_m = (1 - logs.rate) * log_n + math.log(log_n + log_union - math.log(delta)) - logs.zeta
    needed = _whole(log_m)
    return needed, max(log_m, math.log(needed)) if needed < math.inf else log_m


def _checked_region(d: int, p_min: Any, p_max: Any, rho: Any, r_0: Any) -> tuple[float, float, float, float]:
    p_min, p_max = validation.positive("p_min", p_min), validation.positive("p_max", p_max)
    if p_min > p_max:
        raise InputError(f"p_min must not exceed p_max, got {p_min!r} and {p_max!r}.")
    if rho is not None and validation.positive("rho", rho) > 1:
        raise InputError(f"rho is a share of a ball's volume and at most 1, got {rho!r}; 2**-d fits a cube.")
    log_rho = -d * math.log(2) if rho is None else math.log(rho)
    r_0 = CUBE_RADIUS if r_0 is None else validation.positive("r_0", r_0)
    log_mass = log_rho + math.log(p_min) + log_ball_volume(d) + d * math.log(r_0)
    if log_mass > ROUNDING:
        raise InputError(
            f"a ball of radius r_0 = {r_0:g} would hold {_shown(log_mass / LN10)} of all probability, more "
            "than 1; lower p_min, rho or r_0."
        )
    return p_min, p_max, log_rho, r_0


def _constants(
    d: int, n_classes: int, epsilon: float, lipschitz: float, density: tuple[float, float, float], bound: str
) -> _Logs:
    """Logarithms of c0 .. c5 and zeta, theory [guarantee constants] and [weight bound]."""
    p_min, p_max, log_rho = density
    far = math.log(OUTSIDE) - math.log(epsilon)
    near = math.log1p(-epsilon / OUTSIDE)  # log of the weight that stays in the surrounding
    ball = log_ball_volume(d)
    shrink = (
        math.log(epsilon) - math.log(N_TERMS) - math.log(lipschitz) - math.log(far)
    )  # h_n >= exp(shrink) n ** -gamma
    c1 = log_rho + ball + math.log(p_min) - math.log(12) + d * shrink
    gamma = 1 / (d + 1)
    if bound == "theorem":
        rate, bernstein = gamma / 2, math.log(3 / 40)
        c0 = _log_sum(
            0.0, (math.log(6) + math.log(p_max)) / 2 - math.log(p_min) - (log_rho + ball + d * shrink) / 2
        )
        c5 = math.log(epsilon) - math.log(6 * math.sqrt(2) + epsilon / 3) - c0
    else:
        rate, bernstein = gamma, math.log(3 / 28)
        c0 = _log_sum(0.0, -math.log(6) - c1)
        c5 = math.log(3 / 8) - c0
    c2 = bernstein + 2 * near - c0
    c3 = 2 * math.log(epsilon) + near - math.log(9 * n_classes) - c0
    c4 = bernstein - c0
    return _Logs(gamma, rate, far, ball, (c0, c1, c2, c3, c4, c5), min(c2, c3, c4, c5))


def log_ball_volume(d: int) -> float:
    """Logarithm of the volume of the unit ball in d dimensions."""
    return d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)


def _smallest_n(logs: _Logs, delta: float, scale: float, r_0: float) -> tuple[int | float, float]:
    """The smallest n whose balls are full up to probability delta / 3 and h_n < r_0, and its log."""

    def small_balls(log_n: float) -> bool:
        return scale - _log_path_length(logs, log_n) < math.log(r_0)

    def enough(n: int) -> bool:
        return small_balls(math.log(n)) and math.log(n) >= full

    full = _from_here_on(logs.c[1], logs.gamma, math.log(N_ARGUMENTS) - math.log(delta))
    log_n = max(full, _first_true(small_balls, math.log(SMALLEST_N)))
    n = _whole(log_n)
    if n == math.inf:
        return n, log_n
    whole = int(n)
    if whole < LARGEST_EXACT:  # the logarithm of a whole number may have rounded to either side of it
        while not enough(whole):
            whole += 1
        while whole > SMALLEST_N and enough(whole - 1):
            whole -= 1
        return whole, math.log(whole)
    return whole, max(log_n, math.log(whole))


def _from_here_on(log_c: float, power: float, offset: float) -> float:
    """Smallest x >= log(SMALLEST_N) with c exp(power x) >= x + offset there and beyond."""

    def slack(x: float) -> float:
        return log_c + power * x - math.log(x + offset)

    start = math.log(SMALLEST_N)
    lowest = max(start, 1 / power - offset)  # the slack falls up to here and grows ever after
    return start if slack(lowest) >= 0 else _first_true(lambda x: slack(x) >= 0, lowest)


def _first_true(predicate: Callable[[float], bool], start: float) -> float:
    """Where a predicate that stays true once it is true becomes true, from above, by bisection."""
    if predicate(start):
        return start
    low, high = start, 2 * start + 1
    while not predicate(high):
        low, high = high, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if predicate(middle) else (middle, high)
    return high


def _log_path_length(logs: _Logs, log_n: float) -> float:
    """Log of ceil(log_alpha(far_share)), without ever forming an alpha that rounds to 1."""
    gap = math.exp(max(-logs.gamma * log_n, -700.0))
    steps = math.log(logs.far) - (math.log(-math.log1p(-gap)) if gap > 1e-300 else -logs.gamma * log_n)
    return math.log(math.ceil(math.exp(steps))) if steps < math.log(LARGEST_EXACT) else steps


def _vote_arguments(logs: _Logs, n_classes: int, log_n: float, log_m: float) -> dict[str, float]:
    """Logarithms of the failure probabilities of the four arguments about votes, by constant."""
    votes = log_m - (1 - logs.rate) * log_n
    factor = {"c2": 2, "c3": 2 * n_classes, "c4": 2, "c5": 2}
    return {name: math.log(factor[name]) + log_n - _exponent(logs.c[int(name[1])] + votes) for name in factor}


def _conditions(
    log_n: float, log_radius: float, r_0: float, delta: float, graph: float, arguments: dict[str, float]
) -> tuple[Condition, ...]:
    """Every "n sufficiently large" of the proof."""
    share = math.log(delta) - math.log(N_ARGUMENTS)
    slack = ROUNDING * max(1.0, log_n)
    found = [
        Condition(
            "n", f"n is at least {SMALLEST_N}", _power(log_n), SMALLEST_N, log_n >= math.log(SMALLEST_N)
        ),
        Condition(
            "radius",
            f"the radius h_n is below r_0 = {r_0:g}",
            _power(log_radius),
            r_0,
            log_radius < math.log(r_0),
        ),
        Condition(
            "graph",
            "every ball of radius h_n holds about as many items as expected: 2 n exp(-c1 n^gamma) <= delta / "
            "3",
            _power(graph),
            delta / 3,
            graph <= math.log(delta) - math.log(3) + slack,
        ),
    ]
    texts = {
        "c2": "every item hears enough from its surrounding: 2 n exp(-c2 m / n^(1 - rate)) <= delta / 6",
        "c3": "votes average out: 2 n C exp(-c3 m / n^(1 - rate)) <= delta / 6",
        "c4": "every item hears enough in all: 2 n exp(-c4 m / n^(1 - rate)) <= delta / 6",
        "c5": "no item hears much from afar: 2 n exp(-c5 m / n^(1 - rate)) <= delta / 6",
    }
    found += [
        Condition(name, texts[name], _power(value), delta / N_ARGUMENTS, value <= share + slack)
        for name, value in arguments.items()
    ]
    return tuple(found)


def _exponent(log_value: float) -> float:
    """exp(log_value), cut before it overflows."""
    return math.exp(log_value) if log_value < math.log(LARGEST) else LARGEST


def _log_sum(*logs: float) -> float:
    """log(sum(exp(logs)))."""
    return float(np.logaddexp.reduce(logs))


def _power(log_value: float) -> float:
    """exp(log_value), inf or 0.0 outside the range of floats."""
    return math.exp(log_value) if log_value < math.log(np.finfo(float).max) else math.inf


def _power10(log10_value: float) -> float:
    """10 ** log10_value, inf or 0.0 outside the range of floats."""
    return 10.0**log10_value if log10_value < 308 else math.inf


def _whole(log_value: float, nearest: bool = False) -> int | float:
    """exp(log_value) as an integer, rounded up or to the nearest.

    inf where it has too many digits to print.
    """
    if log_value > MOST_DIGITS * LN10:
        return math.inf
    if log_value < math.log(LARGEST_EXACT):
        return round(math.exp(log_value)) if nearest else math.ceil(math.exp(log_value))
    shift = int(log_value / math.log(2)) - 52
    return math.ceil(math.exp(log_value - shift * math.log(2))) << shift


def _shown(log10_value: float) -> str:
    """A number of any size for people."""
    if -4 <= log10_value < 7:
        return f"{10**log10_value:,.4g}" if log10_value < 4 else f"{round(10**log10_value):,}"
    if abs(log10_value) < 1e6:
        whole = math.floor(log10_value)
        return f"{10 ** (log10_value - whole):.1f}e{whole:+d}"
    return f"10^({log10_value:.3g})"
