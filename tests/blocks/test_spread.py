"""One door for files and arrays; the same answer as in memory; refusals before any work."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from small_blocks import N_ITEMS, N_NEIGHBORS, in_memory, items, votes
from softspread import Votes, spread_in_blocks
from softspread.errors import InputError, StoreError
from softspread.tuning.candidates import ALPHAS

TOLERANCE = 2e-4  # of soft labels: scales are certified to 2e-3, and right to about 1e-4


def soft_labels(folder, y=None, X=None, **more):
    """Soft labels of a run in blocks, in the order of the items, and its facts."""
    given = {"n_neighbors": N_NEIGHBORS, "index": "exact", "block_items": 70, "alpha": 0.9} | more
    X, y = items()[0] if X is None else X, votes() if y is None else y
    done = spread_in_blocks(X, y, f"{folder}/out.parquet", **given)
    labels = done.read()
    rank = {str(name): row for row, name in enumerate(labels.ids.tolist())}
    ids = more.get("item_ids", np.arange(N_ITEMS))
    return labels.take(np.array([rank[str(name)] for name in ids])), done.facts


def same(labels, est, tolerance=TOLERANCE):
    """Assert the soft labels, intervals and evidence of a fit in memory."""
    wanted = est.soft_labels(0.9, "wilson")
    for name in ("p", "lower", "upper"):
        np.testing.assert_allclose(getattr(labels, name), getattr(wanted, name), atol=tolerance)
    np.testing.assert_allclose(labels.evidence, wanted.evidence, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_blocks_are_memory_at_all_alphas_of_the_grid(tmp_path, alpha):
    """Within the stated tolerance."""
    same(soft_labels(tmp_path, alpha=alpha)[0], in_memory(alpha=alpha).fit(items()[0], votes()))


@pytest.mark.filterwarnings("ignore:No item has a second vote")
@pytest.mark.parametrize("block_items", [25, 240])
def test_the_partition_does_not_matter(tmp_path, block_items):
    """Many blocks or one; alpha is chosen as in memory."""
    labels, facts = soft_labels(tmp_path, alpha="auto", block_items=block_items)
    est = in_memory(alpha="auto").fit(items()[0], votes())
    assert facts["alpha"] == est.alpha_
    same(labels, est)


def test_prior_annotators_and_retractions_count_as_in_memory(tmp_path):
    """All at once, with ids and class names."""
    rng, truth = np.random.default_rng(3), items()[1]
    ids = np.array([f"i{row:03d}" for row in range(N_ITEMS)], dtype=object)
    rows, people = rng.integers(0, N_ITEMS, 300), np.array(["ann", "bob", "cid", "eve"], dtype=object)
    who = people[rng.integers(0, 4, 300)]
    labels = np.where(who == "eve", rng.integers(0, 3, 300), truth[rows])
    words = np.array(["red", "green", "blue"], dtype=object)[labels]
    y = Votes.from_pairs(ids[rows], words, annotators=who, repeats="keep")
    y = y + Votes.from_pairs(
        ids[rows[:20]], words[:20], annotators=who[:20], weights=-np.ones(20), repeats="keep"
    )
    prior = rng.dirichlet(np.ones(3), N_ITEMS)
    given = {"alpha": "auto", "prior": prior, "prior_strength": "auto"}
    est = in_memory(**given).fit(items()[0], y, item_ids=ids)
    found, facts = soft_labels(tmp_path, y, item_ids=ids, **given)
    assert (facts["alpha"], facts["prior_strength"]) == (est.alpha_, est.prior_strength_)
    assert est._weighting is not None
    same(found, est)


def test_files_in_parts_give_what_an_array_gives(tmp_path):
    """Parquet by row groups and .npy together; single precision stays single."""
    X = items()[0].astype(np.float32)
    np.save(tmp_path / "a.npy", X[:100])
    table = pa.table({"item": np.arange(140), "vector": list(X[100:])})
    pq.write_table(table.drop_columns("item"), tmp_path / "b.parquet", row_group_size=33)
    one = soft_labels(tmp_path, X=X)[0]
    two = soft_labels(tmp_path, X=[tmp_path / "a.npy", tmp_path / "b.parquet"])[0]
    assert (one.p == two.p).all()


def test_work_may_be_on_another_file_system(tmp_path):
    """Any that fsspec knows; X must then be a file."""
    np.save(tmp_path / "X.npy", items()[0])
    labels, _ = soft_labels(tmp_path, X=tmp_path / "X.npy", work="memory://softspread-test")
    same(labels, in_memory().fit(items()[0], votes()))
    with pytest.raises(InputError, match="local work folder"):
        soft_labels(tmp_path, work="memory://softspread-test-2")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"method": "posterior"}, "need all items in memory"),
        ({"tol": 1e-8}, "single precision"),
        ({"memory_limit": "1MB"}, "at least"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"prior_strength": 0.0}, "at least 0.0001"),
        ({"annotator_model": "psychic"}, "annotator_model"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, more, message):
    """With what is allowed, and without a result."""
    with pytest.raises(InputError, match=message):
        soft_labels(tmp_path, **more)
    assert not (tmp_path / "out.parquet").exists()


def test_a_target_that_is_not_ours_is_refused(tmp_path):
    """A file of that name stays."""
    (tmp_path / "out.parquet").write_text("mine")
    with pytest.raises(StoreError, match="exists and is not a folder of soft labels"):
        soft_labels(tmp_path)
    assert (tmp_path / "out.parquet").read_text() == "mine"


def test_more_neighbours_than_items_use_all(tmp_path):
    """With a warning, as in memory."""
    with pytest.warns(UserWarning, match="using 3"):
        done = spread_in_blocks(
            [[0.0], [1.0], [9.0], [10.0]],
            [0, -1, -1, 1],
            tmp_path / "o.parquet",
            alpha=0.5,
            annotator_model="none",
        )
    assert done.read().labels[np.argsort(done.read().ids)].tolist() == [0, 0, 1, 1]
