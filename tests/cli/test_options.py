"""Options: help that names what is installed, numbers and files checked before anything heavy is loaded."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from command_line import FILES, refused, run
from softspread.annotators.models import ANNOTATOR_MODELS
from softspread.cli.commands.serve import VotingOptions
from softspread.cli.options import (
    CHOICES,
    FitOptions,
    GraphOptions,
    IntervalOptions,
    ItemOptions,
    VoteOptions,
    fill_in,
)
from softspread.errors import InputError
from softspread.estimators.methods import METHODS, estimator_of
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.intervals.registry import INTERVALS, OF_ONE_ALPHA
from softspread.io.formats import MULTI_CHOICE, OUTPUT_FORMATS, VOTE_FORMATS
from softspread.queries.registry import STRATEGIES


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("spread", INTERVALS.names()),
        ("spread", OUTPUT_FORMATS),
        ("spread", VOTE_FORMATS),
        ("spread", MULTI_CHOICE),
        ("spread", ANNOTATOR_MODELS),
        ("export", OUTPUT_FORMATS),
        ("query", STRATEGIES.names()),
        ("query", METHODS),
        ("serve", STRATEGIES.names()),
    ],
)
def test_help_names_every_choice(command, names):
    """What may be typed stands in the help."""
    words = run(command, "--help").output.replace(",", " ").replace(".", " ").split()
    assert set(names) <= set(words)


@pytest.mark.parametrize("name", CHOICES)
def test_choices_are_looked_up_when_help_is_shown(name):
    """A text without the name stays as it is; with it, the names of the registry stand there."""
    assert fill_in("no {class} here") == "no {class} here"
    assert "{" not in fill_in(f"One of {{{name}}}.")


@pytest.mark.parametrize("command", ["spread", "query", "serve", "embed"])
def test_help_of_a_command_loads_nothing_heavy(command):
    """Not even where it lists what is installed."""
    code = (
        f"import sys; sys.argv = ['softspread', '{command}', '--help']\n"
        "from softspread.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code in (0, None), end.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'faiss', 'torch'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


FITS = {
    "spread": ["spread", *FILES, "-o", "s.csv"],
    "query": ["query", *FILES],
    "quality": ["quality", *FILES],
    "explain": ["explain", "img_000", *FILES],
}


@pytest.mark.parametrize("command", ["spread", "query"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "best"], "method must be one of auto, blend, pls, got 'best'"),
        (["--n-neighbors", "auto"], "--n-neighbors auto is for --method pls"),
        (["--prior", "votes"], "--prior votes is for --method pls"),
        (["--prior-strength", "2"], "--prior-strength is for --method pls"),
        (["--solver", "cg"], "--solver is for --method pls"),
        (["--method", "pls", "--features", "X.npz"], "--features are for the classifiers of --method blend"),
        (["--features", "none.npz"], "no file at none.npz"),
        (["--features", "votes.csv"], "features may be .npy, .npz, .parquet"),
        (["--alpha", "2"], "--alpha must be at least 0 and below 1, got 2"),
        (["--annotator-model", "best"], "--annotator-model must be one of auto, none"),
    ],
)
def test_options_of_the_other_method_and_wrong_values_are_refused_before_any_work(
    folder, command, options, message
):
    """Nothing is read, and the message says what to do."""
    result = run(*FITS[command], *options)
    refused(result, message)
    assert "embeddings:" not in result.stderr


@pytest.mark.parametrize("interval", OF_ONE_ALPHA)
def test_intervals_of_one_alpha_are_refused_for_a_blend(folder, interval):
    """And taken for the paper's method."""
    result = run(*FITS["spread"], "--interval", interval)
    refused(result, f"--interval {interval} is for --method pls")
    assert "embeddings:" not in result.stderr
    IntervalOptions(interval=interval).check("pls")


@pytest.mark.parametrize("command", ["spread", "quality"])
@pytest.mark.parametrize(
    ("level", "hint"), [("90", "; did you mean 0.9?"), ("0", "."), ("1", "."), ("nan", ".")]
)
def test_a_level_that_is_no_probability_is_refused_before_any_work(folder, command, level, hint):
    """The usual slip gets a hint."""
    result = run(*FITS[command], "--confidence", level)
    refused(result, f"--confidence must be strictly between 0 and 1, got {level}{hint}")
    assert "embeddings:" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["spread", "-e", "no.npy", "-v", "no.csv", "-o", "s.csv"], "no file at no.npy"),
        (["spread", "-e", "X.npy", "-v", "no.csv", "-o", "s.csv"], "no file at no.csv"),
        (["spread", "-e", "X.npy", "-v", "votes.csv", "-o", "s.doc"], "ends in '.doc'"),
        (["query", "-v", "votes.csv"], "--embeddings is missing"),
        (["graph", "-e", "X.npy", "-o", "no/graph"], "there is no folder no"),
        (["tune", "-e", "X.npy"], "--votes is missing"),
        (["export", "s.parquet", "-o", "s.xlsx"], "ends in '.xlsx'"),
    ],
)
def test_wrong_paths_are_refused_before_the_numerical_libraries_are_loaded(folder, arguments, message):
    """A typo costs a tenth of a second, not three."""
    code = (
        f"import sys; sys.argv = ['softspread', *{arguments}]\n"
        "from softspread.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 2, end.code\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'pandas', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert message in done.stderr


def test_options_become_parameters_of_the_estimator():
    """Numbers as numbers, auto as it is; with a prior its strength is chosen."""
    assert GraphOptions(n_neighbors="auto", bandwidth="0.5").parameters == {
        "n_neighbors": "auto",
        "bandwidth": 0.5,
        "index": "auto",
        "metric": "euclidean",
        "n_jobs": None,
    }
    blend = {"alpha": "auto", "annotator_model": "auto"}
    assert FitOptions().parameters == blend
    pls = FitOptions(method="pls")
    assert pls.parameters == blend | {"prior_strength": 1e-4, "solver": "auto"}
    of_votes = replace(pls, prior=Path("votes"))
    assert of_votes.parameters["prior_strength"] == "auto"
    assert replace(of_votes, prior_strength="2").parameters["prior_strength"] == 2.0
    with pytest.raises(InputError, match="--bandwidth must be a number, got 'wide'"):
        _ = GraphOptions(bandwidth="wide").parameters


@pytest.mark.parametrize("method", METHODS)
def test_defaults_are_those_of_the_estimator(method):
    """One default for one question."""
    parameters = GraphOptions().parameters | FitOptions(method=method).parameters
    assert parameters == {name: getattr(estimator_of(method)(), name) for name in parameters}


def test_the_page_has_the_defaults_of_the_estimator():
    """The same votes, the same soft labels."""
    assert VotingOptions().alpha == ProbabilisticLabelSpreading().alpha
    assert VotingOptions().n_neighbors == ProbabilisticLabelSpreading().n_neighbors


def test_files_are_checked_by_their_options(tmp_path):
    """Missing options, missing files, wrong endings."""
    with pytest.raises(InputError, match="--embeddings is missing"):
        ItemOptions().files()
    with pytest.raises(InputError, match="no file at"):
        VoteOptions(votes=[tmp_path / "votes.csv"]).files()
    (tmp_path / "votes.txt").write_text("item,label\n")
    with pytest.raises(InputError, match=r"ends in '\.txt'"):
        VoteOptions(votes=[tmp_path / "votes.txt"]).files()
