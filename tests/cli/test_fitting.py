"""From options to a fit: priors, unknown votes, and a workspace that computes only what changed."""

import json

import numpy as np
import pandas as pd

from command_line import FILES, N, fitted, refused, run
from softspread import Votes, better_of, classifier_prior
from softspread.io.soft_labels import read_soft_labels


def test_the_second_run_reuses_and_says_so(folder):
    """Same files: graph and fit come from the workspace, with the same result; new votes: only the graph."""
    outputs = [run("spread", *FILES, "-o", f"{k}.parquet", "-w", "ws", "--json") for k in range(2)]
    first, second = (json.loads(result.stdout) for result in outputs)
    assert (first["reused"], second["reused"]) == ([], ["embeddings", "graph", "fit"])
    assert "reused from ws: embeddings, graph, fit" in outputs[1].stderr
    assert (folder / "0.parquet").read_bytes() == (folder / "1.parquet").read_bytes()
    with open("votes.csv", "a") as file:
        file.write("img_000,cat,ann\n")
    third = json.loads(run("spread", *FILES, "-o", "2.parquet", "-w", "ws", "--json").stdout)
    assert third["reused"] == ["embeddings", "graph"]
    assert third["votes"]["used"] == 301
    asked = run("query", *FILES, "-w", "ws", "-n", 3)
    assert "reused from ws: embeddings, graph, fit" in asked.stderr


def test_changed_options_are_not_reused(folder):
    """Another seed, alpha or number of neighbours is another fit."""
    run("spread", *FILES, "-o", "a.parquet", "-w", "ws", "-q")
    changed = {("--alpha", 0.3): True, ("--n-neighbors", 5): False, ("--seed", 1): False}
    for option, same_graph in changed.items():
        document = json.loads(run("spread", *FILES, "-o", "b.parquet", "-w", "ws", "--json", *option).stdout)
        assert "fit" not in document["reused"]
        assert ("graph" in document["reused"]) == same_graph


def test_a_changed_list_of_classes_is_another_fit(folder):
    """Its content counts, not its name; so does the seed where neighbours are chosen."""
    names = folder / "classes.txt"
    options = ("spread", *FILES, "-o", "s.parquet", "-w", "ws", "--json", "--classes", names, "--alpha", 0.5)
    for classes, reuses in (("cat\ndog", False), ("cat\ndog", True), ("dog\ncat\nemu", False)):
        names.write_text(classes)
        document = json.loads(run(*options).stdout)
        assert document["classes"] == classes.split()
        assert ("fit" in document["reused"]) == reuses
    options = (*options, "--n-neighbors", "auto")
    for seed, reuses in ((0, False), (0, True), (1, False)):
        document = json.loads(run(*options, "--seed", seed).stdout)
        assert ("fit" in document["reused"]) == reuses


def test_a_prior_fills_in_where_votes_do_not_reach(folder):
    """A file of predictions by name, in any order of items, counts as so many votes."""
    assert run("spread", *FILES, "-o", "s.parquet", "-q", "--alpha", 0.5).exit_code == 0
    frame = pd.read_parquet("s.parquet").sample(frac=1, random_state=0)
    frame["p_cat"], frame["p_dog"] = 0.9, 0.1
    frame.to_parquet("prior.parquet")
    options = ("--alpha", 0.5, "--prior", "prior.parquet", "--prior-strength", 1e6)
    assert run("spread", *FILES, "-o", "t.parquet", "-q", *options).exit_code == 0
    np.testing.assert_allclose(read_soft_labels("t.parquet").p[:, 0], 0.9, atol=1e-3)
    np.save("prior.npy", np.tile([0.9, 0.1], (N, 1)))
    again = run(
        "spread",
        *FILES,
        "-o",
        "u.parquet",
        "-q",
        "--alpha",
        0.5,
        "--prior",
        "prior.npy",
        "--prior-strength",
        1e6,
    )
    assert again.exit_code == 0, again.output
    np.testing.assert_allclose(read_soft_labels("u.parquet").p, read_soft_labels("t.parquet").p, atol=1e-6)


def test_unknown_votes_are_refused_unless_skipped(folder):
    """Counted and shown, then left out on request, with a warning that is also in the file."""
    with open("votes.csv", "a") as file:
        file.write("stranger,cat,ann\n")
    refused(run("spread", *FILES, "-o", "s.parquet"), "1 of 301 votes name unknown items: 'stranger'")
    result = run("spread", *FILES, "-o", "s.parquet", "--skip-unknown")
    assert result.exit_code == 0
    assert "warning: left out: 1 of 301 votes name unknown items: 'stranger'" in result.stderr
    facts = read_soft_labels("s.parquet").metadata
    assert facts["votes"]["skipped"] == 1
    assert "stranger" in facts["warnings"][0]


def test_a_classifier_of_the_votes_can_be_the_prior(folder):
    """``--prior votes`` looks for no file; it is used where held-out votes gain by it, as the library
    would."""
    assert run("spread", *FILES, "-o", "plain.parquet", "-q").output == ""
    assert run("spread", *FILES, "-o", "helped.parquet", "-q", "--prior", "votes").output == ""
    plain, helped = (read_soft_labels(f"{name}.parquet") for name in ("plain", "helped"))
    assert plain.metadata["parameters"]["prior_strength"] == 1e-4
    data, votes = np.load(folder / "X.npz"), Votes.from_frame(pd.read_csv(folder / "votes.csv"))
    prior = classifier_prior(
        data["embeddings"], votes, item_ids=data["ids"], classes=["cat", "dog"], random_state=0
    )
    auto = {"alpha": "auto", "prior_strength": "auto"}
    est = better_of(fitted(folder, **auto), fitted(folder, **auto, prior=prior))
    assert helped.metadata["parameters"]["prior"] is (est.prior is not None)
    assert helped.metadata["parameters"]["prior_strength"] == est.prior_strength_
    np.testing.assert_allclose(helped.p, est.predict_proba(), atol=1e-6)


def test_a_classifier_that_does_not_help_is_left_out(folder):
    """No line parts a ring from its middle; the run says so. A strength given as a number is obeyed all the
    same."""
    rng = np.random.default_rng(1)
    angle, inside = rng.uniform(0, 2 * np.pi, N), np.arange(N) % 2 == 0
    X = (np.where(inside, 0.3, 2.0) + 0.1 * rng.normal(size=N))[:, None] * np.column_stack(
        [np.cos(angle), np.sin(angle)]
    )
    np.save("ring.npy", X)
    rows = rng.integers(N, size=300)
    pd.DataFrame({"item": rows, "label": np.where(inside[rows], "in", "out")}).to_csv("ring.csv", index=False)
    ring = ("-e", "ring.npy", "-v", "ring.csv", "-o", "s.parquet", "--prior", "votes")
    result = run("spread", *ring)
    assert result.exit_code == 0, result.output
    assert "the classifier of the votes is left out" in result.stderr
    assert read_soft_labels("s.parquet").metadata["parameters"]["prior"] is False
    result = run("spread", *ring, "--prior-strength", 2)
    assert "left out" not in result.stderr
    parameters = read_soft_labels("s.parquet").metadata["parameters"]
    assert (parameters["prior"], parameters["prior_strength"]) == (True, 2.0)
