"""The names of the query strategies, the default first; other packages add theirs by entry point."""

from typing import TYPE_CHECKING

from softspread._common.registry import Registry

if TYPE_CHECKING:
    from softspread.queries.pool import Strategy

_HERE = "softspread.queries.strategies"
STRATEGIES: "Registry[Strategy]" = Registry(
    "strategy",
    "softspread.strategies",
    {
        name: f"{_HERE}:{name}"
        for name in (
            "uncertainty",
            "uniform",
            "balanced",
            "gain",
            "local",
            "least_evidence",
            "entropy",
            "farthest",
        )
    },
    otherwise="or a function",
)


def needs_features(strategy: "str | Strategy") -> bool:
    """Whether a strategy reads the features of the items."""
    return bool(getattr(STRATEGIES.find(strategy), "needs_features", False))
