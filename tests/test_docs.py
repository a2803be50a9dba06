"""What the docs promise about the code holds: formulas, rooms, links, code blocks, commands, routes."""

import json
import re
import shlex
import sys
import tomllib
from importlib import import_module, util
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import softspread
from softspread.cli.app import COMMANDS
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
NEEDS_MORE = {  # a line of the block, and what a test has not got
    'zero_shot("photos/"': "the weights of CLIP",
    'datasets.load("cifar10h"': "a dataset that must be downloaded",
    "client=dask_client": "a cluster",
}
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
            lines = [line for line in block.split("\n") if line and not line.startswith(":")]
            names = [re.sub(r".*<(.+)>", r"\1", line) for line in lines]
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


def code_blocks(page):
    """The blocks of Python on a page, each with its first line."""
    text = page.read_text()
    found = re.finditer(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [(text[: block.start(1)].count("\n"), block[1]) for block in found]


def given():
    """What pages take for granted once they have shown it elsewhere: data, votes, fitted estimators."""
    X, truth = load_digits(return_X_y=True)
    X, rows = X[:200], np.arange(0, 200, 4)
    votes = softspread.Votes.from_pairs(rows, truth[rows])
    est = softspread.ProbabilisticLabelSpreading(alpha=0.9).fit(X, votes)
    return {"X": X, "votes": votes, "est": est, "texts": [f"text {row}" for row in range(200)]}


def write_files(folder, X, votes):
    """A folder of images, their embeddings, and votes on them."""
    image = pytest.importorskip("PIL.Image")
    (folder / "photos").mkdir()
    for row, pixels in enumerate(X.reshape(-1, 8, 8)):
        image.fromarray((pixels * 15).astype(np.uint8)).save(folder / "photos" / f"{row}.png")
    np.save(folder / "X.npy", X)
    lines = [f"{row}.png,{label}" for row, label in zip(votes.items, votes.labels, strict=True)]
    (folder / "votes.csv").write_text("\n".join(["item,label", *lines]))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if code_blocks(page)], ids=lambda page: str(page.relative_to(ROOT))
)
@pytest.mark.filterwarnings("default::softspread.errors.SoftspreadWarning")
def test_the_code_on_a_page_runs(page, tmp_path, monkeypatch):
    """From top to bottom as one script; lines of a traceback are those of the page."""
    names = given()
    write_files(tmp_path, names["X"], names["votes"])
    monkeypatch.chdir(tmp_path)
    for line, block in code_blocks(page):
        code = compile("\n" * line + block, str(page), "exec")
        if not any(part in block for part in NEEDS_MORE):
            try:
                exec(code, names)
            except softspread.MissingExtraError as error:
                pytest.skip(str(error))


def test_what_is_not_run_is_still_there():
    """An exception for a block that has gone would hide the next block like it."""
    blocks = "".join(block for page in PAGES for _, block in code_blocks(page))
    assert [part for part in NEEDS_MORE if part not in blocks] == []


def commands_on(page):
    """Lines that call the program, in blocks and in the text."""
    text = page.read_text().replace("\\\n", " ")
    inline = re.findall(r"`(softspread [a-z][^`\n]*)`", text)
    block = r"^(?:> |\$ |    |   )?(softspread [a-z][^\n]*)$"
    return inline + [
        re.split(r"\s{2,}#|\s#\s", line)[0] for line in re.findall(block, text, flags=re.MULTILINE)
    ]


def tree(command):
    """Commands by name, with the options each takes and the commands below it."""
    options = {word for part in command.params for word in (*part.opts, *part.secondary_opts)}
    return options | {"-h", "--help"}, {
        name: tree(part) for name, part in getattr(command, "commands", {}).items()
    }


@pytest.fixture(scope="module")
def program():
    import typer

    from softspread.cli.app import app

    return tree(typer.main.get_command(app))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if commands_on(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_commands_on_a_page_are_those_of_the_program(page, program):
    """Each command is there and takes each of the options that the page gives it."""
    for line in commands_on(page):
        words = shlex.split(line.replace("...", ""))[1:]
        options, below = program
        taken = set(options)
        while words and words[0] in below:
            options, below = below[words.pop(0)]
            taken |= options
        assert taken is not program[0], line
        given_options = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert given_options <= taken, (line, given_options - taken)


def extension(name):
    """A module of docs/_ext."""
    spec = util.spec_from_file_location(name, ROOT / "docs/_ext" / f"{name}.py")
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_reference_shows_every_command_with_every_option(program):
    """The generated page has a section per command and a line per option that is not hidden."""
    pytest.importorskip("sphinx")
    sections = dict(
        re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", extension("command_line").reference(), re.M | re.S)
    )
    assert {f"softspread {name}" for name in COMMANDS} <= set(sections)

    def check(name, options, below):
        shown = set(re.findall(r"--[a-z][\w-]*", sections[name]))
        assert {option for option in options if option.startswith("--")} <= shown, name
        for short, part in below.items():
            check(f"{name} {short}", *part)

    for name, part in program[1].items():
        check(f"softspread {name}", *part)


def test_the_docs_list_every_route():
    """Each path of the interface is in the table of docs/voting-api.md."""
    pytest.importorskip("fastapi")
    from softspread.web.http.routes import people, project, results, review, voting

    table = (ROOT / "docs/voting-api.md").read_text()
    listed = {re.sub(r"\{\w+\}", "{}", path) for path in re.findall(r"`([a-z][\w/{}-]*)`", table)}
    routes = [route for part in (people, project, results, review, voting) for route in part.router.routes]
    paths = {re.sub(r"\{\w+\}", "{}", route.path).removeprefix("/api/v1/") for route in routes}
    assert len(paths) > 20
    assert {path for path in paths if not {path, path.removesuffix("/{}")} & listed} == set()


def test_names_of_formulas_become_links_outside_code():
    """Each defined name has a target; a name in code, in another link or unknown stays as it is."""
    formulas = extension("formulas")
    page = formulas.with_targets((ROOT / "docs/theory.md").read_text())
    names = set(formulas.DEFINED.findall(page))
    assert len(names) > 20
    assert page.count("(formula-") == len(names)
    text = "by [mass] and [trust](a.md), `[mass]`, [nothing]\n```python\nx[mass]\n```\n"
    linked = formulas.with_links(text, names)
    assert linked == text.replace("by [mass]", "by {ref}`[mass] <formula-mass>`")
