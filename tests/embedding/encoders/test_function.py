"""A function of the user's is an encoder like any other."""

import numpy as np
import pandas as pd
import pytest

from softspread import InputError, embed

TEXTS = ["a tree", "the bee", "three trees see", "x"] * 3


def letters(texts):
    """Length, and how many e."""
    return np.array([[len(text), text.count("e")] for text in texts])


def mean_colour(pixels):
    """(b, 3, height, width) to (b, 3)."""
    return pixels.mean(axis=(2, 3))


@pytest.mark.parametrize("source", [TEXTS, pd.DataFrame({"text": TEXTS})])
def test_a_function_encodes_texts(source):
    """From a list and from a frame, batch by batch."""
    space = embed(source, encoder=letters, reduce="none", batch_size=5)
    np.testing.assert_array_equal(space.X, letters(TEXTS))
    assert space.how["encoder"] == "letters"


def test_a_function_encodes_images(rng):
    """It gets pixels of one size, so that a uniform image keeps its colour."""
    pytest.importorskip("PIL")
    colours = rng.integers(0, 256, size=(7, 3), dtype=np.uint8)
    images = np.broadcast_to(colours[:, None, None], (7, 30, 20, 3))
    space = embed(images, encoder=mean_colour, reduce="none", batch_size=3)
    np.testing.assert_allclose(space.X, colours, atol=0.5)
    again = embed(images[:2], encoder=mean_colour, like=space)
    np.testing.assert_array_equal(again.X, space.X[:2])


@pytest.mark.parametrize("wrong", [lambda texts: [1.0], lambda texts: np.array([[str(t)] for t in texts])])
def test_an_answer_of_another_shape_is_refused(wrong):
    """The message says what the function is called with."""
    with pytest.raises(InputError, match=r"must turn 12 items into \(12, d\) numbers"):
        embed(TEXTS, encoder=wrong, reduce="none")


def test_nothing_is_cached_for_a_function(tmp_path):
    """A changed function would be answered by its old features."""
    with pytest.raises(InputError, match="leave cache out"):
        embed(TEXTS, encoder=letters, reduce="none", cache=tmp_path)


def test_new_items_need_the_same_function():
    """A space of letters does not place what another function makes."""
    space = embed(TEXTS, encoder=letters, reduce="none")
    with pytest.raises(InputError, match="embedded as the old ones were"):
        embed(TEXTS, encoder=lambda texts: letters(texts)[:, ::-1], like=space)
