"""``softspread explain``: what one soft label is made of."""

from typing import Annotated, Any

import typer

from softspread.cli.options import FitInputs, option
from softspread.cli.runner import Run, command, print_table

SHOWN_CLASSES = 5  # the most probable ones
SMALLEST_SHARE = 0.005  # less would show as 0 %
IN_WORDS = {"own vote": "its own votes", "vote": "votes on other items"}  # sources, added up


@command()
def explain(
    run: Run,
    item: Annotated[str, typer.Argument(help="The item to explain, by its id or position.")],
    inputs: FitInputs,
    top: Annotated[int, option("How many lines to show.", min=1)] = 10,
) -> None:
    """Show what one soft label is made of.

    It is a sum of shares: of votes on the item and on others, of classifiers, of a prior. These are the
    heaviest. With --method pls it is a weighted mean of votes.

    Example: softspread explain 42 --embeddings X.npy --votes votes.csv
    """
    inputs.check()

    from softspread.cli import fitting

    fit = fitting.fit(run, inputs)
    rows = fit.items.rows_of([item])
    name = fit.items.names[rows].tolist()[0]
    with run.stage("explaining"):
        everything = fit.est.explain(name, None)
        p = fit.est.soft_labels_of([name])[0]
        evidence = float(fit.est.evidence_[rows[0]])
    table = everything.head(top).astype(object)
    document = {
        "item": name,
        "soft_label": dict(zip(map(str, fit.est.classes_.tolist()), p.tolist(), strict=True)),
        "evidence": evidence,
        **fit.method,
        **_shares(everything),
        "votes": table.where(table.notna(), None).to_dict("records"),
    }
    run.answer(document, lambda console: _show(console, document))


def _shares(everything: Any) -> dict[str, Any]:
    """Shares of votes, classifiers and the other sources of a blend."""
    if "source" not in everything:
        return {}
    n_questions = everything["class"].nunique() if "class" in everything else 1
    shares = everything.groupby("source")["weight"].sum().sort_values(ascending=False) / n_questions
    return {"shares": shares.to_dict()}


def _in_words(shares: dict[str, float]) -> str:
    found = ((IN_WORDS.get(name, name), share) for name, share in shares.items() if share >= SMALLEST_SHARE)
    return ", ".join(f"{name} {share:.0%}" for name, share in found)


def _show(console: Any, document: dict[str, Any]) -> None:
    console.print(f"Item {document['item']}: evidence {document['evidence']:.3g} votes' worth", markup=False)
    for label, p in sorted(document["soft_label"].items(), key=lambda entry: -entry[1])[:SHOWN_CLASSES]:
        console.print(f"  {label:<20} {p:6.1%} {'█' * round(30 * p)}", markup=False)
    rows, shares = document["votes"], document.get("shares")
    if not rows:
        console.print("No vote reaches this item: its soft label is the prior.")
        return
    if shares:
        console.print(f"Made of {_in_words(shares)}")
    names = [name for name in rows[0] if name != "weight"]
    cells = [
        (*("" if row[name] is None else row[name] for name in names), f"{row['weight']:.1%}") for row in rows
    ]
    title = "The heaviest shares" if shares else "The heaviest votes behind it"
    print_table(console, title, names, ("weight",), cells)
    whole = "the soft label" if shares else "its evidence"
    if "class" not in rows[0]:
        console.print(f"Together {sum(row['weight'] for row in rows):.0%} of {whole}.")
