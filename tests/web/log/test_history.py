"""The log in memory."""

from dataclasses import replace

import numpy as np
import pandas as pd

from softspread import read_votes
from softspread.votes.reading import read_y
from softspread.web.log.answers import Answers
from softspread.web.log.entry import FLAG, VOTE, Entry
from softspread.web.log.history import History, _probability
from softspread.web.log.suggestions import written
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


def test_old_names_of_a_class_lead_to_the_new_one_and_votes_left_out_count_for_nothing():
    """The log keeps what was cast; the reading says what it means now."""
    names = pd.Index(["a", "b"])
    entries = [
        Entry(VOTE, "k1", "ann", "a", "cat", 1.0, id=1),
        Entry(VOTE, "k2", "bob", "a", "lion", 1.0, id=2),
        Entry(VOTE, "k3", "cid", "b", "dog", 1.0, id=3),
        Entry(FLAG, "k4", "ann", "b", id=4, note="?"),
    ]
    fields = ("id", "kind", "annotator", "item", "label", "weight")
    rows = [(*(getattr(entry, name) for name in fields), None, 0.0, *[None] * 4) for entry in entries]
    answers = Answers(["feline", "dog"], {"cat": "feline", "lion": "feline"})
    history = History(names, answers, left_out=["bob"])
    history.take_blocks([rows])
    assert history.unknown == 0
    table, places = history.standing_votes()
    assert (table.columns.tolist(), places.tolist()) == ([0, 1], [0, 2])
    assert history.table().columns.tolist() == [0, 1]
    assert history.counts(2).tolist() == [1, 1]


def test_a_suggestion_is_read_back_from_the_log(tmp_path):
    """Which class led, its share, and whether it was shown; the same from memory and from the database."""
    with running(tmp_path, auth=False) as service:
        shown = written({"bee": 0.7, "ant": 0.3}, seen=True)
        for key, item, text in (("k0", "item-000", shown), ("k1", "item-001", None)):
            service.submit([replace(service.vote("ann", item, "ant", key), shown=text)]).result(9)
        before = service.history.columns("suggested", "share", "seen")
        assert [part.tolist()[0] for part in before] == [1, 0.7, True]
        assert before[0].tolist()[1] == -1
    with running(tmp_path, auth=False) as service:
        for one, other in zip(service.history.columns("suggested", "share", "seen"), before, strict=True):
            np.testing.assert_array_equal(one, other)
