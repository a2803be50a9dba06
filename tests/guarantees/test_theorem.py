"""The theorem's constants and budgets, the repaired steps of its proof, and the simulation."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from softspread import epsilon_graph
from softspread.errors import InputError
from softspread.guarantees.theorem import (
    BOUNDS,
    CUBE_RADIUS,
    SMALLEST_N,
    _from_here_on,
    plan,
)

EPSILONS = st.floats(1e-6, math.sqrt(2))
DELTAS = st.floats(1e-9, 0.999)
DIMENSIONS = st.integers(1, 60)
LIPSCHITZ = st.floats(1e-2, 1e3)
REACHABLE = {
    "dimension": 1,
    "epsilon": 1.0,
    "delta": 0.5,
    "lipschitz": 0.5,
    "n_classes": 2,
}  # n small enough to count


@pytest.mark.parametrize(("d", "epsilon", "L", "C"), [(1, 0.1, 1.0, 2), (2, 0.3, 4.4, 10), (5, 1.4, 0.2, 3)])
def test_constants_are_the_appendix_written_out(d, epsilon, L, C):
    """c0 .. c5 and zeta equal the appendix's final formulas in plain arithmetic, all with positive sign."""
    p_min, p_max, rho = 0.5, 2.0, 0.25
    found = plan(
        dimension=d, epsilon=epsilon, lipschitz=L, n_classes=C, p_min=p_min, p_max=p_max, rho=rho, r_0=0.2
    )
    tau = epsilon / (12 * math.sqrt(2))
    eta = math.pi ** (d / 2) / math.gamma(d / 2 + 1)
    log = math.log(1 / tau)
    c0 = 1 + (3 * L * log) ** (d / 2) * math.sqrt(6 * p_max) / (p_min * math.sqrt(rho * eta * epsilon**d))
    expected = {
        "c0": c0,
        "c1": rho * eta * p_min * (epsilon / (3 * L * log)) ** d / 12,
        "c2": 3 * (1 - tau) ** 2 / (40 * c0),
        "c3": epsilon**2 * (1 - tau) / (9 * C * c0),
        "c4": 3 / (40 * c0),
        "c5": epsilon / ((6 * math.sqrt(2) + epsilon / 3) * c0),
    }
    expected["zeta"] = min(expected[name] for name in ("c2", "c3", "c4", "c5"))
    assert found.constants() == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("n", [2, 9, 100, 12_345])
@pytest.mark.parametrize("d", [1, 3])
def test_rates_are_the_theorems(n, d):
    """alpha_n, l_n and h_n are those of the theorem, with the minus sign of the proof."""
    found = plan(dimension=d, epsilon=0.2, lipschitz=3.0, n_items=n, n_votes=n)
    alpha = 1 - n ** (-1 / (d + 1))
    path = math.ceil(math.log(0.2 / (12 * math.sqrt(2))) / math.log(alpha))
    assert found.alpha == pytest.approx(alpha, rel=1e-12)
    assert found.path_length == path
    assert found.radius == pytest.approx(0.2 / (3 * 3.0 * path), rel=1e-12)


def test_failure_bounds_are_the_sums_they_claim_to_be():
    """With n and m given, the bounds equal the formulas evaluated term by term."""
    found = plan(dimension=1, epsilon=1.0, lipschitz=0.01, n_items=100_000, n_votes=30_000, n_classes=3)
    c, n, m, C = found.constants(), 100_000, 30_000, 3
    votes = m / n ** (1 - 1 / 4)
    terms = [2 * n * (C if k == "c3" else 1) * math.exp(-c[k] * votes) for k in ("c2", "c3", "c4", "c5")]
    assert 10**found.log10_failure_votes == pytest.approx(sum(terms), rel=1e-9)
    assert 10**found.log10_failure_graph == pytest.approx(2 * n * math.exp(-c["c1"] * n**0.5), rel=1e-9)
    assert 10**found.log10_failure_closed == pytest.approx(
        12 * n * C * math.exp(-c["zeta"] * votes), rel=1e-9
    )


@settings(deadline=None, max_examples=50)
@given(EPSILONS, DELTAS, DIMENSIONS, LIPSCHITZ, st.sampled_from(BOUNDS))
def test_a_plan_keeps_its_promise(epsilon, delta, d, lipschitz, bound):
    """What the calculator asks for satisfies every condition, and both bounds are then at most delta."""
    found = plan(dimension=d, epsilon=epsilon, delta=delta, lipschitz=lipschitz, bound=bound)
    assert found.holds
    limit = math.log10(delta) + 1e-6  # n of many digits is known to a relative 1e-13 of its logarithm
    assert found.log10_failure <= limit
    assert found.log10_failure_closed <= limit


def test_the_smallest_n_is_the_smallest():
    """One item fewer breaks a condition that does not depend on votes; one vote fewer breaks one that
    does."""
    needed = plan(**REACHABLE)
    assert needed.n_items > SMALLEST_N
    assert needed.holds
    fewer = plan(**REACHABLE, n_items=needed.n_items - 1)
    assert not fewer.holds
    assert {c.name for c in fewer.conditions if not c.holds} <= {"graph", "radius"}
    cheaper = plan(**REACHABLE, n_items=needed.n_items, n_votes=int(needed.n_votes * (1 - 1e-6)))
    assert cheaper.log10_failure_closed > math.log10(0.5)


def test_a_large_radius_asks_for_more_items():
    """Where the region is thin, h_n < r_0 decides n."""
    wide, thin = plan(**REACHABLE), plan(**REACHABLE, r_0=1e-6)
    assert thin.n_items > wide.n_items
    assert thin.radius < 1e-6 <= plan(**REACHABLE, r_0=1e-6, n_items=thin.n_items - 1).radius


@settings(deadline=None, max_examples=50)
@given(EPSILONS, DELTAS, DIMENSIONS, st.floats(1, 1e3), st.floats(1.01, 3))
def test_harder_wishes_cost_more(epsilon, delta, d, lipschitz, factor):
    """Where h_n < r_0 is no concern, a smaller epsilon or delta, a steeper truth or more classes never cost
    less."""
    base = {"epsilon": epsilon, "delta": delta, "dimension": d, "lipschitz": lipschitz}
    easy = plan(**base)
    for change in (
        {"epsilon": epsilon / factor},
        {"delta": delta / factor},
        {"lipschitz": lipschitz * factor},
        {"n_classes": 5},
    ):
        hard = plan(**(base | change))
        assert hard.log10_n_items >= easy.log10_n_items - 1e-9
        assert hard.log10_n_votes >= easy.log10_n_votes - 1e-9


@pytest.mark.parametrize(("c", "power"), [(5.0, 1 / 50), (1e-3, 0.5), (60.0, 1 / 50)])
def test_sufficiently_large_means_from_there_on(c, power):
    """c exp(power x) >= x + offset may hold early, fail and hold again: the last stretch counts (brute
    force)."""
    x = np.linspace(math.log(SMALLEST_N), 500, 1_000_001)
    fails = np.flatnonzero(c * np.exp(power * x) < x + 0.5)
    expected = x[fails[-1] + 1] if len(fails) else x[0]
    assert _from_here_on(math.log(c), power, 0.5) == pytest.approx(expected, abs=1e-3)


def test_votes_do_not_mend_a_thin_graph():
    """The closed form falls to 0 with ever more votes, the provable bound does not: some ball may be
    empty."""
    found = plan(dimension=2, n_items=1_000, n_votes=10**12)
    assert found.failure_closed < 1e-9
    assert found.failure == 1.0
    assert [c.name for c in found.conditions if not c.holds] == ["graph"]


@settings(deadline=None, max_examples=50)
@given(EPSILONS, DELTAS, st.integers(1, 20), LIPSCHITZ, st.floats(1, 50))
def test_the_refined_bound_never_asks_for_more(epsilon, delta, d, lipschitz, p_max):
    """Same items, no more votes than the published constants; from the same assumptions."""
    wish = {"dimension": d, "epsilon": epsilon, "delta": delta, "lipschitz": lipschitz, "p_max": p_max}
    theorem, refined = (plan(**wish, bound=bound) for bound in BOUNDS)
    assert refined.log10_n_items == theorem.log10_n_items
    assert refined.log10_n_votes <= theorem.log10_n_votes


@settings(deadline=None, max_examples=50)
@given(
    st.floats(1e-300, math.sqrt(2)),
    st.floats(1e-300, 1, exclude_max=True),
    st.integers(1, 5_000),
    st.floats(1e-300, 1e300),
    st.floats(1, 1e300),
    st.integers(2, 10**30),
    st.one_of(st.none(), st.integers(2, 10**2000)),
    st.one_of(st.none(), st.integers(1, 10**2000)),
    st.sampled_from(BOUNDS),
)
def test_no_wish_overflows(epsilon, delta, d, lipschitz, p_max, n_classes, n_items, n_votes, bound):
    """Any allowed input gives numbers, never nan, and a summary."""
    found = plan(
        dimension=d,
        epsilon=epsilon,
        delta=delta,
        lipschitz=lipschitz,
        p_max=p_max,
        n_classes=n_classes,
        n_items=n_items,
        n_votes=n_votes,
        bound=bound,
    )
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if field.name.startswith("log10_"):
            assert math.isfinite(value), field.name
        elif isinstance(value, float):
            assert not math.isnan(value), field.name
    assert 0 <= found.failure <= 1
    assert 0 <= found.alpha <= 1
    assert "nan" not in found.summary()
    assert len(repr(found)) > 0


def test_huge_numbers_are_whole():
    """20 dimensions: a number of items with a thousand digits, exact type, right size; beyond 4000 digits,
    inf."""
    found = plan(dimension=20)
    assert isinstance(found.n_items, int)
    assert len(str(found.n_items)) == math.floor(found.log10_n_items) + 1
    assert plan(dimension=512).n_items == math.inf
    assert math.isfinite(plan(dimension=512).log10_n_items)


def test_one_vote_per_item_is_enough_from_there_on():
    """At the reported n the theorem's budget equals n, and beyond it stays below."""
    found = plan(dimension=1)
    there = plan(dimension=1, n_items=int(10**found.log10_n_one_vote))
    beyond = plan(dimension=1, n_items=100 * int(10**found.log10_n_one_vote))
    assert there.votes_per_item == pytest.approx(1, rel=1e-6)
    assert beyond.votes_per_item < 0.5


def test_the_summary_says_what_fails():
    """A plan that is not covered says so first, and names each broken condition."""
    text = plan(dimension=1, n_items=1_000, n_votes=100).summary()
    assert text.startswith("Not guaranteed")
    assert text.count("Fails: ") == 5
    assert plan(dimension=1).summary().startswith("Guaranteed")


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"dimension": 0}, "dimension"),
        ({"dimension": 1.5}, "dimension"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 1.5}, "sqrt"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"lipschitz": -1.0}, "lipschitz"),
        ({"n_classes": 1}, "n_classes"),
        ({"n_items": 1}, "n_items"),
        ({"n_votes": 0}, "n_votes"),
        ({"p_min": 2.0, "p_max": 1.0}, "p_min"),
        ({"rho": 1.5}, "rho"),
        ({"r_0": math.inf}, "r_0"),
        ({"p_min": 50.0, "p_max": 50.0}, "probability"),
        ({"bound": "loose"}, "refined"),
    ],
)
def test_impossible_wishes_are_refused(wrong, word):
    """The message names the parameter or the way out."""
    with pytest.raises(InputError, match=word):
        plan(**({"dimension": 1} | wrong))


# ---------------------------------------------------------------------------- the repaired steps of the proof
@given(st.floats(1e-12, math.sqrt(2)), st.integers(2, 10**12), st.integers(1, 30))
def test_rounding_up_the_path_length_costs_nothing(epsilon, n, d):
    """ceil(log_alpha(tau)) <= log(1 / tau) n^gamma for every epsilon up to sqrt(2): the proof may drop the
    ceiling."""
    found = plan(dimension=d, epsilon=epsilon, n_items=n, n_votes=1)
    smooth = math.log(math.log(1 / found.far_share)) + math.log(n) / (d + 1)
    assert found.log10_path_length * math.log(10) <= smooth + 1e-9


def test_the_random_walk_operator_may_lengthen_vectors():
    """The proof uses |D^-1 W|_2 <= 1; a star of 5 leaves has |D^-1 W|_2 = sqrt(5)."""
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    S = star / star.sum(axis=1, keepdims=True)
    assert np.linalg.norm(S, 2) == pytest.approx(math.sqrt(5))


@pytest.mark.parametrize("alpha", [0.5, 0.9, 0.99])
def test_no_weight_exceeds_one_over_the_smallest_degree(alpha):
    """phi_qj <= (1 - alpha) [q = j] + alpha / d_min: what replaces the step above, dense check."""
    X = np.random.default_rng(3).random((150, 2))
    S = epsilon_graph(X, 0.2, normalization="random_walk").S.toarray()
    phi = (1 - alpha) * np.linalg.inv(np.eye(150) - alpha * S)
    smallest = np.count_nonzero(S, axis=1).min()
    assert smallest >= 1
    assert (phi <= (1 - alpha) * np.eye(150) + alpha / smallest + 1e-12).all()


@pytest.mark.parametrize("path", [3, 10])
def test_far_items_have_little_weight(path):
    """Outside l_n h_n at most alpha^l_n of the weight, and no single weight above alpha^l_n / d_min."""
    alpha, radius = 0.8, 0.05
    X = np.random.default_rng(1).random((200, 1))
    S = epsilon_graph(X, radius, normalization="random_walk").S.toarray()
    phi = (1 - alpha) * np.linalg.inv(np.eye(200) - alpha * S)
    far = np.abs(X - X.T) > path * radius
    assert far.any()
    assert (np.where(far, phi, 0).sum(axis=1) <= alpha**path + 1e-12).all()
    assert phi[far].max() <= alpha**path / np.count_nonzero(S, axis=1).min() + 1e-12


@pytest.mark.parametrize("n", [SMALLEST_N, 20, 1_000, 100_000])
@pytest.mark.parametrize("share", [1e-4, 1e-2, 0.1, 0.5, 1.0])
def test_one_twelfth_also_covers_the_item_itself(n, share):
    """P(Bin(n - 1, mu) <= mu n / 2) <= exp(-mu n / 12): neighbours without the item, exact binomial tail."""
    assert binom.cdf(share * n / 2, n - 1, share) <= math.exp(-share * n / 12)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, math.sqrt(2)])
def test_published_exponents_are_below_what_bernstein_gives(epsilon):
    """c2, c4 and c5 as published are smaller than t^2 / 2 / (variance + K t / 3) with the right t, variance
    and K."""
    tau = epsilon / (12 * math.sqrt(2))
    c = plan(dimension=1, epsilon=epsilon).constants()

    def bernstein(t, variance, K):  # in units of m / (n phi_max)
        return t * t / 2 / (variance + K * t / 3)

    assert c["c2"] * c["c0"] <= bernstein((1 - tau) / 2, 1, 1)
    assert c["c4"] * c["c0"] <= bernstein(1 / 2, 1, 1)
    assert c["c5"] * c["c0"] <= bernstein(tau, tau * tau, tau)
    assert c["c5"] * c["c0"] > bernstein(
        tau, tau, tau
    )  # with the proof's own variance the published value is too large
    refined = plan(dimension=1, epsilon=epsilon, bound="refined").constants()
    assert refined["c5"] * refined["c0"] == pytest.approx(bernstein(tau, tau * tau, tau))
    assert refined["c4"] * refined["c0"] == pytest.approx(bernstein(1 / 2, 1, 1))
    assert refined["c2"] * refined["c0"] <= bernstein((1 - tau) / 2, 1, 1)


def test_the_cubes_geometry_is_what_the_defaults_claim():
    """A ball of radius below 1/2 around any point of the unit square has at least a quarter of its area
    inside."""
    rng = np.random.default_rng(0)
    steps = rng.uniform(-1, 1, size=(20_000, 2))
    steps = steps[(steps**2).sum(axis=1) < 1]
    centres = np.concatenate([rng.random((50, 2)), [[0, 0], [1, 1], [0, 0.5], [0.5, 0.5]]])
    for radius in (0.1, CUBE_RADIUS):
        inside = [((c + radius * steps >= 0) & (c + radius * steps <= 1)).all(axis=1).mean() for c in centres]
        assert min(inside) >= plan(dimension=2).rho - 0.015  # 3 standard errors of a share from 15,700 points
