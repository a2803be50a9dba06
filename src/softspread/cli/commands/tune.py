"""``softspread tune``: how well each alpha predicts votes that were held out."""

from typing import Annotated, Any

import typer

from softspread.cli.options import GraphOptions, ItemOptions, PriorOption, VoteOptions
from softspread.cli.runner import Run, command


@command()
def tune(
    run: Run,
    item_options: ItemOptions,
    vote_options: VoteOptions,
    graph_options: GraphOptions,
    prior: PriorOption = None,
    score: Annotated[str, typer.Option(help="What held-out votes are scored by: brier or log.")] = "brier",
) -> None:
    """Show how well each alpha predicts votes that were held out.

    No ground truth is needed.

    Example: softspread tune --embeddings X.npy --votes votes.csv --n-neighbors auto
    """
    item_options.file()
    vote_options.file()

    from softspread.cli import fitting
    from softspread.tuning.tune import tune

    items = fitting.load_items(run, item_options)
    votes, _ = fitting.load_votes(run, vote_options, items.item_ids, items.n_items)
    items = fitting.build_graph(run, items, graph_options)
    with run.stage("tuning", own_bars=items.are_many) as tell:
        found = tune(
            items.X,
            votes.votes,
            **graph_options.parameters(),
            prior=None if prior is None else fitting.make_prior(run, prior, items, votes),
            score=score,
            item_ids=items.item_ids,
            classes=votes.classes,
            random_state=run.seed,
            verbose=run.shows_bars and items.are_many,
        )
        tell(f"{len(found.points)} settings")
    document = {
        "best": _point(found.best),
        "how": found.how,
        "score": found.score,
        "points": [_point(point) for point in found.points],
    }
    run.answer(document, lambda console: _show(console, found))


def _point(point: Any) -> dict[str, Any]:
    names = ("alpha", "n_neighbors", "prior_strength", "score", "standard_error")
    return {name: getattr(point, name) for name in names}


def _show(console: Any, found: Any) -> None:
    from rich.table import Table

    frame = found.curve()
    several = frame["n_neighbors"].nunique() > 1
    table = Table(title=f"{found.score} score of held-out votes (lower is better)")
    for title in (["neighbours"] if several else []) + ["alpha", "score", "± std. error"]:
        table.add_column(title, justify="right")
    for row in frame.itertuples():
        best = row.alpha == found.alpha and (not several or row.n_neighbors == found.n_neighbors)
        cells = [f"{row.alpha:g}", f"{row.score:.4f}", f"{row.standard_error:.4f}"]
        if several:
            cells.insert(0, f"{row.n_neighbors:g}")
        table.add_row(*cells, style="bold green" if best else None)
    console.print(table)
    console.print(found.summary(), markup=False)
