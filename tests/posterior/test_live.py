"""A blend that follows further votes, for a few rows or for all."""

import numpy as np
import pytest

from softspread import SoftLabeler, Votes
from softspread.diffusion.diffusion import Diffusion
from softspread.graph.builders import knn_graph
from softspread.posterior.blend import fit_blend
from softspread.posterior.experts import own_votes
from softspread.posterior.live import LiveBlend
from softspread.votes.table import VoteTable

N_ITEMS, N_CLASSES = 90, 3
TRUTH = np.arange(N_ITEMS) % N_CLASSES


@pytest.fixture(scope="module")
def graph():
    """Items around three places."""
    noise = np.random.default_rng(0).normal(size=(N_ITEMS, 2))
    return knn_graph(3.0 * np.array([[0, 0], [1, 0], [0, 1]])[TRUTH] + noise, n_neighbors=6)


def votes(n_votes, seed):
    """Votes on random items, one in five at random."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(N_ITEMS, size=n_votes)
    columns = np.where(rng.random(n_votes) < 0.2, rng.integers(N_CLASSES, size=n_votes), TRUTH[rows])
    return VoteTable(rows, columns, np.ones(n_votes))


@pytest.fixture
def live(graph):
    """A blend of sixty votes that follows more."""
    diffusion, table = Diffusion(graph, 0.9, n_jobs=1), votes(60, 1)
    blend = fit_blend(diffusion, own_votes(table, table, N_ITEMS, N_CLASSES), X=graph.features)
    return LiveBlend(blend, diffusion)


def test_before_any_further_vote_the_answer_is_that_of_the_fit(live):
    """Read for all items, for all rows by number, or as it was fitted."""
    rows = np.arange(N_ITEMS)
    np.testing.assert_allclose(live.of_rows(rows).mean(), live.at_fit.mean(), atol=1e-6)
    assert live.posterior() is live.at_fit


def test_a_few_rows_are_the_rows_of_the_whole(live):
    """Mean, evidence and intervals, voted or not, after votes and retractions."""
    live.add(votes(12, 2))
    live.add(votes(12, 2).take([3, 5]).with_weights(-np.ones(2)))
    rows = np.array([0, 7, 8, 31, 77])
    some, whole = live.of_rows(rows), live.posterior()
    np.testing.assert_allclose(some.mean(), whole.mean()[rows], atol=1e-6)
    np.testing.assert_allclose(some.evidence(), whole.evidence()[rows], rtol=1e-5)
    for found, expected in zip(some.interval(0.1), whole.interval(0.1, rows), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_no_row_at_all_is_no_answer(live):
    """An empty page asks about nothing."""
    live.add(votes(3, 2))
    assert live.of_rows(np.empty(0, np.int64)).mean().shape == (0, N_CLASSES)


def test_a_vote_moves_its_item_and_the_neighbours_at_once(live, graph):
    """Towards the class that it names, and own votes move an item most."""
    row = int(np.setdiff1d(np.arange(N_ITEMS), live.blend.own.voted)[0])
    near = np.flatnonzero(graph.S[[row]].toarray()[0])
    rows = np.unique(np.append(near, row))
    before = live.of_rows(rows).mean()
    wrong = (TRUTH[row] + 1) % N_CLASSES
    live.add(VoteTable(np.array([row]), np.array([wrong]), np.ones(1)))
    moved = (live.of_rows(rows).mean() - before)[:, wrong]
    assert moved[rows == row] == moved.max() > 0.01
    assert (moved > 0).mean() > 0.5


def test_an_undo_leaves_nothing(live):
    """Soft labels after votes and their retraction are those from before."""
    rows, new = np.arange(N_ITEMS), votes(8, 3)
    before = live.of_rows(rows).mean()
    live.add(new)
    live.add(new.with_weights(-new.weights))
    live.refine()
    np.testing.assert_allclose(live.of_rows(rows).mean(), before, atol=1e-4)


def test_votes_are_counted_also_where_nothing_is_pushed(graph):
    """At an alpha so close to 1 that further votes wait for a fit, an item's own votes speak at once."""
    lab = SoftLabeler(alpha=0.99).fit(graph, Votes.from_pairs([0, 1], ["a", "b"]), classes=["a", "b"])
    before = lab.predict_proba()[5, 0]
    assert lab.update([5, 5], ["a", "a"]).predict_proba()[5, 0] > before


def test_scales_are_found_ahead_and_handed_on(live, graph):
    """Those that a vote would ask for, at every alpha that is pushed; another fit need not find them."""
    live.prepare(np.array([4, 9]))
    known = live.known_scales()
    assert 0.9 in known
    assert 0.99 not in known
    assert all(set(graph.rank[[4, 9]].tolist()) <= set(one["rows"].tolist()) for one in known.values())
    other = LiveBlend(live.blend, Diffusion(graph, 0.9, n_jobs=1))
    other.take_scales(known)
    assert other.known_scales()[0.9]["rows"].tolist() == known[0.9]["rows"].tolist()


def test_what_was_read_stays_while_votes_come_in(live):
    """Whoever reads beside the voting sees one moment."""
    live.add(votes(3, 2))
    moved = live.moved(np.arange(N_ITEMS))
    before = live.posterior_of(moved).mean()
    live.add(votes(9, 5))
    np.testing.assert_array_equal(live.posterior_of(moved).mean(), before)


def test_after_a_failure_the_votes_are_there(live, monkeypatch):
    """A refinement brings what the pushes could not."""
    new, state = votes(3, 2), next(iter(live._states.values()))
    other = LiveBlend(live.blend, state.diffusion)
    other.add(new)
    other.refine()
    monkeypatch.setattr(state, "add", lambda *_: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        live.add(new)
    live.recover()
    live.refine()
    np.testing.assert_allclose(live.posterior().mean(), other.posterior().mean(), atol=1e-4)


class Turns:
    """A lock that counts how often it is taken, and lets votes in after some of its turns."""

    def __init__(self, live, after, new):
        self.live, self.after, self.new, self.taken = live, after, new, 0

    def __enter__(self):
        self.taken += 1

    def __exit__(self, *_error):
        if self.taken in self.after:
            add_roughly(self.live, self.new)


def add_roughly(live, table):
    """One vote at a time, each with next to no work."""
    for number in range(len(table)):
        live.add(table.take([number]), 0.0)


def test_a_refinement_beside_further_votes_loses_none(live, graph):
    """Votes that come in while copies are refined count as if they had come before or after."""
    other = LiveBlend(live.blend, Diffusion(graph, 0.9, n_jobs=1))
    add_roughly(live, votes(12, 2))
    turns = Turns(live, (1, 4), votes(5, 3))
    live.refine(turns)
    assert turns.taken == 2 * len(live.known_scales())
    live.refine(turns)
    assert live.refined
    for table in (votes(12, 2), votes(5, 3), votes(5, 3)):
        other.add(table)
    other.refine()
    np.testing.assert_allclose(live.posterior().mean(), other.posterior().mean(), atol=1e-4)


def test_reading_in_turns_gives_what_reading_at_once_gives(live):
    """The lock is taken once, for the items' own votes."""
    live.add(votes(12, 2))
    turns = Turns(live, (), None)
    rows = np.array([0, 7, 31])
    found = live.posterior_of(live.moved(rows, turns))
    assert turns.taken == 1
    np.testing.assert_array_equal(found.mean(), live.of_rows(rows).mean())


def test_votes_taken_back_leave_the_fit_unchanged(live):
    """Only if nothing stands: a vote of the fit that was taken back is a change."""
    extra = votes(5, 3)
    live.add(extra)
    assert not live.unchanged
    live.add(extra.with_weights(-extra.weights))
    assert live.unchanged
    assert live.posterior() is live.at_fit
    live.add(votes(60, 1).take([0]).with_weights(-np.ones(1)))
    assert not live.unchanged


def test_a_failed_vote_is_forgotten(live):
    """Some states have followed it: all are brought back."""
    live.add(votes(5, 3))
    live.refine()
    before = live.posterior().mean()
    live.add(votes(4, 8))
    live.forget(4)
    assert len(live.since) == 5
    np.testing.assert_allclose(live.posterior().mean(), before, atol=1e-5)
