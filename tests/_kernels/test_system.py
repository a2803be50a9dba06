"""Every compiled function has a twin test, and compiling it is paid for once."""

import importlib
import pkgutil
from pathlib import Path

import pytest
from numba.core.registry import CPUDispatcher

import softspread._kernels

MODULES = [module.name for module in pkgutil.iter_modules(softspread._kernels.__path__)]


def kernels_of(name):
    """Compiled functions that a module defines."""
    module = importlib.import_module(f"softspread._kernels.{name}")
    return {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, CPUDispatcher) and value.py_func.__module__ == module.__name__
    }


@pytest.mark.parametrize("name", MODULES)
def test_every_compiled_function_is_compared_with_its_plain_python(name):
    """Its name is handed to `same_as_python` in the test file of its module."""
    text = (Path(__file__).parent / f"test_{name}.py").read_text()
    compact = "".join(text.split())
    assert not [key for key in kernels_of(name) if f"same_as_python({key}," not in compact]


@pytest.mark.parametrize("name", [name for name in MODULES if name != "system"])
def test_every_compiled_function_is_kept_on_disk_and_frees_the_interpreter(name):
    """The first call of a process loads machine code; threads run beside each other."""
    kernels = kernels_of(name)
    assert kernels
    for kernel in kernels.values():
        assert kernel.targetoptions["nogil"]
        assert kernel._cache.__class__.__name__ == "FunctionCache"
