"""Reading ahead keeps order, stays bounded and stops when nobody listens."""

import threading
import time

import numpy as np
import pytest

from softspread.embedding.items import Items
from softspread.embedding.loader import SLICE, in_order, load_batches
from softspread.embedding.preparation import Preparation

SQUARE = Preparation(4, 4)


class CountedContents:
    """Images that know how many of them were asked for, and by which threads."""

    def __init__(self, n, broken=()):
        self.n, self.broken, self.asked, self.threads = n, set(broken), 0, set()
        self._lock = threading.Lock()

    def __len__(self):
        return self.n

    def read(self, row):
        with self._lock:
            self.asked += 1
            self.threads.add(threading.get_ident())
        return b"" if row in self.broken else np.full((4, 4), row % 256, dtype=np.uint8)

    def stamp(self, row):
        return None


@pytest.fixture
def contents():
    pytest.importorskip("PIL", reason="needs Pillow")
    return CountedContents(100, broken={3, 50})


def items_of(contents):
    return Items(np.arange(len(contents)), "image", contents)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("batch_size", [1, 7, 32, 200])
def test_batches_come_in_order_with_the_right_pixels(contents, n_threads, batch_size):
    """However many threads read, row r holds image r; broken ones are named."""
    rows = np.arange(100)[::-1].copy()
    seen, failures = [], []
    for batch in load_batches(items_of(contents), rows, SQUARE, batch_size=batch_size, n_threads=n_threads):
        assert len(batch.rows) <= batch_size
        assert (batch.to_encode() == batch.rows[batch.ready][:, None, None, None] % 256).all()
        seen += batch.rows.tolist()
        failures += [row for row, _ in batch.failures]
    assert seen == rows.tolist()
    assert sorted(failures) == [3, 50]
    assert contents.asked == 100


def test_only_a_few_batches_are_read_ahead(contents):
    """Memory does not grow with the number of items."""
    batches = load_batches(items_of(contents), np.arange(100), SQUARE, batch_size=8, n_threads=2, ahead=2)
    next(batches)
    assert contents.asked <= 3 * 8
    batches.close()
    assert contents.asked <= 3 * 8


def test_several_threads_share_a_batch(contents):
    """One large batch is read by all of them."""
    gate = threading.Barrier(2, timeout=10)
    plain = contents.read

    def together(row):
        if row in (0, SLICE):  # the first images of the first two slices: both must be under way at once
            gate.wait()
        return plain(row)

    contents.read = together
    list(load_batches(items_of(contents), np.arange(100), SQUARE, batch_size=100, n_threads=2))
    assert len(contents.threads) == 2


@pytest.mark.parametrize("at_once", [1, 2, 4])
def test_work_side_by_side_comes_out_in_order(contents, at_once):
    """However long each batch takes; an error in one of them shows."""
    batches = list(load_batches(items_of(contents), np.arange(100), SQUARE, batch_size=9, n_threads=2))

    def uneven(batch):
        time.sleep(0.02 if batch.rows[0] % 2 else 0.0)
        return batch.rows.sum()

    found = list(in_order(uneven, iter(batches), at_once))
    assert [total for _, total in found] == [batch.rows.sum() for batch in batches]
    assert all(given is batch for (given, _), batch in zip(found, batches, strict=True))
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda batch: 1 / 0, iter(batches), at_once))


def test_an_unexpected_error_is_not_swallowed(contents):
    """What is no broken image is a fault, and shows."""
    contents.read = lambda row: 1 / 0
    with pytest.raises(ZeroDivisionError):
        list(load_batches(items_of(contents), np.arange(100), SQUARE, batch_size=8, n_threads=2))
