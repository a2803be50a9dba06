"""The default reducer changes with size."""

from softspread.embedding.reducers.auto import AutoReducer


def test_many_items_are_reduced_by_pca_unless_said_otherwise(curve):
    """The default changes with size."""
    reducer, _ = AutoReducer.fit(curve, 2, 0, umap_up_to=100)
    assert reducer.name == "pca"
