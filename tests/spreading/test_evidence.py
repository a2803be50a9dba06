"""Evidence adds like votes; soft labels are one object with one table."""

from dataclasses import replace

import numpy as np
import pytest

from softspread import InputError, ProbabilisticLabelSpreading
from softspread.spreading.evidence import Evidence, SoftLabels, soft_labels


@pytest.fixture
def labels():
    """Three items, two classes, with intervals."""
    p = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    ids = np.array(["a", "b", "c"])
    return SoftLabels(
        ids, np.array(["no", "yes"]), p, np.array([3.0, 0.5, 1.0]), p - 0.05, p + 0.05, {"seed": 1}
    )


def test_evidence_of_a_union_is_the_sum(rng):
    """Spreading two vote sets at once equals adding their evidence, and the bounds add too."""
    X = rng.normal(size=(40, 2))
    first, second = rng.integers(0, 3, (40, 2)), rng.integers(0, 3, (40, 2))

    def spread(counts):
        return ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=5, tol=1e-10).fit(X, counts)._evidence()

    total, union = spread(first) + spread(second), spread(first + second)
    np.testing.assert_allclose(total.mass, union.mass, atol=1e-7)
    np.testing.assert_allclose(total.total, union.mass.sum(axis=1), atol=1e-7)
    assert (total.error_bound >= 0).all()


def test_evidence_becomes_soft_labels_under_a_prior():
    """(Y + kappa prior) / (N + kappa), and the prior itself where nothing arrived."""
    evidence = Evidence(np.array([[3.0, 1.0], [0.0, 0.0]]), np.zeros(2))
    prior = np.array([[0.5, 0.5], [0.25, 0.75]])
    np.testing.assert_allclose(evidence.soft_labels(prior, 2.0), [[4 / 6, 2 / 6], [0.25, 0.75]])
    np.testing.assert_allclose(evidence.soft_labels(prior, 0.0)[1], prior[1])
    np.testing.assert_allclose(evidence.soft_labels(prior, 2.0), soft_labels(evidence.mass, prior, 2.0))


def test_the_table_has_the_columns_of_the_files(labels):
    """item, p, evidence, lower, upper: what write_soft_labels writes."""
    frame = labels.to_frame()
    wanted = ["item", "p_no", "p_yes", "evidence", "lower_no", "lower_yes", "upper_no", "upper_yes"]
    assert frame.columns.tolist() == wanted
    assert frame["item"].tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(frame["p_yes"], labels.p[:, 1])


def test_verdicts_are_the_last_column_and_stay_with_their_items(labels):
    """Of the table, of some items, and of the notebook's view; without them no such column."""
    judged = replace(labels, verdict=np.array(["clear", "ambiguous", "clear"]))
    assert judged.to_frame().columns[-1] == "verdict"
    assert judged.take(np.array([1])).to_frame()["verdict"].tolist() == ["ambiguous"]
    assert "ambiguous" in judged._repr_html_()
    assert "verdict" not in labels.to_frame()


def test_classes_whose_text_is_the_same_keep_their_columns():
    """1 and "1" are two classes."""
    classes = np.array([1, "1"], dtype=object)
    frame = SoftLabels(np.array([0]), classes, np.array([[0.25, 0.75]]), np.ones(1)).to_frame()
    assert frame.to_numpy().tolist() == [[0.0, 0.25, 0.75, 1.0]]


def test_some_items_keep_everything_that_belongs_to_them(labels):
    """By mask and by position, in the given order; the facts stay."""
    some = labels.take(np.array([2, 0]))
    assert some.ids.tolist() == ["c", "a"]
    assert some.labels.tolist() == ["yes", "no"]
    np.testing.assert_allclose(some.width, 0.1)
    assert some.metadata == {"seed": 1}
    assert len(labels.take(labels.evidence >= 1)) == 2


def test_soft_labels_without_intervals_have_no_width(labels):
    """The message says so instead of failing later."""
    bare = SoftLabels(labels.ids, labels.classes, labels.p, labels.evidence)
    with pytest.raises(InputError, match="no intervals"):
        bare.width  # noqa: B018


def test_the_short_description_counts_and_the_notebook_shows_the_leading_class(labels):
    """One line as text; a table with escaped names as HTML."""
    assert repr(labels) == "SoftLabels(3 items, 2 classes: no, yes; median evidence 1; with intervals)"
    ids = np.array([f"<b>{row}" for row in range(12)], dtype=object)
    many = SoftLabels(ids, np.arange(9), np.full((12, 9), 1 / 9), np.ones(12))
    assert (
        repr(many)
        == "SoftLabels(12 items, 9 classes: 0, 1, 2, 3, 4, 5, ...; median evidence 1; no intervals)"
    )
    page = many._repr_html_()
    assert "&lt;b&gt;0" in page
    assert "<b>0" not in page
    assert "and 2 more items" in page
    assert "lower" in labels._repr_html_()


def test_an_estimator_answers_with_one_object(rng):
    """soft_labels agrees with every single answer, for fitted items with and without ids."""
    X, y = rng.normal(size=(30, 2)), np.where(np.arange(30) % 3, -1, np.arange(30) % 2)
    est = ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=5).fit(X, y)
    found = est.soft_labels(0.8)
    lower, upper = est.predict_interval(confidence_level=0.8)
    np.testing.assert_array_equal(found.p, est.predict_proba())
    np.testing.assert_array_equal(found.evidence, est.evidence_)
    np.testing.assert_array_equal(found.lower, lower)
    np.testing.assert_array_equal(found.upper, upper)
    assert found.ids.tolist() == list(range(30))
    assert found.labels.tolist() == est.predict().tolist()
    named = est.fit(X, y, item_ids=[f"i{row}" for row in range(30)]).soft_labels()
    assert named.ids[3] == "i3"


@pytest.mark.parametrize("method", ["wilson", "hoeffding", "calibrated"])
def test_mass_is_fetched_once_per_answer(rng, method, monkeypatch):
    """Soft labels, evidence and intervals come from one look at the state."""
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, (60, 2))
    est = ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=5).fit(X, y)
    est.soft_labels(method=method, lipschitz=0.1)  # what is learned once per set of votes
    looks = []
    state = type(est._state)
    mass = state.mass
    monkeypatch.setattr(state, "mass", lambda self, *rows: looks.append(1) or mass(self, *rows))
    est.soft_labels(method=method, lipschitz=0.1)
    assert len(looks) == 1


def test_soft_labels_without_evidence_are_the_prior():
    """Rows sum to 1 with and without evidence, strength or negative rounding."""
    mass = np.array([[0.0, 0.0], [3.0, 1.0], [-1e-13, 2.0]])
    prior = np.array([[0.2, 0.8]] * 3)
    np.testing.assert_allclose(soft_labels(mass, prior, 0.0), [[0.2, 0.8], [0.75, 0.25], [0.0, 1.0]])
    np.testing.assert_allclose(soft_labels(mass, prior, 1.0)[1], [3.2 / 5, 1.8 / 5])


def test_a_torch_dataset_holds_features_soft_labels_and_weights(labels):
    """What goes in comes out, row by row; whole numbers stay whole; without a limit every item counts 1."""
    torch = pytest.importorskip("torch")
    X = np.arange(6.0).reshape(3, 2)
    data = labels.to_torch_dataset(X)
    assert len(data) == 3
    seen, p, weight = data.tensors
    assert seen.dtype == p.dtype == weight.dtype == torch.float32
    np.testing.assert_array_equal(seen.numpy(), X)
    np.testing.assert_allclose(p.numpy(), labels.p, rtol=1e-6)
    np.testing.assert_array_equal(weight.numpy(), np.ones(3))
    assert labels.to_torch_dataset(torch.arange(3)).tensors[0].dtype == torch.int64


def test_training_weights_are_evidence_up_to_a_limit_with_mean_one(labels):
    """Evidence 3, 0.5, 1 up to 2 votes: 2, 0.5, 1 over their mean; no evidence at all weighs all alike."""
    np.testing.assert_allclose(labels.training_weights(2.0), np.array([2.0, 0.5, 1.0]) * 3 / 3.5)
    np.testing.assert_array_equal(replace(labels, evidence=np.zeros(3)).training_weights(2.0), np.ones(3))


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_a_limit_that_is_no_number_of_votes_is_refused(labels, limit):
    """The message names the value."""
    with pytest.raises(InputError, match="max_weight must be a number of votes above 0"):
        labels.training_weights(limit)


def test_features_of_other_items_are_refused(labels):
    """Another number of rows, or no rows at all."""
    pytest.importorskip("torch")
    for X in (np.zeros((2, 2)), 1.0):
        with pytest.raises(InputError, match="one row per soft label"):
            labels.to_torch_dataset(X)


def test_a_hugging_face_dataset_holds_the_distribution_and_more_columns(labels):
    """The label's names are the classes, in the order of the distribution."""
    pytest.importorskip("datasets")
    data = labels.to_hf_dataset(text=["x", "y", "z"])
    assert data.features["label"].names == ["no", "yes"]
    np.testing.assert_allclose(data["soft_label"][:], labels.p, rtol=1e-6)
    assert (data["item"][:], data["label"][:], data["text"][:]) == (
        ["a", "b", "c"],
        [0, 0, 1],
        ["x", "y", "z"],
    )
    np.testing.assert_allclose(data["upper"][:], labels.upper, rtol=1e-6)


def test_a_hugging_face_dataset_equals_the_exported_folder(labels, tmp_path):
    """Both ways give the same columns of the same kinds."""
    datasets = pytest.importorskip("datasets")
    from softspread.io.huggingface import write_dataset

    write_dataset(tmp_path / "out", labels)
    stored, made = datasets.load_from_disk(str(tmp_path / "out")), labels.to_hf_dataset()
    assert set(stored.features) == set(made.features)
    assert stored.features["label"] == made.features["label"]
    for name in stored.features:
        np.testing.assert_array_equal(np.asarray(stored[name][:]), np.asarray(made[name][:]))


@pytest.mark.parametrize(
    ("columns", "reason"), [({"item": [1, 2, 3]}, "is taken"), ({"text": ["x"]}, "1 values")]
)
def test_a_further_column_must_fit(labels, columns, reason):
    """A name that is taken, or another number of values."""
    pytest.importorskip("datasets")
    with pytest.raises(InputError, match=reason):
        labels.to_hf_dataset(**columns)
