"""Who gets which item: leases, overlap, gold, and never the same item twice for the same user."""

import numpy as np
import pytest

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.web.log.ledger import Ledger
from softspread.web.project.live_state import ChosenFrom
from softspread.web.project.queue import Queue, QueueRule

N = 30


class Clock:
    """Time that moves when told to."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def make_queue(rng):
    """A queue over 30 items in a row, its ledger and its clock."""
    diffusion = Diffusion(knn_graph(np.arange(float(N))[:, None], n_neighbors=2), 0.5)

    def make(gold=(), prepare=None, **changes):
        ledger, clock = Ledger(lambda entry: (-1, -1)), Clock()
        rule = QueueRule(**{"overlap": 1, "lease_seconds": 10.0, **changes})
        choosing = ChosenFrom(diffusion, np.zeros((N, 2)), None)
        how = {"prepare": prepare} if prepare else {}
        queue = Queue(np.zeros(N), ledger, lambda: [choosing], rule, rng=rng, gold=gold, clock=clock, **how)
        queue.refill()
        return queue, ledger, clock

    return make


def cast(queue, ledger, who, row):
    """What the writer does after a commit."""
    ledger.standing.setdefault(who, {})[row] = 1
    queue.voted([(who, row, 1)])


def test_two_people_never_hold_the_same_item(make_queue):
    """A lease closes an item to others."""
    queue, _, _ = make_queue(overlap=3)
    first, second = queue.assign("ann", 10), queue.assign("bob", 10)
    assert len(set(first) | set(second)) == 20


def test_a_person_who_asks_again_gets_the_same_items_in_the_same_order(make_queue):
    """A reload shows what was there before."""
    queue, _, _ = make_queue()
    assert queue.assign("ann", 5) == queue.assign("ann", 5)


def test_a_lease_expires_when_someone_leaves(make_queue):
    """Then the item goes to someone else."""
    queue, _, clock = make_queue()
    queue.assign("ann", N)
    assert queue.assign("bob", 1) == []
    clock.now = 10.5
    assert len(queue.assign("bob", 1)) == 1


def test_holding_an_item_renews_its_lease(make_queue):
    """A page that is still open keeps its items."""
    queue, _, clock = make_queue()
    mine = queue.assign("ann", 3)
    for clock.now in (8.0, 16.0, 24.0):
        assert queue.assign("ann", 3, mine) == mine
    assert not set(queue.assign("bob", N)) & set(mine)


def test_nobody_gets_an_item_twice_and_everybody_gets_all(make_queue):
    """With an overlap of two, two people vote on every item once and then there is nothing left."""
    queue, ledger, _ = make_queue(overlap=2)
    seen = {"ann": [], "bob": [], "cid": []}
    for turn in range(4 * N):
        who = ("ann", "bob")[turn % 2]
        rows = queue.assign(who, 1)
        if rows:
            seen[who] += rows
            cast(queue, ledger, who, rows[0])
    assert sorted(seen["ann"]) == sorted(seen["bob"]) == list(range(N))
    assert queue.assign("cid", 1) == []
    assert (queue.counts == 2).all()


def test_a_skipped_item_goes_to_others_only(make_queue):
    """A skip is remembered."""
    queue, ledger, _ = make_queue()
    row = queue.assign("ann", 1)[0]
    ledger.skipped["ann"] = {row}
    queue.voted([("ann", row, 0)])
    assert row not in queue.assign("ann", N)
    assert row in queue.assign("bob", N)


def test_an_undone_item_is_open_again(make_queue):
    """The count goes down with the vote."""
    queue, ledger, _ = make_queue()
    row = queue.assign("ann", 1)[0]
    cast(queue, ledger, "ann", row)
    del ledger.standing["ann"][row]
    queue.voted([("ann", row, -1)])
    assert row in queue.assign("bob", N)


def test_gold_items_come_in_their_share_and_to_everybody(make_queue):
    """Their overlap has no limit, and nobody gets one twice."""
    queue, ledger, _ = make_queue(gold=[0, 1, 2], gold_share=0.5)
    for who in ("ann", "bob", "cid"):
        rows = []
        for _ in range(9):
            row = queue.assign(who, 1)[0]
            rows.append(row)
            cast(queue, ledger, who, row)
        assert len(set(rows)) == 9
        assert len(set(rows) & {0, 1, 2}) >= 2


def test_peeking_gives_nothing_away(make_queue):
    """A look at the next questions leases nothing and leaves out what is done."""
    queue, ledger, _ = make_queue()
    cast(queue, ledger, "ann", 4)
    rows = queue.peek(100, "balanced")
    assert 4 not in rows
    assert len(rows) == N - 1
    assert queue.n_leased == 0


def test_more_items_are_chosen_before_the_pool_is_empty(make_queue):
    """What is left is handed out while others are chosen, and no item is in the pool twice."""
    queue, _, _ = make_queue(pool_size=10)
    first = queue.assign("ann", 4)
    queue.refill()
    rest = queue.assign("bob", N)
    assert len(rest) == len(set(rest)) == N - 4
    assert not set(first) & set(rest)


def test_a_stale_pool_is_replaced(make_queue):
    """After a while with votes nothing of the old choice is left, however often more was added to it."""
    queue, ledger, clock = make_queue(pool_size=10)
    cast(queue, ledger, "ann", queue.assign("ann", 1)[0])
    queue.refill()
    assert len(queue._pool) == 19
    clock.now = 11.0
    queue.refill()
    assert len(queue._pool) == 10


def test_items_that_are_done_leave_the_pool(make_queue):
    """Someone voted on them without being asked; nobody is sent past them again and again."""
    queue, ledger, _ = make_queue(pool_size=10)
    for pick in list(queue._pool):
        cast(queue, ledger, "program", pick.row)
    queue.refill()
    assert len(queue._pool) == 10
    assert (queue.counts[[pick.row for pick in queue._pool]] == 0).all()


@pytest.mark.parametrize("strategy", ["uncertainty", "uniform"])
def test_the_first_pick_is_as_probable_as_it_says(make_queue, strategy):
    """Over many pools the items come as often as their probabilities tell."""
    queue, _, _ = make_queue(strategy=strategy, pool_size=1)
    seen, told, n_pools = np.zeros(N), np.zeros(N), 400
    for _ in range(n_pools):
        (pick,) = queue._choose(1, np.zeros(N), np.zeros(N, dtype=bool), queue._choosing_rng)
        assert pick.chosen == strategy
        seen[pick.row] += 1
        told[pick.row] = pick.probability
    p = np.where(seen > 0, told, 0.15 / N)
    assert (np.abs(seen / n_pools - p) < 5 * np.sqrt(p * (1 - p) / n_pools) + 1e-9).all()


def test_a_strategy_without_probabilities_leaves_a_share_to_uniform_picks(make_queue):
    """Those say how probable they were, the others that nobody knows."""
    queue, _, _ = make_queue(strategy="entropy", uniform_share=0.4)
    picks = [
        pick
        for _ in range(40)
        for pick in queue._choose(20, np.zeros(N), np.zeros(N, dtype=bool), queue._choosing_rng)
    ]
    uniform = [pick for pick in picks if pick.chosen == "uniform"]
    assert len(uniform) / len(picks) == pytest.approx(0.4, abs=0.06)
    assert all(pick.probability >= 1 / N for pick in uniform)
    assert {(pick.chosen, pick.probability) for pick in picks if pick.chosen != "uniform"} == {
        ("entropy", None)
    }
    first = queue._choose(20, np.zeros(N), np.zeros(N, dtype=bool), queue._choosing_rng)
    assert len({pick.row for pick in first}) == 20


def test_how_an_item_was_chosen_is_remembered_per_user(make_queue):
    """Also after the vote, for an undo; gold items are asked of everybody, the last ones come as they are."""
    queue, ledger, _ = make_queue(gold=[0], gold_share=0.9, pool_size=5)
    rows = queue.assign("ann", 8)
    cast(queue, ledger, "ann", rows[0])
    picks = {row: queue.how("ann", row) for row in rows}
    assert all(pick.row == row and 0 < pick.probability <= 1 for row, pick in picks.items())
    assert picks[0] == (0, "gold", 1.0)
    assert {pick.chosen for pick in picks.values()} == {"gold", "uncertainty", "fewest votes"}
    assert queue.how("bob", rows[0]) is None


def test_the_pool_grows_with_the_number_of_people(make_queue):
    """Choosing costs the same for few items as for many: it is done as often as the pool is stale."""
    queue, _, clock = make_queue(pool_size=4, largest_pool=12)
    clock.now = 1.0
    queue.assign("ann", 4)
    assert queue._next_size() == 12
    clock.now = 100.0
    assert queue._next_size() == 4


def test_what_is_done_is_what_a_count_of_all_items_gives(make_queue, rng):
    """Kept vote by vote: votes beyond the overlap, undos and another overlap change it as a recount would."""
    queue, _, _ = make_queue(overlap=2)
    standing = []
    for step in range(300):
        if standing and rng.random() < 0.3:
            who, row = standing.pop(int(rng.integers(len(standing))))
            queue.voted([(who, row, -1)])
        else:
            standing.append((f"person {step}", int(rng.integers(N))))
            queue.voted([(*standing[-1], 1)])
        if step == 150:
            queue.set_rule(QueueRule("uniform", overlap=4))
        overlap = queue._rule.overlap
        assert queue.done == pytest.approx(np.minimum(queue.counts, overlap).mean() / overlap)
        assert queue._n_votes == queue.counts.sum() == len(standing)


def test_items_are_handed_out_before_they_are_prepared(make_queue):
    """Under load people must not wait for what only saves time: a few at a time, the next ones first."""
    prepared = []
    queue, _, _ = make_queue(prepare=lambda rows: prepared.append(rows.tolist()), prepared_at_once=8)
    assert not prepared
    next_ones = queue.assign("ann", 5)
    for _ in range(5):
        queue.prepare_some()
    assert prepared[0][:5] == next_ones
    assert [len(rows) for rows in prepared] == [8, 8, 8, 6]
    assert sorted(row for rows in prepared for row in rows) == list(range(N))
