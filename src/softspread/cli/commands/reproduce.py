"""``softspread reproduce``: rerun the paper's tables and figures from plans."""

from pathlib import Path
from typing import Annotated, Any

import typer

from softspread.cli.options import option
from softspread.cli.runner import Run, command


@command(own=("out",))
def reproduce(
    run: Run,
    names: Annotated[list[str], typer.Argument(help="list, all, names of experiments, or paths of plans.")],
    full: Annotated[bool, option("All draws and settings, for hours; or minutes.", "--full/--quick")] = False,
    data: Annotated[Path | None, option("Folder with one folder for each downloaded dataset.")] = None,
    out: Annotated[
        Path, option("Folder for results; what it already holds is not run again.", "--out", "-o")
    ] = Path("softspread-reproduce"),
    jobs: Annotated[int, option("Processes.", min=1)] = 1,
) -> None:
    """Rerun the paper's tables and figures.

    Experiments on two moons, the sine curve and the digits need no data. Others are read from local copies
    below --data; what is not there is left out, with a message that says what to download. Stop at any time:
    the same command goes on where it stopped.

    Example: softspread reproduce rmse_10 evidence --jobs 2
    """
    if names == ["list"]:
        _list(run)
    else:
        _reproduce(run, names, full, data, out, jobs)


def _list(run: Run) -> None:
    from softspread.reproduce.plan import load_plan, plan_names

    plans = [load_plan(name) for name in plan_names()]

    width = max(len(plan.name) for plan in plans)
    lines = [f"{plan.name:<{width}}  {plan.title} ({plan.paper or 'not in the paper'})" for plan in plans]
    lines.append("Datasets that are not found below --data are left out. Run all: softspread reproduce all")
    rows = [
        {"name": plan.name, "title": plan.title, "paper": plan.paper, "trials": len(plan.trials())}
        for plan in plans
    ]
    run.answer(rows, "\n".join(lines))


def _reproduce(run: Run, names: list[str], full: bool, data: Path | None, out: Path, jobs: int) -> None:
    from softspread._common.progress import progress_bar
    from softspread.errors import InputError
    from softspread.reproduce.plan import Plan, load_plan, plan_names
    from softspread.reproduce.pool import Processes
    from softspread.reproduce.present.page import Shown, present, write_page
    from softspread.reproduce.run import Progress, make_folder, run_plans

    if data is not None and not data.is_dir():
        raise InputError(f"--data {data} is no folder; it should hold one folder for each dataset.")
    wanted = plan_names() if names == ["all"] else list(dict.fromkeys(names))
    plans = [load_plan(name, quick=not full) for name in wanted]
    make_folder(out)
    progress, shown = Progress(), dict[str, Shown]()

    def finished(plan: Plan, frame: Any) -> None:
        shown[plan.name] = present(plan, frame, out)

    n_trials = sum(len(plan.trials(run.seed)) for plan in plans)
    visible = not run.common.quiet and not run.common.as_json
    with Processes(jobs) as processes, progress_bar("trials", n_trials, visible) as advance:
        frames = run_plans(
            plans,
            out,
            data=data,
            processes=processes,
            seed=run.seed,
            advance=advance,
            progress=progress,
            finished=finished,
        )
    ordered = [shown[plan.name] for plan in plans]
    options = f"{'--full' if full else '--quick'} --seed {run.seed}" + (f" --data {data}" if data else "")
    typed = f"softspread reproduce {' '.join(names)} {options}"
    found = write_page(ordered, out, typed, progress.skipped, options)
    for reason, number in progress.skipped.items():
        run.note(f"left out, {number} trials: {reason}")

    tables = [f"\n{one.plan.title}\n{one.table.to_markdown()}" for one in ordered if one.table is not None]
    end = (
        f"{progress.n_run} trials run, {progress.n_kept} already there, {run.seconds:.0f} s. "
        f"Report: {out / 'report.html'}; tables and figures in {out}."
    )
    document = {
        "experiments": [plan.name for plan in plans],
        "run": progress.n_run,
        "kept": progress.n_kept,
        "skipped": progress.skipped,
        "findings": [one.to_json() for one in found],
        "seconds": round(run.seconds, 1),
        "cpu_seconds": {
            name: round(float(frame["cpu_seconds"].sum()), 1)
            for name, frame in frames.items()
            if "cpu_seconds" in frame
        },
        "report": out / "report.html",
    }
    run.answer(document, "\n".join([*tables, *(one.line() for one in found), end]))
