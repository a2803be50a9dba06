"""Encoders without a model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.embed import EncodingOptions, embed, encode
from softspread.embedding.encoders.pixels import NoEncoder, PixelsEncoder, pixels_encoder
from softspread.errors import InputError


def test_pixels_are_the_image_itself():
    """An image of the wanted size comes out as its own bytes over 255."""
    images = np.random.default_rng(0).integers(0, 256, size=(5, 8, 8, 3), dtype=np.uint8)
    assert_allclose(
        embed(images, encoder="pixels:8", reduce="none").X, images.reshape(5, -1) / 255, rtol=1e-6
    )


def test_features_that_exist_pass_through():
    """Encoder none takes numbers as they are."""
    F = np.random.default_rng(0).normal(size=(12, 4))
    encoded = encode(F, "none", EncodingOptions())
    assert_allclose(encoded.F, F, rtol=1e-6)


def test_values_that_are_not_finite_are_not_passed_on(pictures, monkeypatch):
    """An encoder that overflows is reported with the item."""
    monkeypatch.setattr(
        PixelsEncoder, "encode_images", lambda self, pixels: np.full((len(pixels), 2), np.nan, "f4")
    )
    with pytest.raises(InputError, match=r"not finite for 20 items.*--no-half"):
        embed(pictures, encoder="pixels", reduce="none")


def test_text_is_refused():
    """Pixels are of images."""
    for encoder in (PixelsEncoder(), NoEncoder()):
        with pytest.raises(InputError, match=f"encoder '{encoder.name}' takes images, got text"):
            encoder.encode_texts(["a cat"])


@pytest.mark.parametrize("name", ["pixels:0", "pixels:1025", "pixels:x"])
def test_impossible_sizes_are_refused(name):
    """From 1 to 1024."""
    with pytest.raises(InputError, match="of size 1 to 1024"):
        pixels_encoder(name)
