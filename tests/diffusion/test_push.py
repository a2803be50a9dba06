"""Local pushes."""

import numpy as np

from softspread import affinity_graph
from softspread._kernels.push import push_scratch
from softspread.diffusion import push


def test_push_stops_at_the_floor_everywhere():
    """After a push no residual is above its share of the floor, and x + M r is the exact answer."""
    graph = affinity_graph(np.ones((6, 6)))
    root = graph.inner_root
    x, r = np.zeros(6), np.zeros(6)
    r[2] = 1.0
    level, n_touched, edges = push.push_residual(
        graph.inner_system(0.9), x, r, np.array([2]), 1e-3, 10**9, push_scratch(6)
    )
    assert level <= 1e-3
    assert (np.abs(r) <= 1e-3 * root).all()
    assert n_touched == 6
    assert edges > 0
    M = np.linalg.inv(np.eye(6) - 0.9 * graph.inner_operator().toarray())
    np.testing.assert_allclose(x + M @ r, M[:, 2], atol=1e-12)
