"""Sparse profiles are lower bounds with a stated, tested gap."""

import numpy as np
import pytest

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.profiles import local_profiles


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("floor", [1e-2, 1e-4])
def test_profiles_miss_no_more_than_they_say(normalization, floor, rng):
    """Every kept entry is at most the true one and closer than the push bound."""
    graph = knn_graph(rng.normal(size=(300, 2)), n_neighbors=6, normalization=normalization)
    diffusion = Diffusion(graph, 0.9, solver="dense")
    rows = rng.integers(0, 300, 25)
    kept = local_profiles(diffusion, rows, floor).toarray()
    truth = np.array([diffusion.literal_profile(int(row)) for row in rows])
    scales = diffusion.scales(rows)
    root = diffusion.root_degrees(np.arange(300))
    reach = root[None, :] if normalization == "symmetric" else root[rows][:, None]
    gap = reach * floor / (0.1 * scales[:, None])
    assert (truth - kept >= -1e-12).all()
    assert (truth - kept <= gap + 1e-12).all()
    assert kept[np.arange(25), rows].min() > 0.9


def test_no_rows_give_an_empty_table(rng):
    """Nothing asked, nothing computed."""
    diffusion = Diffusion(knn_graph(rng.normal(size=(20, 2)), n_neighbors=3), 0.9)
    assert local_profiles(diffusion, np.empty(0, dtype=np.int64)).shape == (0, 20)
