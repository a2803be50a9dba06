"""A restart goes on from the last fit, if it is one of this log."""

import numpy as np
import pytest

from softspread.errors import StoreError
from softspread.web.log.store import Store
from softspread.web.project import snapshots
from web.conftest import CLASSES, NEVER, running, vote, wait_until_applied
from web.project.helpers import live, relearned

STILL = {"auth": False, "refit": NEVER}


def cast(service, rows):
    for row in rows:
        vote(service, f"p{row % 3}", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
    wait_until_applied(service)


@pytest.fixture
def saved(tmp_path):
    """A folder with a fit of ten votes, a log with more, and the soft labels of both together."""
    with running(tmp_path, **STILL) as service:
        cast(service, range(10))
        service.state.learn()
        service._save_learned()
        cast(service, range(10, 16))
        service.submit([service.undo("p0", "k3", "u3")]).result(10)
        wait_until_applied(service)
        service.state.refine()
        return tmp_path, live(service)


def test_a_restart_goes_on_from_the_fit_and_replays_the_rest(saved):
    """Also without it the log says the same once it is learned from."""
    folder, before = saved
    with running(folder, **STILL) as service:
        assert service.started_from == "snapshot"
        learned = service.state.learned
        assert (learned.entries, learned.n_votes, learned.n_since) == (10, 10, 7)
        service.state.refine()
        np.testing.assert_allclose(live(service), before, atol=1e-6)
        after = relearned(service)
    for path in folder.glob(snapshots.PATTERN):
        path.unlink()
    with running(folder, **STILL) as service:
        assert service.started_from == "log"
        np.testing.assert_allclose(live(service), after, atol=1e-6)


@pytest.mark.parametrize("changes", [{"alpha": 0.5}, {"n_neighbors": 4}, {"prior": np.full((60, 3), 1 / 3)}])
def test_a_fit_with_other_settings_is_not_used(saved, changes):
    """It answers another question."""
    with running(saved[0], **STILL | changes) as service:
        assert service.started_from == "log"


def test_a_fit_of_another_log_is_not_believed(saved):
    """Where log and file disagree, the log wins."""
    with Store(f"sqlite:///{saved[0] / 'votes.sqlite'}").writing() as connection:
        connection.exec_driver_sql("update log set label = 'bee' where id = 3")
    with running(saved[0], **STILL) as service:
        assert service.started_from == "log"


def test_a_damaged_file_is_replaced(saved):
    """A cut file is as good as none, and there is never more than one afterwards."""
    (path,) = saved[0].glob(snapshots.PATTERN)
    path.write_bytes(path.read_bytes()[:200])
    with running(saved[0], **STILL) as service:
        assert service.started_from == "log"
    assert [one.name for one in saved[0].glob(snapshots.PATTERN)] == ["learned-17.npz"]


def test_a_fit_that_cannot_be_written_is_no_harm(tmp_path, monkeypatch, caplog):
    """The next start learns from the log instead."""

    def fail(*_arguments):
        raise StoreError("no space left")

    monkeypatch.setattr(snapshots, "save", fail)
    with running(tmp_path, **STILL) as service:
        cast(service, range(5))
    assert "no space left" in caplog.text
    with running(tmp_path, **STILL) as service:
        assert service.started_from == "log"
        assert service.counts()["votes"] == 5
