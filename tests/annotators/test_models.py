"""Names of the annotator models."""

import subprocess
import sys

import pytest

from softspread import InputError, SoftLabeler
from softspread.annotators.models import ANNOTATOR_MODELS


def test_every_model_is_taken_and_no_other():
    """By the estimators that the names are for."""
    for name in ANNOTATOR_MODELS:
        SoftLabeler(annotator_model=name, n_neighbors=1).fit([[0.0], [1.0], [2.0]], [0, 1, -1])
    with pytest.raises(InputError, match="annotator_model"):
        SoftLabeler(annotator_model="psychic", n_neighbors=1).fit([[0.0], [1.0], [2.0]], [0, 1, -1])


def test_names_need_no_numerical_library():
    """A wrong one is refused at once."""
    code = "import sys, softspread.annotators.models; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
