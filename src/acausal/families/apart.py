"""Components that are alike and say something different: their equations ask somebody else than the component.

`equations` runs once for all components of a kind. What a component holds is compared beforehand (`census`), so that whatever it
makes of it holds for all of them. A global counter, a dictionary with components as its keys, a random number, `self is THAT_ONE`
are held by no component. A class whose methods may look at such things (its code reads a global that can change, or asks for the
identity of an object, for its name or what it is part of) is asked for some of its components, and refused if these do not say
the same. Others cost nothing. Methods and properties that these methods ask for by name are looked at with them, and so are
objects that a component holds.
"""

from __future__ import annotations

import builtins
import dis
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ModelError
from ..language.component import Component
from ..language.connector import Connector
from ..language.declarations import Declaration
from ..language.expression import Arithmetic
from .alike import first_that_differs
from .tree import Node

METHODS = ("equations", "initial_equations", "events", "transitions", "on_state_change")
_MOST = 8  # components of a kind that are asked, the last among them
_IDENTITY = ("id", "hash", "next", "globals", "vars", "open", "input", "repr", "str")  # builtins with an answer of its own for each
_TELLING = {"random", "__class__", "__repr__", "__str__", "_ac_name", "_ac_parent", "_ac_position", "_path_from", "_steps_from"}
_CHANGING = ("random", "secrets", "uuid", "time", "os", "datetime", "itertools", "threading")  # modules
_STEADY = (
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    BuiltinFunctionType,
    np.ndarray,
    np.generic,
    np.ufunc,
    Arithmetic,
    Declaration,
)

_found: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def refuse_different(root: Node, parts: Iterable[tuple[Component, Node]]) -> None:
    """Raise if components of one kind say something different."""
    asked: dict[int, list[tuple[Component, Node]]] = {}
    for component, node in parts:
        if node.kind is not None and not node.kind.promoted and (looks_elsewhere(type(component)) or _asks_others(component)):
            asked.setdefault(node.kind.index, []).append((component, node))
    for (first, node), *others in asked.values():
        some = [*others[: _MOST - 1], *others[_MOST - 1 :][-1:]]
        found = first_that_differs(first, [component for component, _ in some]) if some else None
        for component, place in some:
            if component is found:
                raise _different(type(first).__name__, node._path_from(root), place._path_from(root))


def _different(cls: str, one: str, other: str) -> ModelError:
    return ModelError(
        f"`{one}` and `{other}` are alike, but the equations of {cls} are not the same for both: something else "
        "than the component decides what they say.",
        component=cls,
        remedy="Equations are stated once for all components that are alike. Keep in the component what makes it different: "
        "`self.rate = …` in `__init__`, or a parameter; not in a global, in the class, or by chance.",
    )


def looks_elsewhere(cls: type) -> bool:
    """Whether methods of a class may see something that is neither in the component nor the same for ever."""
    if cls not in _found:
        functions, others = _asked_for(cls)
        _found[cls] = any(_looks(f, set()) for f in functions) or any(_may_change(o, False, set()) for o in others)
    return _found[cls]


def _asks_others(component: Component) -> bool:
    """Whether a component holds an object of a user's class whose methods may see something else."""
    held = {type(value) for value in component.__dict__.values()}
    return any(_helps(cls) for cls in held if not _is_ours(cls.__module__) and not issubclass(cls, Component))


def _helps(cls: type) -> bool:
    if cls not in _found:
        own = [f for base in cls.__mro__ if not _is_ours(base.__module__) for m in vars(base).values() for f in _functions(m)]
        _found[cls] = any(_looks(f, set()) for f in own)
    return _found[cls]


def _asked_for(cls: type) -> tuple[list[FunctionType], list[Any]]:
    """The methods that state something, and whatever of the class their code names: functions, and what else is no part of it."""
    bases = [base for base in cls.__mro__ if not _is_ours(base.__module__)]
    found: dict[FunctionType, None] = {}
    others: list[Any] = []
    names, seen = list(METHODS), set(METHODS)
    while names:
        name = names.pop()
        for member in (vars(base)[name] for base in bases if name in vars(base)):
            functions = _functions(member)
            if not functions and not isinstance(member, (Component, Connector)):
                others.append(member)
            for function in functions:
                found[function] = None
                fresh = {n for code in _codes(function.__code__) for n in code.co_names} - seen
                seen |= fresh
                names += sorted(fresh)
    return list(found), others


def _functions(member: Any) -> list[FunctionType]:
    """What runs when a member of a class is asked for: of a property its getter."""
    parts = (member, getattr(member, "fget", None), getattr(member, "func", None), getattr(member, "__func__", None))
    return [part for part in parts if isinstance(part, FunctionType)]


def _is_ours(module: str | None) -> bool:
    return (module or "").partition(".")[0] in ("acausal", "numpy", "scipy", "math", "builtins", "typing")


def _looks(function: FunctionType, seen: set[int]) -> bool:
    if id(function) in seen or _is_ours(function.__module__):
        return False
    seen.add(id(function))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
    sets = False
    for code in _codes(function.__code__):
        if not _TELLING.isdisjoint(code.co_names):
            return True
        for step in dis.get_instructions(code):
            sets |= step.opname == "STORE_ATTR"
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                return True
    for name in _outer_names(function.__code__):
        if name in cells:
            value: Any = _content(cells[name])
        elif name in function.__globals__:
            value = function.__globals__[name]
        elif name in _IDENTITY:
            return True
        else:
            value = getattr(builtins, name, None)
        if _may_change(value, sets, seen):
            return True
    return False


def _may_change(value: Any, sets: bool, seen: set[int]) -> bool:
    if isinstance(value, FunctionType):
        return _looks(value, seen)
    if isinstance(value, ModuleType):
        return value.__name__ in _CHANGING
    if isinstance(value, type):
        return sets and (value is type or not _is_ours(value.__module__))  # a counter in the class
    if isinstance(value, (tuple, frozenset)):
        return any(_may_change(part, sets, seen) for part in value)
    return not isinstance(value, _STEADY) and (type(value).__module__ == "builtins" or not _is_ours(type(value).__module__))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _outer_names(code: CodeType) -> set[str]:
    """Names that a function reads from around it."""
    found = set(code.co_freevars)
    for one in _codes(code):
        found |= {str(step.argval) for step in dis.get_instructions(one) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return found
