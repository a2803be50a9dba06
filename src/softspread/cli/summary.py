"""The summary of a run of `spread`: facts for files and JSON, and lines for the screen.

fit, soft labels  ->  facts (the same inputs and versions give the same)  ->  document  ->  rows of text
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from softspread._common.kinds import MULTILABEL, SINGLE
from softspread._common.types import FloatArray
from softspread._common.versions import versions
from softspread.annotators.verdict import STRAYS
from softspread.cli.fitting import Fit
from softspread.cli.items import graph_facts
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.multilabel import OVERALL
from softspread.report.learned import trust_in_words, trust_quantiles

LITTLE_EVIDENCE = 0.01  # votes' worth; below, a soft label is hardly more than its prior
SHOWN_ANNOTATORS = 5  # by name, of those that are flagged
SHOWN_EXPERTS = 4  # by name, the largest
FILE_LIBRARIES = ("pandas", "pyarrow")  # soft labels from files depend on these too


def run_facts(fit: Fit) -> dict[str, Any]:
    """Inputs and what was learned from them, ready for JSON."""
    est, votes = fit.est, fit.matched.found.table
    several = getattr(est, "kind", SINGLE) == MULTILABEL
    file, names = fit.matched.file, votes.annotators
    return {
        "n_items": fit.items.n_items,
        "kind": getattr(est, "kind", SINGLE),
        "classes": est.classes_.tolist(),
        "votes": {
            "read": len(file),
            "used": len(votes),
            "skipped": fit.matched.n_skipped,
            "left_out": dict(file.notes),
            "items_with_votes": len(set(votes.rows)) if several else int(est.vote_counts_.any(axis=1).sum()),
            "annotators": None if names is None else len({*names.tolist()} - {None}),
            "format": file.votes_format,
        },
        **fit.method,
        "parameters": _parameters(fit),
        **_learned(est),
        "annotators_flagged": _flagged(est),
        "models": models_facts(est),
        "neighbors": neighbor_facts(est),
        "graph": graph_facts(est.graph_),
        "versions": versions(*FILE_LIBRARIES),
    }


def _parameters(fit: Fit) -> dict[str, Any]:
    est = fit.est
    shared = {
        "n_neighbors": est.graph_.n_neighbors,
        "bandwidth": est.bandwidth,
        "metric": est.metric,
        "prior": est.prior is not None,
        "annotator_model": est.annotator_model,
        "random_state": est.random_state,
    }
    if isinstance(est, SoftLabeler):
        return {"alpha": est.alpha, "features": fit.has_features, "classifier": est.classifier} | shared
    return {
        "alpha": est.alpha_,
        "prior_strength": est.prior_strength_,
        "scaling": est.scaling,
        "tol": est.tol,
    } | shared


def _learned(est: Any) -> dict[str, Any]:
    """What was learned from the votes: weights and trust of the blend, or the choice of alpha."""
    if not isinstance(est, SoftLabeler):
        return {"chosen_by": None if est.tuning_ is None else est.tuning_.summary()}
    weights = est.weights_
    return {
        "weights": {str(name): float(weight) for name, weight in weights[weights > 0].items()},
        "trust": {f"{level:g}": votes for level, votes in trust_quantiles(est.trust_).items()},
        "advice": est.advice_,
    }


def _flagged(est: Any) -> list[str]:
    """Annotators who do not follow the others, where they were rated."""
    rated = None if est.annotator_model == "none" else est.annotators_
    if rated is not None and "class" in rated:
        rated = rated[rated["class"] == OVERALL]
    return [] if rated is None else rated.loc[rated["flag"] == STRAYS, "annotator"].map(str).tolist()


def models_facts(est: Any) -> dict[str, Any] | None:
    """How good models are that voted beside people, ready for JSON; None where there are none."""
    if not len(getattr(est, "model_annotators_", ())) or est.kind == MULTILABEL:
        return None
    report = est.judge_report()
    share = est.weights_[[name.startswith("model") for name in est.weights_.index]].sum()
    return {
        "share": float(share),
        "summary": report.summary(),
        "effective_number": [report.effective_number, report.effective_lower, report.effective_upper],
        "judges": report.models.astype(object).where(report.models.notna(), None).to_dict("records"),
    }


def neighbor_facts(est: Any) -> dict[str, Any]:
    """Whether votes go with those of their neighbours, ready for JSON."""
    found = est.smoothness(random_state=0)
    return {"warning": found.warning, "classes": found.to_frame().to_dict("records")}


def evidence_facts(evidence: FloatArray) -> dict[str, Any]:
    """How much evidence items have, ready for JSON."""
    return {
        "quartiles": np.quantile(evidence, [0.25, 0.5, 0.75]).tolist(),
        "least": float(evidence.min()),
        "most": float(evidence.max()),
        "items_with_little": int((evidence < LITTLE_EVIDENCE).sum()),
    }


# -------------------------------------------------------------------------------------------------- in words
def weights_in_words(weights: Mapping[str, float], shown: int = SHOWN_EXPERTS) -> str:
    """The largest experts with their shares, and the others' total.

    Examples
    --------
    >>> weights_in_words({"alpha 0.9": 0.5, "features C 1": 0.3, "shares": 0.2}, shown=2)
    'alpha 0.9 50 %, features C 1 30 %; 1 other 20 %'
    """
    largest = sorted(weights.items(), key=lambda entry: -entry[1])
    named = ", ".join(f"{name} {_percent(weight)}" for name, weight in largest[:shown])
    others = largest[shown:]
    rest = _percent(sum(weight for _, weight in others))
    return named + (f"; {len(others)} other{'s' * (len(others) > 1)} {rest}" if others else "")


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def show_summary(console: Any, document: Mapping[str, Any]) -> None:
    """Print the results, one line each."""
    from rich.markup import escape
    from rich.table import Table

    votes = document["votes"]
    by = f" by {votes['annotators']:,} annotators" if votes["annotators"] else ""
    console.print(
        f"[bold]Soft labels of {document['n_items']:,} items[/] from {votes['used']:,} votes on "
        f"{votes['items_with_votes']:,} of them{by}"
    )
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    for name, text in _rows(document).items():
        if text:
            table.add_row(name, escape(text))
    console.print(table, soft_wrap=False)


def _rows(document: Mapping[str, Any]) -> dict[str, str]:
    graph, n, chosen = document["graph"], document["n_items"], document["parameters"]
    recall = "exact" if graph["recall"] == 1 else f"recall {graph['recall']:.4f}"
    verdicts = ", ".join(f"{_percent(count / n)} {word}" for word, count in document["verdicts"].items())
    level = f"at {_percent(chosen['confidence_level'])} confidence"
    return {
        **_rows_of_method(document),
        "graph": f"{chosen['n_neighbors']} neighbours, {graph['components']:,} "
        f"component{'s' * (graph['components'] != 1)}, {recall}",
        "evidence": _evidence_in_words(document["evidence"]),
        "items": f"{verdicts} ({level})",
        "annotators": _flagged_in_words(document["annotators_flagged"]),
        "models": "" if document["models"] is None else document["models"]["summary"],
        "neighbours": document["neighbors"]["warning"] or "",
        "advice": document.get("advice") or "",
        "written": ", ".join(document["out"] + ([document["report"]] if document["report"] else [])),
        "time": f"{document['seconds']:.1f} s",
    }


def _rows_of_method(document: Mapping[str, Any]) -> dict[str, str]:
    if "weights" in document:
        trust = {float(level): votes for level, votes in document["trust"].items()}
        words = {
            "experts": weights_in_words(document["weights"]),
            "trust": trust_in_words(trust),
        }
        return {"method": "blend of experts (SoftLabeler)", **words}
    how = document["chosen_by"]
    chosen = "" if how is None else f", chosen: {how.split(': ', 1)[1]}"
    return {"method": "probabilistic label spreading", "alpha": f"{document['alpha']:g}{chosen}"}


def _evidence_in_words(evidence: Mapping[str, Any]) -> str:
    little = evidence["items_with_little"]
    more = f"; {little:,} items have less than {LITTLE_EVIDENCE:g}" if little else ""
    return f"median {evidence['quartiles'][1]:.3g} votes' worth per item{more}"


def _flagged_in_words(names: list[str]) -> str:
    if not names:
        return ""
    more = " ..." if len(names) > SHOWN_ANNOTATORS else ""
    verb = "does" if len(names) == 1 else "do"
    return f"{len(names)} {verb} not follow the others: {', '.join(names[:SHOWN_ANNOTATORS])}{more}"
