"""A fit in words for a lead: which experts count, how far they are trusted, what to do about annotators.

weights of experts  ->  "neighbours' votes 62 %, classifiers trained on the votes 35 %, class shares 3 %"
"""

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from softspread._common.wording import counted
from softspread.quality.smoothness import RULE as SMOOTHNESS
from softspread.web.project.learner import AnyLearned

NEIGHBOURS, CLASSIFIERS, KERNELS, PRIOR, SHARES = (
    "neighbours' votes",
    "classifiers trained on the votes",
    "votes on similar items at large",
    "the predictions you brought",
    "how common each class is",
)
_BEGINNINGS = {
    "alpha": NEIGHBOURS,
    "features": CLASSIFIERS,
    "landmarks": CLASSIFIERS,
    "one": CLASSIFIERS,  # one scale for all features
    "unreduced": CLASSIFIERS,
    "kernel": KERNELS,
    "prior": PRIOR,
    "shares": SHARES,
}
STRATEGIES_IN_WORDS = {
    "uncertainty": "where a vote helps most",
    "gain": "where a vote tells most about its neighbours",
    "local": "where neighbours say least",
    "balanced": "those with the fewest votes",
    "uniform": "at random",
    "least_evidence": "those that votes have reached least",
    "entropy": "where classes are closest to each other",
    "farthest": "those farthest from all votes",
}
ANOTHER_EMBEDDING = (
    "Another embedding may suit these classes better: whoever runs the server can compare several by the "
    "votes from Downloads."
)
_MIDDLE = (0.05, 0.5, 0.95)  # quantiles of the trust that are shown


def learned_from(learned: AnyLearned) -> dict[str, Any]:
    """A fit in the dashboard's words: how many votes, which experts count, how far they are trusted."""
    labeler, weightings = learned.labeler, [one.parts.weighting for one in learned.each]
    return {
        "votes": learned.n_votes,
        "since": learned.n_since,
        "experts": expert_shares(labeler.weights_),
        "trust": None if not learned.n_votes else trust_range(labeler.trust_),
        "pull": None if learned.pull is None else asdict(learned.pull) | {"known": learned.pull.is_known},
        "weighted": any(found is not None and not found.fit.reason for found in weightings),
    }


def on_neighbours(learned: AnyLearned) -> str | None:
    """What is wrong where votes do not go with their neighbours, and who can help; None where they do."""
    if learned.n_votes < SMOOTHNESS.fewest:
        return None
    finding = learned.labeler.smoothness(random_state=0).finding
    return None if finding is None else f"{finding} {ANOTHER_EMBEDDING}"


def expert_shares(weights: pd.Series) -> list[dict[str, Any]]:
    """Experts of one kind taken together, the largest share first.

    Examples
    --------
    >>> expert_shares(pd.Series([0.5, 0.2, 0.3], ["alpha 0.9", "alpha 0.5", "features C 1"]))[0]
    {'name': "neighbours' votes", 'share': 0.7}
    """
    kinds = [_BEGINNINGS.get(str(name).split()[0], str(name)) for name in weights.index]
    shares = weights.groupby(np.array(kinds)).sum().sort_values(ascending=False, kind="stable")
    return [{"name": str(name), "share": float(share)} for name, share in shares.items() if share > 0]


def trust_range(trust: pd.DataFrame) -> dict[str, float]:
    """How many votes the experts' word is worth: median and 90 % range over items and what is uncertain."""
    below = np.cumsum(trust["probability"].to_numpy())
    places = np.minimum(np.searchsorted(below, _MIDDLE), len(below) - 1)
    lower, value, upper = trust["votes"].to_numpy()[places].tolist()
    return {"value": value, "lower": lower, "upper": upper}


def news_of(learned: AnyLearned) -> str:
    """One line for the server's log."""
    parts = [f"{one['name']} {one['share']:.0%}" for one in expert_shares(learned.labeler.weights_)]
    return f"learned again from {counted(learned.n_votes, 'vote')}; {', '.join(parts)}"
