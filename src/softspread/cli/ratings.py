"""``softspread spread --kind rating``: from files to a table of mean ratings."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.arrow import check_parquet
from softspread._common.atomic import check_target, replaced_file
from softspread.cli.items import build_graph, load_items
from softspread.cli.options import FitInputs, number
from softspread.cli.runner import Run, print_table
from softspread.errors import InputError
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.rating import RatingSpreading
from softspread.io.ids import rows_of_ids
from softspread.io.spreadsheets import frame_for_csv
from softspread.io.tables import shown
from softspread.io.votes import read_vote_files

ENDINGS = (".parquet", ".csv", ".jsonl")


def spread_ratings(run: Run, inputs: FitInputs, out: Path, confidence: float) -> None:
    """Fit, write one row per item and say how it went."""
    if out.suffix.lower() not in ENDINGS:
        raise InputError(f"{out} ends in {out.suffix or 'nothing'!r}; ratings may be {', '.join(ENDINGS)}.")
    check_target(out)
    check_parquet(out)
    scale = scale_of(inputs.votes.scale)
    parameters = {name: value for name, value in inputs.fit.parameters.items() if name == "alpha"}
    items = load_items(run, inputs.items)
    with run.stage("ratings") as tell:
        table = _table(inputs, items.item_ids, items.n_items)
        tell(f"{len(table):,} on {table['item'].nunique():,} items")
    items = build_graph(run, items, inputs.graph)
    est = RatingSpreading(
        estimator=SoftLabeler(**parameters, n_jobs=inputs.graph.threads, random_state=run.seed),
        scale=scale,
        annotator_model="none" if inputs.fit.annotator_model == "none" else "auto",
        random_state=run.seed,
    )
    with run.stage("fit", own_bars=items.are_many):
        est.fit(items.X, table, item_ids=items.item_ids)
    found = est.to_frame(confidence)
    with replaced_file(out) as temporary:
        _write(temporary, out.suffix.lower(), found)
    people = est.annotators_
    document = {
        "kind": "rating",
        "n_items": len(found),
        "ratings": len(table),
        "scale": list(est.scale_),
        "confidence_level": confidence,
        "median_std": float(found["std"].median()),
        "median_width": float((found["upper"] - found["lower"]).median()),
        "annotators": None if people is None else people.to_dict("records"),
        "out": [str(out)],
        "seconds": run.seconds,
    }
    run.answer(document, lambda console: _show(console, document))


def scale_of(text: str | None) -> tuple[float, float] | None:
    """Lowest and highest rating from ``1,5``.

    Examples
    --------
    >>> scale_of("1, 5")
    (1.0, 5.0)
    """
    if text is None:
        return None
    ends = text.split(",")
    if len(ends) != 2:
        raise InputError(f"--scale must be the lowest and the highest rating, such as 1,5; got {text!r}.")
    low, high = (number("scale", end.strip(), float) for end in ends)
    return low, high


def _table(inputs: FitInputs, item_ids: Any, n_items: int) -> pd.DataFrame:
    file = read_vote_files(*inputs.votes.files(), how=inputs.votes.reading())
    rows = rows_of_ids(file.items, item_ids, n_items)
    unknown = rows < 0
    if unknown.any() and not inputs.votes.skip_unknown:
        raise InputError(
            f"{file.source}: {int(unknown.sum()):,} ratings name unknown items: "
            f"{shown(file.items[unknown])}. Correct the file, or leave them out by --skip-unknown."
        )
    names = np.arange(n_items) if item_ids is None else item_ids
    table = pd.DataFrame({"item": names[rows[~unknown]], "rating": file.labels[~unknown]})
    return table if file.annotators is None else table.assign(annotator=file.annotators[~unknown])


def _write(path: Path, ending: str, found: pd.DataFrame) -> None:
    if ending == ".parquet":
        found.to_parquet(path, index=False)
    elif ending == ".csv":
        frame_for_csv(found).to_csv(path, index=False, lineterminator="\n")
    else:
        found.to_json(path, orient="records", lines=True, force_ascii=False)


def _show(console: Any, document: dict[str, Any]) -> None:
    low, high = document["scale"]
    console.print(
        f"Mean ratings of {document['n_items']:,} items from {document['ratings']:,} ratings between "
        f"{low:g} and {high:g}",
        markup=False,
    )
    console.print(
        f"  people differ by {document['median_std']:.2g} (standard deviation); intervals of the mean are "
        f"{document['median_width']:.2g} wide (median, {document['confidence_level']:.0%})",
        markup=False,
    )
    if document["annotators"]:
        rows = [
            (row["annotator"], row["ratings"], f"{row['offset']:+.2f}", f"{row['scale']:.2f}")
            for row in document["annotators"][:10]
        ]
        print_table(console, "Removed from annotators", ("annotator",), ("ratings", "offset", "scale"), rows)
    console.print(f"Written: {document['out'][0]}", markup=False, soft_wrap=True)
