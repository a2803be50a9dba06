"""Items that a lead adds while people vote."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from softspread.errors import InputError, StoreError
from softspread.web.project.additions import Contents, keep, with_additions
from softspread.web.project.items import BareItems
from web.conftest import CLASSES, N_ITEMS, item_names, running, three_clusters, vote, wait_until_applied
from web.project.helpers import batch, relearned

NEW = [f"new-{row}.png" for row in range(12)]


def embeddings(folder, ids=NEW, width=2, name="more.npz"):
    """A file of points near those of the project."""
    X = three_clusters(60)[0][: len(ids)] + 0.1
    np.savez(folder / name, embeddings=np.hstack([X] * width)[:, :width], ids=np.array(ids))
    return folder / name


def pictures(folder, names=NEW, more=()):
    """An archive of pictures; ``more``: pairs of names and contents."""
    stream = io.BytesIO()
    Image.new("L", (8, 8)).save(stream, "PNG")
    with zipfile.ZipFile(folder / "pictures.zip", "w") as archive:
        for name in names:
            archive.writestr(name, stream.getvalue())
        for name, content in more:
            archive.writestr(name, content)
    return folder / "pictures.zip"


def bare(n=5):
    return Contents(BareItems(item_names(n)), np.zeros((n, 2)))


def test_items_are_added_while_people_vote(tmp_path, database):
    """Old rows stay, leases too; new items are handed out, shown and learned from, also after a restart."""
    where = {"auth": False, "database_url": database, "overlap": 1, "gold_share": 0.0}
    prior = np.full((N_ITEMS, 3), 1 / 3)
    with running(tmp_path / "data", prior=prior, **where) as service:
        for row in range(0, N_ITEMS, 2):
            vote(service, "ann", item_names()[row], CLASSES[row % 3], f"k{row}")
        held = service.assign("ben", 1)[0]
        assert service.add_items(embeddings(tmp_path), pictures(tmp_path)) == len(NEW)
        vote(service, "ann", "item-001", "bee", "meanwhile")
        assert service.wait_until_prepared(300)
        assert service.counts()["items"] == N_ITEMS + len(NEW)
        assert held.item in [card.item for card in service.assign("ben", 3)]
        found = {card.item: card for card in service.assign("eve", 20)}
        vote(service, "eve", NEW[3], "cat", "on a new one")
        assert service.row_of(NEW[3]) == N_ITEMS + 3
        assert service.items.picture(N_ITEMS + 3)[1] == "image/png"
        assert not service.items.has_picture(0)
        assert any(item in NEW for item in found), "nobody got a new item"
        wait_until_applied(service)
        after = relearned(service)
        assert after.shape == (N_ITEMS + len(NEW), 3)
        np.testing.assert_allclose(after[:, CLASSES.index("cat")].max(), after.max(), atol=1)
    with running(tmp_path / "data", prior=prior, **where) as service:
        assert len(service.items) == N_ITEMS + len(NEW)
        assert service.ledger.seen_by("eve")[0].keys() == {N_ITEMS + 3}
        np.testing.assert_allclose(relearned(service), after, atol=1e-6)
        np.testing.assert_allclose(batch(service), after, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda folder: (embeddings(folder, width=3), None), "3 dimensions"),
        (lambda folder: (embeddings(folder, ["item-001", "x"]), None), "there already, such as 'item-001'"),
        (lambda folder: (embeddings(folder), pictures(folder, NEW[:3])), "not in"),
        (
            lambda folder: (embeddings(folder), pictures(folder, more=[("../x.png", b"")])),
            "outside",
        ),
        (lambda folder: (embeddings(folder), embeddings(folder, name="odd.npz")), "contents must be"),
        (lambda folder: (pictures(folder), None), "embeddings must be"),
    ],
)
def test_an_addition_that_makes_no_sense_leaves_nothing_behind(tmp_path, make, problem):
    """It is refused with the reason; the folder is as before."""
    files = make(tmp_path)
    with pytest.raises((InputError, StoreError), match=problem):
        keep(tmp_path / "data", bare(), *files)
    assert list((tmp_path / "data" / "added").iterdir()) == []


def test_embeddings_without_ids_are_refused(tmp_path):
    """Nobody could say which item is which."""
    np.save(tmp_path / "X.npy", np.zeros((3, 2)))
    with pytest.raises(InputError, match="need ids"):
        keep(tmp_path / "data", bare(), tmp_path / "X.npy")


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    """With its name."""
    (tmp_path / "bad.zip").write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"contents\.zip|bad\.zip"):
        keep(tmp_path / "data", bare(), embeddings(tmp_path), tmp_path / "bad.zip")


def test_additions_are_read_in_order_and_a_lost_file_is_an_error(tmp_path):
    """Texts come from a table; other items at the start are told what to do."""
    data = tmp_path / "data"
    pd.DataFrame({"item": ["a", "b"], "text": ["first", "second"]}).to_csv(tmp_path / "t.csv", index=False)
    one = keep(data, bare(), embeddings(tmp_path, ["b", "a"]), tmp_path / "t.csv")
    two = keep(data, one, embeddings(tmp_path, ["c"]))
    found = with_additions(data, bare())
    assert found.items.ids.tolist() == two.items.ids.tolist() == [*item_names(5), "b", "a", "c"]
    assert [found.items.text(row) for row in (5, 6, 7)] == ["second", "first", "c"]
    np.testing.assert_array_equal(found.X, two.X)
    with pytest.raises(StoreError, match="was added on the page"):
        with_additions(data, Contents(BareItems(["a", "d"]), np.zeros((2, 2))))
    next((data / "added" / "0001").glob("embeddings.*")).unlink()
    with pytest.raises(StoreError, match="holds no embeddings"):
        with_additions(data, bare())
