"""What the docs promise about the code holds: formulas, rooms, links."""

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from test_architecture import ORDER

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
GENERATED = (
    "_build",
    "gallery",
    "reference/api",
    "reference/backreferences",
    "reference/cli.md",
)  # by `make docs`
DOCS = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if not page.relative_to(ROOT / "docs").as_posix().startswith(GENERATED)
]
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS, *sorted((ROOT / "benchmarks").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
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
    assert [
        link for link in local if not (page.parent / link).exists() and not made_by_the_site(page, link)
    ] == []


def made_by_the_site(page, link):
    """Whether a link leads to a page that `make docs` writes, which then checks it."""
    target = (page.parent / link).resolve()
    return target.is_relative_to(ROOT / "docs") and target.relative_to(ROOT / "docs").as_posix().startswith(
        GENERATED
    )


def test_the_readme_links_to_pages_that_are_there():
    """Its links are absolute, for package indexes, and each leads to a file of this repository."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    site, repository = urls["Documentation"], urls["Repository"]
    raw = repository.replace("//github.com", "//raw.githubusercontent.com")
    links = re.findall(r"\]\(([^)#\s]+)\)", (ROOT / "README.md").read_text())
    assert len(links) > 5
    for link in links:
        if link.startswith(site):
            page = "docs/" + (link.removeprefix(site) or "index.html")
            assert page.startswith("docs/gallery") or (ROOT / page).with_suffix(".md").exists(), link
        elif link.startswith((repository, raw)):
            path = link.removeprefix(repository).removeprefix(raw).removeprefix("/blob")
            assert (ROOT / path.removeprefix("/main/")).exists(), link
        else:
            assert link.startswith("https://arxiv.org/"), link


def test_measurements_are_drawn_from_stored_runs():
    """Every stored result is on a page, and has its commands with commit and date; no cell is left over."""
    stored = {
        path.stem: json.loads(path.read_text()) for path in (ROOT / "experiments/results").glob("*.json")
    }
    drawn = {name for page in DOCS for name in re.findall(r"\{measurement\} (\w+)", page.read_text())}
    assert drawn == set(stored)
    for name, result in stored.items():
        assert min(len(result["runs"]), len(result["tables"])) > 0, name
        for run in result["runs"]:
            assert re.fullmatch(r"[0-9a-f]{7,40}", run["commit"]), (name, run)
            assert re.fullmatch(r"20\d\d-\d\d-\d\d", run["date"]), (name, run)
            assert re.match(r"(python -m|softspread) ", run["command"]), (name, run)
        for table in result["tables"]:
            assert {len(row) for row in table["rows"]} == {len(table["columns"])}, (name, table["title"])


def test_every_page_is_in_the_contents():
    """A page that no table of contents names cannot be found on the site."""
    listed = {"index"}
    for page in DOCS:
        for block in re.findall(r"```\{toctree\}(.*?)```", page.read_text(), flags=re.DOTALL):
            names = [line for line in block.split("\n") if line and not line.startswith(":")]
            listed |= {(page.parent / name).resolve().relative_to(ROOT / "docs").as_posix() for name in names}
    pages = {page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in DOCS}
    assert pages - listed == set()


def test_the_gallery_has_short_examples_with_pictures():
    """At least 20 scripts under 60 lines, each with a title and a figure; `make docs` runs them all."""
    assert len(EXAMPLES) >= 20
    for path in EXAMPLES:
        text = path.read_text()
        assert path.name.startswith("plot_")
        assert len(text.splitlines()) < 60, path.name
        assert "plt.subplots" in text or ".plot." in text, path.name
        assert re.match(r'"""\n.+\n=+\n.+', text), path.name


def docstring_of(place):
    module, _, names = place.partition(":")
    part = import_module(module)
    for name in names.split("."):
        part = getattr(part, name)
    return part.__doc__


@pytest.mark.parametrize(
    ("registry", "place"),
    [
        ("softspread.diffusion.registry:SOLVERS", "softspread:ProbabilisticLabelSpreading"),
        ("softspread.graph.registry:SEARCHES", "softspread:ProbabilisticLabelSpreading"),
        ("softspread.graph.registry:SEARCHES", "softspread:knn_graph"),
        ("softspread.queries.registry:STRATEGIES", "softspread:ProbabilisticLabelSpreading.query"),
        (
            "softspread.intervals.registry:INTERVALS",
            "softspread:ProbabilisticLabelSpreading.predict_interval",
        ),
        ("softspread.embedding.encoders.registry:ENCODERS", "softspread:embed"),
        ("softspread.embedding.reducers.registry:REDUCERS", "softspread:embed"),
    ],
)
def test_docstrings_name_every_choice(registry, place):
    """Whoever reads help() sees what a parameter takes."""
    module, _, name = registry.partition(":")
    names = getattr(import_module(module), name).names()
    assert [word for word in names if f'"{word}"' not in docstring_of(place)] == []


@pytest.mark.parametrize(
    "registry",
    [
        "softspread.queries.registry:STRATEGIES",
        "softspread.intervals.registry:INTERVALS",
        "softspread.datasets.registry:DATASETS",
        "softspread.embedding.encoders.registry:ENCODERS",
    ],
)
def test_some_page_names_every_choice(registry):
    """A new strategy, method, dataset or encoder is described somewhere."""
    module, _, name = registry.partition(":")
    text = "".join(page.read_text() for page in PAGES)
    assert [word for word in getattr(import_module(module), name).names() if f"`{word}" not in text] == []
