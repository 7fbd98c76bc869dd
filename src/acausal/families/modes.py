"""Equations that hold while a state lasts: each state brings its own, and not every variable is there in every state.

`ac.during(self.mode.sliding, …)` and its siblings of the other states become one row for each equation of the state that has most:
a choice between the states' residuals. Two equations for the same variable share a row. A state with fewer equations leaves some of
the component's own variables without any: those that stand in no equation that holds then, nor in the branch of an `ac.match` or
`ac.where` that counts then. They rest: an algebraic variable
keeps the value it had, a differentiated one has derivative zero. So the number of rows is the same in every state, nobody writes a
dummy equation, and nothing is compiled when a state is entered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import Any

from ..errors import Diagnostic, Location, ModelError
from ..language.declarations import Discrete
from ..language.equation import Equation
from ..language.events import During
from ..language.expression import Constant, Expression, Operation, Reference, Shape, apply, as_expression, transform, walk
from ..records import dataclass
from .hybrid import Freezer, Rule
from .plant import Plant
from .traced import Traced, TracedEquation


@dataclass(slots=True, eq=False)
class _Row:
    residual: Expression
    shape: Shape
    text: str
    location: Location | None
    defines: Expression | None  # the variable on its left side
    leaves: set[Expression] = field(default_factory=set)


@dataclass(slots=True, eq=False)
class _Choice:
    """All `during` statements about one state variable (or one condition): rows for each of its values."""

    conditions: list[Expression]  # one for each value
    names: list[str]
    rows: list[list[_Row]]
    location: Location


def take_modes(plant: Plant, traced: Traced) -> None:
    """Turn the `during` statements of a kind into equations that hold all the time."""
    statements = [s for s in traced.statements if isinstance(s, During)]
    if not statements:
        return
    traced.statements = [s for s in traced.statements if not isinstance(s, During)]
    choices: dict[Expression, _Choice] = {}
    for statement in statements:
        _add(choices, traced, statement)
    always = [e.residual for e in traced.equations]
    freezer = Freezer(plant, traced.kind)
    for key, choice in choices.items():
        others = [r.residual for k, c in choices.items() if k is not key for rows in c.rows for r in rows]
        elsewhere = [_read(key, state, [*always, *others]) for state in range(len(choice.rows))]
        traced.equations += _joined(traced, choice, elsewhere, freezer)
    traced.rules += freezer.rules


def _read(key: Expression, state: int, residuals: list[Expression]) -> set[tuple[int, str]]:
    """The variables that stand in residuals while a state lasts: of a choice by that state, only the branch that counts."""

    def branch(node: Expression) -> Expression | None:
        if isinstance(node, Operation) and node.operator.name == "where":
            about, states = _key(node.args[0])
            if about is key:
                return transform(node.args[1] if state in states else node.args[2], branch)
        return None

    return {_variable(n) for r in residuals for n in walk(transform(r, branch)) if isinstance(n, Reference)}


def _add(choices: dict[Expression, _Choice], traced: Traced, statement: During) -> None:
    condition = as_expression(statement.state)
    key, indices = _key(condition)
    if key not in choices:
        choices[key] = _new_choice(key, statement.location)
    for item in statement.equations:
        if not isinstance(item, Equation):
            raise ModelError(
                f"`ac.during` takes equations, got {item!r} of type {type(item).__name__}.",
                component=traced.kind.name,
                equation=statement.location.source,
                location=statement.location,
                remedy="State `left == right` between expressions, several separated by commas.",
            )
        lhs = item.lhs if isinstance(item.lhs, Reference) else None
        leaves: set[Expression] = {n for n in walk(item.residual) if isinstance(n, Reference)}
        row = _Row(item.residual, item.shape, str(item), item.location or statement.location, lhs, leaves)
        for index in indices:
            choices[key].rows[index].append(row)


def _key(condition: Expression) -> tuple[Expression, list[int]]:
    """What a condition is about, and for which values of it: a state variable's cell and the numbers of states, or a condition and
    whether it is meant to hold (0) or not (1)."""
    if isinstance(condition, Operation):
        name, args = condition.operator.name, condition.args
        if name == "eq":
            cell, number = args if isinstance(args[1], Constant) else args[::-1]
            if isinstance(cell, Reference) and isinstance(number, Constant) and getattr(cell.declaration, "type", "") == "states":
                return cell, [int(number.value)]
        if name == "not":
            key, indices = _key(args[0])
            return key, [k for k in range(_values(key)) if k not in indices]
        if name == "or":
            (key, indices), (other, more) = _key(args[0]), _key(args[1])
            if key is other:
                return key, sorted({*indices, *more})
    return condition, [0]


def _values(key: Expression) -> int:
    """How many values a state variable has; a condition has two."""
    states = getattr(key.declaration, "states", ()) if isinstance(key, Reference) else ()
    return len(states) or 2


def _new_choice(key: Expression, location: Location) -> _Choice:
    declaration: Any = key.declaration if isinstance(key, Reference) else None
    states: tuple[str, ...] = getattr(declaration, "states", ()) or ()
    if states:
        conditions = [apply("eq", key, float(k)) for k in range(len(states))]
        return _Choice(conditions, [f"{key} is {s}" for s in states], [[] for _ in states], location)
    return _Choice([key, ~key], [str(key), f"not {key}"], [[], []], location)


def _variable(node: Expression) -> tuple[int, str]:
    assert isinstance(node, Reference)
    return id(node.owner), node.name


def _joined(traced: Traced, choice: _Choice, elsewhere: list[set[tuple[int, str]]], freezer: Freezer) -> list[TracedEquation]:
    """One equation for each row, after resting variables have filled the states with fewer equations."""
    resting = [_absent(traced, choice, rows, read) for rows, read in zip(choice.rows, elsewhere, strict=True)]
    totals = [
        Counter(r.shape for r in rows) + Counter(v.shape for v in absent) for rows, absent in zip(choice.rows, resting, strict=True)
    ]
    most = Counter[Shape]()
    for total in totals:
        most |= total
    for k, total in enumerate(totals):
        if total != most:
            missing = most - Counter(r.shape for r in choice.rows[k])
            raise ModelError(_unbalanced(traced, choice, choice.rows[k], choice.names[k], resting[k], missing))
    differentiated = {_variable(n) for rows in choice.rows for r in rows for n in r.leaves if isinstance(n, Reference) and n.order}
    for rows, absent in zip(choice.rows, resting, strict=True):
        rows += [_rest(freezer, v, _variable(v) in differentiated) for v in absent]
    found = []
    for group in _paired(choice.rows):
        residual = group[-1].residual
        for condition, row in list(zip(choice.conditions, group, strict=True))[-2::-1]:
            residual = apply("where", condition, row.residual, residual)
        real = [r for r in group if r.location is not None] or group
        if residual.shape != group[0].shape:
            raise ModelError(
                f"A single equation depends on states of shape {residual.shape}: it would have to hold once for each of them.",
                component=traced.kind.name,
                equation=real[0].text,
                location=real[0].location,
                remedy="State an equation of that shape, or ask for one of the states: `ac.during(self.mode[0].on, …)`.",
            )
        text = " | ".join(dict.fromkeys(r.text for r in group))
        found.append(TracedEquation(residual, group[0].shape, text, real[0].location, branches=[r.residual for r in group]))
    return found


def _absent(traced: Traced, choice: _Choice, rows: list[_Row], elsewhere: set[tuple[int, str]]) -> list[Reference]:
    """The component's own variables that no equation of this state contains."""
    here = elsewhere | {_variable(n) for r in rows for n in r.leaves}
    absent: dict[tuple[int, str], Reference] = {}
    for node in (n for other in choice.rows for r in other for n in r.leaves):
        assert isinstance(node, Reference)
        if _variable(node) not in here and _is_own(traced, node):
            absent[_variable(node)] = Reference(node.root, node.owner, node.name, traced.kind.quantities[node.name].shape)
    return list(absent.values())


def _is_own(traced: Traced, node: Reference) -> bool:
    quantity = traced.kind.quantities.get(node.name) if node.owner is traced.kind.representative else None
    return quantity is not None and quantity.is_own_unknown and quantity.connector is None


def _rest(freezer: Freezer, variable: Reference, differentiated: bool) -> _Row:
    if differentiated:
        slope = Reference(variable.root, variable.owner, variable.name, variable.shape, variable.picked, 1)
        return _Row(slope - 0.0, variable.shape, f"{variable} rests", None, variable)
    start = variable.declaration.start
    held = freezer.auxiliary("held", Discrete(start if isinstance(start, (int, float)) else 0.0), variable.shape)
    freezer.rules.append(Rule("snapshot", variable, variable.shape, f"{variable} rests", None, held))
    return _Row(variable - held, variable.shape, f"{variable} rests", None, variable)


def _paired(rows: list[list[_Row]]) -> list[list[_Row]]:
    """Rows of the states side by side: those for the same variable first, then in the order in which they were written."""
    left = [list(r) for r in rows]
    groups: list[list[_Row]] = []
    for first in sorted(left[0], key=lambda r: r.defines is None):
        group = [first]
        for others in left[1:]:
            same = [r for r in others if r.shape == first.shape and r.defines is not None and r.defines is first.defines]
            group.append(same[0] if same else first)
        if all(g is not first for g in group[1:]):
            groups.append(group)
            for state, row in zip(left, group, strict=True):
                state.remove(row)
    while left[0]:
        first = left[0][0]
        group = [next(r for r in state if r.shape == first.shape) for state in left]
        groups.append(group)
        for state, row in zip(left, group, strict=True):
            state.remove(row)
    return groups


def _unbalanced(
    traced: Traced, choice: _Choice, rows: list[_Row], name: str, absent: list[Reference], missing: Counter[Shape]
) -> Diagnostic:
    counts = ", ".join(f"{n}: {len(r)}" for n, r in zip(choice.names, choice.rows, strict=True))
    wanted = sum(missing.values())
    others = [str(v) for v in absent]
    place = next((row.location for row in rows if row.location is not None), choice.location)
    return Diagnostic(
        f"Of {traced.kind.name}, the equations that hold while {name} do not match its variables: "
        f"{wanted} fewer than in another state, but {len(absent)} variables are not needed then.",
        component=traced.kind.name,
        equation=place.source,
        location=place,
        details=(f"equations: {counts}", f"not needed: {', '.join(others) if others else 'none'}"),
        remedy="A variable rests in a state if it stands in no equation that holds then. State an equation for each of the others, "
        "or move what always holds out of `ac.during`.",
    )
