"""A graph and the dense answer that solvers are compared with."""

import numpy as np

from softspread import knn_graph


def two_blobs():
    """Two blobs, one of them with an isolated pair far away."""
    rng = np.random.default_rng(5)
    X = np.concatenate(
        [rng.normal(size=(150, 3)), rng.normal(8, 1, size=(90, 3)), [[900, 0, 0], [901, 0, 0]]]
    )
    return knn_graph(X, n_neighbors=7)


def dense_answer(graph, alpha, B):
    """X with (I - alpha S) X = B, in inner numbering."""
    return np.linalg.solve(np.eye(graph.n_items) - alpha * graph.inner_operator().toarray(), B)


def algorithm_1(graph, rows, columns, n_classes, alpha, scaling):
    """Dense inverse of the user's S, one profile per vote, exactly as printed."""
    n = graph.n_items
    inverse = np.linalg.inv(np.eye(n) - alpha * graph.S.toarray())
    Y = np.zeros((n, n_classes))
    for row, column in zip(rows, columns, strict=True):
        phi = inverse[:, row]
        Y[:, column] += phi / {"peak": phi.max(), "source": phi[row], "none": 1.0}[scaling]
    return Y
