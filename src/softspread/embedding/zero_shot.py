"""A prior from the names of the classes alone: how well each image fits a sentence about each class.

    p[i, c] = softmax over c of  t cos(image_i, text_c)
    text_c of "an image of a {class}",  t the model's temperature

The paper's zero-shot baseline, and by ``prior=`` pseudo-votes for the estimator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common import validation
from softspread._common.arrow import arrow
from softspread._common.types import AnyArray, FloatArray
from softspread.embedding.embed import BATCH_SIZE, EncodedItems, EncodingOptions, Source, encode, unit_length
from softspread.embedding.encoders.encoder import Encoder
from softspread.errors import InputError
from softspread.io.parquet import arrow_names, write_parquet

PLACE = "{class}"
TEMPLATES = {
    "default": "an image of a {class}",
    "emnist-digits": "A black and white image of the handwritten digit {class}",
    "mtsd": "an image of a street sign in the shape of a {class}",
}


@dataclass(frozen=True, slots=True, eq=False)
class ZeroShot:
    """Class probabilities from class names."""

    item_ids: AnyArray  # (n,)
    classes: AnyArray  # (n_classes,)
    p: FloatArray  # (n, n_classes), rows sum to 1

    def to_frame(self) -> pd.DataFrame:
        """Columns item, p_<class>..."""
        columns = {f"p_{name}": self.p[:, place] for place, name in enumerate(self.classes)}
        return pd.DataFrame({"item": self.item_ids, **columns})

    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write the table as Parquet, with facts of its making inside."""
        pa = arrow(what=str(path))
        names = [f"p_{name}" for name in self.classes]
        arrays = [arrow_names(self.item_ids), *map(pa.array, self.p.T)]
        write_parquet(path, pa.table(arrays, names=["item", *names]), about)


def zero_shot(
    source: Source,
    classes: ArrayLike,
    *,
    template: str | Sequence[str] = "default",
    encoder: str | Path = "clip",
    column: str | None = None,
    id_column: str | None = None,
    root: str | Path | None = None,
    batch_size: int = BATCH_SIZE,
    device: str = "auto",
    half: bool | None = None,
    skip_corrupt: bool = False,
    cache: str | Path | None = None,
    download: bool = False,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> FloatArray:
    """Class probabilities of images from class names, for ``prior=`` of the estimator.

    Parameters
    ----------
    source : path, frame, array or list
        The images, as in :func:`embed`.
    classes : (n_classes,) sequence
        Names, in the order of the estimator's classes.
    template : str or sequence of str, default "default"
        A sentence with {class} in it, the name of one ("default", "emnist-digits", "mtsd"), or several
        sentences, whose directions are averaged.
    encoder : str or Path, default "clip"
        A model of images and text: "clip", another one by name, or a folder.
    column : str, optional
        Column of a table that holds paths; found by its usual names.
    id_column : str, optional
        Column of a table that holds ids; found by its usual names.
    root : str or Path, optional
        Folder that relative paths start from. By default the table's folder or the current one.
    batch_size : int, default 32
        Images that the encoder takes at once.
    device : str, default "auto"
        "cpu", "cuda", "cuda:1", "mps", or "auto": the best one available.
    half : bool, optional
        Half precision, on CUDA only and by default there.
    skip_corrupt : bool, default False
        Leave unreadable images out; otherwise they are an error.
    cache : str or Path, optional
        Folder that keeps features; an interrupted run continues from there.
    download : bool, default False
        Whether a model that is not on this machine may be fetched.
    n_jobs : int, optional
        Threads that read and decode; by default all cores.
    verbose : bool, default False
        Show progress on standard error.

    Returns
    -------
    (n, n_classes) array
        Probabilities in the order of the images; rows sum to 1.

    See Also
    --------
    classifier_prior : A prior from a classifier trained on the votes.
    better_of : Keeps a prior only where held-out votes say that it helps.

    Examples
    --------
    The encoder must know both images and words; others are refused.

    >>> import numpy as np
    >>> from softspread import InputError
    >>> try:
    ...     zero_shot(np.zeros((2, 8, 8), np.uint8), ["cat", "dog"], encoder="pixels:8")
    ... except InputError as error:
    ...     print(error)
    zero-shot needs a model of images and text such as 'clip', got 'pixels:8'.
    """
    options = EncodingOptions(batch_size, device, half, skip_corrupt, cache, download, n_jobs, verbose)
    prompts(classes, template)  # wrong sentences are refused before hours of encoding
    encoded = encode(source, encoder, options, column=column, id_column=id_column, root=root)
    return zero_shot_of(encoded, classes, template).p


def zero_shot_of(
    encoded: EncodedItems, classes: ArrayLike, template: str | Sequence[str] = "default"
) -> ZeroShot:
    """The same from features that are there already."""
    if encoded.items.kind != "image":
        raise InputError("zero-shot needs images; got text or features.")
    names = validation.class_names(classes)
    temperature = temperature_of(encoded.encoder)
    texts = prompts(classes, template)
    directions = unit_length(
        np.stack([unit_length(encoded.encoder.encode_texts(row)).mean(axis=0) for row in texts])
    )
    scores = temperature * (unit_length(encoded.F).astype(np.float64) @ directions.T.astype(np.float64))
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return ZeroShot(encoded.ids, names, np.asarray(p / p.sum(axis=1, keepdims=True)))


def temperature_of(encoder: Encoder) -> float:
    """The encoder's factor of cosines; encoders that do not join images and text are refused."""
    temperature = getattr(encoder, "temperature", None)
    if temperature is None:
        raise InputError(f"zero-shot needs a model of images and text such as 'clip', got {encoder.name!r}.")
    return float(temperature)


def prompts(classes: ArrayLike, template: str | Sequence[str]) -> list[list[str]]:
    """One list of sentences per class."""
    given = [template] if isinstance(template, str) else list(template)
    sentences = [TEMPLATES.get(sentence, sentence) for sentence in given]
    for sentence in sentences:
        if PLACE not in sentence:
            raise InputError(
                f"a template must hold {PLACE}, or be one of {', '.join(TEMPLATES)}, got {sentence!r}."
            )
    names = validation.class_names(classes)
    if len(names) < 2 or not sentences:
        raise InputError(
            f"zero-shot needs at least 2 classes and a template, got {len(names)} and {len(sentences)}."
        )
    return [[sentence.replace(PLACE, str(name)) for sentence in sentences] for name in names]
