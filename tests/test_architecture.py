"""The order of the layers and a few habits, read from the source itself."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from softspread._common.registry import Registry

SRC = Path(__file__).parents[1] / "src" / "softspread"
FILES = sorted(SRC.rglob("*.py"))
# A dotted name is a file that stands apart from the rest of its package.
ORDER = [
    "errors",
    "_common",
    "metrics",
    "_kernels",
    "votes",
    "graph",
    "diffusion",
    "spreading",
    "heldout",
    "posterior",
    "intervals",
    "tuning",
    "quality",
    "annotators",
    "queries",
    "io.images",  # endings alone: the report and what reads files share them
    "report",
    "plots",
    "notebook",
    "io",
    "estimators.auto",  # runs in blocks choose alpha as estimators do, and estimators fit in blocks
    "blocks",
    "estimators",
    "tuning.against_truth",
    "tuning.tune",
    "estimators.priors",
    "estimators.storage",
    "guarantees",
    "simulate",
    "embedding",
    "datasets",
    "demo",
    "reproduce",
    "web.log",
    "web.project",
    "web.http",
    "web",
    "testing",
    "cli",
    "__main__",
]
RANK = {name: rank for rank, name in enumerate(ORDER)}
PRINTING = {"cli", "__main__"}


def name_of(path):
    """First-level module or package of a file."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def place_of(dotted):
    """The entry of the order that a dotted name below softspread belongs to, or None."""
    parts = dotted.split(".")
    return next((name for name in (".".join(parts[:2]), parts[0]) if name in RANK), None)


def nodes_of(path):
    """All syntax nodes of a file."""
    return list(ast.walk(ast.parse(path.read_text())))


def imported_modules(path):
    """Dotted names of all that a file imports anywhere, also inside functions."""
    dotted = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            dotted += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            dotted.append("." * node.level + (node.module or ""))
            dotted += [f"{node.module}.{alias.name}" for alias in node.names if node.level == 0]
    return set(dotted)


def dotted_name(node):
    """a.b.c of an attribute chain, or an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        front = dotted_name(node.value)
        return f"{front}.{node.attr}" if front else ""
    return ""


def each_of(files):
    return pytest.mark.parametrize("path", files, ids=lambda path: str(path.relative_to(SRC)))


everyfile = each_of(FILES)


def test_there_is_something_to_check():
    """The source was found."""
    assert len(FILES) > 20
    assert {"votes", "graph", "estimators"} <= {name_of(path) for path in FILES}


@everyfile
def test_every_module_has_a_place(path):
    """A new module is put into the order on purpose."""
    assert name_of(path) in {*ORDER, "__init__"}


@each_of(
    [path for path in FILES if name_of(path) != "__init__"]
)  # the public face imports everything, when asked
def test_a_module_imports_only_what_stands_above_it(path):
    """The order of the layers is the order of imports."""
    own = place_of(".".join(path.relative_to(SRC).with_suffix("").parts))
    ours = {
        name.removeprefix("softspread.") for name in imported_modules(path) if name.startswith("softspread.")
    }
    below = {place for place in map(place_of, ours) if place is not None and RANK[place] > RANK[own]}
    assert not below, f"{own} may not import {sorted(below)}: they stand below it"


def module_name(path):
    """Dotted name of a file; a package is its __init__."""
    parts = path.relative_to(SRC.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_used(path, names):
    """Which of the named modules a file imports anywhere; of a package only what it takes from there."""
    used = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found = {f"{node.module}.{alias.name}" for alias in node.names}
            used |= {dotted if dotted in names else node.module for dotted in found}
    return used & names.keys() - {module_name(path)}


def registered_modules(name):
    """Modules that the registries of a module load when asked."""
    registries = [part for part in vars(import_module(name)).values() if isinstance(part, Registry)]
    return {target.partition(":")[0] for registry in registries for target in registry._built_in.values()}


def test_no_two_modules_import_each_other():
    """Neither directly nor through others, also inside functions, for types, or by name in a registry."""
    names = {module_name(path): path for path in FILES if path != SRC / "__init__.py"}
    imports = {name: modules_used(path, names) for name, path in names.items()}
    for name in names:
        if name.endswith(".registry"):
            imports[name] |= registered_modules(name) - {name}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


@each_of([path for path in FILES if path.name == "registry.py" and path.parent.name != "datasets"])
def test_names_of_parts_are_known_without_loading_any(path):
    """`softspread COMMAND --help` lists them, and must stay quick."""
    code = f"import sys, {module_name(path)}; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@everyfile
def test_nothing_is_imported_through_the_public_face(path):
    """`from softspread import Name` is for users; inside, the home module is named."""
    modules = {name_of(file) for file in FILES}
    taken = {
        alias.name
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and node.module == "softspread" and node.level == 0
        for alias in node.names
    }
    assert taken <= modules | {"__version__"}


@everyfile
def test_imports_are_absolute(path):
    """Otherwise the order could not be seen."""
    assert not [name for name in imported_modules(path) if name.startswith(".")]


@each_of([path for path in FILES if name_of(path) != "_kernels"])
def test_only_kernels_are_compiled(path):
    """numba appears in one room."""
    assert not [name for name in imported_modules(path) if name.split(".")[0] == "numba"]


INNER = {"rank", "order", "to_user_order"}
INNER_ARRAYS = {f"graph.{name}" for name in ("indptr", "indices", "weights")}


# A solver works in the inner numbering, so its check does too.
WITHIN_THE_WALL = {path for path in FILES if name_of(path) in {"graph", "diffusion", "_kernels"}} | {
    SRC / "testing" / "solvers.py"
}


@each_of([path for path in FILES if path not in WITHIN_THE_WALL])
def test_the_inner_numbering_stays_inside(path):
    """Only graph, diffusion and the kernels renumber items; everything above speaks the user's rows."""
    nodes = nodes_of(path)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}  # pandas has a method rank()
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    used = {
        node.attr
        for node in attributes
        if node.attr.startswith("inner_")
        or (node.attr in INNER and (node.attr != "rank" or id(node) not in called))
        or (dotted_name(node).split(".", 1)[-1] in INNER_ARRAYS or dotted_name(node) in INNER_ARRAYS)
    }
    assert not used, f"{sorted(used)} speak the inner numbering"


def own_members(room):
    """Names that a room gives to its classes' and modules' own parts."""
    nodes = [node for path in FILES if name_of(path) == room for node in nodes_of(path)]
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    kept = {
        node.attr for node in nodes if isinstance(node, ast.Attribute) and dotted_name(node.value) == "self"
    }
    return defined | bound | kept


@pytest.mark.parametrize("room", sorted({name_of(path) for path in FILES}))
def test_no_room_reaches_into_another(room):
    """What starts with an underscore is used in its own room alone; named tuples' methods are no secrets."""
    own = own_members(room) | {"_replace", "_asdict", "_fields", "_upgrade_revs"}  # the last is alembic's
    used = {
        node.attr
        for path in FILES
        if name_of(path) == room
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    }
    assert used <= own


def test_the_table_of_rooms_is_complete():
    """CONTRIBUTING.md says of every room what is in it."""
    text = (SRC.parents[1] / "CONTRIBUTING.md").read_text()
    listed = set(
        re.findall(r"`([\w.]+?)/?`", "".join(line for line in text.splitlines() if line.startswith("|")))
    )
    assert {name for name in ORDER if "." not in name and name != "__main__"} <= listed


@each_of([path for path in FILES if name_of(path) == "web"])
def test_the_page_has_one_room_for_sql_and_one_for_http(path):
    """A project knows neither."""
    room = path.relative_to(SRC).parts[1]
    used = {name.split(".")[0] for name in imported_modules(path)}
    assert room == "log" or not used & {"sqlalchemy", "alembic", "sqlite3"}
    assert room == "http" or not used & {"fastapi", "starlette", "uvicorn", "jinja2"}


@everyfile
def test_nothing_prints_or_exits_but_the_command_line(path):
    """A library returns and raises."""
    calls = {dotted_name(node.func) for node in nodes_of(path) if isinstance(node, ast.Call)}
    if name_of(path) not in PRINTING:
        assert not calls & {"print", "sys.exit", "exit", "quit", "os._exit", "breakpoint"}
        assert not [
            n
            for n in nodes_of(path)
            if isinstance(n, ast.Raise) and n.exc and "SystemExit" in ast.dump(n.exc)
        ]


@everyfile
def test_randomness_comes_from_generators(path):
    """No function of numpy's global generator, no `random` module."""
    legal = {
        "np.random.Generator",
        "np.random.default_rng",
        "np.random.SeedSequence",
        "np.random.RandomState",
    }
    used = {dotted_name(node) for node in nodes_of(path) if isinstance(node, ast.Attribute)}
    assert not {name for name in used if name.startswith(("np.random.", "numpy.random."))} - legal
    assert "random" not in imported_modules(path)


@everyfile
def test_nothing_is_unpickled(path):
    """Files are read without running what they hold.

    One file has an unpickler of its own, which maps the few names that it knows to its own containers.
    """
    if path == SRC / "datasets" / "cifar_pickle.py":
        used = {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}
        assert not used & {"load_build", "loads", "getattr", "import_module"}
        assert "find_class" in {node.name for node in nodes_of(path) if isinstance(node, ast.FunctionDef)}
        assert "super" not in {node.id for node in nodes_of(path) if isinstance(node, ast.Name)}
        return
    assert not {"pickle", "joblib", "dill", "shelve"} & {
        name.split(".")[0] for name in imported_modules(path)
    }
    calls = [
        node for node in nodes_of(path) if isinstance(node, ast.Call) and dotted_name(node.func) == "np.load"
    ]
    for call in calls:
        allowed = {
            keyword.arg: ast.literal_eval(keyword.value)
            for keyword in call.keywords
            if keyword.arg != "mmap_mode"
        }
        assert allowed.get("allow_pickle") is False


@everyfile
def test_no_text_is_cut_off(path):
    """A string on a line of its own that is no docstring was meant to go on the line before."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in nodes_of(path):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            lines = body[isinstance(node, documented) :]
            values = [line.value for line in lines if isinstance(line, ast.Expr)]
            assert not [v for v in values if isinstance(v, ast.JoinedStr)]
            assert not [v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]


WITHOUT_OWN_TESTS = {
    "_common/kinds.py": "names of kinds; every test of a kind uses them",
    "errors.py": "names of errors; every test of a refusal uses them",
    "report/script.py": "the page's JavaScript; tests of maps and points read the data it gets",
    "report/style.py": "the page's style",
    "web/log/models.py": "tables, which tests/web/log/test_store.py compares with the migrations",
    "web/log/migrations/versions/v0001_first.py": "tests/web/log/test_store.py compares it with the tables",
}


@each_of([path for path in FILES if path.name != "__init__.py"])
def test_every_module_has_its_own_tests(path):
    """tests/room/test_file.py for room/file.py, but for modules that hold data alone."""
    own = path.relative_to(SRC)
    tests = Path(__file__).parent / own.parent / f"test_{own.stem.strip('_')}.py"
    assert tests.exists() != (own.as_posix() in WITHOUT_OWN_TESTS)


@everyfile
def test_every_module_says_what_it_is_for(path):
    """A docstring opens each file."""
    assert ast.get_docstring(ast.parse(path.read_text()))


# What only users call: named in the docs, and in nothing of ours
FOR_USERS = {"interval_coverage", "held_out_quality"}


def words_in(nodes):
    """All names that are used, also as attributes, in imports and as "module:name" in a registry."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.rpartition(":")[2]


def test_no_function_or_class_is_left_over():
    """Each is used somewhere in the source, or is for users; tests alone keep nothing alive."""
    used = FOR_USERS | {word for path in FILES for word in words_in(nodes_of(path))}
    left = [
        f"{path.relative_to(SRC)}: {node.name}"
        for path in FILES
        if "migrations" not in path.parts  # alembic finds its steps by name
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not node.decorator_list and node.name not in used
        if not (node.name.startswith("__") or node.name.startswith("search_"))  # registered as search_{name}
    ]
    assert not left


def test_importing_the_package_is_quick_work():
    """`import softspread` loads none of the heavy libraries."""
    heavy = ("sklearn", "numba", "faiss", "scipy", "pandas")
    code = f"import sys, softspread; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_an_estimator_leaves_out_what_only_some_fits_need():
    """numba comes with the first compiled loop, scipy.stats with the first of its functions."""
    heavy = ("numba", "scipy.stats", "sklearn.linear_model", "sklearn.metrics", "faiss")
    code = (
        "import sys, softspread; softspread.SoftLabeler, softspread.ProbabilisticLabelSpreading; "
        f"print([m for m in {heavy} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_exists_and_is_listed():
    """__all__ can be imported, name by name, and dir shows it."""
    import softspread

    for name in softspread.__all__:
        assert getattr(softspread, name) is not None
    assert set(softspread.__all__) <= set(dir(softspread))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        softspread.nonsense  # noqa: B018
