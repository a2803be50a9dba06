"""What a lead looks at again."""

import numpy as np
import pytest

from softspread.votes.table import VoteTable
from softspread.web.log.answers import Answers
from softspread.web.log.entry import BROKEN, DECIDED, FLAG, SKIP
from softspread.web.project.review import agreement, decisions, disagreements, people, spoken_of, surprising
from web.conftest import make_service, running, vote, wait_until_applied


def table(*votes):
    """Votes as (row, column)."""
    rows, columns = np.array(votes).T
    return VoteTable(rows, columns, np.ones(len(votes)))


def test_the_smallest_majority_comes_first():
    """Two against two before one against two; agreement is not listed."""
    votes = [(0, 0), (0, 0), (1, 0), (1, 1), (1, 1), (2, 0), (2, 1), (2, 0), (2, 1), (3, 2)]
    assert disagreements(table(*votes), Answers("abc")).tolist() == [2, 1]


def test_the_least_probable_vote_of_an_item_is_listed_once():
    """By its number in the table; a vote for a probable class surprises nobody."""
    votes = table((0, 0), (0, 1), (1, 0), (2, 0))
    assert surprising(votes, np.array([0.1, 0.05, 0.9, 0.07])).tolist() == [1, 3]


def test_agreement_is_krippendorffs_alpha_by_hand():
    """Observed over expected disagreement; items with one vote do not count."""
    votes = table((0, 0), (0, 0), (1, 0), (1, 1), (2, 1), (2, 1), (3, 0))
    # pairs: 1 of 3 items disagrees; 3 zeros and 3 ones: expected 2 * 3 * 3 / (6 * 5)
    found = agreement(votes, Answers("ab"))
    assert found["alpha"] == pytest.approx(1 - (1 / 3) / (18 / 30))
    assert (found["items"], found["votes"], found["of_items"]) == (3, 6, 4)
    assert agreement(table((0, 0), (1, 1)), Answers("ab"))["alpha"] is None
    assert agreement(table((0, 0), (0, 0)), Answers("ab"))["alpha"] is None


def test_a_decision_is_a_heavy_vote_a_gold_answer_and_can_be_changed(tmp_path, database):
    """It survives a restart, is nobody's vote, and shows who was right."""
    where = {"auth": False, "database_url": database}
    with running(tmp_path, **where) as service:
        vote(service, "ann", "item-000", "ant", "k0")
        vote(service, "bob", "item-000", "bee", "k1")
        service.change({"status": "finished"})
        for number, label in enumerate(("cat", "bee")):
            service.submit(service.decide("ada", "item-000", label, f"d{number}")).result(9)
        wait_until_applied(service)
        assert decisions(service.history) == {0: 1}
        assert service.state.soft_labels(np.array([0])).p[0].argmax() == 1
        service.state.learn()
        service.analyst.update_quality()
        right = {
            one["annotator"]: (one["gold_right"], one["gold_total"]) for one in service.analyst.annotators
        }
        assert right == {"ann": (0, 1), "bob": (1, 1)}
        found = service.store.entries()
        assert [(entry.annotator, entry.kind) for entry in found[2:]] == [
            (DECIDED, 0),
            (DECIDED, 1),
            (DECIDED, 0),
        ]
        assert found[-1].note == "by ada"
    with running(tmp_path, **where) as service:
        assert decisions(service.history) == {0: 1}
        assert service.gold == {0: 1}
        service.submit(service.take_back_decision("item-000", "u")).result(9)
        assert service.gold == decisions(service.history) == {}


def test_what_people_say_is_counted_by_person(tmp_path):
    """Two notes of one person are one person; speed leaves breaks out."""
    moments = iter([*range(100, 1000, 10)])
    service = make_service(tmp_path, auth=False, clock=lambda: next(moments))
    service.start()
    try:
        for number, row in enumerate((0, 1, 2)):
            vote(service, "ann", f"item-{row:03d}", "ant", f"k{number}")
        entries = [service.flag("ann", "item-005", "dark", f"f{number}") for number in range(2)]
        entries += [service.skip("bob", "item-006", "s"), service.broken("bob", "item-007", "b")]
        for entry in entries:
            service.submit([entry]).result(9)
        assert spoken_of(service.history, FLAG) == [(5, 1)]
        assert spoken_of(service.history, SKIP) == [(6, 1)]
        assert spoken_of(service.history, BROKEN) == [(7, 1)]
        ann, bob = people(service.history)
        assert (ann.name, ann.votes, ann.notes, ann.seconds_per_vote) == ("ann", 3, 2, 10.0)
        assert ann.votes_per_hour == pytest.approx(360)
        assert (bob.skips, bob.seconds_per_vote) == (1, None)
    finally:
        service.stop()


def test_an_item_that_is_asked_about_again_goes_to_someone_new_once(tmp_path):
    """Although it has all the votes that it should have."""
    with running(tmp_path, auth=False, overlap=1) as service:
        for row in range(60):
            vote(service, "ann", f"item-{row:03d}", "ant", f"k{row}")
        assert service.assign("bob", 5) == []
        service.ask_again("item-007")
        assert service.assign("ann", 5) == []
        assert [card.row for card in service.assign("bob", 5)] == [7]
        vote(service, "bob", "item-007", "bee", "b")
        assert service.assign("cid", 5) == []
