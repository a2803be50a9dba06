"""``softspread quality``: how good the labels are, without ground truth."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from softspread._common.kinds import MULTILABEL
from softspread.cli.options import ConfidenceOption, FitInputs, check_confidence, option
from softspread.cli.runner import Run, command, print_table
from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.quality.result import GainForecast

IN_WORDS = {
    "rmse": "distance from the true soft labels (RMSE)",
    "kl": "divergence from the true soft labels (KL, nats)",
    "accuracy": "most probable class is the true one",
    "agreement": "a further vote names the most probable class",
    "brier": "Brier score against further votes",
    "noise": "part of it that no method can avoid",
}


@command()
def quality(
    run: Run,
    inputs: FitInputs,
    test_votes: Annotated[
        Path | None, option("Votes that were not used, ideally two or more on each of some random items.")
    ] = None,
    confidence: ConfidenceOption = 0.9,
    more: Annotated[
        int | None, option("Also say what this many further votes on random items would bring.", min=1)
    ] = None,
) -> None:
    """Estimate how good the labels are, without ground truth.

    Holds each vote out in turn, or judges by votes set apart (--test-votes). Separating error from noise
    takes items with two or more votes.

    Example: softspread quality --embeddings X.npy --votes votes.csv --more 1000
    """
    inputs.check()
    check_confidence(confidence)

    from softspread.cli import fitting

    fit = fitting.fit(run, inputs)
    counts = None
    if inputs.votes.kind == MULTILABEL and (test_votes is not None or more is not None):
        raise InputError("--test-votes and --more are about one answer per item; leave them out.")
    if test_votes is not None:
        options = dataclasses.replace(inputs.votes, votes=[test_votes])
        classes = [str(name) for name in fit.est.classes_.tolist()]
        known = fit.items.item_ids, fit.items.n_items
        apart = fitting.load_votes(run, options, *known, classes).found
        counts = apart.table.counts(fit.items.n_items, len(classes))
    with run.stage("quality"):
        found = fit.est.quality(counts, confidence_level=confidence, random_state=run.seed)
    if inputs.votes.kind == MULTILABEL:
        _show_classes(run, found, confidence)
        return
    forecast = None
    if more is not None:
        with run.stage("forecast"):
            forecast = fit.est.forecast(more, confidence_level=confidence, random_state=run.seed)
    document = {
        "source": found.source,
        "n_items": found.n_items,
        "n_votes": found.n_votes,
        "items_with_two_or_more": found.n_repeated,
        "confidence_level": found.confidence_level,
        "measures": {
            row.measure: {"value": row.value, "lower": row.lower, "upper": row.upper}
            for row in found.to_frame().itertuples()
        },
        "notes": found.notes,
        "forecast": None if forecast is None else _facts(forecast),
        **fit.method,
    }

    def show(console: Any) -> None:
        _show(console, found)
        if forecast is not None:
            console.print(f"• {_in_words(forecast)}", markup=False)

    run.answer(document, show)


def _show_classes(run: Run, found: Any, confidence: float) -> None:
    """Of several classes: one row per class, and one for all."""
    rows = [
        (
            row["class"],
            f"{row['rmse']:.4f}",
            f"{row['rmse_lower']:.4f} to {row['rmse_upper']:.4f}",
            f"{row['accuracy']:.1%}",
            f"{row['n_votes']:,.0f}",
        )
        for row in found.to_dict("records")
    ]
    right = ("RMSE", f"{confidence:.0%} interval", "accuracy", "answers")
    document = {"confidence_level": confidence, "classes": found.to_dict("records")}
    run.answer(document, lambda console: print_table(console, "Quality per class", ("class",), right, rows))


def _facts(forecast: "GainForecast") -> dict[str, Any]:
    """The effect of further votes, ready for JSON."""
    names = ("rmse_now", "rmse_then", "gain")
    estimates = {name: dataclasses.asdict(getattr(forecast, name)) for name in names}
    return {"more": forecast.more, **estimates, "worthwhile": forecast.worthwhile()}


def _in_words(forecast: "GainForecast") -> str:
    then = forecast.rmse_then
    share = forecast.gain.value / forecast.rmse_now.value if forecast.rmse_now.value > 0 else 0.0
    verdict = "" if forecast.worthwhile() else ": hardly worth the votes"
    return (
        f"{forecast.more:,} further vote{'s' * (forecast.more > 1)} on random items would bring the RMSE "
        f"from {forecast.rmse_now.value:.4f} to about {then:.4f}, {share:.0%} less{verdict}."
    )


def _show(console: Any, found: Any) -> None:
    rows = []
    for row in found.to_frame().itertuples():
        digits = ".1%" if row.measure in ("accuracy", "agreement") else ".4f"
        cells = f"{row.value:{digits}}", f"{row.lower:{digits}} to {row.upper:{digits}}"
        rows.append((IN_WORDS[row.measure], *(cells if row.value == row.value else ("unknown", ""))))
    votes = "votes set apart" if found.source == "set apart" else "votes held out in turn"
    title = f"Quality, estimated from {found.n_votes:,} {votes}"
    print_table(console, title, ("measure",), ("estimate", f"{found.confidence_level:.0%} interval"), rows)
    for note in found.notes:
        console.print(f"• {note}", markup=False)
