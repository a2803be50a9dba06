"""The project without HTTP: votes become soft labels, on both databases, and nothing is lost by a restart."""

import time

import numpy as np
import pytest

from softspread.errors import InputError
from softspread.web.project.analyst import Analyst
from web.conftest import (
    CLASSES,
    item_names,
    make_service,
    running,
    vote,
    wait_until_applied,
)


def test_explain_gives_shares_that_sum_to_one(service):
    """Votes and other sources together are the whole of a soft label, by class; the own vote weighs most."""
    for row in range(12):
        vote(service, "ann", f"item-{row:03d}", CLASSES[row % 3], f"k{row}")
    wait_until_applied(service)
    reasons = service.explain(3, top=100)
    assert sum(reason["weight"] for reason in reasons) == pytest.approx(1.0)
    assert (reasons[0]["source"], reasons[0]["item"], reasons[0]["annotator"]) == (
        "own vote",
        "item-003",
        "ann",
    )
    share = [sum(r["weight"] for r in reasons if r["label"] == name) for name in CLASSES]
    np.testing.assert_allclose(service.soft_labels([3])[0]["p"], share, atol=1e-5)
    assert all((reason["row"] is None) == ("vote" not in reason["source"].split()) for reason in reasons)


def test_votes_brought_along_are_taken_in_once(tmp_path):
    """The same file at the next start adds nothing; nobody's votes may repeat."""
    for new in (4, 0):
        with running(tmp_path, auth=False) as service:
            items, labels = ["item-000", "item-000", "item-001", "item-002"], ["ant", "bee", "bee", "cat"]
            assert service.import_votes(items, labels, None, None, "mark") == new
            assert service.counts()["votes"] == 4


def test_gold_answers_must_name_known_items_and_classes(tmp_path):
    """A misspelt gold file is found at once."""
    with pytest.raises(InputError, match="no item 'nonsense'"):
        make_service(tmp_path, gold=(("nonsense", "ant"),))
    with pytest.raises(InputError, match="no class 'dog'"):
        make_service(tmp_path, gold=(("item-000", "dog"),))


def test_search_finds_parts_of_ids_and_the_exact_one_first(service):
    """Whatever the case, and dots are dots."""
    assert service.search("ITEM-01").tolist() == list(range(10, 20))
    assert service.search("item-0.1").tolist() == []
    assert service.search("", 5, 3).tolist() == [5, 6, 7]
    assert len(item_names()) == len(service.search("item", 0, 1000))


def test_the_map_has_no_values_before_the_first_look(service):
    """As for a moment after a change: the page asks again."""
    deadline = time.monotonic() + 30
    while service.map is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(service.map_values()) == 10 * len(service.items)
    service.analyst = Analyst(service.state, service.history, {}, lambda: None)
    assert service.map_values() == b""
