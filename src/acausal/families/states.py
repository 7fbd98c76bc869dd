"""Transitions as rules: of one state variable all together, since the first that applies is taken.

A transition looks at the value before the round (`pre`), so that a round of an event takes one step; the next round may take the
next, and the event is over when no condition holds any more. Its condition is one of levels, not of edges: it also holds when it
was true already on arrival (a thermostat that is switched on in a room that is too warm cools at once).
"""

from __future__ import annotations

from functools import reduce
from operator import and_, or_

import numpy as np

from ..errors import Diagnostic, Location, near_matches
from ..language.declarations import Discrete
from ..language.events import Assign, Reinit, Terminate
from ..language.expression import Constant, Expression, Mark, Reference, Time, apply
from ..language.states import InputStates, StateDeclaration, Transition
from .hybrid import Freezer, Rule
from .nets import source_name
from .plant import Kind
from .traced import Traced


# --- rules ----------------------------------------------------------------------------------------------------------------
def add_transitions(freezer: Freezer, traced: Traced) -> None:
    """One rule for each state variable that has transitions, and one for each target of their actions."""
    by_variable: dict[Reference, list[Transition]] = {}
    for transition in traced.transitions:
        by_variable.setdefault(transition.variable, []).append(transition)
    taken: dict[Transition, Expression] = {}
    for variable, transitions in by_variable.items():
        taken.update(_add_variable(freezer, variable, transitions))
        _add_actions(freezer, {t: taken[t] for t in transitions if t.do})  # those of another variable may be taken at the same time


def _add_variable(freezer: Freezer, variable: Reference, transitions: list[Transition]) -> dict[Transition, Expression]:
    """The rule of one state variable. Returns when each transition is taken, those before it considered."""
    before = freezer.before(variable)
    entered = _entry_time(freezer, variable, transitions)
    applies = {t: _condition(freezer, t, before, entered) for t in transitions}
    value = before
    for transition in reversed(transitions):
        value = apply("where", applies[transition], float(transition.target), value)
    first = transitions[0]
    freezer.rules.append(Rule("update", value, variable.shape, first.text, first.location, variable))
    taken = {}
    for k, t in enumerate(transitions):
        rivals = [applies[e] for e in transitions[:k] if set(e.sources) & set(t.sources)]
        taken[t] = reduce(and_, (~r for r in rivals), applies[t])
    return taken


def _condition(freezer: Freezer, transition: Transition, before: Expression, entered: Reference | None) -> Expression:
    text, place = transition.text, transition.location
    parts = [reduce(or_, (apply("eq", before, float(s)) for s in transition.sources))]
    if transition.when is not None:
        parts.append(freezer.freeze(transition.when, text, place))
    if transition.after is not None:
        assert entered is not None
        since = freezer.freeze(Time() >= freezer.before(entered) + transition.after, text, place)
        parts.append(_waited(freezer, transition, since))
    return reduce(and_, parts)


def _waited(freezer: Freezer, transition: Transition, since: Expression) -> Expression:
    """At the start of a run the time of entry is only being set: what waits for nothing is taken then, in its turn, no other."""
    start, after = Mark("initial"), transition.after
    if isinstance(after, Constant) and after.value > 0:
        return since & ~start
    at_once = freezer.freeze(apply("le", after, 0.0), transition.text, transition.location)
    return (since & ~start) | (start & at_once)


def _entry_time(freezer: Freezer, variable: Reference, transitions: list[Transition]) -> Reference | None:
    """When the present state was entered, for transitions after some time."""
    timed = [t for t in transitions if t.after is not None]
    if not timed:
        return None
    entered = freezer.auxiliary("entered", Discrete(0.0), variable.shape)
    entered.declaration.carried = True  # a run that goes on from another one counts on
    now = Mark("initial") | ~apply("eq", variable, freezer.before(variable))
    value = apply("where", now, Time(), freezer.before(entered))
    freezer.rules.append(Rule("update", value, variable.shape, timed[0].text, timed[0].location, entered))
    return entered


def _add_actions(freezer: Freezer, taken: dict[Transition, Expression]) -> None:
    chosen: dict[Reference, list[tuple[Expression, Assign | Reinit]]] = {}
    for transition, now in taken.items():
        for action in transition.do:
            if isinstance(action, Terminate):
                place = action.location
                freezer.rules.append(Rule("stop", now, now.shape, place.source, place, None, action.message))
            else:
                chosen.setdefault(action.target, []).append((now, action))
    for target, alternatives in chosen.items():
        first = alternatives[0][1]
        value = freezer.before(target) if isinstance(first, Assign) else target
        for now, action in reversed(alternatives):
            value = apply("where", now, freezer.freeze(action.value, action.location.source, action.location), value)
        freezer._targeted("update" if isinstance(first, Assign) else "reinit", target, value, first)


def add_guesses(freezer: Freezer, traced: Traced) -> None:
    """Where the search for an algebraic variable begins when a state has been entered (`on_state_change`)."""
    chosen: dict[Reference, tuple[Expression, str, Location | None]] = {}  # one rule for all guesses of a variable
    for guess in traced.guesses:
        text = guess.location.source if guess.location else str(guess.target)
        condition = freezer.freeze(guess.condition, text, guess.location)
        became = condition & ~freezer.before(condition)
        other = chosen[guess.target][0] if guess.target in chosen else guess.target
        value = apply("where", became, freezer.freeze(guess.value, text, guess.location), other)
        if np.broadcast_shapes(value.shape, guess.target.shape) == guess.target.shape:
            chosen[guess.target] = (value, text, guess.location)
    for target, (value, text, location) in chosen.items():
        freezer.rules.append(Rule("guess", value, target.shape, text, location, target))


# --- what is wrong --------------------------------------------------------------------------------------------------------
def transition_problems(traced: Traced) -> list[Diagnostic]:
    """Transitions that a component cannot make, and combined states that do not fit; all there are in one kind."""
    found = [_wrong(traced, t) for t in traced.transitions]
    return [*(d for d in found if d is not None), *_wrong_groups(traced.kind)]


def _wrong(traced: Traced, transition: Transition) -> Diagnostic | None:
    variable, own = transition.variable, traced.kind.representative
    declaration: StateDeclaration = variable.declaration
    states, kind = declaration.states, traced.kind.name
    sources = " or ".join(f"`{states[s]}`" for s in transition.sources)
    what = f"{kind} has a transition of `{variable}` from {sources} to `{states[transition.target]}`, but "
    problem: tuple[str, str] | None = None
    if variable.owner is not own:
        inner = variable.owner.class_name
        problem = (
            f"`{variable.name}` belongs to `{variable.owner._path_from(own)}` ({inner}), which alone can change it.",
            f"State the transition in {inner}, or connect an `ac.OutputStates` of {kind} to an `ac.InputStates` of {inner}.",
        )
    elif isinstance(declaration, InputStates):
        problem = (
            f"`{variable.name}` are input states: others set them.",
            "A transition starts from states that the component owns (`ac.States`, `ac.OutputStates`); whoever is connected to "
            f"`{variable.name}` makes this one.",
        )
    elif declaration.groups or declaration.rules:
        behind = f"combined from `{source_name(declaration)}`" if declaration.groups else "resolved from what is connected inside"
        problem = (
            f"`{variable.name}` is {behind}.",
            f"State the transition for `{source_name(declaration)}`." if declaration.groups else "State it where the source is.",
        )
    elif transition.target in transition.sources:
        problem = (
            "that leads nowhere.",
            "Name another state; for something that happens again and again: `ac.when(ac.sample(…), …)`.",
        )
    elif declaration.initial is None:
        problem = (
            f"`{variable.name}` does not say in which state it starts.",
            f'Declare it with `initial="{states[0]}"`, say.',
        )
    if problem is None:
        return None
    return Diagnostic(what + problem[0], kind, transition.text, transition.location, remedy=problem[1])


def _wrong_groups(kind: Kind) -> list[Diagnostic]:
    found = []
    for name, quantity in kind.quantities.items():
        declaration = quantity.declaration
        if isinstance(declaration, StateDeclaration) and declaration.groups:
            what = _wrong_group(kind, declaration, quantity.shape)
            if what:
                found.append(
                    Diagnostic(
                        f"`{name}` of {kind.name} {what}",
                        component=kind.name,
                        equation=declaration.location.source,
                        location=declaration.location,
                        remedy='Every local state belongs to one: `ac.OutputStates(on=("low", "high"), off="off", of="level")`.',
                    )
                )
    return found


def _wrong_group(kind: Kind, declaration: StateDeclaration, shape: tuple[int, ...]) -> str:
    name = source_name(declaration)
    local = kind.quantities.get(name)
    if local is None or not isinstance(local.declaration, StateDeclaration):
        others = [n for n, q in kind.quantities.items() if isinstance(q.declaration, StateDeclaration) and not q.declaration.groups]
        return f"combines `{name}`, which is not a state variable of that class. {near_matches(name, others)}".rstrip()
    if local.declaration.groups or isinstance(local.declaration, InputStates):
        return f"combines `{name}`, which are not the component's own states."
    if local.shape != shape:
        return f"has shape {shape}, but `{name}` has shape {local.shape}."
    named = [g for group in declaration.groups.values() for g in group]
    unknown = [g for g in named if g not in local.declaration.states]
    if unknown:
        return (
            f"combines `{unknown[0]}`, but `{name}` has only: {', '.join(local.declaration.states)}. "
            f"{near_matches(unknown[0], local.declaration.states)}".rstrip()
        )
    missing = [s for s in local.declaration.states if s not in named]
    if missing:
        return f"leaves open what it is while `{name}` is {' or '.join(missing)}."
    double = [g for k, g in enumerate(named) if g in named[:k]]
    return f"has `{double[0]}` of `{name}` in two states." if double else ""
