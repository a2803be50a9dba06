"""Worlds are weighed by votes: where votes say much they decide, where they say little the worlds do."""

import numpy as np
import pytest

from softspread.quality.doubt import (
    Checks,
    DoubtRule,
    Seen,
    SeenRange,
    SeenShare,
    quantiles_of,
    weigh_worlds,
)
from softspread.quality.worlds import Worlds

SQUARED, NOISE, KL, ENTROPY, WRONG, DIFFER, SHOWN = 0.08, 0.2, 0.2, 0.4, 0.1, 0.25, 0.22
UNKNOWN, ANY_SHARE = Seen(1.0, 1e6), SeenShare(0.5, 1e6, 1.0)


def worlds(number=100, squared=SQUARED):
    """Worlds that all say the same."""
    values = (
        squared,
        KL,
        WRONG,
        SHOWN,
        NOISE,
        squared + NOISE,
        NOISE,
        KL + ENTROPY,
        ENTROPY,
        DIFFER,
        NOISE,
        ENTROPY,
    )
    return Worlds(*(np.full(number, value) for value in values))


def weighed(checks, found=None, n_classes=2, **rule):
    """All measures at .9."""
    drawn = worlds() if found is None else found
    return weigh_worlds(drawn, checks, n_classes, 0.9, np.random.default_rng(0), DoubtRule(**rule))


def test_without_any_check_the_worlds_speak():
    """Medians are those of the worlds, and intervals hold them."""
    found = weighed(Checks(UNKNOWN, UNKNOWN, ANY_SHARE, None, None))
    assert found.rmse.value == pytest.approx(np.sqrt(SQUARED / 2), rel=0.02)
    assert found.accuracy.value == pytest.approx(1 - WRONG, abs=0.005)
    assert found.agreement.value == pytest.approx(1 - SHOWN, abs=0.005)
    assert found.noise.value == pytest.approx(NOISE, rel=0.02)
    assert found.kl.value < KL  # KL may be smaller by more than it may be larger
    for estimate in found:
        assert estimate.lower < estimate.value < estimate.upper


def test_votes_overrule_worlds():
    """A score that is half of what all worlds expect, known well, halves the error."""
    right = Seen(0.5 * SQUARED + NOISE, 0.002)
    found = weighed(Checks(right, UNKNOWN, ANY_SHARE, Seen(NOISE, 0.002), None), least_error=0.0)
    assert found.rmse.value == pytest.approx(np.sqrt(0.5 * SQUARED / 2), rel=0.06)
    assert found.rmse.upper < np.sqrt(SQUARED / 2)


def test_agreement_is_that_of_what_is_shown_and_held_out_votes_check_it():
    """What is shown has seen all votes and agrees more than its predictions; both move by the same odds."""
    seen = 0.4  # of held-out votes name another class, where the worlds expected DIFFER
    found = weighed(Checks(UNKNOWN, UNKNOWN, SeenShare(seen, 0.002, 60_000), None, None), least_error=0.0)
    odds = (seen / (1 - seen)) / (DIFFER / (1 - DIFFER)) * SHOWN / (1 - SHOWN)
    assert found.agreement.value == pytest.approx(1 / (1 + odds), abs=0.01)
    assert found.agreement.value > 1 - seen


def test_no_wrong_vote_among_few_does_not_rule_out_wrong_ones():
    """None of 20 votes named another class: a quarter would have by chance in 0.3 %, a tenth in 12 %."""
    none, tenth, quarter = SeenShare(0.0, 0.0, 20.0).misfit(np.array([0.0, 0.1, 0.25]), 0.02)
    assert none == 0.0 > tenth > -1.2
    assert quarter == pytest.approx(-0.5 * 20 * 0.25 / 0.75, rel=0.1)


@pytest.mark.parametrize("name", ["brier", "noise"])
def test_more_votes_narrow(name):
    """The smaller the standard error of what is seen, the narrower the interval."""
    widths = []
    for error in (0.2, 0.05, 0.01):
        seen = {"brier": Seen(SQUARED + NOISE, 0.02), "noise": Seen(NOISE, 0.02)}
        seen[name] = seen[name]._replace(error=error)
        found = weighed(Checks(seen["brier"], UNKNOWN, ANY_SHARE, seen["noise"], None))
        widths.append(found.rmse.upper - found.rmse.lower)
    assert widths[0] > widths[1] > widths[2]


def test_worlds_that_predict_badly_lose_their_vote():
    """Half of the worlds expect an error that the votes rule out."""
    mixed = Worlds(*(np.concatenate(pair) for pair in zip(worlds(50), worlds(50, 0.8), strict=True)))
    found = weighed(Checks(Seen(SQUARED + NOISE, 0.01), UNKNOWN, ANY_SHARE, None, None), mixed)
    assert found.rmse.upper < np.sqrt(0.8 / 2)
    assert found.rmse.lower < np.sqrt(SQUARED / 2) < found.rmse.upper


def test_an_entropy_outside_its_range_counts_against_a_world():
    """Cross entropy fixes KL + entropy: more entropy leaves less KL."""
    cross = Seen(KL + ENTROPY, 0.005)
    low, high = (
        weighed(Checks(UNKNOWN, cross, ANY_SHARE, None, SeenRange(*ends, 0.01)))
        for ends in ((0.25, 0.35), (0.45, 0.55))
    )
    assert low.kl.value > 1.3 * high.kl.value


def test_measures_stay_within_their_bounds():
    """Errors of nearly 0 and of nearly all."""
    for squared, wrong in ((0.0, 0.0), (1.9, 1.0)):
        drawn = worlds(20, squared)._replace(wrong=np.full(20, wrong))
        found = weighed(Checks(UNKNOWN, UNKNOWN, ANY_SHARE, None, None), drawn)
        assert 0 <= found.accuracy.lower <= found.accuracy.upper <= 1
        assert found.rmse.lower >= 0
        assert found.noise.upper <= 0.5


def test_quantiles_are_those_of_repeated_values():
    """A weight of 3 is three copies."""
    values, copies = np.array([5.0, 1.0, 3.0]), np.array([1, 3, 2])
    repeated = np.repeat(values, copies)
    found = quantiles_of(values, np.log(copies), 0.5)
    assert found == quantiles_of(repeated, np.zeros(len(repeated)), 0.5)


def test_worlds_that_all_contradict_the_votes_leave_an_interval():
    """A score that no world and no factor explains: no single draw decides, the interval keeps its width."""
    impossible = Seen(1e-6, 1e-9)
    found = weighed(
        Checks(impossible, impossible, SeenShare(1e-6, 1e-9, 1e9), impossible, SeenRange(0.0, 1e-9, 1e-9))
    )
    for estimate in (found.rmse, found.kl, found.noise):
        assert estimate.upper > 1.1 * estimate.lower
    score = 2 * found.rmse.value**2 + found.noise.value  # still moves to where the votes point
    assert score < 0.8 * (SQUARED + NOISE)


def test_the_less_of_the_score_is_error_the_less_is_known_of_it():
    """The same relative error of a score leaves a small error beside much noise open by a larger factor."""
    ratios = []
    for squared in (0.2, 0.02, 0.005):
        drawn = worlds(squared=squared)
        found = weighed(Checks(UNKNOWN, UNKNOWN, ANY_SHARE, None, None), drawn)
        ratios.append(found.rmse.upper / found.rmse.lower)
    assert ratios[0] < ratios[1] < ratios[2]


def test_doubt_has_an_end_where_no_error_is_left():
    """Worlds without any error on held-out votes: factors stay finite, and nothing warns."""
    drawn = worlds(squared=0.0)._replace(squared=np.full(100, SQUARED))
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        found = weighed(Checks(Seen(NOISE, 0.01), UNKNOWN, ANY_SHARE, None, None), drawn)
    assert 0 < found.rmse.lower < np.sqrt(SQUARED / 2) < found.rmse.upper < 1
