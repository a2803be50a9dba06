"""``softspread embed``: turn images or text into a space for the graph."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.cli.options import ThreadsOption, option
from softspread.cli.runner import Run, command, print_table
from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.embedding.embed import EncodedItems, EncodingOptions
    from softspread.embedding.result import Embedding

DEFAULT_ENCODER = "clip"
CACHE_NAME = ".softspread-cache"
SKIPPED_SHOWN = 20  # unreadable images that are listed before the rest is counted


@dataclass(frozen=True, slots=True)
class SpaceOptions:
    """The space to make."""

    encoder: Annotated[
        str | None,
        option(
            "{encoders}, a Hugging Face name, a model folder or a .onnx file; clip unless given. With "
            "--check several, joined by commas."
        ),
    ] = None
    reduce: Annotated[
        str,
        option("{reducers}; auto: umap up to 500,000 items, then pca. With --check several."),
    ] = "auto"
    dim: Annotated[str, option("Dimensions of the space. With --check several: 5,20,50.")] = "20"
    normalize: Annotated[bool, option("Scale features to length 1 before reducing.", "--normalize")] = False


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How the items stand in a table."""

    column: Annotated[str | None, option("Column of paths or text in the table.")] = None
    id_column: Annotated[str | None, option("Column of ids; else item, id, or the path.")] = None
    root: Annotated[Path | None, option("Folder that paths in the table start from.")] = None


@dataclass(frozen=True, slots=True)
class EncoderOptions:
    """How the encoder runs."""

    batch_size: Annotated[int, option("Items encoded at once.", min=1)] = 32
    device: Annotated[str, option("auto, cpu, cuda, cuda:1, mps.")] = "auto"
    half: Annotated[bool | None, option("Half precision; default: on CUDA.", "--half/--no-half")] = None
    skip_corrupt: Annotated[bool, option("Leave out images that cannot be read.", "--skip-corrupt")] = False
    cache: Annotated[
        Path | None,
        option(f"Folder that keeps features; default: {CACHE_NAME} in the workspace or beside the output."),
    ] = None
    no_cache: Annotated[bool, option("Keep no features; a killed run starts over.", "--no-cache")] = False
    download: Annotated[bool, option("Fetch the model if it is not here.", "--download")] = False
    threads: ThreadsOption = None

    def encoding(self, run: Run, out: Path | None) -> "EncodingOptions":
        """The same as the library takes it."""
        from softspread.embedding.embed import EncodingOptions

        beside = Path() if out is None else out.parent
        place = beside if run.workspace is None else run.workspace.folder
        given = dataclasses.asdict(self)
        cache = None if given.pop("no_cache") else given.pop("cache") or place / CACHE_NAME
        given |= {"cache": cache, "n_jobs": given.pop("threads"), "verbose": not run.common.quiet}
        return EncodingOptions(**given)


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Rating spaces instead of writing one."""

    check: Annotated[bool, option("Compare spaces in a table instead of writing one.", "--check")] = False
    votes: Annotated[Path | None, option("For --check: votes, as spread reads them.")] = None
    classes: Annotated[
        str | None, option("For --check: 'folder', a column, or a table with item, label.")
    ] = None


@command(own=("out", "classes", "id_column", "batch_size", "data"))
def embed(
    run: Run,
    source: Annotated[
        str,
        typer.Argument(
            metavar="IMAGES|TABLE|DATASET",
            help="A folder of images, a table, a .npy array, or with --data the name of a dataset.",
        ),
    ],
    space: SpaceOptions,
    table: TableOptions,
    encoder_options: EncoderOptions,
    checking: CheckOptions,
    out: Annotated[
        Path | None,
        option(
            "Where to write item and x (.parquet, extra parquet); with --check the table (.csv).",
            "--out",
            "-o",
        ),
    ] = None,
    like: Annotated[Path | None, option("Place new items in the space of this embedding.")] = None,
    zero_shot: Annotated[
        str | None,
        option("Classes joined by commas, or a .txt file with one per line: also write a prior."),
    ] = None,
    template: Annotated[str, option("Sentence with {class}, or default, emnist-digits, mtsd.")] = "default",
    data: Annotated[
        Path | None,
        option("Folder above that of a dataset by name; its features are written into the dataset's folder."),
    ] = None,
) -> None:
    """Turn images or text into a space for the graph.

    An interrupted run resumes where it stopped. Models are only fetched with --download.

    Example: softspread embed photos/ --encoder clip --reduce umap --dim 20 -o X.parquet

    Example: softspread embed photos/ --check --votes votes.csv --reduce umap,pca --dim 10,20

    Example: softspread embed cifar10h --data data --encoder clip,pixels --reduce umap,pca --dim 5,20
    """
    if data is not None:
        if out is not None or like is not None or zero_shot is not None or checking.check:
            raise InputError(
                "--data writes into the dataset's folder; leave out --out, --like, --zero-shot, --check."
            )
        embed_dataset(run, source, data, space, encoder_options)
        return
    _check_name(source)
    from softspread._common.arrow import check_parquet
    from softspread._common.atomic import check_target

    allowed = (".csv", ".parquet") if checking.check else (".parquet",)
    if out is not None and out.suffix not in allowed:
        raise InputError(f"--out must end in {' or '.join(allowed)}, got {out.name!r}.")
    if out is not None:
        check_target(out)
        check_parquet(out)

    from softspread.embedding import embed as embedding

    options = encoder_options.encoding(run, out)

    def encode(name: str) -> "EncodedItems":
        return embedding.encode(source, name, options, **dataclasses.asdict(table))

    def reduce(encoded: "EncodedItems", reducer: str, dim: int, **how: Any) -> "Embedding":
        how = {"normalize": space.normalize, "verbose": options.verbose} | how
        return embedding.reduce_encoded(encoded, reducer, dim, run.seed, **how)

    if checking.check:
        _check(run, space, checking, encode, reduce, out, options.n_jobs)
    else:
        _embed(run, space, encode, reduce, out, like, (zero_shot, template))


def _check_name(source: str) -> None:
    """Refuse a path that leads nowhere; say how to embed a dataset whose name is given without its place."""
    if Path(source).exists():
        return
    from softspread import datasets

    if source.partition(":")[0] in datasets.names():
        raise InputError(
            f"{source} is the name of a dataset; add --data with the folder that holds its folder."
        )
    from softspread.embedding.items import check_source

    check_source(source)


def embed_dataset(
    run: Run, name: str, data: Path, space: SpaceOptions, encoder_options: EncoderOptions
) -> None:
    """Write features of a dataset, and zero-shot predictions if the encoder knows words, into its folder."""
    from softspread.datasets.features import (
        encode_dataset,
        feature_name,
        write_encoded,
        write_reduced,
        write_zero_shot,
    )
    from softspread.datasets.registry import home_of, load_items, source_of
    from softspread.embedding.encoders.registry import find_encoder
    from softspread.embedding.reducers.by_name import check_reducer

    if encoder_options.skip_corrupt or space.normalize:
        raise InputError(
            "a dataset's features are those of all its images as the encoder gives them; leave out "
            "--skip-corrupt and --normalize."
        )
    reducers = [check_reducer(part) for part in _several(space.reduce)]
    if "auto" in reducers:
        reducers = ["umap"]
    sizes = [_dimension(size) for size in _several(space.dim)]
    found, home = load_items(name, data), home_of(name, data)
    options = dataclasses.replace(
        encoder_options.encoding(run, None), cache=None if encoder_options.no_cache else home / CACHE_NAME
    )
    written: list[Path] = []
    for word in _several(space.encoder or DEFAULT_ENCODER):
        model = find_encoder(word, device=options.device, half=options.half, download=options.download)
        encoded = encode_dataset(found, model, options)
        base = feature_name(word)
        written.append(write_encoded(home, base, encoded))
        if getattr(model, "temperature", None) is not None:
            template = source_of(name).template if name.partition(":")[0] in _known() else "default"
            written.append(write_zero_shot(home, found, encoded, template))
        for reducer in reducers:
            for size in sizes:
                if reducer != "none" and size < encoded.F.shape[1]:
                    written.append(write_reduced(home, base, reducer, size, run.seed, found.n_items))
    document = {"dataset": name, "items": found.n_items, "written": written}
    run.answer(document, "\n".join([f"{found.n_items:,} items of {name}:", *map(str, written)]))


def _known() -> list[str]:
    from softspread import datasets

    return datasets.names()


def _embed(
    run: Run,
    space: SpaceOptions,
    encode: Callable[[str], "EncodedItems"],
    reduce: Callable[..., "Embedding"],
    out: Path | None,
    like: Path | None,
    zero_shot: tuple[str | None, str],
) -> None:
    from softspread.embedding.reducers.by_name import check_reducer
    from softspread.embedding.result import Embedding
    from softspread.embedding.zero_shot import prompts, zero_shot_of
    from softspread.io.matching import read_classes

    if out is None:
        raise InputError("where should the embedding go? Add -o X.parquet.")
    dim, encoder, how = _dimension(space.dim), space.encoder, dict[str, Any]()
    if like is None:
        check_reducer(space.reduce)
    names, template = read_classes(zero_shot[0]), zero_shot[1]
    if names is not None:
        prompts(names, template)  # wrong sentences are refused before hours of encoding
    if like is not None:  # new items go the way of the old ones
        old = Embedding.load(like)
        encoder = encoder or old.how["encoder"]
        how = {"like": old, "normalize": bool(old.how["normalized"])}
    encoded = encode(encoder or DEFAULT_ENCODER)
    prior_path = None
    if names is not None:
        prior_path = out.with_suffix(".zero_shot.parquet")
        about = {"encoder": encoded.encoder.name, "template": template, "classes": names}
        zero_shot_of(encoded, names, template).save(prior_path, about)
    made = reduce(encoded, space.reduce, dim, **how)
    made.save(out)
    document = {
        "out": out,
        "items": len(made),
        "dim": made.X.shape[1],
        "how": made.how,
        "skipped": [{"item": str(entry.item_id), "reason": entry.reason} for entry in made.skipped],
        "zero_shot": prior_path,
    }
    if not run.common.as_json:
        _list_skipped(document["skipped"])
    run.answer(document, _in_words(document))


def _list_skipped(skipped: Any) -> None:
    """Name the items that are missing from the result, on standard error, also with ``--quiet``."""
    for entry in skipped[:SKIPPED_SHOWN]:
        typer.echo(f"left out: {entry['item']} ({entry['reason']})", err=True)
    if len(skipped) > SKIPPED_SHOWN:
        typer.echo(f"left out: {len(skipped) - SKIPPED_SHOWN} more", err=True)


def _in_words(document: dict[str, Any]) -> str:
    how = document["how"]
    reducer = how.get("reducer", "none")
    made = f"{how['encoder']} ({how['n_features']} features)" + ("" if reducer == "none" else f", {reducer}")
    text = f"{document['items']:,} items in {document['dim']} dimensions by {made}: {document['out']}"
    return text + (f"\nzero-shot prior: {document['zero_shot']}" if document["zero_shot"] else "")


# ------------------------------------------------------------------------------------------------------ check
def _check(
    run: Run,
    space: SpaceOptions,
    checking: CheckOptions,
    encode: Callable[[str], "EncodedItems"],
    reduce: Callable[..., "Embedding"],
    out: Path | None,
    n_jobs: int | None,
) -> None:
    from softspread._common.atomic import replaced_file
    from softspread.embedding.comparison import compare_spaces, known_classes
    from softspread.io.matching import match_votes
    from softspread.io.spreadsheets import frame_for_csv
    from softspread.io.votes import read_vote_files

    if checking.votes is None and checking.classes is None:
        raise InputError(
            "--check needs --votes votes.csv (item, label), or --classes folder, a column, or a table of "
            "known classes."
        )
    sizes = [_dimension(size) for size in _several(space.dim)]
    cast = None if checking.votes is None else read_vote_files(checking.votes)
    spaces: dict[str, Embedding] = {}
    known = matched = None
    for name in _several(space.encoder or DEFAULT_ENCODER):
        encoded = encode(name)
        if cast is not None and matched is None:  # votes on images that were left out are left out too
            skip = bool(encoded.skipped)
            matched = match_votes(cast, encoded.ids, len(encoded.ids), skip_unknown=skip).found
        if checking.classes is not None and known is None:
            known = known_classes(checking.classes, encoded)
        for reducer in _several(space.reduce):
            for size in sizes if reducer != "none" else sizes[:1]:
                made = reduce(encoded, reducer, size)
                title = name if reducer == "none" else f"{name} + {made.how['reducer']} {size}"
                spaces[title] = made
    table = compare_spaces(spaces, votes=matched, classes=known, n_jobs=n_jobs, random_state=run.seed)
    if out is not None:
        with replaced_file(out) as path:
            if out.suffix == ".parquet":
                table.to_parquet(path, index=False)
            else:
                frame_for_csv(table).to_csv(path, index=False)
    run.answer(table.to_dict("records"), lambda console: _show_spaces(console, table))


def _show_spaces(console: Any, table: Any) -> None:
    has_votes, has_classes = (bool(table[name].notna().any()) for name in ("held_out_brier", "silhouette"))
    names = ["dim", *["held-out Brier", "alpha"] * has_votes, *["silhouette"] * has_classes]
    rows = [
        [row.space, row.dim]
        + [f"{row.held_out_brier:.4f} ± {row.standard_error:.4f}", f"{row.alpha:g}"] * has_votes
        + [f"{row.silhouette:.3f}"] * has_classes
        for row in table.itertuples()
    ]
    print_table(console, "Spaces, the best first", ("space",), names, rows, best={0})
    if has_votes:
        console.print(
            "Held-out Brier: each vote predicted from the others; lower is better. "
            "Differences well below the ± show nothing.",
            style="dim",
        )
    if has_classes:
        console.print("Silhouette: classes apart (1), mixed (0 and below); higher is better.", style="dim")


def _several(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _dimension(text: str) -> int:
    if not text.strip().isdecimal() or int(text) < 1:
        raise InputError(
            f"--dim must be a whole number, at least 1, got {text!r}; several only with --check."
        )
    return int(text)
