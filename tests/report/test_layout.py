"""Items laid out for the eye."""

import numpy as np

from softspread import knn_graph
from softspread.report.layout import lay_out


def test_map_puts_neighbours_together():
    """From a start that mixes all items, neighbours in the graph end up several times closer than other
    pairs."""
    rng = np.random.default_rng(0)
    graph = knn_graph(np.concatenate([rng.normal(centre, 1, (30, 3)) for centre in (0, 20, 40)]), 5)
    places = lay_out(graph, rng.normal(size=(90, 2)), np.random.default_rng(1))
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    tied = graph.S.toarray() > 0
    assert np.isfinite(places).all()
    assert np.median(distances[tied]) < np.median(distances[~tied]) / 3


def test_map_survives_coinciding_items():
    """Items in one place, in the data and at the start, give finite places."""
    graph = knn_graph(np.zeros((6, 2)), 2)
    places = lay_out(graph, np.zeros((6, 2)), np.random.default_rng(1))
    assert np.isfinite(places).all()
