"""A killed run goes on, nothing is encoded twice, and nothing stale is taken."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from softspread.embedding.embed import embed
from softspread.embedding.encoders.pixels import PixelsEncoder
from softspread.embedding.feature_store import FeatureStore, key_of
from softspread.errors import InputError, SoftspreadWarning, StoreError

Image = pytest.importorskip("PIL.Image", reason="needs Pillow")


@pytest.fixture
def encoded(monkeypatch):
    """Counts the images that pass the encoder."""
    counted = []
    true = PixelsEncoder.encode_images

    def count(self, pixels):
        counted.append(len(pixels))
        return true(self, pixels)

    monkeypatch.setattr(PixelsEncoder, "encode_images", count)
    return counted


def pixels(source, cache, **options):
    return embed(source, encoder="pixels:4", reduce="none", cache=cache, **options)


def test_a_second_run_encodes_nothing(picture_folder, tmp_path, encoded):
    """The same features from the cache, bit by bit."""
    first = pixels(picture_folder, tmp_path / "cache")
    n = sum(encoded)
    second = pixels(picture_folder, tmp_path / "cache")
    assert n == len(first)
    assert sum(encoded) == n
    assert (first.X == second.X).all()
    assert first.item_ids.tolist() == second.item_ids.tolist()


def test_without_a_cache_everything_is_encoded_again(picture_folder, encoded):
    """Nothing is kept unless asked."""
    pixels(picture_folder, None)
    pixels(picture_folder, None)
    assert sum(encoded) == 40


def test_moved_touched_and_copied_files_are_recognised_by_content(picture_folder, tmp_path, encoded):
    """Only what a file holds counts."""
    first = pixels(picture_folder, tmp_path / "cache")
    moved = tmp_path / "elsewhere"
    shutil.copytree(picture_folder, moved)
    os.utime(next(moved.rglob("*.png")))
    assert (pixels(moved, tmp_path / "cache").X == first.X).all()
    assert sum(encoded) == 20


def test_a_changed_file_is_encoded_anew_and_only_that(picture_folder, tmp_path, encoded):
    """Even under its old name."""
    first = pixels(picture_folder, tmp_path / "cache")
    path = picture_folder / first.item_ids[3]
    Image.new("RGB", (9, 9), "white").save(path)
    second = pixels(picture_folder, tmp_path / "cache")
    assert sum(encoded) == 21
    assert (second.X[3] == 1).all()
    assert (np.delete(second.X, 3, axis=0) == np.delete(first.X, 3, axis=0)).all()


def test_another_preparation_has_its_own_features(picture_folder, tmp_path, encoded):
    """The key holds model and preparation."""
    pixels(picture_folder, tmp_path)
    other = embed(picture_folder, encoder="pixels:5", reduce="none", cache=tmp_path)
    assert other.X.shape[1] == 75
    assert sum(encoded) == 40
    assert key_of({"weights": "a"}) != key_of({"weights": "b"})


def test_new_images_join_the_old(picture_folder, tmp_path, encoded):
    """A grown folder costs only what is new."""
    pixels(picture_folder, tmp_path / "cache")
    Image.new("RGB", (9, 9), "red").save(picture_folder / "new.png")
    assert len(pixels(picture_folder, tmp_path / "cache")) == 21
    assert sum(encoded) == 21


def test_arrays_are_cached_by_content(tmp_path, encoded):
    """No path is needed, and order does not matter."""
    images = np.random.default_rng(0).integers(0, 256, size=(10, 6, 6), dtype=np.uint8)
    first = pixels(images, tmp_path)
    second = pixels(images[::-1].copy(), tmp_path)
    assert sum(encoded) == 10
    assert (first.X[::-1] == second.X).all()


def test_work_before_an_error_is_kept(picture_folder, tmp_path, encoded):
    """The run that complained about one image has encoded the others."""
    broken = picture_folder / "broken.png"
    broken.write_bytes(b"no picture")
    with pytest.raises(InputError, match="broken"):
        pixels(picture_folder, tmp_path / "cache")
    assert len(pixels(picture_folder, tmp_path / "cache", skip_corrupt=True)) == 20
    assert sum(encoded) == 20


def test_work_before_an_interruption_is_kept(picture_folder, tmp_path, monkeypatch):
    """Ctrl-C after a few batches loses none of them."""
    true = PixelsEncoder.encode_images
    seen = []

    def tired(self, batch):
        if len(seen) == 3:
            raise KeyboardInterrupt
        seen.append(len(batch))
        return true(self, batch)

    monkeypatch.setattr(PixelsEncoder, "encode_images", tired)
    with pytest.raises(KeyboardInterrupt):
        pixels(picture_folder, tmp_path / "cache", batch_size=4)
    seen.clear()
    seen.append(0)  # two more batches are allowed: 20 images less 3 batches of 4 are 2 batches
    assert len(pixels(picture_folder, tmp_path / "cache", batch_size=4)) == 20


def test_a_killed_process_is_continued(picture_folder, tmp_path, encoded):
    """SIGKILL in the middle: the next run encodes only the rest and gets the same answer."""
    cache = tmp_path / "cache"
    script = f"""
        import time
        from softspread.embedding import feature_store
        from softspread.embedding.embed import embed
        from softspread.embedding.encoders.pixels import PixelsEncoder
        feature_store.PART_SECONDS = 0.0
        true = PixelsEncoder.encode_images
        def slow(self, pixels):
            time.sleep(0.05)
            return true(self, pixels)
        PixelsEncoder.encode_images = slow
        embed({str(picture_folder)!r}, encoder="pixels:4", reduce="none", cache={str(cache)!r}, batch_size=1)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)])
    try:
        deadline = time.monotonic() + 60
        while len(list(cache.rglob("part-*.npz"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = len(list(cache.rglob("part-*.npz")))
    assert 3 <= done < 20
    continued = pixels(picture_folder, cache)
    assert sum(encoded) == 20 - done
    assert (continued.X == pixels(picture_folder, None).X).all()


def test_a_damaged_part_is_left_out_with_a_warning(picture_folder, tmp_path, encoded):
    """Half a file does not become features."""
    first = pixels(picture_folder, tmp_path / "cache")
    part = next((tmp_path / "cache").rglob("part-*.npz"))
    part.write_bytes(part.read_bytes()[:100])
    with pytest.warns(SoftspreadWarning, match="left out of the cache"):
        second = pixels(picture_folder, tmp_path / "cache")
    assert (first.X == second.X).all()
    assert sum(encoded) == 40


def test_a_file_that_changes_while_it_is_read_is_not_taken_for_the_new_one(
    picture_folder, tmp_path, monkeypatch
):
    """Stamps are taken before reading, so the next run reads it again."""
    from softspread.embedding.items import FileContents

    true = FileContents.read

    def overwritten(self, row):
        content = true(self, row)
        if row == 0:
            Image.new("RGB", (9, 9), "white").save(self.paths[0])
        return content

    with monkeypatch.context() as patch:
        patch.setattr(FileContents, "read", overwritten)
        first = pixels(picture_folder, tmp_path / "cache")
    assert not (first.X[0] == 1).all()
    assert (pixels(picture_folder, tmp_path / "cache").X[0] == 1).all()


def test_texts_are_cached_by_content(sentence_folder, tmp_path):
    """A list of sentences in another order costs nothing new and gives the same rows."""
    texts = ["a red car", "a cat", "an image of a blue ship", "a cat ."]
    first = embed(texts, encoder=sentence_folder, reduce="none", cache=tmp_path)
    n_parts = len(list(tmp_path.rglob("part-*.npz")))
    second = embed(texts[::-1], encoder=sentence_folder, reduce="none", cache=tmp_path)
    assert (second.X[::-1] == first.X).all()
    assert len(list(tmp_path.rglob("part-*.npz"))) == n_parts == 1


def test_a_part_that_goes_away_meanwhile_is_no_harm(tmp_path, encoded, monkeypatch):
    """What the index promised and the disk lost is encoded after all."""
    images = np.random.default_rng(0).integers(0, 256, size=(6, 6, 6), dtype=np.uint8)
    first = pixels(images, tmp_path)
    monkeypatch.setattr(FeatureStore, "fetch", lambda self, mark: None)
    assert (pixels(images, tmp_path).X == first.X).all()
    assert sum(encoded) == 12


def test_a_cache_that_cannot_be_written_is_an_error(tmp_path, picture_folder):
    """A file where the folder should be."""
    (tmp_path / "cache").write_text("in the way")
    with pytest.raises(StoreError, match="Choose another cache"):
        pixels(picture_folder, tmp_path / "cache")


def test_parts_are_written_after_a_while_even_if_small(tmp_path, monkeypatch):
    """By the clock, not only by size."""
    now = [0.0]
    store = FeatureStore(tmp_path, {"weights": "x"}, clock=lambda: now[0])
    marks = np.arange(64, dtype=np.uint8).reshape(4, 16)
    store.add(marks[:2], np.zeros_like(marks[:2]), np.ones((2, 3), dtype=np.float32))
    assert not list(tmp_path.rglob("part-*.npz"))
    now[0] = 1000.0
    store.add(marks[2:], np.zeros_like(marks[2:]), np.ones((2, 3), dtype=np.float32))
    assert len(list(tmp_path.rglob("part-*.npz"))) == 1
