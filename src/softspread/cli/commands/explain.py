"""``softspread explain``: the votes behind one soft label."""

from typing import Annotated, Any

import typer

from softspread.cli.options import FitInputs, option
from softspread.cli.runner import Run, command, print_table

SHOWN_CLASSES = 5  # the most probable ones


@command()
def explain(
    run: Run,
    item: Annotated[str, typer.Argument(help="The item to explain, by its id or position.")],
    inputs: FitInputs,
    top: Annotated[int, option("How many votes to show.", min=1)] = 10,
) -> None:
    """Show the votes behind one soft label.

    A soft label is a weighted mean of votes; these are the heaviest.

    Example: softspread explain 42 --embeddings X.npy --votes votes.csv
    """
    inputs.spreading_alone().check()

    from softspread.cli import fitting

    fit = fitting.fit(run, inputs.spreading_alone())
    rows = fit.items.rows_of([item])
    name = fit.items.names[rows].tolist()[0]
    with run.stage("explaining"):
        table = fit.est.explain(name, top)
        labels = fit.est.soft_labels().take(rows)
    document = {
        "item": name,
        "soft_label": dict(zip(map(str, labels.classes.tolist()), labels.p[0].tolist(), strict=True)),
        "evidence": float(labels.evidence[0]),
        **fit.method,
        "votes": table.to_dict("records"),
    }
    run.answer(document, lambda console: _show(console, document))


def _show(console: Any, document: dict[str, Any]) -> None:
    console.print(f"Item {document['item']}: evidence {document['evidence']:.3g} votes' worth", markup=False)
    for label, p in sorted(document["soft_label"].items(), key=lambda entry: -entry[1])[:SHOWN_CLASSES]:
        console.print(f"  {label:<20} {p:6.1%} {'█' * round(30 * p)}", markup=False)
    rows = document["votes"]
    if not rows:
        console.print("No vote reaches this item: its soft label is the prior.")
        return
    names = [name for name in rows[0] if name != "weight"]
    cells = [(*(row[name] for name in names), f"{row['weight']:.1%}") for row in rows]
    print_table(console, "The heaviest votes behind it", names, ("weight",), cells)
    console.print(f"Together {sum(row['weight'] for row in rows):.0%} of its evidence.")
