"""A vote is acknowledged once it is on the disk, and counts once, whatever the database does."""

from contextlib import contextmanager

import numpy as np
import pytest
import sqlalchemy as sa

from softspread.errors import StoreError
from web.conftest import N_ITEMS, opened_world, running, vote, wait_until_applied
from web.project.helpers import batch, relearned


def test_votes_wait_while_the_database_is_away(tmp_path, postgres):
    """They are refused, not lost by silence; sent again with the same keys they count once."""
    with running(tmp_path, database_url=postgres.new_database(), auth=False) as service:
        assert vote(service, "ann", "item-000", "ant", "k0").status == "accepted"
        postgres.stop()
        try:
            with pytest.raises(StoreError):
                vote(service, "ann", "item-001", "bee", "k1")
            assert service.counts()["votes"] == 1
        finally:
            postgres.start()
        statuses = [vote(service, "ann", "item-001", "bee", "k1").status for _ in range(2)]
        assert statuses == ["accepted", "repeated"]
        wait_until_applied(service)
        assert service.counts()["votes"] == 2
        np.testing.assert_allclose(relearned(service), batch(service), atol=1e-5)


@contextmanager
def answer_lost_after_commit(store):
    """The commit happens, but the one who asked hears of a failure."""
    usual = store.writing

    @contextmanager
    def lossy():
        with usual() as connection:
            yield connection
        raise StoreError("connection lost")

    store.writing = lossy
    try:
        yield
    finally:
        store.writing = usual


def test_a_commit_whose_answer_was_lost_counts_once(tmp_path):
    """The retry finds it in the log, and the live state learns of it too."""
    with running(tmp_path, auth=False) as service:
        with answer_lost_after_commit(service.store), pytest.raises(StoreError):
            vote(service, "ann", "item-003", "bee", "k0")
        assert vote(service, "bob", "item-004", "cat", "k1").id == 2
        assert vote(service, "ann", "item-003", "bee", "k0").status == "repeated"
        assert vote(service, "ann", "item-003", "ant", "k2").status == "refused"
        wait_until_applied(service)
        assert service.counts()["votes"] == 2
        np.testing.assert_allclose(relearned(service), batch(service), atol=1e-5)


def test_an_undo_whose_answer_was_lost_is_learned_too(tmp_path):
    """Catching up takes standing votes away as well."""
    with running(tmp_path, auth=False) as service:
        vote(service, "ann", "item-003", "bee", "k0")
        with answer_lost_after_commit(service.store), pytest.raises(StoreError):
            service.submit([service.undo("ann", "k0", "u0")]).result(10)
        assert vote(service, "ann", "item-003", "cat", "k1").status == "accepted"
        wait_until_applied(service)
        assert service.counts()["votes"] == 1
        np.testing.assert_allclose(relearned(service), batch(service), atol=1e-5)


def test_a_full_disk_refuses_votes_and_goes_on_when_there_is_room(tmp_path):
    """The page hears 503 and keeps the vote; nothing half written stays."""
    with opened_world(tmp_path) as world:
        ben = world.program("ben")
        full = [True]

        def limit(connection, _record, _proxy):
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count={pages if full[0] else 1_000_000}")

        def cast(number):
            votes = [
                {"key": f"{number}-{row}-{'x' * 50}", "item": f"item-{row:03d}", "label": "ant"}
                for row in range(60)
            ]
            return ben.post("/api/v1/votes", json={"votes": votes})

        sa.event.listen(world.service.store.engine, "checkout", limit)
        answer = cast(0)
        assert answer.status_code == 503
        assert "full" in answer.text
        assert answer.headers["retry-after"]
        assert world.service.counts()["votes"] == 0
        full[0] = False
        assert cast(0).status_code == 201
        assert world.service.counts()["votes"] == N_ITEMS
        wait_until_applied(world.service)
        np.testing.assert_allclose(relearned(world.service), batch(world.service), atol=1e-5)
