"""From a plan in TOML to the list of trials that it asks for.

A list stands for an axis: the trials are all combinations of datasets, methods with their parameters,
budgets, designs and draws. What stands under ``[quick]`` replaces the same entry in quick mode. A trial is a
plain description; two trials with equal descriptions give equal results, so results can be kept and shared
between experiments.
"""

import hashlib
import itertools
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from softspread.errors import InputError

REQUIRED = ("title", "measure", "datasets")
TEXTS = ("title", "paper", "question", "measure", "figure", "table", "reference", "differs")


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to compute: enough to compute it again anywhere."""

    measure: str  # what is done, see `softspread.reproduce.measures`
    dataset: Mapping[str, Any]  # name and options of the loader
    method: str
    parameters: Mapping[str, Any]
    budget: float | None  # votes as a share of the items
    n_votes: int | None  # votes as a number, instead of a budget
    design: Mapping[str, Any]  # who may be voted on, how many items, which crowd
    options: Mapping[str, Any]  # of the measure
    draw: int
    seed: int

    def describe(self) -> dict[str, Any]:
        """The trial as plain values."""
        return asdict(self)

    @property
    def key(self) -> str:
        """A fingerprint of the description."""
        return fingerprint(self.describe())

    @property
    def votes_key(self) -> int:
        """A seed from everything that decides which votes are drawn.

        The method is not part of it, so all methods see the same votes.
        """
        return self._key_without("measure", "method", "parameters", "options")

    @property
    def tuning_key(self) -> int:
        """A seed of the search for the best parameters: the same for all draws, whose votes are others."""
        return self._key_without("measure", "method", "parameters", "options", "draw")

    def _key_without(self, *entries: str) -> int:
        about = self.describe()
        for entry in entries:
            del about[entry]
        about["dataset"].pop("features", None)
        return int(fingerprint(about)[:15], 16)


def fingerprint(value: Any) -> str:
    """Hash plain values, on every machine alike."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment, as its file describes it."""

    name: str
    title: str
    paper: str  # which table or figure
    question: str
    measure: str
    figure: str  # which drawing, empty for none
    table: str  # which table, empty for none
    reference: str  # which numbers of the paper stand beside ours, empty for none
    differs: str  # why ours differ from the paper's
    datasets: tuple[Mapping[str, Any], ...]
    methods: tuple[Mapping[str, Any], ...]
    budgets: tuple[float, ...]
    votes: tuple[int, ...]
    design: Mapping[str, Any]
    options: Mapping[str, Any]
    draws: int

    def trials(self, seed: int = 0) -> list[Trial]:
        """All trials, datasets outermost and draws innermost."""
        amounts: list[tuple[float | None, int | None]] = [(budget, None) for budget in self.budgets]
        amounts += [(None, number) for number in self.votes]
        return [
            Trial(self.measure, dataset, method, parameters, budget, number, design, options, draw, seed)
            for dataset in self.datasets
            for budget, number in amounts or [(None, None)]
            for design in _combinations(self.design)
            for options in _combinations(self.options)
            for method, parameters in self._methods()
            for draw in range(self.draws)
        ]

    def _methods(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if not self.methods:
            yield "", {}
        for method in self.methods:
            settings = {name: value for name, value in method.items() if name != "name"}
            for parameters in _combinations(settings):
                yield str(method["name"]), parameters


def _combinations(axes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every combination of the entries of lists; anything that is not a list is the same in all."""
    names = list(axes)
    values = [value if isinstance(value, list) else [value] for value in axes.values()]
    for chosen in itertools.product(*values):
        yield dict(zip(names, chosen, strict=True))


# ---------------------------------------------------------------------------------------------------- reading
def plan_names() -> list[str]:
    """Names of the plans that come with the package.

    Examples
    --------
    >>> "rmse_10" in plan_names()
    True
    """
    return sorted(
        entry.name.removesuffix(".toml") for entry in _home().iterdir() if entry.name.endswith(".toml")
    )


def load_plan(name: str, quick: bool = True) -> Plan:
    """Load a plan by its name, or from a TOML file by its path.

    Examples
    --------
    >>> plan = load_plan("rmse_1")
    >>> plan.paper, len(plan.trials()) > 0
    ('Table A.2', True)
    """
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise InputError(f"there is no plan {name}.")
        return read_plan(path.stem, path.read_text(encoding="utf-8"), quick)
    if name not in plan_names():
        raise InputError(
            f"experiment {name!r} is unknown; there are {', '.join(plan_names())}, or a path to a .toml."
        )
    return read_plan(name, (_home() / f"{name}.toml").read_text(encoding="utf-8"), quick)


def _home() -> Traversable:
    return files("softspread.reproduce") / "plans"


def read_plan(name: str, text: str, quick: bool = True) -> Plan:
    """Check the text of a plan and turn it into a Plan."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"plan {name} is not valid TOML: {error}.") from error
    known = {field.name for field in fields(Plan)} - {"name"} | {"quick"}
    unknown = sorted((set(raw) | set(raw.get("quick", {}))) - known)
    if unknown:
        raise InputError(
            f"plan {name} has unknown entries {', '.join(unknown)}; known are {', '.join(sorted(known))}."
        )
    missing = [entry for entry in REQUIRED if entry not in raw]
    if missing:
        raise InputError(f"plan {name} lacks {', '.join(missing)}.")
    if quick:
        raw = raw | raw.get("quick", {})
    datasets = [{"name": entry} if isinstance(entry, str) else entry for entry in raw["datasets"]]
    expanded = [dataset for entry in datasets for dataset in _combinations(entry)]
    if not all("name" in entry for entry in [*expanded, *raw.get("methods", [])]):
        raise InputError(f"plan {name}: every dataset and every method needs a name.")
    return Plan(
        name=name,
        **{entry: str(raw.get(entry, "")) for entry in TEXTS},
        datasets=tuple(expanded),
        methods=tuple(raw.get("methods", [])),
        budgets=tuple(float(value) for value in raw.get("budgets", [])),
        votes=tuple(int(value) for value in raw.get("votes", [])),
        design=dict(raw.get("design", {})),
        options=dict(raw.get("options", {})),
        draws=int(raw.get("draws", 1)),
    )
