"""What a user writes on a component or a class and does not mean: found where it is written, and told.

Python lets an attribute of any name be assigned, an object have two names, and a class attribute be replaced. Here each of these
would be accepted and have no effect, or another one than it seems to have.
"""

from __future__ import annotations

import copy
import sys
from collections import UserList, deque
from collections.abc import Iterable, Mapping, Sequence, Set, ValuesView
from dataclasses import is_dataclass
from itertools import chain, tee
from types import FrameType, SimpleNamespace
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from ..errors import AttributeNotFound, UsageError, an, near_matches, shown
from .declarations import ATTRIBUTES, Declaration
from .expression import Reference

if TYPE_CHECKING:
    from .component import Component
    from .connector import Connector

RESERVED = {"time": "the time of a run"}  # what `result["time"]` gives
METHODS = ("equations", "initial_equations", "connections", "events", "transitions", "on_state_change")


def refuse_reserved(owner: str, name: str) -> None:
    if name in METHODS:
        raise UsageError(
            f"`{name}` of {owner} cannot have this name: it is that of the method in which a component states something.",
            remedy=f"Give it another one, such as `{name}_`.",
        )
    refuse_misnamed(owner, name)
    if name in RESERVED:
        raise UsageError(
            f"`{name}` of {owner} cannot have this name: it is that of {RESERVED[name]}.",
            remedy=f"Give it another one, such as `{name}_`; in equations the time is `ac.time`.",
        )


def refuse_misnamed(owner: str, name: str) -> None:
    """What nobody could ask for: paths are read as Python reads names."""
    if not name.isidentifier():
        raise UsageError(f"{owner} declares {name!r}, which is not a name.", remedy="A name has letters, digits and `_`: `T_1`.")
    if (read := normalize("NFKC", name)) != name:
        raise UsageError(f"{owner} declares `{name}`, which Python reads as `{read}`.", remedy=f"Call it `{read}`.")


def taken(cls: type, name: str) -> UsageError:
    return UsageError(
        f"`{name}` of {cls.__name__} hides what every component has under that name.",
        remedy=f"Give it another one: `{name}_`, or without the underscore.",
    )


def put(component: Component, name: str, value: Any) -> None:
    """As Python assigns: into the dictionary, or through a property or a slot of the class."""
    try:
        object.__setattr__(component, name, value)
    except AttributeError:
        found = getattr(type(component), name, None)
        if not isinstance(found, property) or found.fset is not None:
            raise
        raise UsageError(
            f"`{name}` of {type(component).__name__} is a property, and cannot be assigned {shown(value)}.",
            remedy=f"Assign what it is computed from, or give it a setter: `@{name}.setter`.",
        ) from None


def no_attribute(component: Component, name: str) -> AttributeNotFound:
    declared = component._all_declared()
    ports = [n for n, d in declared.items() if hasattr(d, "members")]  # first: the list is cut
    known = [*ports, *(n for n in declared if n not in ports), *component.__dict__]
    return AttributeNotFound(
        f"{type(component).__name__} has no attribute `{name}`. {near_matches(name, known)}".strip(),
        remedy=f"It has: {', '.join(known[:12])}{', …' if len(known) > 12 else ''}" if known else "It declares nothing so far.",
    )


def own_declarations(cls: type, kinds: tuple[type, ...]) -> None:
    """Give each name of a class a declaration of its own: one object may have been assigned to two names, or in two classes."""
    for name, value in list(vars(cls).items()):
        if not isinstance(value, kinds):
            continue
        refuse_reserved(cls.__name__, name)
        place = f"{cls.__module__}.{cls.__qualname__}.{name}"
        if value.place != place:  # type: ignore[attr-defined]
            mine = copy.copy(value)
            mine.name, mine.place = name, place  # type: ignore[attr-defined]
            type.__setattr__(cls, name, mine)


def refuse_replaced(cls: type, name: str, value: Any) -> None:
    """A declared name of a class is not assigned a number: equations would see it, and nothing else."""
    declared = getattr(cls, "_class_declared", {}).get(name)
    if declared is not None and not isinstance(value, type(declared)):
        raise UsageError(
            f"`{cls.__name__}.{name}` is declared ({declared!r}) and cannot be replaced by {value!r}.",
            remedy=f"Give the value to a component, `{cls.__name__}({name}=…)`, or declare another one in a class derived from it.",
        )


def shortened(names: Iterable[str], most: int = 12) -> str:
    """
    >>> shortened("abc", 2)
    'a, b, …'
    """
    listed = list(names)
    return ", ".join(listed[:most]) + (", …" if len(listed) > most else "")


class _OfDeclaration:
    """`room.T.start = 3.0`: what stands in an equation is the quantity; its start belongs to the declaration."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, reference: Reference | None, owner: type) -> Any:
        if reference is None:
            return self
        raise AttributeNotFound(
            self._said(reference), remedy=f"A compiled model knows it: `model.explain({reference.name!r})` says what it is."
        )

    def __set__(self, reference: Reference, value: Any) -> None:
        quantity, name = reference.name, self.name
        given = f"ac.start({value!r})" if name == "start" else repr(value) if name == "value" else f"ac.modify({name}={value!r})"
        raise UsageError(
            self._said(reference),
            remedy=f"Give it to the component: `{type(reference.owner).__name__}({quantity}={given})`, or assign it later: "
            f"`….{quantity} = {given}`.",
        )

    def _said(self, reference: Reference) -> str:
        return f"`{reference.name}` stands for the quantity in equations here; its `{self.name}` is part of its declaration."


def _assign(reference: Reference, name: str, value: Any) -> None:
    """`self.part.x.foo = 3.0`"""
    try:
        object.__setattr__(reference, name, value)
    except AttributeError as error:
        if isinstance(error, UsageError):
            raise
        raise _not_assigned(reference, f".{name}") from None


def _assign_element(reference: Reference, key: Any, value: Any) -> None:
    """`self.part.x[0] = 3.0`"""
    raise _not_assigned(reference, f"[{shown(key)}]")


def _not_assigned(reference: Reference, what: str) -> UsageError:
    return UsageError(
        f"`{reference.name}{what}` cannot be assigned: `{reference.name}` stands for the quantity in equations here.",
        remedy=f"A value or a start is given to the component, `….{reference.name} = …` (of an array, a list); an equation is "
        "stated with `yield` and `==`.",
    )


_WAYS = {"__setattr__": _assign, "__setitem__": _assign_element, **{name: _OfDeclaration(name) for name in ATTRIBUTES}}
for _name, _way in _WAYS.items():
    setattr(Reference, _name, _way)


def refuse_ring(parent: Component, name: str, child: Component) -> None:
    """A component is not part of itself."""
    above: Component | None = parent
    while above is not None:
        if above is child:
            raise UsageError(
                f"`{name}` of this {type(parent).__name__} would be {'itself' if child is parent else 'what it is part of'}.",
                remedy="A component contains others; it refers to what is around it by connections.",
            )
        above = above._ac_parent


def refuse_unknown(component: Component, name: str, value: Any) -> None:
    """A new plain attribute, assigned from outside to a component that is made, is a misspelt parameter."""
    if hasattr(type(component), name) or _within_its_class(component, sys._getframe(2)):
        return
    known = [n for n in component._all_declared() if not getattr(component._all_declared()[n], "auxiliary", False)]
    near = near_matches(name, known)
    raise UsageError(
        f"{type(component).__name__} has no `{name}` that could be given the value {shown(value)}. {near}".strip(),
        remedy=f"It declares: {', '.join(known[:12]) or 'nothing'}. What is yours alone is declared in the class, `{name} = …`.",
    )


def _within_its_class(component: Component, frame: FrameType | None) -> bool:
    """Whether the assignment stands in a method of the component."""
    if frame is None or not frame.f_code.co_argcount:
        return False
    return frame.f_locals.get(frame.f_code.co_varnames[0]) is component


def refuse_repeated(name: str, children: Sequence[Any]) -> None:
    """`[Room()] * 2` is one room that is two."""
    seen: dict[int, int] = {}
    for position, child in enumerate(children):
        if id(child) in seen:
            raise UsageError(
                f"`{name}[{seen[id(child)]}]` and `{name}[{position}]` are one and the same {type(child).__name__}.",
                remedy=f"Make one for each: `[{type(child).__name__}() for _ in range({len(children)})]`, "
                f"or an array: `ac.array({type(child).__name__}, {len(children)})`.",
            )
        seen[id(child)] = position


def refuse_base(cls: Any) -> None:
    """A base class leaves something to say for those who derive from it."""
    if left := cls._class_abstract:
        names = ", ".join(f"`{name}`" for name in left)
        raise UsageError(
            f"{cls.__name__} is a base of other components and does not define {names}.",
            remedy=f"Take a component that derives from it, or define {names} in a class of yours: class Mine({cls.__name__}): …",
        )


_FLAT = "Give each a name of its own, or make one flat list of components, or an array (`ac.array`)."


def refuse_private(owner: Component, name: str, value: Any) -> None:
    """`self._room = Room()`: names that begin with an underscore are the user's own."""
    if not _is_attached(value):
        raise UsageError(
            f"`{name}` of {type(owner).__name__} is {an(type(value).__name__)} that is not part of the plant: names with an "
            "underscore are your own, and nobody looks there.",
            remedy=f"Call it `{name.lstrip('_')}`.",
        )


def refuse_hidden(name: str, value: Any, *kinds: tuple[type, ...], in_use: bool = False) -> None:
    """Components in lists of lists, dictionaries and the like would not be part of the plant; those that are, by another name, may
    be held anywhere once the plant is in use. Kinds: components, connectors, declarations."""
    for what, parts in zip(("component", "connector", "declaration"), kinds, strict=False):
        held = (part for part in _nested(value) if isinstance(part, parts))
        found = next((part for part in held if not in_use or not _is_attached(part)), None)
        if found is not None:
            raise UsageError(
                f"`{name}` holds {an(what)} ({type(found).__name__}) within {an(type(value).__name__)} where it is not seen.",
                remedy=_FLAT if what == "component" else f"An array of them is made by `{type(found).__name__}(shape=…)`.",
            )


def are_parts(name: str, value: Any, component: type, array: type) -> bool:
    """Whether what stands in a class body is a part of its components, or a list of parts."""
    if name.startswith("_"):
        return isinstance(value, (component, array))
    if isinstance(value, (list, tuple)) and value and all(isinstance(part, component) for part in value):
        return True
    if isinstance(value, (list, tuple, dict, set)):
        refuse_hidden(name, value, (component, array))
    return isinstance(value, (component, array))


def _is_attached(part: Any) -> bool:
    """Whether a component, or an array of them, is a part of another."""
    element = part if hasattr(type(part), "_ac_parent") else getattr(part, "_element", None)
    return element is not None and element._ac_parent is not None


def take_lists(component: Component, part: type) -> None:
    """Lists that were assigned first and filled with parts afterwards: `self.rooms = []`, `self.rooms.append(Room())`."""
    for name, value in list(component.__dict__.items()):
        if type(value) is list and value and not name.startswith("_") and all(isinstance(p, part) for p in value):
            setattr(component, name, value)


def _nested(value: Any, depth: int = 3) -> Iterable[Any]:
    inner: Iterable[Any] = ()
    if isinstance(value, (list, tuple, Set, UserList, deque, ValuesView)):
        inner = value
    elif isinstance(value, Mapping):
        inner = chain(value, value.values())
    elif isinstance(value, SimpleNamespace) or (is_dataclass(value) and hasattr(value, "__dict__")):
        inner = vars(value).values()
    elif type(value).__name__ == "ndarray" and value.dtype.kind == "O":  # an array of objects
        inner = value.ravel().tolist()
    for part in inner:
        yield part
        if depth:
            yield from _nested(part, depth - 1)


def refuse_lazy(component: Component, name: str, value: Any, part: type) -> None:
    """`self.rooms = (Room() for …)` holds no room: nobody has made one yet."""
    looked_at, component.__dict__[name] = tee(value)
    first = next(looked_at, None)
    if isinstance(first, part):
        raise UsageError(
            f"`{name}` of {type(component).__name__} is {an(type(value).__name__)} of components, not a list of them.",
            remedy=f"Write `self.{name} = [… for … in …]`, with square brackets, or an array (`ac.array`).",
        )


def checked_number(owner: str, name: str, value: Any) -> Any:
    """A whole number that no double can hold."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > sys.float_info.max:
        raise UsageError(f"`{name}` of {owner} cannot be {str(value)[:12]}…: the number is too large.")
    return value


def typed(declaration: Declaration, value: Any) -> str:
    """Why a discrete quantity cannot have a value; nothing if it can."""
    kind = getattr(declaration, "type", "real")
    if kind not in ("integer", "boolean") or isinstance(value, str):
        return ""
    import numpy as np

    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return ""
    if kind == "integer" and (numbers != np.round(numbers)).any():
        return "it is a whole number"
    return "it is true or false" if kind == "boolean" and not np.isin(numbers, (0.0, 1.0)).all() else ""


def connectors_in(value: Any, connector: type[Connector]) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(part, connector) for part in value)
