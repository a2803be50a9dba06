"""Running the command line in a test, on small files, and what a refusal looks like."""

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from softspread import Votes
from softspread.cli.app import app
from softspread.estimators.methods import estimator_of

ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
N = 150  # items of the fixture `folder`
FILES = ("-e", "X.npz", "-v", "votes.csv")


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), env=ENVIRONMENT)


def fitted(folder, method="auto", features=None, **settings):
    """What the library says about the same files."""
    data = np.load(folder / "X.npz")
    votes = Votes.from_frame(pd.read_csv(folder / "votes.csv"))
    est = estimator_of(method)(**{"random_state": 0, **settings})
    more = {} if features is None else {"features": features}
    return est.fit(data["embeddings"], votes, item_ids=data["ids"], classes=["cat", "dog"], **more)


def refused(result, message):
    """One or two lines on standard error, exit code 2, nothing on standard output."""
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert (
        result.stderr.splitlines()[-1].startswith(("softspread: ", "Run again")) or message in result.stderr
    )
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
