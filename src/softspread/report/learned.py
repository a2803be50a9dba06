"""What a blend has learned: how much each expert counts, and how far all can be trusted."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from softspread.report.markup import Bar, bars, panels, section

SHOWN_EXPERTS = 8  # the largest; the others are added up
SMALLEST_BAR = 0.005  # of trust: less would show as 0 %
TRUST_LEVELS = (0.1, 0.5, 0.9)  # of the distribution over votes


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """Weights and trust of a :class:`~softspread.SoftLabeler`."""

    weights: Mapping[str, float]  # share of each expert that counts
    trust: pd.DataFrame  # votes, probability
    summary: str  # trust in one sentence


def trust_quantiles(trust: pd.DataFrame) -> dict[float, float]:
    """How many votes the experts' word is worth: three quantiles.

    Examples
    --------
    >>> trust_quantiles(pd.DataFrame({"votes": [1.0, 10.0], "probability": [0.6, 0.4]}))
    {0.1: 1.0, 0.5: 1.0, 0.9: 10.0}
    """
    votes = trust["votes"].to_numpy()
    below = np.cumsum(trust["probability"].to_numpy())
    places = np.minimum(np.searchsorted(below, TRUST_LEVELS), len(votes) - 1)
    return dict(zip(TRUST_LEVELS, votes[places].tolist(), strict=True))


def trust_in_words(trust: Mapping[float, float]) -> str:
    """How many votes the experts' word is worth, in one line.

    Parameters
    ----------
    trust : as from :func:`trust_quantiles`
    """
    low, middle, high = (f"{trust[level]:.2g}" for level in TRUST_LEVELS)
    return f"the experts' word on an item is worth {middle} of its own votes ({low} to {high} with 80 %)"


def learned_section(learned: Learned) -> str:
    """Shares of the experts beside the distribution of trust."""
    return section(
        "What the votes taught",
        panels(
            bars("Experts and their share", _experts(learned.weights)),
            bars("What the experts' word is worth, in votes", _trust(learned.trust)),
        ),
        note="Experts predict every item without its own votes; held-out votes say how much each counts. "
        "Those with an alpha spread votes over the graph, those with a C are classifiers of the votes, a "
        "kernel averages votes by distance, shares are the shares of the classes. Items with two or more "
        f"votes say how far all of them can be trusted: {learned.summary}.",
    )


def _experts(weights: Mapping[str, float]) -> list[Bar]:
    largest = sorted(weights.items(), key=lambda entry: -entry[1])
    shown = [Bar(name, share, f"{share:.0%}") for name, share in largest[:SHOWN_EXPERTS]]
    others = [share for _, share in largest[SHOWN_EXPERTS:]]
    rest = sum(others)
    return [*shown, Bar(f"{len(others)} others", rest, f"{rest:.0%}")] if others else shown


def _trust(trust: pd.DataFrame) -> list[Bar]:
    found = zip(trust["votes"].tolist(), trust["probability"].tolist(), strict=True)
    return [Bar(f"{votes:.2g}", share, f"{share:.0%}") for votes, share in found if share >= SMALLEST_BAR]
