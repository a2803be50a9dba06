"""What one vote says: one class, or yes and no for several."""

import threading

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.votes.table import VoteTable
from softspread.web.log.answers import Answers, Choice, Toggles


def test_one_class_per_vote_is_its_own_number():
    """Earlier names lead to the present class; there is one question, about which every vote speaks."""
    answers = Answers(["feline", "dog"], {"cat": "feline"})
    assert [answers.number(name) for name in ("cat", "feline", "dog", "cow", None)] == [0, 0, 1, -1, -1]
    votes = VoteTable(np.array([3]), np.array([1]), np.ones(1))
    assert answers.about(votes, 0) is votes
    assert answers.choice(1) == "dog"
    assert answers.counts(np.array([1, 1, 0])).tolist() == [1, 2]
    with pytest.raises(InputError, match="send a label"):
        answers.text_of(Choice(["dog"]))


def test_every_set_of_toggles_is_read_back_as_it_was_written():
    """More sets than the first room holds, from several threads at once: each has one number."""
    answers = Toggles("abcde")
    said = []
    for code in range(3**5):
        states = [code // 3**place % 3 for place in range(5)]
        parts = [
            [n for n, state in zip("abcde", states, strict=True) if state == wanted] for wanted in (1, 2)
        ]
        if any(parts):
            said.append(Choice(*parts))
    texts = [answers.text_of(choice) for choice in said]
    found = []

    def read():
        found.append([answers.number(text) for text in texts])

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [found[0]] * 4
    assert len(set(found[0])) == 3**5 - 1
    assert [answers.choice(number) for number in found[0]] == said
    for question, name in enumerate("abcde"):
        expected = [1 if name in one.yes else 0 if name in one.no else -1 for one in said]
        assert answers.said(np.array(found[0]), question).tolist() == expected


def test_what_is_left_off_is_a_no_or_nothing():
    """As the project was started; a list of noes says it for itself."""
    assert Toggles("ab").text_of(Choice(["b"])) == '{"yes":["b"],"no":["a"]}'
    assert Toggles("ab", rest="nothing").text_of(Choice(["b"])) == '{"yes":["b"],"no":[]}'
    assert Toggles("ab").text_of(Choice(["b"], [])) == '{"yes":["b"],"no":[]}'


def test_an_answer_says_nothing_about_a_class_that_came_later():
    """And an answer about classes that are gone is about nothing that is known."""
    text = Toggles("ab").text_of(Choice(["b"]))
    later = Toggles(["c", "B", "a"], {"b": "B"})
    number = later.number(text)
    assert later.choice(number) == Choice(["B"], ["a"])
    votes = VoteTable(np.array([4, 5]), np.array([number, number]), np.array([1.0, -1.0]))
    assert len(later.about(votes, 0)) == 0
    about = later.about(votes, 1)
    assert (about.rows.tolist(), about.columns.tolist(), about.weights.tolist()) == ([4, 5], [1, 1], [1, -1])
    assert later.counts(np.array([number])).tolist() == [0, 1, 0]
    assert Toggles("xy").number(text) == -1
    assert Toggles("xy").said(np.array([-1]), 0).tolist() == [-1]


def test_a_suggestion_names_every_class_with_at_least_one_half():
    """Of one class per vote the leading one."""
    shares = {"a": 0.9, "b": 0.5, "c": 0.2}
    several = Toggles("abc")
    assert several.choice(several.suggested(shares)) == Choice(["a", "b"], ["c"])
    assert Answers("abc").suggested(shares) == 0


def test_a_log_of_another_kind_is_refused_with_a_word_on_what_to_do():
    """In both directions."""
    text = Toggles("ab").text_of(Choice(["b"]))
    with pytest.raises(InputError, match="--kind multilabel"):
        Answers("ab").number(text)
    with pytest.raises(InputError, match="without --kind multilabel"):
        Toggles("ab").number("a")
