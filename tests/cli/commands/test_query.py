"""``softspread query``: the items to vote on next."""

import json

import pandas as pd

from command_line import FILES, N, refused, run


def test_query_names_items_that_exist_and_leaves_out_the_excluded(folder):
    """Ids of the file, each once; the CSV can be handed to annotators."""
    (folder / "done.txt").write_text("".join(f"img_{row:03d}\n" for row in range(N - 5)))
    result = run("query", *FILES, "-n", 5, "--exclude", "done.txt", "--out", "next.csv", "--json")
    picked = [row["item"] for row in json.loads(result.stdout)["items"]]
    assert sorted(picked) == [f"img_{row:03d}" for row in range(N - 5, N)]
    assert pd.read_csv("next.csv")["item"].tolist() == picked
    assert run("query", *FILES, "-n", 2, "-o", "next.json", "-q").exit_code == 0
    assert len(json.loads((folder / "next.json").read_text())) == 2
    assert run("query", *FILES, "-n", 2, "-o", "next.jsonl", "-q").exit_code == 0
    assert len((folder / "next.jsonl").read_text().splitlines()) == 2
    refused(run("query", *FILES, "-o", "next.xlsx"), "items may be .csv")
    for wrong in (("--strategy", "best"), ("--exclude", "nobody.txt")):  # before anything is read or fitted
        result = run("query", *FILES, *wrong)
        refused(result, wrong[1])
        assert "embeddings:" not in result.stderr
    assert "Vote on these next" in run("query", *FILES, "-n", 2).stdout
