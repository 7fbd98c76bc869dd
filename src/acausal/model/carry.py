"""What a mode begins with when it is entered: values of the mode that was left, mapped by name; and names that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..errors import Diagnostic, Location, ModelError, near_matches
from ..families.plant import Kind, Quantity
from ..families.starts import Starts
from ..families.system import System
from ..program.evaluator import Evaluator
from ..records import dataclass
from ..runtime.initialise.earlier import Earlier, discrete_values, values_from, whole_names

if TYPE_CHECKING:
    from ..results.result import Result

Source = str | float | np.ndarray | Callable[["Last"], Any]
Condition = Callable[[Any], Any]


@final
class Last:
    """The last values of the mode that is left, by name: what functions in `carry` are given. `old["rotor.w"]`, `old.time`."""

    def __init__(self, result: Result) -> None:
        self._result = result

    @property
    def time(self) -> float:
        return float(self._result.time[-1])

    def __getitem__(self, name: str) -> Any:
        value = np.asarray(self._result[name][-1])
        return float(value) if value.ndim == 0 else value


@dataclass(frozen=True, slots=True, eq=False)
class Switch:
    """From one mode to another: when, and with which values."""

    number: int
    source: str
    target: str
    when: Condition
    carry: Mapping[str, Source]
    carry_all: bool
    keep: bool
    location: Location

    @property
    def message(self) -> str:
        return f'switch {self.number}, "{self.source}" → "{self.target}"'

    def about(self, what: str, **more: Any) -> Diagnostic:
        """A complaint with the line on which the switch was stated."""
        return Diagnostic(what, equation=f"{self.source} → {self.target}", location=self.location, **more)


def exists(system: System, name: str) -> bool:
    try:
        system.plant.locate(name)
    except ModelError:
        return False
    return True


def _quantity(system: System, name: str) -> tuple[Kind, Quantity | None]:
    located = system.plant.locate(name)
    found = located.kind.quantities.get(located.name) if located.flat is not None and not located.order else None
    return located.kind, found


def _is_known(system: System, name: str) -> bool:
    """Whether a name is set rather than started from: a discrete variable or a parameter."""
    found = _quantity(system, name)[1]
    return found is not None and found.declaration.is_known


def _is_outside(system: System, name: str) -> bool:
    located = system.plant.locate(name)
    return bool(system.aliases.known[located.kind.quantities[located.name].base + np.asarray(located.flat)].all())


def wrong_names(switch: Switch, old: System, new: System) -> list[Diagnostic]:
    """Everything in `carry` that cannot be, told at once and before anything runs."""
    found = []
    for name, source in switch.carry.items():
        if not exists(new, name):
            near = near_matches(name, Evaluator.of_names(new).names())
            found.append(switch.about(f"`carry`: mode `{switch.target}` has no `{name}`. {near}".rstrip()))
        else:
            found += _not_carried(switch, new, name)
        if isinstance(source, str) and not exists(old, source):
            near = near_matches(source, Evaluator.of_names(old).names())
            found.append(switch.about(f"`carry`: mode `{switch.source}` has no `{source}`. {near}".rstrip()))
    return found or _other_units(switch, old, new)


def _not_carried(switch: Switch, new: System, name: str) -> list[Diagnostic]:
    kind, quantity = _quantity(new, name)
    if quantity is not None and quantity.role == "input" and _is_outside(new, name):
        what = f"`carry`: `{name}` of mode `{switch.target}` is given from outside, so it cannot take a value of another mode."
        return [switch.about(what, remedy=f"Give it to the run: simulate(…, inputs={{{name!r}: …}}).")]
    if quantity is not None and (kind.index, quantity.name) not in new.definitions:
        return []
    listed = ", ".join(states(new)[:8])
    return [
        switch.about(
            f"`carry`: `{name}` of mode `{switch.target}` is computed from other variables, so it cannot be given a value.",
            remedy=f"Give the states their values: {listed}." if listed else "",
        )
    ]


def states(system: System) -> list[str]:
    """Names of all unknowns that are states, or might be selected as such."""
    needed = system.differential.copy()
    if system.derivatives is not None:
        needed[: len(system.derivatives.highest)] |= system.derivatives.highest > 0
    return [system.name_of_unknown(int(u)) for u in np.flatnonzero(needed)]


def needed(switch: Switch, old: System, new: System) -> list[str]:
    """What must be known of the old mode when it is left: names that are carried, one by one or because both modes have them."""
    named = [source for source in switch.carry.values() if isinstance(source, str)]
    common = [name for name in whole_names(new, ("variable",)) if exists(old, name)] if switch.carry_all else []
    return [*named, *common]


def _other_units(switch: Switch, old: System, new: System) -> list[Diagnostic]:
    """Quantities of one name whose numbers do not mean the same."""
    if not switch.carry_all:
        return []
    found, before, after = [], Evaluator.of_names(old), Evaluator.of_names(new)
    for name in whole_names(new, ("variable", "discrete")):
        if name in switch.carry or not exists(old, name):
            continue
        units = before.unit(name), after.unit(name)
        if all(units) and units[0] != units[1]:
            found.append(
                switch.about(
                    f"`{name}` is in {units[0]} in mode `{switch.source}` and in {units[1]} in mode `{switch.target}`.",
                    remedy=f"Say that it is to be converted: carry={{{name!r}: {name!r}}}; or give it another name.",
                )
            )
    return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class Carried(Earlier):
    """Values to start from, of which `held` count before anything that the new mode says about its start (initial equations)."""

    held: np.ndarray

    def applied(self, starts: Starts) -> Starts:
        return replace(Earlier.applied(self, starts), fixed=starts.fixed | self.held)


@dataclass(slots=True, eq=False)
class Entry:
    """What a mode begins with."""

    start_from: Carried | None
    set: dict[str, Any]


def entry(switch: Switch, old: Result, new: System, left: Result | None) -> Entry:
    """Values for the new mode: those that are carried, then those of equal names, then those it was left with."""
    explicit = _carried(switch, old, new)
    unknowns = {name: value for name, value in explicit.items() if not _is_known(new, name)}
    values, found = values_from(new, unknowns)
    known: dict[str, Any] = {}
    for wanted, earlier in ((switch.carry_all, old), (switch.keep, left)):
        if wanted and earlier is not None:
            more, there = values_from(new, earlier)
            take = there & ~found
            values[take], found = more[take], found | take
            known = {**discrete_values(new, earlier), **known}
    known |= {name: value for name, value in explicit.items() if name not in unknowns}
    # Of a reduced system some of these depend on each other; initialisation itself keeps those that are selected as states.
    held = found & new.differential if new.derivatives is None else np.zeros(new.size, dtype=bool)
    return Entry(Carried(values, found, held) if found.any() else None, known)


def _carried(switch: Switch, old: Result, new: System) -> dict[str, Any]:
    last, target, found = Last(old), Evaluator.of_names(new), dict[str, Any]()
    for name, source in switch.carry.items():
        if isinstance(source, str):
            value, units = last[source], (old.unit(source), target.unit(name))
            if all(units) and units[0] != units[1]:
                from ..language.units import convert

                value = convert(value, *units)
            value = _state_texts(old, source, value)
        else:
            value = source(last) if callable(source) else source
        if not isinstance(value, str) and not _is_finite(value):
            what = f"`carry` gives `{name}` the value {value!r} of type {type(value).__name__}, not a finite number."
            raise ModelError(switch.about(what))
        found[name] = value
    return found


def _state_texts(old: Result, name: str, value: Any) -> Any:
    meaning = old.meaning(name)
    return meaning.text(value) if meaning.type == "states" and np.ndim(value) == 0 else value


def _is_finite(value: Any) -> bool:
    try:
        return bool(np.isfinite(np.asarray(value, dtype=float)).all())
    except (TypeError, ValueError):
        return False
