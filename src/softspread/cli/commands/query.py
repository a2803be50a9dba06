"""``softspread query``: which items to vote on next."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from softspread._common.kinds import MULTILABEL
from softspread.cli.options import FitInputs, option
from softspread.cli.runner import Run, command, print_table

if TYPE_CHECKING:
    from softspread.cli.fitting import Fit

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

    Without --votes the first batch covers all items. The file has an empty column 'label' to fill in and to
    give back as votes; 'guess' is the most probable class so far.

    Example: softspread query --embeddings X.npy --votes votes.csv --batch-size 50 --out next.csv
    """
    inputs.check(needs_votes=False)
    _check_output(out)
    excluded = _check_picking(strategy, exclude)

    from softspread.cli import fitting

    fit = fitting.fit(run, inputs, needs_votes=False)
    with run.stage("choosing"):
        exclude_ids = None if excluded is None else fit.items.names[fit.items.rows_of(excluded)]
        picked = fit.est.query(batch_size, strategy, exclude=exclude_ids, random_state=run.seed)
        table = _table(fit, picked)
    if out is not None:
        _write(out, table)
    document = {"strategy": strategy, **fit.method, "items": table, "out": out}
    run.answer(document, lambda console: _show(console, table, out))


def _table(fit: "Fit", picked: Any) -> list[dict[str, Any]]:
    """One row per item: the label to fill in, and the guess so far where votes or a prior give one."""
    items = picked.tolist()
    if fit.votes is None and fit.est.prior is None:
        return [{"item": item, "label": None, "guess": None, "p": None, "evidence": None} for item in items]
    p = fit.est.soft_labels_of(picked)
    guesses, evidence = fit.est.classes_[p.argmax(axis=1)], fit.est.evidence_[fit.items.rows_of(picked)]
    found = guesses.tolist()
    if getattr(fit.est, "kind", None) == MULTILABEL:  # as a file of votes has them
        found = [";".join(map(str, fit.est.classes_[row].tolist())) for row in p >= 0.5]
    columns = zip(items, found, p.max(axis=1).tolist(), evidence.tolist(), strict=True)
    return [
        {"item": item, "label": None, "guess": guess, "p": share, "evidence": votes}
        for item, guess, share, votes in columns
    ]


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
    from softspread.io.spreadsheets import frame_for_csv

    if out.suffix.lower() == ".csv":
        write_text(out, frame_for_csv(pd.DataFrame(table)).to_csv(index=False, lineterminator="\n"))
        return
    tasks = [{"data": {"item": row["item"]}} for row in table]
    documents = [tasks] if out.suffix.lower() == ".json" else table
    write_text(out, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in documents))


def _show(console: Any, table: list[dict[str, Any]], out: Path | None) -> None:
    if table and table[0]["guess"] is None:
        console.print("Vote on these first:", *(row["item"] for row in table), sep="\n  ", markup=False)
    else:
        rows = [(row["item"], row["guess"], f"{row['p']:.2f}", f"{row['evidence']:.3g}") for row in table]
        print_table(console, "Vote on these next", ("item", "guess so far"), ("p", "evidence"), rows)
    if out is not None:
        console.print(f"Written: {out}", markup=False, soft_wrap=True)
