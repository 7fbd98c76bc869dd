"""While a translation reads components: what their methods do to them is noted and taken back, so that it leaves no trace.

`equations` may assign expressions to attributes (they get names), count in private ones and collect terms in a list; the
translation keeps what it needs and puts the component back as it was. A component also asks here for expressions that `equations`
of another instance of its kind named.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import tee
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

if TYPE_CHECKING:
    from .component import Component
    from .expression import Expression

one_at_a_time = threading.RLock()  # who reads components: what `equations` does to them is undone before anybody else looks


class State:
    """What a component has besides its place in the tree."""

    __slots__ = ("attributes", "component", "declared", "held", "modifications", "named", "slots")

    def __init__(self, component: Component) -> None:
        self.component = component
        self.attributes = _told_again(component.__dict__)
        self.modifications = dict(component._ac_modifications)
        self.declared = None if component._ac_declared is None else dict(component._ac_declared)
        self.named = None if component._ac_named is None else dict(component._ac_named)
        self.slots = slot_values(component)
        own = (*self.attributes.values(), *self.slots.values())
        self.held = [(value, _copied(value)) for value in _containers(own)]

    def put_back(self) -> None:
        for value, before in self.held:
            _fill(value, before)
        own = self.component.__dict__
        if not same(own, self.attributes):
            own.clear()
            own.update(self.attributes)
        put = object.__setattr__
        put(self.component, "_ac_modifications", self.modifications)
        put(self.component, "_ac_declared", self.declared)
        put(self.component, "_ac_named", self.named)
        for name in slots_of(type(self.component)):
            if name in self.slots:
                put(self.component, name, self.slots[name])
            elif hasattr(self.component, name):
                object.__delattr__(self.component, name)


def _told_again(own: dict[str, Any]) -> dict[str, Any]:
    """Attributes as they are to be put back. Who reads an iterator uses it up: what is read is a twin of the one that is kept."""
    found = dict(own)
    for name, value in found.items():
        if hasattr(type(value), "__next__") and type(value).__module__ in ("builtins", "itertools"):
            own[name], found[name] = tee(value)
    return found


_SEQUENCES, _MAPPINGS = (list, deque), (dict, defaultdict, OrderedDict, Counter)
_CHANGEABLE = (*_SEQUENCES, *_MAPPINGS, set, np.ndarray)


def _containers(values: Iterable[Any]) -> Iterator[Any]:
    """Lists, dictionaries, sets and arrays, and those in them, each of them once."""
    seen: set[int] = set()
    ahead = [iter(values)]
    while ahead:
        for value in ahead[-1]:
            if type(value) not in (tuple, *_CHANGEABLE) or id(value) in seen:
                continue
            seen.add(id(value))
            if type(value) is not tuple:
                yield value
            if type(value) in (tuple, *_SEQUENCES, *_MAPPINGS):
                ahead.append(iter(list(value.values() if type(value) in _MAPPINGS else value)))
                break
        else:
            ahead.pop()


def _copied(value: Any) -> Any:
    """What a container holds: of a dictionary, whatever it gives for what it lacks."""
    return dict(value) if type(value) in _MAPPINGS else value.copy()


def _fill(value: Any, before: Any) -> None:
    """Put back what a list, a dictionary, a set or an array held, if that is not there any more."""
    if isinstance(value, np.ndarray):
        if value.tobytes() != before.tobytes():
            value[...] = before
    elif isinstance(value, _SEQUENCES):
        if len(value) != len(before) or any(a is not b for a, b in zip(value, before, strict=True)):
            value.clear()
            value.extend(before)
    elif isinstance(value, set):
        if value != before:
            value.clear()
            value.update(before)
    elif not same(value, before) or list(value) != list(before):
        value.clear()
        value.update(before)


def same(a: dict[str, Any] | None, b: dict[str, Any] | None) -> bool:
    """Whether two dictionaries hold the same objects under the same names."""
    a, b = a or {}, b or {}
    return len(a) == len(b) and all(name in b and b[name] is value for name, value in a.items())


_slots: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()


def slots_of(cls: type) -> tuple[str, ...]:
    """Names in `__slots__` of a user's component classes."""
    if cls not in _slots:
        found: list[str] = []
        for base in cls.__mro__:
            if base.__module__ != "acausal.language.component":
                found += own_slots(base)
        _slots[cls] = tuple(found)
    return _slots[cls]


def own_slots(cls: type) -> list[str]:
    """What a class has in `__slots__`, by the names of its attributes: `__n` of a class `Rod` is `_Rod__n`."""
    slots = cls.__dict__.get("__slots__", ())
    names = [n for n in ([slots] if isinstance(slots, str) else slots) if n not in ("__dict__", "__weakref__")]
    own = cls.__name__.lstrip("_")
    return [f"_{own}{n}" if own and n.startswith("__") and not n.endswith("__") else n for n in names]


def slot_values(component: Any) -> dict[str, Any]:
    """What the slots of a user's class hold."""
    return {name: getattr(component, name) for name in slots_of(type(component)) if hasattr(component, name)}


NamedBy = Callable[["Component", str], "tuple[Expression, Component] | None"]


class _Reading(threading.local):
    changed: dict[int, State] | None = None
    named: NamedBy | None = None


_reading = _Reading()


def note(component: Component) -> None:
    """Called before a component changes."""
    changed = _reading.changed
    if changed is not None and id(component) not in changed and hasattr(component, "_ac_named"):  # not one that is being made
        changed[id(component)] = State(component)


def is_reading() -> bool:
    """Whether a translation runs a component's methods just now."""
    return _reading.changed is not None


def named_elsewhere(component: Component, name: str) -> tuple[Expression, Component] | None:
    """An expression that `equations` assigned to an attribute, and the component on which it ran."""
    return None if _reading.named is None else _reading.named(component, name)


@contextmanager
def undone(component: Component, named: NamedBy) -> Iterator[dict[int, State]]:
    """Whatever happens to `component` and others is put back; within, the dictionary has what the changed ones were."""
    before = _reading.changed, _reading.named
    found: dict[int, State] = {id(component): State(component)}
    _reading.changed, _reading.named = found, named
    try:
        yield found
    finally:
        _reading.changed, _reading.named = before
        for state in found.values():
            state.put_back()
