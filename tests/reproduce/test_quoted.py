"""Numbers of the paper and of the authors' runs."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from softspread.errors import InputError
from softspread.reproduce.quoted import (
    ITEMS,
    Disagreement,
    authors_numbers,
    authors_runs,
    compare_with_runs,
    paper_numbers,
)

ROOT = Path(__file__).parents[2]


def test_the_papers_tables_are_complete():
    """13 methods at both budgets, 3 encoders on 6 datasets; the benchmark's best row is the method."""
    assert len(paper_numbers("rmse_10")) == len(paper_numbers("rmse_1")) == 13
    features = paper_numbers("features")
    assert [len(features[name]) for name in ("CLIP", "ResNet-101", "ViT-B/32")] == [6, 6, 6]
    benchmark = paper_numbers("dcic")
    assert min(benchmark, key=lambda name: benchmark[name]["0.1"][1]) == "PLS"
    with pytest.raises(InputError, match="rmse_10"):
        paper_numbers("nonsense")


@pytest.mark.shared
def test_the_authors_means_are_those_of_their_files(shared_data):
    """The table in the package is what the script makes of the published runs."""
    folder = shared_data.parent / "reference"
    if not folder.is_dir():
        pytest.skip("the authors' files are not beside the repository")
    spec = importlib.util.spec_from_file_location("authors", ROOT / "experiments" / "authors_numbers.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    theirs = script.collect(folder).rename(columns={"mean": "average"})
    pd.testing.assert_frame_equal(authors_runs().drop(columns="key"), theirs, atol=1e-6, check_dtype=False)


def test_every_file_of_the_authors_is_there():
    """All studies, and every dataset of the tables."""
    runs = authors_runs()
    assert {
        "evaluate_pls",
        "evaluate_gkr",
        "evaluate_knn",
        "features",
        "dimensions",
        "alpha_k",
        "neighbors",
    } <= set(runs["study"])
    assert {"sweep_gkr", "sweep_knn", "train_test", "zero_shot"} <= set(runs["study"])
    assert set(ITEMS) == set(runs["dataset"])
    assert authors_numbers("evaluate", "two_moons")["pls_0.99"]["100"][2] == 10


@pytest.mark.parametrize(
    ("printed", "spread", "mean", "disagrees"),
    [
        (0.1000, 0.001, 0.1001, False),
        (0.1000, 0.001, 0.1050, True),
        (0.1000, None, 0.10004, False),  # rounding
        (0.1000, None, 0.1002, True),  # nothing varies, so nothing explains it
    ],
)
def test_a_difference_counts_beyond_chance_and_rounding(printed, spread, mean, disagrees):
    """Standard errors of both means, after what four printed digits explain."""
    runs_spread = 0.001 if spread else 0.0
    one = Disagreement("Table 1", "cifar10", "pls_0.9", printed, spread, mean, runs_spread, 10)
    assert one.disagrees is disagrees


def test_known_disagreements_are_named():
    """EMNIST at all three alphas, two rows of Table 2 on CIFAR-10-H; the baselines all agree."""
    found = {(one.table, one.dataset, one.row) for one in compare_with_runs() if one.disagrees}
    assert {("Table 1", "emnist_digits", f"pls_{alpha}") for alpha in ("0.5", "0.9", "0.99")} <= found
    assert ("Table 2", "cifar10h", "ViT-B/32, pls_0.5") in found
    assert not any(row.startswith(("gkr", "knn")) for _, _, row in found)
