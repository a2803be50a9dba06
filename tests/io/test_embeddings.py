"""Embeddings are read from every allowed file, with their ids, and bad files are refused in plain words."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from softspread.errors import InputError
from softspread.io.embeddings import Embeddings, look_at_embeddings, read_embeddings
from softspread.io.ids import read_ids

X = np.arange(12, dtype=np.float32).reshape(4, 3)
IDS = ["a", "b", "c", "d"]


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)
    return path


def write(folder, ending):
    """The same four items in one of the allowed files."""
    path = folder / f"e{ending}"
    if ending == ".npy":
        np.save(path, X)
    elif ending == ".npz":
        np.savez(path, embeddings=X, ids=np.array(IDS))
    elif ending == ".list.parquet":
        parquet(path, item=IDS, vector=list(X), text=["x"] * 4)
    elif ending == ".fixed.parquet":
        parquet(path, item=IDS, vector=pa.FixedSizeListArray.from_arrays(X.ravel(), 3))
    else:
        parquet(path, item=IDS, **{f"x{k}": X[:, k] for k in range(3)})
    return path


ALL = [".npy", ".npz", ".list.parquet", ".fixed.parquet", ".wide.parquet"]


@pytest.mark.parametrize("ending", ALL)
def test_every_format_gives_the_same_items(tmp_path, ending):
    """Numbers, precision and ids survive; the quick look agrees with the reading."""
    path = write(tmp_path, ending)
    found = read_embeddings(path)
    np.testing.assert_array_equal(found.X, X)
    assert found.X.dtype == np.float32
    assert (found.item_ids is None) == (ending == ".npy")
    assert found.item_ids is None or found.item_ids.tolist() == IDS
    shape = look_at_embeddings(path)
    assert (shape.n_items, shape.n_dimensions, shape.itemsize) == (4, 3, 4)
    assert shape.has_ids == (ending != ".npy")


@pytest.mark.parametrize(
    ("dtype", "kept"), [("f2", "f4"), ("f4", "f4"), ("f8", "f8"), ("i4", "f8"), ("u1", "f8"), (">f8", "f8")]
)
def test_precision_is_never_lowered(tmp_path, dtype, kept):
    """Half becomes single, single stays, everything else becomes double."""
    np.save(tmp_path / "e.npy", X.astype(dtype))
    assert read_embeddings(tmp_path / "e.npy").X.dtype == np.dtype(kept)


def test_columns_can_be_named(tmp_path):
    """A pattern picks the dimensions, an option the ids."""
    path = parquet(
        tmp_path / "e.parquet", key=[7, 8], age=[1.0, 2.0], emb_0=[0.0, 1.0], emb_1=[2.0, 3.0], t=["x", "y"]
    )
    found = read_embeddings(path, id_column="key", vector_column="emb_*")
    assert found.X.tolist() == [[0.0, 2.0], [1.0, 3.0]]
    assert found.item_ids.tolist() == [7, 8]


def test_ids_from_arrays_and_tables(tmp_path):
    """An array, a named array, and the id column of a table."""
    np.save(tmp_path / "i.npy", np.array(["u", "v"]))
    np.savez(tmp_path / "i.npz", ids=np.array([1, 2]), more=np.zeros(2))
    parquet(tmp_path / "i.parquet", item=["p", "q"], other=[1, 2])
    assert [read_ids(tmp_path / f"i.{ending}").tolist() for ending in ("npy", "npz", "parquet")] == [
        ["u", "v"],
        [1, 2],
        ["p", "q"],
    ]
    np.save(tmp_path / "e.npy", X[:2])
    assert read_embeddings(tmp_path / "e.npy", ids=tmp_path / "i.npy").item_ids.tolist() == ["u", "v"]


def refused(path, message, **options):
    with pytest.raises(InputError, match=message):
        read_embeddings(path, **options)


def test_missing_empty_and_wrong_files_are_refused(tmp_path):
    """Each message names the file and what is allowed."""
    refused(tmp_path / "no.npy", r"no file at .*no\.npy; check the path of the embeddings")
    (tmp_path / "e.npy").write_bytes(b"")
    refused(tmp_path / "e.npy", r"e\.npy is empty; it should hold embeddings")
    (tmp_path / "e.xlsx").write_bytes(b"x")
    refused(tmp_path / "e.xlsx", r"ends in '\.xlsx'; embeddings may be \.npy, \.npz, \.parquet")
    refused(tmp_path, "is a folder; name the file")
    for name in ("d.npy", "d.npz", "d.parquet"):
        (tmp_path / name).write_bytes(b"these are not the bytes you are looking for")
        refused(tmp_path / name, rf"d{name[1:]} is (damaged|not a readable Parquet)")


def test_what_is_not_numbers_is_refused(tmp_path):
    """Text, objects and text columns are named as such."""
    np.save(tmp_path / "t.npy", np.array([["a"]]))
    refused(tmp_path / "t.npy", "embeddings must be numbers, got text")
    np.save(tmp_path / "o.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    refused(tmp_path / "o.npy", "holds Python objects, not numbers")
    refused(
        parquet(tmp_path / "t.parquet", item=[1], name=["x"], a=[1.0]), "must be numbers, but 'name' is not"
    )
    refused(
        parquet(tmp_path / "l.parquet", item=[1], v=[["x", "y"]]), "must be numbers, but 'v' holds string"
    )
    refused(parquet(tmp_path / "i.parquet", item=[1]), "no column of numbers")


def test_shapes_that_are_no_table_are_refused(tmp_path):
    """Flat arrays and no items at all."""
    for number, shape in enumerate([(3,), (0, 2), (2, 0), (2, 2, 2)]):
        np.save(tmp_path / f"{number}.npy", np.zeros(shape))
        refused(tmp_path / f"{number}.npy", rf"must be a table.*got shape \({shape[0]},")
    refused(
        parquet(tmp_path / "r.parquet", item=[1, 2], v=[[1.0, 2.0], [1.0]]),
        "row 1: the vector in 'v' has 1 numb",
    )


def test_rows_with_nan_are_named(tmp_path):
    """The first rows and their ids, and how many there are."""
    bad = np.zeros((10, 2))
    bad[[2, 4, 5, 6, 7, 9], 1] = [np.nan, np.inf, np.nan, np.nan, -np.inf, np.nan]
    np.savez(tmp_path / "e.npz", X=bad, ids=np.arange(100, 110))
    refused(
        tmp_path / "e.npz",
        r"6 of 10 rows hold NaN.*rows 2, 4, 5, 6, 7, \.\.\. \(ids 102, 104, 105, 106, 107, \.\.\.\)",
    )


def test_large_finite_numbers_are_not_mistaken_for_nan(tmp_path):
    """A sum that overflows says nothing about its terms."""
    np.save(tmp_path / "e.npy", np.full((4, 1), 1e308))
    refused(tmp_path / "e.npy", "squared distances overflow")


def test_ids_must_be_distinct_and_as_many_as_items(tmp_path):
    """Copies are counted and shown, lengths are compared."""
    np.save(tmp_path / "e.npy", X)
    (tmp_path / "twice.txt").write_text("a\nb\na\nb\n")
    refused(tmp_path / "e.npy", "2 ids appear more than once: 'a', 'b'", ids=tmp_path / "twice.txt")
    (tmp_path / "few.txt").write_text("a\nb\n")
    refused(
        tmp_path / "e.npy",
        r"few\.txt names 2 items, but .*e\.npy holds 4; they must agree",
        ids=tmp_path / "few.txt",
    )


def test_unclear_and_absent_names_are_refused(tmp_path):
    """Several candidates, or none of that name."""
    np.savez(tmp_path / "e.npz", one=X, two=X)
    refused(tmp_path / "e.npz", "holds the arrays one, two; name the one")
    assert read_embeddings(tmp_path / "e.npz", vector_column="two").X.shape == (4, 3)
    refused(tmp_path / "e.npz", "no array 'key'", vector_column="two", id_column="key")
    path = parquet(tmp_path / "e.parquet", item=[1], v=[[1.0]], w=[[1.0]])
    refused(path, r"several vector columns \(v, w\)")
    refused(path, "no column 'x'", vector_column="x")
    refused(path, "no column 'key'", id_column="key")
    np.save(tmp_path / "e.npy", X)
    refused(tmp_path / "e.npy", "one array without names", id_column="key")


@pytest.mark.parametrize(
    "ids", [None, np.array([3, 1, 2, 0]), np.array(["a", "ü", "c", "007"], dtype=object)]
)
def test_saved_embeddings_load_as_they_were(tmp_path, ids):
    """Vectors, ids in their type, and where they came from."""
    Embeddings(X, ids, "array 'X'").save(tmp_path / "kept")
    found = Embeddings.load(tmp_path / "kept")
    np.testing.assert_array_equal(found.X, X)
    assert found.X.dtype == X.dtype
    assert found.source == "array 'X'"
    if ids is None:
        assert found.item_ids is None
    else:
        assert found.item_ids.tolist() == ids.tolist()
        assert found.item_ids.dtype == ids.dtype


def test_several_files_follow_one_another(tmp_path):
    """Ids of all files, in their order; precision is the finer one."""
    np.savez(tmp_path / "a.npz", X=np.zeros((2, 3), dtype=np.float32), ids=["a", "b"])
    np.savez(tmp_path / "b.npz", X=np.ones((1, 3)), ids=["c"])
    found = read_embeddings(tmp_path / "a.npz", tmp_path / "b.npz")
    assert found.item_ids.tolist() == ["a", "b", "c"]
    assert found.X[:, 0].tolist() == [0, 0, 1]
    assert found.X.dtype == np.float64
    assert repr(found) == "Embeddings(3 items in 3 dimensions, ids 'a', 'b', 'c')"
    assert len(found) == 3


def test_files_without_ids_are_numbered_on(tmp_path):
    """Positions run over all files, or one file names the items of all."""
    for name, n in (("a", 2), ("b", 1)):
        np.save(tmp_path / f"{name}.npy", np.zeros((n, 3)))
    files = tmp_path / "a.npy", tmp_path / "b.npy"
    assert read_embeddings(*files).item_ids is None
    (tmp_path / "ids.txt").write_text("x\ny\nz\n")
    assert read_embeddings(*files, ids=tmp_path / "ids.txt").item_ids.tolist() == ["x", "y", "z"]


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    """A repeated id, other dimensions, ids in one file only, the same file twice."""
    np.savez(tmp_path / "a.npz", X=np.zeros((2, 3)), ids=[7, 8])
    np.savez(tmp_path / "b.npz", X=np.ones((2, 3)), ids=["9", "8"])
    np.savez(tmp_path / "c.npz", X=np.ones((1, 2)), ids=["c"])
    np.save(tmp_path / "d.npy", np.ones((1, 3)))
    for second, message in (
        ("b.npz", r"1 ids are in more than one file: '8', in .*a\.npz and .*b\.npz"),
        ("c.npz", r"c\.npz has 2 dimensions, .*a\.npz has 3"),
        ("d.npy", r"d\.npy has no ids, but another file has"),
        ("a.npz", r"a\.npz is named twice"),
    ):
        with pytest.raises(InputError, match=message):
            read_embeddings(tmp_path / "a.npz", tmp_path / second)
