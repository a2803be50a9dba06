"""The page of a run: what went in, what came out, what to look at, and how to get it again.

soft labels, intervals, votes, graph, tuning, annotators, quality  ->  one offline page
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.entropy import entropy, largest_entropy
from softspread._common.types import AnyArray, FloatArray, IntArray
from softspread.annotators.judges import JudgeReport
from softspread.annotators.verdict import VERDICTS, odd_first
from softspread.intervals.uncertainty import AMBIGUOUS, CLEAR, TOO_FEW
from softspread.quality.result import Quality
from softspread.quality.smoothness import Smoothness
from softspread.report.charts import CurvePoint, curve, histograms, share_histograms
from softspread.report.judged import judges_section, smoothness_section
from softspread.report.learned import Learned, learned_section
from softspread.report.maps import class_colors
from softspread.report.markup import (
    Bar,
    Card,
    Cell,
    bar_list,
    cards,
    code,
    escape,
    facts,
    heading,
    page,
    paragraph,
    section,
    table,
)
from softspread.report.points import PointMap, plane_of, point_map, sample_rows
from softspread.spreading.evidence import SoftLabels
from softspread.tuning.result import Tuning

SHOWN_ITEMS = 12  # of the most uncertain and of the most ambiguous
SHOWN_CLASSES = 30  # bars
SHOWN_SHARES = 3  # classes of one item
SHOWN_ANNOTATORS = 30  # rows
ENOUGH_EVIDENCE = 1.0  # votes' worth: with less, an item is unknown rather than ambiguous
MEASURES = {
    "rmse": "RMSE: distance from the true soft labels",
    "kl": "KL divergence from the true soft labels",
    "accuracy": "the most probable class is the true one",
    "agreement": "a further vote names the most probable class",
    "brier": "Brier score against further votes",
    "noise": "part of the Brier score that no method can avoid",
}
PERCENT = ("accuracy", "agreement")


@dataclass(frozen=True, slots=True, eq=False)
class RunContent:
    """Everything that the page shows."""

    labels: SoftLabels  # with intervals
    vote_counts: FloatArray  # (n, n_classes) votes on each item itself
    verdicts: Mapping[str, int]  # clear, ambiguous, not enough votes
    features: AnyArray | None  # (n, d) for the map
    inputs: Mapping[str, Any]  # what went in, by name
    settings: Mapping[str, Any]  # what was chosen
    command: str
    confidence_level: float = 0.9
    annotators: pd.DataFrame | None = None
    n_annotators: int | None = None
    judges: JudgeReport | None = None  # of models that voted beside people
    smoothness: Smoothness | None = None
    learned: Learned | None = None  # by a blend of experts ...
    tuning: Tuning | None = None  # ... or by the choice of one alpha
    advice: str | None = None  # what would narrow the intervals
    quality: Quality | pd.DataFrame | None = None  # of several classes a row per class
    warnings: Sequence[str] = field(default=())
    thumbnail: Callable[[int], str | None] | None = None  # row -> data address of its picture
    seed: int = 0


def run_page(content: RunContent) -> str:
    """Build the whole page."""
    n, n_votes = len(content.labels.ids), float(content.vote_counts.sum())
    parts = [
        heading(
            f"Soft labels of {n:,} items",
            f"Estimated from {n_votes:,.0f} votes on {int((content.vote_counts.sum(axis=1) > 0).sum()):,} of "
            "them. A soft label says how annotators would share their votes among the classes; evidence "
            "says how many votes' worth has reached an item; an interval says how far the estimate may be "
            "off.",
        ),
        cards(_cards(content)),
        *(f"<p class='warning'>{escape(text)}</p>" for text in _notices(content)),
        _map_section(content),
        _uncertainty_section(content),
        _class_section(content),
        *_item_sections(content),
    ]
    if content.quality is not None:
        parts.append(_quality_section(content.quality))
    if content.learned is not None:
        parts.append(learned_section(content.learned))
    if content.tuning is not None:
        parts.append(_tuning_section(content.tuning))
    if content.annotators is not None and len(content.annotators):
        parts.append(_annotator_section(content.annotators))
    if content.judges is not None:
        parts.append(judges_section(content.judges))
    if content.smoothness is not None:
        parts.append(smoothness_section(content.smoothness))
    parts.append(section("What went in", facts(content.inputs)))
    parts.append(section("How to get this again", facts(content.settings), code(content.command)))
    return page(
        f"Soft labels of {n:,} items",
        *parts,
        footer="Votes spread as in arXiv:2602.04574. This file is complete in itself and loads nothing.",
    )


def _notices(content: RunContent) -> list[str]:
    """Notices at the top of the page."""
    return [*content.warnings, *([content.advice] if content.advice else [])]


def _cards(content: RunContent) -> list[Card]:
    n = len(content.labels.ids)
    clear = content.verdicts.get(CLEAR, 0) / n
    too_few = content.verdicts.get(TOO_FEW, 0) / n
    n_voted = int((content.vote_counts.sum(axis=1) > 0).sum())
    by = "" if content.n_annotators is None else f" by {content.n_annotators:,} annotators"
    found = [
        Card("Votes", f"{content.vote_counts.sum():,.0f}", f"on {n_voted:,} of {n:,} items{by}", good=False),
        Card(
            "Evidence per item",
            f"{np.median(content.labels.evidence):.2g}",
            "votes' worth, median; half of the items have less",
            good=False,
        ),
        Card(
            "Clear items",
            f"{clear:.0%}",
            f"one class has at least 70 %, at {content.confidence_level:.0%} confidence; {too_few:.0%} need "
            "more votes",
            good=clear >= 0.5,
        ),
    ]
    if isinstance(content.quality, Quality):
        agreement = content.quality.agreement
        found.append(
            Card(
                "A further vote agrees",
                f"{agreement.value:.0%}",
                f"{agreement.lower:.0%} to {agreement.upper:.0%}, estimated from votes that were held out",
                good=False,
            )
        )
    return found


# --------------------------------------------------------------------------------------------------- pictures
def _map_section(content: RunContent) -> str:
    labels = content.labels
    if content.features is None:
        return ""
    n = len(labels.ids)
    rng = np.random.default_rng(content.seed)
    rows = sample_rows(n, rng)
    order = np.argsort(-labels.p[rows], axis=1, kind="stable")
    only_one = labels.p.shape[1] == 1
    first, second = order[:, 0], order[:, 0 if only_one else 1]
    across = np.arange(len(rows))
    data = PointMap(
        plane_of(content.features[rows], rng),
        labels.classes.tolist(),
        first,
        labels.p[rows][across, first],
        np.full(len(rows), len(labels.classes)) if only_one else second,
        labels.p[rows][across, second],
        labels.evidence[rows],
        labels.width[rows].max(axis=1),
        content.vote_counts[rows].sum(axis=1).astype(np.int64),
        labels.ids[rows].tolist(),
    )
    drawn = f"{len(rows):,} of the {n:,} items, drawn at random." if len(rows) < n else f"All {n:,} items."
    note = (
        f"{drawn} Items with similar embeddings lie together; the picture is for the eye, no figure comes "
        "from it. Point at a dot to see its item."
    )
    return section("Map of the items", point_map(data), note=note)


def _uncertainty_section(content: RunContent) -> str:
    labels = content.labels
    width = labels.width.max(axis=1)
    shares = {
        "Widest interval of an item": width,
        "Probability of its leading class": labels.p.max(axis=1),
    }
    level = f"{content.confidence_level:.0%}"
    return section(
        "How sure",
        histograms({"Evidence": labels.evidence}, "votes' worth").replace("</div>", "", 1)
        + share_histograms(shares, "").replace("<div class='charts'>", "", 1),
        paragraph(
            ", ".join(
                f"{count:,} items ({count / len(labels.ids):.0%}) {word}" for word, count in _words(content)
            )
            + "."
        ),
        note=f"How many items (height) have how much. Evidence on a logarithmic scale; intervals at {level} "
        "confidence. At that confidence, an item is clear where one class has at least 70 %, ambiguous where "
        "none has, and needs votes where neither is sure.",
    )


def _words(content: RunContent) -> list[tuple[str, int]]:
    says = {CLEAR: "are clear", AMBIGUOUS: "are ambiguous", TOO_FEW: "need more votes"}
    return [(says.get(word, word), count) for word, count in content.verdicts.items()]


def _class_section(content: RunContent) -> str:
    labels = content.labels
    votes, mean = content.vote_counts.sum(axis=0), labels.p.mean(axis=0)
    leading = np.bincount(labels.p.argmax(axis=1), minlength=len(labels.classes))
    colors = class_colors(len(labels.classes))
    order = np.argsort(-mean, kind="stable")
    rows = [
        [
            Cell(str(labels.classes[c : c + 1].tolist()[0]), color=colors[c]),
            Cell(f"{votes[c]:,.0f}"),
            Cell(f"{votes[c] / max(votes.sum(), 1e-300):.1%}"),
            Cell(f"{mean[c]:.1%}"),
            Cell(f"{leading[c]:,}"),
        ]
        for c in order[:SHOWN_CLASSES].tolist()
    ]
    more = "" if len(order) <= SHOWN_CLASSES else f" The {SHOWN_CLASSES} largest of {len(order)}."
    return section(
        "Classes",
        table(["Class", "Votes", "Share of votes", "Mean soft label", "Items it leads"], rows),
        note="The mean soft label is the estimated share of the class over all items; it differs from the "
        f"share of votes where votes are not spread evenly.{more}",
    )


# ------------------------------------------------------------------------------------------------------ items
def _item_sections(content: RunContent) -> list[str]:
    labels = content.labels
    width = labels.width.max(axis=1)
    n_classes = labels.p.shape[1]
    evenness = entropy(labels.p) / largest_entropy(n_classes)
    uncertain = _largest(np.where(np.isfinite(width), width, 1.0) - 1e-6 * labels.evidence, SHOWN_ITEMS)
    known = labels.evidence >= ENOUGH_EVIDENCE
    blocks = [
        section(
            "Most uncertain items",
            _item_cards(content, uncertain, "interval {:.0%} wide", width),
            note="The widest intervals. Votes here teach the most about these items; 'softspread query' also "
            "weighs what a vote teaches about others.",
        )
    ]
    if known.any() and n_classes > 1:
        ambiguous = _largest(np.where(known, evenness, -1.0), min(SHOWN_ITEMS, int(known.sum())))
        blocks.append(
            section(
                "Most ambiguous items",
                _item_cards(content, ambiguous, "entropy {:.0%}", evenness),
                note="Soft labels shared most evenly (entropy, as a share of the largest possible) in spite "
                f"of at least {ENOUGH_EVIDENCE:g} vote's worth of evidence: annotators may truly disagree "
                "here.",
            )
        )
    return blocks


def _largest(values: FloatArray, count: int) -> IntArray:
    count = min(count, len(values))
    found = np.argpartition(-values, count - 1)[:count]
    return np.asarray(found[np.argsort(-values[found], kind="stable")])


def _item_cards(content: RunContent, rows: IntArray, text: str, values: FloatArray) -> str:
    labels = content.labels
    colors = class_colors(len(labels.classes))
    names = [str(label) for label in labels.classes.tolist()]
    parts = []
    for row in rows.tolist():
        picture = content.thumbnail(row) if content.thumbnail is not None else None
        image = f"<img alt='' src='{escape(picture)}'>" if picture else ""
        own = content.vote_counts[row].sum()
        leading = np.argsort(-labels.p[row], kind="stable")[:SHOWN_SHARES].tolist()
        shares = bar_list(
            [Bar(names[c], labels.p[row, c], f"{labels.p[row, c]:.0%}", colors[c]) for c in leading]
        )
        name = labels.ids[row : row + 1].tolist()[0]
        parts.append(
            f"<div class='item'>{image}<strong>{escape(name)}</strong><span "
            f"class='more'>{escape(text.format(values[row]))}<br>evidence {labels.evidence[row]:.2g}, own "
            f"votes {own:g}</span>{shares}</div>"
        )
    return f"<div class='items'>{''.join(parts)}</div>"


# ----------------------------------------------------------------------------------------------------- tables
def _quality_section(quality: Quality | pd.DataFrame) -> str:
    if isinstance(quality, pd.DataFrame):
        return _quality_of_classes(quality)
    rows = []
    for row in quality.to_frame().itertuples():
        name = str(row.measure)
        digits = ".1%" if name in PERCENT else ".4f"
        known = bool(np.isfinite(row.value))  # type: ignore[arg-type]
        rows.append(
            [
                Cell(MEASURES.get(name, name)),
                Cell(f"{row.value:{digits}}" if known else "unknown"),
                Cell(f"{row.lower:{digits}} to {row.upper:{digits}}" if known else ""),
            ]
        )
    return section(
        "Quality, estimated without ground truth",
        table(["Measure", "Estimate", f"{quality.confidence_level:.0%} interval"], rows),
        *(paragraph(text) for text in quality.notes),
        note="Every vote is held out in turn and predicted from the others. Separating error from the noise "
        "of votes takes items with two or more votes.",
    )


def _quality_of_classes(quality: pd.DataFrame) -> str:
    rows = [
        [
            Cell(str(row["class"])),
            Cell(f"{row['rmse']:.4f}"),
            Cell(f"{row['rmse_lower']:.4f} to {row['rmse_upper']:.4f}"),
            Cell(f"{row['accuracy']:.1%}"),
        ]
        for row in quality.to_dict("records")
    ]
    return section(
        "Quality per class, estimated without ground truth",
        table(["Class", "RMSE of P(yes)", "Interval", "Yes or no is right"], rows),
        note="Every answer is held out in turn and predicted from the others.",
    )


def _tuning_section(tuning: Tuning) -> str:
    frame = tuning.curve()
    several = frame["n_neighbors"].nunique() > 1
    series: dict[str, list[CurvePoint]] = {}
    for row in frame.to_dict("records"):
        name = f"{row['n_neighbors']:g} neighbours" if several else ""
        best = row["alpha"] == tuning.alpha and (not several or row["n_neighbors"] == tuning.n_neighbors)
        series.setdefault(name, []).append(
            CurvePoint(float(row["alpha"]), float(row["score"]), float(row["standard_error"]), bool(best))
        )
    return section(
        "Why this alpha",
        curve(
            series, "alpha: how far votes travel", f"{tuning.score} score of held-out votes, lower is better"
        ),
        note=tuning.summary(),
    )


def _annotator_section(frame: pd.DataFrame) -> str:
    rows = [
        [
            Cell(str(row["annotator"])),
            Cell(f"{row['votes']:,.0f}"),
            Cell(f"{row['agreement']:.0%}" if np.isfinite(row["agreement"]) else ""),
            Cell(f"{row['consistency']:.2f}", f"{row['lower']:.2f} to {row['upper']:.2f}"),
            Cell(VERDICTS[row["flag"]].words, VERDICTS[row["flag"]].advice),
        ]
        for row in odd_first(frame).head(SHOWN_ANNOTATORS).to_dict("records")
    ]
    more = len(frame) - len(rows)
    return section(
        "Annotators",
        table(["Annotator", "Votes", "Agreement with the others", "Consistency", "Verdict"], rows),
        note="Consistency: the estimated share of an annotator's votes that follow the soft labels, the "
        "rest being blind guesses; with a 90 % interval. Lowest first. Doubtful: probably does not follow "
        "the others, but there are too few votes to be sure."
        + (f" {more:,} more are not shown." if more > 0 else ""),
    )
