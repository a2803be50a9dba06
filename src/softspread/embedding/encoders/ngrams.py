"""Text without a model: hashed n-grams of letters and words, for a reducer such as PCA (an SVD).

    text  ->  counts of letter n-grams and of words, hashed into columns, each half of length 1  ->  (b, d)

It knows spelling and words, not meaning: texts on one topic that share no words are far apart. Nothing is
learned and nothing downloaded, so that new texts are encoded as the first ones were.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softspread.embedding.preparation import Pixels, Preparation, Resizer
from softspread.errors import InputError

COLUMNS = 2048  # half for letters, half for words: few collisions in short texts, and an SVD of it is quick
SMALLEST, LARGEST = 2, 65536  # columns: one for letters and one for words; 256 KiB per text
LETTERS = (3, 5)  # n-grams inside words: endings, typing errors and compounds still meet
WORDS = (1, 2)  # n-grams of words: single ones and pairs, such as 'not good'
VERSION = 1  # raise when the same text no longer gives the same features


class NgramsEncoder:
    """Hashed n-grams of letters and words."""

    takes: tuple[str, ...] = ("text",)
    preparation: Preparation | None = None
    resize: Resizer | None = None

    def __init__(self, columns: int = COLUMNS) -> None:
        from sklearn.feature_extraction.text import HashingVectorizer

        self.name = f"ngrams:{columns}"
        self.fingerprint = f"ngrams:{columns}:{VERSION}"
        self._halves = [
            HashingVectorizer(analyzer=unit, ngram_range=lengths, n_features=columns // 2, dtype=np.float32)
            for unit, lengths in (("char_wb", LETTERS), ("word", WORDS))
        ]

    def running(self, n_threads: int) -> AbstractContextManager[int]:
        """One batch at a time."""
        del n_threads
        return nullcontext(1)

    def encode_images(self, pixels: Pixels) -> NDArray[np.float32]:
        """Refuse images."""
        del pixels
        raise InputError(f"encoder {self.name!r} takes text, got images; use 'pixels' or 'clip'.")

    def encode_texts(self, texts: list[str]) -> NDArray[np.float32]:
        """Each text by its n-grams; a text without any is 0."""
        parts = [half.transform(texts).toarray() for half in self._halves]
        return np.ascontiguousarray(np.hstack(parts), dtype=np.float32)

    def facts(self) -> dict[str, Any]:
        """Nothing worth recording but the name."""
        return {}


def ngrams_encoder(name: str, **unused: Any) -> NgramsEncoder:
    """The encoder of "ngrams", or "ngrams:4096" for another number of columns than 2048."""
    del unused
    digits = name.removeprefix("ngrams").removeprefix(":") or str(COLUMNS)
    if not digits.isdecimal() or not SMALLEST <= int(digits) <= LARGEST or int(digits) % 2:
        raise InputError(
            f"encoder {name!r} is unknown; write 'ngrams' or 'ngrams:4096', an even number of columns from "
            f"{SMALLEST} to {LARGEST}."
        )
    return NgramsEncoder(int(digits))
