"""Votes of a trial are drawn as its design says, and measured against the truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from small_plans import one_trial
from softspread.errors import InputError
from softspread.reproduce.measures import Bench, measure


def test_methods_of_one_draw_see_the_same_votes():
    """Votes depend on dataset, budget, design and draw, not on the method."""
    bench = Bench()
    first, _ = bench.task(one_trial())
    second, _ = bench.task(one_trial(method="histogram", parameters={}))
    other, _ = bench.task(one_trial(draw=1))
    assert_array_equal(first.votes.items, second.votes.items)
    assert_array_equal(first.votes.labels, second.votes.labels)
    assert not np.array_equal(first.votes.items, other.votes.items)


def test_votes_of_a_subset_stay_there_and_the_test_items_get_none():
    """subset_share and train_share limit the items that are voted on."""
    bench = Bench()
    task, among = bench.task(one_trial(design={"subset_share": 0.1}, budget=2.0))
    assert len(among) == 8
    assert set(task.votes.items.tolist()) <= set(among.tolist())
    (row,) = measure(
        one_trial(design={"train_share": 0.8}, budget=20.0, method="histogram", parameters={}), bench
    )
    assert row["rmse_test"] > row["rmse_train"]
    assert_allclose(row["rmse"] ** 2, 0.8 * row["rmse_train"] ** 2 + 0.2 * row["rmse_test"] ** 2)


def test_a_sequence_is_drawn_from_one_generator():
    """Budget by budget, draw by draw: items, then the numbers that choose their classes."""
    design = {"sequence": [5, 8], "sequence_draws": 2, "sequence_seed": 4}
    bench = Bench()
    n = 80
    rng = np.random.default_rng(4)
    for n_votes in (5, 8):
        for number in (0, 1):
            items, chance = rng.integers(n, size=n_votes), rng.random(n_votes)
            task, _ = bench.task(one_trial(budget=None, n_votes=n_votes, draw=number, design=design))
            assert_array_equal(task.votes.items, items)
            assert_array_equal(task.votes.labels, (chance >= task.p_true[items, 0]).astype(int))
    with pytest.raises(InputError, match="not in the sequence"):
        bench.task(one_trial(budget=None, n_votes=7, design=design))


def test_n_items_takes_a_part_of_the_dataset():
    """A random part, with its own graph."""
    (row,) = measure(one_trial(design={"n_items": 30}, budget=None, n_votes=10), Bench())
    assert (row["n_items"], row["votes"]) == (30, 10)


@pytest.mark.parametrize("crowd", ["honest", "mixed", "spammers"])
def test_crowds_sign_their_votes(crowd):
    """Votes carry names."""
    task, _ = Bench().task(one_trial(design={"crowd": crowd, "n_annotators": 6}))
    assert set(task.votes.annotators) <= {f"annotator {number}" for number in range(1, 7)}


def test_unknown_words_are_refused():
    """Measure, crowd and method."""
    with pytest.raises(InputError, match="measure"):
        measure(one_trial(measure="magic"), Bench())
    with pytest.raises(InputError, match="crowd must be"):
        measure(one_trial(design={"crowd": "angels"}), Bench())
    with pytest.raises(InputError, match="method 'magic' is unknown"):
        measure(one_trial(method="magic"), Bench())


def test_estimated_rmse_is_near_the_true_one_with_many_votes():
    """Histograms of one vote exaggerate; the corrected estimate from ten votes an item does not."""
    trial = one_trial(
        measure="estimated_rmse",
        dataset={"name": "sine_curve", "n_items": 2000},
        design={"train_share": 0.5},
        options={"sizes": [1000], "votes_per_item": [1, 10]},
    )
    one, ten = measure(trial, Bench())
    assert one["estimate"] > 2 * one["rmse"]
    assert_allclose(ten["corrected"], ten["rmse"], rtol=0.15)
