"""The log in memory."""

import numpy as np

from softspread import read_votes
from softspread.votes.reading import read_y
from softspread.web.log.history import _probability
from softspread.web.project.exports import write
from web.conftest import running, three_clusters, vote


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


def test_how_an_item_was_chosen_is_in_the_log_and_survives_a_restart(tmp_path, database):
    """For votes and skips on items that the page handed out; others have no probability."""
    with running(tmp_path, database_url=database, auth=False) as service:
        first, second = service.queue.assign("ann", 2)
        vote(service, "ann", f"item-{first:03d}", "ant", "k0")
        service.submit([service.skip("ann", f"item-{second:03d}", "s")]).result(10)
        free = next(row for row in range(60) if row not in (first, second))
        vote(service, "ann", f"item-{free:03d}", "bee", "k1")
        asked = service.queue.how("ann", first).probability
        entries = service.store.entries()
        assert [entry.chosen for entry in entries] == ["uncertainty", "uncertainty", None]
        assert [entry.probability is None for entry in entries] == [False, False, True]
        before = service.history.probabilities()
    with running(tmp_path, database_url=database, auth=False) as service:
        np.testing.assert_array_equal(service.history.probabilities(), before)
        np.testing.assert_array_equal(before, [asked, np.nan])


def test_a_probability_that_nobody_knows_speaks_for_its_own_item_only():
    """Not handed out is nan, handed out without a known probability is 1."""
    assert np.isnan(_probability(None, None))
    assert (_probability("entropy", None), _probability("uniform", 0.25)) == (1.0, 0.25)


def test_imported_votes_without_a_name_belong_to_nobody(tmp_path):
    """Several of them on one item count each, here and where the export is read again."""
    with running(tmp_path, auth=False) as service:
        service.import_votes(["item-000"] * 2, ["ant", "ant"], None, None, "mark")
        vote(service, "ann", "item-000", "bee", "k0")
        table = service.history.standing_votes()[0]
        assert table.annotators.tolist() == [None, None, "ann"]
        write(service, tmp_path / "votes.csv")
    votes = read_votes(tmp_path / "votes.csv")
    assert votes.annotators.tolist() == [None, None, "ann"]
    assert len(read_y(votes, 1, ["item-000"]).table) == 3
