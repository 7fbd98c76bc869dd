"""Which operation of which equation has no value: from a residual row and a workspace to the component, the line and the cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..errors import Diagnostic, ModelError
from ..families.explicit import unfolded
from ..families.hoist import DerivedCells
from ..families.plant import Plant
from ..families.system import System
from ..families.template import MINUS, MIXED, Family
from ..kernels.interpret import Fault, evaluate, first_fault
from ..language.expression import Call, Expression, Operation, Slot, walk

_BECAUSE = "because:   "
_REMEDY = "Check the start values and parameters it depends on; bounds (min, max) keep iterations where it has a value."
_INSTEAD = {  # what has a value on both sides of zero, which a run may pass by a rounding
    "sqrt": "`ac.sqrt(ac.max(x, 0))` and `ac.regularised_sqrt(x, small)` have a value for any x.",
    "pow": "`ac.max(x, 0)**n` and `ac.regularised_power(x, n, small)` have a value for any x.",
}
_NEARBY = 0.01  # of a function's range: what ends a run there is its limit


def explain_row(system: System, row: int, workspace: np.ndarray, initial: bool = False) -> Diagnostic:
    """The equation behind a residual row that is not finite, and the first operation in it that has no value."""
    place = system.describe_equation(row, initial=initial)
    details: tuple[str, ...] = ()
    for family in system.initial_families if initial else system.families:
        for output, column in np.argwhere(family.rows == row):
            fault = _derived_fault(system, family, int(column), workspace) or _fault(family, int(output), int(column), workspace)
            told = _values(system, family, workspace, int(column)) + _failures(system, family)
            if fault is not None:
                return replace(place, what=f"An equation has no value: {_cause(fault)}.", details=told, remedy=_instead(fault))
            limit = _limit_nearby(family, int(output), int(column), workspace)
            if limit:
                return replace(place, what=f"An equation has no value: {limit}.", details=told, remedy=_REMEDY)
            details = details or told
    failed = any(d.startswith(_BECAUSE) for d in details)
    what = "An equation has no finite value: a function in it failed." if failed else "An equation has no finite value."
    return replace(place, what=what, details=details, remedy=_REMEDY)


def _instead(fault: Fault) -> str:
    """What to try: for an operation that ends at zero, one that does not."""
    name = fault.node.operator.name if isinstance(fault.node, Operation) else ""
    return " ".join(filter(None, (_INSTEAD.get(name), _REMEDY)))


def _cause(fault: Fault) -> str:
    """The complaint and the numbers; the expression itself is shown as the equation's source line."""
    numbers = ", ".join(f"{float(a):.6g}" for a in fault.arguments)
    if not numbers:
        return fault.complaint
    return f"{fault.complaint} (argument{'s' if len(fault.arguments) > 1 else ''} {numbers})"


def _fault(family: Family, output: int, column: int, workspace: np.ndarray) -> Fault | None:
    """An operation that has no value, rather than a variable: of `y == log(x)` it is not y that is to blame."""

    value = _values_of_slots(family, column, workspace)

    def finite(leaf: Expression) -> np.ndarray:
        found = value(leaf)
        return found if np.isfinite(found) else np.asarray(1.0)

    residual = (family.template.outputs[output],)
    first = first_fault(residual, value)
    if first is None or len(first.arguments):
        return first
    operation = first_fault(residual, finite)
    return operation if operation is not None and len(operation.arguments) else first


def _values_of_slots(family: Family, column: int, workspace: np.ndarray) -> Callable[[Expression], np.ndarray]:
    def value(leaf: Expression) -> np.ndarray:
        assert isinstance(leaf, Slot)
        index = int(family.slots[leaf.number, column])
        if family.signs[leaf.number] == MIXED:
            return np.asarray(workspace[index] if index >= 0 else -workspace[~index])
        return np.asarray(-workspace[index] if family.signs[leaf.number] == MINUS else workspace[index])

    return value


def _limit_nearby(family: Family, output: int, column: int, workspace: np.ndarray) -> str:
    """The run keeps its last good values; a function that is about to leave its range says so."""
    for node in walk(family.template.outputs[output]):
        if isinstance(node, Call):
            arguments = [float(a) for a in evaluate(node.args, _values_of_slots(family, column, workspace))]
            if complaint := node.function.complaint(arguments, _NEARBY):
                return str(complaint)
    return ""


def _values(system: System, family: Family, workspace: np.ndarray, column: int) -> tuple[str, ...]:
    """The unknowns that stand in the equation, with their values; those that have none themselves tell nothing."""
    found = []
    for slot in family.template.slots:
        index = int(family.slots[slot.number, column])
        index = ~index if index < 0 else index
        if index < 2 * system.size and np.isfinite(workspace[index]):
            name = system.name_of_unknown(index % system.size)
            found.append(f"{name if index < system.size else f'der({name})'} = {workspace[index]:.6g}")
    return (f"where:     {', '.join(found[:8])}",) if found else ()


def _derived_fault(system: System, family: Family, column: int, workspace: np.ndarray) -> Fault | None:
    """What has no value although parameters alone determine it."""
    known, wrong = workspace[2 * system.size :], set[int]()
    for slot in family.template.slots:
        index = int(unfolded(family, slot.number)[column]) - 2 * system.size
        if index >= system.plant.known_count and not np.isfinite(known[index]):
            wrong.add(index)
    for derived in system.derived if wrong else ():
        for cell in wrong:
            instance = derived.instance_with(cell)
            if instance >= 0:
                return first_fault((derived.expression,), derived.leaf_of(system.plant, known, instance))
    return None


def refuse_outside(plant: Plant, derived: DerivedCells, known: np.ndarray) -> None:
    """A function that knows where it has a value, as a medium does, is believed before anything is solved for."""
    sound = np.isfinite(known[derived.cells]).all(axis=1)
    if sound.all() or not any(isinstance(node, Call) for node in walk(derived.expression)):
        return
    instance = int(np.argmin(sound))
    fault = first_fault((derived.expression,), derived.leaf_of(plant, known, instance))
    if fault is None or not isinstance(fault.node, Call) or not fault.node.function.complaint(fault.arguments):
        return
    given = dict.fromkeys(derived.parameters(plant, instance))
    values = ", ".join(f"{plant.name_of(cell, 'known')} = {known[cell]:g}" for cell in given)
    raise ModelError(
        Diagnostic(
            f"Parameters ask for a state that does not exist: {fault.complaint.rstrip('.')}.",
            component=f"{plant.path_of(derived.kind, instance)} ({derived.kind.name})",
            details=(f"where:     {values}",),
            remedy="Give one of them another value, with which the medium has a state.",
        )
    )


def _failures(system: System, family: Family) -> tuple[str, ...]:
    """Exceptions inside the user's own functions."""
    called = [n.function for d in system.derived for n in walk(d.expression) if isinstance(n, Call)]
    failures = dict.fromkeys(getattr(f, "failure", None) for f in (*family.template.functions, *called))
    return tuple(f"{_BECAUSE}{failure}" for failure in failures if failure is not None)
