"""States (WinDali 6.2): what a component is in, how it passes from one to another, and what others see of it.

- `ac.States("low", "high", "off", initial="off")` are *local*: nobody else is affected by them.
- `ac.OutputStates("on", "off", initial="off")` are seen by what is connected; `ac.OutputStates(on=("low", "high"), off="off",
  of="level")` combine local states.
- `ac.InputStates(on="all", off="any")` are set by others: AND and OR over everything connected.

A state variable is a discrete variable whose value is the number of a state. Through a component it is a `StateView`, of which
`self.cooling.off` is a condition; `self.cooling.off.to("on", when=…)` in `transitions` says when it is left.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import Location, ModelError, ShapeError, UsageError, near_matches
from ..records import dataclass
from ..structure.resolution import RULES
from .declarations import Declaration, Discrete
from .equation import Equation
from .events import Action, Assign, Reinit, Terminate
from .expression import Constant, Expression, Operation, Reference, _intern, apply, as_expression
from .operators import OPERATORS

_RESERVED = ("is_", "otherwise")


class UnknownState(ModelError, AttributeError):
    """A state variable has no such state; also an AttributeError, so that `hasattr` works."""

    __str__ = ModelError.__str__


# --- declarations ---------------------------------------------------------------------------------------------------------
class StateDeclaration(Discrete):
    """What all state variables have: names of states, and where they were declared."""

    type = "states"
    location: Location

    def __init__(self, names: Iterable[str], initial: Any, location: Location, **attributes: Any) -> None:
        self.name = ""
        self.states = _checked_names(names, location)
        self.location = location
        self.initial = initial
        self.rules: dict[str, str] = {}  # of what follows others: AND ("all"), OR ("any"), or neither of these ("otherwise")
        self.groups: dict[str, tuple[str, ...]] = {}  # local states behind each state
        self.source: str | Declaration = ""  # the local state variable behind it
        number = 0 if initial is None else self.number_of(initial)
        super().__init__(number, min=0, max=len(self.states) - 1, **attributes)
        self.location = location

    @property
    def meaning(self) -> tuple[Any, ...]:
        """What makes two state variables of one name differ in the equations they lead to."""
        source = getattr(self.source, "name", self.source)
        return (self.states, self.initial is None, tuple(self.rules.items()), tuple(self.groups.items()), source)

    def number_of(self, given: Any) -> Any:
        """The number of a state given by its name; arrays of names give arrays of numbers, and numbers stay."""
        if isinstance(given, str):
            if given not in self.states:
                raise UsageError(_no_state(self, given), location=None if self.name else self.location, remedy=_listed(self))
            return self.states.index(given)
        found = np.asarray(given)
        if found.dtype.kind != "U":
            return given
        return np.array([self.number_of(str(name)) for name in found.ravel()]).reshape(found.shape)

    def view_of(self, reference: Reference) -> StateView:
        return StateView(reference)

    def __get__(self, component: Any, owner: Any) -> Any:
        return self if component is None else StateView(component._reference(self.name))


class States(StateDeclaration):
    """Local states: `level = ac.States("low", "high", "off", initial="off")`.

    Everyday arguments: the names, and `initial`. The rest: `shape` for an array of state variables, `doc`.
    Without transitions it keeps its state, which can be given for a run: `simulate(…, set={"pump.level": "high"})`.
    """

    def __init__(self, *names: str, initial: Any, **attributes: Any) -> None:
        super().__init__(names, initial, Location.of_frame(sys._getframe(1)), **attributes)


class OutputStates(StateDeclaration):
    """States that others see, by connection.

    - own ones: `cooling = ac.OutputStates("on", "off", initial="off")`, with `transitions` between them;
    - combined from local states: `running = ac.OutputStates(on=("low", "high"), off="off", of="level")`;
    - of a composite, handed on from inside: `running = ac.OutputStates("on", "off")`, connected to a sub-component's;
    - of a composite, resolved over what is connected inside: `running = ac.OutputStates(on="any", off="all")`.
    """

    def __init__(
        self, *names: str, initial: Any = None, of: str | Declaration | None = None, doc: str = "", shape: Any = (), **states: Any
    ) -> None:
        place = Location.of_frame(sys._getframe(1))
        _not_both(names, states, place)
        super().__init__(names or states, initial, place, doc=doc, shape=shape)
        if of is not None:
            self.source = of
            self.groups = {name: (g,) if isinstance(g, str) else tuple(g) for name, g in states.items()}
            _check_groups(self, names, place)
        else:
            self.rules = _checked_rules(states, place)


class InputStates(StateDeclaration):
    """States that others set: `run = ac.InputStates(on="all", off="any")`.

    Each state has a rule: "all" (AND: set when everything connected is in it), "any" (OR: when at least one is), or "otherwise"
    (when no other is set). Names alone, `ac.InputStates("on", "off")`, are for a single source. `default` is the state when
    nothing is connected; without one that is an error.
    """

    def __init__(self, *names: str, default: Any = None, doc: str = "", shape: Any = (), **states: Any) -> None:
        place = Location.of_frame(sys._getframe(1))
        _not_both(names, states, place)
        super().__init__(names or states, default, place, doc=doc, shape=shape)
        self.rules = _checked_rules(states, place) or dict.fromkeys(self.states, "all")


def _checked_names(names: Iterable[str], place: Location) -> tuple[str, ...]:
    found = tuple(names)
    for name in found:
        if not isinstance(name, str) or not name or name.startswith("_") or name in _RESERVED:
            raise UsageError(
                f"A state has a name, which begins with a letter and is not {' or '.join(_RESERVED)}; got {name!r}.", location=place
            )
    double = [n for k, n in enumerate(found) if n in found[:k]]
    if double or not found:
        what = f"State `{double[0]}` is named twice." if double else "A state variable needs the names of its states."
        raise UsageError(what, location=place, remedy='Name each state once: `ac.States("on", "off", initial="off")`.')
    return found


def _not_both(names: tuple[str, ...], states: Mapping[str, Any], place: Location) -> None:
    if names and states:
        raise UsageError(
            f"States are given by name alone ({', '.join(names)}) or each with what sets it ({', '.join(states)}), not both.",
            location=place,
            remedy=f"Say for each what sets it, or give `initial=` if `{next(iter(states))}` was meant to be an option.",
        )


def _checked_rules(states: Mapping[str, Any], place: Location) -> dict[str, str]:
    for name, rule in states.items():
        if rule not in RULES:
            raise UsageError(
                f"What sets state `{name}` is one of {', '.join(repr(r) for r in RULES)}; got {rule!r}.",
                location=place,
                remedy='Local states are combined with `of="name of the local state variable"`.',
            )
    return dict(states)


def _check_groups(declaration: OutputStates, names: tuple[str, ...], place: Location) -> None:
    wrong = [g for group in declaration.groups.values() for g in group if not isinstance(g, str)]
    if names or wrong:
        raise UsageError(
            "States combined from local ones say which belong to each.",
            location=place,
            remedy='`ac.OutputStates(on=("low", "high"), off="off", of="level")`.',
        )


def _no_state(declaration: StateDeclaration, name: str) -> str:
    whose = f"`{declaration.name}` has" if declaration.name else "There is"
    return f"{whose} no state `{name}`. {near_matches(name, declaration.states)}".rstrip()


def _listed(declaration: StateDeclaration) -> str:
    return f"Its states are: {', '.join(declaration.states)}."


# --- what a component gives -----------------------------------------------------------------------------------------------
class StateView:
    """A state variable (or many, of an array of components) as a component sees it: `self.cooling`.

    `self.cooling.on` is true while it is in state "on"; `self.cooling["on"]` and `self.cooling.is_("on")` are the same, for names
    that Python could not read.
    """

    __slots__ = ("_reference",)

    def __init__(self, reference: Reference) -> None:
        self._reference = reference

    @property
    def _declaration(self) -> StateDeclaration:
        return self._reference.declaration

    def __getattr__(self, name: str) -> State:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.is_(name)

    def is_(self, name: str) -> State:
        """Whether it is in the state of that name."""
        return State(self, self._number(name))

    def _number(self, name: str) -> int:
        declaration = self._declaration
        if name not in declaration.states:
            raise UnknownState(_no_state(declaration, name), remedy=_listed(declaration))
        return declaration.states.index(name)

    def __getitem__(self, key: Any) -> Any:
        return self.is_(key) if isinstance(key, str) else StateView(self._reference[key])  # type: ignore[arg-type]

    def __len__(self) -> int:
        return len(self._reference)

    def __iter__(self) -> Iterator[StateView]:
        return (self[k] for k in range(len(self)))

    def __acausal_expression__(self) -> Expression:
        return self._reference

    def __eq__(self, other: object) -> Any:
        first = self._declaration.states[0]
        raise UsageError(
            f"`{self}` is a state variable and cannot be equated with {other!r}.",
            remedy=f"Whether it is in a state: `self.{self}.{first}`. What sets it is said in `transitions`.",
        )

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return repr(self._reference)


class State(Operation):
    """One state of a state variable, as a condition: true while the variable is in it."""

    __slots__ = ("number", "variable")
    number: int
    variable: StateView

    def __new__(cls, variable: StateView, number: int) -> State:
        reference = variable._reference
        args = (reference, Constant(number))
        key = (State, id(reference), number)
        return _intern(cls, key, reference.shape, operator=OPERATORS["eq"], args=args, variable=variable, number=number)

    def __getitem__(self, key: Any) -> State:
        return State(self.variable[key], self.number)

    def to(self, target: str, *, when: Any = None, after: Any = None, do: Action | Iterable[Action] = ()) -> Transition:
        """A transition from this state: `yield self.cooling.off.to("on", when=self.T > self.T_on)` in `transitions`.

        It is taken while the state lasts and the condition holds, be it only at the moment of arriving; of several that could be
        taken at one instant, the one that is stated first. `after`: seconds since the state was entered (with `when`: and the
        condition as well). `do`: actions taken with it (`ac.reinit`, `ac.assign`, `ac.terminate`).
        """
        place = Location.of_frame(sys._getframe(1))
        return _transition(self.variable, (self.number,), target, when, after, do, place)


@dataclass(frozen=True, slots=True, eq=False)
class Transition:
    """From any of some states to another, when a condition holds or some time has passed."""

    variable: Reference
    sources: tuple[int, ...]
    target: int
    when: Expression | None
    after: Expression | None
    do: tuple[Action, ...]
    location: Location

    @property
    def text(self) -> str:
        """The line as it was written, or in words."""
        states = self.variable.declaration.states
        names = " or ".join(states[s] for s in self.sources)
        return self.location.source or f"{self.variable}: {names} to {states[self.target]}"


def transition(
    variable: Any, sources: str | Iterable[str], target: str, *, when: Any = None, after: Any = None, do: Any = ()
) -> Transition:
    """A transition from any of several states: `ac.transition(self.level, ("low", "high"), "off", when=self.alarm)`."""
    place = Location.of_frame(sys._getframe(1))
    if not isinstance(variable, StateView):
        raise UsageError(
            f"`ac.transition` takes a state variable, got {variable!r} of type {type(variable).__name__}.",
            location=place,
            remedy='`ac.transition(self.level, ("low", "high"), "off", when=…)`.',
        )
    names = (sources,) if isinstance(sources, str) else tuple(sources)
    return _transition(variable, tuple(variable._number(n) for n in names), target, when, after, do, place)


def _transition(
    variable: StateView, sources: tuple[int, ...], target: str, when: Any, after: Any, do: Any, place: Location
) -> Transition:
    number = variable._number(target)
    if when is None and after is None:
        raise UsageError(
            f"The transition of `{variable}` to `{target}` does not say when.",
            location=place,
            remedy=f'`.to("{target}", when=condition)`, or `.to("{target}", after=seconds)`.',
        )
    if isinstance(when, Equation):
        raise UsageError(f"`{when}` states an equation, it is not a condition.", location=place, remedy="Compare with `<`, `>=`, …")
    condition = None if when is None else _fitting(as_expression(when), variable, place)
    elapsed = None if after is None else _fitting(as_expression(after), variable, place)
    return Transition(variable._reference, sources, number, condition, elapsed, _actions(do, place), place)


def _fitting(node: Expression, variable: StateView, place: Location) -> Expression:
    shape = variable._reference.shape
    try:
        fits = np.broadcast_shapes(node.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"A transition of `{variable}`, which has shape {shape}, cannot depend on `{node}` of shape {node.shape}.",
            location=place,
            remedy="One condition for all, or one for each element.",
        )
    return node


def _actions(do: Any, place: Location) -> tuple[Action, ...]:
    found = (do,) if isinstance(do, (Assign, Reinit, Terminate)) else tuple(do)
    for action in found:
        if not isinstance(action, (Assign, Reinit, Terminate)):
            raise UsageError(
                f"`do` of a transition takes actions, got {action!r} of type {type(action).__name__}.",
                location=place,
                remedy="`do=[ac.reinit(self.x, value), ac.assign(self.n, value)]`.",
            )
    return found


# --- choices --------------------------------------------------------------------------------------------------------------
_NOT_GIVEN: Any = object()


def match(states: Any, choices: Mapping[str, Any] | None = None, /, *, otherwise: Any = _NOT_GIVEN, **named: Any) -> Expression:
    """The value that belongs to the present state: `ac.match(self.run, on=self.m_flow_max, off=0.0)`.

    Every state has a value, or `otherwise` is given for the rest. Names that Python could not read go into a dictionary:
    `ac.match(self.phase, {"two phase": …, "gas": …})`.
    """
    if not isinstance(states, StateView):
        raise UsageError(
            f"`ac.match` takes a state variable, got {states!r} of type {type(states).__name__}.",
            remedy="`ac.match(self.run, on=…, off=…)`; a condition decides with `ac.where(condition, a, b)`.",
        )
    given = {**(choices or {}), **named}
    for name in given:
        states._number(name)
    missing = [name for name in states._declaration.states if name not in given]
    if missing and otherwise is _NOT_GIVEN:
        raise UsageError(
            f"`ac.match` of `{states}` says nothing about {', '.join(f'`{m}`' for m in missing)}.",
            remedy=f"Add {', '.join(f'{m}=…' for m in missing)}, or `otherwise=…` for all that are not named.",
        )
    order = [name for name in states._declaration.states if name in given]
    value = as_expression(otherwise if missing else given[order.pop()])
    for name in reversed(order):
        value = apply("where", states.is_(name), given[name], value)
    return value
