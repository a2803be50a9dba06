"""From a built graph to soft labels: ours beside one solve per vote and scikit-learn.

`python -m benchmarks.bench_whole_job --sizes 1000,10000`; benchmarks/README.md says what each column means.
"""

from pathlib import Path

from benchmarks._common import Record, Report, Settings, prepare_dataset, run_task, say, seconds, show_table

DEFAULT_TOL, TIGHT_TOL = 1e-6, 1e-8
LARGEST_ERROR = {DEFAULT_TOL: 1e-4, TIGHT_TOL: 1e-6}  # of p, by tol
TARGET_ALPHA = 0.9
LEAST_RATIO = {10_000: 50.0, 100_000: 1_000.0, 1_000_000: 15_000.0}  # against one FGMRES solve per vote
MILLION = 1_000_000
MILLION_SECONDS, MILLION_GIB = 30.0, 2.0  # without k-NN
MILLION_SEARCH_SECONDS, LEAST_RECALL = 75.0, 0.999
# The reference solves every vote up to this size, beyond a sample of items is compared
ALL_VOTES_UP_TO = 10_000
HEADER = (
    "n",
    "alpha",
    "way",
    "whole job",
    "per vote",
    "setup / k-NN",
    "memory",
    "max |p - literal|",
    "ours is faster",
)


def run(settings: Settings, folder: Path, report: Report) -> None:
    """Measure every size and alpha, keep the records, show a table for each size as soon as it is there."""
    for n in settings.sizes:
        say(f"whole job, n = {n:,}: items, neighbours")
        home = prepare_dataset(settings, folder, n, report)
        search = next(
            record for record in report.records if record["bench"] == "neighbors" and record["n"] == n
        )
        _judge_search(report, search)
        rows = [_search_row(search)]
        for alpha in settings.alphas:
            say(f"whole job, n = {n:,}, alpha = {alpha:g}: ours, its error, one solve per vote, scikit-learn")
            rows.extend(_measure(settings, home, report, n, alpha))
        say(
            f"\nWhole job, n = {n:,}, {search['votes']:,} votes; one solve per vote: extrapolated from a "
            "sample"
        )
        show_table(HEADER, rows, left=("way",))
        say("")


def _measure(settings: Settings, home: Path, report: Report, n: int, alpha: float) -> list[tuple[str, ...]]:
    where: Record = {"n": n, "alpha": alpha}
    repeats = 1 if n >= MILLION else settings.repeats
    tols = [DEFAULT_TOL, TIGHT_TOL] if n <= settings.tight_up_to else [DEFAULT_TOL]
    found = {tol: run_task("ours", home, alpha=alpha, tol=tol, repeats=repeats) for tol in tols}
    truth = run_task(
        "truth",
        home,
        alpha=alpha,
        tols=tols,
        all_votes_up_to=ALL_VOTES_UP_TO,
        time_limit=settings.truth_seconds,
        seed=settings.seed,
    )
    records = {}
    for tol in tols:
        error = truth["errors"][f"{tol:g}"]
        records[tol] = report.add(bench="whole_job", what="ours", **where, tol=tol, **found[tol], **error)
        limit = LARGEST_ERROR[tol]
        report.judge("max |p - p_literal|", error["error"], limit, **where, tol=tol)
    mine = records[DEFAULT_TOL]
    rivals = run_task(
        "rivals", home, alpha=alpha, most_votes=settings.rival_votes, time_limit=settings.rival_seconds
    )
    spreading = run_task("label_spreading", home, alpha=alpha, time_limit=settings.label_spreading_seconds)
    rows = [_our_row(records[tol]) for tol in tols]
    for name in ("fgmres", "cg"):
        rival = rivals[name]
        if rival is None:
            report.add(bench="whole_job", what=name, **where, skipped=rivals["skipped"])
            say(f"  {name} skipped: {rivals['skipped']}")
            continue
        report.add(
            bench="whole_job",
            what=name,
            **where,
            extrapolated=rival["measured_votes"] < rivals["votes"],
            **rival,
        )
        ratio = _ratio(report, where, name, rival["seconds"], mine["seconds"])
        rows.append(_rival_row(name, where, rival, ratio))
        if name == "fgmres" and alpha == TARGET_ALPHA and n in LEAST_RATIO:
            report.judge(
                "times faster than one FGMRES solve per vote", ratio, LEAST_RATIO[n], at_least=True, **where
            )
    report.add(bench="whole_job", what="label_spreading", **where, **spreading)
    if spreading["skipped"]:
        say(f"  scikit-learn's LabelSpreading skipped: {spreading['skipped']}")
    else:
        ratio = _ratio(report, where, "label_spreading", spreading["spread_seconds"], mine["seconds"])
        rows.append(_spreading_row(where, spreading, ratio))
    if n == MILLION and alpha == TARGET_ALPHA:
        report.judge("whole job without k-NN, s", mine["seconds"], MILLION_SECONDS, **where)
        report.judge("peak memory without k-NN, GiB", mine["peak_gib"], MILLION_GIB, **where)
    return rows


def _ratio(report: Report, where: Record, over: str, rival: float, ours: float) -> float:
    """Both times are from this run."""
    ratio = rival / ours
    report.add(bench="ratio", over=over, **where, rival_seconds=rival, ours_seconds=ours, ratio=ratio)
    return ratio


def _judge_search(report: Report, search: Record) -> None:
    report.judge("recall of the neighbours", search["recall"], LEAST_RECALL, at_least=True, n=search["n"])
    if search["n"] == MILLION:
        report.judge("k-NN graph, s", search["seconds"], MILLION_SEARCH_SECONDS, n=MILLION)


def _search_row(search: Record) -> tuple[str, ...]:
    way = f"k-NN graph ({search['index']}), recall {search['recall']:.4f}"
    memory = f"{search['peak_gib']:.2f} GiB"
    return (f"{search['n']:,}", "", way, "", "", seconds(search["seconds"]), memory, "", "")


def _our_row(record: Record) -> tuple[str, ...]:
    way = f"ours, tol {record['tol']:g} ({record['solver']}, scales {seconds(record['scale_seconds'])})"
    error = f"{record['error']:.1e}"
    if record["compared"] == "sample":
        error += f" (sample, unseen {record['unseen']:.0e})"
    memory = f"{record['peak_gib']:.2f} GiB"
    return ("", f"{record['alpha']:g}", way, seconds(record["seconds"]), "", "", memory, error, "")


def _rival_row(name: str, where: Record, rival: Record, ratio: float) -> tuple[str, ...]:
    label = {"fgmres": "PyAMG FGMRES", "cg": "SciPy CG"}[name]
    way = f"{label} per vote, tol {rival['tol']:g} ({rival['measured_votes']} votes)"
    setup = seconds(rival.get("setup_seconds")) if name == "fgmres" else ""
    error = "" if rival["error"] is None else f"{rival['error']:.1e}"
    job, vote = seconds(rival["seconds"]), seconds(rival["per_vote"])
    return ("", f"{where['alpha']:g}", way, job, vote, setup, "", error, f"{ratio:,.1f} x")


def _spreading_row(where: Record, found: Record, ratio: float) -> tuple[str, ...]:
    settled = f"{found['iterations']} steps" + ("" if found["converged"] else ", not converged")
    way = f"scikit-learn LabelSpreading ({settled})"
    job, search, memory = (
        seconds(found["spread_seconds"]),
        seconds(found["search_seconds"]),
        f"{found['peak_gib']:.2f} GiB",
    )
    return ("", f"{where['alpha']:g}", way, job, "", search, memory, "", f"{ratio:,.1f} x")


if __name__ == "__main__":
    from benchmarks.__main__ import main

    main(only="whole_job")
