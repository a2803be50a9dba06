"""Ids are text: 007 stays 007 through every door, and 7 is another item."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import run
from softspread.io.embeddings import read_embeddings
from softspread.io.soft_labels import read_soft_labels
from softspread.web.project.items import read_items

N = 40
IDS = [f"{row:03d}" for row in range(N)]  # 000, 001, ..., 039


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Two groups of items whose ids have leading zeros: features and pictures in tables, votes in another."""
    Image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    X = rng.normal(size=(N, 3)) + 6 * group[:, None]
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(item=IDS).to_csv("features.csv", index=False)
    for row in range(N):
        pixels = rng.integers(0, 60, size=(4, 4, 3)) + 150 * group[row]
        Image.fromarray(pixels.astype(np.uint8)).save(f"{row}.png")
    names = [f"{row}.png" for row in range(N)]
    pd.DataFrame({"id": IDS, "path": names}).to_csv("pictures.csv", index=False)
    voted = rng.integers(N, size=60)
    votes = pd.DataFrame({"item": np.array(IDS)[voted], "label": np.array(["cat", "dog"])[group[voted]]})
    votes.loc[0] = ["007", "dog"]
    votes.to_csv("votes.csv", index=False)
    return tmp_path


def good(*arguments):
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.parametrize(("table", "encoder"), [("features.csv", "none"), ("pictures.csv", "pixels:4")])
def test_007_stays_007_from_table_to_soft_labels(home, table, encoder):
    """Embedded, spread, explained, chosen, exported, shown: the id is the one that was written."""
    good("embed", table, "--encoder", encoder, "--reduce", "none", "-o", "X.parquet", "-q")
    assert read_embeddings("X.parquet").item_ids.tolist() == IDS
    files = ("-e", "X.parquet", "-v", "votes.csv", "--alpha", 0.8)
    good("spread", *files, "-o", "soft.csv", "-q")
    assert read_soft_labels("soft.csv").ids.tolist() == IDS
    good("export", "soft.csv", "-o", "soft.jsonl", "-q")
    assert read_soft_labels("soft.jsonl").ids.tolist() == IDS
    answer = json.loads(good("explain", "007", *files, "--json").stdout)
    assert answer["item"] == "007"
    (home / "handed_out.txt").write_text("\n".join(IDS[:-1]))
    good("query", *files, "--batch-size", 1, "--exclude", "handed_out.txt", "-o", "next.csv", "-q")
    assert (home / "next.csv").read_text().splitlines()[1].startswith(f"{IDS[-1]},")
    shown = read_items(table if encoder != "none" else None, read_embeddings("X.parquet").item_ids, N)
    assert shown.ids.tolist() == IDS


def test_7_is_not_007(home):
    """A vote on 7 is refused, with ids as they are."""
    good("embed", "features.csv", "--encoder", "none", "--reduce", "none", "-o", "X.parquet", "-q")
    (home / "wrong.csv").write_text("item,label\n7,cat\n010,dog\n")
    done = run("spread", "-e", "X.parquet", "-v", "wrong.csv", "-o", "soft.csv")
    assert done.exit_code == 2
    assert "1 of 2 votes name unknown items: '7' (the 40 items have ids such as '000', '001')" in done.stderr
    assert run("explain", "7", "-e", "X.parquet", "-v", "votes.csv", "--alpha", 0.8).exit_code == 2


def test_007_is_not_7(home):
    """Nor is it the other way round, where the items have numbers."""
    np.savez("numbers.npz", X=np.random.default_rng(0).normal(size=(9, 2)), ids=np.arange(9))
    (home / "votes.csv").write_text("item,label\n3,cat\n4,dog\n")
    files = ("-e", "numbers.npz", "-v", "votes.csv", "--alpha", 0.8)
    assert json.loads(good("explain", "7", *files, "--json").stdout)["item"] == 7
    assert run("explain", "007", *files).exit_code == 2
    (home / "votes.csv").write_text("item,label\n007,cat\n4,dog\n")
    assert "'007'" in run("spread", *files, "-o", "soft.csv").stderr


def test_ids_of_other_types_meet_as_text(home):
    """Numbers of a Parquet file, excluded by a list of text, belong to items whose ids are text."""
    ids = np.array([str(row) for row in range(N)])
    np.savez("text.npz", X=np.random.default_rng(0).normal(size=(N, 2)), ids=ids)
    pd.DataFrame({"item": np.arange(4), "label": list("abab")}).to_parquet("votes.parquet")
    (home / "handed_out.txt").write_text("\n".join(ids[:-1]))
    files = ("-e", "text.npz", "-v", "votes.parquet", "--alpha", 0.8)
    good("query", *files, "--batch-size", 1, "--exclude", "handed_out.txt", "-o", "next.csv", "-q")
    assert (home / "next.csv").read_text().splitlines()[1].startswith(f"{N - 1},")
