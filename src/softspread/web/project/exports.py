"""Files to download: soft labels as the command line writes them, standing votes, the log itself."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread.estimators.fitted import parts_of
from softspread.io.label_studio import LabelStudioNames
from softspread.io.soft_labels import write_soft_labels
from softspread.io.spreadsheets import frame_for_csv
from softspread.spreading.evidence import SoftLabels
from softspread.votes.table import VoteTable
from softspread.web.log.entry import KIND_NAMES
from softspread.web.log.store import LOG_COLUMNS
from softspread.web.project.learner import CONFIDENCE_LEVEL, questions_of
from softspread.web.project.service import Service

READ_AT_ONCE = 2**16  # bytes
_MEDIA_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".jsonl": "application/x-ndjson",
    ".json": "application/json",
    ".parquet": "application/vnd.apache.parquet",
}
# For the API's document
CONTENTS: dict[str, dict[str, str]] = {kind.split(";")[0]: {} for kind in _MEDIA_TYPES.values()}


def media_type(name: str) -> str:
    """By the ending."""
    return _MEDIA_TYPES[Path(name).suffix]


def stream(service: Service, name: str, tasks: LabelStudioNames | None = None) -> Iterator[bytes]:
    """The file ``name`` in pieces; it is written to a temporary place first."""
    with tempfile.TemporaryDirectory(prefix="softspread-export-") as folder:
        path = Path(folder) / name
        write(service, path, tasks)
        with path.open("rb") as file:
            while piece := file.read(READ_AT_ONCE):
                yield piece


def write(service: Service, path: Path, tasks: LabelStudioNames | None = None) -> None:
    """One export, by its name: soft_labels.*, votes.* or log.*; ``tasks``: how Label Studio calls things."""
    if path.stem == "soft_labels":
        write_soft_labels(path, soft_labels(service), names=tasks)
    else:
        _write_frame(path, log_frame(service) if path.stem == "log" else votes_frame(service))


def soft_labels(service: Service) -> SoftLabels:
    """The answer of `softspread spread` to the votes that stand now, from a separate fit."""
    return service.learner.fit().soft_labels(CONFIDENCE_LEVEL)


def votes_frame(service: Service) -> pd.DataFrame:
    """Standing votes as `softspread spread` reads them, of several classes one answer per row."""
    history, classes = service.history, np.array(service.classes, dtype=object)
    stop = len(history)  # votes may come in meanwhile
    places = history.standing_votes(stop)[1]
    tables, several = _as_counted(service, stop), service.settings.several
    parts = []
    for question, table in enumerate(tables):
        frame = pd.DataFrame({"item": service.items.ids[table.rows]})
        frame["label"] = classes[question] if several else classes[table.columns]
        if several:
            frame["answer"] = table.columns
        frame["weight"], frame["annotator"] = table.weights, table.annotators
        said = history.answers.said(history.column("column")[places], question) >= 0
        frame["created_at"] = _times(history.column("created_at")[places[said]])
        parts.append(frame.set_index(places[said]))
    return pd.concat(parts).sort_index(kind="stable")  # the answers of a person on an item stand together


def _as_counted(service: Service, stop: int) -> list[VoteTable]:
    """The votes on each question as the soft labels count them: less where a suggestion may have decided."""
    if not service.history.column("seen").any():
        return [table for table, _ in service.learner.asked(stop)]
    return [parts_of(one).votes for one in questions_of(service.learner.fit(stop))]


def log_frame(service: Service) -> pd.DataFrame:
    """Every line of the log as it stands in the database."""
    lines = [tuple(row) for block in service.store.read_log() for row in block]
    frame = pd.DataFrame(lines, columns=LOG_COLUMNS)
    frame["kind"] = frame["kind"].map(KIND_NAMES).astype(object)
    frame["undoes"] = frame["undoes"].astype("Int64")
    frame["created_at"] = _times(frame["created_at"].astype(float))
    return frame


def _times(seconds: Any) -> Any:
    return pd.to_datetime(seconds, unit="s", utc=True)


def _write_frame(path: Path, frame: pd.DataFrame) -> None:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, date_format="iso")
    else:
        frame_for_csv(frame).to_csv(path, index=False)
