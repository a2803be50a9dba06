"""Shared by all kernels: the linear system as they see it, and how they are compiled.

A process that only imports softspread, or that solves a small system by its dense factor, needs no compiled
loop: numba, a third of a second to load, is imported when the first one is called.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from softspread._common.types import FloatArray, IndexArray, IntArray

ANY_ORDER = frozenset({"contract", "reassoc", "nsz", "arcp"})  # sums in the order that suits the processor


class System(NamedTuple):
    """(I - alpha S) by rows of S; signed indices would cost a wrap-around test per edge."""

    indptr: IntArray  # (n + 1,)
    indices: IndexArray  # (edges,)
    weights: FloatArray  # (edges,)
    root: FloatArray  # (n,)  sqrt(d), 1 for isolated items
    alpha: float


class Kernel:
    """A loop that is compiled, or read from disk, when it is first called; kernels may call each other."""

    def __init__(self, py_func: Callable[..., Any], fastmath: frozenset[str]) -> None:
        self.py_func, self.fastmath = py_func, fastmath
        self.__doc__ = py_func.__doc__

    @cached_property
    def dispatcher(self) -> Any:
        """The compiled function as numba keeps it."""
        from numba import njit

        return njit(cache=True, nogil=True, fastmath=set(self.fastmath))(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """How numba sees this kernel inside another one."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)


def compiled(py_func: Callable[..., Any]) -> Kernel:
    """Compile a function; its sums may be added up in another order than written."""
    return Kernel(py_func, ANY_ORDER)


def compiled_as_written(py_func: Callable[..., Any]) -> Kernel:
    """Compile a function whose sums must keep their order."""
    return Kernel(py_func, frozenset())
