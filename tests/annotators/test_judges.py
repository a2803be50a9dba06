"""How good models are, by people's votes on the same items."""

import numpy as np
import pytest

from blends import own_of
from softspread.annotators.judges import judge_models
from softspread.posterior.panel import Panel
from softspread.votes.table import VoteTable


def report(labels, truth, samples=1, level=0.9):
    """Of one model with these labels, and one vote of a person on every item."""
    rows = np.tile(np.arange(len(truth)), samples)
    columns = np.asarray(labels).ravel()
    table = VoteTable(rows, columns, np.ones(len(rows)), np.array(["m"] * len(rows), dtype=object))
    own = own_of(np.eye(2)[truth])
    return judge_models(Panel.of(table, ["m"], len(truth), 2), own, np.array(["no", "yes"]), level)


def test_agreement_and_confusion_are_shares_of_peoples_votes():
    """Four items: right about three, wrong about one yes."""
    found = report([0, 0, 1, 0], [0, 0, 1, 1])
    row = found.to_frame().iloc[0]
    assert (row["items"], row["votes"], row["compared"], row["agreement"]) == (4, 4, 4, 0.75)
    assert row["agreement_lower"] < 0.75 < row["agreement_upper"]
    shares = found.confusion.set_index(["model", "people"])["share"]
    assert shares["no", "yes"] == pytest.approx(1 / 3)
    assert shares["yes", "yes"] == 1
    assert np.isnan(row["confidence"])  # single votes do not say how sure a model is
    assert (found.effective_number, found.effective_lower, found.effective_upper) == (1, 1, 1)


def test_a_model_that_is_too_sure_is_found_out():
    """It always gives 90 % and is right about 60 %."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    best = np.where(rng.random(400) < 0.6, truth, 1 - truth)
    labels = np.array([best] * 9 + [1 - best])
    row = report(labels, truth, samples=10).to_frame().iloc[0]
    assert row["confidence"] == pytest.approx(0.9)
    assert row["overconfidence_lower"] > 0.2
    assert row["overconfidence_lower"] < 0.3 < row["overconfidence_upper"]


def test_without_a_common_item_nothing_is_known():
    """Agreement is NaN, its interval holds all."""
    table = VoteTable(np.array([0]), np.array([1]), np.ones(1), np.array(["m"], dtype=object))
    found = judge_models(
        Panel.of(table, ["m"], 3, 2), own_of([[0, 0], [1, 0], [0, 1]]), np.array([0, 1]), 0.9
    )
    row = found.to_frame().iloc[0]
    assert np.isnan(row["agreement"])
    assert (row["agreement_lower"], row["agreement_upper"]) == (0, 1)
    assert "no item that people voted on" in found.summary()


def test_intervals_of_agreement_hold_as_often_as_they_say():
    """Over 400 draws of 40 items each, at 80 %: never less often, up to what draws leave open."""
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        truth = rng.integers(2, size=40)
        labels = np.where(rng.random(40) < 0.85, truth, 1 - truth)
        row = report(labels, truth, level=0.8).to_frame().iloc[0]
        inside += row["agreement_lower"] <= 0.85 <= row["agreement_upper"]
    assert 0.76 <= inside / 400 <= 0.95
