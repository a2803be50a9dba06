"""What the docs promise about the code holds: formulas, rooms, links."""

import re
from pathlib import Path

import pytest

from test_architecture import ORDER

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")])
NAME = re.compile(r"\[([a-z][a-z -]*)\]")


def cited_formulas(text):
    """Names in brackets after the word theory, and at the ends of lines as # [name]."""
    places = re.findall(r"theory:?\s*(?:\[[a-z][a-z -]*\][,\s]*)+|# \[[a-z][a-z -]+\]", text)
    return {name for place in places for name in NAME.findall(place)}


def test_every_cited_formula_is_on_the_formulas_page():
    """A name such as [profile] leads somewhere."""
    defined = set(re.findall(r"\*\*\[([a-z][a-z -]*)\]\*\*", (ROOT / "docs/theory.md").read_text()))
    cited = {name for path in SOURCES for name in cited_formulas(path.read_text())}
    assert len(cited) > 20
    assert cited <= defined


def test_contributing_names_every_room():
    """A newcomer finds each package and top-level module in the table of rooms."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = {name.split(".")[0] for name in ORDER} - {"__main__"}
    assert {room for room in rooms if f"`{room}" not in text} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_hold(page):
    """A relative link names a file that is there."""
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (page.parent / link).exists()] == []
