"""Import a library only when something in it is used, even where another library imports it eagerly.

scikit-learn imports scipy.stats, half the time of loading it, for functions that we never call. The command
line owns its process and defers scipy.stats for good; in a user's session only our own imports are deferred.
"""

import importlib
import sys
import threading
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any


class _ImportedWhenUsed(ModuleType):
    """Stands in for a module until one of its attributes is read, or one of some functions is called."""

    def __init__(self, name: str, functions: Container[str]) -> None:
        super().__init__(name)
        self.__dict__["_lock"] = threading.RLock()
        self.__dict__["_functions"] = functions

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":  # asked for by every ``from module import ...``, before the name itself
            return self._place()
        if name in self.__dict__["_functions"]:
            return self._called_later(name)
        return getattr(self._module(), name)

    def _place(self) -> list[str]:
        """Where the module's own modules lie, without importing it."""
        parent = importlib.import_module(self.__name__.rpartition(".")[0])
        spec = PathFinder.find_spec(self.__name__, parent.__path__)
        if spec is None or spec.submodule_search_locations is None:
            raise AttributeError(f"{self.__name__} is not a package")
        return list(spec.submodule_search_locations)

    def _module(self) -> ModuleType:
        """The module itself, imported now."""
        with self.__dict__["_lock"]:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            return importlib.import_module(self.__name__)

    def _called_later(self, name: str) -> Callable[..., Any]:
        """A function of the module, which is imported when the function is called."""

        def call(*arguments: Any, **options: Any) -> Any:
            return getattr(self._module(), name)(*arguments, **options)

        return call


def import_when_used(name: str, functions: Container[str] = ()) -> None:
    """Make ``import name`` free until the module is used; a module that is already loaded stays.

    Parameters
    ----------
    functions : names that other libraries take by ``from name import function``: free until called
    """
    if name not in sys.modules:
        sys.modules[name] = _ImportedWhenUsed(name, functions)


@contextmanager
def imported_when_used(name: str, functions: Container[str] = ()) -> Iterator[None]:
    """:func:`import_when_used` for imports inside a block; after it ``import name`` imports it as ever."""
    ours = name not in sys.modules
    import_when_used(name, functions)
    try:
        yield
    finally:
        if ours and isinstance(sys.modules.get(name), _ImportedWhenUsed):
            sys.modules.pop(name)
