"""Settings that a lead changes while people vote."""

import numpy as np
import pytest

from softspread.errors import InputError, StoreError
from softspread.web.project.changes import CHANGEABLE, Changes, ConflictError
from softspread.web.project.classes import ClassNote
from web.conftest import CLASSES, N_ITEMS, running, vote

ALL = {
    "title": "Ants",
    "question": "What do you see?",
    "guidelines": "Look *twice*.",
    "status": "paused",
    "mode": "assisted",
    "strategy": "entropy",
    "overlap": 2,
    "uniform_share": 0.5,
    "gold_share": 0.2,
    "classes": ("fly", "bee", "cat"),
    "merged": (("ant", "fly"),),
    "class_notes": (ClassNote("fly", "#aa00ff", "Two wings.", ("item-1",)),),
    "left_out": ("mal",),
}


def test_every_changeable_setting_survives_a_restart(tmp_path, database):
    """On both databases; settings that nobody changed follow the command line."""
    assert set(ALL) == set(CHANGEABLE)
    where = {"auth": False, "database_url": database}
    with running(tmp_path, **where) as service:
        service.change({"overlap": 7})
        service.change(ALL)
    with running(tmp_path, overlap=5, lease_seconds=30.0, **where) as service:
        assert {name: getattr(service.settings, name) for name in ALL} == ALL
        assert service.settings.lease_seconds == 30.0
        assert service.changes.revision == 2


def test_one_changed_setting_leaves_the_others_to_the_command_line(tmp_path):
    """A lead who changed the question has not decided about the overlap."""
    with running(tmp_path, auth=False) as service:
        service.change({"question": "Really?"})
    with running(tmp_path, auth=False, overlap=9, question="Which?") as service:
        assert (service.settings.question, service.settings.overlap) == ("Really?", 9)


def test_a_bad_change_changes_nothing(service):
    """Neither the settings in force nor those in the database."""
    before = service.settings
    for values in ({"overlap": 0}, {"strategy": "guess"}, {"mode": "loud"}, {"status": "asleep"}):
        with pytest.raises(InputError):
            service.change({"question": "New?", **values})
    with pytest.raises(InputError, match="'alpha' cannot be changed while the server runs"):
        service.change({"alpha": 0.5})
    assert service.settings is before
    assert service.store.fact("settings") is None


def test_a_change_that_cannot_be_written_takes_no_effect(service, monkeypatch):
    """What a lead sees is what a restart keeps."""

    def refuse(*_):
        raise StoreError("disk full")

    monkeypatch.setattr(service.store, "set_fact", refuse)
    with pytest.raises(StoreError):
        service.change({"overlap": 2})
    assert service.settings.overlap == 3
    assert service.changes == Changes({})


def test_of_two_leads_with_the_same_page_one_is_told(service):
    """The second one's page is older than the settings."""
    service.change({"overlap": 2}, revision=0)
    with pytest.raises(ConflictError, match="reload"):
        service.change({"overlap": 4}, revision=0)
    service.change({"overlap": 4}, revision=1)
    assert service.settings.overlap == 4


def test_another_overlap_holds_for_the_next_item(tmp_path):
    """With one vote per item, nobody gets an item that has a vote."""
    with running(tmp_path, auth=False, overlap=3) as service:
        for row in range(N_ITEMS - 5):
            vote(service, "ann", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
        assert len(service.assign("bob", 20)) == 20
        service.queue.voted([("bob", row, 0) for row in range(N_ITEMS)])  # bob's leases end
        service.change({"overlap": 1})
        assert sorted(card.row for card in service.assign("bob", 20)) == list(range(N_ITEMS - 5, N_ITEMS))


def test_another_strategy_and_share_are_logged_with_the_next_votes(tmp_path):
    """How an item was chosen stands in the log, by the rule in force when it was handed out."""
    with running(tmp_path, auth=False, uniform_share=0.0) as service:
        first = service.assign("ann", 1)[0]
        service.change({"strategy": "uniform"})
        second = next(card for card in service.assign("ann", 2) if card.row != first.row)
        chosen = [service.vote("ann", card.item, "ant", card.item).chosen for card in (first, second)]
        assert chosen == ["uncertainty", "uniform"]


def test_a_paused_project_hands_out_nothing_and_keeps_votes_that_arrive(service):
    """Votes cast before the pause are on their way; a finished project takes none."""
    held = service.assign("ann", 3)
    service.change({"status": "paused"})
    assert service.assign("ann", 3) == []
    assert vote(service, "ann", held[0].item, "ant", "k0").status == "accepted"
    service.change({"status": "finished"})
    for ask in (
        lambda: service.vote("ann", held[1].item, "ant", "k1"),
        lambda: service.skip("ann", held[1].item, "k1"),
        lambda: service.undo("ann", "k0", "u0"),
    ):
        with pytest.raises(InputError, match="finished"):
            ask()
    service.change({"status": "running"})
    assert len(service.assign("ann", 3)) == 3
    assert vote(service, "ann", held[1].item, "ant", "k1").status == "accepted"


def test_votes_of_a_file_enter_a_finished_project(service):
    """The operator who brings a file has decided."""
    service.change({"status": "finished"})
    assert service.import_votes(["item-000"], ["ant"], None, None, "mark") == 1
    assert np.sum(service.queue.counts) == 1
