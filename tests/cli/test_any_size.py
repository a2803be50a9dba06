"""``softspread spread`` in blocks: the same soft labels, refusals that say what is possible."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from command_line import N, fitted, refused, run
from softspread.io.soft_labels import read_soft_labels

BLOCKS = ("--method", "pls", "--interval", "wilson", "--memory-limit", "2GB", "--block-items", "60")


@pytest.fixture
def files(folder):
    """Items in Parquet with ids, and the votes of the fixture."""
    data = np.load(folder / "X.npz")
    pd.DataFrame({"item": data["ids"], "vector": list(data["embeddings"])}).to_parquet("X.parquet")
    return "-e", "X.parquet", "-v", "votes.csv", "--classes", "cat,dog"


def test_blocks_agree_with_the_library(folder, files):
    """By id, with the facts as JSON; the work folder is gone."""
    result = run("spread", *files, *BLOCKS, "--index", "exact", "-o", "s.parquet", "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    found = read_soft_labels("s.parquet")
    est = fitted(folder, "pls", index="exact")
    order = np.argsort(found.ids)
    np.testing.assert_allclose(found.p[order], est.predict_proba(), atol=2e-4)
    assert found.ids[order].tolist() == [f"img_{row:03d}" for row in range(N)]
    assert (facts["alpha"], facts["n_items"], facts["out"]) == (est.alpha_, N, ["s.parquet"])
    assert not (folder / "s.parquet.blocks").exists()
    assert pd.read_parquet("s.parquet").columns.tolist() == est.soft_labels().to_frame().columns.tolist()


def test_a_prior_on_disk_counts(folder, files):
    """As it does in memory."""
    prior = np.random.default_rng(0).dirichlet(np.ones(2), N)
    np.save("prior.npy", prior)
    more = ("--prior", "prior.npy", "--prior-strength", "2", "--alpha", "0.9", "--index", "exact")
    assert run("spread", *files, *BLOCKS, *more, "-o", "s.parquet").exit_code == 0
    found = read_soft_labels("s.parquet")
    est = fitted(folder, "pls", index="exact", alpha=0.9, prior=prior, prior_strength=2.0)
    np.testing.assert_allclose(found.p[np.argsort(found.ids)], est.predict_proba(), atol=2e-4)


def test_a_dry_run_says_what_is_needed(files):
    """Memory, disk and the size of blocks; nothing is written."""
    result = run("spread", *files, *BLOCKS, "--dry-run", "--json")
    facts = json.loads(result.stdout)
    assert facts["memory_limit_bytes"] == 2 * 10**9 > facts["expected_memory_bytes"] > 0
    assert facts["expected_disk_bytes"] > 0
    assert "GB of disk. Nothing was written" in run("spread", *files, *BLOCKS, "--dry-run").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--memory-limit", "8GB"), "need --method pls"),
        (("--cluster", "local", "--method", "blend"), "Add --method pls --interval wilson"),
        (("--memory-limit", "8GB", "--method", "pls"), "add --interval wilson"),
        ((*BLOCKS, "--report", "r.html"), "--report does not work in blocks"),
        ((*BLOCKS, "--solver", "cg"), "--solver does not work in blocks"),
        ((*BLOCKS, "--n-neighbors", "auto"), "--n-neighbors auto does not work in blocks"),
        ((*BLOCKS[:-4], "--memory-limit", "many"), "like 8GB"),
        (("--restart",), "--restart is for a run in blocks"),
        ((*BLOCKS, "--cluster", "nowhere"), "tcp://host:8786"),
    ],
)
def test_what_blocks_cannot_do_is_refused(files, options, message):
    """With what they can."""
    refused(run("spread", *files, "-o", "s.parquet", "--quiet", *options), message)


def test_the_target_is_a_folder_of_parts(files):
    """Its name says so."""
    refused(run("spread", *files, *BLOCKS, "-o", "s.csv", "--quiet"), "name it *.parquet")


def test_without_dask_the_extra_is_named(files, monkeypatch):
    """Before any work."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run("spread", *files, *BLOCKS, "--cluster", "local", "-o", "s.parquet")
    assert result.exit_code == 2
    assert "softspread[cluster]" in result.stderr
