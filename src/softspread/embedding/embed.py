"""All of it in one call: items -> encoder -> features -> reducer -> X.

find_items -> load_batches -> encoder -> FeatureStore -> fit_reducer -> Embedding
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from softspread._common import validation
from softspread._common.progress import progress_bar, spinner
from softspread._common.threads import count_threads
from softspread._common.types import AnyArray, BoolArray, IntArray
from softspread._common.versions import version_of
from softspread.embedding.encoders.encoder import Encoder
from softspread.embedding.encoders.function import Encode
from softspread.embedding.encoders.registry import find_encoder
from softspread.embedding.feature_store import FeatureStore
from softspread.embedding.items import Items, check_source, find_items
from softspread.embedding.loader import Batch, Skipped, in_order, load_batches
from softspread.embedding.reducers.by_name import check_reducer, fit_reducer
from softspread.embedding.result import Embedding
from softspread.errors import InputError

BATCH_SIZE = 32  # items that an encoder sees at once
DIMENSIONS = 20  # the paper's choice
SHOWN = 5  # unreadable items that an error names
SMALLEST_NORM = 1e-12  # of a vector that is divided by its length

Features = NDArray[np.float32]
Source = str | Path | pd.DataFrame | ArrayLike | Sequence[Any]


@dataclass(frozen=True, slots=True)
class EncodingOptions:
    """How to run an encoder; nothing here but ``half`` changes the features."""

    batch_size: int = BATCH_SIZE
    device: str = "auto"
    half: bool | None = None
    skip_corrupt: bool = False
    cache: str | Path | None = None
    download: bool = False
    n_jobs: int | None = None
    verbose: bool = False

    def __post_init__(self) -> None:
        validation.count("batch_size", self.batch_size, 1)


@dataclass(frozen=True, slots=True, eq=False)
class EncodedItems:
    """Features of all readable items."""

    items: Items
    kept: IntArray  # (m,) rows of the items that were read
    F: Features  # (m, d)
    skipped: tuple[Skipped, ...]
    encoder: Encoder

    @property
    def ids(self) -> AnyArray:
        """(m,) ids of the items that were read."""
        return self.items.ids[self.kept]


def embed(
    source: Source,
    *,
    encoder: str | Path | Encode = "clip",
    reduce: str = "auto",
    dim: int = DIMENSIONS,
    column: str | None = None,
    id_column: str | None = None,
    item_ids: ArrayLike | None = None,
    root: str | Path | None = None,
    normalize: bool = False,
    batch_size: int = BATCH_SIZE,
    device: str = "auto",
    half: bool | None = None,
    skip_corrupt: bool = False,
    cache: str | Path | None = None,
    download: bool = False,
    like: Embedding | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    verbose: bool = False,
) -> Embedding:
    """Turn images or text into a space for the graph.

    Parameters
    ----------
    source : path, frame, array or list
        A folder of images (searched also inside; ids are relative paths), a CSV, TSV, Parquet or JSONL table
        or a frame (a column of paths or of text), an array (n, height, width[, channels]) of images or a .npy
        file of it, a list of paths, texts, arrays or Pillow images; with ``encoder="none"`` features
        (n, d).
    encoder : str, Path or function, default "clip"
        "clip", "vit", "resnet", "efficientnet", "dinov2", "sentence", a Hugging Face name, a folder with such
        a model, a file ending in .onnx, "pixels" ("pixels:28" for another size than 32), "ngrams" for
        text without a model, the name of a plug-in, or "none". A function takes a list of texts, or the
        pixels of images (b, 3, 224, 224) from 0 to 255, to features (b, d): ``encoder=model.encode``.
    reduce : str, default "auto"
        "umap", "pca", "isomap", "none", the name of a plug-in, or "auto": UMAP up to 500,000 items, PCA
        beyond.
    dim : int, default 20
        Dimensions of the space.
    column : str, optional
        Column of a table that holds paths or text; found by its usual names.
    id_column : str, optional
        Column of a table that holds ids; found by its usual names.
    item_ids : (n,) array-like, optional
        Ids of the items. By default the relative paths, the table's ids, or positions.
    root : str or Path, optional
        Folder that relative paths in a table or list start from. By default the table's folder or the current
        one.
    normalize : bool, default False
        Scale the encoder's features to length 1 before reducing them.
    batch_size : int, default 32
        Items that the encoder takes at once.
    device : str, default "auto"
        "cpu", "cuda", "cuda:1", "mps", or "auto": the best one available.
    half : bool, optional
        Half precision, on CUDA only and by default there.
    skip_corrupt : bool, default False
        Leave unreadable images out and list them in ``skipped``; otherwise they are an error.
    cache : str or Path, optional
        Folder that keeps features; an interrupted run continues from there. Not with a function, as nothing
        says when its answers change.
    download : bool, default False
        Whether a model that is not on this machine may be fetched.
    like : Embedding, optional
        Place new items in this embedding's space: its reducer is used, not fitted.
    n_jobs : int, optional
        Threads that read and decode; by default all cores.
    random_state : int, default 0
        Seed of the reducer.
    verbose : bool, default False
        Show progress on standard error.

    Returns
    -------
    Embedding
        Ids, places and the fitted reducer.

    See Also
    --------
    compare_spaces : Rates several embeddings of the same items.
    zero_shot : Class probabilities from the names of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.random.default_rng(0).integers(0, 256, size=(40, 16, 16, 3), dtype=np.uint8)
    >>> space = embed(images, encoder="pixels:8", reduce="pca", dim=5)
    >>> space.X.shape, space.X.dtype.name
    ((40, 5), 'float32')
    >>> embed(images[:3], encoder="pixels:8", like=space).X.shape
    (3, 5)
    """
    if like is None:
        check_reducer(reduce)
    validation.count("dim", dim, 1)
    seed = validation.count("random_state", random_state)
    options = EncodingOptions(batch_size, device, half, skip_corrupt, cache, download, n_jobs, verbose)
    encoded = encode(
        source, encoder, options, column=column, id_column=id_column, item_ids=item_ids, root=root
    )
    return reduce_encoded(encoded, reduce, dim, seed, normalize=normalize, like=like, verbose=verbose)


def encode(
    source: Source, encoder: str | Path | Encode, options: EncodingOptions, **where: Any
) -> EncodedItems:
    """Features of all items; ``where`` as in :func:`~softspread.embedding.items.find_items`."""
    check_source(source)
    if callable(encoder) and options.cache is not None:
        raise InputError(
            "cache keeps features for the model that made them, and a function does not say when its answers "
            "change; leave cache out, or keep the features yourself and pass encoder='none'."
        )
    model = find_encoder(encoder, device=options.device, half=options.half, download=options.download)
    items = find_items(source, model.takes, **where)
    return encode_items(items, model, options)


def encode_items(items: Items, model: Encoder, options: EncodingOptions) -> EncodedItems:
    """Features by a loaded encoder."""
    if items.kind == "features":
        F = np.asarray(items.contents.values, dtype=np.float32)  # type: ignore[attr-defined]
        return EncodedItems(items, np.arange(len(items)), F, (), model)
    store = FeatureStore(None if options.cache is None else Path(options.cache), _key_facts(items, model))
    collected = _Collected(len(items))
    for rows, features in store.recall(items):
        collected.put(rows, features)
    missing = np.flatnonzero(~collected.done)
    known = len(items) - len(missing)
    text = "embedding" if not known else f"embedding ({known:,} known)"
    with progress_bar(text, len(missing), options.verbose and len(missing) > 0, "items") as advance:
        try:
            _fill(collected, items, _in_good_order(items, missing), model, store, options, advance)
        finally:
            store.flush()  # also when interrupted: what is done is done
    skipped = tuple(Skipped(items.ids[row], reason) for row, reason in sorted(collected.failures))
    if skipped and not options.skip_corrupt:
        raise InputError(_complaint(skipped, len(items), items.source))
    if collected.F is None or not collected.done.any():
        raise InputError(
            f"none of the {len(items)} images in {items.source} can be read: {_listed(skipped)}."
        )
    kept = np.flatnonzero(collected.done)
    F = collected.F if len(kept) == len(items) else collected.F[kept]
    bad = np.flatnonzero(~np.isfinite(F).all(axis=1))
    if len(bad):
        raise InputError(
            f"encoder {model.name!r} gave values that are not finite for {len(bad)} items, such as "
            f"{items.ids[kept[bad[0]]]!r}; switch half precision off (half=False, --no-half) or check the "
            "model."
        )
    return EncodedItems(items, kept, F, skipped, model)


def reduce_encoded(
    encoded: EncodedItems,
    reduce: str,
    dim: int,
    seed: int,
    *,
    normalize: bool = False,
    like: Embedding | None = None,
    verbose: bool = False,
) -> Embedding:
    """Features to a space."""
    F = unit_length(encoded.F) if normalize else encoded.F
    how = describe(encoded, normalize)
    if like is not None:
        _check_alike(like, how)
        X = like.transform(F)
        return Embedding(encoded.ids, X, {**like.how, **how}, like.reducer, encoded.skipped)
    with spinner(f"reducing {F.shape[1]} features of {len(F):,} items to {dim} ...", verbose):
        reducer, X = fit_reducer(F, reduce, dim, seed)
    how |= {"reducer": reducer.name, "dim": X.shape[1], "seed": seed, "reducer_settings": reducer.facts()}
    if reducer.name == "umap":
        how["umap-learn"] = version_of("umap-learn")
    return Embedding(encoded.ids, X, how, reducer, encoded.skipped)


def describe(encoded: EncodedItems, normalize: bool) -> dict[str, Any]:
    """How features were made, for the record."""
    model = encoded.encoder
    preparation = (
        None if model.preparation is None or encoded.items.kind != "image" else model.preparation.facts()
    )
    return {
        "encoder": model.name,
        "weights": model.fingerprint,
        "kind": encoded.items.kind,
        "n_features": int(encoded.F.shape[1]),
        "normalized": normalize,
        "preparation": preparation,
        "encoder_settings": model.facts(),
        "skipped": len(encoded.skipped),
        "softspread": version_of("softspread"),
    }


def unit_length(F: Features) -> Features:
    """Rows scaled to length 1; a row of zeros stays."""
    return np.asarray(
        F / np.maximum(np.linalg.norm(F, axis=1, keepdims=True), SMALLEST_NORM), dtype=np.float32
    )


class _Collected:
    """Features as they come in, and what could not be read."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.F: Features | None = None
        self.done: BoolArray = np.zeros(n, dtype=np.bool_)
        self.failures: list[tuple[int, str]] = []

    def put(self, rows: IntArray, features: Features) -> None:
        if not len(rows):
            return
        if self.F is None:
            self.F = np.empty((self.n, features.shape[1]), dtype=np.float32)
        self.F[rows] = features
        self.done[rows] = True


def _fill(
    collected: _Collected,
    items: Items,
    rows: IntArray,
    model: Encoder,
    store: FeatureStore,
    options: EncodingOptions,
    advance: Callable[[int], None],
) -> None:
    n_threads = count_threads(options.n_jobs)
    batches = load_batches(
        items,
        rows,
        model.preparation if items.kind == "image" else None,
        batch_size=options.batch_size,
        resize=model.resize,
        n_threads=n_threads,
        is_known=store.is_known if store.remembers else None,
    )

    def needed() -> Iterator[Batch]:
        for batch in batches:
            collected.failures += batch.failures
            # Where nothing is kept and the run will end in an error anyway, only look for further unreadable
            # items.
            if options.skip_corrupt or store.remembers or not collected.failures:
                yield batch
            else:
                advance(len(batch.rows))

    with model.running(n_threads) as at_once, closing(batches):
        for batch, features in in_order(lambda batch: _encoded(batch, model), needed(), at_once):
            _keep(batch, features, collected, items, model, store)
            advance(len(batch.rows))


def _encoded(batch: Batch, model: Encoder) -> Features | None:
    """Features of the items that must be encoded, (ready, d)."""
    if not batch.ready.any():
        return None
    inputs = batch.to_encode()
    return model.encode_texts(inputs) if isinstance(inputs, list) else model.encode_images(inputs)


def _keep(
    batch: Batch,
    features: Features | None,
    collected: _Collected,
    items: Items,
    model: Encoder,
    store: FeatureStore,
) -> None:
    if features is not None:
        collected.put(batch.rows[batch.ready], features)
        store.add(batch.digests[batch.ready], batch.stamps[batch.ready], features)
    for place in np.flatnonzero(batch.known):
        known = store.fetch(batch.digests[place])
        if known is not None:
            collected.put(batch.rows[place : place + 1], known[None])
        else:  # another content with the same first half of its digest, or a part that went away meanwhile
            again = load_batches(
                items,
                batch.rows[place : place + 1],
                model.preparation if items.kind == "image" else None,
                batch_size=1,
                n_threads=1,
                resize=model.resize,
                is_known=lambda mark: False,
            )
            alone = next(again)
            _keep(alone, _encoded(alone, model), collected, items, model, store)


def _in_good_order(items: Items, rows: IntArray) -> IntArray:
    """Texts of like length together, so that little is padded; images as they lie on the disk."""
    if items.kind != "text":
        return rows
    lengths = np.array([len(items.contents.read(int(row))) for row in rows])
    return rows[np.argsort(lengths, kind="stable")]


def _key_facts(items: Items, model: Encoder) -> dict[str, Any]:
    preparation = (
        model.preparation.facts() if items.kind == "image" and model.preparation is not None else None
    )
    half = getattr(model, "half", False)
    return {"weights": model.fingerprint, "kind": items.kind, "preparation": preparation, "half": half}


def _check_alike(like: Embedding, how: dict[str, Any]) -> None:
    for fact in ("weights", "kind", "normalized"):
        if fact in like.how and like.how[fact] != how[fact]:
            raise InputError(
                f"new items must be embedded as the old ones were: {fact} was {like.how[fact]!r} "
                f"(encoder {like.how.get('encoder')!r}), now {how[fact]!r}."
            )


def _complaint(skipped: tuple[Skipped, ...], n: int, source: str) -> str:
    missing = sum("No such file" in entry.reason for entry in skipped)
    hint = (
        " Paths are read relative to the table's folder; set another with --root (root=)."
        if missing == n
        else ""
    )
    return (
        f"{len(skipped)} of {n} images in {source} cannot be read: {_listed(skipped)}.{hint} "
        "Repair them, or leave them out with --skip-corrupt (skip_corrupt=True)."
    )


def _listed(skipped: tuple[Skipped, ...]) -> str:
    shown = "; ".join(f"{entry.item_id} ({entry.reason})" for entry in skipped[:SHOWN])
    return shown + (f"; and {len(skipped) - SHOWN} more" if len(skipped) > SHOWN else "")
