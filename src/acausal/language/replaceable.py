"""Parts that others may take the place of: `self.tank = ac.replaceable(Tank, of=SimpleTank, choices=[Tank, OpenTank])`.

Whoever uses the component says `Plant(tank=OpenTank)`, or by path `Plant(**{"store.tank": OpenTank})`. What was modified where the
part was made stays modified (a tank of 2 m² stays one), unless the new part says something else itself; and the new part has to be
of the class that the rest of the plant relies on: `of`, or the class of the part that was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arguments import checked
from ..errors import UsageError, an, near_matches
from ..records import dataclass
from .alternatives import is_said_otherwise
from .component import Component, ComponentArray
from .declarations import Modification


@dataclass(frozen=True, slots=True)
class Constraint:
    """What may stand in a part's place."""

    of: type[Component]
    choices: tuple[type[Component], ...]


@checked
def replaceable(what: Any, *, of: type[Any] | None = None, choices: Sequence[type[Any]] = (), **modifications: Any) -> Any:
    """A part that others may take the place of.

    what: the component that stands there unless somebody says otherwise, or its class.
    of: the class that every replacement has to be of; the class of `what` unless given.
    choices: classes to choose from, for whoever looks for one; a replacement may be given by the name of one of them.

    >>> import acausal as ac
    >>> class Tank(ac.Component):
    ...     A = ac.Parameter(1.0, unit="m^2")
    >>> class Wide(Tank):
    ...     pass
    >>> class Plant(ac.Component):
    ...     def __init__(self):
    ...         self.tank = ac.replaceable(Tank, choices=[Tank, Wide], A=2.0)
    >>> plant = Plant(tank="Wide")
    >>> plant.tank, ac.compile(plant).get("tank.A")
    (<Wide tank>, 2.0)
    """
    part = what(**modifications) if isinstance(what, type) and issubclass(what, Component) else what
    if not isinstance(part, Component):
        raise UsageError(f"`ac.replaceable` takes a component or a class of components, got {what!r}.")
    if part is what:
        for name, value in modifications.items():
            part._modify(name, value)
    kind = type(part) if of is None else of
    for choice in (kind, type(part), *choices):
        if not (isinstance(choice, type) and issubclass(choice, Component)):
            raise UsageError(f"`of` and `choices` of `ac.replaceable` are classes of components, got {choice!r}.")
        if not issubclass(choice, kind):
            raise UsageError(
                f"{choice.__name__} cannot be chosen: it is not derived from {kind.__name__}.",
                remedy=f"Derive it from {kind.__name__}, or give `of` a class that all choices are derived from.",
            )
    object.__setattr__(part, "_ac_constraint", Constraint(kind, tuple(choices)))
    return part


def replacement(place: str, old: Component | ComponentArray, given: Any) -> Component | ComponentArray:
    """What takes the place of a part: checked against what may stand there, with what was modified there."""
    before = old._element if isinstance(old, ComponentArray) else old
    constraint = before._ac_constraint or Constraint(type(before), ())
    new = _made(place, old, given, constraint)
    after = new._element if isinstance(new, ComponentArray) else new
    if not isinstance(after, constraint.of):
        raise UsageError(
            f"`{place}` is {an(constraint.of.__name__)}; {an(type(after).__name__)} cannot take its place.",
            remedy=f"Derive it from {constraint.of.__name__}, or say what may stand there where the part is made: "
            f"`ac.replaceable({type(before).__name__}, of=…)`.{_listed(constraint)}",
        )
    for name, modification in before._ac_modifications.items():
        if "value" in modification and is_said_otherwise(after, name):
            continue
        after._ac_modifications[name] = Modification({**modification, **after._ac_modifications.get(name, {})})
    for name in before._class_media.keys() & after._class_media.keys():
        if name in before.__dict__:
            after.__dict__.setdefault(name, before.__dict__[name])
    object.__setattr__(after, "_ac_constraint", before._ac_constraint)
    object.__setattr__(before, "_ac_parent", None)
    return new


def _made(place: str, old: Component | ComponentArray, given: Any, constraint: Constraint) -> Component | ComponentArray:
    """A component from a class, from the name of a choice, or as it is; of an array, an array of the same shape."""
    if isinstance(given, str):
        named = {choice.__name__: choice for choice in constraint.choices}
        if given not in named:
            raise UsageError(
                f"`{place}` cannot be {given!r}. {near_matches(given, named)}".strip(), remedy=_listed(constraint).strip()
            )
        given = named[given]
    if isinstance(given, type) and issubclass(given, Component):
        given = given()
    if isinstance(old, ComponentArray) and isinstance(given, Component):
        object.__setattr__(given, "_ac_array_shape", old._shape)
        given = ComponentArray(given, given, old._shape, None)
    wanted = ComponentArray if isinstance(old, ComponentArray) else Component
    if not isinstance(given, wanted) or (isinstance(old, ComponentArray) and given._shape != old._shape):
        what = f"an array of components of shape {old._shape}" if isinstance(old, ComponentArray) else "a component"
        raise UsageError(f"`{place}` is {what}, and {given!r} cannot take its place.")
    return given


def _listed(constraint: Constraint) -> str:
    return f" Choices: {', '.join(choice.__name__ for choice in constraint.choices)}." if constraint.choices else ""
