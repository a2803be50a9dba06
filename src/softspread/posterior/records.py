"""Dataclasses as plain values and named arrays, and back: what a file can hold without pickle.

record  ->  facts (for JSON) + arrays by name        facts + arrays + the classes allowed  ->  record
"""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from softspread._common.types import AnyArray

_ARRAY, _CLASS, _TUPLE, _VALUES = "array", "class", "tuple", "values"


def pack_record(record: Any) -> tuple[Any, dict[str, AnyArray]]:
    """Facts and arrays of a dataclass or named tuple; lists and tuples may hold further ones."""
    arrays: dict[str, AnyArray] = {}
    known: dict[int, str] = {}  # an array that two records share is stored once
    return _pack(record, "record", arrays, known), arrays


def _pack(value: Any, path: str, arrays: dict[str, AnyArray], known: dict[int, str]) -> Any:
    def parts(named: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        return {name: _pack(part, f"{path}.{name}", arrays, known) for name, part in named}

    if isinstance(value, np.ndarray):
        name = known.setdefault(id(value), path)
        arrays[name] = value
        return {_ARRAY: name}
    if is_dataclass(value):
        named = parts((field.name, getattr(value, field.name)) for field in fields(value))
        return {_CLASS: type(value).__name__, _VALUES: named}
    if hasattr(value, "_asdict"):
        return {_CLASS: type(value).__name__, _VALUES: parts(value._asdict().items())}
    if isinstance(value, list | tuple):
        listed = list(parts((str(number), part) for number, part in enumerate(value)).values())
        return {_TUPLE: listed} if isinstance(value, tuple) else listed
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is not None and not isinstance(plain, str | bool | int | float):
        raise TypeError(f"{path} is a {type(value).__name__}, which no record can hold")
    return plain


def unpack_record(facts: Any, arrays: dict[str, AnyArray], classes: Iterable[type]) -> Any:
    """The inverse of :func:`pack_record`; only the given classes are made.

    Raises KeyError or TypeError where a part is missing or one too many.
    """
    return _unpack(facts, arrays, {kind.__name__: kind for kind in classes})


def _unpack(facts: Any, arrays: dict[str, AnyArray], classes: dict[str, type]) -> Any:
    if isinstance(facts, list):
        return [_unpack(part, arrays, classes) for part in facts]
    if not isinstance(facts, dict):
        return facts
    if _ARRAY in facts:
        return arrays[facts[_ARRAY]]
    if _TUPLE in facts:
        return tuple(_unpack(part, arrays, classes) for part in facts[_TUPLE])
    named = {name: _unpack(part, arrays, classes) for name, part in facts[_VALUES].items()}
    return classes[facts[_CLASS]](**named)
