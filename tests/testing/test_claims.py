"""How the suites say what is wrong."""

import pytest

from softspread.errors import InputError
from softspread.testing.claims import answer_of, require, require_close


def test_a_claim_that_holds_is_silent():
    """Nothing is raised and nothing returned."""
    assert require(True, "water is wet") is None
    assert require_close([1.0, 2.0], [1.0, 2.1], 0.2, "close enough") is None
    assert require_close([], [], 0.0, "nothing is equal to nothing") is None


def test_a_broken_claim_is_the_message():
    """As it was written, with the numbers where there are some."""
    with pytest.raises(AssertionError, match="water is wet"):
        require(0, "water is wet")
    with pytest.raises(AssertionError, match=r"equal: off by 1\.0e-01, allowed 1\.0e-02"):
        require_close([1.0, 2.0], [1.0, 2.1], 0.01, "equal")
    with pytest.raises(AssertionError, match=r"equal: shape \(2,\) instead of \(1,\)"):
        require_close([1.0, 2.0], [1.0], 0.01, "equal")
    with pytest.raises(AssertionError, match="off by nan"):
        require_close([float("nan")], [1.0], 0.01, "equal")


def test_only_our_own_errors_become_claims():
    """An accident in a part shows as it is."""

    def refuse():
        raise InputError("too few")

    assert answer_of(lambda: 3, "it answers") == 3
    with pytest.raises(AssertionError, match="it answers: too few"):
        answer_of(refuse, "it answers")
    with pytest.raises(ZeroDivisionError):
        answer_of(lambda: 1 / 0, "it answers")
