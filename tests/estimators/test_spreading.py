"""The estimator as users meet it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import softspread
from softspread import (
    InputError,
    ProbabilisticLabelSpreading,
    SoftspreadWarning,
    VoteHistogram,
    Votes,
    affinity_graph,
    epsilon_graph,
    knn_graph,
)
from softspread.metrics import rmse


@pytest.fixture
def blobs(rng):
    return np.concatenate([rng.normal(c, 0.4, size=(60, 2)) for c in (0, 4, 8)])


def test_one_label_per_cluster_is_enough(blobs):
    """Three votes label 180 items."""
    y = np.full(180, -1)
    y[[0, 60, 120]] = [0, 1, 2]
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, y)
    np.testing.assert_array_equal(est.transduction_, np.repeat([0, 1, 2], 60))
    np.testing.assert_array_equal(est.transduction_, est.predict())
    np.testing.assert_array_equal(est.label_distributions_, est.predict_proba())
    assert est.evidence_.shape == (180,)
    assert est.n_features_in_ == 2
    assert est.alpha_ == 0.9


def test_three_forms_of_y_agree(blobs, rng):
    """Labels with -1, counts and Votes say the same."""
    y = np.full(180, -1)
    voted = rng.choice(180, 20, replace=False)
    y[voted] = rng.integers(0, 3, 20)
    counts = np.zeros((180, 3))
    counts[voted, y[voted]] = 1
    forms = [
        y,
        counts,
        Votes.from_pairs(voted, y[voted]),
        pd.Series(y),
        [int(v) for v in y],
        pd.DataFrame(counts),
    ]
    answers = [ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, form).predict_proba() for form in forms]
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0])


def test_string_labels_with_none_for_no_vote(blobs):
    """None marks unlabelled items where labels are words."""
    y = np.full(180, None, dtype=object)
    y[[0, 60, 120]] = ["cat", "dog", "eel"]
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, y)
    assert est.classes_.tolist() == ["cat", "dog", "eel"]
    assert est.predict()[100] == "dog"


def test_graph_frame_and_array_agree(blobs):
    """X may be an array, a frame or a ready Graph."""
    votes = Votes.from_pairs([0, 60, 120, 5], [0, 1, 2, 1])
    est = ProbabilisticLabelSpreading(n_neighbors=8)
    p = est.fit(blobs, votes).predict_proba()
    frame = pd.DataFrame(blobs, columns=["x", "y"])
    np.testing.assert_allclose(clone(est).fit(frame, votes).predict_proba(), p)
    assert clone(est).fit(frame, votes).feature_names_in_.tolist() == ["x", "y"]
    np.testing.assert_allclose(clone(est).fit(knn_graph(blobs, 8), votes).predict_proba(), p)


def test_item_ids_and_given_classes(blobs):
    """Votes name items by id; classes keep the order given, seen or not."""
    ids = [f"img{i}.png" for i in range(180)]
    votes = Votes.from_pairs(["img60.png", "img0.png"], ["dog", "cat"])
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(
        blobs, votes, item_ids=ids, classes=["dog", "eel", "cat"]
    )
    assert est.predict_proba()[70].argmax() == 0
    assert est.predict_proba()[10].argmax() == 2
    assert est.explain("img70.png")["item"].tolist() == ["img60.png"]


def test_prior_counts_as_pseudo_votes(blobs):
    """Soft labels are (Y + kappa prior) / (N + kappa)."""
    prior = np.random.default_rng(0).dirichlet(np.ones(3), size=180)
    votes = Votes.from_pairs([0, 60, 120], [0, 1, 2])
    est = ProbabilisticLabelSpreading(n_neighbors=8, prior=prior, prior_strength=0.5).fit(blobs, votes)
    Y = est.predict_freq()
    np.testing.assert_allclose(est.predict_proba(), (Y + 0.5 * prior) / (Y.sum(axis=1, keepdims=True) + 0.5))


@pytest.mark.parametrize(
    "make",
    [
        lambda X, how: knn_graph(X, 6, normalization=how),
        lambda X, how: epsilon_graph(X, 1.0, normalization=how),
    ],
    ids=["knn", "epsilon"],
)
@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_new_items_get_the_mass_of_one_more_step(make, normalization, blobs, rng):
    """mass(x) = alpha sum_j s_xj mass_j with the weights of the graph, checked by loops."""
    graph = make(blobs, normalization)
    assert graph.normalization == normalization
    est = ProbabilisticLabelSpreading(alpha=0.8).fit(graph, Votes.from_pairs([0, 60, 120], [0, 1, 2]))
    new = rng.normal(2, 3, size=(15, 2))
    mass, degrees = est.predict_freq(), graph.degrees
    expected = np.zeros((15, 3))
    for q, x in enumerate(new):
        squared = ((blobs - x) ** 2).sum(axis=1)
        if graph.kind == "knn":
            near = np.argsort(squared)[:6]
            a = 0.5 * np.exp(-squared[near] / (2 * graph.sigma2))
        else:
            near = np.flatnonzero(squared <= 1.0)
            a = np.ones(len(near))
        for j, weight in zip(near, a, strict=True):
            s = weight / a.sum() if normalization == "random_walk" else weight / np.sqrt(a.sum() * degrees[j])
            expected[q] += 0.8 * s * mass[j]
    np.testing.assert_allclose(est.predict_freq(new), expected, atol=1e-10)
    np.testing.assert_allclose(est.predict_proba(new).sum(axis=1), 1)


def test_new_item_far_from_everything_gets_the_prior(blobs):
    """No tie, no evidence, no NaN."""
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, Votes.from_pairs([0, 60, 120], [0, 1, 2]))
    np.testing.assert_allclose(est.predict_proba([[1e6, 1e6]]), [[1 / 3, 1 / 3, 1 / 3]])


def test_affinity_has_no_place_for_new_items():
    """The error says why."""
    est = ProbabilisticLabelSpreading().fit(affinity_graph(np.ones((4, 4))), [0, -1, -1, 1])
    with pytest.raises(InputError, match="no features"):
        est.predict_proba([[0.0, 1.0]])


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
@pytest.mark.parametrize("n", [1, 2])
def test_one_and_two_items(n):
    """The smallest datasets work and give probabilities."""
    est = ProbabilisticLabelSpreading().fit(np.arange(n, dtype=float)[:, None], [0] * n, classes=[0, 1])
    np.testing.assert_allclose(est.predict_proba().sum(axis=1), 1)
    assert (est.predict() == 0).all()


def test_degenerate_items_never_give_nan(rng):
    """Coinciding points, a far outlier, two components: finite soft labels, isolated items keep their own
    votes."""
    X = np.concatenate([np.zeros((12, 2)), rng.normal(5, 0.1, size=(12, 2)), [[1e9, 1e9]]])
    with pytest.warns(SoftspreadWarning, match="no neighbour"):
        est = ProbabilisticLabelSpreading(n_neighbors=3, bandwidth=0.5).fit(
            X, Votes.from_pairs([0, 13, 24], [0, 1, 1])
        )
    p = est.predict_proba()
    assert np.isfinite(p).all()
    assert est.graph_.n_isolated == 1
    assert est.graph_.n_components >= 3
    np.testing.assert_allclose(est.predict_freq()[24], [0, 1], atol=1e-9)


def test_all_items_coincide():
    """With sigma = 0 every tie has weight 1."""
    est = ProbabilisticLabelSpreading(n_neighbors=3).fit(np.ones((8, 2)), [0, -1, -1, -1, -1, -1, -1, 1])
    assert est.graph_.sigma2 == 0
    assert np.isfinite(est.predict_proba()).all()


def test_zero_votes_give_the_prior(blobs):
    """With classes given nothing is known but the prior; without, asking is an error that says what to do."""
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, np.full(180, -1), classes=["a", "b"])
    np.testing.assert_allclose(est.predict_proba(), 0.5)
    assert not est.evidence_.any()
    assert len(est.explain(3)) == 0
    lower, upper = est.predict_interval()
    assert (lower == 0).all()
    assert (upper == 1).all()
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, np.full(180, -1))
    with pytest.raises(InputError, match="no class is known yet"):
        est.predict_proba()


def test_wilson_interval_contains_the_mean_and_narrows_with_votes(blobs):
    """More votes, narrower; simultaneous is wider; no evidence is all of [0, 1]."""
    few = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, Votes.from_pairs([0, 60, 120], [0, 1, 2]))
    many = ProbabilisticLabelSpreading(n_neighbors=8).fit(
        blobs, Votes.from_pairs([0, 60, 120] * 9, [0, 1, 2] * 9)
    )
    widths = []
    for est in (few, many):
        lower, upper = est.predict_interval(confidence_level=0.9, method="wilson")
        share = est.predict_freq() / est.evidence_[:, None]
        assert ((lower <= share + 1e-9) & (share <= upper + 1e-9)).all()
        widths.append((upper - lower).mean())
    assert widths[1] < widths[0]
    lower, upper = few.predict_interval(method="wilson", simultaneous=True)
    assert (upper - lower).mean() > widths[0]


def test_the_default_interval_is_the_posterior_which_contains_the_mean_and_narrows_with_votes(blobs):
    """Three votes on each of many items, narrower than one on each of three; simultaneous is wider."""
    few = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, Votes.from_pairs([0, 60, 120], [0, 1, 2]))
    rows = np.tile(np.arange(0, 180, 4), 3)
    many = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, Votes.from_pairs(rows, rows // 60))
    widths = []
    for est in (few, many):
        lower, upper = est.predict_interval(confidence_level=0.9)
        named = est.predict_interval(confidence_level=0.9, method="posterior")
        np.testing.assert_array_equal([lower, upper], named)
        p = est.predict_proba()
        assert ((lower <= p) & (p <= upper)).all()
        widths.append((upper - lower).mean())
    assert widths[1] < widths[0]
    lower, upper = few.predict_interval(simultaneous=True)
    assert (upper - lower).mean() > widths[0]


def test_hoeffding_interval_follows_its_formula(blobs, rng):
    """Without bias the half-width is sqrt(ln(2/delta)/2 sum phi^2)/N over the votes; bias and all classes
    widen it."""
    rows, columns = rng.integers(0, 180, 40), rng.integers(0, 3, 40)
    est = ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=8, prior_strength=0.0).fit(
        blobs, Votes.from_pairs(rows, columns)
    )
    inverse = np.linalg.inv(np.eye(180) - 0.9 * est.graph_.S.toarray())
    phi = inverse[:, rows] / inverse[:, rows].max(axis=0)
    half = np.sqrt(np.log(2 / 0.1) / 2 * (phi**2).sum(axis=1)) / phi.sum(axis=1)
    p = est.predict_proba()
    lower, upper = est.predict_interval(method="hoeffding", lipschitz=0)
    np.testing.assert_allclose(lower, np.clip(p - half[:, None], 0, 1), atol=1e-6)
    np.testing.assert_allclose(upper, np.clip(p + half[:, None], 0, 1), atol=1e-6)
    for wider in (
        {"lipschitz": 0.5},
        {"lipschitz": 0, "simultaneous": True},
        {"lipschitz": 0, "confidence_level": 0.99},
    ):
        low, high = est.predict_interval(method="hoeffding", **wider)
        assert (high - low).sum() > (upper - lower).sum()
    with pytest.raises(InputError, match="method must be one of"):
        est.predict_interval(method="guess")


def test_explain_shows_annotators_and_cuts_to_the_top(blobs):
    """The heaviest votes come first, with who cast them."""
    votes = Votes.from_pairs([0, 1, 2, 60], [0, 0, 1, 1], annotators=["ann", "bob", "ann", "cy"])
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, votes)
    table = est.explain(0, top=2)
    assert list(table.columns) == ["item", "label", "annotator", "weight"]
    assert len(table) == 2
    assert table.iloc[0].tolist()[:3] == [0, 0, "ann"]
    assert table["weight"].is_monotonic_decreasing


def test_same_seed_same_answer(blobs):
    """Approximate neighbours are found from the seed alone, whatever the number of threads."""
    votes = Votes.from_pairs([0, 60, 120], [0, 1, 2])
    answers = [
        ProbabilisticLabelSpreading(n_neighbors=8, index="faiss", random_state=3, n_jobs=jobs).fit(
            blobs, votes
        )
        for jobs in (1, 2)
    ]
    np.testing.assert_array_equal(answers[0].predict_proba(), answers[1].predict_proba())


def test_verbose_shows_progress_on_stderr_only(blobs, capsys):
    """Bars never mix with results."""
    ProbabilisticLabelSpreading(n_neighbors=8, verbose=True, solver="cg").fit(
        blobs, Votes.from_pairs([0, 60], [0, 1])
    )
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "neighbours" in captured.err


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 1.0}, "alpha must be at least 0 and below 1"),
        ({"alpha": -0.1}, "alpha must be at least 0 and below 1"),
        ({"alpha": float("nan")}, "alpha must be at least 0 and below 1"),
        ({"alpha": True}, "alpha must be at least 0 and below 1"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number, at least 1"),
        ({"n_neighbors": 2.5}, "n_neighbors must be a whole number"),
        ({"bandwidth": "wide"}, "bandwidth must be one of"),
        ({"bandwidth": -1.0}, "bandwidth must be a positive number"),
        ({"scaling": "loud"}, "scaling must be one of"),
        ({"solver": "magic"}, "solver must be one of"),
        ({"index": "magic"}, "index must be"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"tol": 0.5}, "tol must be at most 0.01"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"prior_strength": -1}, "prior_strength must be 0 or a positive number"),
        ({"prior": [[0.5, 0.5]]}, "a prior must have shape"),
        ({"prior": [-0.5, 0.5, 1.0]}, "not negative"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, blobs):
    """The message says what came and what is allowed."""
    with pytest.raises(InputError, match=message):
        ProbabilisticLabelSpreading(**parameters).fit(blobs, Votes.from_pairs([0, 60, 120], [0, 1, 2]))


def test_refused_update_changes_nothing(blobs):
    """Unknown items, votes never cast, bad weights: an error, and the same answers as before."""
    votes = Votes.from_pairs([0, 60, 120], [0, 1, 2], annotators=["ann", "bob", "ann"])
    est = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, votes)
    before, n_votes = est.predict_proba(), len(est.votes_)
    attempts = [
        (est.update, ([3, 180], [0, 1]), "not positions"),
        (est.update, ([3], [0], None, [np.nan]), "finite"),
        (est.update, ([3, 4], [0]), "one label per item"),
        (est.undo, ([5], [0]), "never cast"),
        (est.undo, ([0], [7]), "never cast"),
        (est.undo, ([0], [0], ["bob"]), "never cast"),
        (est.undo, ([0, 0], [0, 0], ["ann", "ann"]), "never cast"),
    ]
    for method, arguments, message in attempts:
        with pytest.raises(InputError, match=message):
            method(*arguments)
        assert len(est.votes_) == n_votes
        np.testing.assert_array_equal(est.predict_proba(), before)
    est.undo([0], [0], ["ann"])
    rest = Votes.from_pairs([60, 120], [1, 2], annotators=["bob", "ann"])
    fresh = ProbabilisticLabelSpreading(n_neighbors=8).fit(blobs, rest, classes=[0, 1, 2])
    np.testing.assert_allclose(est.refine().predict_freq(), fresh.predict_freq(), atol=1e-6)


def test_asking_before_fitting_is_an_error(blobs):
    """scikit-learn's NotFittedError, from every method."""
    est = ProbabilisticLabelSpreading()
    for ask in (est.predict_proba, est.predict, est.predict_freq, est.predict_interval, est.refine):
        with pytest.raises(NotFittedError):
            ask()
    with pytest.raises(NotFittedError):
        est.update([0], [0])
    with pytest.raises(NotFittedError):
        est.explain(0)


def test_public_names_are_all_there():
    """Everything in the public list can be imported, and nothing else is promised."""
    for name in softspread.__all__:
        assert getattr(softspread, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = softspread.nonsense


@pytest.mark.shared
@pytest.mark.parametrize(
    ("n_votes", "expected"),
    [
        (100, {0.1: 0.2365, 0.5: 0.1879, 0.75: 0.1750, 0.9: 0.1669, 0.95: 0.1620}),
        (1_000, {0.1: 0.1638, 0.5: 0.1506, 0.75: 0.1427, 0.9: 0.1384, 0.95: 0.1387}),
        (10_000, {0.1: 0.0998, 0.5: 0.0991, 0.75: 0.1094, 0.9: 0.1231}),
        (100_000, {0.1: 0.0295, 0.5: 0.0673, 0.75: 0.0978, 0.9: 0.1200}),
    ],
)
def test_cifar10h_reaches_the_known_errors(n_votes, expected, shared_data):
    """RMSE on real crowd soft labels is within 2 % of figures measured independently (means of 3 draws).

    With 100 votes single draws scatter by 2 to 4 %, the figures' own draws too: three standard errors of
    their mean are allowed there.
    """
    folder = shared_data / "cifar10h"
    counts = np.load(folder / "counts.npy").astype(float)
    truth = counts / counts.sum(axis=1, keepdims=True)
    graph = knn_graph(np.load(folder / "features_efflite2_umap20.npy"), n_neighbors=20)
    cumulative = truth.cumsum(axis=1)
    errors = {alpha: [] for alpha in expected}
    n_draws = {100: 12, 1_000: 3, 10_000: 2, 100_000: 1}[n_votes]  # the more votes, the less draws differ
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        rows = rng.integers(0, len(truth), n_votes)
        labels = (rng.random(n_votes)[:, None] > cumulative[rows]).sum(axis=1).clip(0, 9)
        votes = Votes.from_pairs(rows, labels, classes=range(10))
        for alpha, found in errors.items():
            found.append(
                rmse(truth, ProbabilisticLabelSpreading(alpha=alpha).fit(graph, votes).predict_proba())
            )
    for alpha, figure in expected.items():
        scatter = 3 * np.std(errors[alpha], ddof=1) / np.sqrt(3) if n_votes == 100 else 0.0
        assert np.mean(errors[alpha]) == pytest.approx(figure, rel=0.02, abs=scatter), alpha


@pytest.mark.shared
def test_spreading_beats_counting_on_real_votes(shared_data):
    """At one vote per ten items spreading is far closer to the crowd than the votes alone."""
    folder = shared_data / "cifar10h"
    counts = np.load(folder / "counts.npy").astype(float)
    truth = counts / counts.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    rows = rng.integers(0, len(truth), 1000)
    labels = (rng.random(1000)[:, None] > truth.cumsum(axis=1)[rows]).sum(axis=1).clip(0, 9)
    votes = Votes.from_pairs(rows, labels, classes=range(10))
    X = np.load(folder / "features_efflite2_umap20.npy")
    spread = rmse(truth, ProbabilisticLabelSpreading().fit(X, votes).predict_proba())
    alone = rmse(truth, VoteHistogram().fit(X, votes).predict_proba())
    assert spread < 0.6 * alone
