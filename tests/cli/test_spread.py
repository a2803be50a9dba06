"""Files in, soft labels out: the commands agree with the library, and bad input costs a line and exit code
2."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from softspread import ProbabilisticLabelSpreading, Votes, better_of, classifier_prior, cli
from softspread.io.soft_labels import read_soft_labels

ENVIRONMENT = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
N = 150


def run(*arguments):
    return CliRunner().invoke(cli.app, list(map(str, arguments)), env=ENVIRONMENT)


@pytest.fixture
def folder(tmp_path):
    """Two groups of items with ids, and votes by two annotators; the current folder of the test."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    X = rng.normal(size=(N, 3)) + 4 * group[:, None]
    ids = np.array([f"img_{row:03d}" for row in range(N)])
    np.savez(tmp_path / "X.npz", embeddings=X, ids=ids)
    np.save(tmp_path / "X.npy", X)
    rows = rng.integers(N, size=300)
    labels = np.where(rng.random(300) < 0.9, group[rows], 1 - group[rows])
    frame = pd.DataFrame({"item": ids[rows], "label": np.array(["cat", "dog"])[labels]})
    frame["annotator"] = np.where(np.arange(300) % 2, "ann", "bob")
    frame.to_csv(tmp_path / "votes.csv", index=False)
    before = os.getcwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)


FILES = ("-e", "X.npz", "-v", "votes.csv")


def fitted(folder, **settings):
    """What the library says about the same files."""
    data = np.load(folder / "X.npz")
    votes = Votes.from_frame(pd.read_csv(folder / "votes.csv"))
    est = ProbabilisticLabelSpreading(**{"random_state": 0, **settings})
    return est.fit(data["embeddings"], votes, item_ids=data["ids"], classes=["cat", "dog"])


def test_spread_agrees_with_the_library(folder):
    """Soft labels, evidence and intervals are those of the estimator, item by item; the summary names the
    choice."""
    result = run("spread", *FILES, "-o", "s.parquet")
    assert result.exit_code == 0, result.output
    est = fitted(folder, alpha="auto")
    found = read_soft_labels("s.parquet")
    assert found.ids.tolist() == [f"img_{row:03d}" for row in range(N)]
    np.testing.assert_allclose(found.p, est.predict_proba(), atol=1e-6)
    np.testing.assert_allclose(found.evidence, est.evidence_, rtol=1e-6)
    np.testing.assert_allclose(found.lower, est.predict_interval()[0], atol=1e-6)
    assert f"alpha     {est.alpha_:g}, chosen: lowest" in result.stdout
    assert "300 votes" in result.stdout
    assert "spreading" in result.stderr
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "s.parquet", "votes.csv"]


def test_the_file_carries_parameters_versions_counts_and_graph_facts(folder):
    """Whoever has the file knows how it was made."""
    assert run("spread", *FILES, "-o", "s.parquet", "--alpha", 0.5, "--seed", 3, "-q").output == ""
    facts = read_soft_labels("s.parquet").metadata
    assert facts["parameters"]["alpha"] == 0.5
    assert facts["parameters"]["random_state"] == 3
    assert facts["votes"]["used"] == 300
    assert facts["votes"]["annotators"] == 2
    assert facts["graph"]["components"] == fitted(folder).graph_.n_components
    assert {"softspread", "numpy", "scipy"} <= set(facts["versions"])
    assert facts["classes"] == ["cat", "dog"]


def test_same_inputs_same_bytes(folder):
    """Nothing in the output depends on the clock."""
    contents = []
    for _ in range(2):
        assert run("spread", *FILES, "-o", "s.parquet", "-q").exit_code == 0
        contents.append((folder / "s.parquet").read_bytes())
    assert contents[0] == contents[1]


def test_json_is_one_document(folder):
    """Standard output is JSON alone, with the choice and its reason."""
    result = run("spread", *FILES, "-o", "s.csv", "--json", "-q")
    document = json.loads(result.stdout)
    assert result.stderr == ""
    assert document["out"] == ["s.csv", "s.csv.meta.json"]
    assert "held-out votes" in document["chosen_by"]
    assert sum(document["verdicts"].values()) == N


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


# -------------------------------------------------------------------------------------------------- workspace
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


def test_a_workspace_brings_options_and_the_command_line_wins(folder):
    """Paths start at the workspace; a name that no command has is refused."""
    (folder / "ws").mkdir()
    settings = (
        'embeddings = "../X.npz"\nvotes = "../votes.csv"\nout = "soft.csv"\nalpha = 0.25\nn-neighbors = 7\n'
    )
    (folder / "ws" / "softspread.toml").write_text(settings + "batch-size = 2\nskip-unknown = true\n")
    document = json.loads(run("spread", "-w", "ws", "--json", "--n-neighbors", 8).stdout)
    assert document["parameters"]["alpha"] == 0.25
    assert document["parameters"]["n_neighbors"] == 8
    assert (folder / "ws" / "soft.csv").is_file()
    assert len(json.loads(run("query", "-w", "ws", "--json").stdout)["items"]) == 2
    for content, message in {
        "alphabet = 0.25": "no command has an option 'alphabet'",
        "skip-unknown = 1": "skip-unknown must be true or false, got 1",
        'seed = "x"': "seed must be a whole number, got 'x'",
    }.items():
        (folder / "ws" / "softspread.toml").write_text(content)
        refused(run("spread", "-w", "ws"), message)


# --------------------------------------------------------------------------------------------- other commands
def test_query_names_items_that_exist_and_leaves_out_the_excluded(folder):
    """Ids of the file, each once; the CSV can be handed to annotators."""
    (folder / "done.txt").write_text("".join(f"img_{row:03d}\n" for row in range(N - 5)))
    result = run("query", *FILES, "-n", 5, "--exclude", "done.txt", "--out", "next.csv", "--json")
    picked = [row["item"] for row in json.loads(result.stdout)["items"]]
    assert sorted(picked) == [f"img_{row:03d}" for row in range(N - 5, N)]
    assert pd.read_csv("next.csv")["item"].tolist() == picked
    assert run("query", *FILES, "-n", 2, "-o", "next.json", "-q").exit_code == 0
    assert len(json.loads((folder / "next.json").read_text())) == 2
    assert run("query", *FILES, "-n", 2, "-o", "next.jsonl", "-q").exit_code == 0
    assert len((folder / "next.jsonl").read_text().splitlines()) == 2
    refused(run("query", *FILES, "-o", "next.xlsx"), "items may be .csv")
    for wrong in (("--strategy", "best"), ("--exclude", "nobody.txt")):  # before anything is read or fitted
        result = run("query", *FILES, *wrong)
        refused(result, wrong[1])
        assert "embeddings:" not in result.stderr
    assert "Vote on these next" in run("query", *FILES, "-n", 2).stdout


def test_explain_agrees_with_the_library(folder):
    """The heaviest votes, their weights, and the soft label."""
    result = run("explain", "img_004", *FILES, "--alpha", 0.8, "--top", 4, "--json")
    document = json.loads(result.stdout)
    est = fitted(folder, alpha=0.8)
    expected = est.explain("img_004", 4)
    assert [row["item"] for row in document["votes"]] == expected["item"].tolist()
    np.testing.assert_allclose([row["weight"] for row in document["votes"]], expected["weight"])
    assert document["soft_label"]["cat"] == pytest.approx(est.predict_proba()[4, 0])
    assert "heaviest votes" in run("explain", "img_004", *FILES, "--alpha", 0.8).stdout
    refused(run("explain", "img_999", *FILES, "--alpha", 0.8), "'img_999' are not among the 150 item ids")


def test_quality_and_tune_agree_with_the_library(folder):
    """Estimates with intervals; the curve with its best point."""
    document = json.loads(run("quality", *FILES, "--alpha", 0.5, "--json").stdout)
    found = fitted(folder, alpha=0.5).quality(random_state=0)
    assert document["measures"]["agreement"]["value"] == pytest.approx(found.agreement.value)
    assert document["source"] == "held out"
    assert "further vote" in run("quality", *FILES, "--alpha", 0.5).stdout
    tuned = json.loads(run("tune", *FILES, "--json").stdout)
    assert tuned["best"]["score"] == min(point["score"] for point in tuned["points"])
    assert "Brier" in (shown := run("tune", *FILES).stdout) or "brier" in shown


def test_quality_by_votes_set_apart(folder):
    """Votes that were not used judge the labels."""
    (folder / "test.csv").write_text(
        "item,label\n" + "".join(f"img_{row:03d},cat\n" * 3 for row in range(0, 60, 2))
    )
    document = json.loads(run("quality", *FILES, "--alpha", 0.5, "--test-votes", "test.csv", "--json").stdout)
    assert document["source"] == "set apart"
    assert document["n_votes"] == 90


def test_graph_describes_and_saves(folder):
    """The saved graph loads in Python."""
    from softspread import Graph

    document = json.loads(
        run("graph", "-e", "X.npy", "--n-neighbors", 6, "--out", "g.softspread", "--json").stdout
    )
    assert document["n_neighbors"] == 6
    assert Graph.load("g.softspread").n_edges == 2 * document["edges"]
    assert "150 items" in run("graph", "-e", "X.npy").stdout
    refused(run("graph", "-e", "X.npy", "--n-neighbors", "auto"), "must be a whole number here")


def test_export_converts_and_keeps_the_facts(folder):
    """Parquet to CSV and back is the same file of labels."""
    run("spread", *FILES, "-o", "s.parquet", "-q")
    before = read_soft_labels("s.parquet")
    for source, target in (("s.parquet", "s.csv"), ("s.csv", "folder"), ("folder", "back.parquet")):
        result = run("export", source, "--out", target)
        assert result.exit_code == 0, result.output
    after = read_soft_labels("back.parquet")
    np.testing.assert_allclose(after.p, before.p, atol=1e-7)
    assert after.metadata == before.metadata
    document = json.loads(
        run(
            "export", "s.parquet", "-o", "w.csv", "--format", "weighted", "--least-evidence", 0.5, "--json"
        ).stdout
    )
    assert document["n_items"] == int((before.evidence >= 0.5).sum())
    assert len(pd.read_csv("w.csv")) == 2 * document["n_items"]


def test_plan_answers(folder):
    """The text of the plan, and its numbers as JSON."""
    document = json.loads(run("plan", "-d", 1, "--epsilon", 0.3, "--json").stdout)
    assert document["holds"]
    assert document["n_items"] > 0
    assert "Guaranteed" in run("plan", "-d", 1, "--epsilon", 0.3).stdout
    refused(run("plan", "-d", 1, "--epsilon", 2), "epsilon")


def test_bench_compares_equal_labels(folder):
    """Both ways give the same soft labels."""
    document = json.loads(run("bench", "--n-items", 200, "--n-votes", 20, "--n-classes", 3, "--json").stdout)
    assert document["largest_difference"] < 1e-3
    assert document["fit_seconds"] > 0
    assert "times as fast" in run("bench", "--n-items", 200, "--n-votes", 20).stdout


def test_report_is_written_with_thumbnails(folder):
    """One page, with pictures where a folder has them."""
    image = pytest.importorskip("PIL.Image")
    (folder / "images").mkdir()
    for row in range(N):
        image.new("RGB", (9, 9)).save(folder / "images" / f"img_{row:03d}.png")
    result = run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--images", "images")
    assert result.exit_code == 0, result.output
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert text.count("data:image/jpeg") >= 12
    assert "Why this alpha" in text
    refused(
        run("spread", *FILES, "-o", "s.csv", "--report", "r.html", "--images", "none"), "no folder of images"
    )


def test_dry_run_reads_little_and_writes_nothing(folder):
    """Shape, time and memory are told."""
    document = json.loads(run("spread", *FILES, "--dry-run", "--json").stdout)
    assert (document["n_items"], document["n_dimensions"], document["n_votes"]) == (N, 3, 300)
    assert document["expected_seconds"] > 0
    assert document["expected_memory_bytes"] > 0
    assert "factor of two" in run("spread", *FILES, "--dry-run").stdout
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "votes.csv"]


# -------------------------------------------------------------------------------------------------- bad input
def refused(result, message):
    """One or two lines on standard error, exit code 2, nothing on standard output."""
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert (
        result.stderr.splitlines()[-1].startswith(("softspread: ", "Run again")) or message in result.stderr
    )
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-v", "votes.csv", "-o", "s.csv"), "--embeddings is missing"),
        (("-e", "X.npz", "-o", "s.csv"), "--votes is missing"),
        (FILES, "--out is missing"),
        (("-e", "none.npy", "-v", "votes.csv", "-o", "s.csv"), "no file at none.npy"),
        (("-e", "X.npz", "-v", "none.csv", "-o", "s.csv"), "no file at none.csv"),
        (("-e", "votes.csv", "-v", "votes.csv", "-o", "s.csv"), "embeddings may be .npy, .npz, .parquet"),
        (("-e", "X.npy", "-v", "votes.csv", "-o", "s.csv"), "the embeddings have no ids"),
        ((*FILES, "-o", "no/s.csv"), "there is no folder no"),
        ((*FILES, "-o", "s.doc"), "ends in '.doc'"),
        ((*FILES, "-o", "s.csv", "--report", "no/r.html"), "there is no folder no"),
        ((*FILES, "-o", "s.csv", "--alpha", "far"), "--alpha must be 'auto' or a number, got 'far'"),
        ((*FILES, "-o", "s.csv", "--alpha", "1.5"), "alpha must be at least 0 and below 1"),
        ((*FILES, "-o", "s.csv", "--n-neighbors", "2.5"), "--n-neighbors must be 'auto' or a whole number"),
        ((*FILES, "-o", "s.csv", "--bandwidth", "wide"), "--bandwidth must be a number, got 'wide'"),
        (
            (*FILES, "-o", "s.csv", "--classes", "cat"),
            "of 300 votes name classes that are not in the list: 'dog'",
        ),
        ((*FILES, "-o", "s.csv", "--interval", "wide"), "method must be one of"),
        ((*FILES, "-o", "s.csv", "--prior", "votes.csv"), "holds no soft labels"),
        ((*FILES, "-o", "s.csv", "-w", "X.npy"), "is a file; name a folder"),
    ],
)
def test_bad_input_costs_one_line_and_exit_code_2(folder, options, message):
    """Nothing is written, and the message says what to do."""
    result = run("spread", *options)
    refused(result, message)
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "votes.csv"]


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


def test_a_full_disk_is_told(folder, monkeypatch):
    """No half-written file, exit code 2."""
    import softspread._common.atomic as atomic

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    result = run("spread", *FILES, "-o", "s.parquet", "-q")
    refused(result, "cannot write s.parquet: No space left on device")
    assert sorted(os.listdir()) == ["X.npy", "X.npz", "votes.csv"]


def test_warnings_of_the_library_are_lines_not_tracebacks(folder):
    """More neighbours asked than there are items: the run goes on and says so."""
    result = run("spread", *FILES, "-o", "s.parquet", "--n-neighbors", 500, "--alpha", 0.5)
    assert result.exit_code == 0
    assert "softspread: warning: n_neighbors=500 but there are only 150 items" in result.stderr
    assert ".py" not in result.stderr


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
