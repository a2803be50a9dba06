"""Work is shared between processes without changing results."""

import pandas as pd

from small_plans import SMALL, run_plan, small_plan
from softspread.reproduce import pool
from softspread.reproduce.plan import load_plan
from softspread.reproduce.pool import Processes, pieces
from softspread.reproduce.run import Progress


def test_results_do_not_depend_on_the_number_of_processes(tmp_path):
    """Two processes, same numbers in the same order."""
    text = SMALL.replace("draws = 2", "draws = 5")
    alone = run_plan(small_plan(text), tmp_path / "one")
    with Processes(2) as processes:
        shared = run_plan(small_plan(text), tmp_path / "two", processes=processes)
    pd.testing.assert_series_equal(alone["rmse"], shared["rmse"])


def test_work_is_cut_into_pieces_on_one_dataset_the_longest_first():
    """Every trial is in one piece, a piece has one dataset, and no cheap dataset comes before a dear one."""
    jobs = [(trial.key, trial) for name in ("rmse_10", "moons_raw") for trial in load_plan(name).trials()]
    cut = list(pieces(jobs))
    assert sorted(key for piece in cut for key, _ in piece) == sorted(key for key, _ in jobs)
    assert all(len({str(trial.dataset) for _, trial in piece}) == 1 for piece in cut)
    costs: dict[str, float] = {}
    for piece in cut:
        name = str(piece[0][1].dataset)
        costs[name] = costs.get(name, 0.0) + sum(pool.expected_seconds(trial) for _, trial in piece)
    assert list(costs.values()) == sorted(costs.values(), reverse=True)


def test_draws_that_share_a_search_stay_together():
    """A row with a star is searched for once: all its draws are in one piece."""
    jobs = [
        (trial.key, trial) for trial in load_plan("rmse_10").trials() if trial.dataset["name"] == "digits"
    ]
    pieces_of: dict[str, set[int]] = {}
    for number, piece in enumerate(pieces(jobs)):
        for _, trial in piece:
            if "truth" in trial.parameters.values():
                pieces_of.setdefault(trial.method, set()).add(number)
    assert {method: len(found) for method, found in pieces_of.items()} == {"pls": 1, "gkr": 1, "knn": 1}


def test_features_that_share_a_reduction_stay_together():
    """One computation serves all dimensions."""
    text = SMALL.replace(
        "datasets = [", 'datasets = [{ name = "cifar10h", features = ["f+pca2", "f+pca5"] }, '
    )
    jobs = [(trial.key, trial) for trial in small_plan(text).trials()]
    cut = [{str(trial.dataset.get("features")) for _, trial in piece} for piece in pieces(jobs)]
    assert {"f+pca2", "f+pca5"} in cut


def test_a_missing_library_is_a_reason_not_a_failure(tmp_path, monkeypatch):
    """The trial is left out with the message that names the extra."""
    import builtins

    real = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("crowdkit"):
            raise ImportError(name)
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    text = SMALL.replace('name = "histogram"', 'name = "dawid_skene"')
    progress = Progress()
    frame = run_plan(small_plan(text, quick=True), tmp_path, progress=progress)
    assert set(frame["method"]) == {"pls"}
    assert any("softspread[compare]" in reason for reason in progress.skipped)
