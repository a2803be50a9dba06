"""Fixtures of the command line's tests."""

import os

import numpy as np
import pandas as pd
import pytest

from command_line import N


@pytest.fixture
def folder(tmp_path):
    """Two groups of items with ids, and votes by two annotators; the current folder of the test."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    X = rng.normal(size=(N, 3)) + 4 * group[:, None]
    ids = np.array([f"img_{row:03d}" for row in range(N)])
    np.savez(tmp_path / "X.npz", embeddings=X, ids=ids)
    np.save(tmp_path / "X.npy", X)
    rows = np.repeat(rng.permutation(N), 2)
    labels = np.where(rng.random(300) < 0.9, group[rows], 1 - group[rows])
    frame = pd.DataFrame({"item": ids[rows], "label": np.array(["cat", "dog"])[labels]})
    frame["annotator"] = np.where(np.arange(300) % 2, "ann", "bob")
    frame.to_csv(tmp_path / "votes.csv", index=False)
    before = os.getcwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)
