"""``softspread plan``: what the theory asks for."""

import json

from command_line import refused, run


def test_plan_answers(folder):
    """The text of the plan, and its numbers as JSON."""
    document = json.loads(run("plan", "-d", 1, "--epsilon", 0.3, "--json").stdout)
    assert document["holds"]
    assert document["n_items"] > 0
    assert "Guaranteed" in run("plan", "-d", 1, "--epsilon", 0.3).stdout
    refused(run("plan", "-d", 1, "--epsilon", 2), "epsilon")
