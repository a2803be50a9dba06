"""Through how many functions does a vote pass on its way from a file to Parquet?

    python -m benchmarks.count_hops                   # the command, and the same from Python
    python -m benchmarks.count_hops --show Parquet    # with the path of the ways whose name contains this

A way is run once to warm up and once under ``sys.setprofile``. What is looked at:

* A value *carries the votes* if its shape says so: one entry per vote, or one row per item (or voted item)
  and one column per class; a run has numbers of these that nothing else has. So do a tuple, list or dict that
  holds such a value, and an object of ours with one among its attributes, a few levels deep.
* A *hop* is a distinct function of ours that receives the votes as an argument (``self`` does not count), or
  returns them, or has them returned by a function that it calls. A property is a function; a nested function,
  a lambda or a comprehension belongs to the function it stands in. Compiled loops and what dataclasses
  generate are not seen.
* A *side branch* is left out with all that it calls: a call that gets the votes but gives none back and keeps
  none, neither in the object whose method it is nor in what it was given, such as a check, a choice of
  settings or a sentence about the votes. The writer of the result is the one exception.
* A *leaf* is a hop that calls no other hop: it does its work by itself, and nobody needs to follow the votes
  further. Leaves are counted apart. The *main line* are the others: what a reader walks through.
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

HOME = str(Path(__import__("softspread").__file__).parent)
N_ITEMS, N_VOTED, N_VOTES, N_CLASSES = 1_009, 211, 307, 7
PER_ITEM = {N_ITEMS, N_VOTED}
WRITERS = ("write_soft_labels",)  # gives paths back


# ----------------------------------------------------------------------------------------------- what carries
def carries(value: Any, depth: int = 2) -> bool:
    """Whether the votes, or what was made of them, are in a value."""
    return next(carried(value, depth), None) is not None


def carried(value: Any, depth: int = 2) -> Iterator[int]:
    """The identities of all tables of votes in a value."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        sides = [*pairwise(shape), *pairwise(shape[::-1])]
        per_item = any(rows in PER_ITEM and columns == N_CLASSES for rows, columns in sides)
        wide = hasattr(value, "columns") and shape[0] in PER_ITEM and shape[1] > N_CLASSES  # a table
        if shape[:1] == (N_VOTES,) or per_item or wide:
            yield id(value)
    elif isinstance(value, list | tuple | set) and not hasattr(value, "_fields"):
        if len(value) == N_VOTES:
            yield id(value)
        elif depth and len(value) <= 64:
            for part in value:
                yield from carried(part, depth - 1)
    elif isinstance(value, dict):
        if depth and len(value) <= 64:
            for part in value.values():
                yield from carried(part, depth - 1)
    elif depth and type(value).__module__.partition(".")[0] == "softspread":
        for part in attributes(value):
            yield from carried(part, depth - 1)


def attributes(value: Any) -> list[Any]:
    """Attributes as they are stored, without running a property."""
    found = list(getattr(value, "__dict__", {}).values())
    for kind in type(value).__mro__:
        slots = getattr(kind, "__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if name != "__weakref__" and hasattr(value, name):
                found.append(getattr(value, name))
    return [*found, *value] if isinstance(value, tuple) else found


# ------------------------------------------------------------------------------------------------------ calls
@dataclass(eq=False)
class Call:
    """One call of a function of ours."""

    name: str
    gets: bool = False  # an argument carries the votes
    gives: bool = False  # the result does
    keeps: bool = False  # self, or an argument, carries other tables than before
    calls: list["Call"] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether the votes are in it."""
        return self.gets or self.gives or any(call.gives for call in self.calls)

    @property
    def writes(self) -> bool:
        """Whether the result is written in it."""
        return self.name.endswith(WRITERS) or any(call.writes for call in self.calls)

    @property
    def is_side_branch(self) -> bool:
        """Whether the votes end here."""
        return not (self.gives or self.keeps or self.writes)


class Trace:
    """The calls of our functions, as a tree."""

    def __init__(self) -> None:
        self.root = Call("the caller", gives=True)
        self._stack: list[tuple[FrameType, Call, set[int]]] = []

    def __call__(self, frame: FrameType, event: str, result: Any) -> None:
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(HOME):
            return
        if event == "call":
            code = frame.f_code
            n_given = code.co_argcount + code.co_kwonlyargcount
            names = code.co_varnames[: n_given + bool(code.co_flags & 4) + bool(code.co_flags & 8)]
            given = {name: frame.f_locals.get(name) for name in names}
            others = [value for name, value in given.items() if name not in ("self", "cls")]
            call = Call(name_of(frame), carries(others, 3))
            (self._stack[-1][1] if self._stack else self.root).calls.append(call)
            self._stack.append((frame, call, set(carried(list(given.values()), 4))))
        elif self._stack and self._stack[-1][0] is frame:
            _, call, before = self._stack.pop()
            code = frame.f_code
            n_given = code.co_argcount + code.co_kwonlyargcount
            given = [frame.f_locals.get(name) for name in code.co_varnames[:n_given]]
            call.gives |= carries(result, 3)
            call.keeps |= not set(carried(given, 4)) <= before


def name_of(frame: FrameType) -> str:
    """``room.module:function``, nested functions by the one they stand in."""
    module = frame.f_code.co_filename.removeprefix(HOME).removesuffix(".py").strip("/").replace("/", ".")
    return f"{module}:{frame.f_code.co_qualname.partition('.<locals>')[0]}"


def hops_below(call: Call, caller: str, depth: int = 0) -> Iterator[tuple[int, str, str]]:
    """Depth, name and calling hop of every hop below a call, again where it is called again."""
    for below in call.calls:
        if not below.holds:
            yield from hops_below(below, caller, depth)
        elif not below.is_side_branch:
            yield depth, below.name, caller
            yield from hops_below(below, below.name, depth + 1)


@dataclass(frozen=True)
class Line:
    """The main line of one way."""

    path: list[tuple[int, str]]  # depth and name of every hop in the order of the calls, each once
    leaves: set[str]

    @property
    def n_hops(self) -> int:
        """Hops that are no leaves."""
        return len({name for _, name in self.path} - self.leaves)


def traced(way: Callable[[], Any]) -> Line:
    """The main line of a way that ran before."""
    trace = Trace()
    sys.setprofile(trace)
    try:
        way()
    finally:
        sys.setprofile(None)
    path: dict[str, int] = {}
    callers = set()
    for depth, name, caller in hops_below(trace.root, ""):
        path.setdefault(name, depth)
        if caller != name:
            callers.add(caller)
    return Line([(depth, name) for name, depth in path.items()], path.keys() - callers)


# ------------------------------------------------------------------------------------------------------- ways
def made_data() -> tuple[Any, Any, Any]:
    """Items in three dimensions, and rows and labels of votes on some of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ITEMS, 3))
    voted = rng.permutation(N_ITEMS)[:N_VOTED]
    rows = np.concatenate([voted, rng.choice(voted, N_VOTES - N_VOTED)])
    labels = np.concatenate([np.arange(N_CLASSES), rng.integers(N_CLASSES, size=N_VOTES - N_CLASSES)])
    return X, rows, labels


def ways(folder: Path) -> dict[str, Callable[[], Any]]:
    """The commands and calls by which most people come."""
    from softspread import ProbabilisticLabelSpreading, SoftLabeler, Votes
    from softspread.cli.app import app

    X, rows, labels = made_data()
    np.savez(folder / "X.npz", X=X)
    lines = [f"{row},class_{label}" for row, label in zip(rows.tolist(), labels.tolist(), strict=True)]
    (folder / "votes.csv").write_text("\n".join(["item,label", *lines, ""]))

    def spread(method: str) -> None:
        files = ["-e", str(folder / "X.npz"), "-v", str(folder / "votes.csv")]
        out = ["--out", str(folder / "out.parquet"), "--quiet", "--threads", "1"]
        app(["spread", *files, *out, "--method", method], standalone_mode=False)

    def fit(make: Callable[..., Any]) -> Any:
        votes = Votes.from_pairs(rows, labels)
        return make(n_jobs=1, random_state=0).fit(X, votes).soft_labels().to_frame()

    return {
        "softspread spread, to Parquet": lambda: spread("auto"),
        "softspread spread --method pls, to Parquet": lambda: spread("pls"),
        "SoftLabeler().fit().soft_labels()": lambda: fit(SoftLabeler),
        "ProbabilisticLabelSpreading().fit().soft_labels()": lambda: fit(ProbabilisticLabelSpreading),
    }


def main() -> None:
    """Count the hops of every way."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--show", help="print the path of the ways whose name contains this")
    show = parser.parse_args().show
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, way in ways(Path(folder)).items():
            way()
            line = traced(way)
            print(f"{name}: {line.n_hops} hops and {len(line.leaves)} leaves")
            if show is not None and show in name:
                for depth, hop in line.path:
                    print("   ", "  " * depth + hop, "(leaf)" if hop in line.leaves else "")


if __name__ == "__main__":
    main()
