"""What encoders of images share."""

import pytest

from softspread.embedding.encoders.encoder import ImageEncoder
from softspread.errors import InputError


def test_an_encoder_of_images_takes_one_batch_at_a_time_and_no_text():
    """Defaults that a new encoder may keep."""
    encoder = ImageEncoder()
    encoder.name = "mine"
    assert encoder.takes == ("image",)
    assert encoder.resize is None
    assert encoder.facts() == {}
    with encoder.running(8) as at_once:
        assert at_once == 1
    with pytest.raises(InputError, match="encoder 'mine' takes images, got text"):
        encoder.encode_texts(["a cat"])
