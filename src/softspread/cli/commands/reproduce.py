"""``softspread reproduce``: rerun the paper's tables and figures from plans."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.cli.options import option
from softspread.cli.runner import FAILURE, Run, command, print_table
from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.reproduce.prepare import Step
    from softspread.reproduce.present.findings import Finding
    from softspread.reproduce.present.page import Shown
    from softspread.reproduce.run import Progress

UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


@dataclass(frozen=True, slots=True)
class PrepareOptions:
    """How datasets are prepared."""

    models: Annotated[
        Path | None,
        option("For prepare: folder with clip, resnet, vit and efficientnet; else Hugging Face's cache."),
    ] = None
    only: Annotated[
        str | None, option("For prepare: of features, reduced, zero-shot and soft-labels, joined by commas.")
    ] = None
    device: Annotated[str, option("For prepare: auto, cpu, cuda, cuda:1, mps.")] = "auto"
    dry_run: Annotated[
        bool, option("For prepare: show the steps with time and space, and do nothing.", "--dry-run")
    ] = False


@command(own=("out", "device", "models"))
def reproduce(
    run: Run,
    names: Annotated[
        list[str],
        typer.Argument(help="list, all, names of experiments, paths of plans, or prepare and datasets."),
    ],
    preparing: PrepareOptions,
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

    With prepare, what the experiments need is made of downloaded datasets: features by three encoders,
    zero-shot predictions and soft labels by fine-tuning.

    Example: softspread reproduce rmse_10 evidence --jobs 2

    Example: softspread reproduce prepare cifar10h --data data --dry-run
    """
    if names == ["list"]:
        _list(run)
    elif names[0] == "prepare":
        _prepare(run, names[1:], data, preparing)
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
    from softspread.reproduce.checks import check_plan
    from softspread.reproduce.plan import Plan, load_plan, plan_names
    from softspread.reproduce.pool import Processes
    from softspread.reproduce.present.page import present, write_page
    from softspread.reproduce.run import Progress, make_folder, run_plans

    if data is not None and not data.is_dir():
        raise InputError(f"--data {data} is not a folder; it should hold one folder for each dataset.")
    wanted = plan_names() if names == ["all"] else list(dict.fromkeys(names))
    plans = [load_plan(name, quick=not full) for name in wanted]
    for plan in plans:
        check_plan(plan)
    make_folder(out)
    progress, shown = Progress(), {}

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
    _answer(run, out, ordered, found, frames, progress)


def _answer(
    run: Run,
    out: Path,
    ordered: "Sequence[Shown]",
    found: "Sequence[Finding]",
    frames: Mapping[str, Any],
    progress: "Progress",
) -> None:
    """Say what was run, kept and left out, with the tables and findings."""
    tables = [f"\n{one.plan.title}\n{one.table.to_markdown()}" for one in ordered if one.table is not None]
    end = (
        f"{progress.n_run} trials run, {progress.n_kept} already there, {run.seconds:.0f} s. "
        f"Report: {out / 'report.html'}; tables and figures in {out}."
    )
    document = {
        "experiments": [one.plan.name for one in ordered],
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


# ---------------------------------------------------------------------------------------------------- prepare
def _prepare(run: Run, names: list[str], data: Path | None, options: PrepareOptions) -> None:
    from softspread.reproduce.prepare import KINDS, Settings, dataset_names, plan_steps, run_steps, with_times

    if data is None or not data.is_dir():
        raise InputError(
            "prepare needs --data, the folder that holds one folder for each dataset; "
            f"{'it was not given' if data is None else f'{data} is none'}."
        )
    if options.models is not None and not options.models.is_dir():
        raise InputError(
            f"--models {options.models} is not a folder; it should hold clip, resnet, vit, efficientnet."
        )
    wanted = KINDS if options.only is None else tuple(part.strip() for part in options.only.split(","))
    if not wanted or not set(wanted) <= set(KINDS):
        raise InputError(f"--only takes {', '.join(KINDS)}, joined by commas, got {options.only!r}.")
    shown = not run.common.quiet and not run.common.as_json
    settings = Settings(data, options.models, wanted, options.device, run.seed, verbose=shown)
    chosen = dataset_names(names or ["all"], data)
    steps: list[Step] = []
    if options.dry_run:
        steps = with_times([step for name in chosen for step in plan_steps(name, settings)], settings)
    else:
        for name in chosen:
            for step in run_steps(name, settings):
                run.note(_in_words(step))
                steps.append(step)
    missing = dict.fromkeys(step.reason for step in steps if step.reason)
    document = {
        "dry_run": options.dry_run,
        "steps": [step.to_json() for step in steps],
        "missing": [*missing],
    }
    run.answer(document, lambda console: _show_steps(console, steps, list(missing)))
    if missing and not options.dry_run:
        raise typer.Exit(FAILURE)


def _in_words(step: "Step") -> str:
    if step.state == "made":
        return f"{step.target}: made in {duration(step.seconds)}"
    return f"{step.target}: {'already there' if step.state == 'done' else step.state}"


def _show_steps(console: Any, steps: list["Step"], missing: list[str]) -> None:
    rows = [
        [
            step.dataset,
            step.target.name if step.kind != "dataset" else "",
            f"{step.n_items:,}" if step.n_items else "",
            space(step.megabytes) if step.state != "done" else "",
            duration(step.seconds),
            step.state,
        ]
        for step in steps
    ]
    print_table(console, "", ("dataset", "file"), ("items", "space", "time", "state"), rows)
    left = [step for step in steps if step.state == "to do"]
    if left:
        total = sum(step.seconds for step in left), sum(step.megabytes for step in left)
        console.print(
            f"To do: {len(left)} files, about {duration(total[0])} and {space(total[1])}, twice that on the "
            "way. Times are measured on a few images; that of the reduction is taken from an earlier run.",
            style="dim",
        )
    for reason in missing:
        console.print(f"Not made: {reason}", markup=False)


def duration(seconds: float) -> str:
    """Seconds in the largest unit that fits; empty where they are unknown.

    Examples
    --------
    >>> duration(0.4), duration(90), duration(5400), duration(float("nan"))
    ('0.4 s', '1.5 min', '1.5 h', '')
    """
    if math.isnan(seconds):
        return ""
    for size, name in UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} s"


def space(megabytes: float) -> str:
    """Megabytes, or gigabytes from a thousand on; empty where they are unknown.

    Examples
    --------
    >>> space(0.02), space(12), space(2500), space(float("nan"))
    ('0.02 MB', '12 MB', '2.5 GB', '')
    """
    if math.isnan(megabytes):
        return ""
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes:.2g} MB"
