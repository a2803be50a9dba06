"""One measurement per process, so that peak memory and caches belong to it alone.

`python -m benchmarks._tasks TASK FOLDER JSON` prints one line of JSON. The folder holds what the task
"dataset" wrote: X.npy, votes.npz, graph.softspread. Compiled loops are warmed up on a small dataset before
anything is timed.
"""

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._common import (
    LABEL_NOISE,
    N_CLASSES,
    N_NEIGHBORS,
    Record,
    make_items,
    make_votes,
    median,
    percentile,
)

WARM_ITEMS = 2_000  # above the size up to which a dense factor is used, so that the same loops are compiled
RIVAL_VOTES_LEAST = 3
# Relative residuals of the solves per vote: about the loosest power of ten that keeps soft labels within 1e-4
# (figures in the README). Where votes travel little, more items have so little evidence that p needs more
# digits.
LITTLE_TRAVEL = 0.7  # alpha
FGMRES_TOLS, CG_TOLS = (1e-6, 1e-5), (1e-7, 1e-6)  # below and above
FGMRES_STEPS = 200
SEARCH_WARM_ITEMS = 5_000  # above the size up to which the search by cells compares all with all
SEARCH_PROBE = 256  # queries that tell how long scikit-learn's search would take
KEPT_ERROR_ITEMS = 1e-3  # evidence from which on soft labels are compared
SECOND_VOTES = 0.2  # share of the voted items that get a second vote: only these show the noise of votes


def peak_gib() -> float:
    """Largest resident memory of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def load_dataset(folder: Path) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Graph, voted rows, labels."""
    from softspread import Graph

    with np.load(folder / "votes.npz") as votes:
        return Graph.load(folder / "graph.softspread"), votes["rows"], votes["labels"]


def fit(graph: Any, rows: NDArray[np.int64], labels: NDArray[np.int64], alpha: float, tol: float) -> Any:
    """The whole job from a built graph."""
    from softspread import ProbabilisticLabelSpreading, Votes

    votes = Votes.from_pairs(rows, labels)
    return ProbabilisticLabelSpreading(alpha=alpha, tol=tol).fit(graph, votes, classes=np.arange(N_CLASSES))


def warm_up(alpha: float = 0.9, tol: float = 1e-6, index: str = "auto") -> None:
    """Compile (or read from the cache) every loop that a fit, an update and a refinement use."""
    from softspread import knn_graph

    X, classes = make_items(WARM_ITEMS, seed=1)
    graph = knn_graph(X, N_NEIGHBORS, index=index, random_state=0)
    est = fit(graph, *make_votes(classes, seed=1), alpha, tol)
    for item in range(5):
        est.update(item, 0)
    est.predict_proba()
    est.refine()


def dataset(folder: Path, n: int, seed: int) -> Record:
    """Make items, votes and graph; the time of the graph and the recall of its neighbours."""
    from softspread import knn_graph

    warm_up(index="cells")
    X, classes = make_items(n, seed)
    rows, labels = make_votes(classes, seed)
    begin = time.perf_counter()
    graph = knn_graph(X, min(N_NEIGHBORS, n - 1), random_state=seed)
    took = time.perf_counter() - begin
    peak = peak_gib()
    np.save(folder / "X.npy", X)
    np.savez(folder / "votes.npz", rows=rows, labels=labels)
    graph.save(folder / "graph.softspread")
    return {
        "seconds": took,
        "recall": graph.recall_,
        "index": graph.index,
        "details": graph.details,
        "components": graph.n_components,
        "edges": graph.n_edges,
        "votes": len(rows),
        "peak_gib": peak,
    }


def search(folder: Path, index: str, source: int | str, seed: int, time_limit: float) -> Record:
    """One neighbour search on one thread, of made items or of those in a file."""
    from threadpoolctl import threadpool_limits

    from softspread import MissingExtraError
    from softspread._common.threads import Workers
    from softspread.graph.neighbors import leaf_order
    from softspread.graph.search import search_neighbors

    X = make_items(source, seed)[0] if isinstance(source, int) else np.load(source).astype(np.float32)
    X = X[leaf_order(X)]
    facts: Record = {"n": len(X), "d": X.shape[1], "skipped": None}
    few = X[:: max(1, len(X) // SEARCH_WARM_ITEMS)]
    with threadpool_limits(1), Workers(1) as workers:

        def find(items: NDArray[np.float32]) -> tuple[Any, float]:
            begin = time.process_time()
            found = search_neighbors(items, N_NEIGHBORS, index, workers, np.random.default_rng(seed), False)
            return found, time.process_time() - begin

        try:
            _, first = find(few)
        except MissingExtraError as error:
            return facts | {"skipped": str(error)}
        _, warm = find(few)
        least = warm * len(X) / len(few)  # every search takes at least time in proportion
        if least > time_limit:
            return facts | {"skipped": f"would take {least:.0f} s or more"}
        found, took = find(X)
    return facts | {
        "first_seconds": first,
        "cpu_seconds": took,
        "recall": found.recall,
        "details": found.details,
        "peak_gib": peak_gib(),
    }


def ours(folder: Path, alpha: float, tol: float, repeats: int) -> Record:
    """The whole job; then scales and solve once more, separately.

    Soft labels and scales are kept for the task "truth".
    """
    from softspread.diffusion.diffusion import Diffusion

    warm_up(alpha, tol)
    graph, rows, labels = load_dataset(folder)
    base = peak_gib()
    times, cpu_times = [], []
    peak = 0.0
    est: Any = None
    for _ in range(repeats):
        est = None  # the previous one's memory is free before the next begins
        begin, cpu = time.perf_counter(), time.process_time()
        est = fit(graph, rows, labels, alpha, tol)
        times.append(time.perf_counter() - begin)
        cpu_times.append(time.process_time() - cpu)
        peak = peak or peak_gib()
    begin = time.perf_counter()
    p = est.predict_proba()
    answer = time.perf_counter() - begin
    diffusion = Diffusion(graph, alpha, tol=tol)
    begin = time.perf_counter()
    scales = diffusion.scales(rows)
    scale_seconds = time.perf_counter() - begin
    np.savez(folder / f"ours-{alpha:g}-{tol:g}.npz", p=p, scales=scales)
    report, scale_report = est.solve_report_, est.scale_report_
    return {
        "seconds": median(times),
        "times": times,
        "cpu_seconds": median(cpu_times),
        "scale_seconds": scale_seconds,
        "predict_seconds": answer,
        "peak_gib": peak,
        "base_gib": base,
        "solver": report.solver,
        "iterations": report.iterations,
        "scales": scale_report.method,
        "scales_certified": scale_report.certified,
        "scales_estimated": scale_report.estimated,
        "global_solves": scale_report.global_solves,
    }


def truth(
    folder: Path, alpha: float, tols: list[float], all_votes_up_to: int, time_limit: float, seed: int
) -> Record:
    """Errors of the soft labels that the task "ours" left, by tol, against the literal algorithm."""
    from benchmarks import _literal

    graph, rows, labels = load_dataset(folder)
    votes = _literal.VoteArrays(graph.rank[rows], labels, N_CLASSES)
    begin = time.perf_counter()
    mass = _literal.literal_mass(graph, alpha, votes) if graph.n_items <= all_votes_up_to else None
    if mass is not None:
        np.save(folder / f"literal-{alpha:g}.npy", mass)
    errors = {}
    for tol in tols:
        with np.load(folder / f"ours-{alpha:g}-{tol:g}.npz") as found:
            p, scales = found["p"][graph.order], found["scales"]
        if mass is not None:
            errors[f"{tol:g}"] = {
                "error": _literal.largest_difference(p, mass),
                "compared": "all",
                "items": int((mass.sum(axis=1) > _literal.LEAST_EVIDENCE).sum()),
            }
        else:
            rng = np.random.default_rng([seed, 3])
            errors[f"{tol:g}"] = _literal.sampled_error(graph, alpha, votes, p, scales, time_limit, rng)
    return {"errors": errors, "seconds": time.perf_counter() - begin}


def rivals(folder: Path, alpha: float, most_votes: int, time_limit: float) -> Record:
    """One solve per vote on the first votes: as the paper does it, and by plain conjugate gradients."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import cg

    from benchmarks import _literal

    fgmres_tol, cg_tol = (tols[int(alpha >= LITTLE_TRAVEL)] for tols in (FGMRES_TOLS, CG_TOLS))
    graph, rows, labels = load_dataset(folder)
    seeds = graph.rank[rows]
    A = csr_matrix(_literal.system_matrix(graph, alpha))
    A.indptr, A.indices = A.indptr.astype(np.int32), A.indices.astype(np.int32)  # what PyAMG takes
    result: Record = {"votes": len(rows), "cg": None, "fgmres": None, "skipped": None}

    def measure(solve: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Record:
        mass = np.zeros((graph.n_items, N_CLASSES))
        spent: list[float] = []
        cpu = time.process_time()
        for seed, label in zip(seeds[:most_votes].tolist(), labels.tolist(), strict=False):
            if len(spent) >= RIVAL_VOTES_LEAST and sum(spent) > time_limit:
                break
            begin = time.perf_counter()
            unit = np.zeros(graph.n_items)
            unit[seed] = 1.0
            phi = solve(unit)
            mass[:, label] += phi / phi.max()
            spent.append(time.perf_counter() - begin)
        cpu_per_vote = (time.process_time() - cpu) / len(spent)
        per_vote = sum(spent) / len(spent)
        exact = folder / f"literal-{alpha:g}.npy"
        whole = len(spent) == len(seeds) and exact.exists()
        error = _literal.largest_difference(_literal.soft_labels(mass), np.load(exact)) if whole else None
        return {
            "per_vote": per_vote,
            "cpu_per_vote": cpu_per_vote,
            "measured_votes": len(spent),
            "seconds": per_vote * len(seeds),
            "error": error,
        }

    def by_cg(unit: NDArray[np.float64]) -> NDArray[np.float64]:
        x, failed = cg(A, unit, rtol=cg_tol, atol=0.0)
        if failed:
            raise RuntimeError(f"scipy's cg stopped before {cg_tol:.0e}.")
        return np.asarray(x)

    by_cg(np.eye(1, graph.n_items)[0])
    result["cg"] = measure(by_cg) | {"tol": cg_tol}
    try:
        import pyamg
    except ImportError:
        return result | {"skipped": "pyamg is not installed"}
    begin = time.perf_counter()
    # sqrt(d) is the slowest direction of I - alpha S: telling the hierarchy is to its advantage.
    hierarchy = pyamg.smoothed_aggregation_solver(A, B=graph.inner_root[:, None], symmetry="symmetric")
    preconditioner = hierarchy.aspreconditioner(cycle="V")
    setup = time.perf_counter() - begin

    def by_fgmres(unit: NDArray[np.float64]) -> NDArray[np.float64]:
        x, failed = pyamg.krylov.fgmres(A, unit, tol=fgmres_tol, maxiter=FGMRES_STEPS, M=preconditioner)
        if failed:
            raise RuntimeError(f"fgmres stopped before {fgmres_tol:.0e}.")
        return np.asarray(x)

    by_fgmres(np.eye(1, graph.n_items)[0])
    return result | {"fgmres": measure(by_fgmres) | {"tol": fgmres_tol, "setup_seconds": setup}}


class TimedKernel:
    """What kernel="knn" of LabelSpreading does, with a clock."""

    def __init__(self, n_neighbors: int) -> None:
        self.n_neighbors, self.seconds = n_neighbors, 0.0

    def __call__(self, X: Any, _: Any) -> Any:
        from sklearn.neighbors import NearestNeighbors

        begin = time.perf_counter()
        search = NearestNeighbors(n_neighbors=self.n_neighbors, n_jobs=-1).fit(X)
        graph = search.kneighbors_graph(X, self.n_neighbors, mode="connectivity")
        self.seconds += time.perf_counter() - begin
        return graph


def label_spreading(folder: Path, alpha: float, time_limit: float) -> Record:
    """scikit-learn's LabelSpreading on the same items, votes as labels; its search and its spreading apart.

    The kernel is handed in as a function that does what kernel="knn" does, so that its time can be told
    apart. scikit-learn counts the item itself as a neighbour: n_neighbors + 1 there is n_neighbors here.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neighbors import NearestNeighbors
    from sklearn.semi_supervised import LabelSpreading

    X = np.load(folder / "X.npy")
    with np.load(folder / "votes.npz") as votes:
        y = np.full(len(X), -1)
        y[votes["rows"]] = votes["labels"]
    n_neighbors = min(N_NEIGHBORS + 1, len(X))
    search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=-1).fit(X)
    begin = time.perf_counter()
    search.kneighbors(X[:SEARCH_PROBE])
    expected = (time.perf_counter() - begin) * len(X) / min(SEARCH_PROBE, len(X))
    if expected > time_limit:
        return {
            "skipped": f"its neighbour search would take about {expected:.0f} s, the limit is "
            f"{time_limit:.0f} s"
        }
    kernel = TimedKernel(n_neighbors)
    est = LabelSpreading(kernel=kernel, alpha=alpha, n_neighbors=n_neighbors, n_jobs=-1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        est.fit(X, y)
        took = time.perf_counter() - begin
    return {
        "skipped": None,
        "seconds": took,
        "search_seconds": kernel.seconds,
        "spread_seconds": took - kernel.seconds,
        "iterations": int(est.n_iter_),
        "converged": not any(issubclass(warning.category, ConvergenceWarning) for warning in caught),
        "peak_gib": peak_gib(),
    }


def live(folder: Path, alpha: float, n_votes: int, seed: int) -> Record:
    """Single votes on random items: time, error of the immediate answer, its bound, refinement."""
    warm_up(alpha)
    graph, rows, labels = load_dataset(folder)
    est = fit(graph, rows, labels, alpha, 1e-6)
    rng = np.random.default_rng([seed, 4])
    items = rng.integers(graph.n_items, size=n_votes).tolist()
    classes = rng.integers(N_CLASSES, size=n_votes).tolist()
    result: Record = {"fresh_votes": len(np.setdiff1d(items, rows))}
    times: list[float] = []
    answers: list[float] = []
    cpu_times: list[float] = []
    for name, part in (("one", slice(0, 1)), ("many", slice(1, None))):
        for item, label in zip(items[part], classes[part], strict=True):
            begin, cpu = time.perf_counter(), time.process_time()
            est.update(item, label)
            updated = time.perf_counter()
            cpu_times.append(time.process_time() - cpu)
            est.soft_labels_of([item])
            times.append(updated - begin)
            answers.append(time.perf_counter() - begin)
        result[name] = _immediate_error(est) | {"votes": len(items[part])}
    return result | {
        "median": median(times),
        "cpu_median": median(cpu_times),
        "percentile_95": percentile(times, 0.95),
        "largest": max(times),
        "median_with_answer": median(answers),
        "peak_gib": peak_gib(),
    }


def _immediate_error(est: Any) -> Record:
    """The present state against the refined one, and the time of the refinement."""
    mass, p, bound, stale = est.predict_freq(), est.predict_proba(), est.error_bound_, est.stale_
    begin = time.perf_counter()
    est.refine()
    took = time.perf_counter() - begin
    evidence = est.evidence_
    off = np.abs(mass - est.predict_freq()).max(axis=1)
    off_p = np.abs(p - est.predict_proba()).max(axis=1)
    fresh = (evidence > KEPT_ERROR_ITEMS) & ~stale
    return {
        "refine_seconds": took,
        "mass_error": float(off.max()),
        "mass_bound": float(bound.max()),
        "bound_holds": bool(
            (off <= bound + est.error_bound_).all()
        ),  # the refined state has an error of its own
        "p_error": float(off_p[evidence > KEPT_ERROR_ITEMS].max(initial=0.0)),
        "p_error_not_stale": float(off_p[fresh].max(initial=0.0)),
        "stale_share": float(stale.mean()),
    }


def answers(folder: Path, alpha: float, seed: int) -> Record:
    """What a user asks a fitted estimator for, one call each; a fifth of the votes is given a second vote."""
    warm_up(alpha)
    graph, rows, labels = load_dataset(folder)
    rng = np.random.default_rng([seed, 5])
    again = rng.choice(len(rows), max(1, int(SECOND_VOTES * len(rows))), replace=False)
    changed = np.where(
        rng.random(len(again)) < LABEL_NOISE, rng.integers(N_CLASSES, size=len(again)), labels[again]
    )
    est = fit(graph, np.append(rows, rows[again]), np.append(labels, changed), alpha, 1e-6)
    unvoted = int(np.setdiff1d(np.arange(graph.n_items), rows)[0])
    calls: dict[str, Callable[[], Any]] = {
        "wilson intervals": lambda: est.predict_interval(method="wilson"),
        "hoeffding intervals": lambda: est.predict_interval(method="hoeffding"),
        "calibrated intervals": lambda: est.predict_interval(method="calibrated"),
        "calibrated again, other level": lambda: est.predict_interval(
            confidence_level=0.95, method="calibrated"
        ),
        "first query of 100": lambda: est.query(100, random_state=seed),
        "next query of 100": lambda: est.query(100, random_state=seed + 1),
        "explain one item": lambda: est.explain(unvoted),
        "quality": lambda: est.quality(random_state=seed),
        "forecast": lambda: est.forecast(len(rows), random_state=seed),
    }
    times, cpu_times = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as an estimated Lipschitz constant; here only time counts
        for name, call in calls.items():
            begin, cpu = time.perf_counter(), time.process_time()
            call()
            times[name], cpu_times[name] = time.perf_counter() - begin, time.process_time() - cpu
    return {"times": times, "cpu_times": cpu_times, "peak_gib": peak_gib()}


TASKS: dict[str, Callable[..., Record]] = {
    task.__name__: task for task in (dataset, search, ours, truth, rivals, label_spreading, live, answers)
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](Path(sys.argv[2]), **json.loads(sys.argv[3]))))
