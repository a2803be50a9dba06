"""``--add``: further items join the graph of the others."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import N, refused, run

SOME = 130  # items of the first file


@pytest.fixture
def parts(folder):
    """The items in three files: most of them, and two batches that came later."""
    data = np.load(folder / "X.npz")
    for name, part in (("some", slice(SOME)), ("more", slice(SOME, 140)), ("last", slice(140, N))):
        np.savez(folder / f"{name}.npz", embeddings=data["embeddings"][part], ids=data["ids"][part])
    return folder


def test_added_items_give_the_soft_labels_of_all_at_once(parts):
    """The graph of the first ones and that of the first batch come from the workspace."""
    votes, out = ("-v", "votes.csv"), ("--json", "--out")
    run("spread", "-e", "some.npz", *votes, "--skip-unknown", "-w", "ws", *out, "a.csv")
    run("spread", "-e", "some.npz", "--add", "more.npz", *votes, "--skip-unknown", "-w", "ws", *out, "b.csv")
    both = ("--add", "more.npz", "--add", "last.npz")
    grown = run("spread", "-e", "some.npz", *both, *votes, "-w", "ws", *out, "c.csv")
    assert grown.exit_code == 0, grown.output
    reused = json.loads(grown.stdout)["reused"]
    assert reused.count("graph") == 2
    whole = run("spread", "-e", "X.npz", *votes, *out, "d.csv")
    assert whole.exit_code == 0
    one, other = (pd.read_csv(parts / name) for name in ("c.csv", "d.csv"))
    assert one["item"].tolist() == other["item"].tolist()
    numbers = [name for name in one if one[name].dtype.kind == "f"]
    np.testing.assert_allclose(one[numbers], other[numbers], rtol=1e-5, atol=1e-6)
    explained = run("explain", "img_149", "-e", "some.npz", *both, *votes, "--json")
    assert json.loads(explained.stdout)["item"] == "img_149"


def test_new_items_far_from_all_others_are_named(parts):
    """A broken one stands a hundred units away."""
    np.savez(parts / "odd.npz", embeddings=np.full((1, 3), 100.0), ids=np.array(["odd"]))
    found = run("spread", "-e", "X.npz", "--add", "odd.npz", "-v", "votes.csv", "--out", "o.csv")
    assert "1 new item far from all others, such as 'odd'" in found.stderr


def test_what_cannot_join_is_refused(parts):
    """Known ids, another number of dimensions, items without ids, another kind of fit."""
    np.savez(parts / "flat.npz", embeddings=np.zeros((2, 2)), ids=np.array(["p", "q"]))
    np.save(parts / "unnamed.npy", np.zeros((2, 3)))
    cases = {
        ("more.npz",): "10 items of --add with an id",
        ("flat.npz",): "2 dimensions",
        ("unnamed.npy",): "the items of --add have no ids",
        ("none.npz",): "none.npz",
        ("last.npz", "--method", "pls", "--n-neighbors", "auto"): "number of neighbours",
        ("last.npz", "--method", "pls", "--interval", "wilson", "--memory-limit", "1GB"): "--add does not",
    }
    for (name, *options), message in cases.items():
        base = "X.npz" if name == "more.npz" else "some.npz"
        known = ("-v", "votes.csv", "--skip-unknown", "--out", "no.parquet")
        refused(run("spread", "-e", base, "--add", name, *options, *known), message)
    assert not (parts / "no.parquet").exists()
