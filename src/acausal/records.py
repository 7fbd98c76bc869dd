"""`dataclass`, of which nothing is generated before it is used.

The standard decorator writes the text of `__init__`, `__repr__` and `__eq__` of a class and compiles it while the module is
imported: half a millisecond each, for a hundred classes of which a short run uses some. Here the class is ready at once, and the
standard decorator does its work when somebody first makes, compares, prints or inspects one. To type checkers and editors it *is*
the standard one.

@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float = 0.0
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, weakref_slot=False):
        """As `dataclasses.dataclass`, with its options that this program uses."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, slots=slots, eq=eq, weakref_slot=weakref_slot)
        plan = _Plan(cls, dataclasses.dataclass(frozen=frozen, eq=eq))
        made = _slotted(cls, weakref_slot) if slots else _without_fields(cls)
        plan.put(made, frozen, eq)
        return made


_INSPECTED = ("__dataclass_fields__", "__dataclass_params__", "__match_args__")
_FEW = 8  # objects that are filled before `__init__` is written
_LOCK = threading.RLock()  # threads may be the first to use a class together


class _Plan:
    """What the standard decorator shall do for a class."""

    def __init__(self, cls: type, decorate: Any) -> None:
        self.name, self.bases, self.meta, self.decorate = cls.__name__, cls.__bases__, type(cls), decorate
        self.body = {key: held for key, held in cls.__dict__.items() if key not in ("__dict__", "__weakref__")}
        self.done = False
        self.filled = 0

    def put(self, made: Any, frozen: bool, eq: bool) -> None:
        """Stand-ins for what the decorator will write, where the class says nothing itself."""
        own = self.body
        explicit = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
        written = ["__init__", "__repr__", *(["__eq__"] if eq else [])]
        names = [name for name in written if name not in own] + (["__hash__"] if eq and frozen and not explicit else [])
        self.made, self.names, self.frozen = made, [*names, *_INSPECTED], frozen
        for name in self.names:
            setattr(made, name, _Later(self, name))
        made.__fields_own__ = self
        if eq and not frozen and not explicit:
            made.__hash__ = None
        if frozen:
            made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
            if "__slots__" in made.__dict__ and "__getstate__" not in own:
                made.__getstate__, made.__setstate__ = _state, _set_state

    def carry_out(self) -> None:
        """Let the standard decorator work on a copy of the class, and take over what it wrote."""
        with _LOCK:
            if self.done:
                return
            self.done = True
            body = {
                **self.body,
                "__qualname__": self.made.__qualname__,
                "__doc__": ".",
            }  # the decorator writes a documentation where there is none, slowly
            copy = self.decorate(self.meta(self.name, self.bases, body))
            for name in self.names:
                setattr(self.made, name, copy.__dict__[name])

    def fields(self) -> dict[str, Any]:
        """Names and defaults of the fields, those of the bases first."""
        found: dict[str, Any] = {}
        for base in reversed(self.made.__mro__):
            plan = base.__dict__.get("__fields_own__")
            if plan is not None:
                found |= {name: plan.body.get(name, dataclasses.MISSING) for name in _own(plan.body)}
        return found

    def write_init(self) -> None:
        """`__init__` alone, which is most of what is used; the standard decorator does it where fields are for keywords only."""
        fields = self.fields()
        if any(isinstance(held, dataclasses.Field) and not _is_plain(held) for held in fields.values()):
            return self.carry_out()
        with _LOCK:
            self.made.__init__ = _init(self.made, fields, self.frozen)

    def fill(self, instance: Any, *args: Any, **named: Any) -> None:
        """What `__init__` does, for the first few: to write and compile it takes as long as to fill a hundred."""
        self.filled += 1
        known = self.known if self.filled <= _FEW else None
        values = None if known is None else _values(known, args, named)
        if values is None:  # many, or something is wrong with the arguments
            self.write_init()
            return self.made.__init__(instance, *args, **named)
        for name, value in values.items():
            object.__setattr__(instance, name, value)
        if hasattr(self.made, "__post_init__"):
            instance.__post_init__()

    @cached_property
    def known(self) -> dict[str, Callable[[], Any] | None] | None:
        """The fields, each with what makes its default, if it has one; None where some are more than that."""
        found: dict[str, Callable[[], Any] | None] = {}
        for name, held in self.fields().items():
            factory, default = _default(held)
            if isinstance(held, dataclasses.Field) and not (held.init and _is_plain(held)):
                return None
            found[name] = factory or (None if default is dataclasses.MISSING else partial(_itself, default))
        return found


class _Later:
    """Stands in a class for what will be written there."""

    __slots__ = ("name", "plan")

    def __init__(self, plan: _Plan, name: str) -> None:
        self.plan, self.name = plan, name

    def __get__(self, instance: Any, owner: type) -> Any:
        if self.name == "__init__" and instance is not None:
            return partial(self.plan.fill, instance)
        self.plan.write_init() if self.name == "__init__" else self.plan.carry_out()
        return getattr(owner if instance is None else instance, self.name)


def field_names(cls: type) -> list[str]:
    """Of the fields of a data class, in their order; nothing is generated for it.

    >>> @dataclass(slots=True)
    ... class Point:
    ...     x: float
    ...     y: float = 0.0
    >>> field_names(Point)
    ['x', 'y']
    """
    plan = cls.__dict__.get("__fields_own__")
    return [f.name for f in dataclasses.fields(cls)] if plan is None else list(plan.fields())


def is_dataclass(cls: type) -> bool:
    """As `dataclasses.is_dataclass` of a class; nothing is generated for it."""
    return "__fields_own__" in cls.__dict__ or dataclasses.is_dataclass(cls)


def _is_plain(held: dataclasses.Field[Any]) -> bool:
    return held.kw_only in (False, dataclasses.MISSING)


def _default(held: Any) -> tuple[Any, Any]:
    """What makes the default of a field (None: nothing does), and the default itself."""
    if not isinstance(held, dataclasses.Field):
        return None, held
    return None if held.default_factory is dataclasses.MISSING else held.default_factory, held.default


def _values(known: dict[str, Callable[[], Any] | None], args: Any, named: dict[str, Any]) -> dict[str, Any] | None:
    """The values of all fields; None where arguments are missing, too many, or given twice."""
    given = dict(zip(known, args, strict=False))
    if len(args) > len(known) or given.keys() & named.keys() or not named.keys() <= known.keys():
        return None
    given |= named
    if any(make is None and name not in given for name, make in known.items()):
        return None
    return {name: given[name] if make is None or name in given else make() for name, make in known.items()}


def _itself(value: Any) -> Any:
    return value


def _init(made: Any, fields: dict[str, Any], frozen: bool) -> Any:
    known: dict[str, Any] = {"_put": object.__setattr__, "_missing": dataclasses.MISSING}
    heads, lines = ["self"], []
    for name, held in fields.items():
        factory, default = _default(held)
        known[f"_new_{name}"], known[f"_default_{name}"] = factory, default
        value, head = name, name
        if isinstance(held, dataclasses.Field) and not held.init:
            if factory is None and (default is dataclasses.MISSING or "__slots__" not in made.__dict__):
                continue  # nothing, or what the class has
            value, head = f"_new_{name}()" if factory is not None else f"_default_{name}", ""
        elif factory is not None:
            value, head = f"_new_{name}() if {name} is _missing else {name}", f"{name}=_missing"
        elif default is not dataclasses.MISSING:
            head = f"{name}=_default_{name}"
        heads += [head] if head else []
        lines.append(f"_put(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def __init__({', '.join(heads)}):\n " + "\n ".join(lines or ["pass"]), known)
    written = known["__init__"]
    written.__qualname__ = f"{made.__qualname__}.__init__"
    return written


def _without_fields(cls: Any) -> type:
    """The class itself: what `field` said of a default is none, or is the default."""
    for name, held in list(cls.__dict__.items()):
        if isinstance(held, dataclasses.Field):
            delattr(cls, name) if held.default is dataclasses.MISSING else setattr(cls, name, held.default)
    return cls


def _slotted(cls: type, weakref_slot: bool) -> type:
    """The class with slots for its fields. They are read off its annotations, which are texts in this program."""
    body = dict(cls.__dict__)
    names = _own(body)
    inherited = {slot for base in cls.__mro__[1:] for slot in _slots(base)}
    for name in (*names, "__dict__", "__weakref__"):
        body.pop(name, None)
    body["__slots__"] = (*(n for n in names if n not in inherited), *(("__weakref__",) if weakref_slot else ()))
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    return made


def _own(body: dict[str, Any]) -> list[str]:
    """The fields that the body of a class declares."""
    return [name for name, kind in body.get("__annotations__", {}).items() if not kind.startswith("ClassVar")]


def _slots(base: type) -> tuple[str, ...]:
    slots = base.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for f, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)
