"""Soft labels as a folder that Hugging Face's ``datasets.load_from_disk`` opens; written with pyarrow alone.

item, soft_label, label, evidence, lower, upper, verdict; the facts of the run in schema and description
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common import validation
from softspread._common.arrow import arrow
from softspread._common.atomic import replaced_folder
from softspread._common.digests import KEY_BYTES, digest
from softspread._common.kinds import MULTILABEL, ORDINAL, SINGLE
from softspread._common.types import AnyArray, FloatArray
from softspread._common.validation import objects
from softspread.errors import InputError
from softspread.intervals.levels import EXPECTED
from softspread.io.formats import DATASET_MARK
from softspread.io.parquet import METADATA_KEY, arrow_names, single_precision
from softspread.spreading.evidence import SoftLabels

DATASET_FILE = "data-00000-of-00001.arrow"
COLUMNS = ("item", "soft_label", "label", "evidence", "lower", "upper", "verdict")
ROWS_AT_ONCE = 50_000  # of a record batch
NUMBER = {"dtype": "float32", "_type": "Value"}
NUMBERS = {"feature": NUMBER, "_type": "Sequence"}


def write_dataset(path: Path, labels: SoftLabels) -> None:
    """Write the folder; it appears whole or not at all."""
    pa = arrow(what="a datasets folder")

    item = arrow_names(labels.ids)
    columns = {
        "item": (item, {"dtype": str(item.type), "_type": "Value"}),
        "soft_label": (_lists(labels.p), NUMBERS),
        "label": _label_column(labels),
        "evidence": (single_precision(labels.evidence), NUMBER),
    }
    if labels.lower is not None and labels.upper is not None:
        columns |= {"lower": (_lists(labels.lower), NUMBERS), "upper": (_lists(labels.upper), NUMBERS)}
    for name, words in labels.words().items():
        columns[name] = arrow_names(words), {"dtype": "string", "_type": "Value"}
    for name, values in labels.more.items():
        if values.dtype.kind == "f":
            columns[name] = single_precision(values), NUMBER
    features = {name: kind for name, (_, kind) in columns.items()}
    facts = {"huggingface": json.dumps({"info": {"features": features}})}
    if labels.metadata:
        facts[METADATA_KEY] = json.dumps(labels.metadata)
    table = pa.table({name: array for name, (array, _) in columns.items()}).replace_schema_metadata(facts)
    about = json.dumps({METADATA_KEY: labels.metadata})
    info = {"citation": "", "description": about, "features": features, "homepage": "", "license": ""}
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
        for name, content in (("state.json", state), (DATASET_MARK, info)):
            (folder / name).write_text(json.dumps(content, indent=2), encoding="utf-8")


def _label_column(labels: SoftLabels) -> tuple[Any, dict[str, Any]]:
    """The most probable class by number; of several classes the numbers of those with at least one half."""
    pa = arrow(what="a datasets folder")

    kind = {"names": [str(label) for label in labels.classes.tolist()], "_type": "ClassLabel"}
    if labels.kind != MULTILABEL:
        return pa.array(labels.p.argmax(axis=1)), kind
    rows = [np.flatnonzero(row).tolist() for row in labels.p >= 0.5]
    return pa.array(rows, pa.list_(pa.int64())), {"feature": kind, "_type": "Sequence"}


def _lists(values: AnyArray) -> Any:
    pa = arrow(what="a datasets folder")

    starts = pa.array(np.arange(len(values) + 1, dtype=np.int32) * values.shape[1])
    return pa.ListArray.from_arrays(starts, single_precision(values.ravel()))


def read_dataset(source: Path) -> SoftLabels:
    """Soft labels of a folder that :func:`write_dataset` wrote."""
    pa = arrow(what="a datasets folder")

    file = source / DATASET_FILE
    if not file.is_file():
        raise InputError(f"{source} is not a datasets folder of soft labels; it lacks {DATASET_FILE}.")
    try:
        with pa.ipc.open_stream(file.read_bytes()) as reader:
            table = reader.read_all()
        facts = table.schema.metadata or {}
        features = json.loads(facts[b"huggingface"])["info"]["features"]
        metadata = json.loads(facts.get(METADATA_KEY.encode(), b"{}"))

        def numbers(name: str) -> FloatArray:
            return np.array(table.column(name).to_pylist(), dtype=np.float64)

        ranged = "lower" in table.column_names
        label = features["label"]
        more = {
            name: numbers(name) if pa.types.is_floating(kind) else objects(table.column(name).to_pylist())
            for name, kind in zip(table.column_names, table.schema.types, strict=True)
            if name not in COLUMNS
        }
        kind = MULTILABEL if "feature" in label else ORDINAL if EXPECTED[0] in more else SINGLE
        return SoftLabels(
            validation.names(objects(table.column("item").to_pylist()), "item id"),
            validation.names(
                objects(metadata.get("classes") or label.get("feature", label)["names"]), "class"
            ),
            numbers("soft_label"),
            numbers("evidence"),
            numbers("lower") if ranged else None,
            numbers("upper") if ranged else None,
            metadata,
            objects(table.column("verdict").to_pylist()) if "verdict" in table.column_names else None,
            kind,
            more,
        )
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise InputError(f"{source} is not a datasets folder of soft labels ({str(error)[:150]}).") from error
