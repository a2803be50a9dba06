"""The names of the methods, and what they stand for."""

import subprocess
import sys

import pytest

from softspread import ProbabilisticLabelSpreading, SoftLabeler
from softspread.errors import InputError
from softspread.estimators.methods import METHODS, estimator_of, method_of


def test_the_default_is_the_recommended_estimator():
    """auto and blend are SoftLabeler, pls is the paper's method; every name has an estimator."""
    found = {name: estimator_of(name) for name in METHODS}
    assert found == {"auto": SoftLabeler, "blend": SoftLabeler, "pls": ProbabilisticLabelSpreading}
    assert METHODS[0] == "auto"


def test_another_name_is_refused_with_all_that_are_allowed():
    """The message says what each is."""
    with pytest.raises(InputError, match="method must be one of auto, blend, pls, got 'best'"):
        method_of("best")


def test_a_name_is_checked_without_the_numerical_libraries():
    """So that a typo costs no time."""
    code = (
        "import sys; from softspread.estimators.methods import method_of; method_of('auto')\n"
        "assert not {'numpy', 'scipy', 'sklearn', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
