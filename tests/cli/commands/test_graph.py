"""``softspread graph``: facts about the graph, and a file that Python loads."""

import json

from command_line import refused, run


def test_graph_describes_and_saves(folder):
    """The saved graph loads in Python."""
    from softspread import Graph

    document = json.loads(
        run("graph", "-e", "X.npy", "--n-neighbors", 6, "--out", "g.softspread", "--json").stdout
    )
    assert document["n_neighbors"] == 6
    assert Graph.load("g.softspread").n_edges == 2 * document["edges"]
    assert "150 items" in run("graph", "-e", "X.npy").stdout
    refused(run("graph", "-e", "X.npy", "--n-neighbors", "auto"), "must be a whole number here")
