"""Short names of models."""

import re

from softspread.embedding.encoders.known_models import KNOWN
from softspread.embedding.encoders.registry import ENCODERS


def test_every_short_name_is_an_encoder_and_stands_for_a_model_on_the_hub():
    """The hub calls a model owner/name; no two short names stand for one model."""
    assert set(KNOWN) <= set(ENCODERS.names())
    assert all(re.fullmatch(r"[\w.-]+/[\w.-]+", address) for address in KNOWN.values())
    assert len(set(KNOWN.values())) == len(KNOWN)
