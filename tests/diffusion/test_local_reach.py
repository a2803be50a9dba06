"""Which items a vote reaches, compared with the dense inverse."""

import numpy as np
import pytest

from softspread._kernels.push import NO_BUDGET
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.local_reach import LocalColumns, LocalReach, weighted_reach
from voted_graph import N, dense_reach, four_clusters


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
@pytest.mark.parametrize("floor", [1e-3, 1e-6])
def test_reach_is_the_scaled_profile_cut_at_the_floor(normalization, floor):
    """In the user's rows, largest entry 1, off by no more than the push's bound allows."""
    graph = four_clusters(normalization=normalization)
    diffusion = Diffusion(graph, 0.9, n_jobs=1)
    exact = dense_reach(graph, [0.9])[0.9]
    rows = np.array([0, 250, 399, 17])
    root = np.sqrt(graph.degrees)
    spread = root if normalization == "symmetric" else root.max() ** 2 / root
    for row, (reached, phi) in zip(rows, LocalReach(diffusion, floor)(rows), strict=True):
        found = np.zeros(N)
        found[reached] = phi
        assert len(set(reached.tolist())) == len(reached)
        assert phi.max() == 1.0
        # M e_q is off by at most sqrt(d_i) floor / (1 - alpha) and its peak is at least 1
        bound = 2 * spread.max() * floor / (1 - 0.9)
        np.testing.assert_allclose(found, exact[:, row], rtol=0, atol=bound)


def test_reach_does_not_depend_on_what_was_asked_before():
    """Scratch memory is clean after every call."""
    reach = LocalReach(Diffusion(four_clusters(), 0.9, n_jobs=1), 1e-3)
    first = reach(np.array([5]))[0]
    reach(np.arange(50))
    again = reach(np.array([7, 5]))[1]
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_weighted_reach_ranks_items_like_the_exact_profiles(normalization):
    """Up to a common factor sum_i phi_iq w_i over the other items, within a tenth."""
    graph = four_clusters(normalization=normalization)
    weights = np.random.default_rng(0).random(N)
    S = graph.S.toarray()
    M = np.linalg.inv(np.eye(N) - 0.9 * S)
    exact = (weights @ (M / np.diag(M))) - weights
    found = weighted_reach(Diffusion(graph, 0.9, n_jobs=1), weights, tol=1e-8)
    ratio = found / exact
    assert 1.0 < ratio.mean() < 1.35
    assert ratio.std() < 0.1 * ratio.mean()


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_columns_are_entries_of_the_inverse_from_below(normalization):
    """What arrives at one item from others; a tight push is exact, a short one never too much."""
    graph = four_clusters(normalization=normalization)
    rows = np.array([0, 17, 250, 399])
    tight, short = LocalColumns(graph, 1e-12, NO_BUDGET), LocalColumns(graph, 1e-12, 2_000)
    for alpha in (0.99, 0.5):
        M = np.linalg.inv(np.eye(N) - alpha * graph.S.toarray())
        np.testing.assert_allclose(tight(alpha, 17, rows), M[17, rows], rtol=1e-6, atol=1e-9)
        assert (short(alpha, 17, rows) <= M[17, rows] * (1 + 1e-9)).all()
        assert (short(alpha, 17, np.arange(N)).sum()) < M[17].sum()
