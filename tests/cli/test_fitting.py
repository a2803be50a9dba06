"""From options to a fit: priors, unknown votes, and a workspace that computes only what changed."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import FILES, N, fitted, refused, run
from softspread import SoftLabeler, Votes, better_of, classifier_prior
from softspread.estimators.methods import METHODS
from softspread.io.soft_labels import read_soft_labels


@pytest.mark.parametrize("method", METHODS)
def test_the_second_run_reuses_and_says_so(folder, method):
    """Same files: graph and fit come from the workspace, with the same result; new votes: only the graph."""
    options = (*FILES, "--method", method, "-w", "ws")
    outputs = [run("spread", *options, "-o", f"{k}.parquet", "--json") for k in range(2)]
    first, second = (json.loads(result.stdout) for result in outputs)
    assert (first["reused"], second["reused"]) == ([], ["embeddings", "graph", "fit"])
    assert "reused from ws: embeddings, graph, fit" in outputs[1].stderr
    assert (folder / "0.parquet").read_bytes() == (folder / "1.parquet").read_bytes()
    with open("votes.csv", "a") as file:
        file.write("img_000,cat,cid\n")
    third = json.loads(run("spread", *options, "-o", "2.parquet", "--json").stdout)
    assert third["reused"] == ["embeddings", "graph"]
    assert third["votes"]["used"] == 301
    asked = run("query", *options, "-n", 3)
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
    options = (*options, "--n-neighbors", "auto", "--method", "pls")
    for seed, reuses in ((0, False), (0, True), (1, False)):
        document = json.loads(run(*options, "--seed", seed).stdout)
        assert ("fit" in document["reused"]) == reuses


def test_a_prior_fills_in_where_votes_do_not_reach(folder):
    """A file of predictions by name, in any order of items, counts as so many votes."""
    assert run("spread", *FILES, "-o", "s.parquet", "-q", "--alpha", 0.5).exit_code == 0
    frame = pd.read_parquet("s.parquet").sample(frac=1, random_state=0)
    frame["p_cat"], frame["p_dog"] = 0.9, 0.1
    frame.to_parquet("prior.parquet")
    options = ("--method", "pls", "--alpha", 0.5, "--prior", "prior.parquet", "--prior-strength", 1e6)
    assert run("spread", *FILES, "-o", "t.parquet", "-q", *options).exit_code == 0
    np.testing.assert_allclose(read_soft_labels("t.parquet").p[:, 0], 0.9, atol=1e-3)
    np.save("prior.npy", np.tile([0.9, 0.1], (N, 1)))
    again = run(
        "spread",
        *FILES,
        "-o",
        "u.parquet",
        "-q",
        "--method",
        "pls",
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
    pls = (*FILES, "--method", "pls", "-q")
    assert run("spread", *pls, "-o", "plain.parquet").output == ""
    assert run("spread", *pls, "-o", "helped.parquet", "--prior", "votes").output == ""
    plain, helped = (read_soft_labels(f"{name}.parquet") for name in ("plain", "helped"))
    assert plain.metadata["parameters"]["prior_strength"] == 1e-4
    data, votes = np.load(folder / "X.npz"), Votes.from_frame(pd.read_csv(folder / "votes.csv"))
    prior = classifier_prior(
        data["embeddings"], votes, item_ids=data["ids"], classes=["cat", "dog"], random_state=0
    )
    auto = {"alpha": "auto", "prior_strength": "auto"}
    est = better_of(fitted(folder, "pls", **auto), fitted(folder, "pls", **auto, prior=prior))
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
    ring = ("-e", "ring.npy", "-v", "ring.csv", "-o", "s.parquet", "--prior", "votes", "--method", "pls")
    result = run("spread", *ring)
    assert result.exit_code == 0, result.output
    assert "the classifier of the votes is left out" in result.stderr
    assert read_soft_labels("s.parquet").metadata["parameters"]["prior"] is False
    result = run("spread", *ring, "--prior-strength", 2)
    assert "left out" not in result.stderr
    parameters = read_soft_labels("s.parquet").metadata["parameters"]
    assert (parameters["prior"], parameters["prior_strength"]) == (True, 2.0)


def unreduced(folder, **changes):
    """Wide features of the same items in another order, in which the first number is the group."""
    data, rng = np.load(folder / "X.npz"), np.random.default_rng(2)
    F = rng.normal(size=(N, 30))
    F[:, 0] = 3.0 * (np.arange(N) % 2)
    order = rng.permutation(N)
    np.savez("F.npz", **{"features": F[order], "ids": data["ids"][order], **changes})
    return F


def test_unreduced_features_are_matched_by_id(folder):
    """In any order of the file; the same as in the library."""
    F = unreduced(folder)
    result = run("spread", *FILES, "-o", "s.parquet", "--features", "F.npz", "--json")
    assert result.exit_code == 0, result.output
    assert "features: 30 dimensions, matched by id" in result.stderr
    expected = fitted(folder, features=F)
    np.testing.assert_allclose(read_soft_labels("s.parquet").p, expected.predict_proba(), atol=1e-5)
    document = json.loads(result.stdout)
    assert document["parameters"]["features"] is True
    assert any(name.startswith("unreduced") for name in document["weights"])


def test_features_without_ids_are_matched_row_by_row(folder):
    """The same again from an array in the order of the items."""
    F = unreduced(folder)
    np.save("F.npy", F)
    names = ["s.parquet", "t.parquet"]
    for name, file in zip(names, ("F.npz", "F.npy"), strict=True):
        assert run("spread", *FILES, "-o", name, "--features", file, "-q").output == ""
    by_id, by_row = (read_soft_labels(name) for name in names)
    np.testing.assert_allclose(by_id.p, by_row.p, atol=1e-6)


def test_features_of_other_items_are_refused(folder):
    """Too few rows without ids, or an item that the file lacks."""
    F = unreduced(folder)
    np.save("short.npy", F[1:])
    wrong = run("spread", *FILES, "-o", "s.parquet", "--features", "short.npy")
    refused(wrong, "short.npy holds 149 rows, the embeddings 150")
    unreduced(folder, ids=np.array([f"img_{row + 1:03d}" for row in range(N)]))
    wrong = run("spread", *FILES, "-o", "s.parquet", "--features", "F.npz")
    refused(wrong, "F.npz lacks 1 of the 150 items, such as 'img_000'")
    assert not (folder / "s.parquet").exists()


def test_other_features_are_another_fit(folder):
    """The content of the file counts."""
    unreduced(folder)
    options = ("spread", *FILES, "-o", "s.parquet", "-w", "ws", "--json", "--features", "F.npz")
    assert [json.loads(run(*options).stdout)["reused"] for _ in range(2)][1][-1] == "fit"
    unreduced(folder, features=np.random.default_rng(3).normal(size=(N, 5)))
    assert "fit" not in json.loads(run(*options).stdout)["reused"]


def test_a_datasets_folder_can_be_the_prior_also_with_a_workspace(folder):
    """Its files count as one input."""
    assert run("spread", *FILES, "-o", "labels", "-q").output == ""
    options = ("spread", *FILES, "-o", "s.parquet", "-w", "ws", "--json", "--prior", "labels")
    assert [json.loads(run(*options).stdout)["reused"] for _ in range(2)][1][-1] == "fit"
    assert run("spread", *FILES, "-o", "labels", "-q", "--alpha", 0.5).output == ""
    assert "fit" not in json.loads(run(*options).stdout)["reused"]


def test_several_files_are_taken_together(folder):
    """Votes and embeddings in parts give what they give in one file; a workspace lists them."""
    data, votes = np.load("X.npz"), pd.read_csv("votes.csv")
    half = N // 2
    np.savez("a.npz", embeddings=data["embeddings"][:half], ids=data["ids"][:half])
    np.savez("b.npz", embeddings=data["embeddings"][half:], ids=data["ids"][half:])
    votes[:100].to_csv("a.csv", index=False)
    votes[100:].to_parquet("b.parquet")
    parts = ("-e", "a.npz", "-e", "b.npz", "-v", "a.csv", "-v", "b.parquet")
    assert run("spread", *FILES, "-o", "s.parquet", "-q").output == ""
    assert run("spread", *parts, "-o", "t.parquet", "-q").output == ""
    whole, together = (read_soft_labels(name) for name in ("s.parquet", "t.parquet"))
    assert whole.ids.tolist() == together.ids.tolist()
    np.testing.assert_allclose(whole.p, together.p, atol=1e-6)
    (folder / "ws").mkdir()
    lists = 'embeddings = ["../a.npz", "../b.npz"]\nvotes = ["../a.csv", "../b.parquet"]\n'
    (folder / "ws" / "softspread.toml").write_text(lists)
    document = json.loads(run("spread", "-w", "ws", "-o", "u.parquet", "--json").stdout)
    assert (document["n_items"], document["votes"]["used"]) == (N, 300)
    assert json.loads(run("spread", *parts, "--dry-run", "--json").stdout)["n_items"] == N


def test_an_id_in_two_files_and_a_file_named_twice_are_refused(folder):
    """Nothing is counted twice in silence."""
    data = np.load("X.npz")
    np.savez("b.npz", embeddings=data["embeddings"][:1], ids=data["ids"][:1])
    refused(run("spread", *FILES, "-e", "b.npz", "-o", "s.csv"), "1 ids are in more than one file: 'img_000'")
    refused(run("spread", *FILES, "-v", "votes.csv", "-o", "s.csv"), "votes.csv is named twice")


# ------------------------------------------------------------------------------------------- models that vote
BOTH = ("-e", "X.npz", "-v", "votes.csv", "-v", "models.csv", "--model-annotators", "gpt, claude")


@pytest.fixture
def models(folder):
    """Two models with a vote on every item, in a file of their own."""
    ids = np.load(folder / "X.npz")["ids"]
    rng = np.random.default_rng(0)
    votes = pd.read_csv(folder / "votes.csv").groupby("item")["label"].first()
    said = [votes.get(item, "cat") if rng.random() < 0.8 else "dog" for item in np.tile(ids, 2)]
    who = np.repeat(["gpt", "claude"], N)
    pd.DataFrame({"item": np.tile(ids, 2), "label": said, "annotator": who}).to_csv(
        folder / "models.csv", index=False
    )
    return folder


def test_spread_gives_what_the_library_gives(models):
    """The same soft labels, the judges in the document, a line on the screen and a section of the report."""
    answer = run("spread", *BOTH, "--out", "out.csv", "--report", "page.html", "--json")
    assert answer.exit_code == 0, answer.output
    document = json.loads(answer.stdout)
    frames = [pd.read_csv(models / name) for name in ("votes.csv", "models.csv")]
    whole = pd.concat(frames, ignore_index=True)
    whole["annotator"] = whole["annotator"].astype(object).where(whole["annotator"].notna(), None)
    data = np.load(models / "X.npz")
    lab = SoftLabeler(random_state=0).fit(
        data["embeddings"], Votes.from_frame(whole), item_ids=data["ids"], model_annotators=["gpt", "claude"]
    )
    np.testing.assert_allclose(pd.read_csv(models / "out.csv")["p_cat"], lab.predict_proba()[:, 0], atol=1e-6)
    assert document["models"]["summary"] == lab.judge_report().summary()
    theirs = [name for name in lab.weights_.index if "model" in name]
    assert len(theirs) == 4  # each by itself, all spread, all together
    assert document["models"]["share"] == pytest.approx(lab.weights_[theirs].sum())
    assert [row["annotator"] for row in document["models"]["judges"]] == ["gpt", "claude"]
    assert document["votes"]["used"] == len(lab.votes_)
    assert document["neighbors"]["classes"][-1]["class"] == "overall"
    assert "Models that voted" in (models / "page.html").read_text(encoding="utf-8")
    assert "gpt agrees with" in run("spread", *BOTH, "--out", "out.csv").stdout


def test_explain_names_the_share_of_the_models(models):
    """Beside votes and classifiers; query and quality take models, too."""
    assert "models" in json.loads(run("explain", "img_004", *BOTH, "--json").stdout)["shares"]
    assert run("query", *BOTH, "-n", 2).exit_code == 0
    n_people = len(pd.read_csv(models / "votes.csv"))
    assert json.loads(run("quality", *BOTH, "--json").stdout)["n_votes"] <= n_people


def test_names_and_orders_are_checked_before_the_graph_is_built(models):
    """A misspelt model, and classes without an order, are known from the votes alone."""
    given = ("-e", "X.npz", "-v", "votes.csv", "-v", "models.csv", "--out", "out.csv")
    for options, message in {
        ("--model-annotators", "gtp"): "by whom there is no vote",
        ("--kind", "ordinal"): "the order of the classes",
    }.items():
        found = run("spread", *given, *options)
        assert message in found.stderr
        assert "graph:" not in found.stderr
    assert "graph:" in run("spread", *given).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model-annotators", "gtp"), "by whom there is no vote"),
        (("--model-annotators", "gpt,,claude"), "names like gpt,claude"),
        (("--model-annotators", "gpt", "--method", "pls"), "sources of --method blend"),
        (("--model-annotators", "gpt", "--kind", "rating"), "ratings are people's"),
    ],
)
def test_what_cannot_be_is_refused(models, options, message):
    """Before anything is written."""
    refused(run("spread", "-e", "X.npz", "-v", "models.csv", *options, "--out", "no.csv"), message)
    assert not (models / "no.csv").exists()


def test_without_models_there_is_nothing_about_them(folder):
    """Only the test of the neighbours."""
    document = json.loads(run("spread", *FILES, "--out", "out.csv", "--json").stdout)
    assert document["models"] is None
    assert document["neighbors"]["warning"] is None
