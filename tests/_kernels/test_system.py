"""Every compiled function has a twin test, and compiling it is paid for once."""

import importlib
import pkgutil
from pathlib import Path

import numpy as np
import pytest

import softspread._kernels
from softspread._kernels.system import Kernel, compiled, compiled_as_written

MODULES = [module.name for module in pkgutil.iter_modules(softspread._kernels.__path__)]


def kernels_of(name):
    """Compiled functions that a module defines."""
    module = importlib.import_module(f"softspread._kernels.{name}")
    return {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, Kernel) and value.py_func.__module__ == module.__name__
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
        assert kernel.dispatcher.targetoptions["nogil"]
        assert kernel.dispatcher._cache.__class__.__name__ == "FunctionCache"


@compiled
def _double(x):
    return 2 * x


@compiled
def _quadruple(x):
    return _double(_double(x))


@compiled_as_written
def _sum_of(x):
    total = 0.0
    for value in x:
        total += value
    return total


def test_kernels_call_each_other_and_keep_the_order_of_sums_where_asked():
    """The compiler sees a kernel inside another one; what comes out is what plain Python gives."""
    assert _quadruple(3) == _quadruple.py_func(3) == 12
    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert _sum_of(values) == _sum_of.py_func(values) == 1.0
    assert not _sum_of.fastmath
