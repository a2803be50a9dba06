"""Whether annotators can be compared at all."""

import numpy as np
import pytest

from crowds import ALPHA, KAPPA, N_CLASSES, make_clusters, make_crowd
from softspread import knn_graph
from softspread.annotators.evidence import EvidenceRule, others_say_something
from softspread.annotators.fit import fit_annotators
from softspread.diffusion.diffusion import Diffusion
from softspread.heldout.crowd import Crowd
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable


def random_crowd(rng, n_items, n_votes, n_classes=3, n_annotators=4, own_habits=False):
    """Votes that do not depend on the item."""
    rows = np.concatenate([rng.choice(n_items, n_votes, replace=False) for _ in range(n_annotators)])
    shares = rng.dirichlet(np.full(n_classes, 3.0), size=n_annotators)
    shares = shares if own_habits else np.tile(shares[0], (n_annotators, 1))
    columns = np.concatenate([rng.choice(n_classes, n_votes, p=share) for share in shares])
    names = np.repeat(np.arange(n_annotators), n_votes).astype(object)
    return VoteTable(rows, columns, np.ones(len(rows)), names)


def assert_nothing_is_known(fit):
    """Every vote counts 1, everybody is unknown, and no number is missing or sure."""
    assert not fit.applied
    assert (fit.weights == 1).all()
    assert (fit.annotator_weights == 1).all()
    assert fit.newcomer_weight == 1
    assert set(fit.report.flag) == {"unknown"}
    numbers = fit.report.to_frame().drop(columns=["annotator", "flag"]).to_numpy(dtype=float)
    assert np.isfinite(numbers).all()
    assert (fit.report.upper - fit.report.lower > 0.85).all()


@pytest.mark.parametrize("own_habits", [False, True])
@pytest.mark.parametrize("n_votes", [30, 100, 600])
def test_a_crowd_that_votes_at_random_is_unknown(n_votes, own_habits):
    """Whatever alpha is: where votes do not depend on the items, nobody can be rated."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        graph = knn_graph(rng.normal(size=(700, 3)), n_neighbors=10)
        votes = random_crowd(rng, 700, n_votes, own_habits=own_habits)
        for alpha in (0.1, 0.9):
            fit = fit_annotators(Diffusion(graph, alpha), votes, 3)
            assert "predicted" in fit.reason
            assert_nothing_is_known(fit)


@pytest.mark.parametrize("kinds", [["honest"] * 3, ["honest"] * 4 + ["uniform"] * 8], ids=["few", "spammers"])
def test_a_crowd_that_looks_at_the_items_is_rated(rng, kinds):
    """40 votes each suffice, and a majority of spammers does not hide the others."""
    graph, truth = make_clusters(rng)
    votes = make_crowd(rng, truth, 40, kinds)
    crowd = Crowd(Diffusion(graph, ALPHA), Ballots.of(votes, N_CLASSES))
    assert others_say_something(crowd, KAPPA)
    assert not others_say_something(crowd, KAPPA, rule=EvidenceRule(enough=1e300))


def test_votes_without_a_name_show_what_others_say(rng):
    """They are heard before the first turn."""
    graph, truth = make_clusters(rng)
    votes = make_crowd(rng, truth, 60, ["honest"] * 4)
    votes.annotators[:60] = None
    assert others_say_something(Crowd(Diffusion(graph, ALPHA), Ballots.of(votes, N_CLASSES)), KAPPA)


def test_annotators_who_contradict_each_other_are_unknown(rng):
    """Three people who never name the same class for an item, nor for its neighbours."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=5)
    first = rng.integers(0, 3, 60)
    columns = np.concatenate([first, (first + 1) % 3, (first + 2) % 3])
    names = np.repeat(np.array(list("abc"), dtype=object), 60)
    votes = VoteTable(np.tile(np.arange(60), 3), columns, np.ones(180), names)
    assert_nothing_is_known(fit_annotators(Diffusion(graph, 0.5), votes, 3))


@pytest.mark.parametrize("own_habits", [False, True])
def test_votes_on_a_single_item_are_unknown(rng, own_habits):
    """Nothing distinguishes looking at the item from naming its class by habit."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=5)
    votes = random_crowd(rng, 60, 50, own_habits=own_habits)
    votes = VoteTable(np.zeros(200, dtype=np.int64), votes.columns, votes.weights, votes.annotators)
    assert_nothing_is_known(fit_annotators(Diffusion(graph, 0.9), votes, 3))


def test_votes_for_a_single_class_are_unknown(rng):
    """The reason says so before anything is compared."""
    graph = knn_graph(rng.normal(size=(60, 2)), n_neighbors=5)
    votes = random_crowd(rng, 60, 50)
    votes = VoteTable(votes.rows, np.ones(200, dtype=np.int64), votes.weights, votes.annotators)
    assert_nothing_is_known(fit_annotators(Diffusion(graph, 0.9), votes, 3))
