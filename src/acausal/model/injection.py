"""Failure injection: parameters, inputs and variables switched to a failure mode by name, each at its time.

`simulate(failures={"pump.speed": ("1 h", 0.0), "valve.opening": ("2 h", None)})`: a parameter or an input takes another value from
then on; a variable that the model was compiled to let fail (`language/failures.py`) gets stuck, where it is (None) or at a value.
Several switches of one name are a list; "repaired" ends a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, NameNotFound, UsageError, an
from ..language.failures import FAILED, STUCK
from ..language.units import quantity
from ..records import dataclass
from ..runtime.storage import seconds

if TYPE_CHECKING:
    from .model import Model

REPAIRED = "repaired"


@dataclass(slots=True, eq=False)
class Switch:
    """What changes at one time: parameters and discrete values, inputs, and variables that stay where they are."""

    time: float
    set: dict[str, Any] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)


def switches_of(
    model: Model, failures: Any, begin: float, end: float, set: Mapping[str, Any], inputs: Mapping[str, Any]
) -> list[Switch]:
    """All switches in order of time; whatever cannot be is told before the run. `set`, `inputs`: what is there otherwise."""
    if not isinstance(failures, Mapping):
        raise UsageError(
            f"`failures` takes a time and a value by name, got {failures!r}.", remedy='failures={"valve.opening": ("1 h", 0.0)}'
        )
    unit = model.system.plant.independent[1]
    found: dict[float, Switch] = {}
    for path, given in failures.items():
        for at, value in _pairs(path, given):
            time = float(seconds(at, f"failures[{path!r}]", unit))
            if not begin <= time <= end:
                raise UsageError(f"`{path}` is to fail at {time:g} {unit}; the run goes from {begin:g} {unit} to {end:g} {unit}.")
            _add(model, found.setdefault(time, Switch(time)), path, value, (set, inputs))
    return [found[time] for time in sorted(found)]


def _pairs(path: Any, given: Any) -> list[tuple[Any, Any]]:
    several = given if isinstance(given, list) else [given]
    for pair in several:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise UsageError(
                f"`failures` has {pair!r} for `{path}`; a time and a value were expected.",
                remedy=f'{{{path!r}: ("1 h", 0.0)}}; None: a variable stays where it is; "{REPAIRED}": it works again.',
            )
    return list(several)


def _add(model: Model, switch: Switch, path: str, value: Any, before: tuple[Mapping[str, Any], Mapping[str, Any]]) -> None:
    located = model.system.plant.locate(path)
    role = "expression" if located.flat is None else located.kind.quantities[located.name].role
    if role == "variable":
        _stuck(model, switch, path, value)
        return
    if role not in ("parameter", "input", "discrete"):
        raise UsageError(f"`{path}` is {an(role)}: parameters, inputs and variables can fail.")
    if value is None:
        raise UsageError(f"`{path}` is {an(role)}: say what it becomes.", remedy=f'failures={{"{path}": ("1 h", 0.0)}}')
    target, known = (switch.inputs, before[1]) if role == "input" else (switch.set, before[0])
    if isinstance(value, str) and value == REPAIRED:
        value = known[path] if path in known else model.get(path)
    elif role != "input":
        model._parameters._checked(path, value)
    target[path] = value


def _stuck(model: Model, switch: Switch, path: str, value: Any) -> None:
    plant = model.system.plant
    try:
        plant.locate(path + FAILED)
    except NameNotFound:
        raise UsageError(
            f"`{path}` is a variable; the model was not compiled to let it get stuck.",
            remedy=f'ac.compile(plant, failures=["{path}"])',
        ) from None
    switch.set[path + FAILED] = value != REPAIRED
    if isinstance(value, str) and value == REPAIRED:
        return
    if value is None:
        switch.held.append(path)
    elif _stays(model, path):
        raise UsageError(
            f"`{path}` is a state: it stays where it is when it gets stuck, and cannot jump.", remedy=f'{{"{path}": ("1 h", None)}}'
        )
    else:
        unit = plant.locate(path)
        own = unit.kind.quantities[unit.name].declaration.unit
        try:
            switch.set[path + STUCK] = float(quantity(value, own) if isinstance(value, str) else value)
        except (TypeError, ValueError) as error:
            raise ModelError(f"`{path}` cannot be stuck at {value!r}: {error}.") from None


def _stays(model: Model, path: str) -> bool:
    """Whether the equation of a variable is that of its derivative."""
    plant = model.system.plant
    located = plant.locate(path)
    number = located.kind.quantities[located.name].base + int(located.flat.ravel()[0])  # type: ignore[union-attr]
    aliases = model.system.aliases
    if aliases.known[number] or (located.kind.index, located.name) in model.system.definitions:
        return False
    return bool(model.system.differential[aliases.index[number]])
