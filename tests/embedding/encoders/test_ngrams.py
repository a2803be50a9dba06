"""Text without a model: what shares words and spelling is near."""

import numpy as np
import pytest

from softspread import InputError, embed
from softspread.embedding.encoders.ngrams import NgramsEncoder, ngrams_encoder
from softspread.testing import check_encoder

ANIMALS = ["the cat sleeps on the mat", "cats and dogs sleep", "a sleeping cat", "the dog chased the cats"]
MONEY = [
    "the bank raised its rates",
    "interest rates fell at banks",
    "raise the interest rate",
    "a bank pays interest",
]


def test_it_keeps_the_promises_of_encoders():
    """The suite that all encoders pass."""
    check_encoder("ngrams")
    check_encoder("ngrams:64")


def test_texts_that_share_words_are_near():
    """Every text is nearer to the mean of its own topic than to that of the other."""
    X = NgramsEncoder().encode_texts(ANIMALS + MONEY)
    own = np.repeat([0, 1], 4)
    for row in range(8):
        means = [X[(own == topic) & (np.arange(8) != row)].mean(axis=0) for topic in (0, 1)]
        distances = [np.linalg.norm(X[row] - mean) for mean in means]
        assert distances[own[row]] == min(distances)


def test_each_half_has_length_one_and_empty_text_is_zero():
    """Long texts weigh no more than short ones, letters no more than words."""
    X = NgramsEncoder(256).encode_texts(["cat", "cat " * 50 + "dog", ""])
    np.testing.assert_allclose(np.linalg.norm(X[:2].reshape(2, 2, 128), axis=2), 1, rtol=1e-6)
    assert not X[2].any()


def test_texts_become_a_small_space():
    """Through embed, as a user would: an SVD of the n-grams, and new texts in the same space."""
    space = embed(ANIMALS + MONEY, encoder="ngrams", reduce="pca", dim=2)
    assert space.X.shape == (8, 2)
    assert space.how["encoder"] == "ngrams:2048"
    assert embed(["a cat"], encoder="ngrams", like=space).X.shape == (1, 2)


def test_wrong_sizes_and_images_are_refused():
    """With what is allowed."""
    for name in ("ngrams:0", "ngrams:7", "ngrams:many", "ngrams:131072"):
        with pytest.raises(InputError, match="an even number of columns from 2 to 65536"):
            ngrams_encoder(name)
    with pytest.raises(InputError, match="takes text, got images; use 'pixels'"):
        NgramsEncoder(8).encode_images(np.zeros((1, 3, 2, 2), dtype=np.uint8))
