"""`est.plot`: one picture for each question, on the caller's axes or on new ones."""

import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from softspread import (
    InputError,
    MissingExtraError,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    VoteHistogram,
    Votes,
    affinity_graph,
)

NAMES = ("map", "evidence", "annotators", "alpha", "learning_curve", "coverage")


@pytest.fixture(scope="module")
def votes_on_items():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1, size=(60, 3)) for c in (0, 3)])
    items = np.concatenate([rng.permutation(120)[:60] for _ in range(4)])  # nobody votes twice on an item
    labels = np.where(rng.random(240) < 0.9, items // 60, 1 - items // 60)
    return X, Votes.from_pairs(items, labels, np.repeat(["ann", "bob", "cem", "dee"], 60))


@pytest.fixture(scope="module", params=[SoftLabeler, ProbabilisticLabelSpreading])
def fitted(request, votes_on_items):
    return request.param(n_neighbors=10, random_state=0).fit(*votes_on_items)


@pytest.mark.parametrize("name", NAMES)
def test_each_picture_is_drawn_on_the_given_axes(fitted, name):
    """And the axes come back, with something on them."""
    axes = Figure().subplots()
    assert getattr(fitted.plot, name)(axes) is axes
    assert axes.has_data()


@pytest.mark.parametrize("color", ["evidence", "uncertainty"])
def test_maps_show_evidence_and_uncertainty(fitted, color):
    """Every item is a dot with its value."""
    axes = fitted.plot.map(Figure().subplots(), color=color)
    values = axes.collections[0].get_array()
    expected = fitted.evidence_ if color == "evidence" else fitted.soft_labels().width.max(axis=1)
    assert np.allclose(np.sort(values), np.sort(expected))


def test_without_axes_there_is_a_new_figure(fitted):
    """As people expect in a notebook."""
    before = mpl.get_backend()
    mpl.use("Agg")
    try:
        first, second = fitted.plot.evidence(), fitted.plot.evidence()
        assert first.figure is not second.figure
    finally:
        mpl.pyplot.close("all")
        mpl.use(before)


def test_one_seed_one_map(fitted):
    """The layout does not change from call to call."""
    a, b = (fitted.plot.map(Figure().subplots()).collections[0].get_offsets() for _ in range(2))
    assert np.array_equal(a, b)


def test_what_an_estimator_cannot_show_is_said():
    """With what to do."""
    est = VoteHistogram().fit([[0.0], [1.0]], [0, 1])
    for name in NAMES[2:]:
        with pytest.raises(InputError, match=r"VoteHistogram does not know .* SoftLabeler does"):
            getattr(est.plot, name)(Figure().subplots())
    with pytest.raises(InputError, match="color must be"):
        est.plot.map(color="red")
    with pytest.raises(NotFittedError):
        VoteHistogram().plot  # noqa: B018


def test_missing_names_features_and_choices_are_said():
    """Each with its reason."""
    graph = affinity_graph(np.ones((4, 4)) - np.eye(4))
    est = ProbabilisticLabelSpreading(alpha=0.5).fit(graph, [0, -1, -1, 1])
    with pytest.raises(InputError, match="affinity"):
        est.plot.map(Figure().subplots())
    with pytest.raises(InputError, match="name no annotators"):
        est.plot.annotators(Figure().subplots())
    with pytest.raises(InputError, match="alpha was given"):
        est.plot.alpha(Figure().subplots())


def test_without_matplotlib_the_extra_is_named(fitted, monkeypatch):
    """Instead of an ImportError."""
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"softspread\[plots\]"):
        fitted.plot.evidence()


def test_the_list_of_pictures_is_shown(fitted):
    """A newcomer types est.plot."""
    assert all(f"{name}()" in repr(fitted.plot) for name in NAMES)
