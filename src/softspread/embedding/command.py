"""The command ``softspread embed``: parse, call, print. Only typer is imported before the command runs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from softspread.embedding.embed import EncodedItems, EncodingOptions
    from softspread.embedding.result import Embedding

DEFAULT_ENCODER = "clip"
CACHE_NAME = ".softspread-cache"
SKIPPED_SHOWN = 20  # unreadable images that are listed before the rest is counted

Guard = Callable[[Callable[..., None]], Callable[..., None]]


@dataclass(frozen=True, slots=True)
class Request:
    """What both ways of the command need."""

    source: str
    options: "EncodingOptions"
    where: dict[str, Any]
    normalize: bool
    seed: int
    out: Path | None
    as_json: bool
    quiet: bool


def add_commands(app: typer.Typer, guard: Guard) -> None:
    """Register ``embed`` on ``app``; ``guard`` turns exceptions into messages and exit codes."""
    app.command(name="embed")(guard(embed_command))


def embed_command(
    source: Annotated[
        str, typer.Argument(metavar="IMAGES|TABLE", help="A folder of images, a table, or a .npy array.")
    ],
    encoder: Annotated[
        str | None,
        typer.Option(
            help="clip (default), vit, resnet, dinov2, sentence, pixels, none, a Hugging Face name, a model "
            "folder or "
            "a .onnx file. With --check several, joined by commas."
        ),
    ] = None,
    reduce: Annotated[
        str,
        typer.Option(
            help="umap, pca, isomap, none; auto: umap up to 500,000 items, then pca. --check: several."
        ),
    ] = "auto",
    dim: Annotated[str, typer.Option(help="Dimensions of the space. With --check several: 5,20,50.")] = "20",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Where to write item and x (.parquet); with --check the table (.csv)."
        ),
    ] = None,
    column: Annotated[str | None, typer.Option(help="Column of paths or text in the table.")] = None,
    id_column: Annotated[str | None, typer.Option(help="Column of ids; else item, id, or the path.")] = None,
    root: Annotated[Path | None, typer.Option(help="Folder that paths in the table start from.")] = None,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Scale features to length 1 before reducing.")
    ] = False,
    like: Annotated[Path | None, typer.Option(help="Place new items in the space of this embedding.")] = None,
    zero_shot: Annotated[
        str | None,
        typer.Option(help="Classes joined by commas, or a .txt file with one a line: also write a prior."),
    ] = None,
    template: Annotated[
        str, typer.Option(help="Sentence with {class}, or default, emnist-digits, mtsd.")
    ] = "default",
    check: Annotated[
        bool, typer.Option("--check", help="Rate spaces by a table instead of writing one.")
    ] = False,
    votes: Annotated[Path | None, typer.Option(help="For --check: votes, as spread reads them.")] = None,
    classes: Annotated[
        str | None, typer.Option(help="For --check: 'folder', a column, or a table with item, label.")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Items that pass the encoder at once.")] = 32,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    half: Annotated[
        bool | None, typer.Option("--half/--no-half", help="Half precision; default: on CUDA.")
    ] = None,
    skip_corrupt: Annotated[
        bool, typer.Option("--skip-corrupt", help="Leave out images that cannot be read.")
    ] = False,
    cache: Annotated[
        Path | None,
        typer.Option(help=f"Folder that keeps features; default: {CACHE_NAME} beside the output."),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Keep no features; a killed run starts over.")
    ] = False,
    download: Annotated[bool, typer.Option("--download", help="Fetch the model if it is not here.")] = False,
    threads: Annotated[int | None, typer.Option(help="Threads that read images; default: all cores.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the reducer.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress and no text; errors still show.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Turn images or text into a space for the graph.

    A killed run goes on where it was. Models are only fetched with --download.

    Example: softspread embed photos/ --encoder clip --reduce umap --dim 20 -o X.parquet

    Example: softspread embed photos/ --check --votes votes.csv --reduce umap,pca --dim 10,20
    """
    del debug  # the guard reads it
    from softspread.embedding.embed import EncodingOptions
    from softspread.errors import InputError

    wanted = (".csv", ".parquet") if check else (".parquet",)
    if out is not None and out.suffix not in wanted:
        raise InputError(f"--out must end in {' or '.join(wanted)}, got {out.name!r}.")
    if out is not None and not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent} to write {out.name} to; make it first.")
    options = EncodingOptions(
        batch_size=batch_size,
        device=device,
        half=half,
        skip_corrupt=skip_corrupt,
        cache=None if no_cache else cache or (Path() if out is None else out.parent) / CACHE_NAME,
        download=download,
        n_jobs=threads,
        verbose=not quiet,
    )
    where = {"column": column, "id_column": id_column, "root": root}
    request = Request(source, options, where, normalize, seed, out, as_json, quiet)
    if check:
        _check(request, _several(encoder or DEFAULT_ENCODER), _several(reduce), _several(dim), votes, classes)
    else:
        _embed(request, encoder, reduce, _number(dim), like, zero_shot, template)


def _embed(
    request: Request,
    encoder: str | None,
    reduce: str,
    dim: int,
    like: Path | None,
    zero_shot: str | None,
    template: str,
) -> None:
    from softspread.embedding.embed import encode, reduce_encoded
    from softspread.embedding.reducers.registry import REDUCERS
    from softspread.embedding.result import Embedding, write_parquet
    from softspread.embedding.zero_shot import prompts, zero_shot_of
    from softspread.errors import InputError
    from softspread.io.matching import read_classes

    if request.out is None:
        raise InputError("where should the embedding go? Add -o X.parquet.")
    if reduce not in (*REDUCERS, "auto"):
        raise InputError(f"--reduce must be one of {', '.join(REDUCERS)} or auto, got {reduce!r}.")
    names = read_classes(zero_shot)
    if names is not None:
        prompts(names, template)  # wrong sentences are refused before hours of encoding
    old = None if like is None else Embedding.load(like)
    normalize = request.normalize
    if old is not None:  # new items go the way of the old ones
        encoder = encoder or old.how["encoder"]
        normalize = bool(old.how["normalized"])
    encoded = encode(request.source, encoder or DEFAULT_ENCODER, request.options, **request.where)
    prior_path = None
    if names is not None:
        prior_path = request.out.with_suffix(".zero_shot.parquet")
        frame = zero_shot_of(encoded, names, template).to_frame()
        write_parquet(
            prior_path,
            {name: frame[name].to_numpy() for name in frame.columns},
            {"encoder": encoded.encoder.name, "template": template, "classes": names},
        )
    space = reduce_encoded(
        encoded, reduce, dim, request.seed, normalize=normalize, like=old, verbose=request.options.verbose
    )
    space.save(request.out)
    _tell(space, request.out, prior_path, request.as_json, request.quiet)


def _tell(space: "Embedding", out: Path, prior: Path | None, as_json: bool, quiet: bool) -> None:
    import json

    skipped = [{"item": str(entry.item_id), "reason": entry.reason} for entry in space.skipped]
    if as_json:
        about = {"out": str(out), "items": len(space), "dim": int(space.X.shape[1]), "how": dict(space.how)}
        typer.echo(
            json.dumps(about | {"skipped": skipped, "zero_shot": prior and str(prior)}, indent=2, default=str)
        )
        return
    for entry in skipped[:SKIPPED_SHOWN]:
        typer.echo(f"left out: {entry['item']} ({entry['reason']})", err=True)
    if len(skipped) > SKIPPED_SHOWN:
        typer.echo(f"left out: {len(skipped) - SKIPPED_SHOWN} more", err=True)
    if quiet:
        return
    how = space.how
    reducer = how.get("reducer", "none")
    made = f"{how['encoder']} ({how['n_features']} features)" + ("" if reducer == "none" else f", {reducer}")
    typer.echo(f"{len(space):,} items in {space.X.shape[1]} dimensions by {made}: {out}")
    if prior is not None:
        typer.echo(f"zero-shot prior: {prior}")


def _check(
    request: Request,
    encoders: list[str],
    reducers: list[str],
    dims: list[str],
    votes: Path | None,
    classes: str | None,
) -> None:
    from softspread._common.atomic import replaced_file
    from softspread.embedding.comparison import compare_spaces
    from softspread.embedding.embed import encode, reduce_encoded
    from softspread.errors import InputError
    from softspread.io.matching import match_votes
    from softspread.io.votes import read_votes

    if votes is None and classes is None:
        raise InputError(
            "--check needs --votes votes.csv (item, label), or --classes folder, a column, or a table of "
            "known classes."
        )
    sizes = [_number(size) for size in dims]
    cast = None if votes is None else read_votes(votes)
    spaces: dict[str, Embedding] = {}
    known = matched = None
    for name in encoders:
        encoded = encode(request.source, name, request.options, **request.where)
        if cast is not None and matched is None:  # votes on images that were left out are left out too
            matched = match_votes(
                cast, encoded.ids, len(encoded.ids), skip_unknown=bool(encoded.skipped)
            ).votes
        if classes is not None and known is None:
            known = _known_classes(classes, encoded)
        for reduce in reducers:
            for size in sizes if reduce != "none" else sizes[:1]:
                space = reduce_encoded(
                    encoded,
                    reduce,
                    size,
                    request.seed,
                    normalize=request.normalize,
                    verbose=request.options.verbose,
                )
                title = name if reduce == "none" else f"{name} + {space.how['reducer']} {size}"
                spaces[title] = space
    table = compare_spaces(
        spaces, votes=matched, classes=known, n_jobs=request.options.n_jobs, random_state=request.seed
    )
    if request.out is not None:
        with replaced_file(request.out) as path:
            if request.out.suffix == ".parquet":
                table.to_parquet(path, index=False)
            else:
                table.to_csv(path, index=False)
    if request.as_json:
        typer.echo(table.to_json(orient="records", indent=2))
    elif not request.quiet:
        _print_table(table)


def _print_table(table: "pd.DataFrame") -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(title="Spaces, the best first")
    has_votes, has_classes = table["held_out_brier"].notna().any(), table["silhouette"].notna().any()
    shown.add_column("space")
    shown.add_column("dim", justify="right")
    for title, wanted in (("held-out Brier", has_votes), ("alpha", has_votes), ("silhouette", has_classes)):
        if wanted:
            shown.add_column(title, justify="right", no_wrap=True)
    for row in table.itertuples():
        cells = [str(row.space), str(row.dim)]
        if has_votes:
            cells += [f"{row.held_out_brier:.4f} ± {row.standard_error:.4f}", f"{row.alpha:g}"]
        if has_classes:
            cells.append(f"{row.silhouette:.3f}")
        shown.add_row(*cells, style="bold green" if row.best else None)
    console = Console(highlight=False)
    console.print(shown)
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


def _number(text: str) -> int:
    from softspread.errors import InputError

    if not text.strip().isdecimal() or int(text) < 1:
        raise InputError(
            f"--dim must be a whole number, at least 1, got {text!r}; several only with --check."
        )
    return int(text)


def _known_classes(text: str, encoded: "EncodedItems") -> Any:
    """(m,) known classes of the items that were read: by folder, column or another table."""
    import pandas as pd

    from softspread.embedding.items import TABLE_ENDINGS, read_table
    from softspread.errors import InputError

    if text == "folder":
        names = [str(item) for item in encoded.ids]
        if not all("/" in name for name in names):
            raise InputError(
                "--classes folder needs images in one folder per class; some lie outside of any."
            )
        return [name.rsplit("/", 1)[0] for name in names]
    table = encoded.items.table
    if table is not None and text in table.columns:
        return table[text].to_numpy()[encoded.kept]
    path = Path(text)
    if path.suffix not in TABLE_ENDINGS or not path.is_file():
        has = [] if table is None else list(table.columns)
        raise InputError(f"--classes is 'folder', a column of the table {has} or a table file, got {text!r}.")
    frame = read_table(path)
    if not {"item", "label"} <= set(frame.columns):
        raise InputError(f"{path} needs the columns item and label, it has {list(frame.columns)}.")
    found = pd.Series(frame["label"].to_numpy(), index=frame["item"])
    if found.index.has_duplicates:
        raise InputError(f"{path} names a class twice for item {found.index[found.index.duplicated()][0]!r}.")
    return found.reindex(encoded.ids).to_numpy()
