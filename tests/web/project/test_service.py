"""The project without HTTP: votes become soft labels, on both databases, and nothing is lost by a restart."""

import time
from dataclasses import replace

import numpy as np
import pytest

from softspread import ProbabilisticLabelSpreading, Votes
from softspread.errors import InputError, StoreError
from softspread.spreading.state import SpreadState
from softspread.web.log.entry import UNDO, VOTE, Entry
from softspread.web.log.store import DuplicateEntryError, Store
from softspread.web.project.live_state import LiveState
from softspread.web.project.service import Progress
from web.conftest import (
    CLASSES,
    N_ITEMS,
    item_names,
    make_service,
    running,
    three_clusters,
    vote,
    wait_until_applied,
)


def batch(service):
    """Soft labels of a fresh fit of what the log in the database holds."""
    rows = [row for row in service.store.entries(limit=10_000) if row.kind in (VOTE, UNDO)]
    items = [service.items.row_of(row.item) for row in rows]
    votes = Votes.from_pairs(items, [row.label for row in rows], None, [row.weight for row in rows])
    est = ProbabilisticLabelSpreading(alpha=0.9, annotator_model="none", n_jobs=1)
    return est.fit(service.graph, votes, classes=list(CLASSES)).predict_proba()


def live(service):
    return service.state.soft_labels_of(np.arange(len(service.items)))


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
        service.state.refined_copy()
        expected = batch(service)
        np.testing.assert_allclose(live(service), expected, atol=1e-5)
        assert (expected.argmax(axis=1) == truth).mean() > 0.9


def test_a_restart_gives_the_same_state_from_snapshot_and_from_log_alone(tmp_path, database):
    """The state is a cache: with or without its file the same soft labels come back."""
    with running(tmp_path, database_url=database, auth=False) as service:
        for row in range(30):
            vote(service, "ann", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
        wait_until_applied(service)
        before = batch(service)
    for how in ("snapshot", "batch"):
        with running(tmp_path, database_url=database, auth=False) as service:
            assert service.started_from == how
            np.testing.assert_allclose(live(service), before, atol=1e-5)
            assert service.counts()["votes"] == 30
            assert service.progress("ann") == Progress(voted=30, skipped=0)
        (tmp_path / "state.npz").unlink()


def test_a_snapshot_of_another_log_is_not_believed(tmp_path):
    """Where log and snapshot disagree, the log wins."""
    with running(tmp_path, auth=False) as service:
        for row in range(10):
            vote(service, "ann", f"item-{row:03d}", "ant", f"k{row}")
    with Store(f"sqlite:///{tmp_path / 'votes.sqlite'}").writing() as connection:
        connection.exec_driver_sql("update log set label = 'bee' where id = 3")
    with running(tmp_path, auth=False) as service:
        assert service.started_from == "batch"
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_a_damaged_snapshot_is_replaced(tmp_path):
    """A cut file is as good as none."""
    with running(tmp_path, auth=False) as service:
        vote(service, "ann", "item-000", "ant", "k")
        wait_until_applied(service)
        before = live(service)
    (tmp_path / "state.npz").write_bytes((tmp_path / "state.npz").read_bytes()[:200])
    with running(tmp_path, auth=False) as service:
        assert service.started_from == "batch"
        np.testing.assert_allclose(live(service), before, atol=1e-6)


def test_votes_after_the_snapshot_are_replayed(tmp_path):
    """A snapshot may be older than the log."""
    with running(tmp_path, auth=False) as service:
        for row in range(10):
            vote(service, "ann", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
        wait_until_applied(service)
        service.state.save(tmp_path / "old.npz")
        for row in range(10, 20):
            vote(service, "ann", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
        service.submit([service.undo("ann", "k3", "u3")]).result(10)
    (tmp_path / "old.npz").replace(tmp_path / "state.npz")
    with running(tmp_path, auth=False) as service:
        assert service.started_from == "snapshot"
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_two_servers_on_one_log_are_refused(tmp_path, database):
    """The second one would count the same numbers again."""
    second = make_service(tmp_path / "other", database_url=database, auth=False)
    with (
        running(tmp_path, database_url=database, auth=False),
        pytest.raises(StoreError, match="another softspread"),
    ):
        second.start()


def test_why_gives_shares_that_sum_to_one(service):
    """All votes together are the whole of a soft label, and the own vote weighs most."""
    for row in range(12):
        vote(service, "ann", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
    wait_until_applied(service)
    reasons = service.why(3, top=100)
    assert sum(reason["weight"] for reason in reasons) == pytest.approx(1.0)
    assert reasons[0]["item"] == "item-003"
    share = {name: sum(r["weight"] for r in reasons if r["label"] == name) for name in CLASSES}
    np.testing.assert_allclose(service.soft_labels(np.array([3]))[0]["p"], list(share.values()), atol=1e-3)


def test_votes_brought_along_are_taken_in_once(tmp_path):
    """The same file at the next start adds nothing; nobody's votes may repeat."""
    for new in (4, 0):
        with running(tmp_path, auth=False) as service:
            items, labels = ["item-000", "item-000", "item-001", "item-002"], ["ant", "bee", "bee", "cat"]
            assert service.import_votes(items, labels, None, None, "mark") == new
            assert service.counts()["votes"] == 4


def test_entries_about_items_that_are_gone_are_left_out_and_counted(tmp_path):
    """A project that lost an item goes on with the others."""
    with running(tmp_path, auth=False) as service:
        vote(service, "ann", "item-000", "ant", "k0")
        vote(service, "ann", "item-059", "bee", "k1")
    X = three_clusters()[0][:59]
    with running(tmp_path, auth=False, X=X) as service:
        assert (service.history.unknown, len(service.history)) == (1, 1)
        vote(service, "ann", "item-001", "cat", "k2")
        assert service.history.last_id == 3


def test_gold_answers_must_name_known_items_and_classes(tmp_path):
    """A misspelt gold file is found at once."""
    with pytest.raises(InputError, match="unknown item 'nonsense'"):
        make_service(tmp_path, gold=(("nonsense", "ant"),))
    with pytest.raises(InputError, match="unknown class 'dog'"):
        make_service(tmp_path, gold=(("item-000", "dog"),))


def test_search_finds_parts_of_ids_and_the_exact_one_first(service):
    """Whatever the case, and dots are dots."""
    assert service.search("ITEM-01").tolist() == list(range(10, 20))
    assert service.search("item-0.1").tolist() == []
    assert service.search("", 5, 3).tolist() == [5, 6, 7]
    assert len(item_names()) == len(service.search("item", 0, 1000))


def test_time_in_the_log_never_goes_back(tmp_path):
    """A clock set back by an hour leaves the order of the log as it was, also over a restart."""
    wall = [1_000_000.0]
    with running(tmp_path, auth=False, clock=lambda: wall[0]) as service:
        vote(service, "ann", "item-000", "ant", "k0")
        wall[0] -= 3600
        vote(service, "ann", "item-001", "ant", "k1")
    with running(tmp_path, auth=False, clock=lambda: wall[0]) as service:
        vote(service, "ann", "item-002", "ant", "k2")
        times = service.history.column("created_at")
        assert (np.diff(times) >= 0).all()
        assert [entry.id for entry in service.store.entries()] == [1, 2, 3]


def test_in_a_rush_votes_get_less_work_each_and_nothing_is_lost(tmp_path, monkeypatch):
    """A lone vote is pushed as far as usual, a hundred at once less far; a refinement makes up for it."""
    shares, add = [], SpreadState.add
    monkeypatch.setattr(
        SpreadState,
        "add",
        lambda self, new, share=1.0: shares.append((len(new), share)) or add(self, new, share),
    )
    with running(tmp_path, auth=False) as service:
        shares.clear()
        vote(service, "ann", "item-000", "ant", "lone")
        wait_until_applied(service)
        assert shares == [(1, 1.0)]
        many = [
            service.vote(f"user-{k % 9}", f"item-{k % N_ITEMS:03d}", CLASSES[k % 3], f"many-{k}")
            for k in range(120)
        ]
        for start in range(0, len(many), 20):
            service.submit(many[start : start + 20]).result(10)
        wait_until_applied(service)
        assert sum(size for size, _ in shares) == len(service.history)
        assert min(share for _, share in shares) < 1
        service.state.refined_copy()
        np.testing.assert_allclose(live(service), batch(service), atol=1e-6)


def test_scales_are_found_while_the_log_is_read(tmp_path):
    """They are those that would be found afterwards."""
    with running(tmp_path, auth=False) as service:
        state, rows = service.state, np.arange(0, N_ITEMS, 7)
        expected = state.diffusion.scales(rows)
        for number, row in enumerate(rows):
            vote(service, "ann", f"item-{row:03d}", "ant", f"k{number}")
        wait_until_applied(service)
        history = service.history
        other = LiveState(
            service.graph, history, len(CLASSES), alpha=state.diffusion.alpha, prior_strength=0.1
        )
        with other.finding_scales():
            deadline = time.monotonic() + 10
            while len(other.diffusion.known_scales()["rows"]) < len(rows) and time.monotonic() < deadline:
                time.sleep(0.01)
        known = other.diffusion.known_scales()
        assert sorted(known["rows"].tolist()) == sorted(other.graph.rank[rows].tolist())
        scales = other.diffusion.scales(rows)
        np.testing.assert_allclose(scales, expected, rtol=1e-14)  # the same up to rounding


def test_a_long_group_is_written_whole_or_not_at_all(database):
    """More rows than one statement takes; a key that was used before undoes all of them."""
    store = Store(database)
    store.start()
    entries = [
        Entry(VOTE, f"k{k}", "ann", f"item-{k}", "ant", 1.0, id=k, created_at=0.5) for k in range(1, 151)
    ]
    with store.writing() as connection:
        store.append(connection, entries)
    again = [replace(entry, id=entry.id + 150, key=f"again-{entry.key}") for entry in entries]
    again[-1] = replace(again[-1], key="k7")
    with pytest.raises(DuplicateEntryError), store.writing() as connection:
        store.append(connection, again)
    assert store.entries(limit=1000) == entries
    store.close()
