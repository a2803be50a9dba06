"""Trials become rows that can be resumed and shared between plans."""

import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from small_plans import SMALL, run_plan, small_plan
from softspread.reproduce import pool
from softspread.reproduce.measures import measure
from softspread.reproduce.plan import read_plan
from softspread.reproduce.run import Progress, read_rows, run_plans, setting


def test_a_run_has_one_row_a_trial_with_everything_in_it(tmp_path):
    """Errors, time and versions; what is not in the data folder is left out with what to download."""
    progress = Progress()
    frame = run_plan(small_plan(), tmp_path, progress=progress)
    assert len(frame) == 12
    assert progress.n_run == 12
    wanted = {
        "dataset",
        "method",
        "parameters",
        "budget",
        "seed",
        "rmse",
        "mae",
        "kl",
        "total_variation",
        "accuracy",
    }
    assert wanted | {"seconds", "versions"} <= set(frame.columns)
    assert setting(frame["versions"].iloc[0], "softspread")
    ((reason, number),) = progress.skipped.items()
    assert "github.com/jcpeterson" in reason
    assert number == 12
    assert_allclose(pd.read_csv(tmp_path / "small" / "trials.csv")["rmse"], frame["rmse"])


def test_a_second_run_computes_nothing_and_gives_the_same(tmp_path, monkeypatch):
    """Results are read back, also by another experiment that asks for the same trials."""
    first = run_plan(small_plan(), tmp_path)
    monkeypatch.setattr(pool, "measure", None)  # calling it would fail
    progress = Progress()
    again = run_plan(small_plan(), tmp_path, progress=progress)
    other = run_plan(read_plan("other", SMALL, quick=True), tmp_path, progress=progress)
    assert progress.n_run == 0
    assert_array_equal(first["rmse"], again["rmse"])
    assert len(other) == 6


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    """A torn last line costs that trial only; the table is the same as without interruption."""
    whole = run_plan(small_plan(), tmp_path / "whole")
    calls = []

    def stop_at_fourth(trial, bench):
        calls.append(trial)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return measure(trial, bench)

    monkeypatch.setattr(pool, "measure", stop_at_fourth)
    with pytest.raises(KeyboardInterrupt):
        run_plan(small_plan(), tmp_path / "torn")
    path = tmp_path / "torn" / "small" / "trials.jsonl"
    assert len(read_rows(path)) == 3
    path.write_bytes(path.read_bytes()[:-20])  # the machine went down while writing
    monkeypatch.setattr(pool, "measure", measure)
    progress = Progress()
    resumed = run_plan(small_plan(), tmp_path / "torn", progress=progress)
    assert (progress.n_kept, progress.n_run) == (2, 10)
    columns = ["dataset", "method", "parameters", "budget", "draw", "rmse"]
    pd.testing.assert_frame_equal(resumed[columns], whole[columns])


def test_plans_that_share_trials_run_them_once(tmp_path):
    """Both tables are whole, each trial was computed once, and a plan is handed over when its last trial is
    there."""
    progress, handed = Progress(), []
    plans = [small_plan(quick=True), read_plan("other", SMALL, quick=True)]
    tables = run_plans(
        plans,
        tmp_path,
        progress=progress,
        finished=lambda plan, frame: handed.append((plan.name, len(frame))),
    )
    assert (progress.n_run, progress.n_kept) == (6, 6)
    assert_array_equal(tables["small"]["rmse"], tables["other"]["rmse"])
    assert sorted(handed) == [("other", 6), ("small", 6)]
    assert len(read_rows(tmp_path / "other" / "trials.jsonl")) == 6


def test_another_seed_gives_other_votes(tmp_path):
    """And does not reuse the first one's results."""
    first, second = (run_plan(small_plan(quick=True), tmp_path, seed=seed)["rmse"] for seed in (0, 1))
    assert (first != second).any()


def test_results_of_other_features_or_soft_labels_are_not_kept(tmp_path):
    """A file that is added or made again beside the dataset means another trial; others do not matter."""
    import numpy as np

    from small_plans import one_trial
    from softspread.reproduce.run import stamped_key

    home = tmp_path / "toy"
    home.mkdir()
    trial = one_trial(dataset={"name": "toy", "features": "a"})
    keys = [stamped_key(trial, tmp_path)]
    np.save(home / "features_b.npy", np.zeros((3, 2)))
    assert stamped_key(trial, tmp_path) == keys[0]
    for name, value in (("features_a", 0.0), ("features_a", 1.0), ("soft_labels", 1.0), ("zero_shot", 1.0)):
        np.save(home / f"{name}.npy", np.full((3, 2), value))
        keys.append(stamped_key(trial, tmp_path))
    assert len(set(keys)) == len(keys)
    assert stamped_key(trial, tmp_path) == keys[-1]
    plain = one_trial()
    assert stamped_key(plain, tmp_path) == stamped_key(plain)
