"""``softspread bench``: both ways give the same soft labels."""

import json

from command_line import run


def test_bench_compares_equal_labels(folder):
    """Both ways give the same soft labels."""
    document = json.loads(run("bench", "--n-items", 200, "--n-votes", 20, "--n-classes", 3, "--json").stdout)
    assert document["largest_difference"] < 1e-3
    assert document["fit_seconds"] > 0
    assert "times as fast" in run("bench", "--n-items", 200, "--n-votes", 20).stdout
