"""What a release must pass, in clean environments: `make release-check`, described in RELEASE.md.

wheel and sdist  ->  newest dependencies on each Python, lowest on the oldest  ->  size and licences
"""

import os
import sys
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13", "3.14"]  # those that this machine lacks are skipped, and named
MOST_MEGABYTES = 600  # of an install without extras, with the bytecode that pip writes
ALLOWED_LICENCES = ("Apache", "BSD", "ISC", "MIT", "MPL", "PSF", "Python Software Foundation", "0BSD")
HERE = Path(__file__).parent
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = False
# pyenv's interpreters, behind those of the path
os.environ["PATH"] += "".join(
    f"{os.pathsep}{p}" for p in sorted(Path.home().glob(".pyenv/versions/3.1*/bin"))
)


def wheel() -> str:
    """The one wheel that the session `build` made."""
    found = sorted((HERE / "dist").glob("*.whl"))
    if len(found) != 1:
        sys.exit(f"dist/ must hold one wheel, found {len(found)}; run the session build first.")
    return str(found[0])


@nox.session
def build(session: nox.Session) -> None:
    """Wheel and sdist, in the form that a package index accepts; the sdist builds the same wheel."""
    session.install("build", "twine")
    for old in (HERE / "dist").glob("*"):
        old.unlink()
    session.run("python", "-m", "build")  # the wheel is built from the sdist
    session.run("twine", "check", "--strict", *map(str, (HERE / "dist").glob("*")))


def run_tests(session: nox.Session) -> None:
    """The tests against the installed wheel: nothing of src/ is on the path."""
    home = session.run(
        "python", "-c", "import softspread; print(softspread.__file__)", silent=True, env=ONE_THREAD
    )
    if str(HERE / "src") in str(home):
        session.error(f"the tests would run {home}, not the wheel.")
    given = session.posargs or ["tests", "-n", "auto", "--dist", "loadgroup"]
    session.run("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *given, env=ONE_THREAD)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The wheel with the newest dependencies."""
    session.install(f"{wheel()}[test]")
    run_tests(session)


@nox.session(python=PYTHONS[0])
def lowest(session: nox.Session) -> None:
    """The wheel with the lowest versions that pyproject.toml allows."""
    # of a wheel, uv would take the dependencies for indirect ones, and their newest versions
    session.install("--resolution", "lowest-direct", "-r", "pyproject.toml", "--extra", "test")
    session.install("--no-deps", wheel())
    run_tests(session)


@nox.session(python=PYTHONS[0])
def install(session: nox.Session) -> None:
    """The wheel alone: it starts, its size, and the licences of what comes with it."""
    session.install("--compile-bytecode", wheel())
    session.run("softspread", "--version")
    session.run("softspread", "spread", "--help", silent=True)
    where = session.run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", silent=True)
    sizes = {part.name: size_of(part) for part in Path(str(where).strip()).iterdir()}
    for name, size in sorted(sizes.items(), key=lambda pair: -pair[1])[:12]:
        session.log(f"{size:7.1f} MB  {name}")
    total = sum(sizes.values())
    session.log(f"{total:7.1f} MB  in all, at most {MOST_MEGABYTES} allowed")
    list_licences(session)
    if total > MOST_MEGABYTES:
        session.error(f"an install without extras takes {total:.0f} MB, more than {MOST_MEGABYTES}.")


def size_of(path: Path) -> float:
    """Megabytes of a file or folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def list_licences(session: nox.Session) -> None:
    """Print the licence of every dependency; one that is not permissive is an error."""
    python = str(Path(session.virtualenv.location) / "bin" / "python")
    session.run("uvx", "pip-licenses", "--python", python, "--format", "plain", external=True)
    session.run(
        *("uvx", "pip-licenses", "--python", python, "--partial-match"),
        *("--ignore-packages", "softspread", "--allow-only", ";".join(ALLOWED_LICENCES)),
        external=True,
        silent=True,
    )
