"""Import a library only when something in it is used, even where another library imports it eagerly.

Only for the command line, whose process is ours; no other Python session is touched.
"""

import importlib
import sys
import threading
from types import ModuleType
from typing import Any


class _ImportedWhenUsed(ModuleType):
    """Stands in for a module until one of its attributes is read."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__dict__["_lock"] = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        with self.__dict__["_lock"]:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            return getattr(importlib.import_module(self.__name__), name)


def import_when_used(name: str) -> None:
    """Make ``import name`` free until the module is used; a module that is already loaded stays."""
    if name not in sys.modules:
        sys.modules[name] = _ImportedWhenUsed(name)
