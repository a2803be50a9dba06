"""Soft labels as a file, in six formats, with the facts of the run inside or beside it.

    item, p_<class>..., evidence, lower_<class>..., upper_<class>..., verdict    one row per item: parquet,
                                                                        csv, tsv, jsonl
    item, label, weight, evidence                                       one row per item and class: weighted
    item, soft_label, label, evidence, lower, upper, verdict            a folder for Hugging Face datasets
    tasks with predictions                                              for Label Studio

Numbers are written in single precision: seven digits, where soft labels are known to four. Parquet and the
datasets folder carry the facts inside; the other formats have no place for them, so they stand in
``<name>.meta.json``.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common import validation
from softspread._common.arrow import arrow
from softspread._common.atomic import check_target, replaced_file, write_text
from softspread._common.kinds import MULTILABEL, ORDINAL, SINGLE
from softspread._common.types import AnyArray, FloatArray
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.intervals.levels import EXPECTED
from softspread.io.embeddings import read_embeddings
from softspread.io.formats import CONTAINERS, check_output
from softspread.io.huggingface import read_dataset, write_dataset
from softspread.io.ids import rows_of_ids
from softspread.io.label_studio import LabelStudioNames, write_tasks
from softspread.io.parquet import plain_names, with_metadata
from softspread.io.spreadsheets import frame_for_csv
from softspread.io.tables import Table, read_json, read_table, shown
from softspread.spreading.evidence import SoftLabels

PARTS_FACTS = "_softspread.json"  # of a folder of parts; Parquet readers skip names that begin so
ROWS_AT_ONCE = 50_000  # turned into Python objects at a time
Columns = dict[str, AnyArray | list[Any]]  # as they are written: numbers in single precision


def write_soft_labels(
    path: str | Path,
    labels: SoftLabels,
    output_format: str = "auto",
    names: LabelStudioNames | None = None,
) -> list[Path]:
    """Write soft labels; the file appears whole or not at all. The paths written.

    Examples
    --------
    >>> import tempfile
    >>> p = np.array([[0.25, 0.75]])
    >>> labels = SoftLabels(np.array(["a"]), np.array(["no", "yes"]), p, np.array([2.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_soft_labels(f"{folder}/soft.parquet", labels)
    ...     read_soft_labels(f"{folder}/soft.parquet").p.tolist()
    [[0.25, 0.75]]
    """
    target = Path(path)
    chosen = check_output(target, output_format)
    if chosen == "huggingface":
        write_dataset(target, labels)
        return [target]
    written = [target]
    container = CONTAINERS.get(target.suffix.lower(), "") if chosen == "weighted" else chosen
    if container != "parquet" and labels.metadata:
        beside = check_target(metadata_path(target))
        # first: the labels never stand without it
        write_text(beside, json.dumps(labels.metadata, indent=2) + "\n")
        written.append(beside)
    with replaced_file(target) as temporary:
        if chosen == "labelstudio":
            write_tasks(temporary, labels, names or LabelStudioNames())
        else:
            columns = _weighted_columns(labels) if chosen == "weighted" else _wide_columns(labels)
            _WRITERS[container](temporary, columns, labels.metadata)
    return written


def write_parquet_part(file: Any, labels: SoftLabels) -> None:
    """Write one part of a partitioned dataset to an open file, with a checksum for every page."""
    _write_parquet(file, _wide_columns(labels), labels.metadata, write_page_checksum=True)


def metadata_path(path: Path) -> Path:
    """Where the facts of a run stand that a format cannot hold."""
    return path.with_name(f"{path.name}.meta.json")


def with_evidence(labels: SoftLabels, least: float) -> SoftLabels:
    """Only the items with at least this much evidence."""
    keep = labels.evidence >= least
    if keep.all():
        return labels
    if not keep.any():
        raise InputError(
            f"no item has {least:g} votes' worth of evidence; the most is {labels.evidence.max():.3g}."
        )
    return replace(labels.take(keep), metadata={**labels.metadata, "least_evidence": least})


# ---------------------------------------------------------------------------------------------------- columns
def _wide_columns(labels: SoftLabels) -> Columns:
    numbers = {name: values.astype(np.float32) for name, values in labels.columns()}
    words = {name: plain_names(values) for name, values in labels.words().items()}
    return {"item": plain_names(labels.ids), **numbers, **words}


def _weighted_columns(labels: SoftLabels) -> Columns:
    n, n_classes = labels.p.shape
    rows, columns = np.divmod(np.arange(n * n_classes), n_classes)
    return {
        "item": plain_names(labels.ids[rows]),
        "label": plain_names(labels.classes[columns]),
        "weight": labels.p.ravel().astype(np.float32),
        "evidence": _evidence_of(labels)[rows, columns].astype(np.float32),
    }


def _evidence_of(labels: SoftLabels) -> FloatArray:
    """(n, n_classes) of each class where classes are questions of their own, else of the item."""
    if labels.kind == MULTILABEL:
        return np.column_stack([labels.more[f"evidence_{name}"] for name in labels.classes.tolist()])
    return np.broadcast_to(labels.evidence[:, None], labels.p.shape)


def _write_parquet(path: Any, columns: Columns, facts: Mapping[str, Any], **options: Any) -> None:
    table = with_metadata(arrow(what=str(path)).table(columns), facts)
    # random digits do not compress: plain numbers are written five times as fast and as small
    words = ["verdict"] if table.num_rows >= ROWS_AT_ONCE else ["item", "verdict"]
    options = {"compression": "snappy", "use_dictionary": words, **options}
    arrow("pyarrow.parquet").write_table(table, path, **options)


def _write_delimited(delimiter: str) -> Callable[[Path, Columns, Mapping[str, Any]], None]:
    def write(path: Path, columns: Columns, _: Mapping[str, Any]) -> None:
        frame = frame_for_csv(pd.DataFrame(columns))
        frame.to_csv(path, sep=delimiter, index=False, lineterminator="\n", encoding="utf-8")

    return write


def _write_json_lines(path: Path, columns: Columns, _: Mapping[str, Any]) -> None:
    n = len(columns["item"])
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for first in range(0, n, ROWS_AT_ONCE):
            values = [_plain(column[first : first + ROWS_AT_ONCE]) for column in columns.values()]
            for row in zip(*values, strict=True):
                file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")


def _plain(column: AnyArray | list[Any]) -> list[Any]:
    """Single precision as the shortest number that reads back the same: 0.1, not 0.10000000149011612."""
    if isinstance(column, list):
        return column
    numbers = column.astype(str).astype(float) if column.dtype.kind == "f" else column
    return list(numbers.tolist())


_WRITERS: dict[str, Callable[[Path, Columns, Mapping[str, Any]], None]] = {
    "parquet": _write_parquet,
    "csv": _write_delimited(","),
    "tsv": _write_delimited("\t"),
    "jsonl": _write_json_lines,
}


# ---------------------------------------------------------------------------------------------------- reading
def read_soft_labels(path: str | Path, *, needs_evidence: bool = True) -> SoftLabels:
    """Soft labels that we wrote: parquet, csv, tsv, jsonl, a datasets folder, or a folder of Parquet parts.

    Parameters
    ----------
    needs_evidence : False also takes predictions without that column; their evidence is 0
    """
    source = Path(path)
    if source.is_dir():
        return _read_parts(source) if (source / PARTS_FACTS).is_file() else read_dataset(source)
    table = read_table(source, "soft labels")
    beside = metadata_path(source)
    metadata = read_json(beside) if not table.metadata and beside.is_file() else table.metadata
    found = [name.removeprefix("p_") for name in table.columns if name.startswith("p_")]
    has_evidence = "evidence" in table.columns
    if "item" not in table.columns or not found or (needs_evidence and not has_evidence):
        kind = " (weighted rows cannot be turned back)" if "weight" in table.columns else ""
        raise InputError(
            f"{source} holds no soft labels{kind}; expected the columns item, p_<class>..., evidence that "
            f"'softspread spread' writes, got {table.listed()}."
        )
    named = metadata.get("classes")
    classes = named if isinstance(named, list) and [str(name) for name in named] == found else found
    ranged = any(name.startswith("lower_") for name in table.columns)
    return SoftLabels(
        table.ids("item"),
        validation.names(objects(classes), "class"),
        _stacked(table, "p", found),
        _column(table, "evidence") if has_evidence else np.zeros(table.n_rows),
        _stacked(table, "lower", found) if ranged else None,
        _stacked(table, "upper", found) if ranged else None,
        metadata,
        objects(table.columns["verdict"]) if "verdict" in table.columns else None,
        kind := _kind(table, found),
        _more(table, kind, found),
    )


def _read_parts(folder: Path) -> SoftLabels:
    """All parts of a folder that a run in blocks wrote, one after the other."""
    parts = [read_soft_labels(path) for path in sorted(folder.glob("part-*.parquet"))]
    facts = read_json(folder / PARTS_FACTS)
    if len(parts) != facts.get("parts"):
        raise InputError(
            f"{folder} holds {len(parts)} parts of {facts.get('parts')}; write the soft labels again."
        )

    def every(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return SoftLabels(
        every("ids"),
        validation.names(objects(facts["classes"]), "class"),
        every("p"),
        every("evidence"),
        every("lower"),
        every("upper"),
        facts,
        every("verdict"),
    )


def _kind(table: Table, classes: Sequence[str]) -> str:
    if all(f"evidence_{name}" in table.columns for name in classes):
        return MULTILABEL
    return ORDINAL if EXPECTED[0] in table.columns else SINGLE


def _more(table: Table, kind: str, classes: Sequence[str]) -> dict[str, AnyArray]:
    """The further columns of a kind."""
    if kind == ORDINAL:
        return {name: _column(table, name) for name in EXPECTED}
    if kind == SINGLE:
        return {}
    evidence: dict[str, AnyArray] = {
        f"evidence_{name}": _column(table, f"evidence_{name}") for name in classes
    }
    verdicts = [f"verdict_{name}" for name in classes if f"verdict_{name}" in table.columns]
    return evidence | {name: objects(table.columns[name]) for name in verdicts}


def read_prior(path: str | Path, ids: AnyArray, classes: AnyArray) -> FloatArray:
    """Predictions to start from: an array in the order of items and classes, or soft labels found by name.

    Parameters
    ----------
    path : .npy of (n, n_classes) numbers, or a file that :func:`read_soft_labels` reads; no evidence needed
    ids : (n,) ids of the items
    classes : (n_classes,) class names
    """
    if Path(path).suffix.lower() == ".npy":
        return np.asarray(read_embeddings(path).X)
    labels = read_soft_labels(path, needs_evidence=False)
    columns = {str(label): column for column, label in enumerate(labels.classes.tolist())}
    wanted = [str(label) for label in classes.tolist()]
    missing = [label for label in wanted if label not in columns]
    if missing:
        raise InputError(f"{path} lacks the classes {shown(missing)} that the votes name.")
    rows = rows_of_ids(ids, labels.ids, len(labels))
    if (rows < 0).any():
        raise InputError(f"{path} lacks {int((rows < 0).sum()):,} of the {len(ids):,} items.")
    return np.asarray(labels.p[rows][:, [columns[label] for label in wanted]])


def _stacked(table: Table, prefix: str, classes: Sequence[str]) -> FloatArray:
    return np.column_stack([_column(table, f"{prefix}_{name}") for name in classes])


def _column(table: Table, name: str) -> FloatArray:
    try:
        return np.asarray(table.columns[name], dtype=np.float64)
    except KeyError as error:
        raise InputError(
            f"{table.source} lacks the column {error}; write it again with 'softspread spread'."
        ) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{table.source}: the column {name} must hold numbers ({error}).") from error
