"""Soft labels as a file, in six formats, with the facts of the run inside or beside it.

    item, p_<class>..., evidence, lower_<class>..., upper_<class>...        one row per item: parquet, csv,
    tsv, jsonl
    item, label, weight, evidence                                           one row per item and class:
    weighted
    item, soft_label, label, evidence, lower, upper                         a folder for Hugging Face datasets
    tasks with predictions                                                  for Label Studio

Numbers are written in single precision: seven digits, where soft labels are known to four. Parquet and the
datasets folder carry the facts inside; the other formats have no place for them, so they stand in
``<name>.meta.json``.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.atomic import (
    check_folder_target,
    check_target,
    replaced_file,
    replaced_folder,
    write_text,
)
from softspread._common.digests import KEY_BYTES, digest
from softspread._common.types import AnyArray, FloatArray
from softspread.errors import InputError
from softspread.io.tables import check_source, numbers_if_whole, objects, read_delimited, read_json_lines
from softspread.spreading.evidence import SoftLabels

OUTPUT_FORMATS = ("auto", "parquet", "csv", "tsv", "jsonl", "weighted", "huggingface", "labelstudio")
CONTAINERS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
READABLE = tuple(CONTAINERS)
METADATA_KEY = "softspread"
DATASET_MARK = "dataset_info.json"
DATASET_FILE = "data-00000-of-00001.arrow"
ROWS_AT_ONCE = 50_000  # turned into Python objects at a time
SHORTEST_JSON = (",", ":")


@dataclass(frozen=True, slots=True)
class LabelStudioNames:
    """How the tasks call things; they must agree with the project's labelling setup."""

    item_field: str = "item"  # of a task's data
    from_name: str = "label"  # the name of the Choices tag
    to_name: str = "item"  # the name of the tag that shows the item


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
    else:
        check_target(target)
    return output_format


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
        _write_dataset(target, labels)
        return [target]
    written = [target]
    container = CONTAINERS.get(target.suffix.lower(), "") if chosen == "weighted" else chosen
    if container != "parquet" and labels.metadata:
        beside = metadata_path(target)
        check_target(beside)
        write_text(
            beside, json.dumps(labels.metadata, indent=2) + "\n"
        )  # first: the labels never stand without it
        written.append(beside)
    with replaced_file(target) as temporary:
        if chosen == "labelstudio":
            _write_tasks(temporary, labels, names or LabelStudioNames())
        else:
            table = _weighted_table(labels) if chosen == "weighted" else _wide_table(labels)
            _WRITERS[container](temporary, table)
    return written


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


# ----------------------------------------------------------------------------------------------------- tables
def _wide_table(labels: SoftLabels) -> Any:
    names, columns = zip(*labels.columns(), strict=True)
    arrays = [_arrow_names(labels.ids), *map(_single, columns)]
    return _arrow_table(["item", *names], arrays, labels.metadata)


def _weighted_table(labels: SoftLabels) -> Any:
    n, n_classes = labels.p.shape
    rows, columns = np.divmod(np.arange(n * n_classes), n_classes)
    arrays = [
        _arrow_names(labels.ids[rows]),
        _arrow_names(labels.classes[columns]),
        _single(labels.p.ravel()),
        _single(labels.evidence[rows]),
    ]
    return _arrow_table(["item", "label", "weight", "evidence"], arrays, labels.metadata)


def _arrow_table(names: Sequence[str], arrays: Sequence[Any], metadata: Mapping[str, Any]) -> Any:
    import pyarrow as pa

    table = pa.table(list(arrays), names=list(names))
    return table.replace_schema_metadata({METADATA_KEY: json.dumps(metadata)}) if metadata else table


def _arrow_names(values: AnyArray) -> Any:
    import pyarrow as pa

    if values.dtype.kind == "O" and not all(isinstance(value, str) for value in values):
        return pa.array([str(value) for value in values.tolist()])
    return pa.array(values.tolist() if values.dtype.kind in "OU" else values)


def _single(values: AnyArray) -> Any:
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(values, dtype=np.float32))


def _write_parquet(path: Path, table: Any) -> None:
    import pyarrow.parquet as pq

    # random digits do not compress: plain numbers are written five times as fast and as small
    pq.write_table(
        table, path, compression="snappy", use_dictionary=["item"] if table.num_rows < ROWS_AT_ONCE else []
    )


def _write_delimited(delimiter: str) -> Callable[[Path, Any], None]:
    def write(path: Path, table: Any) -> None:
        import pyarrow.csv as arrow_csv

        arrow_csv.write_csv(table, path, arrow_csv.WriteOptions(delimiter=delimiter))

    return write


def _write_json_lines(path: Path, table: Any) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for batch in table.to_batches(max_chunksize=ROWS_AT_ONCE):
            columns = [_short_numbers(column) for column in batch.columns]
            for row in zip(*columns, strict=True):
                text = json.dumps(dict(zip(table.column_names, row, strict=True)), ensure_ascii=False)
                file.write(text + "\n")


def _short_numbers(column: Any) -> list[Any]:
    """Single precision as the shortest number that reads back the same: 0.1, not 0.10000000149011612."""
    import pyarrow.types as kinds

    if not kinds.is_floating(column.type):
        return list(column.to_pylist())
    return [float(str(value)) for value in column.to_numpy(zero_copy_only=False)]


_WRITERS: dict[str, Callable[[Path, Any], None]] = {
    "parquet": _write_parquet,
    "csv": _write_delimited(","),
    "tsv": _write_delimited("\t"),
    "jsonl": _write_json_lines,
}


# -------------------------------------------------------------------------------------------- datasets, tasks
def _write_dataset(path: Path, labels: SoftLabels) -> None:
    """A folder that ``datasets.load_from_disk`` opens; written with pyarrow alone."""
    import pyarrow as pa

    def lists(values: AnyArray) -> Any:
        flat = _single(values.ravel())
        return pa.ListArray.from_arrays(
            pa.array(np.arange(len(values) + 1, dtype=np.int32) * values.shape[1]), flat
        )

    item = _arrow_names(labels.ids)
    names = ["item", "soft_label", "label", "evidence"]
    arrays = [item, lists(labels.p), pa.array(labels.p.argmax(axis=1)), _single(labels.evidence)]
    number, sequence = {"dtype": "float32", "_type": "Value"}, {"_type": "Sequence"}
    features: dict[str, Any] = {
        "item": {"dtype": str(item.type), "_type": "Value"},
        "soft_label": {"feature": number, **sequence},
        "label": {"names": [str(label) for label in labels.classes.tolist()], "_type": "ClassLabel"},
        "evidence": number,
    }
    if labels.lower is not None and labels.upper is not None:
        names += ["lower", "upper"]
        arrays += [lists(labels.lower), lists(labels.upper)]
        features |= {"lower": {"feature": number, **sequence}, "upper": {"feature": number, **sequence}}
    schema_facts = {"huggingface": json.dumps({"info": {"features": features}})}
    if labels.metadata:
        schema_facts[METADATA_KEY] = json.dumps(labels.metadata)
    table = pa.table(arrays, names=names).replace_schema_metadata(schema_facts)
    info = {"citation": "", "description": json.dumps({METADATA_KEY: labels.metadata}), "features": features}
    state: dict[str, Any] = {
        "_data_files": [{"filename": DATASET_FILE}],
        "_fingerprint": digest([labels.p], size=KEY_BYTES).hex(),
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    with replaced_folder(path, DATASET_MARK) as folder:
        with (folder / DATASET_FILE).open("wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=ROWS_AT_ONCE)
        (folder / "state.json").write_text(json.dumps(state, indent=2), encoding="utf-8")
        (folder / DATASET_MARK).write_text(
            json.dumps({**info, "homepage": "", "license": ""}, indent=2), encoding="utf-8"
        )


def _write_tasks(path: Path, labels: SoftLabels, names: LabelStudioNames) -> None:
    """A list of tasks with one prediction each, as Label Studio imports them."""
    version = str(labels.metadata.get("versions", {}).get("softspread", ""))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("[\n")
        for number, task in enumerate(_tasks(labels, names, f"softspread {version}".strip())):
            file.write(
                (",\n" if number else "") + json.dumps(task, ensure_ascii=False, separators=SHORTEST_JSON)
            )
        file.write("\n]\n")


def _tasks(labels: SoftLabels, names: LabelStudioNames, version: str) -> Iterator[dict[str, Any]]:
    classes = [str(label) for label in labels.classes.tolist()]
    best = labels.p.argmax(axis=1)
    for row, item in enumerate(labels.ids.tolist()):
        p = [round(value, 6) for value in labels.p[row].tolist()]
        choice = {
            "from_name": names.from_name,
            "to_name": names.to_name,
            "type": "choices",
            "value": {"choices": [classes[best[row]]]},
        }
        yield {
            "data": {names.item_field: item},
            "predictions": [{"model_version": version, "score": p[best[row]], "result": [choice]}],
            "meta": {
                "p": dict(zip(classes, p, strict=True)),
                "evidence": round(float(labels.evidence[row]), 6),
            },
        }


# ---------------------------------------------------------------------------------------------------- reading
def read_soft_labels(path: str | Path, *, needs_evidence: bool = True) -> SoftLabels:
    """Soft labels that :func:`write_soft_labels` wrote: parquet, csv, tsv, jsonl or a datasets folder.

    Parameters
    ----------
    needs_evidence : False also takes predictions without that column; their evidence is 0
    """
    source = Path(path)
    if source.is_dir():
        return _read_dataset(source)
    check_source(source, READABLE, "soft labels")
    metadata: Mapping[str, Any] = {}
    if source.suffix.lower() == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(source)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{source} is not a readable Parquet file ({str(error)[:150]}).") from error
        metadata = json.loads((table.schema.metadata or {}).get(METADATA_KEY.encode(), b"{}"))
        columns: Mapping[str, Any] = {
            name: table.column(name).to_numpy() if name != "item" else table.column(name).to_pylist()
            for name in table.column_names
        }
        items = columns.get("item")
    else:
        raw = read_json_lines(source) if source.suffix.lower() == ".jsonl" else read_delimited(source)
        columns, items = raw.columns, raw.columns.get("item")
        if items is not None and raw.is_text:
            items = numbers_if_whole(objects(items))
        beside = metadata_path(source)
        if beside.is_file():
            metadata = json.loads(beside.read_text(encoding="utf-8"))
    if not needs_evidence and items is not None and "evidence" not in columns:
        columns = {**columns, "evidence": np.zeros(len(items))}
    return _from_columns(source, columns, items, metadata)


def _from_columns(
    source: Path, columns: Mapping[str, Any], items: Any, metadata: Mapping[str, Any]
) -> SoftLabels:
    found = [name.removeprefix("p_") for name in columns if name.startswith("p_")]
    if items is None or not found or "evidence" not in columns:
        kind = " (weighted rows cannot be turned back)" if "weight" in columns else ""
        raise InputError(
            f"{source} holds no soft labels{kind}; expected the columns item, p_<class>..., evidence that "
            f"'softspread spread' writes, got {', '.join(map(repr, list(columns)[:10]))}."
        )

    def stacked(prefix: str) -> FloatArray:
        try:
            return np.column_stack(
                [np.asarray(columns[f"{prefix}_{name}"], dtype=np.float64) for name in found]
            )
        except KeyError as error:
            raise InputError(
                f"{source} lacks the column {error}; write it again with 'softspread spread'."
            ) from error
        except (TypeError, ValueError) as error:
            raise InputError(f"{source}: the columns {prefix}_... must hold numbers ({error}).") from error

    ranged = any(name.startswith("lower_") for name in columns)
    named = metadata.get("classes")
    classes: Any = named if isinstance(named, list) and [str(name) for name in named] == found else found
    array = np.array(classes) if all(isinstance(name, int) for name in classes) else objects(classes)
    return SoftLabels(
        np.asarray(items) if all(isinstance(item, int | np.integer) for item in items) else objects(items),
        array,
        stacked("p"),
        np.asarray(columns["evidence"], dtype=np.float64),
        stacked("lower") if ranged else None,
        stacked("upper") if ranged else None,
        metadata,
    )


def _read_dataset(source: Path) -> SoftLabels:
    import pyarrow as pa

    file = source / DATASET_FILE
    if not file.is_file():
        raise InputError(f"{source} is no datasets folder of soft labels; it lacks {DATASET_FILE}.")
    try:
        with pa.ipc.open_stream(file.read_bytes()) as reader:
            table = reader.read_all()
        facts = table.schema.metadata or {}
        features = json.loads(facts[b"huggingface"])["info"]["features"]
        metadata = json.loads(facts.get(METADATA_KEY.encode(), b"{}"))
        names = metadata.get("classes") or features["label"]["names"]
        p = np.array(table.column("soft_label").to_pylist(), dtype=np.float64)
        ranged = "lower" in table.column_names
        bounds = [
            np.array(table.column(n).to_pylist(), dtype=np.float64) for n in ("lower", "upper") if ranged
        ]
        items = table.column("item").to_pylist()
        evidence = table.column("evidence").to_numpy().astype(np.float64)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise InputError(f"{source} is no datasets folder of soft labels ({str(error)[:150]}).") from error
    return SoftLabels(
        np.asarray(items) if all(isinstance(item, int) for item in items) else objects(items),
        np.array(names) if all(isinstance(name, int) for name in names) else objects(names),
        p,
        evidence,
        bounds[0] if ranged else None,
        bounds[1] if ranged else None,
        metadata,
    )
