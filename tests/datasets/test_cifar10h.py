"""CIFAR-10-H."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from datasets_on_disk import write_batch, write_python_batch, write_raw_votes
from softspread.datasets.cifar10h import load_cifar10h
from softspread.errors import InputError, StoreError


def test_cifar10h_counts_become_soft_labels_and_votes(tmp_path, rng):
    """Relative frequencies are the truth, the counts themselves are votes, images come from CIFAR-10's test
    batch."""
    counts = rng.multinomial(50, np.full(10, 0.1), size=6)
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "cifar10h-counts.npy", counts)
    images = write_batch(tmp_path / "cifar-10-batches-bin" / "test_batch.bin", range(6), rng)
    np.save(tmp_path / "features_toy.npy", rng.normal(size=(6, 4)))
    data = load_cifar10h(tmp_path)
    assert_allclose(data.p_true, counts / 50)
    assert_array_equal(data.images, images)
    assert data.votes.weights.sum() == 300
    assert data.features == "toy"
    with pytest.raises(InputError, match="it has toy"):
        load_cifar10h(tmp_path, features="clip")


VOTES = [(7, 0, 3), (7, 1, 5), (8, 0, 3), (8, 2, 0), (9, 0, 5)]  # annotator, image, class


def test_single_votes_carry_the_names_of_their_annotators(tmp_path, rng):
    """From cifar10h-raw.zip, attention checks left out; images of CIFAR-10's own folder beside it."""
    write_raw_votes(tmp_path / "cifar10h" / "cifar10h-raw.zip", VOTES)
    images = write_python_batch(tmp_path / "cifar10" / "cifar-10-batches-py" / "test_batch", [3, 5, 0], rng)
    data = load_cifar10h(tmp_path / "cifar10h")
    assert_array_equal(data.images, images)
    assert data.votes.annotators.tolist() == ["7", "7", "8", "8", "9"]
    assert data.votes.items.tolist() == [0, 1, 0, 2, 0]
    assert data.votes.labels.tolist() == ["cat", "dog", "cat", "airplane", "dog"]
    assert_allclose(data.p_true[0, [3, 5]], [2 / 3, 1 / 3])


def test_shares_alone_are_a_truth_without_votes(tmp_path, rng):
    """cifar10h-probs.npy does not say how many votes there were; raw votes beside it do."""
    p = rng.dirichlet(np.ones(10), size=3)
    np.save(tmp_path / "cifar10h-probs.npy", p)
    data = load_cifar10h(tmp_path)
    assert_allclose(data.p_true, p)
    assert data.votes is None
    write_raw_votes(tmp_path / "data" / "cifar10h-raw.zip", VOTES)
    both = load_cifar10h(tmp_path)
    assert_allclose(both.p_true, p)
    assert len(both.votes) == len(VOTES)


def test_raw_votes_that_cannot_be_read_are_refused(tmp_path):
    """No archive, one without the table, votes on images that are not there, no votes at all."""
    path = tmp_path / "cifar10h-raw.zip"
    path.write_bytes(b"nonsense")
    with pytest.raises(StoreError, match="cannot be read as a table of votes"):
        load_cifar10h(tmp_path)
    write_raw_votes(path, [(1, 5, 2)])
    np.save(tmp_path / "cifar10h-counts.npy", np.ones((4, 10)))
    with pytest.raises(StoreError, match="votes on image 5"):
        load_cifar10h(tmp_path)
    write_raw_votes(path, [(1, 0, 12)])
    with pytest.raises(StoreError, match="classes 0 to 9"):
        load_cifar10h(tmp_path)
    path.unlink()
    (tmp_path / "cifar10h-raw.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StoreError, match="lacks the columns"):
        load_cifar10h(tmp_path)
