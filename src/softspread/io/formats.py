"""File formats by content, and the check of a path before anything is read or computed.

Imports no numerical library, so that the command line refuses a wrong path at once.
"""

from collections.abc import Sequence
from pathlib import Path

from softspread._common.arrow import check_arrow, check_parquet
from softspread._common.atomic import check_folder_target, check_target
from softspread.errors import InputError

TABLE_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".xlsx", ".csv.gz", ".tsv.gz", ".jsonl.gz")
EMBEDDING_ENDINGS = (".npy", ".npz", ".parquet")
VOTE_ENDINGS = (*TABLE_ENDINGS, ".json", ".json.gz")
PRIOR_ENDINGS = (".npy", *TABLE_ENDINGS)
ID_ENDINGS = (".txt", ".npy", ".npz", *TABLE_ENDINGS)
VOTE_FORMATS = ("auto", "long", "wide", "counts", "labelstudio", "argilla", "prodigy")
MULTI_CHOICE = ("refuse", "split", "skip")
OUTPUT_FORMATS = ("auto", "parquet", "csv", "tsv", "jsonl", "weighted", "huggingface", "labelstudio")
CONTAINERS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
DATASET_MARK = "dataset_info.json"  # by which a datasets folder of ours is recognised


def ending_of(path: str | Path) -> str:
    """The ending in small letters, with the one below ``.gz``.

    Examples
    --------
    >>> ending_of("votes.2026.CSV.gz"), ending_of("X.npy"), ending_of("labels")
    ('.csv.gz', '.npy', '')
    """
    last = Path(path).suffix.lower()
    return Path(Path(path).stem).suffix.lower() + last if last == ".gz" else last


def check_source(path: str | Path, allowed: Sequence[str], what: str) -> Path:
    """A file that exists, is not empty and has one of the endings."""
    source = Path(path)
    ending = ending_of(source)
    if not source.exists():
        raise InputError(f"no file at {source}; check the path of the {what}.")
    if source.is_dir():
        raise InputError(f"{source} is a folder; name the file with the {what}.")
    if ending not in allowed:
        raise InputError(f"{source} ends in {ending or 'nothing'!r}; {what} may be {', '.join(allowed)}.")
    try:
        empty = source.stat().st_size == 0
        with source.open("rb"):
            pass
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}.") from error
    if empty:
        raise InputError(f"{source} is empty; it should hold {what}.")
    check_parquet(source)
    return source


def check_sources(paths: Sequence[str | Path], allowed: Sequence[str], what: str) -> list[Path]:
    """One or several files, none of them twice."""
    if not paths:
        raise InputError(f"name at least one file with the {what}.")
    sources = [check_source(path, allowed, what) for path in paths]
    seen: set[Path] = set()
    for source in sources:
        if source.resolve() in seen:
            raise InputError(f"{source} is named twice; its {what} would count twice. Name it once.")
        seen.add(source.resolve())
    return sources


def check_output(path: str | Path, output_format: str = "auto") -> str:
    """The format of an output, refused before any work if it cannot be written."""
    target = Path(path)
    if output_format not in OUTPUT_FORMATS:
        raise InputError(f"format must be one of {', '.join(OUTPUT_FORMATS)}, got {output_format!r}.")
    ending = target.suffix.lower()
    if output_format == "auto":
        output_format = {**CONTAINERS, ".json": "labelstudio", "": "huggingface"}.get(ending, "")
        if not output_format:
            raise InputError(
                f"{target} ends in {ending!r}; soft labels may be {', '.join(CONTAINERS)}, .json for Label "
                "Studio, or "
                "a name without ending for a Hugging Face datasets folder. Or name the format by --format."
            )
    if output_format == "weighted" and ending not in CONTAINERS:
        raise InputError(
            f"{target} ends in {ending or 'nothing'!r}; weighted rows may be {', '.join(CONTAINERS)}."
        )
    if output_format == "huggingface":
        check_folder_target(target, DATASET_MARK)
        check_arrow(f"the datasets folder {target}")
    else:
        if "parquet" in (output_format, CONTAINERS.get(ending) if output_format == "weighted" else None):
            check_arrow(f"{target}, a Parquet file,")
        check_target(target)
    return output_format
