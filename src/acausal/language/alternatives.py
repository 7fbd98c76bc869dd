"""Quantities of which one is given: `T = ac.Input(300.0, unit="K", instead_of="h")` beside `h = ac.Input(3e5, unit="J/kg")`.

Whoever gives `T` has a component with `T` and without `h`; the attribute that is not there is None, so equations ask
`if self.T is not None`. Which one is given is a structural choice; its number is not.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .declarations import Declaration
from .medium import PLACE, media_of

if TYPE_CHECKING:
    from .component import Component

_TEMPERATURE = "T_start"
# Of each quantity that has alternatives: all of them, that which is there by default first; that alone, where a class settles it.
Groups = Mapping[str, tuple[str, ...]]


def settle(cls: type) -> Groups:
    """`T = 350.0` in the body of a derived class takes the place of the quantity, as any number does, and the others are None."""
    seen: dict[str, list[str]] = {}
    for base in reversed(cls.__mro__):
        for name, one in vars(base).items():
            if isinstance(one, Declaration) and one.instead_of:
                group = seen.setdefault(one.instead_of, [one.instead_of])
                group.extend([name] if name not in group else [])
    settled: dict[str, tuple[str, ...]] = {}
    for group in seen.values():
        nearest = [next(((k, vars(b)[n]) for k, b in enumerate(cls.__mro__) if n in vars(b)), (0, None)) for n in group]
        plain = [(k, name) for (k, held), name in zip(nearest, group, strict=True) if not isinstance(held, Declaration | None)]
        if plain:
            said = min(plain)[1]
            for name in group:
                settled[name] = (said,)
                if name != said:
                    type.__setattr__(cls, name, None)
    return settled


def groups_of(cls: type, declared: Mapping[str, Any], settled: Groups) -> Groups:
    """The alternatives among what a class declares."""
    found: dict[str, list[str]] = {}
    for name, one in declared.items():
        leader = getattr(one, "instead_of", "")
        if not leader:
            continue
        if getattr(declared.get(leader), "role", "") != one.role or getattr(declared[leader], "instead_of", ""):
            raise UsageError(
                f"`{cls.__name__}.{name}` is to be given instead of `{leader}`, which is no {one.role} of {cls.__name__}.",
                remedy=f"Declare `{leader}` as {one.role} before it, without alternatives of its own kind.",
            )
        found.setdefault(leader, [leader]).append(name)
    return {**settled, **{name: tuple(group) for group in found.values() for name in group}}


def given_of(component: Component, group: tuple[str, ...]) -> str:
    """The one that is there: that which was given, else the first; of starts the temperature where the medium is said by it."""
    said = [name for name in group if "value" in component._ac_modifications.get(name, {})]
    if said:
        return said[-1]
    medium = media_of(component).get(PLACE)
    if medium is not None and medium.said_by_temperature:
        return _TEMPERATURE if _TEMPERATURE in group else group[0]
    return group[0]


def is_left_out(component: Component, name: str) -> bool:
    """Whether an alternative of it was given."""
    group = component._class_alternatives.get(name)
    return group is not None and given_of(component, group) != name


def choices_of(component: Component) -> tuple[str, ...]:
    """What is given where there are alternatives: part of the component's kind."""
    return tuple(given_of(component, group) for group in dict.fromkeys(component._class_alternatives.values()))


def left_out_of(component: Component) -> dict[str, str]:
    """Of each quantity that could be given and is not, which one is there instead."""
    groups = component._class_alternatives
    return {name: there for name, group in groups.items() if name in group and (there := given_of(component, group)) != name}


def choose(component: Component, name: str) -> None:
    """Another value said nearer to the user takes the place of what was given before."""
    for other in component._class_alternatives[name]:
        if other != name:
            component._ac_modifications.pop(other, None)


def takes_place(component: Component, others: Mapping[str, Mapping[str, Any]]) -> None:
    """What is said elsewhere (`others`, by name) takes the place of what was given before."""
    for name, said in others.items():
        if name in component._class_alternatives and "value" in said:
            choose(component, name)


def is_said_otherwise(component: Component, name: str) -> bool:
    """Whether an alternative of it was given to the component itself."""
    group = component._class_alternatives.get(name, ())
    return any(other != name and "value" in component._ac_modifications.get(other, {}) for other in group)


def refuse_of_its_own(component: Component, name: str, declared: Any) -> None:
    """Which alternatives there are is known from the class."""
    if getattr(declared, "instead_of", "") and name not in component._class_alternatives:
        cls = type(component).__name__
        raise UsageError(
            f"`{name}` of {cls} is to be given instead of `{declared.instead_of}`, but is declared in `__init__`.",
            remedy=f"Declare both in the body of the class: `{name} = ac.{type(declared).__name__}(…, instead_of=…)`.",
        )


def refuse_several(cls: type, groups: Groups, given: Iterable[str]) -> None:
    """Two alternatives in one call contradict each other."""
    names = list(given)
    for group in dict.fromkeys(groups.values()):
        both = [name for name in names if name in group]
        if len(both) > 1:
            raise UsageError(
                f"{cls.__name__} is given {' and '.join(f'`{n}`' for n in both)}, which say the same in different ways.",
                remedy=f"Give one of: {', '.join(group)}.",
            )


def as_it_is(component: Component, declared: Any) -> Any:
    """A declaration in a component: nothing if another is there instead; free to start elsewhere if its start is not there."""
    if isinstance(declared, Declaration):
        if is_left_out(component, declared.name):
            return None
        start = declared.start
        if isinstance(start, Declaration) and is_left_out(component, start.name):
            declared = copy.copy(declared)
            declared.start, declared.fixed = start.value, False
    return declared
