"""The program lists its commands, answers at once, and shares its options."""

import os
import subprocess
import sys

import pytest
import typer

from command_line import run
from softspread import __version__
from softspread.cli.app import app


def test_the_installed_command_answers_and_stays_light():
    """In a process of its own, help comes without loading the numerical libraries, and version is the
    package's."""
    code = (
        "import sys; sys.argv = ['softspread', '--help']\n"
        "from softspread.cli.app import main\n"
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
COMMANDS += ["embed", "serve", "reproduce", "dcic"]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example(name):
    """Whoever reads the help can type something that works, and finds the options that all commands share."""
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Example: softspread {name}" in " ".join(result.output.split())
    assert {"--json", "--quiet", "--seed", "--debug", "--workspace"} <= set(
        result.output.replace(",", " ").split()
    )


def test_help_lists_every_command():
    """One line each, none cut off."""
    result = run("--help")
    listed = {line.split()[0] for line in result.output.split("Commands:")[1].splitlines() if line.strip()}
    assert set(COMMANDS) == listed
    assert "..." not in result.output.split("Commands:")[1]
    assert "--install-completion" in result.output


def test_help_is_in_groups_with_the_common_options_first():
    """What every run needs, then one section for each group of options, under what it is about."""
    text = run("spread", "--help").output
    headings = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings[:3] == [
        "Options",
        "Where the items come from",
        "Where the votes come from, and how they are read",
    ]
    assert headings[-1] == "The options of every command"
    first = text.split("\nOptions:\n")[1].split("\n\n")[0]
    names = [line.split(" <")[0].split()[-1] for line in first.splitlines() if line.startswith("  -")]
    assert first.split()[1] == "--embeddings"
    assert [word for word in ("--votes", "--out", "--report", "--json") if word not in first] == []
    assert text.count("--threads <") == 1
    assert len(names) < 16


FITTING = ["spread", "graph", "tune", "query", "quality", "explain"]


@pytest.mark.parametrize("name", FITTING)
def test_options_of_the_same_name_are_the_same_option(name):
    """An option that two commands share reads the same, with the same short form."""
    commands = typer.main.get_command(app).commands
    mine = {entry.name: entry for entry in commands[name].params}
    for other in FITTING:
        for entry in commands[other].params:
            if entry.name in mine and entry.name not in ("out", "help"):
                assert (entry.opts, entry.help) == (mine[entry.name].opts, mine[entry.name].help)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown(shell):
    """The script for the shell names the program."""
    code = "from softspread.cli.app import main; main()"
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
