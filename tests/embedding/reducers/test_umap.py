"""UMAP: the weights of new items, and places that keep kin together."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding.embed import embed
from softspread.embedding.reducers.reducer import nearest
from softspread.embedding.reducers.umap import memberships
from softspread.embedding.result import Embedding


def test_memberships_follow_their_formula(rng):
    """Before scaling, weights sum to log2 k; nearer counts more; on top of an item only that item counts."""
    distances = np.sort(rng.random((40, 15)) + 0.1, axis=1)
    weights = memberships(distances)
    assert_allclose(weights.sum(axis=1), 1)
    assert (np.diff(weights, axis=1) <= 1e-12).all()
    assert_allclose(1 / weights[:, 0], np.log2(15), rtol=1e-6)  # the nearest one's weight is 1 before scaling
    distances[0, 0] = 0
    assert_allclose(memberships(distances)[0], np.eye(15)[0])
    assert_allclose(memberships(np.ones((1, 4))), 0.25)  # all equally far
    assert_allclose(memberships(np.full((1, 1), 3.0)), 1)


@pytest.mark.slow
@pytest.mark.xdist_group("pynndescent")  # umap compiles it too
def test_umap_places_old_items_where_they_were_and_new_ones_beside_their_kin(rng, tmp_path):
    """The same seed gives the same map; three groups stay apart; new items fall among their own group."""
    pytest.importorskip("umap", reason="needs umap-learn")
    group = np.arange(120) % 3
    F = (rng.normal(size=(120, 10)) + 12 * np.eye(10)[group]).astype(np.float32)
    space = embed(F[:90], encoder="none", reduce="umap", dim=2)
    assert (embed(F[:90], encoder="none", reduce="umap", dim=2).X == space.X).all()
    assert (space.transform(F[:90]) == space.X).all()
    placed = space.transform(F[90:])
    indices, _ = nearest(space.X, placed, 5)
    assert (group[indices] == group[90:, None]).all()
    space.save(tmp_path / "X.parquet")
    assert (Embedding.load(tmp_path / "X.parquet").transform(F[90:]) == placed).all()
    assert space.how["reducer_settings"] == {"n_neighbors": 15, "min_dist": 0.1, "metric": "euclidean"}


@pytest.mark.slow
@pytest.mark.xdist_group("pynndescent")  # umap compiles it too
@pytest.mark.shared
def test_umap_keeps_classes_of_real_images_together(shared_data):
    """On cifar10h the k-NN accuracy (k = 20) in 20 dimensions is at least 0.84."""
    pytest.importorskip("umap", reason="needs umap-learn")
    F = np.load(shared_data / "cifar10h" / "features_efflite2_l2_f16.npy", allow_pickle=False)
    labels = np.load(shared_data / "cifar10h" / "labels.npy", allow_pickle=False)
    X = embed(F, encoder="none", reduce="umap", dim=20).X
    indices, _ = nearest(X, X, 21)
    others = np.array([row[row != item][:20] for item, row in enumerate(indices)])
    counted = np.stack([(labels[others] == name).sum(axis=1) for name in range(10)], axis=1)
    assert (counted.argmax(axis=1) == labels).mean() >= 0.84
