"""Every method turns votes into soft labels for all items."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from small_tasks import blobs
from softspread import ProbabilisticLabelSpreading, Votes
from softspread.datasets.dataset import Dataset, LackingError
from softspread.datasets.two_moons import two_moons
from softspread.errors import InputError
from softspread.metrics import rmse
from softspread.reproduce.measures import Bench, measure
from softspread.reproduce.methods.methods import (
    METHODS,
    Task,
    Tuned,
    check_soft_labels,
    find_method,
    method_title,
)
from softspread.reproduce.plan import Trial
from softspread.simulate import draw_votes

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning"
)  # of other libraries

LIBRARIES = {
    "laplace": "graphlearning",
    "poisson": "graphlearning",
    "crowdlab": "cleanlab",
    "dawid_skene": "crowdkit",
}


def test_another_package_adds_a_method_for_plans(install_plugin):
    """By entry point; a name that nobody has is refused with all that there are."""
    source = (
        "import numpy as np\n"
        "from softspread.reproduce.methods.methods import Outcome\n"
        "def always_even(task, share=0.5):\n"
        "    return Outcome(np.full((len(task.X), len(task.data.classes)), share))\n"
    )
    install_plugin(source, {"softspread.methods": {"even": "softspread_example:always_even"}})
    assert find_method("even").__name__ == "always_even"
    with pytest.raises(InputError, match=r"'evn' is unknown; there are pls, .*, even\."):
        find_method("evn")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_soft_labels_for_all_items(name):
    """Shape, rows that sum to 1, and on well separated clouds the right class wherever it has votes to go
    by."""
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name], reason="needs the extra compare")
    task = blobs()
    outcome = find_method(name)(task)
    p = check_soft_labels(outcome.p, 180, 3)
    assert_allclose(p.sum(axis=1), 1)
    voted = np.unique(task.votes.items)
    if name != "model":
        assert (p.argmax(axis=1) == task.data.labels)[voted].mean() > 0.9


@pytest.mark.parametrize(
    "name", [name for name in METHODS if name not in ("model", "histogram", "gkr", "knn", "pls")]
)
def test_one_vote_is_enough_not_to_fail(name):
    """With a single class seen, methods say that class or nothing; no NaN, no exception."""
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name], reason="needs the extra compare")
    task = blobs(1)
    check_soft_labels(find_method(name)(task).p, 180, 3)


def test_ours_is_the_estimator():
    """The harness adds nothing."""
    task = blobs()
    plain = ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=7, annotator_model="none").fit(
        task.X, task.votes, classes=[0, 1, 2]
    )
    assert_allclose(METHODS["pls"](task, alpha=0.8, n_neighbors=7).p, plain.predict_proba(), atol=1e-5)


def test_choices_say_what_they_chose():
    """By votes, and by the truth."""
    task = blobs()
    assert 0 < METHODS["pls"](task, alpha="auto").chosen["alpha"] < 1
    with pytest.raises(InputError, match="only a plan can draw"):
        METHODS["knn"](task, n_neighbors="truth")
    pytest.importorskip("optuna", reason="needs the extra tune")
    task.tuned = Tuned(lambda number: draw_votes(task.p_true, 40, number), 6, 0)
    assert METHODS["knn"](task, n_neighbors="truth").chosen["n_neighbors"] >= 1


def test_a_row_with_a_star_is_tuned_once_on_votes_that_it_is_not_judged_by():
    """Every trial of the search has votes of its own; the draws share what it found, not its votes."""
    pytest.importorskip("optuna", reason="needs the extra tune")
    bench = Bench()
    about = ("scores", {"name": "sine_curve", "n_items": 80}, "gkr", {"gamma": "truth"}, 0.5, None, {})
    trials = [Trial(*about, {"truth_trials": 5}, draw, 0) for draw in range(3)]
    tasks = [bench.task(trial)[0] for trial in trials]
    searches = {id(task.tuned) for task in tasks}
    assert len(searches) == 1
    seen, fresh = [], tasks[0].tuned.fresh
    tasks[0].tuned.fresh = lambda number: seen.append(fresh(number)) or seen[-1]
    chosen = {str(METHODS["gkr"](task, gamma="truth").chosen) for task in tasks}
    assert len(chosen) == 1
    drawn = {votes.items.tobytes() for votes in seen}
    assert len(seen) == 6  # one for each trial, and one to count the votes
    assert len(drawn) == 5
    assert not drawn & {task.votes.items.tobytes() for task in tasks}
    other = bench.task(Trial(*about[:4], 0.25, None, {}, {"truth_trials": 5}, 0, 0))[0]
    assert other.tuned is not tasks[0].tuned  # once per dataset and budget


def test_nearest_votes_have_no_answer_where_the_paper_has_none():
    """Fewer voted items than neighbours: undefined, with the reason; the row has no error."""
    task = blobs(5)
    outcome = METHODS["knn"](task, n_neighbors=20)
    assert outcome.p is None
    assert "fewer than 20" in outcome.undefined
    row = measure(
        Trial(
            "scores",
            {"name": "sine_curve", "n_items": 80},
            "knn",
            {"n_neighbors": 20},
            0.05,
            None,
            {},
            {},
            0,
            0,
        ),
        Bench(),
    )[0]
    assert "rmse" not in row
    assert row["undefined"] == "4 items have votes, fewer than 20"


def test_baselines_can_be_read_both_ways():
    """Histograms averaged or votes together; far items as printed or uniform."""
    task = blobs()
    assert not np.allclose(
        METHODS["gkr"](task, gamma=1e4).p, METHODS["gkr"](task, gamma=1e4, prior_strength=0.0).p
    )
    together, averaged = (METHODS["knn"](task, n_neighbors=15, average=how).p for how in ("votes", "items"))
    assert not np.allclose(together, averaged)
    assert method_title("knn", {"n_neighbors": 5, "average": "items"}) == "kNN (5, histograms averaged)"
    assert method_title("gkr", {"gamma": 1.0, "prior_strength": 0.0}) == "GKR (1, as printed)"


def test_a_prior_needs_a_model():
    """Datasets without predictions are left out, with the reason."""
    task = blobs()
    task.data = Dataset("bare", np.arange(3), task.data.X, task.data.p_true)
    for run in (lambda: METHODS["model"](task), lambda: METHODS["pls"](task, prior="model")):
        with pytest.raises(LackingError, match="has no predictions of a model"):
            run()


def test_titles_name_the_setting():
    """Numbers, a star for the truth, words for the rest."""
    assert method_title("pls", {"alpha": 0.99}) == "PLS (0.99)"
    assert method_title("pls", {"alpha": "auto", "prior": "model"}) == "PLS (auto, model as prior)"
    assert (
        method_title("pls", {"alpha": "auto", "prior": "votes"}) == "PLS (auto, classifier of votes as prior)"
    )
    assert method_title("knn", {"n_neighbors": "truth"}) == "kNN (*)"
    assert method_title("histogram", {}) == "Own votes"


def test_what_is_no_soft_label_is_refused():
    """Wrong shape, negative, NaN."""
    for bad in (np.ones((2, 3)), np.array([[-1.0, 2.0]]), np.array([[np.nan, 1.0]])):
        with pytest.raises(InputError, match="no soft labels"):
            check_soft_labels(bad, 1, 2)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("method", "parameters", "n_votes", "expected"),
    [
        ("pls", {"alpha": 0.1}, 100, 0.2365),
        ("pls", {"alpha": 0.5}, 100, 0.1879),
        ("pls", {"alpha": 0.75}, 100, 0.1750),
        ("pls", {"alpha": 0.9}, 100, 0.1669),
        ("gkr", {"gamma": 1.0}, 100, 0.1579),
        ("knn", {"n_neighbors": 5}, 100, 0.1641),
        ("pls", {"alpha": 0.5}, 1_000, 0.1506),
        ("pls", {"alpha": 0.9}, 1_000, 0.1384),
    ],
)
def test_human_votes_give_the_known_errors(shared_data, method, parameters, n_votes, expected):
    """RMSE on CIFAR-10-H is that of an independent program (its mean of 3 draws), as far as draws allow.

    The difference of a mean of 3 and a mean of 8 draws has a standard error of sd * sqrt(1/3 + 1/8); four of
    them are allowed, and what rounding to four digits takes.
    """
    dataset = {"name": "cifar10h", "features": "efflite2_umap20"}
    bench = Bench(shared_data)
    found = [
        measure(Trial("scores", dataset, method, parameters, None, n_votes, {}, {}, draw, 0), bench)[0][
            "rmse"
        ]
        for draw in range(8)
    ]
    allowed = 4 * np.std(found, ddof=1) * np.sqrt(1 / 3 + 1 / 8)
    assert abs(np.mean(found) - expected) < allowed + 1e-4


def line_votes(n_votes=400, seed=0, dimension=2):
    """A cloud cut in two by a plane; every vote is right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, dimension))
    items = rng.integers(150, size=n_votes)
    labels = (X[items, 0] > 0).astype(int)
    return X, Votes.from_pairs(items, labels, classes=[0, 1])


def test_a_classifier_that_knows_is_used_and_one_that_does_not_is_left_out():
    """In ten dimensions neighbours know little of a plane that a classifier finds; no plane parts two
    moons."""
    X, votes = line_votes(200, dimension=10)
    truth = np.eye(2)[(X[:, 0] > 0).astype(int)]
    task = Task(Dataset("line", np.arange(2), X, truth), votes, 0)
    helped, plain = (
        METHODS["pls"](task, alpha="auto", n_neighbors=10, prior=prior) for prior in ("votes", "none")
    )
    assert helped.chosen["prior"] == "votes"
    assert rmse(truth, helped.p) < rmse(truth, plain.p)
    moons = two_moons(300, n_steps=300)
    rng = np.random.default_rng(0)
    items = rng.integers(300, size=240)
    task = Task(moons, Votes.from_pairs(items, moons.labels[items], classes=[0, 1]), 0)
    outcome = METHODS["pls"](task, alpha="auto", n_neighbors=10, prior="votes")
    assert outcome.chosen["prior"] == "none"
    assert_allclose(outcome.p, METHODS["pls"](task, alpha="auto", n_neighbors=10).p)


def test_the_number_of_neighbours_can_be_left_to_the_votes():
    """One of the candidates is chosen and named."""
    assert METHODS["pls"](blobs(), alpha="auto", n_neighbors="auto").chosen["n_neighbors"] in (10, 20, 40)
