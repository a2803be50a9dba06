"""The blocks of a page escape what they are given."""

import json
import re

import numpy as np
import pytest

from markup import NASTY, Tags
from small_maps import tiny_map, tiny_points
from softspread import report


@pytest.mark.parametrize(
    "block",
    [
        report.heading(NASTY, NASTY),
        report.section(NASTY, note=NASTY),
        report.paragraph(NASTY),
        report.bullets([NASTY]),
        report.code(NASTY),
        report.cards([report.Card(NASTY, NASTY, NASTY)]),
        report.facts({NASTY: NASTY}),
        report.table([NASTY], [[report.Cell(NASTY, NASTY), report.Cell(NASTY, NASTY, best=True)]], NASTY),
        report.histograms({NASTY: np.ones(3)}, NASTY),
        report.item_map(tiny_map(label=NASTY), name="x"),
        report.point_map(tiny_points(label=NASTY), name="x"),
        report.share_histograms({NASTY: np.ones(3)}, NASTY),
        report.curve(
            {NASTY: [report.CurvePoint(0.5, 1.0)], "b": [report.CurvePoint(0.9, 2.0)]}, NASTY, NASTY
        ),
        report.table(["a"], [[report.Cell("a", color=NASTY)]]),
        report.embed_json("x", {NASTY: NASTY}),
        report.page(NASTY, footer=NASTY),
    ],
)
def test_no_text_becomes_markup(block):
    """A text that tries to leave its place stays text in every block."""
    page = Tags(block)
    assert "img" not in page.tags
    assert "onerror" not in page.attributes
    assert NASTY not in block


def test_embedded_json_reads_back():
    """Escaping inside the script element does not change the data."""
    text = report.embed_json("x", {"a": NASTY})
    assert json.loads(re.search(r">(.*)</script>$", text)[1]) == {"a": NASTY}


def test_page_loads_nothing():
    """No element of an empty page points anywhere, and its policy forbids it."""
    text = report.page("t", report.item_map(tiny_map()))
    page = Tags(text)
    assert not {"src", "href", "srcset", "action"} & set(page.attributes)
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src 'none'" in text
