"""One list of names per kind of part, and what each name stands for.

    names()  ->  ("auto", "cg", ...)     check("cg")  ->  "cg"     get("cg")  ->  the object, imported now

A built-in part is written as "module:attribute", so that its name is known before anything is imported. Other
packages add parts with an entry point in the registry's group; theirs are listed after the built-in ones.
"""

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, Generic, TypeVar, cast

from softspread.errors import InputError, PluginError

T = TypeVar("T")


class Registry(Generic[T]):
    """The parts of one kind, by name.

    Parameters
    ----------
    kind : str
        What error messages call such a part: the parameter that takes its name.
    group : str
        The entry-point group in which other packages register theirs.
    built_in : mapping of str to str
        Name to "module:attribute".
    otherwise : str, default ""
        What else the parameter takes, for error messages: "or a function".

    Examples
    --------
    >>> shapes = Registry("shape", "softspread.shapes", {"fraction": "fractions:Fraction"})
    >>> shapes.names()
    ('fraction',)
    >>> shapes.get("fraction")(1, 2)
    Fraction(1, 2)
    """

    def __init__(self, kind: str, group: str, built_in: Mapping[str, str], otherwise: str = "") -> None:
        self.kind, self.group, self._built_in, self._otherwise = kind, group, dict(built_in), otherwise

    def names(self) -> tuple[str, ...]:
        """Every name, the built-in ones first; imports none of the parts."""
        return tuple(dict.fromkeys([*self._built_in, *sorted(self._plugins().names)]))

    def check(self, name: Any) -> str:
        """The name itself if it is known, else an :class:`InputError`; imports none of the parts."""
        if not isinstance(name, str) or name not in self.names():
            allowed = ", ".join(map(repr, self.names()))
            otherwise = f" {self._otherwise}" if self._otherwise else ""
            raise InputError(
                f"{self.kind} must be one of {allowed}{otherwise}, got {name!r}. Another package can add one "
                f"with an entry point in the group {self.group!r}."
            )
        return name

    def get(self, name: Any) -> T:
        """The object behind a name, imported on first use."""
        plugins = list(self._plugins().select(name=self.check(name)))
        if name not in self._built_in and len(plugins) == 1:
            return cast(T, self._load(plugins[0]))
        if plugins:
            raise PluginError(self._taken_twice(name, plugins))
        module, _, attribute = self._built_in[name].partition(":")
        return cast(T, getattr(import_module(module), attribute))

    def find(self, part: "str | T") -> T:
        """The object behind a name; anything callable is returned as it is."""
        return part if callable(part) else self.get(part)

    def _plugins(self) -> EntryPoints:
        return _installed(self.group, tuple(sys.path))

    def _load(self, plugin: EntryPoint) -> Any:
        try:
            part = plugin.load()
        except Exception as error:
            raise PluginError(
                f"{self.kind} {plugin.name!r} comes from {_origin(plugin)}, which cannot be loaded: "
                f"{type(error).__name__}: {error}. Repair or uninstall that package."
            ) from error
        if not callable(part):
            raise PluginError(
                f"{self.kind} {plugin.name!r} comes from {_origin(plugin)} and is not callable: "
                f"{plugin.value} is {part!r}. Repair or uninstall that package."
            )
        return part

    def _taken_twice(self, name: str, plugins: list[EntryPoint]) -> str:
        owners = ["softspread itself"] if name in self._built_in else []
        owners += [_origin(plugin) for plugin in plugins]
        return (
            f"{self.kind} {name!r} is offered by {' and by '.join(owners)}, so it is not clear which one is "
            "meant. Rename or uninstall one of these packages."
        )


@cache
def _installed(group: str, path: tuple[str, ...]) -> EntryPoints:
    """The entry points of a group, read once as long as ``path``, which is ``sys.path``, stays the same."""
    del path
    return entry_points(group=group)


def _origin(plugin: EntryPoint) -> str:
    """The distribution that offers an entry point, as pip names it."""
    return "an unnamed package" if plugin.dist is None else f"{plugin.dist.name} {plugin.dist.version}"
