"""The benchmarks run, write what they promise, and their reference is right."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
ALPHA = 0.9
N_ITEMS = 1_200  # above the size up to which a dense factor is used


@pytest.fixture
def benchmarks(monkeypatch):
    """The modules of the benchmarks, by name."""
    pytest.importorskip("pyamg")
    monkeypatch.syspath_prepend(str(ROOT))
    names = (
        "_common",
        "_literal",
        "_tasks",
        "bench_whole_job",
        "bench_live",
        "bench_answers",
        "bench_command",
        "bench_neighbors",
        "bench_start",
        "__main__",
    )
    return {name: importlib.import_module(f"benchmarks.{name}") for name in names}


@pytest.fixture
def in_process(benchmarks, monkeypatch):
    """Tasks run in this process: their results are the same, only memory and warmth are not their own."""

    def run_task(task, folder, **arguments):
        return json.loads(json.dumps(benchmarks["_tasks"].TASKS[task](folder, **arguments)))

    for name in ("_common", "bench_whole_job", "bench_live", "bench_answers", "bench_neighbors"):
        monkeypatch.setattr(benchmarks[name], "run_task", run_task)
    return benchmarks


@pytest.fixture
def dataset(benchmarks, tmp_path):
    """A small graph with votes in inner numbering, and what the estimator makes of them."""
    from softspread import knn_graph

    X, classes = benchmarks["_common"].make_items(N_ITEMS, 0)
    rows, labels = benchmarks["_common"].make_votes(classes, 0)
    graph = knn_graph(X, 10, random_state=0)
    est = benchmarks["_tasks"].fit(graph, rows, labels, ALPHA, 1e-6)
    votes = benchmarks["_literal"].VoteArrays(graph.rank[rows], labels, 10)
    return graph, votes, est


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_writes_times_errors_and_ratios_that_agree(in_process, tmp_path, capsys):
    """Ratios are quotients of the times beside them, errors are below their limits, and every line is
    JSON."""
    out = tmp_path / "run.jsonl"
    arguments = f"--sizes 300 --alphas {ALPHA} --only whole_job,live --repeats 1 --live-votes 3 --out {out}"
    in_process["__main__"].main(arguments.split())
    records = read(out)
    assert records[0]["bench"] == "run"
    assert {"machine", "versions", "commit", "settings"} <= set(records[0])
    jobs = {
        (record["what"], record.get("tol")): record for record in records if record["bench"] == "whole_job"
    }
    for tol, limit in ((1e-6, 1e-4), (1e-8, 1e-6)):
        record = jobs["ours", tol]
        assert 0 <= record["error"] <= limit
        assert min(record["seconds"], record["peak_gib"]) > 0
    ours = jobs["ours", 1e-6]
    rivals = {name: record for (name, _), record in jobs.items() if name != "ours"}
    assert set(rivals) == {"fgmres", "cg", "label_spreading"}
    ratios = {record["over"]: record for record in records if record["bench"] == "ratio"}
    for name, rival in rivals.items():
        time = rival["spread_seconds"] if name == "label_spreading" else rival["seconds"]
        assert ratios[name]["ratio"] == pytest.approx(time / ours["seconds"])
        assert ratios[name]["ratio"] > 0
    for name in ("fgmres", "cg"):
        assert rivals[name]["measured_votes"] == 30
        assert not rivals[name]["extrapolated"]
        assert rivals[name]["error"] < 1e-3
    live = next(record for record in records if record["bench"] == "live")
    assert 0 < live["median"] <= live["percentile_95"] <= live["largest"]
    assert live["one"]["bound_holds"]
    assert live["many"]["bound_holds"]
    shown = capsys.readouterr().out
    assert "Whole job" in shown
    assert "Targets" in shown


def test_every_answer_is_timed(in_process, tmp_path, capsys):
    """One time per call and size, in the table as well."""
    out = tmp_path / "run.jsonl"
    in_process["__main__"].main(f"--sizes 1200 --out {out}".split(), only="answers")
    record = next(record for record in read(out) if record["bench"] == "answers")
    assert len(record["times"]) == 9
    assert min(record["times"].values()) > 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in record["times"])


def test_searches_are_compared_side_by_side(in_process, tmp_path, capsys, monkeypatch):
    """One line per search and set of items; a search that would take too long is skipped with its reason."""
    monkeypatch.setattr(in_process["bench_neighbors"], "SEARCHES", ("cells", "faiss", "tree"))
    monkeypatch.setattr(in_process["bench_neighbors"], "JUDGED_FROM", 2_500)
    np.save(tmp_path / "mine.npy", np.random.default_rng(0).normal(size=(300, 4)))
    out = tmp_path / "run.jsonl"
    arguments = f"--sizes 2500 --embeddings {tmp_path / 'mine.npy'} --out {out}"
    in_process["__main__"].main(arguments.split(), only="neighbors")
    records = [record for record in read(out) if record["bench"] == "search"]
    assert [(record["n"], record["index"]) for record in records] == [
        (n, index) for n in (2500, 300) for index in ("cells", "faiss", "tree")
    ]
    assert all(record["recall"] > 0.99 for record in records)
    judged = {record["what"]: record["value"] for record in read(out) if record["bench"] == "target"}
    cells, faiss = (next(r for r in records if r["index"] == index) for index in ("cells", "faiss"))
    share = cells["cpu_seconds"] / faiss["cpu_seconds"]
    assert judged["neighbours, share of faiss's time"] == pytest.approx(share)
    assert "Nearest 20 neighbours" in capsys.readouterr().out
    in_process["__main__"].main(f"--sizes 2500 --search-seconds 0 --out {out}".split(), only="neighbors")
    assert "would take" in capsys.readouterr().out


def test_starts_are_measured_in_fresh_processes(benchmarks, tmp_path, monkeypatch):
    """A process takes at least as long as the import inside it."""
    start = benchmarks["bench_start"]
    monkeypatch.setattr(
        start, "STARTS", {name: start.STARTS[name] for name in ("python alone", "import softspread")}
    )
    monkeypatch.setattr(start, "_spread_commands", lambda folder, seed: {})
    out = tmp_path / "run.jsonl"
    benchmarks["__main__"].main(f"--start-repeats 1 --out {out}".split(), only="start")
    records = [record for record in read(out) if record["bench"] == "start"]
    started = [record["what"] for record in records]
    assert started == ["python alone", "import softspread", "softspread --help"]
    assert all(0 < record["inside"] <= record["seconds"] for record in records[:2])


def test_the_stages_of_a_command_are_what_it_says_of_itself(benchmarks, tmp_path):
    """A real run of few items: every stage once, none longer than the whole."""
    command = benchmarks["bench_command"]
    said = (
        "fit: alpha 0.9 (chosen) (2.2 s)\nintervals (wilson) (0.1 s)\nsoftspread: warning: few votes (3.0)\n"
    )
    assert command.stages_of(said) == {"fit": 2.2, "intervals": 0.1}
    embeddings, votes = benchmarks["_common"].write_files(tmp_path, 60, 0)
    files = [
        "--embeddings",
        str(embeddings),
        "--votes",
        str(votes),
        "--out",
        str(tmp_path / "labels.parquet"),
    ]
    record = command.measured(["spread", *command.WAYS["pls"], *files])
    assert list(record["stages"]) == ["embeddings", "votes", "graph", "fit", "intervals", "writing"]
    assert max(record["stages"].values()) <= record["seconds"]


def test_a_failing_task_says_which_and_why(benchmarks, tmp_path):
    """The error of the fresh process reaches the reader."""
    with pytest.raises(RuntimeError, match=r"task ours .* failed(.|\n)*unexpected keyword argument 'color'"):
        benchmarks["_common"].run_task("ours", tmp_path, color="red")


def test_the_reference_is_the_dense_inverse(benchmarks, dataset):
    """One tight solve per vote gives what inverting I - alpha S gives."""
    graph, votes, _ = dataset
    M = np.linalg.inv(np.eye(N_ITEMS) - ALPHA * graph.inner_operator().toarray())
    mass = np.zeros((N_ITEMS, 10))
    for row, column in zip(votes.rows, votes.columns, strict=True):
        mass[:, column] += M[:, row] / M[:, row].max()
    literal = benchmarks["_literal"].literal_mass(graph, ALPHA, votes)
    np.testing.assert_allclose(
        literal, mass, rtol=0, atol=1e-8
    )  # 120 solves with residual 1e-10, condition 19


def test_the_sampled_error_is_that_of_the_literal_algorithm(benchmarks, dataset):
    """With time for every scale, the sample's error is the error on these items; with none, what is unseen is
    said."""
    graph, votes, est = dataset
    literal = benchmarks["_literal"]
    p = est.predict_proba()[graph.order]
    scales = est._state.diffusion.scales(graph.order[votes.rows])
    whole = literal.largest_difference(p, literal.literal_mass(graph, ALPHA, votes))
    found = literal.sampled_error(graph, ALPHA, votes, p, scales, 60.0, np.random.default_rng(0))
    assert found["covered"] == pytest.approx(1.0)
    assert found["scale_check"] < 2 * literal.TIGHT_SCALE
    assert 0 < found["error"] <= whole + literal.TIGHT_SCALE
    wrong = p.copy()
    wrong[:, 0] += 0.01
    spoiled = literal.sampled_error(graph, ALPHA, votes, wrong, scales, 60.0, np.random.default_rng(0))
    assert spoiled["error"] == pytest.approx(0.01, abs=2 * whole)


def test_the_timed_kernel_is_that_of_scikit_learn(benchmarks):
    """LabelSpreading gives the same with kernel="knn" and with the kernel that carries a clock."""
    from sklearn.semi_supervised import LabelSpreading

    X, classes = benchmarks["_common"].make_items(200, 0)
    y = np.where(np.arange(200) < 60, classes, -1)
    kernel = benchmarks["_tasks"].TimedKernel(9)
    timed = LabelSpreading(kernel=kernel, alpha=0.5).fit(X, y)
    named = LabelSpreading(kernel="knn", n_neighbors=9, alpha=0.5).fit(X, y)
    np.testing.assert_array_equal(timed.label_distributions_, named.label_distributions_)
    assert kernel.seconds > 0


def test_items_and_votes_follow_their_seed(benchmarks):
    """The same seed gives the same items and votes, another seed others; votes name every class and no item
    twice."""
    common = benchmarks["_common"]
    X, classes = common.make_items(500, 3)
    np.testing.assert_array_equal(X, common.make_items(500, 3)[0])
    assert not np.array_equal(X, common.make_items(500, 4)[0])
    assert X.dtype == np.float32
    rows, labels = common.make_votes(classes, 3)
    assert len(rows) == 50 == len(np.unique(rows))
    assert set(labels.tolist()) == set(range(10))


@pytest.mark.parametrize(("share", "expected"), [(0.5, 10), (0.95, 19), (1.0, 20), (0.05, 1)])
def test_percentiles_of_the_first_whole_numbers(benchmarks, share, expected):
    """Among 1..20, the smallest number that a share of them does not exceed."""
    assert benchmarks["_common"].percentile(list(range(20, 0, -1)), share) == expected


def same_results(*arguments):
    """Run the comparison of versions in a process of its own."""
    command = [sys.executable, str(ROOT / "benchmarks/same_results.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_results_are_the_same_twice_and_a_change_is_seen(tmp_path):
    """Two runs agree to the last digit; one entry moved by a millionth is named."""
    first, again = tmp_path / "first.npz", tmp_path / "again.npz"
    for path in (first, again):
        done = same_results("store", path, "--only", "fit moons, alpha 0.5")
        assert done.returncode == 0, done.stderr
    assert same_results("compare", first, again).returncode == 0
    with np.load(again, allow_pickle=False) as found:
        arrays = dict(found)
    name = next(key for key in arrays if key.endswith("/p"))
    arrays[name] = arrays[name] + 1e-6
    np.savez(again, **arrays)
    told = same_results("compare", first, again)
    assert told.returncode == 1
    assert name in told.stdout


def test_the_benchmark_of_the_labeler_answers_every_question(capsys, tmp_path):
    """On a small dataset; what it prints is what it measured."""
    from benchmarks import bench_labeler

    bench_labeler.main(["--items", "2000", "--out", str(tmp_path / "found.jsonl")])
    shown = capsys.readouterr().out
    for question in ("fit", "soft labels with intervals", "query(100)", "explain", "forecast", "quality"):
        assert f"\n{question:<28}" in shown
    assert "peak memory " in shown


@pytest.fixture
def hops(monkeypatch):
    """The counter of hops."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.count_hops")


def test_the_votes_are_known_by_their_shape(hops):
    """One entry per vote or a row per item and a column per class; not items by features, nor few numbers."""
    n, v, m, k = hops.N_ITEMS, hops.N_VOTED, hops.N_VOTES, hops.N_CLASSES
    table = pd.DataFrame(np.zeros((n, 2 * k)))
    for shape in [(m,), (m, 2), (n, k), (k, n), (v, k), (3, n, k)]:
        assert hops.carries(np.zeros(shape)), shape
    for value in (["a"] * m, table, [np.zeros(m)], {"p": (np.zeros((n, k)),)}):
        assert hops.carries(value)
    for value in (np.zeros(n), np.zeros((n, 3)), np.zeros((n, 20)), np.zeros(k), ["a"] * n, "votes", None):
        assert not hops.carries(value)


def test_hops_leaves_and_side_branches_of_a_small_way(hops):
    """A method that calls others is a hop, those are leaves, and a check that gives nothing back is
    neither."""
    from softspread.votes.ballots import taken_back_too_often
    from softspread.votes.table import VoteTable

    m = hops.N_VOTES
    table = VoteTable(np.arange(m), np.zeros(m, int), np.ones(m))
    line = hops.traced(lambda: (taken_back_too_often(table), table.with_weights(np.zeros(m))))
    names = [(depth, name.partition(":")[2].removeprefix("VoteTable.")) for depth, name in line.path]
    expected = [(0, "with_weights"), (1, "take"), (2, "rows"), (2, "columns"), (2, "weights")]
    assert sorted(names) == sorted(expected)
    assert line.n_hops == 2
    assert {name.rpartition(".")[2] for name in line.leaves} == {"rows", "columns", "weights"}
