"""Datasets are read from the formats in which they are distributed, and synthetic ones are what they
claim."""

import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from softspread import datasets
from softspread.datasets import cifar, folders, idx, labelme, synthetic
from softspread.datasets.core import shares
from softspread.errors import InputError, StoreError

PNG = pytest.importorskip("PIL.Image", reason="needs Pillow")


# -------------------------------------------------------------------------------------------------- synthetic
def test_two_moons_are_the_papers():
    """1,000 points in two half circles; the network's soft labels agree with the moons but for a few
    points."""
    moons = datasets.load("two_moons")
    assert moons.X.shape == (1000, 2)
    assert_allclose(moons.p_true.sum(axis=1), 1)
    assert (moons.p_true.argmax(axis=1) == moons.labels).mean() > 0.97


def test_more_training_makes_sharper_moons():
    """Entropy falls with the number of steps."""
    little, much = (
        datasets.normalized_entropy(synthetic.two_moons(300, n_steps=steps).p_true).mean()
        for steps in (50, 600)
    )
    assert much < little


def test_moons_repeat_with_the_seed():
    """Points and network come from one number."""
    first, again, other = (synthetic.two_moons(50, random_state=s, n_steps=20) for s in (1, 1, 2))
    assert_array_equal(first.p_true, again.p_true)
    assert (first.X != other.X).any()


def test_sine_curve_has_the_closed_form():
    """The second class has probability (1 + sin x) / 2, which changes by at most its stated slope."""
    curve = datasets.load("sine_curve", n_items=400)
    x, p = curve.X[:, 0], curve.p_true[:, 1]
    assert_allclose(p, (1 + np.sin(x)) / 2)
    slopes = np.abs(np.subtract.outer(p, p)) / np.maximum(np.abs(np.subtract.outer(x, x)), 1e-12)
    assert slopes.max() <= synthetic.SINE_LIPSCHITZ + 1e-6


def test_digits_have_images_features_and_soft_labels():
    """The default features are 20 principal components."""
    digits = datasets.load("digits")
    assert digits.X.shape == (1797, 20)
    assert digits.images.shape == (1797, 8, 8)
    assert (digits.p_true.argmax(axis=1) == digits.labels).mean() > 0.9


def test_reduction_by_name():
    """Technique and dimension in one word; anything else is refused."""
    X = np.random.default_rng(0).normal(size=(40, 6))
    assert synthetic.reduced(X, "pca3").shape == (40, 3)
    assert_array_equal(synthetic.reduced(X, "pixels"), X)
    with pytest.raises(InputError, match="pca<d>"):
        synthetic.reduced(X, "magic3")
    with pytest.raises(InputError, match="pca<d>"):
        synthetic.reduced(X, "pca")


# ------------------------------------------------------------------------------------------------------ CIFAR
def write_batch(path, labels, rng):
    """Records of one label and three planes of bytes, as the binary version has them."""
    images = rng.integers(256, size=(len(labels), 32, 32, 3), dtype=np.uint8)
    planes = images.transpose(0, 3, 1, 2).reshape(len(labels), -1)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.concatenate([np.asarray(labels, dtype=np.uint8)[:, None], planes], axis=1).tofile(path)
    return images


def test_cifar10_batches_become_images_in_order(tmp_path, rng):
    """Colours, rows and columns end up where they belong, batch after batch."""
    home = tmp_path / "cifar10" / "cifar-10-batches-bin"
    written = [write_batch(home / name, rng.integers(10, size=3), rng) for name in cifar.BATCHES]
    data = cifar.load_cifar10(tmp_path / "cifar10")
    assert_array_equal(data.images, np.concatenate(written))
    assert data.labels.shape == (15,)
    assert data.classes[3] == "cat"


def test_cifar10_says_what_to_download_and_refuses_broken_files(tmp_path, rng):
    """A missing folder, a missing batch, a cut batch."""
    with pytest.raises(StoreError, match=r"cifar-10-binary\.tar\.gz"):
        cifar.load_cifar10(tmp_path)
    home = tmp_path / "cifar-10-batches-bin"
    write_batch(home / cifar.BATCHES[0], [1, 2], rng)
    with pytest.raises(StoreError, match="data_batch_2"):
        cifar.load_cifar10(tmp_path)
    (home / cifar.BATCHES[1]).write_bytes(b"\0" * 100)
    with pytest.raises(StoreError, match="no whole number of records"):
        cifar.load_cifar10(tmp_path)


def test_cifar10h_counts_become_soft_labels_and_votes(tmp_path, rng):
    """Relative frequencies are the truth, the counts themselves are votes, images come from CIFAR-10's test
    batch."""
    counts = rng.multinomial(50, np.full(10, 0.1), size=6)
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "cifar10h-counts.npy", counts)
    images = write_batch(tmp_path / "cifar-10-batches-bin" / "test_batch.bin", range(6), rng)
    np.save(tmp_path / "features_toy.npy", rng.normal(size=(6, 4)))
    data = cifar.load_cifar10h(tmp_path)
    assert_allclose(data.p_true, counts / 50)
    assert_array_equal(data.images, images)
    assert data.votes.weights.sum() == 300
    assert data.features == "toy"
    with pytest.raises(InputError, match="it has toy"):
        cifar.load_cifar10h(tmp_path, features="clip")


def test_without_a_name_the_features_of_fewest_dimensions_are_taken(tmp_path, rng):
    """Reduced features before raw ones, and the first by name of equals."""
    np.save(tmp_path / "cifar10h-counts.npy", np.ones((4, 10)))
    for name, d in (("raw", 30), ("b_umap", 2), ("a_umap", 2)):
        np.save(tmp_path / f"features_{name}.npy", rng.normal(size=(4, d)))
    assert cifar.load_cifar10h(tmp_path).features == "a_umap"


def test_arrays_that_do_not_fit_are_refused(tmp_path, rng):
    """Features of another dataset, and a file that is none."""
    np.save(tmp_path / "cifar10h-counts.npy", np.ones((4, 10)))
    np.save(tmp_path / "features_toy.npy", rng.normal(size=(5, 2)))
    with pytest.raises(StoreError, match="do not belong together"):
        cifar.load_cifar10h(tmp_path)
    (tmp_path / "cifar10h-counts.npy").write_bytes(b"nonsense")
    with pytest.raises(StoreError, match="no readable NumPy array"):
        cifar.load_cifar10h(tmp_path)


# -------------------------------------------------------------------------------------------------------- IDX
def write_idx(path, array):
    """Magic number, big-endian sizes, bytes; packed if the name ends so."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    raw = head + array.astype(np.uint8).tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_mnist_is_both_parts(tmp_path, rng, ending):
    """Training digits first, then the test digits, packed or not."""
    parts = {"train": rng.integers(256, size=(4, 28, 28)), "t10k": rng.integers(256, size=(2, 28, 28))}
    for part, images in parts.items():
        write_idx(tmp_path / f"{part}-images-idx3-ubyte{ending}", images)
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte{ending}", np.arange(len(images)))
    data = idx.load_mnist(tmp_path)
    assert_array_equal(data.images, np.concatenate(list(parts.values())))
    assert data.labels.tolist() == [0, 1, 2, 3, 0, 1]


def test_emnist_digits_are_turned_upright(tmp_path, rng):
    """The files hold the images with rows and columns exchanged."""
    images = rng.integers(256, size=(3, 28, 28))
    write_idx(tmp_path / "gzip" / "emnist-digits-train-images-idx3-ubyte.gz", images)
    write_idx(tmp_path / "gzip" / "emnist-digits-train-labels-idx1-ubyte.gz", np.array([7, 8, 9]))
    data = idx.load_emnist_digits(tmp_path)
    assert_array_equal(data.images[1], images[1].T)
    assert data.labels.tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    "raw",
    [b"", b"\0\0\x0d\1\0\0\0\1\0", b"\0\0\x08\1\0\0\0\5ab", gzip.compress(b"\0\0\x08\1", mtime=0)[:-6]],
    ids=["empty", "of floats", "cut short", "cut while compressed"],
)
def test_broken_idx_files_are_refused(tmp_path, raw):
    """Empty, of another type, too short, a cut archive."""
    path = tmp_path / ("file.gz" if raw[:2] == b"\x1f\x8b" else "file")
    path.write_bytes(raw)
    with pytest.raises(StoreError, match="download it again"):
        idx.read_idx(path)


# ---------------------------------------------------------------------------------------------------- folders
def write_image(path, value=0, size=(6, 5)):
    path.parent.mkdir(parents=True, exist_ok=True)
    PNG.fromarray(np.full((*size, 3), value, dtype=np.uint8)).save(path)


def test_animals_get_english_names(tmp_path):
    """The ten Italian folders, however the files in them are called."""
    for number, name in enumerate(folders.ITALIAN):
        write_image(tmp_path / "raw-img" / name / f"{number}.jpeg")
    write_image(tmp_path / "raw-img" / "gatto" / "more.png")
    data = folders.load_animals10(tmp_path)
    assert data.n_items == 11
    names = data.classes[data.labels]
    assert all(
        folders.ITALIAN[path.split("/")[-2]] == name for path, name in zip(data.paths, names, strict=True)
    )
    for path in (tmp_path / "raw-img" / "gatto").iterdir():
        path.unlink()
    (tmp_path / "raw-img" / "gatto").rmdir()
    with pytest.raises(StoreError, match="gatto"):
        folders.load_animals10(tmp_path)


def test_tiny_imagenet_reads_its_lists(tmp_path):
    """Classes by their codes, named by the first word; two classes of one name stay apart."""
    home = tmp_path / "tiny-imagenet-200"
    for code in ("n02", "n01", "n03"):
        write_image(home / "train" / code / "images" / f"{code}_0.JPEG")
    (home / "wnids.txt").write_text("n02\nn01\nn03\n")
    (home / "words.txt").write_text("n01\tgoldfish, Carassius\nn02\ttoad\nn03\ttoad, other\n")
    data = folders.load_tiny_imagenet(tmp_path)
    assert data.classes.tolist() == ["goldfish (n01)", "toad (n02)", "toad (n03)"]
    assert data.labels.tolist() == [0, 1, 2]
    (home / "wnids.txt").write_text("n01\nn09\n")
    with pytest.raises(StoreError, match="n09"):
        folders.load_tiny_imagenet(tmp_path)


def test_images_are_squeezed_to_squares(tmp_path):
    """Any shape becomes side x side x 3 bytes; what is no image is refused."""
    write_image(tmp_path / "a.png", 7, (9, 4))
    found = folders.read_images([tmp_path / "a.png"], 3)
    assert found.shape == (1, 3, 3, 3)
    assert (found == 7).all()
    (tmp_path / "b.png").write_text("no image")
    with pytest.raises(StoreError, match="no readable image"):
        folders.read_images([tmp_path / "b.png"], 3)


def test_a_folder_with_votes_needs_no_code(tmp_path):
    """Images named by their path, votes in a table: soft labels are the relative frequencies."""
    for name in ("a.png", "sub/b.png", "sub/c.png"):
        write_image(tmp_path / "mine" / name)
    frame = pd.DataFrame(
        {
            "item": ["a.png", "a.png", "sub/c.png"],
            "label": ["cat", "dog", "dog"],
            "annotator": ["x", "y", "x"],
        }
    )
    frame.to_csv(tmp_path / "mine" / "votes.csv", index=False)
    data = datasets.load("mine", tmp_path)
    assert data.classes.tolist() == ["cat", "dog"]
    assert_allclose(data.p_true, [[0.5, 0.5], [0.5, 0.5], [0, 1]])
    assert data.votes.items.tolist() == [0, 0, 2]
    assert data.votes.annotators.tolist() == ["x", "y", "x"]


def test_a_folder_with_features_names_its_rows(tmp_path, rng):
    """items.csv gives the order of the rows; without images or it, the error says what is needed."""
    home = tmp_path / "mine"
    home.mkdir()
    pd.DataFrame({"item": ["1", "0"], "label": [1, 0]}).to_csv(home / "votes.csv", index=False)
    with pytest.raises(StoreError, match=r"items\.csv"):
        datasets.load("mine", tmp_path)
    pd.DataFrame({"item": ["0", "1", "2"]}).to_csv(home / "items.csv", index=False)
    np.save(home / "features_toy.npy", rng.normal(size=(3, 2)))
    data = datasets.load("mine", tmp_path)
    assert data.X.shape == (3, 2)
    assert_allclose(data.p_true[:2], [[1, 0], [0, 1]])


def test_hard_labels_get_light_soft_labels_unless_a_file_has_them(tmp_path, rng):
    """soft_labels.npy counts; else a cross-validated logistic regression on the features."""
    home = tmp_path / "blobs"
    home.mkdir()
    labels = np.repeat([3, 5], 30)
    np.save(home / "labels.npy", labels)
    np.save(home / "features_toy.npy", rng.normal(size=(60, 2)) + labels[:, None])
    light = datasets.load("blobs", tmp_path)
    assert "logistic" in light.note
    assert (light.p_true.argmax(axis=1) == light.labels).mean() > 0.8
    p = rng.dirichlet([1, 1], size=60)
    np.save(home / "soft_labels.npy", p)
    assert_allclose(datasets.load("blobs", tmp_path).p_true, p)


# ---------------------------------------------------------------------------------------------------- LabelMe
def test_labelme_votes_carry_their_annotators(tmp_path):
    """answers.txt has one line an image and one number an annotator, -1 where they did not vote."""
    home = tmp_path / "LabelMe"
    home.mkdir()
    (home / "answers.txt").write_text("0 -1 1\n-1 7 -1\n")
    (home / "labels_train.txt").write_text("0\n7\n")
    (home / "filenames_train.txt").write_text("a.jpg\nb.jpg\n")
    data = labelme.load_labelme(tmp_path)
    frame = data.votes.to_frame()
    assert frame["item"].tolist() == [0, 0, 1]
    assert frame["label"].tolist() == ["highway", "insidecity", "opencountry"]
    assert frame["annotator"].tolist() == [0, 2, 1]
    assert data.p_true[1].argmax() == 7
    assert data.paths[1].endswith("train/opencountry/b.jpg")
    (home / "answers.txt").write_text("0 x\n")
    with pytest.raises(StoreError, match="no table of numbers"):
        labelme.load_labelme(tmp_path)


# ------------------------------------------------------------------------------------------------ all of them
@pytest.mark.parametrize("name", [name for name in datasets.names() if not datasets.available(name)])
def test_every_dataset_says_what_to_download(name, tmp_path):
    """Without a folder, and with one that is not there or empty, the message has an address."""
    assert "http" in datasets.describe(name)
    with pytest.raises(InputError, match="--data"):
        datasets.load(name)
    with pytest.raises(StoreError, match="http"):
        datasets.load(name, tmp_path)
    (tmp_path / name).mkdir()
    with pytest.raises(StoreError, match="http"):
        datasets.load(name, tmp_path)


def test_unknown_names_are_explained():
    """The list of what there is."""
    with pytest.raises(InputError, match="two_moons"):
        datasets.describe("moons")


def test_shares_of_nothing_are_uniform():
    """A row without votes knows nothing."""
    assert_allclose(shares(np.array([[0, 0], [1, 3]])), [[0.5, 0.5], [0.25, 0.75]])


def test_subset_keeps_rows_together():
    """Features, truth and labels of the chosen items, in the order asked for."""
    data = synthetic.two_moons(30, n_steps=5)
    part = data.subset([4, 1])
    assert_array_equal(part.X, data.X[[4, 1]])
    assert_array_equal(part.p_true, data.p_true[[4, 1]])
    assert part.n_items == 2


@pytest.mark.shared
def test_the_shared_data_load_by_path(shared_data):
    """Human votes, annotators, and hard labels that get soft ones."""
    cifar10h = datasets.load("cifar10h", shared_data, features="efflite2_umap20")
    assert cifar10h.X.shape == (10_000, 20)
    assert cifar10h.prior.shape == (10_000, 10)
    assert cifar10h.votes.weights.sum() > 500_000
    people = datasets.load("labelme", shared_data, features="vgg16_umap20")
    assert len(set(people.votes.annotators.tolist())) == 59
    # with the 8 class names in the right order, votes agree with the true class far more often than by chance
    truth = people.classes[people.labels[people.votes.items.astype(int)]]
    assert (truth == people.votes.labels).mean() > 0.6
    assert datasets.load("davidson", shared_data).p_true.shape == (24_783, 3)
