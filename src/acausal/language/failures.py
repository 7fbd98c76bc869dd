"""Failures: variables of a plant that may get stuck, chosen by name when it is compiled.

`ac.compile(plant, failures=["valve.opening"])` adds a Boolean `valve.opening_failed` and a value `valve.opening_stuck`. Where the
first is true, the equation that gives the variable is replaced: an algebraic variable equals the second, a state stays where it
is. While they are read, the components are of a class that says so; the user's own are put back as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import ModelError, NameNotFound, UsageError, near_matches
from .component import Component, ComponentArray
from .declarations import Boolean, Discrete, Parameter, Variable
from .derivative import der
from .equation import Equation
from .expression import Expression, Reference, as_expression, walk
from .functions import where

FAILED, STUCK, FACTOR = "_failed", "_stuck", "_held"
_INDEX = re.compile(r"\[[^\]]*\]")


@contextmanager
def failing(root: Component, paths: Iterable[str]) -> Iterator[None]:
    """Within it, the variables named may fail."""
    if isinstance(paths, str):
        raise UsageError(f"`failures` is a list of names, got {paths!r}.", remedy=f"failures=[{paths!r}]")
    asked: dict[int, tuple[Component, list[str]]] = {}
    for path in paths:
        owner, name = _located(root, path)
        names = asked.setdefault(id(owner), (owner, []))[1]
        names += [] if name in names else [name]
    before = [(owner, type(owner)) for owner, _ in asked.values()]
    made: dict[tuple[type, tuple[str, ...]], type] = {}
    try:
        for owner, names in asked.values():
            key = type(owner), tuple(names)
            made.setdefault(key, _class_with(type(owner), {n: owner._declaration(n).unit for n in names}))
            object.__setattr__(owner, "__class__", made[key])
        yield
    finally:
        for owner, own in before:
            object.__setattr__(owner, "__class__", own)


def _located(root: Component, path: Any) -> tuple[Component, str]:
    """The component that declares a variable, and its name there. An element of an array of components stands for all of them."""
    if not isinstance(path, str):
        raise UsageError(f"`failures` names variables such as `valve.opening`, got {path!r}.")
    *way, name = _INDEX.sub("", path).split(".")
    owner: Any = root
    if not isinstance(owner, Component):
        raise UsageError(f"`failures` are of a component, got {root!r}.")
    for part in way:
        owner = getattr(owner, part, None)
        owner = owner._element if isinstance(owner, ComponentArray) else owner
        if not isinstance(owner, Component):
            raise NameNotFound(f"`failures` names `{path}`: there is no component `{'.'.join(way)}`.")
    declared = {n: d for n, d in owner._all_declared().items() if isinstance(d, Variable)}
    if name not in declared:
        near = near_matches(name, declared)
        raise NameNotFound(
            f"`failures` names `{path}`: {type(owner).__name__} declares no variable `{name}`. {near}".rstrip(),
            remedy="A variable that the component itself declares can get stuck; parameters need no preparation.",
        )
    if declared[name].shape:
        raise UsageError(f"`failures` names `{path}`, which is an array: only single variables can get stuck.")
    return owner, name


def _class_with(base: type, units: dict[str, str]) -> type:
    """The same kind of component, with a switch for each of some variables."""
    names = list(units)

    def equations(self: Any) -> Iterator[Any]:
        stated = list(base.equations(self))  # type: ignore[attr-defined]
        for name in names:
            place, how = _equation_of(self, name, stated)
            stated[place] = _replaced(self, name, stated[place], how)
        yield from stated

    body: dict[str, Any] = {"equations": equations, "__module__": base.__module__, "__qualname__": base.__qualname__}
    for name in names:
        body[name + FAILED] = Boolean(start=False, doc=f"whether {name} is stuck")
        body[name + STUCK] = Discrete(0.0, unit=units.get(name, ""), doc=f"where {name} is stuck")
        body[name + FACTOR] = Parameter(1.0, doc="of the equation that holds it")
    return type(base)(base.__name__, (base,), body)


def _replaced(component: Any, name: str, own: Equation, how: str) -> Equation:
    """The equation with its failure: `x == where(failed, stuck, …)`, or the same of residuals."""
    x, fails, stuck = getattr(component, name), getattr(component, name + FAILED), getattr(component, name + STUCK)
    if how == "given":
        other = own.rhs if _is(own.lhs, component, name, 0) else own.lhs
        return Equation(x, where(fails, stuck, other), own.location, own.name)
    still = der(x) if how == "moving" else x - stuck
    return Equation(
        where(fails, getattr(component, name + FACTOR) * still, own.residual), as_expression(0.0), own.location, own.name
    )


def _equation_of(component: Any, name: str, stated: list[Any]) -> tuple[int, str]:
    """Which of a component's equations gives a variable, and how: by itself, by its derivative, or among others."""
    whole = [k for k, e in enumerate(stated) if isinstance(e, Equation)]
    found = [
        ("given", [k for k in whole if _is(stated[k].lhs, component, name, 0)]),
        ("given", [k for k in whole if _is(stated[k].rhs, component, name, 0)]),
        ("moving", [k for k in whole if _reads(stated[k], component, name, 1)]),
        ("among others", [k for k in whole if _reads(stated[k], component, name, 0)]),
    ]
    for how, places in found:
        if len(places) == 1:
            return places[0], how
    several = next((places for _, places in found if places), [])
    named = f"these name it: {'; '.join(str(stated[k]) for k in several)}" if several else "none of its own equations names it"
    raise ModelError(
        f"`{name}` cannot get stuck: it is not clear which equation of {type(component).__name__} gives it ({named}).",
        remedy=f"State one of them as `self.{name} == …`.",
    )


def _is(side: Expression, component: Any, name: str, order: int) -> bool:
    return isinstance(side, Reference) and side.owner is component and side.name == name and side.order == order


def _reads(equation: Equation, component: Any, name: str, order: int) -> bool:
    return any(_is(node, component, name, order) for node in walk(equation.residual))
