"""Components within what a component holds: in an object of the user's own class, a closure, a slot, a list of such objects.

Parts of a component are its attributes, and lists of them. One that only a helper object knows would be left out of the plant
without a word, so everything that can be reached from an attribute is looked at, each object once, and no code of the user's runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, MappingView
from functools import partial
from gc import get_referents
from types import (
    BuiltinFunctionType,
    CodeType,
    CoroutineType,
    FrameType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np


class Held(NamedTuple):
    """What was reached, and how; `shared` where copies of a component share it, as they do what a function or a class knows."""

    path: str
    value: Any
    shared: bool = False


_NOTHING = (
    str, bytes, bool, int, float, complex, type(None), type, ModuleType, BuiltinFunctionType, GeneratorType, CoroutineType,
    FrameType, CodeType,
)  # fmt: skip
_OF_CLASSES = (FunctionType, classmethod, staticmethod, property, MemberDescriptorType)
_WITHOUT_PARTS = ("numpy", "acausal")  # packages whose objects hold none, but for arrays of objects


def held_by(path: str, value: Any, wanted: tuple[type, ...], seen: set[int]) -> Iterator[Held]:
    """Objects of some classes that can be reached from a value, and how."""
    ahead = [Held(path, value)]
    while ahead:
        found = ahead.pop()
        if isinstance(found.value, wanted):
            yield found
        elif not isinstance(found.value, _NOTHING) and id(found.value) not in seen:
            seen.add(id(found.value))
            inside = _inside(found.path, found.value)
            ahead += [inner._replace(shared=True) for inner in inside] if found.shared else inside


def _inside(path: str, value: Any) -> Iterator[Held]:
    """What an object holds itself: as a container, as a function, and in its attributes."""
    kind = type(value)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            yield from (Held(f"{path}[{k}]", part) for k, part in enumerate(value.ravel().tolist()))
        return
    if kind.__module__.partition(".")[0] in _WITHOUT_PARTS:
        return
    if isinstance(value, (list, tuple, deque)):
        base: Any = next(b for b in (list, tuple, deque) if isinstance(value, b))  # whatever a derived class makes of it
        yield from (Held(f"{path}[{k}]", part) for k, part in enumerate(base.__iter__(value)))
    elif isinstance(value, (dict, MappingProxyType)):
        yield from _of_items(path, dict.items(value) if isinstance(value, dict) else value.items())
    elif isinstance(value, (set, frozenset)):
        yield from (Held(path, part) for part in list(value))
    elif isinstance(value, (FunctionType, MethodType, partial)):
        shared = isinstance(value, FunctionType)
        yield from (Held(f"{path}()", part, shared) for part in _of_function(value))
    elif isinstance(value, (Iterator, MappingView)) and kind.__module__ in ("builtins", "itertools"):
        yield from (Held(path, part) for part in get_referents(value))
    yield from _of_attributes(path, value)


def _of_items(path: str, items: Any) -> Iterator[Held]:
    for key, part in list(items):
        yield Held(path, key)
        yield Held(f"{path}[{key!r}]" if isinstance(key, (str, int)) else path, part)


def _of_function(value: Any) -> list[Any]:
    """What was bound to a function's arguments, and its closure."""
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, MethodType):
        return [value.__self__, value.__func__]
    return [value.__defaults__, value.__kwdefaults__, *(part for cell in value.__closure__ or () for part in get_referents(cell))]


def _of_attributes(path: str, value: Any) -> Iterator[Held]:
    """In its dictionary, in its slots, and on the classes that a user wrote for it."""
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        own = {}
    yield from (Held(f"{path}.{name}", part) for name, part in list(own.items()))
    for base in type(value).__mro__:
        for name, found in [] if base.__module__ == "builtins" else list(vars(base).items()):
            if isinstance(found, MemberDescriptorType):
                yield from (Held(f"{path}.{name}", part) for part in _in_slot(found, value))
            elif not name.startswith("__") and not isinstance(found, _OF_CLASSES):
                yield Held(f"{path}.{name}", found, shared=True)


def _in_slot(member: Any, value: Any) -> list[Any]:
    try:
        return [member.__get__(value)]
    except AttributeError:  # nothing was assigned to it
        return []
