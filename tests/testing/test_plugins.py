"""The example of docs/extending.md, installed: every part passes its suite and is used by name."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import run
from softspread import ProbabilisticLabelSpreading, datasets, embed, knn_graph, load, save, testing
from softspread.datasets.registry import DATASETS
from softspread.diffusion.registry import SOLVERS
from softspread.embedding.encoders.registry import ENCODERS
from softspread.embedding.reducers.registry import REDUCERS
from softspread.embedding.result import Embedding
from softspread.graph.registry import SEARCHES
from softspread.intervals.registry import INTERVALS
from softspread.queries.registry import STRATEGIES

PAGE = (Path(__file__).parents[2] / "docs" / "extending.md").read_text()
CODE = "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
GROUPS = tomllib.loads(re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL).group(1))["project"]["entry-points"]
REGISTRIES = (SOLVERS, SEARCHES, STRATEGIES, INTERVALS, ENCODERS, REDUCERS, DATASETS)


@pytest.fixture(autouse=True)
def plugin(install_plugin):
    """The distribution of the page."""
    return install_plugin(CODE, GROUPS)


@pytest.fixture
def blobs():
    return datasets.load("three_blobs", n_items=60)


@pytest.fixture
def files(blobs, tmp_path, monkeypatch):
    """The same items and votes as files in the current folder."""
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", blobs.X)
    pd.DataFrame({"item": range(0, 60, 2), "label": blobs.labels[::2]}).to_csv("votes.csv", index=False)
    return "-e", "X.npy", "-v", "votes.csv"


def test_the_page_has_an_example_for_every_kind_of_part():
    """The groups of the page are those of the registries, and its table names them all."""
    assert set(GROUPS) == {registry.group for registry in REGISTRIES}
    for registry in REGISTRIES:
        assert f"| `{registry.group}` |" in PAGE
        (name,) = GROUPS[registry.group]
        assert registry.names()[-1] == name
    assert set(re.findall(r"`(check_\w+)`", PAGE)) == set(testing.__all__)


def test_every_example_passes_its_suite():
    """By its name, as in a test of the package itself."""
    testing.check_solver("fixed_point")
    testing.check_neighbor_search("ball_tree", smallest_recall=1.0)
    testing.check_strategy("most_contested")
    testing.check_interval_method("clopper_pearson")
    testing.check_encoder("mean_colour")
    testing.check_reducer("random_projection")
    testing.check_dataset("three_blobs")


def test_parts_work_in_an_estimator(blobs, tmp_path):
    """Solver, search, strategy and interval method by name; also after saving and loading."""
    y = np.where(np.arange(60) % 2 == 0, blobs.labels, -1)
    settings = {"alpha": 0.8, "n_neighbors": 5, "solver": "fixed_point", "index": "ball_tree"}
    est = ProbabilisticLabelSpreading(**settings).fit(blobs.X, y)
    plain = ProbabilisticLabelSpreading(alpha=0.8, n_neighbors=5).fit(blobs.X, y)
    assert est.graph_.index == "ball_tree"
    assert est.solve_report_.solver == "fixed_point"
    np.testing.assert_allclose(est.predict_proba(), plain.predict_proba(), atol=1e-4)
    lower, upper = est.predict_interval(method="clopper_pearson")
    assert (lower <= est.predict_proba()).all()
    assert (est.predict_proba() <= upper).all()
    assert len(set(est.query(5, strategy="most_contested").tolist())) == 5
    save(est, tmp_path / "est.npz")
    np.testing.assert_allclose(load(tmp_path / "est.npz").predict_proba(), est.predict_proba())
    assert knn_graph(blobs.X, 5, index="ball_tree").recall_ == 1.0


def test_parts_work_in_an_embedding(tmp_path):
    """Encoder and reducer by name; the saved reducer is found again by its name."""
    images = np.random.default_rng(0).integers(0, 256, size=(30, 20, 20, 3), dtype=np.uint8)
    space = embed(images, encoder="mean_colour", reduce="random_projection", dim=2)
    assert space.X.shape == (30, 2)
    space.save(tmp_path / "X.parquet")
    features = np.ones((4, 3), dtype=np.float32)
    np.testing.assert_array_equal(
        Embedding.load(tmp_path / "X.parquet").transform(features), space.transform(features)
    )


def test_parts_work_on_the_command_line(files):
    """By the same names; the document says what was used."""
    chosen = ("--method", "pls", "--index", "ball_tree", "--solver", "fixed_point", "--alpha", "0.8")
    chosen += ("--n-neighbors", "5")
    done = run("spread", *files, *chosen, "--interval", "clopper_pearson", "-o", "soft.csv", "--json")
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["parameters"]["interval"] == "clopper_pearson"
    assert document["graph"]["index"] == "ball_tree"
    assert len(pd.read_csv("soft.csv")) == 60
    done = run("query", *files, *chosen, "--strategy", "most_contested", "-n", "3", "--json")
    assert done.exit_code == 0, done.stderr
    assert len(json.loads(done.stdout)["items"]) == 3


def test_embed_takes_the_names_too(tmp_path, monkeypatch):
    """Encoder and reducer of the plug-in, on images in an array."""
    monkeypatch.chdir(tmp_path)
    np.save("images.npy", np.zeros((12, 8, 8, 3), dtype=np.uint8))
    done = run(
        "embed", "images.npy", "--encoder", "mean_colour", "--reduce", "random_projection", "--dim", "2",
        "-o", "space.parquet", "-q",
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert Embedding.load("space.parquet").how["reducer"] == "random_projection"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("spread", ("ball_tree", "fixed_point", "clopper_pearson")),
        ("query", ("most_contested",)),
        ("embed", ("mean_colour", "random_projection")),
    ],
)
def test_help_lists_the_names(command, names):
    """After the built-in ones."""
    shown = " ".join(run(command, "--help").stdout.split())
    assert all(name in shown for name in names)


def test_a_dataset_says_what_it_is(blobs):
    """By the first line of its documentation."""
    assert datasets.describe("three_blobs") == (
        "three_blobs: Three clusters in the plane, with certain labels. Needs no download."
    )
    assert datasets.available("three_blobs")
    assert blobs.n_items == 60


def test_a_broken_package_costs_one_line(files, install_plugin):
    """Only for those who ask for its name, and naming the package."""
    install_plugin(
        "raise OSError('no licence')",
        {"softspread.solvers": {"quantum": "broken_plugin:Solver"}},
        "broken-plugin",
    )
    settings = ("--method", "pls", "--alpha", "0.8", "--n-neighbors", "5", "-q")
    assert run("spread", *files, *settings, "-o", "soft.csv").exit_code == 0
    done = run("spread", *files, *settings, "--solver", "quantum", "-o", "other.csv")
    assert done.exit_code == 1
    assert "solver 'quantum' comes from broken-plugin 1.0, which cannot be loaded" in done.stderr
    assert "Traceback" not in done.stderr
