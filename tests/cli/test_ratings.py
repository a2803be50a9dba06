"""softspread spread --kind rating, and the other kinds on the command line."""

import numpy as np
import pandas as pd
import pytest

from command_line import refused, run
from softspread.cli.ratings import scale_of
from softspread.errors import InputError
from softspread.io.soft_labels import read_soft_labels


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """80 items with ratings, grades and lists of labels."""
    path, rng = tmp_path_factory.mktemp("kinds"), np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    np.save(path / "X.npy", X)
    rows = np.arange(40)
    grade = np.clip(np.round(2 + X[:40, 0]), 1, 3).astype(int)
    pd.DataFrame({"item": rows, "rating": np.clip(3 + X[:40, 0], 1, 5)}).to_csv(
        path / "rate.csv", index=False
    )
    words = np.array(["low", "mid", "high"])[grade - 1]
    pd.DataFrame({"item": rows, "label": words}).to_csv(path / "grades.csv", index=False)
    lists = [";".join(n for n, x in zip(("red", "big"), row, strict=True) if x > 0) for row in X[:40]]
    pd.DataFrame({"item": rows, "label": lists}).to_csv(path / "lists.csv", index=False)
    return path


def spread(folder, votes, *more):
    return run("spread", "-e", folder / "X.npy", "-v", folder / votes, "-q", *more)


def test_ratings_become_a_table_of_means(folder):
    """One row per item, within the scale."""
    out = folder / "means.csv"
    result = spread(folder, "rate.csv", "--kind", "rating", "--scale", "1,5", "-o", out)
    assert result.exit_code == 0, result.output
    found = pd.read_csv(out)
    assert found.columns.tolist() == ["item", "rating", "lower", "upper", "std", "evidence"]
    assert len(found) == 80
    assert ((found["lower"] >= 1) & (found["upper"] <= 5) & (found["lower"] <= found["rating"])).all()


def test_bad_ratings_are_refused_and_nothing_is_written(folder):
    """Outside the scale, no scale, another command, a page."""
    out, kind = folder / "none.csv", ("--kind", "rating")
    refused(spread(folder, "rate.csv", *kind, "--scale", "1,3", "-o", out), "outside the scale 1 to 3")
    refused(spread(folder, "rate.csv", *kind, "--scale", "5", "-o", out), "--scale must be")
    refused(spread(folder, "rate.csv", *kind, "-o", out, "--report", folder / "r.html"), "leave --report")
    refused(spread(folder, "rate.csv", *kind, "-o", folder / "x.json"), "ratings may be")
    query = run("query", "-e", folder / "X.npy", "-v", folder / "rate.csv", *kind)
    refused(query, "--kind must be one of single, multilabel, ordinal")
    assert not out.exists()
    with pytest.raises(InputError, match="lowest and the highest"):
        scale_of("1")


def test_ordered_classes_bring_their_level(folder):
    """The order must be given; the level is in the file and read back."""
    out = folder / "grades.parquet"
    refused(spread(folder, "grades.csv", "--kind", "ordinal", "-o", out), "needs the order")
    ordered = ("--kind", "ordinal", "--classes", "low,mid,high", "-o", out)
    assert spread(folder, "grades.csv", *ordered).exit_code == 0
    labels = read_soft_labels(out)
    assert labels.kind == "ordinal"
    np.testing.assert_allclose(labels.more["expected_level"], labels.p @ [0, 1, 2], atol=1e-5)


@pytest.mark.parametrize("name", ["several.csv", "several"])
def test_several_classes_are_written_and_read_back(folder, name):
    """Probability, evidence and verdict of each class, in a table and in a datasets folder."""
    out = folder / name
    result = spread(folder, "lists.csv", "--kind", "multilabel", "-o", out)
    assert result.exit_code == 0, result.output
    labels = read_soft_labels(out)
    assert labels.kind == "multilabel"
    assert labels.classes.tolist() == ["big", "red"]
    assert {"evidence_big", "evidence_red", "verdict_big", "verdict_red"} == {*labels.more}
    assert abs(labels.p.sum(axis=1) - 1).max() > 0.1


def test_several_classes_through_the_other_commands(folder):
    """Quality per class and overall, guesses as lists, shares per class; what has no meaning is refused."""
    files = ("-e", folder / "X.npy", "-v", folder / "lists.csv", "--kind", "multilabel", "-q")
    out = folder / "next.csv"
    assert run("query", *files, "-n", "3", "-o", out).exit_code == 0
    assert len(pd.read_csv(out)) == 3
    assert '"overall"' in run("quality", *files, "--json").stdout
    assert '"class"' in run("explain", "3", *files, "--json").stdout
    refused(run("quality", *files, "--more", "10"), "one answer per item")
    refused(run("tune", *files), "--kind multilabel weighs several")
    refused(
        run("spread", *files, "--method", "pls", "-o", folder / "x.csv"), "--method pls takes votes for one"
    )
    single = ("-e", folder / "X.npy", "-v", folder / "lists.csv", "-q", "-o", folder / "x.csv")
    refused(run("spread", *single, "--rest", "nothing"), "--rest is about lists")
