"""Renaming and merging classes, as names and in a running project."""

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.web.project.classes import ClassNote, WantedClass, regrouped, rename
from web.conftest import running, vote, wait_until_applied
from web.project.helpers import live, relearned


def wanted(*pairs):
    return [WantedClass(name, tuple(was)) for name, *was in pairs]


def test_a_class_may_get_its_old_name_back():
    """The name in between leads to it as well."""
    classes, merged = rename(("cat", "dog"), {}, wanted(("feline", "cat"), ("dog", "dog")))
    assert rename(classes, merged, wanted(("cat", "feline"), ("dog", "dog"))) == (
        ("cat", "dog"),
        {"feline": "cat"},
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ([("cat", "cat")], "need a place"),
        ([("cat", "cat", "dog"), ("dog",)], "'dog' was the name of what is now 'cat'"),
        ([("cat", "dog"), ("dog", "cat")], "choose another name"),
        ([("cat", "cat"), ("dog", "dog", "cat")], "named once"),
        ([("cat", "cat"), ("dog", "dog", "cow")], "one of the present classes"),
    ],
)
def test_a_name_never_means_two_classes(change, problem):
    """Votes in the log carry the old names for ever."""
    with pytest.raises(InputError, match=problem):
        rename(("cat", "dog"), {}, wanted(*change))


def test_what_people_are_told_follows_a_class(tmp_path):
    """Colour, description and examples survive a new name, a merger and a restart; what is not said stays."""
    with running(tmp_path) as service:
        ant = WantedClass("ant", ("ant",), "#112233", "Six legs,\nno wings.", ("item-001",))
        bee, cat = WantedClass("bee", ("bee",), "#445566"), WantedClass("cat", ("cat",))
        service.change_classes([ant, bee, cat])
        assert not service.preparing, "no name has changed: in force at once"
        service.change_classes([WantedClass("insect", ("ant", "bee"), description="Six legs."), cat])
        assert service.wait_until_prepared(300)
    with running(tmp_path) as service:
        found = service.settings.note_of("insect")
        assert found == ("insect", "#112233", "Six legs.", ("item-001",))
        assert service.settings.note_of("cat") == ClassNote("cat")


@pytest.mark.parametrize(
    ("note", "problem"),
    [
        ({"colour": "red"}, "like #3366cc"),
        ({"description": "x" * 1_001}, "at most 1,000"),
        ({"examples": ("nothing",)}, "no item 'nothing'"),
        ({"examples": ("item-001",) * 7}, "at most 6 examples"),
    ],
)
def test_what_a_page_could_not_show_is_refused(service, note, problem):
    """With the reason; nothing is changed."""
    others = [WantedClass(name, (name,)) for name in ("bee", "cat")]
    with pytest.raises(InputError, match=problem):
        service.change_classes([WantedClass("ant", ("ant",), **note), *others])
    assert service.settings.class_notes == ()


def test_probabilities_follow_the_classes():
    """New classes get a fair share; rows sum to 1."""
    p = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    found = regrouped(p, ("a", "b", "c"), ("c", "a", "new"), {"b": "a"})
    np.testing.assert_allclose(found, [[1 / 3, 1 / 3, 1 / 3], [0, 2 / 3, 1 / 3]])


def test_classes_are_merged_with_their_votes_while_people_vote(tmp_path, database):
    """A page that still has the old names goes on; a restart gives the same soft labels."""
    where = {"auth": False, "database_url": database}
    with running(tmp_path, **where) as service:
        for row in range(30):
            vote(service, "ann", f"item-{row:03d}", ("ant", "bee", "cat")[row % 3], f"k{row}")
        before = service.page_revision
        service.change_classes(wanted(("animal", "cat"), ("insect", "ant", "bee"), ("plant",)))
        assert service.wait_until_prepared(300)
        assert service.classes == ["animal", "insect", "plant"]
        assert service.page_revision > before
        vote(service, "bob", "item-001", "bee", "old page")
        vote(service, "bob", "item-002", "animal", "new page")
        wait_until_applied(service)
        assert service.counts()["votes"] == 32
        p = live(service)
        assert p[:30].argmax(axis=1).tolist() == [0 if row % 3 == 2 else 1 for row in range(30)]
        assert len(service.soft_labels([0])[0]["p"]) == 3
        assert [entry.label for entry in service.store.entries(29)][:2] == ["cat", "bee"]
        last = relearned(service)
    with running(tmp_path, **where) as service:
        assert service.classes == ["animal", "insect", "plant"]
        np.testing.assert_allclose(relearned(service), last, atol=1e-6)


def test_votes_of_one_person_go_out_and_come_back(tmp_path):
    """Soft labels are those of the others alone, then as before; the person's page goes on."""
    with running(tmp_path, auth=False) as service:
        for row in range(30):
            vote(service, "ann", f"item-{row:03d}", ("ant", "bee", "cat")[row % 3], f"k{row}")
            vote(service, "mal", f"item-{row:03d}", "bee", f"m{row}")
        wait_until_applied(service)
        service.state.learn()
        before = live(service)
        held = service.assign("mal", 1)[0]
        service.change({"left_out": ["mal"]})
        assert service.wait_until_prepared(300)
        assert service.counts()["votes"] == 30
        vote(service, "mal", held.item, "bee", "later")
        assert held.item not in [card.item for card in service.assign("mal", 5)]
        wait_until_applied(service)
        assert service.counts()["votes"] == 30
        others = live(service)
        assert np.abs(others - before).max() > 0.1
        service.submit([service.undo("mal", "later", "u")]).result(9)
        service.change({"left_out": []})
        assert service.wait_until_prepared(300)
        wait_until_applied(service)
        assert service.counts()["votes"] == 60
        np.testing.assert_allclose(live(service), before, atol=1e-6)


def test_how_an_item_was_chosen_outlives_a_change(tmp_path):
    """Leases and probabilities move to the new queue."""
    with running(tmp_path, auth=False) as service:
        (card,) = service.assign("ann", 1)
        pick = service.queue.how("ann", card.row)
        service.change_classes(wanted(("ant", "ant"), ("bee", "bee"), ("dog", "cat")))
        assert service.wait_until_prepared(300)
        assert service.queue.how("ann", card.row) == pick
        assert service.assign("ann", 1, [card.item]) == []
        assert card.row not in [other.row for other in service.assign("bob", 20)]
