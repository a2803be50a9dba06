"""Files to download hold what the command line would write."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import command_line
from softspread.io.soft_labels import read_soft_labels
from softspread.io.spreadsheets import NUMBER
from softspread.io.votes import read_vote_files
from softspread.web.project.exports import write
from softspread.web.project.items import BareItems
from web.conftest import (
    CLASSES,
    N_ITEMS,
    item_names,
    running,
    three_clusters,
    vote,
    wait_until_applied,
)
from web.project.helpers import fitted


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_soft_labels_are_exported_as_the_command_line_writes_them(voted_world, tmp_path, ending):
    """Its own reader takes the file; the soft labels are those of an estimator."""
    answer = voted_world.program("ada").get(f"/api/v1/export/soft_labels.{ending}")
    assert answer.headers["content-disposition"] == f'attachment; filename="soft_labels.{ending}"'
    path = tmp_path / f"soft_labels.{ending}"
    path.write_bytes(answer.content)
    found = read_soft_labels(path)
    assert [str(item) for item in found.ids[:2]] == ["item-000", "item-001"]
    np.testing.assert_allclose(found.p.sum(axis=1), 1, atol=1e-5)
    expected = fitted(voted_world.service).soft_labels()
    for name in ("p", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-6)
    assert [str(name) for name in found.verdict] == expected.verdict.tolist()


def test_the_command_line_gives_the_same_for_the_exported_votes(tmp_path):
    """`softspread spread` on the page's vote file, to 1e-6: names, weights, a decision, a prior."""
    X, truth = three_clusters()
    rng = np.random.default_rng(4)
    prior = 0.6 * np.eye(3)[truth] + 0.4 * rng.dirichlet(np.ones(3), N_ITEMS)
    np.savez(tmp_path / "X.npz", embeddings=X, ids=np.array(item_names()))
    np.save(tmp_path / "prior.npy", prior)
    with running(tmp_path / "data", auth=False, prior=prior) as service:
        for person, noise in (("ann", 0.1), ("ben", 0.3), ("=eve", 0.9)):
            for row in range(0, N_ITEMS, 1 if person == "ann" else 2):
                column = int(rng.integers(3)) if rng.random() < noise else int(truth[row])
                vote(service, person, item_names()[row], CLASSES[column], f"k{row}", unsure=row % 5 == 0)
        service.submit([service.undo("ben", "k4", "u")]).result(10)
        service.submit(service.decide("lead", "item-007", "bee", "d")).result(10)
        wait_until_applied(service)
        for name in ("votes.csv", "soft_labels.csv"):
            write(service, tmp_path / name)
    files = ("-e", tmp_path / "X.npz", "-v", tmp_path / "votes.csv", "--prior", tmp_path / "prior.npy")
    asked = ("--classes", ",".join(CLASSES), "--n-neighbors", 5, "-o", tmp_path / "spread.csv")
    result = command_line.run("spread", *files, *asked)
    assert result.exit_code == 0, result.output
    found, expected = (read_soft_labels(tmp_path / name) for name in ("soft_labels.csv", "spread.csv"))
    assert found.ids.tolist() == expected.ids.tolist()
    for name in ("p", "evidence", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=0, atol=1e-6)
    assert [str(name) for name in found.verdict] == [str(name) for name in expected.verdict]


def test_label_studio_takes_the_json_export(voted_world):
    """A list of tasks with predictions."""
    tasks = voted_world.program("ada").get("/api/v1/export/soft_labels.json").json()
    assert len(tasks) == N_ITEMS
    assert tasks[0]["predictions"]


def test_votes_are_exported_without_those_taken_back(voted_world, tmp_path):
    """The table can be spread again; the log has every line."""
    ada = voted_world.program("ada")
    path = tmp_path / "votes.csv"
    path.write_bytes(ada.get("/api/v1/export/votes.csv").content)
    votes = read_vote_files(path)
    assert len(votes) == 20
    assert set(votes.annotators) == {"ben", "eva"}
    log = pd.read_parquet(io.BytesIO(ada.get("/api/v1/export/log.parquet").content))
    assert log["kind"].value_counts().to_dict() == {"vote": 21, "undo": 1}
    lines = ada.get("/api/v1/export/log.jsonl").text.splitlines()
    assert json.loads(lines[-1])["undoes"] == 6


def test_no_export_holds_a_formula(tmp_path):
    """Names of annotators, items and classes are whatever people chose; the reader gives them back."""
    names = ["=1+1", "@item", "-2", *item_names()[3:]]
    with running(tmp_path, items=BareItems(names), classes=("=yes", "-no", "+7")) as service:
        for row, label in enumerate(service.classes):
            vote(service, "=HYPERLINK(0)", names[row], label, f"k{row}")
        wait_until_applied(service)
        for name in ("votes.csv", "log.csv", "soft_labels.csv"):
            path = tmp_path / name
            write(service, path)
            with path.open(newline="") as file:
                cells = [cell for row in csv.reader(file) for cell in row]
            assert [cell for cell in cells if cell[:1] in "=+-@" and not NUMBER.fullmatch(cell or "0")] == []
        votes = read_vote_files(tmp_path / "votes.csv")
    assert list(votes.items) == names[:3]
    assert list(votes.labels) == ["=yes", "-no", "+7"]
    assert set(votes.annotators) == {"=HYPERLINK(0)"}
