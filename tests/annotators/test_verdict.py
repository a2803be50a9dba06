"""One definition of an annotator's verdict."""

import numpy as np
import pandas as pd
import pytest

from softspread.annotators.fit import MODEL
from softspread.annotators.verdict import CHECK, FOLLOWS, STRAYS, UNKNOWN, VERDICTS, flags, odd_first


def flags_of(probabilities):
    return flags(np.asarray(probabilities), MODEL.check_probability, MODEL.flag_probability).tolist()


def test_probability_becomes_a_flag():
    """Above one half: worth a look; above .97: does not follow."""
    assert flags_of([0.0, 0.5, 0.51, 0.97, 0.98]) == [FOLLOWS, FOLLOWS, CHECK, CHECK, STRAYS]


@pytest.mark.parametrize("spread", [0.02, 0.05, 0.07])
def test_nobody_whose_interval_lies_around_a_fifth_follows(spread):
    """A consistency of .22 (.11 to .34) is doubtful or worse, however it is distributed around .22."""
    grid = MODEL.consistency.grid
    density = np.exp(-0.5 * ((grid - 0.22) / spread) ** 2)
    density /= density.sum()
    assert flags_of([density[grid < MODEL.flag_below].sum()])[0] in (CHECK, STRAYS)


def test_every_flag_has_words_and_the_bad_ones_say_what_to_do():
    """Whoever is not fine gets an advice; nobody else does."""
    assert set(VERDICTS) == {FOLLOWS, CHECK, STRAYS, UNKNOWN}
    assert len({verdict.words for verdict in VERDICTS.values()}) == len(VERDICTS)
    assert {flag for flag, verdict in VERDICTS.items() if verdict.advice} == {CHECK, STRAYS}


def test_those_who_may_not_follow_come_first():
    """Each verdict by consistency; whoever is unknown stands among those who follow."""
    flag = [FOLLOWS, CHECK, UNKNOWN, STRAYS, CHECK]
    frame = pd.DataFrame({"flag": flag, "consistency": [0.9, 0.3, 0.5, 0.1, 0.2]}, index=list("abcde"))
    assert "".join(odd_first(frame).index) == "debca"
