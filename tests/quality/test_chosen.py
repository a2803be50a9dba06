"""Votes on chosen items: what their probabilities are worth, and what is refused."""

import numpy as np
import pytest

from softspread import InputError
from softspread.quality.chosen import Importance
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


def table(rows, columns, weights=None):
    """Votes on rows for columns."""
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    return VoteTable(np.asarray(rows), np.asarray(columns), weights)


def read(probabilities, votes, n_items=10):
    """The importance of these votes."""
    return Importance.read(probabilities, votes, Ballots.of(votes, 2), n_items)


def test_a_uniform_draw_counts_once():
    """1 / n_items is importance 1; half of that probability counts twice."""
    found = read([0.1, 0.05, 0.2], table([0, 1, 2], [0, 1, 0]))
    np.testing.assert_allclose(found.of_votes, [1.0, 2.0, 0.5])
    assert not found.is_uniform


def test_equal_probabilities_are_a_uniform_draw():
    """Whatever the number, all votes speak alike, and as many as there are."""
    found = read(np.full(7, 0.3), table(np.arange(7), np.zeros(7, int)))
    assert found.is_uniform
    assert found.n_effective == pytest.approx(7)


def test_weighted_means_are_means_over_all_items():
    """Items drawn by known probabilities: the weighted mean hits the plain mean of all items."""
    rng = np.random.default_rng(0)
    n, values = 50, rng.normal(size=50)
    chances = np.exp(values) / np.exp(values).sum()  # large values are drawn more often
    rows = rng.choice(n, 40_000, p=chances)
    weights = read(chances[rows], table(rows, np.zeros(len(rows), int)), n).of_votes
    error = np.std(weights * values[rows]) / np.sqrt(len(rows))
    assert abs(np.mean(weights * values[rows]) - values.mean()) < 4 * error
    assert abs(values[rows].mean() - values.mean()) > 4 * error


def test_the_entries_of_a_soft_vote_share_one_importance():
    """Two halves are one vote; the mean of their inverses counts."""
    found = read([0.1, 0.1, 0.2], table([0, 0, 1], [0, 1, 1], [0.5, 0.5, 1.0]))
    np.testing.assert_allclose(found.of_votes, [1.0, 0.5])


def test_rows_that_take_votes_back_need_no_probability():
    """What was taken back does not judge."""
    found = read([0.1, np.nan, 0.2], table([0, 0, 1], [0, 0, 1], [1.0, -1.0, 1.0]))
    np.testing.assert_allclose(found.of_votes, [0.5])


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ([0.1, 0.1], r"one number per vote \(3\), got shape \(2,\)"),
        ([[0.1, 0.1, 0.1]], r"got shape \(1, 3\)"),
        (0.1, r"got shape \(\)"),
        ([0.1, 0.0, 0.1], "above 0 and at most 1 for every vote, got 0"),
        ([0.1, -0.1, 0.1], "above 0"),
        ([0.1, 1.5, 0.1], "at most 1 for every vote, got 1.5"),
        ([0.1, np.nan, 0.1], "got nan"),
        (["a", "b", "c"], "must be numbers"),
        ([0.1, None, 0.1], "got nan"),
    ],
)
def test_bad_probabilities_are_named(probabilities, message):
    """What came, what is allowed, where to get them."""
    with pytest.raises(InputError, match=message) as error:
        read(probabilities, table([0, 1, 2], [0, 1, 0]))
    assert "return_probabilities" in str(error.value)


def test_the_note_says_what_the_votes_are_worth():
    """Votes of very different importance judge like fewer."""
    found = read([0.1, 0.1, 0.01], table([0, 1, 2], [0, 1, 0]))
    assert "3 votes, weighted by how probable the choice of their items was" in found.note
    assert "like 1 votes on random items" in found.note
