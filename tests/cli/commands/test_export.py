"""``softspread export``: the same soft labels in another format."""

import json

import numpy as np
import pandas as pd

from command_line import FILES, run
from softspread.io.soft_labels import read_soft_labels


def test_export_converts_and_keeps_the_facts(folder):
    """Parquet to CSV and back is the same file of labels."""
    run("spread", *FILES, "-o", "s.parquet", "-q")
    before = read_soft_labels("s.parquet")
    for source, target in (("s.parquet", "s.csv"), ("s.csv", "folder"), ("folder", "back.parquet")):
        result = run("export", source, "--out", target)
        assert result.exit_code == 0, result.output
    after = read_soft_labels("back.parquet")
    np.testing.assert_allclose(after.p, before.p, atol=1e-7)
    assert after.metadata == before.metadata
    document = json.loads(
        run(
            "export", "s.parquet", "-o", "w.csv", "--format", "weighted", "--least-evidence", 0.5, "--json"
        ).stdout
    )
    assert document["n_items"] == int((before.evidence >= 0.5).sum())
    assert len(pd.read_csv("w.csv")) == 2 * document["n_items"]
