"""Reducers agree with their definitions, place new items, and survive being saved."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread.embedding import reducers
from softspread.embedding.embed import embed
from softspread.embedding.reducers import fit_reducer, memberships, nearest, reducer_from
from softspread.embedding.result import Embedding
from softspread.errors import InputError, StoreError


@pytest.fixture
def curve(rng):
    """200 items along a bent sheet in 8 dimensions."""
    t, u = rng.random((2, 200))
    sheet = np.stack([np.cos(3 * t), np.sin(3 * t), u], axis=1) @ rng.normal(size=(3, 8))
    return sheet.astype(np.float32)


def test_pca_is_the_projection_on_the_largest_directions(curve):
    """Distances within the first components equal those of the full decomposition."""
    reducer, X = fit_reducer(curve, "pca", 3, 0)
    centred = curve - curve.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    expected = centred @ directions[:3].T
    assert_allclose(np.abs(X), np.abs(expected), atol=1e-4)
    assert_allclose(reducer.transform(curve), X, atol=1e-6)
    assert reducer.facts()["explained_variance"] == pytest.approx(
        1.0, abs=1e-4
    )  # the sheet lies in 3 dimensions


def test_isomap_equals_scikit_learns(curve):
    """Up to the signs of the axes; also for new items."""
    from sklearn.manifold import Isomap

    theirs = Isomap(n_components=2).fit(curve[:150])
    reducer, X = fit_reducer(curve[:150], "isomap", 2, 0)
    signs = np.sign((X * theirs.embedding_).sum(axis=0))
    assert_allclose(X * signs, theirs.embedding_, atol=1e-3)
    assert_allclose(reducer.transform(curve[150:]) * signs, theirs.transform(curve[150:]), atol=1e-3)
    assert_allclose(reducer.transform(curve[:150]), X, atol=1e-3)


def test_isomap_ties_components_together(rng):
    """Far groups get finite places, and stay far."""
    groups = np.concatenate(
        [rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 100, rng.normal(size=(30, 4)) - 100]
    )
    _, X = fit_reducer(groups.astype(np.float32), "isomap", 2, 0)
    assert np.isfinite(X).all()
    assert np.linalg.norm(X[:30].mean(axis=0) - X[30:60].mean(axis=0)) > 50


def test_isomap_copes_with_equal_items():
    """Coinciding points are neighbours at distance 0, not strangers."""
    F = np.repeat(np.arange(12, dtype=np.float32)[:, None], 4, axis=0) @ np.ones((1, 3), dtype=np.float32)
    _, X = fit_reducer(F, "isomap", 1, 0)
    assert_allclose(np.abs(np.diff(X[::4, 0])), np.sqrt(3), rtol=1e-3)


def test_nearest_is_exact(rng):
    """As sorting all distances, also far from the origin where quick distances round."""
    fitted, new = (rng.normal(size=(n, 6)).astype(np.float32) + 50 for n in (80, 30))
    indices, distances = nearest(fitted, new, 7)
    full = np.sqrt(((new[:, None].astype(float) - fitted[None]) ** 2).sum(axis=2))
    assert_allclose(distances, np.sort(full, axis=1)[:, :7], rtol=1e-9)
    assert (indices == np.argsort(full, axis=1)[:, :7]).all()


def test_blocks_do_not_change_the_neighbours(rng, monkeypatch):
    """Memory is bounded without changing the answer."""
    fitted, new = rng.normal(size=(50, 4)).astype(np.float32), rng.normal(size=(23, 4)).astype(np.float32)
    whole = nearest(fitted, new, 5)
    monkeypatch.setattr(reducers, "BLOCK_ENTRIES", 200)
    assert (nearest(fitted, new, 5)[0] == whole[0]).all()


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


@pytest.mark.parametrize("reduce", ["none", "pca", "isomap"])
def test_a_saved_reducer_answers_as_before(reduce, curve, tmp_path):
    """Save, load, transform: the same numbers, without pickle."""
    space = embed(curve[:150], encoder="none", reduce=reduce, dim=2)
    space.save(tmp_path / "X.parquet")
    loaded = Embedding.load(tmp_path / "X.parquet")
    assert (loaded.X == space.X).all()
    assert loaded.item_ids.tolist() == space.item_ids.tolist()
    assert dict(loaded.how) == dict(space.how)
    assert (loaded.transform(curve[150:]) == space.transform(curve[150:])).all()


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


def test_many_items_are_reduced_by_pca_unless_said_otherwise(curve, monkeypatch):
    """The default changes with size."""
    monkeypatch.setattr(reducers, "AUTO_UMAP_ITEMS", 100)
    reducer, _ = fit_reducer(curve, "auto", 2, 0)
    assert reducer.name == "pca"


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"reduce": "tsne"}, "'umap', 'pca', 'isomap', 'none', 'auto'"),
        ({"reduce": "pca", "dim": 9}, "at most 8"),
        ({"reduce": "pca", "dim": 0}, "at least 1"),
        ({"reduce": "isomap", "dim": 200}, "needs at least 202 items"),
        ({"reduce": "umap", "dim": 199}, "needs at least 201 items"),
    ],
)
def test_impossible_reductions_are_refused(options, part, curve):
    """With what is allowed."""
    with pytest.raises(InputError, match=part):
        embed(curve, encoder="none", **options)


def test_isomap_of_too_many_items_is_refused(curve, monkeypatch):
    """Its matrix would not fit; the error names another way."""
    monkeypatch.setattr(reducers, "ISOMAP_ITEMS", 100)
    with pytest.raises(InputError, match="use 'umap'"):
        fit_reducer(curve, "isomap", 2, 0)


def test_new_items_need_the_same_features(curve):
    """A wrong width is explained."""
    space = embed(curve, encoder="none", reduce="pca", dim=2)
    with pytest.raises(InputError, match="fitted on 8 features, got 3"):
        space.transform(curve[:, :3])


def test_a_saved_reducer_we_do_not_know_is_refused():
    """From a later version, or with a part missing."""
    with pytest.raises(StoreError, match="unknown"):
        reducer_from("tsne", {}, {})
    with pytest.raises(StoreError, match="lacks"):
        reducer_from("pca", {}, {})
