"""``softspread tune``: how well each alpha predicts votes that were held out."""

from typing import Annotated, Any

from softspread._common.kinds import MULTILABEL
from softspread.cli.options import FitOptions, GraphOptions, ItemOptions, PriorOption, VoteOptions, option
from softspread.cli.runner import Run, command, print_table
from softspread.errors import InputError


@command()
def tune(
    run: Run,
    item_options: ItemOptions,
    vote_options: VoteOptions,
    graph_options: GraphOptions,
    prior: PriorOption = None,
    score: Annotated[str, option("What held-out votes are scored by: brier or log.")] = "brier",
) -> None:
    """Show how well each alpha predicts votes that were held out.

    This is the choice of --method pls; the blend, the default elsewhere, weighs several alphas instead. No
    ground truth is needed.

    Example: softspread tune --embeddings X.npy --votes votes.csv --n-neighbors auto
    """
    item_options.files()
    vote_options.files()
    start = FitOptions(prior=prior)
    start.check_files()

    from softspread.cli import fitting
    from softspread.cli import items as items_of
    from softspread.tuning.tune import tune

    items = items_of.load_items(run, item_options)
    votes = fitting.load_votes(run, vote_options, items.item_ids, items.n_items)
    given = fitting.load_prior(start, items, votes.classes)
    items = items_of.build_graph(run, items, graph_options)
    if start.of_votes:
        given = fitting.classifier_of_votes(run, items, votes.found)
    if vote_options.kind == MULTILABEL:
        raise InputError(
            "tune chooses one alpha for votes on one class each; --kind multilabel weighs several per class, "
            "see 'softspread spread --kind multilabel'."
        )
    with run.stage("tuning", own_bars=items.are_many) as tell:
        found = tune(
            items.X,
            votes.found,
            **graph_options.parameters,
            prior=given,
            score=score,
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
    curve = found.curve()
    several = curve["n_neighbors"].nunique() > 1
    rows, best = list[list[str]](), set[int]()
    for row in curve.itertuples():
        if row.alpha == found.alpha and (not several or row.n_neighbors == found.n_neighbors):
            best.add(len(rows))
        cells = [f"{row.alpha:g}", f"{row.score:.4f}", f"{row.standard_error:.4f}"]
        rows.append([f"{row.n_neighbors:g}"] * several + cells)
    names = ["neighbours"] * several + ["alpha", "score", "± std. error"]
    print_table(console, f"{found.score} score of held-out votes (lower is better)", (), names, rows, best)
    console.print(found.summary(), markup=False)
