"""Changes that a lead makes while the server runs, kept in the database so that a restart keeps them.

    settings of the start  +  changes in the database  ->  settings in force

Fields that nobody changed on the page follow the command line; a changed one stays as it was changed.
"""

from dataclasses import dataclass, replace
from typing import Any

from softspread.errors import InputError
from softspread.web.log.store import Store
from softspread.web.project.settings import Settings

FACT = "settings"
# Fields that take effect at once
CHANGEABLE = (
    *("title", "question", "guidelines", "status"),
    *("mode", "strategy", "overlap", "uniform_share", "gold_share"),
    *("classes", "merged", "class_notes", "left_out"),
)
LEARNED = ("classes", "merged", "left_out")  # of these, the page learns again before they are in force


class ConflictError(InputError):
    """The settings were changed by someone else since they were read."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The fields that were changed on the page, and how often that happened."""

    values: dict[str, Any]
    revision: int = 0

    def applied_to(self, settings: Settings) -> Settings:
        """The settings in force; InputError where the changes make no sense with these settings."""
        return replace(settings, **{name: _as_set(value) for name, value in self.values.items()})

    def and_then(self, values: dict[str, Any]) -> "Changes":
        """With further changes.

        Examples
        --------
        >>> Changes({"overlap": 2}).and_then({"question": "Cat or dog?"})
        Changes(values={'overlap': 2, 'question': 'Cat or dog?'}, revision=1)
        """
        unknown = [name for name in values if name not in CHANGEABLE]
        if unknown:
            raise InputError(
                f"{unknown[0]!r} cannot be changed while the server runs; {', '.join(CHANGEABLE)} can."
            )
        return Changes({**self.values, **values}, self.revision + 1)


def _as_set(value: Any) -> Any:
    """The value as the settings hold it: JSON has no tuples."""
    return tuple(map(_as_set, value)) if isinstance(value, list | tuple) else value


def read_changes(store: Store) -> Changes:
    """The changes in the database."""
    found = store.fact(FACT) or {"values": {}, "revision": 0}
    return Changes(found["values"], found["revision"])


def write_changes(store: Store, changes: Changes) -> None:
    """Keep changes; on return they survive a crash."""
    store.set_fact(FACT, {"values": changes.values, "revision": changes.revision})
