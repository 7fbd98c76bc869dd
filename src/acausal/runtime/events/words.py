"""Failures of events, told: what happened, in which component, on which line, and what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import Diagnostic
from ..outcome import Outcome

if TYPE_CHECKING:
    from .handler import Handler, Happening

OUTCOMES = {  # of runs in which an event fails
    "cycle": Outcome.EVENT_CYCLES,
    "sweep": Outcome.EVENT_CYCLES,
    "unsolvable": Outcome.EVENT_UNSOLVABLE,
    "assertion": Outcome.ASSERTION,
    "type": Outcome.ASSERTION,
    "undefined": Outcome.NOT_FINITE,
    "undefined state": Outcome.NOT_FINITE,
    "conflict": Outcome.EVENT_CONFLICT,
}


def explain(handler: Handler, sort: str, happening: Happening, row: int) -> Diagnostic:
    """What one event did that it should not have done, or why it ended the run."""
    if sort == "stop":
        return _stop(handler, happening, row)
    if sort == "warning":
        return replace(_assertion(handler, happening, row, "does not hold"), warning=True)
    if sort == "assertion":
        return _assertion(handler, happening, happening.rows[-1], "is violated")
    if sort == "cycle":
        return _cycle(handler, happening)
    if sort in ("sweep", "undefined", "undefined state", "conflict", "type"):
        return _sweep(handler, happening, sort)
    return _unsolvable(handler, happening)


def _stop(handler: Handler, happening: Happening, row: int) -> Diagnostic:
    place = handler.problem.lowered.system.describe_rule("stop", row)
    message = handler.hybrid.parts["stop"].block(row).rule.detail
    return replace(place, what=f"The model ended the run at time {happening.t:.6g}: {message}")


def _assertion(handler: Handler, happening: Happening, row: int, verb: str) -> Diagnostic:
    place = handler.problem.lowered.system.describe_rule("assertion", row)
    message = handler.hybrid.parts["assertion"].block(row).rule.detail.partition(" ")[2]
    return replace(
        place,
        what=f"An assertion {verb} at time {happening.t:.6g}: {message}",
        remedy="Look at the variables in it just before that time; at the start, at parameters and start values.",
    )


def changed_names(handler: Handler, before: np.ndarray, after: np.ndarray, most: int = 6) -> list[str]:
    """Discrete values that differ, as `name: off → on`, relations as they were written; what was kept for `pre(x)` is none."""
    found: dict[str, None] = {}
    for k in np.flatnonzero((before != after) & ~np.isin(handler.cells, handler.snapshots)):
        values = (value_text(handler, int(k), one[k]) for one in (before, after))
        found[f"{cell_text(handler, int(k))}: {' → '.join(values)}"] = None
        if len(found) == most:
            break
    return list(found)


def cell_text(handler: Handler, k: int) -> str:
    """A discrete value's name; of a relation, component and text."""
    system, cell = handler.problem.lowered.system, int(handler.hybrid.cells[k])
    auxiliary = system.plant.quantity_at(cell, "known")[1].declaration.auxiliary
    for role in ("relation", "timed", "clock_start", "snapshot", *(["update"] if auxiliary else [])):
        rows = np.flatnonzero(handler.hybrid.parts[role].targets == cell)
        if len(rows):
            place = system.describe_rule(role, int(rows[0]))
            return f"{place.component}: {place.equation}" + (f"  ({place.location})" if place.location else "")
    return system.plant.name_of(cell, "known")


def value_text(handler: Handler, k: int, value: float) -> str:
    """A discrete value as its declaration has it: a state's name, true or false, a whole number."""
    _, quantity, _ = handler.problem.lowered.system.plant.quantity_at(int(handler.hybrid.cells[k]), "known")
    declaration = quantity.declaration
    if getattr(declaration, "states", ()):
        return str(declaration.states[int(value)])  # type: ignore[attr-defined]
    if declaration.auxiliary or getattr(declaration, "type", "") == "boolean":
        return "true" if value else "false"
    return f"{value:g}"


def _cycle(handler: Handler, happening: Happening) -> Diagnostic:
    names = [_assigned_text(handler, k) for k in happening.rows]
    how = "discrete values still change" if happening.endless else "the same discrete values come back"
    return Diagnostic(
        f"The event at time {happening.t:.6g} does not come to rest: after {happening.rounds} rounds {how}.",
        details=tuple(f"switches:  {n}" for n in names),
        remedy="These conditions switch each other on and off at one instant. Let one of them depend on `ac.pre(…)` of the other, "
        "or give the switching points a distance (hysteresis).",
    )


def _assigned_text(handler: Handler, k: int) -> str:
    """A discrete variable with the statement that assigns it; anything else as `cell_text` has it."""
    rows = np.flatnonzero(handler.hybrid.parts["update"].targets == handler.hybrid.cells[k])
    name = cell_text(handler, k)
    if not len(rows) or not handler.declared[k]:
        return name
    place = handler.problem.lowered.system.describe_rule("update", int(rows[0]))
    return f"{name}, by {place.equation}" + (f"  ({place.location})" if place.location else "")


def _sweep(handler: Handler, happening: Happening, sort: str) -> Diagnostic:
    system = handler.problem.lowered.system
    role = "reinit" if sort in ("undefined state", "conflict") else "update"
    places = [system.describe_rule(role, r) for r in happening.rows]
    details = tuple(f"assigned:  {p.component}: {p.equation}" + (f"  ({p.location})" if p.location else "") for p in places[1:])
    if sort == "undefined":
        what, remedy = "A discrete variable is assigned a value that is not finite", "Check what it is computed from."
    elif sort == "type":
        what = f"A variable that is a whole number, or true or false, is assigned {happening.value:.6g}"
        remedy = "Assign `ac.floor(…)` or a relation, or declare the variable with `ac.Discrete`."
    elif sort == "conflict":
        what = "Two statements set one state to different values at the same instant"
        remedy = "Join them: `ac.when(…, …).elsewhen(…, …)` takes the first branch that applies."
        if len(handler.contradicted):
            what = "Statements set quantities that equations tie to each other to values that contradict these, at the same instant"
            alone = len(handler.set_states) == 1  # what an event has tied follows nobody
            remedy = "Set the others with it, to values that agree." if alone else "Set one of them: the others follow."
    elif sort == "undefined state":
        what, remedy = "A state is re-initialised with a value that is not finite", "Check what it is computed from."
    else:
        what = "Assignments that are made at the same instant depend on each other in a loop, and do not settle"
        remedy = "Use `ac.pre(…)` of one of them: the value before the event."
    return replace(places[0], what=f"{what} (event at time {happening.t:.6g}).", details=details, remedy=remedy)


def _unsolvable(handler: Handler, happening: Happening) -> Diagnostic:
    before, after = happening.before, happening.after  # not what is in `w`, where other configurations were tried
    return Diagnostic(
        f"After the event at time {happening.t:.6g} the equations have no solution that could be found.",
        details=tuple(f"changed:   {n}" for n in changed_names(handler, before, after)),
        remedy="In the new state the equations named below contradict each other, or leave something undetermined, while the "
        "states keep their values. Check the equations of that state; where a state must jump, say so with `ac.reinit`. Where it "
        "ties states to each other (`a == b`) that were free before, an unknown on which their derivatives depend must keep them "
        "together, and no tie may be said twice.",
    )
