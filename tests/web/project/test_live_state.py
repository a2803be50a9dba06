"""The live state is that of a batch run, whatever happens to the server."""

import threading
import time

import numpy as np

from softspread.errors import StoreError
from softspread.spreading.state import SpreadState
from softspread.web.log.store import Store
from softspread.web.project.live_state import LiveState
from softspread.web.project.service import Progress
from web.conftest import CLASSES, N_ITEMS, running, three_clusters, vote, wait_until_applied
from web.project.helpers import batch, live


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
            service.graph, history, service.items.ids, CLASSES, choice=state.choice, prior_strength=0.1
        )
        with other.finding_scales():
            deadline = time.monotonic() + 10
            while len(other.diffusion.known_scales()["rows"]) < len(rows) and time.monotonic() < deadline:
                time.sleep(0.01)
        known = other.diffusion.known_scales()
        assert sorted(known["rows"].tolist()) == sorted(other.graph.rank[rows].tolist())
        scales = other.diffusion.scales(rows)
        np.testing.assert_allclose(scales, expected, rtol=1e-14)  # the same up to rounding


def test_a_snapshot_that_cannot_be_written_is_no_harm(tmp_path, monkeypatch):
    """The next start reads the log instead."""

    def fail(*_arguments):
        raise StoreError("no space left")

    with running(tmp_path, auth=False) as service:
        monkeypatch.setattr("softspread.web.project.live_state.write_archive", fail)
        vote(service, "ann", "item-000", "ant", "k0")
        wait_until_applied(service)
        before = live(service)
    monkeypatch.undo()
    with running(tmp_path, auth=False) as service:
        assert service.started_from == "batch"
        np.testing.assert_allclose(live(service), before, atol=1e-5)


def test_a_live_update_that_fails_is_repaired(tmp_path, monkeypatch):
    """The log stands, the next refinement starts from it."""
    with running(tmp_path, auth=False) as service:
        state = service.state._state
        monkeypatch.setattr(state, "add", lambda new, share: (_ for _ in ()).throw(MemoryError))
        vote(service, "ann", "item-000", "ant", "k0")
        wait_until_applied(service)
        monkeypatch.undo()
        service.state.refined_copy()
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)


def test_refinements_beside_new_votes_lose_none(tmp_path):
    """However votes and refinements interleave, the end is the batch run."""
    with running(tmp_path, auth=False, overlap=1000) as service:
        stop = threading.Event()

        def refine():
            while not stop.is_set():
                service.state.refined_copy()

        threads = [threading.Thread(target=refine) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(3):
            operations = [
                service.vote(f"p{number}", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
                for row in range(N_ITEMS)
            ]
            for operation in operations:
                service.submit([operation])
        service.submit([]).result(30)
        wait_until_applied(service)
        stop.set()
        for thread in threads:
            thread.join()
        service.state.refined_copy()
        np.testing.assert_allclose(live(service), batch(service), atol=1e-5)
