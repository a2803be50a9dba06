"""Several questions choose together."""

import numpy as np
import pytest

from softspread.queries.turns import pick_in_turn


@pytest.mark.parametrize(("n_questions", "size"), [(1, 5), (3, 7), (3, 2), (4, 0)])
def test_each_question_in_turn_names_one(n_questions, size):
    """As many as wanted, none twice, and no question more than one ahead of another at any time."""

    def pick(question, wanted, taken):
        return [(question, row) for row in range(100) if row not in {row for _, row in taken}][:wanted]

    picked = pick_in_turn(n_questions, size, np.random.default_rng(0), pick)
    assert len({row for _, row in picked}) == len(picked) == size
    for stop in range(1, size + 1):
        turns = np.bincount([question for question, _ in picked[:stop]], minlength=n_questions)
        assert np.ptp(turns) <= 1


def test_which_question_comes_first_is_drawn():
    """Otherwise the first class would be asked about most where few items are wanted."""
    rng = np.random.default_rng(0)
    first = [pick_in_turn(3, 1, rng, lambda question, wanted, taken: [question])[0] for _ in range(300)]
    assert np.bincount(first, minlength=3).min() > 70
