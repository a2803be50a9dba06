"""The live state is the library's estimator, whatever happens to the server."""

import threading

import numpy as np
import pytest

from softspread import SoftLabeler, Votes
from softspread.errors import SoftspreadWarning
from softspread.posterior.live import LiveBlend
from softspread.spreading.state import SpreadState
from softspread.web.project.learner import Learner
from softspread.web.project.live_state import warm_up
from web.conftest import CLASSES, N_ITEMS, NEVER, running, three_clusters, vote, wait_until_applied
from web.project.helpers import batch, fitted, live, relearned


def cast_many(service, n_votes, who="ann", seed=0):
    """Votes of seven people, nobody's twice on an item, one in five at random."""
    rng, truth = np.random.default_rng(seed), three_clusters()[1]
    rows, entries = rng.permutation(N_ITEMS), []
    for number in range(n_votes):
        row = int(rows[number % N_ITEMS])
        label = int(rng.integers(3)) if rng.random() < 0.2 else int(truth[row])
        key = f"{who}-{seed}-{number}"
        entries.append(service.vote(f"{who}-{number % 7}", f"item-{row:03d}", CLASSES[label], key))
    service.submit(entries).result(10)
    wait_until_applied(service)


@pytest.fixture
def still(tmp_path):
    """A project that learns again only when it is told to."""
    with running(tmp_path, auth=False, overlap=100, refit=NEVER) as service:
        yield service


def test_votes_become_the_soft_labels_of_a_batch_run(tmp_path, database):
    """Any mixture of votes, unsure votes, undos and skips gives what a fit of the log gives, on both
    databases."""
    truth = three_clusters()[1]
    rng = np.random.default_rng(1)
    with running(tmp_path, database_url=database, auth=False) as service:
        for number in range(40):
            row, who = int(rng.integers(N_ITEMS)), f"user-{number % 4}"
            label = CLASSES[int(truth[row])]
            operation = service.vote(who, f"item-{row:03d}", label, f"k{number}", unsure=number % 5 == 0)
            service.submit([operation]).result(10)
            if number % 7 == 3:
                service.submit([service.undo(who, f"k{number}", f"u{number}")]).result(10)
            if number % 9 == 2:
                service.submit([service.skip(who, f"item-{(row + 1) % N_ITEMS:03d}", f"s{number}")]).result(
                    10
                )
        wait_until_applied(service)
        service.state.learn()
        expected = batch(service)
        np.testing.assert_allclose(live(service), expected, atol=1e-6)
        assert (expected.argmax(axis=1) == truth).mean() > 0.9


def test_between_fits_votes_move_labels_as_the_estimators_update_does(still):
    """What was learned stays, weights of annotators too; own votes and neighbours count at once."""
    cast_many(still, 60)
    still.state.learn()
    lab = fitted(still)
    cast_many(still, 8, who="bob", seed=5)
    table = still.history.table(60)
    lab.update(still.items.ids[table.rows], np.array(CLASSES)[table.columns], table.annotators)
    still.state.refine()
    assert still.state.refined
    np.testing.assert_allclose(live(still), lab.refine().predict_proba(), atol=1e-6)
    assert np.abs(live(still) - batch(still)).max() > 1e-4


def test_soft_labels_have_the_estimators_intervals_evidence_and_verdicts(still):
    """For a few rows in any order, one of them twice."""
    cast_many(still, 90)
    still.state.learn()
    rows = np.array([7, 3, 50, 3])
    found, expected = still.state.soft_labels(rows), fitted(still).soft_labels().take(rows)
    for name in ("p", "lower", "upper", "evidence"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-5)
    assert found.verdict.tolist() == expected.verdict.tolist()
    assert found.ids.tolist() == expected.ids.tolist()


def test_a_prior_is_an_expert(tmp_path):
    """Predictions of a model count before the first vote, and held-out votes decide how much afterwards."""
    truth = three_clusters()[1]
    prior = np.full((N_ITEMS, 3), 0.1) + 0.7 * np.eye(3)[truth]
    with running(tmp_path, auth=False, overlap=100, refit=NEVER, prior=prior) as service:
        assert (live(service).argmax(axis=1) == truth).all()
        cast_many(service, 30)
        service.state.learn()
        np.testing.assert_allclose(live(service), batch(service), atol=1e-6)
        assert "prior" in service.state.learned.labeler.weights_.index


def test_a_restart_gives_the_soft_labels_of_the_log(tmp_path, database):
    """The state is a cache: it comes back from the log."""
    with running(tmp_path, database_url=database, auth=False) as service:
        for row in range(30):
            vote(service, "ann", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
        wait_until_applied(service)
        before = batch(service)
    with running(tmp_path, database_url=database, auth=False) as service:
        np.testing.assert_allclose(relearned(service), before, atol=1e-6)
        assert service.counts()["votes"] == 30


def test_in_a_rush_votes_get_less_work_each_and_nothing_is_lost(still, monkeypatch):
    """A lone vote is pushed as far as usual, a hundred at once less far; a refinement makes up for it."""
    shares, add = [], LiveBlend.add
    monkeypatch.setattr(
        LiveBlend,
        "add",
        lambda self, new, share=1.0: shares.append((len(new), share)) or add(self, new, share),
    )
    vote(still, "ann", "item-000", "ant", "lone")
    wait_until_applied(still)
    assert shares == [(1, 1.0)]
    many = [
        still.vote(f"user-{k % 9}", f"item-{k % N_ITEMS:03d}", CLASSES[k % 3], f"many-{k}")
        for k in range(120)
    ]
    for start in range(0, len(many), 20):
        still.submit(many[start : start + 20]).result(10)
    wait_until_applied(still)
    assert sum(size for size, _ in shares) == len(still.history)
    assert min(share for _, share in shares) < 1
    rough = live(still)
    still.state.refine()
    refined = live(still)
    still.state.learn()
    np.testing.assert_allclose(live(still), batch(still), atol=1e-6)
    assert np.abs(refined - rough).max() < 0.2


def test_a_live_update_that_fails_is_repaired(still, monkeypatch):
    """The log stands, the next refinement starts from its votes."""
    other = SoftLabeler(n_jobs=1).fit(still.graph, Votes.from_pairs([], []), classes=list(CLASSES))
    monkeypatch.setattr(SpreadState, "add", lambda self, new, share: (_ for _ in ()).throw(MemoryError))
    vote(still, "ann", "item-000", "ant", "k0")
    wait_until_applied(still)
    monkeypatch.undo()
    still.state.refine()
    np.testing.assert_allclose(live(still), other.update(0, "ant").refine().predict_proba(), atol=1e-5)


def test_nobody_waits_while_the_page_learns(still, monkeypatch):
    """Votes are acknowledged and applied meanwhile, and all of them are in the fit that takes over."""
    cast_many(still, 60)
    begun, go_on, learn = threading.Event(), threading.Event(), Learner.fit_corrected

    def slow(self, stop=None):
        begun.set()
        assert go_on.wait(30)
        return learn(self, stop)

    monkeypatch.setattr(Learner, "fit_corrected", slow)
    thread = threading.Thread(target=still.state.learn)
    thread.start()
    assert begun.wait(30)
    before = live(still)
    cast_many(still, 20, who="bob", seed=3)
    still.submit([still.undo("ann-0", "ann-0-0", "u")]).result(10)
    wait_until_applied(still)
    assert np.abs(live(still) - before).max() > 0.01
    assert still.state.learned.n_votes == 0
    go_on.set()
    thread.join(30)
    learned = still.state.learned
    assert (learned.n_votes, learned.n_since) == (60, 21)
    monkeypatch.undo()
    still.state.learn()
    np.testing.assert_allclose(live(still), batch(still), atol=1e-6)


def test_votes_refinements_and_fits_at_once_lose_nothing(still):
    """However they interleave, own votes are counted once each, and the end is the batch run."""
    cast_many(still, 50)
    stop = threading.Event()

    def repeat(work):
        while not stop.is_set():
            work()

    works = still.state.learn, still.state.refine, still.state.refine
    threads = [threading.Thread(target=repeat, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for number in range(60):
        vote(still, f"p{number}", f"item-{number % N_ITEMS:03d}", CLASSES[number % 3], "k")
    wait_until_applied(still)
    stop.set()
    for thread in threads:
        thread.join()
    learned = still.state.learned
    assert learned.n_votes + learned.n_since == 110
    counts = learned.live.moved(np.arange(N_ITEMS)).totals
    np.testing.assert_allclose(counts.sum(), 110, rtol=0.3)  # annotators are weighted
    still.state.learn()
    np.testing.assert_allclose(live(still), batch(still), atol=1e-6)


def test_learning_pays_after_a_quarter_more_votes(tmp_path):
    """By the estimator's own rule."""
    with running(tmp_path, auth=False, overlap=100) as service:
        state = service.state
        assert not state.refit_due
        state._learned.n_since = 20
        assert not state.refit_due
        state._learned.n_since = 21
        assert state.refit_due
        state._learned.n_since = 0


def test_scales_are_handed_on_to_the_next_fit(still):
    """What was found for items that will be voted on soon is found once."""
    still.state.prepare(np.arange(12))
    known = still.state.learned.live.known_scales()[0.9]["rows"]
    still.state.learn()
    assert set(known.tolist()) <= set(still.state.learned.live.known_scales()[0.9]["rows"].tolist())


def test_warming_up_warns_of_nothing(recwarn):
    """Its votes are random on purpose; a server must not begin with advice about them."""
    warm_up.cache_clear()
    warm_up(3)
    assert not [one for one in recwarn if issubclass(one.category, SoftspreadWarning)]
