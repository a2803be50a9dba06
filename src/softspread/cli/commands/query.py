"""``softspread query``: which items to vote on next."""

from pathlib import Path
from typing import Annotated, Any

from softspread.cli.options import FitInputs, option
from softspread.cli.runner import Run, command, print_table

OUTPUT_ENDINGS = (".csv", ".jsonl", ".json")


@command(own=("out",))
def query(
    run: Run,
    inputs: FitInputs,
    batch_size: Annotated[int, option("How many items.", "--batch-size", "-n", min=1)] = 10,
    strategy: Annotated[str, option("{strategies}.")] = "uncertainty",
    exclude: Annotated[Path | None, option("Ids never to pick, in a file as for --ids.")] = None,
    out: Annotated[
        Path | None,
        option("Also write the items: .csv, .jsonl, or .json for tasks.", "--out", "-o"),
    ] = None,
) -> None:
    """Say which items to vote on next.

    Example: softspread query --embeddings X.npy --votes votes.csv --batch-size 50 --out next.csv
    """
    inputs.check_files()
    _check_output(out)
    excluded = _check_picking(strategy, exclude)

    from softspread.cli import fitting

    fit = fitting.fit(run, inputs)
    with run.stage("choosing"):
        exclude_ids = None if excluded is None else fit.items.names[fit.items.rows_of(excluded)]
        picked = fit.est.query(batch_size, strategy, exclude=exclude_ids, random_state=run.seed)
        labels = fit.est.soft_labels().take(fit.items.rows_of(picked))
    columns = {"item": picked, "label": labels.labels, "p": labels.p.max(axis=1), "evidence": labels.evidence}
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    table = [dict(zip(columns, row, strict=True)) for row in rows]
    if out is not None:
        _write(out, table)
    document = {"strategy": strategy, "alpha": fit.est.alpha_, "items": table, "out": out}
    run.answer(document, lambda console: _show(console, table, out))


def _check_output(out: Path | None) -> None:
    from softspread._common.atomic import check_target
    from softspread.errors import InputError

    if out is None:
        return
    if out.suffix.lower() not in OUTPUT_ENDINGS:
        raise InputError(
            f"{out} ends in {out.suffix or 'nothing'!r}; items may be .csv, .jsonl, or .json for tasks."
        )
    check_target(out)


def _check_picking(strategy: str, exclude: Path | None) -> Any:
    """Check what matters only after the fit, which may take minutes; the ids to leave out, or None."""
    from softspread.io.ids import read_ids
    from softspread.queries.registry import STRATEGIES

    STRATEGIES.check(strategy)
    return None if exclude is None else read_ids(exclude)


def _write(out: Path, table: list[dict[str, Any]]) -> None:
    import json

    import pandas as pd

    from softspread._common.atomic import write_text

    if out.suffix.lower() == ".csv":
        write_text(out, pd.DataFrame(table).to_csv(index=False, lineterminator="\n"))
        return
    tasks = [{"data": {"item": row["item"]}} for row in table]
    documents = [tasks] if out.suffix.lower() == ".json" else table
    write_text(out, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in documents))


def _show(console: Any, table: list[dict[str, Any]], out: Path | None) -> None:
    rows = [(row["item"], row["label"], f"{row['p']:.2f}", f"{row['evidence']:.3g}") for row in table]
    print_table(console, "Vote on these next", ("item", "now most probable"), ("p", "evidence"), rows)
    if out is not None:
        console.print(f"Written: {out}", markup=False, soft_wrap=True)
