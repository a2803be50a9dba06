"""``softspread tune``: the curve of held-out scores."""

import json

from command_line import FILES, run


def test_tune_agrees_with_the_library(folder):
    """The curve with its best point."""
    tuned = json.loads(run("tune", *FILES, "--json").stdout)
    assert tuned["best"]["score"] == min(point["score"] for point in tuned["points"])
    assert "Brier" in (shown := run("tune", *FILES).stdout) or "brier" in shown
