"""The suite for encoders: built-in ones pass, and every broken promise is noticed."""

from itertools import count

import numpy as np
import pytest

from softspread.embedding.encoders.pixels import PixelsEncoder
from softspread.testing import check_encoder


@pytest.mark.parametrize("name", ["pixels", "pixels:8", "none"])
def test_encoders_without_a_model_pass(name):
    """Pixels of any size, and features that exist already."""
    check_encoder(name)


def made(**changes):
    """A factory of encoders that differ from plain pixels."""

    def make(name, *, device, half, download):
        encoder = PixelsEncoder(8)
        for attribute, value in changes.items():
            setattr(encoder, attribute, value)
        return encoder

    return make


def centred(pixels):
    features = PixelsEncoder(8).encode_images(pixels)
    return features - features.mean(axis=0)


def doubled(pixels):
    return np.repeat(PixelsEncoder(8).encode_images(pixels), 2, axis=0)


def precise(pixels):
    return PixelsEncoder(8).encode_images(pixels).astype(float)


def unknown(pixels):
    return np.full((len(pixels), 3), np.nan, dtype=np.float32)


def greedy(pixels):
    features = PixelsEncoder(8).encode_images(pixels)
    if len(pixels) > 1:
        pixels[:] = 0
    return features


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (made(name=""), "an encoder has a name"),
        (made(takes=("sound",)), "takes names some of"),
        (made(takes=()), "takes names some of"),
        (made(preparation=None), "says how they are prepared"),
        (made(facts=lambda: {"shape": (1, 2)}), "facts are what JSON can hold"),
        (made(encode_images=centred), "images alone have the same features"),
        (made(encode_images=doubled), "4 images give 4 rows"),
        (made(encode_images=precise), "in single precision"),
        (made(encode_images=unknown), "features of images are finite"),
        (made(encode_images=greedy), "images stay as they are"),
    ],
)
def test_a_broken_promise_is_named(broken, promise):
    """The message says which one."""
    with pytest.raises(AssertionError, match=promise):
        check_encoder(broken)


def test_a_fingerprint_may_not_change_by_itself():
    """Otherwise kept features would never be used again."""
    numbers = count()

    def moody(name, **how):
        encoder = PixelsEncoder(8)
        encoder.fingerprint = str(next(numbers))
        return encoder

    with pytest.raises(AssertionError, match="the same encoder has the same fingerprint"):
        check_encoder(moody)


def test_texts_are_checked_too():
    """An encoder of text that looks at the whole batch is noticed."""

    def lengths(texts):
        found = np.array([[len(text), len(texts)] for text in texts], dtype=np.float32)
        return found

    check_encoder(made(takes=("text",), encode_texts=lambda texts: lengths(texts)[:, :1]))
    with pytest.raises(AssertionError, match="texts alone have the same features"):
        check_encoder(made(takes=("text",), encode_texts=lengths))
