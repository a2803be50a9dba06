"""A folder of your own: images or features, and votes, counts or labels of them."""

from pathlib import Path

import numpy as np

from softspread._common.validation import objects
from softspread.datasets.dataset import Dataset, shares
from softspread.datasets.local_files import check_length, find_file, read_array, read_features
from softspread.errors import StoreError
from softspread.io.ids import read_ids
from softspread.io.images import list_files
from softspread.io.matching import match_votes
from softspread.io.votes import read_vote_files
from softspread.votes.reading import read_y
from softspread.votes.votes import Votes

HELP = (
    "A folder with votes holds votes.csv (columns item, label, and if known annotator), and images in it or "
    "below it, named by their path, or features_<name>.npy with items.csv (column item) that gives the order "
    "of the rows."
)


def load_folder(folder: Path, features: str | None = None) -> Dataset:
    """Items with a table of votes, whose relative frequencies count as the truth."""
    table = find_file(folder, ("votes.csv", "votes.parquet"), "votes", HELP)
    images = list_files(folder)
    if (folder / "items.csv").exists():
        items = read_ids(folder / "items.csv")
    elif images:
        items = objects(images)
    else:
        raise StoreError(f"{folder} holds neither images nor items.csv. {HELP}")
    matched = match_votes(read_vote_files(table), items, len(items), hint="Correct the file.")
    votes, names = read_y(matched.votes, len(items), items)
    counts = np.zeros((len(items), len(names.classes)))
    np.add.at(counts, (votes.rows, votes.columns), votes.weights)
    X, found = read_features(folder, features, len(items))
    return Dataset(
        folder.name,
        names.classes,
        X,
        shares(counts),
        votes=Votes(
            votes.rows,
            names.classes[votes.columns],
            votes.weights,
            votes.annotators,
            classes=names.classes,
        ),
        paths=np.array([str(folder / name) for name in images]) if len(images) == len(items) else None,
        features=found,
        note="relative frequencies of votes",
    )


def load_arrays(folder: Path, features: str | None = None) -> Dataset:
    """A folder of arrays: ``counts.npy`` or ``labels.npy`` with ``features_<name>.npy``.

    Counts are (n, n_classes) votes, labels (n,).
    """
    path = find_file(folder, ("counts.npy", "labels.npy"), "labels", "It needs counts.npy or labels.npy.")
    table = read_array(path)
    if table.ndim == 2:
        X, name = read_features(folder, features, len(table))
        votes = Votes.from_counts(table.astype(np.float64))
        note = "relative frequencies of votes"
        return Dataset(
            folder.name, np.arange(table.shape[1]), X, shares(table), votes=votes, features=name, note=note
        )
    classes, columns = np.unique(table, return_inverse=True)
    X, name = read_features(folder, features, len(table))
    labels = check_length(columns.astype(np.int64), len(table), path)
    return Dataset(folder.name, classes, X, labels=labels, features=name)
