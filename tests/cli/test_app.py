"""The command line prints, writes and fails as it says."""

import json
import os
import subprocess
import sys

import pytest
import typer
from sklearn import datasets
from typer.testing import CliRunner

from softspread import __version__, cli, demo, simulate
from softspread.errors import ConvergenceError, InputError, MissingExtraError

ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}


@pytest.fixture
def quick(monkeypatch):
    """The first 300 digits, one setting of each method, soft labels of ten trees, a short layout."""
    pixels, digits = datasets.load_digits(return_X_y=True)
    monkeypatch.setattr(datasets, "load_digits", lambda return_X_y: (pixels[:300], digits[:300]))
    monkeypatch.setattr(simulate, "N_TREES", 10)
    monkeypatch.setattr(demo, "LAYOUT_ROUNDS", 5)
    monkeypatch.setattr(demo, "ALPHAS", (0.9,))
    monkeypatch.setattr(demo, "GAMMAS", (1.0,))
    monkeypatch.setattr(demo, "NEIGHBOR_COUNTS", (5,))


def run(*arguments):
    return CliRunner().invoke(cli.app, list(map(str, arguments)), env=ENVIRONMENT)


def test_the_installed_command_answers_and_stays_light():
    """In a process of its own, help comes without loading the numerical libraries, and version is the
    package's."""
    code = (
        "import sys; sys.argv = ['softspread', '--help']\n"
        "from softspread.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code in (0, None), end.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'faiss'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout
    version = [sys.executable, "-m", "softspread", "--version"]
    assert (
        subprocess.run(version, capture_output=True, text=True, check=True).stdout
        == f"softspread {__version__}\n"
    )


COMMANDS = ["spread", "graph", "tune", "query", "quality", "plan", "explain", "export", "bench", "demo"]


def test_a_late_module_is_loaded_when_it_is_used_and_not_before():
    """scikit-learn asks for scipy.stats when it is loaded; whoever uses it gets it, and only then it
    loads."""
    code = (
        "import sys\n"
        "from softspread.cli.late import load_late\n"
        "load_late('scipy.stats')\n"
        "import softspread.cli.jobs\n"
        "assert 'scipy.stats._stats_py' not in sys.modules\n"
        "import scipy.stats\n"
        "assert abs(scipy.stats.norm.cdf(0.0) - 0.5) < 1e-15\n"
        "from scipy.stats import beta, rankdata\n"
        "assert rankdata([3, 1, 2]).tolist() == [3, 1, 2]\n"
        "import scipy.stats.qmc\n"
        "from sklearn.utils.fixes import _mode\n"
        "assert sys.modules['scipy.stats'].__spec__ is not None\n"
        "load_late('scipy.stats')\n"
        "assert sys.modules['scipy.stats'].__spec__ is not None"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example(name):
    """Whoever reads the help can type something that works, and finds the options that all commands share."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Example: softspread {name}" in " ".join(result.output.split())
    assert {"--json", "--quiet", "--seed", "--debug"} <= set(result.output.replace(",", " ").split())


def test_help_lists_every_command():
    """One line each, none cut off."""
    result = run("--help")
    listed = {line.split()[0] for line in result.output.split("Commands:")[1].splitlines() if line.strip()}
    assert {*COMMANDS, "embed", "serve", "reproduce"} == listed
    assert "..." not in result.output.split("Commands:")[1]
    assert "--install-completion" in result.output


FITTING = ["spread", "graph", "tune", "query", "quality", "explain"]


@pytest.mark.parametrize("name", FITTING)
def test_options_of_the_same_name_are_the_same_option(name):
    """An option that two commands share reads the same, with the same short form."""
    commands = typer.main.get_command(cli.app).commands
    mine = {entry.name: entry for entry in commands[name].params}
    for other in FITTING:
        for entry in commands[other].params:
            if entry.name in mine and entry.name not in ("out", "help"):
                assert (entry.opts, entry.help) == (mine[entry.name].opts, mine[entry.name].help)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(shell):
    """The script for the shell names the program."""
    code = "from softspread.cli import main; main()"
    environment = {**os.environ, "_SOFTSPREAD_COMPLETE": f"source_{shell}"}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.argv[0] = 'softspread'\n{code}"],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert "softspread" in done.stdout
    assert "Traceback" not in done.stderr


def test_demo_prints_the_table_and_writes_the_report(quick, tmp_path):
    """Table and verdict on standard output, progress on standard error, one file in the folder."""
    out = tmp_path / "demo.html"
    result = run("demo", "--draws", 1, "--out", out)
    assert result.exit_code == 0, result.output
    assert "Nearest votes" in result.stdout
    assert "wins" in result.stdout
    assert "4/4" not in result.stdout
    assert "4/4" in result.stderr
    assert os.listdir(tmp_path) == ["demo.html"]
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_same_seed_same_json(quick, tmp_path):
    """Standard output is one JSON document that the seed decides."""
    first, again, other = (
        run("demo", "--draws", 1, "--json", "--quiet", "--seed", seed, "--out", tmp_path / "d.html")
        for seed in (1, 1, 2)
    )
    assert first.stdout == again.stdout
    assert first.stderr == ""
    data = json.loads(first.stdout)
    assert data["seed"] == 1
    assert data["results"] != json.loads(other.stdout)["results"]


def test_quiet_says_nothing(quick, tmp_path):
    """The report is all there is."""
    result = run("demo", "--draws", 1, "--quiet", "--out", tmp_path / "d.html")
    assert (result.exit_code, result.output) == (0, "")
    assert os.listdir(tmp_path) == ["d.html"]


@pytest.mark.parametrize(
    "options",
    [["--draws", "0"], ["--draws", "x"], ["--seed", "-1"], ["--unknown"], ["unexpected"], ["--out"]],
)
def test_bad_options_exit_with_2(options):
    """The parser names the option; nothing is run."""
    result = run("demo", *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr


@pytest.mark.parametrize("name", ["missing/d.html", "file/d.html", "."])
def test_unwritable_output_is_refused_before_any_work(tmp_path, monkeypatch, name):
    """One line on standard error, exit code 2, nothing left behind."""
    monkeypatch.setattr(demo, "run_demo", lambda *_: pytest.fail("worked for nothing"))
    (tmp_path / "file").write_text("")
    result = run("demo", "--out", tmp_path / name)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "cannot write" in result.stderr
    assert "Traceback" not in result.stderr
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("came this, allowed that"), 2),
        (MissingExtraError("install softspread[x]"), 2),
        (ConvergenceError("no"), 1),
        (RuntimeError("a bug"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_errors_become_a_message_and_an_exit_code(monkeypatch, tmp_path, error, code):
    """At most two lines on standard error, no traceback, no file."""

    def fail(*_):
        raise error

    monkeypatch.setattr(demo, "run_demo", fail)
    result = run("demo", "--quiet", "--out", tmp_path / "d.html")
    assert result.exit_code == code
    assert result.stderr.startswith("softspread: ")
    assert str(error) in result.stderr
    assert result.stderr.count("\n") <= 2
    assert os.listdir(tmp_path) == []


def test_debug_lets_the_error_through(monkeypatch, tmp_path):
    """The exception itself reaches Python, which prints its traceback."""

    def fail(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(demo, "run_demo", fail)
    result = run("demo", "--quiet", "--debug", "--out", tmp_path / "d.html")
    assert isinstance(result.exception, RuntimeError)
    assert result.exit_code == 1


def test_the_real_command_fails_politely(tmp_path):
    """In a process of its own, a bad output folder costs one line and exit code 2."""
    command = [sys.executable, "-m", "softspread", "demo", "--out", str(tmp_path / "no" / "d.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("softspread: cannot write")
