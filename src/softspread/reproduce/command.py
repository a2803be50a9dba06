"""The command ``softspread reproduce``: parse, run plans, print what was found.

Only typer is imported here; everything heavy is imported when the command runs, so that ``--help`` answers at
once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from softspread.reproduce.present.findings import Finding
    from softspread.reproduce.run import Progress

Guard = Callable[[Callable[..., None]], Callable[..., None]]


def add_commands(app: typer.Typer, guard: Guard) -> None:
    """Register the command on an app; ``guard`` turns exceptions into messages and exit codes."""

    @app.command()
    @guard
    def reproduce(
        names: Annotated[
            list[str], typer.Argument(help="list, all, names of experiments, or paths of plans.")
        ],
        full: Annotated[
            bool, typer.Option("--full/--quick", help="All draws and settings, for hours; or minutes.")
        ] = False,
        data: Annotated[
            Path | None, typer.Option(help="Folder with one folder for each downloaded dataset.")
        ] = None,
        out: Annotated[
            Path, typer.Option(help="Folder for results; what it already holds is not run again.")
        ] = Path("softspread-reproduce"),
        jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
        seed: Annotated[int, typer.Option(min=0, help="Of all draws.")] = 0,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
        quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")] = False,
        debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    ) -> None:
        """Rerun the paper's tables and figures.

        Experiments on two moons, the sine curve and the digits need no data. Others are read from local
        copies below
        --data; what is not there is left out, with a message that says what to download. Stop at any time:
        the same command goes on where it stopped.

        Example: softspread reproduce rmse_10 evidence --jobs 2
        """
        if names == ["list"]:
            _list(as_json)
        else:
            _reproduce(names, full, data, out, jobs, seed, as_json, quiet)


def _list(as_json: bool) -> None:
    import json

    from softspread.reproduce.plan import load_plan, plan_names

    plans = [load_plan(name) for name in plan_names()]
    if as_json:
        rows = [
            {"name": plan.name, "title": plan.title, "paper": plan.paper, "trials": len(plan.trials())}
            for plan in plans
        ]
        typer.echo(json.dumps(rows, indent=2))
        return
    width = max(len(plan.name) for plan in plans)
    for plan in plans:
        typer.echo(f"{plan.name:<{width}}  {plan.title} ({plan.paper or 'not in the paper'})")
    typer.echo(
        "Datasets that are not found below --data are left out. Run all of them: softspread reproduce all"
    )


def _reproduce(
    names: list[str],
    full: bool,
    data: Path | None,
    out: Path,
    jobs: int,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    import json
    import time

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
    progress, started = Progress(), time.monotonic()
    shown: dict[str, Shown] = {}

    def finished(plan: Plan, frame: Any) -> None:
        shown[plan.name] = present(plan, frame, out)

    n_trials = sum(len(plan.trials(seed)) for plan in plans)
    with Processes(jobs) as processes, progress_bar("trials", n_trials, not quiet and not as_json) as advance:
        frames = run_plans(
            plans,
            out,
            data=data,
            processes=processes,
            seed=seed,
            advance=advance,
            progress=progress,
            finished=finished,
        )
    ordered = [shown[plan.name] for plan in plans]
    seconds = {
        name: float(frame["cpu_seconds"].sum()) for name, frame in frames.items() if "cpu_seconds" in frame
    }
    options = f"{'--full' if full else '--quick'} --seed {seed}" + ("" if data is None else f" --data {data}")
    command = f"softspread reproduce {' '.join(names)} {options}"
    found = write_page(ordered, out, command, progress.skipped)
    if as_json:
        document: dict[str, Any] = {
            "command": "reproduce",
            "experiments": [plan.name for plan in plans],
            "run": progress.n_run,
            "kept": progress.n_kept,
            "skipped": progress.skipped,
            "findings": [one.to_json() for one in found],
            "seconds": round(time.monotonic() - started, 1),
            "cpu_seconds": {name: round(value, 1) for name, value in seconds.items()},
            "report": str(out / "report.html"),
        }
        typer.echo(json.dumps(document, indent=2))
    elif not quiet:
        for one in ordered:
            if one.table is not None:
                typer.echo(f"\n{one.plan.title}\n{one.table.to_markdown()}")
        _print_end(found, progress, out, time.monotonic() - started)


def _print_end(found: "list[Finding]", progress: "Progress", out: Path, seconds: float) -> None:
    for one in found:
        typer.echo(one.line())
    for reason, number in progress.skipped.items():
        typer.echo(f"left out, {number} trials: {reason}", err=True)
    typer.echo(
        f"{progress.n_run} trials run, {progress.n_kept} already there, {seconds:.0f} s. "
        f"Report: {out / 'report.html'}; tables and figures in {out}."
    )
