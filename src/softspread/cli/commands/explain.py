"""``softspread explain``: the votes behind one soft label."""

from typing import Annotated, Any

import typer

from softspread.cli.options import FitInputs
from softspread.cli.runner import Run, command


@command()
def explain(
    run: Run,
    item: Annotated[str, typer.Argument(help="The item to explain, by its id or position.")],
    inputs: FitInputs,
    top: Annotated[int, typer.Option(min=1, help="How many votes to show.")] = 10,
) -> None:
    """Show the votes behind one soft label.

    A soft label is a weighted mean of votes; these are the heaviest.

    Example: softspread explain 42 --embeddings X.npy --votes votes.csv
    """
    inputs.check_files()

    from softspread.cli import fitting

    fit = fitting.fit(run, inputs)
    name = fit.items.find(item)
    with run.stage("explaining"):
        table = fit.est.explain(name, top)
        row = int(fit.items.rows_of([name])[0])
        p, evidence = fit.est.predict_proba()[row], float(fit.est.evidence_[row])
    document = {
        "item": name,
        "soft_label": dict(zip(map(str, fit.est.classes_.tolist()), p.tolist(), strict=True)),
        "evidence": evidence,
        "alpha": fit.est.alpha_,
        "votes": table.to_dict("records"),
    }
    run.answer(document, lambda console: _show(console, document))


def _show(console: Any, document: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    name, evidence = escape(str(document["item"])), document["evidence"]
    console.print(f"[bold]Item {name}[/]: evidence {evidence:.3g} votes' worth")
    for label, p in sorted(document["soft_label"].items(), key=lambda entry: -entry[1])[:5]:
        console.print(f"  {escape(label):<20} {p:6.1%} [blue]{'█' * round(30 * p)}[/]")
    rows = document["votes"]
    if not rows:
        console.print("No vote reaches this item: its soft label is the prior.")
        return
    table = Table(title="The heaviest votes behind it")
    for name in rows[0]:
        table.add_column(name, justify="right" if name == "weight" else "left")
    for row in rows:
        table.add_row(
            *(f"{value:.1%}" if name == "weight" else escape(str(value)) for name, value in row.items())
        )
    console.print(table)
    console.print(f"Together {sum(row['weight'] for row in rows):.0%} of its evidence.")
