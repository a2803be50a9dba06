"""What passes between the widget and the estimator."""

import numpy as np
import pytest

from softspread import ProbabilisticLabelSpreading, SoftLabeler, VoteHistogram, Votes
from softspread.errors import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*a second vote")
CLASSES = ["ant", "bee"]
IDS = [f"item {row}" for row in range(40)]


def points():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(place, 0.5, size=(20, 2)) for place in (0.0, 4.0)])


def spread(**fitted):
    votes = Votes.from_pairs(["item 0", "item 39"], CLASSES)
    est = ProbabilisticLabelSpreading(alpha=0.9, n_neighbors=5, random_state=0, tol=1e-10)
    return est.fit(points(), votes, item_ids=IDS, classes=CLASSES)


class Browser:
    """The widget's part of the traffic."""

    def __init__(self, voter, view="a"):
        self.voter, self.view, self.number = voter, view, 0
        self.ahead, self.reply = [], None
        self.ask()

    def ask(self, *operations, wanted=3):
        for operation in operations:
            self.number += 1
            operation["number"] = self.number
        holding = [card["card"] for card in self.ahead]
        message = {"view": self.view, "operations": operations, "holding": holding, "wanted": wanted}
        found = self.voter.hear(message)
        self.reply = found.content
        assert (self.reply["view"], self.reply["done"]) == (self.view, self.number if operations else 0)
        back = self.reply["back"]
        cards = self.reply["cards"]
        first = [card for card in cards if back and card["card"] == back["card"]]
        self.ahead = first + self.ahead + [card for card in cards if card not in first]
        assert all((card.get("buffer") is None) == (card["kind"] in ("name", "text")) for card in cards)
        return self.reply

    def vote(self, column=0, **more):
        card = self.ahead.pop(0)
        self.ask({"kind": "vote", "card": card["card"], "column": column, **more})
        return card["name"]


def test_votes_reach_the_estimator_and_undo_takes_them_back():
    """The same as update and undo from Python."""
    est, other = spread(), spread()
    browser = Browser(est.vote_here())
    names = [browser.vote(column) for column in (0, 1, 1)]
    other.update(names, ["ant", "bee", "bee"])
    np.testing.assert_allclose(est.refine().predict_proba(), other.refine().predict_proba(), atol=1e-8)
    for name in reversed(names):
        assert browser.ask({"kind": "undo"})["back"]["label"] in CLASSES
        assert browser.ahead[0]["name"] == name
    np.testing.assert_allclose(est.refine().predict_proba(), spread().predict_proba(), atol=1e-8)
    assert "nothing to take back" in browser.ask({"kind": "undo"})["problem"]


def test_the_widget_holds_a_few_cards_ahead_and_none_twice():
    """The next item is there at once, and every item comes once."""
    browser = Browser(spread().vote_here())
    names = []
    while browser.ahead:
        assert len(browser.ahead) == min(3, 40 - len(names))
        names.append(browser.vote())
    assert sorted(names) == sorted(IDS)
    assert browser.reply["problem"] is None


def test_listed_items_come_in_their_order():
    """`which` names them; what is left is said, undo and skip included."""
    voter = spread().vote_here(which=["item 5", "item 3", "item 5", "item 9"])
    browser = Browser(voter)
    assert [card["name"] for card in browser.ahead] == ["item 5", "item 3", "item 9"]
    assert browser.reply["left"] == 3
    browser.vote()
    skipped = browser.ahead.pop(0)
    assert browser.ask({"kind": "skip", "card": skipped["card"]})["left"] == 1
    back = browser.ask({"kind": "undo"})["back"]
    assert (back["label"], browser.ahead[0]["name"], browser.reply["left"]) == (None, "item 3", 2)
    assert voter.votes.to_frame()["item"].tolist() == ["item 5"]
    browser.vote(1)
    browser.vote(1)
    assert (browser.ahead, browser.reply["left"], browser.reply["votes"]) == ([], 0, 3)


def test_an_unsure_vote_counts_half_and_carries_its_name():
    """Undo takes back the vote as it was cast, whoever votes meanwhile."""
    est = spread()
    voter = est.vote_here(annotator=" ada ")
    browser = Browser(voter)
    first = browser.vote(0, unsure=True)
    browser.vote(1, annotator="ben")
    cast = voter.votes
    assert (cast.annotators.tolist(), cast.weights.tolist()) == (["ada", "ben"], [0.5, 1.0])
    assert est.vote_counts_[IDS.index(first)].sum() == (0.5 if first not in ("item 0", "item 39") else 1.5)
    browser.ask({"kind": "undo"}, {"kind": "undo"})
    assert len(voter.votes) == 0
    assert est.vote_counts_.sum() == 2


def test_nobody_is_asked_twice_about_an_item():
    """Items on which the same person voted before are no question; others' votes do not matter."""
    est = spread()
    est.update(IDS[:39], ["ant"] * 39, annotators=["ada"] * 39)
    assert [card["name"] for card in Browser(est.vote_here(annotator="ada")).ahead] == ["item 39"]
    assert len(Browser(est.vote_here(annotator="ben")).ahead) == 3


def test_what_moved_is_said():
    """The voted item's soft label before and after, and how many others moved."""
    est = spread()
    browser = Browser(est.vote_here(which=["item 10"]))
    before = est.predict_proba()
    browser.vote(1)
    moved, after = browser.reply["moved"], est.predict_proba()
    np.testing.assert_allclose(moved["before"], before[10], atol=1e-6)
    np.testing.assert_allclose(moved["after"], after[10], atol=1e-6)
    assert moved["after"][1] > moved["before"][1]
    assert moved["others"] == (np.abs(after - before).max(axis=1) >= 0.01).sum() > 1
    assert moved["changed"] == (after.argmax(axis=1) != before.argmax(axis=1)).sum()


def test_a_vote_that_is_refused_stays_open():
    """The reason reaches the browser, nothing is counted, and the item is still there to vote on."""
    est = spread()
    voter = est.vote_here(which=["item 1"])
    browser = Browser(voter)
    card = browser.ahead[0]
    est.fit(points(), Votes.from_pairs(["item 0"], ["cat"]), item_ids=IDS, classes=["cat", "dog"])
    browser.vote(0)
    assert "'ant' is not among the classes" in browser.reply["problem"]
    assert browser.ahead == [card]
    assert (browser.reply["votes"], len(voter.votes)) == (0, 0)


def test_a_page_that_is_loaded_again_gets_the_same_items():
    """And a second view of the cell too; an item is voted on once."""
    voter = spread().vote_here()
    first = Browser(voter)
    second = Browser(voter, "b")
    assert [card["name"] for card in second.ahead] == [card["name"] for card in first.ahead]
    first.vote()
    second.vote()
    assert "another view" in second.reply["problem"]
    assert second.reply["votes"] == 1


def test_notes_are_kept():
    """With the items that they are about; voting goes on."""
    voter = spread().vote_here(which=["item 4"])
    browser = Browser(voter)
    browser.ask({"kind": "note", "card": browser.ahead[0]["card"], "note": "two animals"})
    assert voter.notes.to_numpy().tolist() == [["item 4", "two animals"]]
    assert len(browser.ahead) == 1


def test_people_see_what_they_were_given():
    """Pictures travel as bytes beside the message."""
    voter = spread().vote_here(np.zeros((40, 4, 4)), which=["item 7"])
    reply = voter.hear({"wanted": 1})
    [card] = reply.content["cards"]
    assert (card["kind"], card["type"], card["name"]) == ("picture", "image/png", "item 7")
    assert reply.buffers[card["buffer"]][:4] == b"\x89PNG"
    lacking = spread().vote_here({"item 0": "text"}, which=["item 7"]).hear({"wanted": 1}).content["cards"]
    assert (lacking[0]["kind"], lacking[0]["text"]) == ("name", "item 7")


def test_several_classes_are_chosen_together():
    """Of kind multilabel a vote says yes to some classes and no to the rest."""
    table = np.full((40, 2), np.nan)
    table[[0, 39]] = [[1, 0], [1, 1]]
    est = SoftLabeler(kind="multilabel", n_neighbors=5, random_state=0).fit(points(), table, classes=CLASSES)
    voter = est.vote_here(which=[3, 4])
    browser = Browser(voter)
    before = est.soft_labels_of([3])[0]
    card = browser.ahead.pop(0)
    browser.ask({"kind": "vote", "card": card["card"], "columns": [1]})
    assert est.soft_labels_of([3])[0, 1] > before[1]
    assert est.vote_counts_[3].tolist() == [0, 1]
    assert sorted(zip(voter.votes.labels, voter.votes.answers, strict=True)) == [
        ("ant", False),
        ("bee", True),
    ]
    assert browser.ask({"kind": "undo"})["back"]["label"] == "bee"
    np.testing.assert_allclose(est.soft_labels_of([3])[0], before, atol=1e-6)


def test_soft_labelers_follow_and_learn_again():
    """Also where the estimator fits itself again on the way."""
    est = SoftLabeler(n_neighbors=5, random_state=0).fit(points(), Votes.from_pairs([0, 39], CLASSES))
    browser = Browser(est.vote_here(annotator="ada"))
    for _ in range(25):
        name = browser.ahead[0]["name"]
        browser.vote(int(int(name) >= 20))
    assert browser.reply["problem"] is None
    assert (est.transduction_[:20] == "ant").all()
    assert (est.transduction_[20:] == "bee").all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"which": ["item 99"]}, "item 99"),
        ({"items": ["one"]}, "per fitted item"),
        ({"annotator": "a" * 300}, "200 characters"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(options, words):
    """In the cell that was run, not in the widget."""
    with pytest.raises(InputError, match=words):
        spread().vote_here(**options)


def test_a_vote_needs_two_classes():
    """Before the first vote nobody knows what to ask, unless the classes are given."""
    est = ProbabilisticLabelSpreading(alpha=0.5).fit(points(), np.full(40, -1))
    with pytest.raises(InputError, match="pass classes to fit"):
        est.vote_here()
    assert not hasattr(VoteHistogram(), "vote_here")  # it has no query
