"""A library that another library loads, but that a run may never use, is loaded when it is first used.

Only for the command line, whose process is ours; nobody's Python session is touched.
"""

import importlib
import sys
import threading
from types import ModuleType
from typing import Any


class _Late(ModuleType):
    """Stands for a module until somebody asks for something inside."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__dict__["_lock"] = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        with self.__dict__["_lock"]:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            return getattr(importlib.import_module(self.__name__), name)


def load_late(name: str) -> None:
    """From here on ``import name`` costs nothing until the module is used; a loaded module stays."""
    if name not in sys.modules:
        sys.modules[name] = _Late(name)
