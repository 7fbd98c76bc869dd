"""One quantity explained: where it was declared, what became of it, which equation determines it, with what it is solved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ..errors import Diagnostic, Location, ModelError
from ..families.path import Located
from ..families.plant import DERIVATIVES, TIME, ZERO, Kind, Quantity, element_name, joined
from ..language.declarations import Constant
from ..language.expression import Expression, Reference, Time, walk
from ..program.cells import meaning_of
from ..readable import Readable, Section, count, listed
from .solution import Solution

_MOST = 8


class Role(Enum):
    """What became of a quantity; the value is the sentence's end."""

    STATE = "a state: its derivative is solved for, and the solver integrates it"
    COMPUTED = "computed: it is assigned from others before the equations are evaluated, and no solver sees it"
    LOOP = "an unknown of an algebraic loop: it is solved for together with others"
    UNKNOWN = "an algebraic unknown: one equation determines it"
    DUMMY = "a dummy derivative: index reduction made it an algebraic unknown of its own"
    DERIVATIVE = "the derivative of a state"
    ELIMINATED = "eliminated: its definition stands wherever it was used, and it is computed when you look at it"
    EXPRESSION = "a named expression: it is computed when you look at it"
    PARAMETER = "a parameter"
    CONSTANT = "a constant"
    DISCRETE = "a discrete variable: it is constant between events"
    INPUT = "an input given from outside"
    KNOWN = "known: it is equal to something that is given"


@dataclass(frozen=True, slots=True)
class Block:
    """Equations that are solved together, and what they are solved for."""

    size: int
    nonlinear: bool
    unknowns: tuple[str, ...]
    equations: tuple[Diagnostic, ...]


@dataclass(slots=True)
class Explanation(Readable):
    """What `model.explain` gives: fields for programs, `print` for people."""

    name: str
    role: Role
    alias_of: str = ""  # with its sign, when another name stands for the same unknown
    declared_in: str = ""
    declared_at: Location | None = None
    unit: str = ""
    doc: str = ""
    attributes: tuple[tuple[str, str], ...] = ()  # start, fixed, min, max, nominal; or value
    aliases: tuple[str, ...] = ()  # other names of the same unknown, a minus sign where they are opposed
    alias_count: int = 0
    equation: Diagnostic | None = None
    block: Block | None = None
    conditions: tuple[str, ...] = ()  # of a discrete variable: what switches it
    depends_on: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    influences: tuple[str, ...] = ()
    note: str = ""

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.name}{f' [{self.unit}]' if self.unit else ''}{f'  {self.doc}' if self.doc else ''}"

    def sections(self) -> Iterator[Section]:
        yield Section("", [*self._what(), *self._how()])

    def _what(self) -> Iterator[tuple[str, str]]:
        if self.note:
            yield "note", self.note
        same = f"equal to {self.alias_of}, which is " if self.alias_of and self.role is not Role.KNOWN else ""
        yield "is", (f"equal to {self.alias_of}" if self.role is Role.KNOWN else f"{same}{self.role.value}")
        if self.declared_in:
            yield "declared", f"in {self.declared_in}"
        if self.declared_at:
            yield "", f"  {'at':<14}{self.declared_at}"
        if self.attributes:
            yield "attributes", ", ".join(f"{name} {value}" for name, value in self.attributes)
        if self.aliases:
            yield "aliases", listed(self.aliases, _MOST, self.alias_count)

    def _how(self) -> Iterator[tuple[str, str]]:
        if self.equation is not None:
            yield "determined by", self.equation.equation
            yield "of", self.equation.component
            if self.equation.location:
                yield "", f"  {'at':<14}{self.equation.location}"
        if self.conditions:
            yield "switched by", "; ".join(self.conditions[:_MOST])
        if self.block is not None:
            yield "solved", _together(self.block)
        if self.depends_on:
            yield "depends on", listed(self.depends_on, _MOST)
        if self.parameters:
            yield "parameters", listed(self.parameters, _MOST)
        if self.influences:
            yield "influences", listed(self.influences, _MOST)


def _together(block: Block) -> str:
    if block.size == 1:
        return "alone, by iteration" if block.nonlinear else "alone"
    kind = "a nonlinear" if block.nonlinear else "a linear"
    return f"in {kind} block of {block.size} with {listed(block.unknowns, _MOST, block.size - 1)}"


def explain(model: Any, path: str) -> Explanation:
    """`model.explain(path)`: a path as in results, an element of an array, or `der(…)`."""
    return _Explainer(model).explained(path)


class _Explainer:
    def __init__(self, model: Any) -> None:
        self.model, self.solution = model, Solution(model)
        self.system = self.solution.system
        self.plant, self.aliases = self.system.plant, self.system.aliases

    def explained(self, path: str) -> Explanation:
        located = self.plant.locate(path)
        if located.flat is None:
            return self._expression(located)
        flat = int(np.ravel(located.flat)[0])
        quantity = located.kind.quantities[located.name]
        found = self._quantity(located.kind, quantity, flat, located.order)
        if np.size(located.flat) > 1:
            found.note = f"`{path}` stands for {count(int(np.size(located.flat)), 'element')}; this is the first."
        self._declared(found, located.kind, quantity, flat // quantity.size, located.order)
        return found

    # --- what it is -------------------------------------------------------------------------------------------------------
    def _quantity(self, kind: Kind, quantity: Quantity, flat: int, order: int) -> Explanation:
        instance, element = divmod(flat, quantity.size)
        name = joined(self.plant.path_of(kind, instance), element_name(quantity.name, element, quantity.shape))
        if quantity.role == "parameter":
            role = Role.CONSTANT if isinstance(quantity.declaration, Constant) else Role.PARAMETER
            return self._known(Explanation(name, role), quantity.base + flat, None)
        if quantity.role == "discrete":
            return self._discrete(Explanation(name, Role.DISCRETE), quantity.base + flat)
        definition = self.system.definitions.get((kind.index, quantity.name))
        number = quantity.base + flat
        if definition is not None and not self.aliases.known[number]:
            where = Diagnostic("", f"{joined(self.plant.path_of(kind, instance), '').rstrip('.') or 'the model'} ({kind.name})",
                               definition.equation.text, definition.equation.location)  # fmt: skip
            found = Explanation(name, Role.ELIMINATED, equation=where)
            found.depends_on, found.parameters = self._leaves(kind, definition.expression, instance)
            return found
        if self.aliases.known[number]:
            return self._known(Explanation(name, Role.KNOWN), int(self.aliases.index[number]), number)
        return self._unknown(name, number, order)

    def _discrete(self, found: Explanation, cell: int) -> Explanation:
        """A discrete variable: the statement that assigns it, what that reads, and which equations read it."""
        self._known(found, cell, None)
        hybrid = self.system.hybrid
        for role in ("update", "step") if hybrid is not None else ():
            assert hybrid is not None
            rows = np.flatnonzero(hybrid.parts[role].targets == cell)
            if len(rows):
                row = int(rows[0])
                block = hybrid.parts[role].block(row)
                found.equation = self.system.describe_rule(role, row)
                instance = (row - block.start) // max(int(np.prod(block.rule.shape)), 1)
                found.conditions = self._conditions(block.kind, block.rule.residual, instance)
                found.depends_on, found.parameters = self._leaves(block.kind, block.rule.residual, instance)
        return found

    def _relations(self, kind: Kind, node: Reference, instance: int) -> Iterator[int]:
        """The relations whose truth a reference to a cell of the translation's own stands for."""
        assert self.system.hybrid is not None
        for cell in np.ravel(self.plant.numbers(kind, node)[instance])[:50]:
            yield from np.flatnonzero(self.system.hybrid.parts["relation"].targets == cell)[:1].tolist()

    def _conditions(self, kind: Kind, expression: Expression, instance: int) -> tuple[str, ...]:
        nodes = [n for n in walk(expression) if isinstance(n, Reference) and _is_hidden(n)]
        rows = [row for node in nodes for row in self._relations(kind, node, instance)]
        return tuple(dict.fromkeys(self.system.describe_rule("relation", row).equation for row in rows))

    def _known(self, found: Explanation, cell: int, number: int | None) -> Explanation:
        """A parameter, an input, or a variable that is equal to one."""
        value = float(self.model._parameters.known({})[cell])
        if number is not None:
            source = "0" if cell == ZERO else self.solution.known_name(cell) or f"{value:g}"
            found.alias_of = ("-" if self.aliases.sign[number] < 0 and cell != ZERO else "") + source
            if source == found.name:
                found.role, found.alias_of = Role.INPUT, ""
        if cell != ZERO and (number is None or found.role is Role.INPUT):
            members = np.flatnonzero(self.aliases.known & (self.aliases.index == cell))
            self._set_aliases(found, members[members != (-1 if number is None else number)], 1)
        if cell not in (ZERO, TIME):
            found.attributes = (("value", f"{value:g}"),)
            found.influences = self._influenced(cell, found.role)
        return found

    def _influenced(self, cell: int, role: Role) -> tuple[str, ...]:
        """Parameters that follow this one, and what the equations with any of them determine."""
        following = self._following(cell) if role is Role.PARAMETER else np.zeros(0, dtype=np.int64)
        names = [self.solution.known_name(int(c)) for c in following]
        rows = [self.solution.rows_with_cell(int(c)) for c in (cell, *following[:50])]
        return (*(n for n in names if n), *self._determined(np.unique(np.concatenate(rows))))

    def _following(self, cell: int) -> np.ndarray:
        """Cells that change when this one does."""
        path, parameters = self.plant.name_of(cell, "known"), self.model._parameters
        before = parameters.known({})
        for value in (before[cell] * 1.001 + 1e-9, before[cell] * 0.999 - 1e-9):
            with suppress(ModelError):  # outside its bounds, or those of another one
                changed = np.flatnonzero(parameters.known({path: value}) != before)
                return changed[changed != cell]
        return np.zeros(0, dtype=np.int64)

    def _unknown(self, name: str, number: int, order: int) -> Explanation:
        unknown, sign = int(self.aliases.index[number]), int(self.aliases.sign[number])
        found = Explanation(f"der({name})" if order else name, Role.UNKNOWN)
        lead = self.solution.name(unknown, bool(order))
        if lead != found.name:
            found.alias_of = ("-" if sign < 0 else "") + lead
        if not order:
            members = self.solution.members(unknown)
            self._set_aliases(found, members[members != number], sign)
        elif self.solution.derivative_of(unknown) >= 0:
            unknown, order = self.solution.derivative_of(unknown), 0
        self._solved(found, unknown, order)
        return found

    def _set_aliases(self, found: Explanation, members: np.ndarray, sign: int) -> None:
        names = [("-" if self.aliases.sign[m] * sign < 0 else "") + self.plant.name_of(int(m)) for m in members[:50]]
        found.aliases, found.alias_count = tuple(names), len(members)

    # --- how it is solved -------------------------------------------------------------------------------------------------
    def _solved(self, found: Explanation, unknown: int, order: int) -> None:
        solution = self.solution
        row = solution.determining_row(unknown)
        target = int(solution.unknown_of[row])
        found.equation = self.system.describe_equation(row)
        equations, unknowns = solution.form.block(int(solution.block_of[row]))
        others = tuple(solution.determined_name(int(u)) for u in unknowns[:50] if u != target)
        nonlinear = bool(solution.nonlinear_blocks[solution.block_of[row]])
        found.block = Block(len(equations), nonlinear, others, tuple(self.system.describe_equation(int(r)) for r in equations[:50]))
        found.role = self._role(unknown, order, len(equations))
        self._needs(found, row, target)
        slope = bool(order and self.system.differential[unknown])
        rows = solution.rows_with(unknown, slope)
        if found.role is not Role.STATE:
            rows = rows[rows != row]
        found.influences = tuple(n for n in self._determined(rows) if n != found.name)

    def _needs(self, found: Explanation, row: int, target: int) -> None:
        """What else stands in the row."""
        solution, contents = self.solution, self.solution.contents(row)
        values = [solution.name(u) for u in contents.values if u != target or self.system.differential[u]]
        slopes = [solution.name(u, True) for u in contents.slopes if u != target]
        names = {c: solution.known_name(c) for c in contents.known if solution.known_name(c)}
        inputs = {TIME, *(c for order in range(1 + DERIVATIVES) for c in self.plant.input_cells(order).tolist())}
        found.depends_on = (*values, *slopes, *(n for c, n in names.items() if c in inputs))
        found.parameters = tuple(n for c, n in names.items() if c not in inputs)

    def _role(self, unknown: int, order: int, size: int) -> Role:
        if self.system.differential[unknown]:
            return Role.DERIVATIVE if order else Role.STATE
        below = self._below(unknown)
        if below >= 0:
            return Role.DERIVATIVE if self.system.differential[below] else Role.DUMMY
        if self.solution.explicit[unknown]:
            return Role.COMPUTED
        return Role.LOOP if size > 1 else Role.UNKNOWN

    def _below(self, unknown: int) -> int:
        """What an unknown is the derivative of, -1 if of nothing."""
        if self.system.derivatives is None:
            return -1
        pairs = self.system.derivatives.candidates()
        below = pairs[pairs[:, 1] == unknown, 0]
        return int(below[0]) if len(below) else -1

    def _determined(self, rows: np.ndarray) -> tuple[str, ...]:
        """What the rows are solved for."""
        unknowns = self.solution.unknown_of[rows[:100]]
        return tuple(dict.fromkeys(self.solution.determined_name(int(u)) for u in unknowns if u >= 0))

    # --- expressions ------------------------------------------------------------------------------------------------------
    def _expression(self, located: Located) -> Explanation:
        kind, instance = located.kind, int(np.ravel(located.instances)[0])
        expression: Expression = kind.named[located.name]
        path = self.plant.path_of(kind, instance)
        found = Explanation(joined(path, located.name), Role.EXPRESSION)
        found.unit, found.doc = kind.units_of_named.get(located.name, ("", ""))
        found.equation = Diagnostic(
            "",
            component=f"{path or 'the model'} ({kind.name})",
            equation=f"{located.name}{'' if kind.closed else f' = {expression}'}",
        )
        found.declared_in = kind.name
        found.depends_on, found.parameters = self._leaves(kind, expression, instance)
        return found

    def _leaves(self, kind: Kind, expression: Expression, instance: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Variables and parameters in an expression of an instance."""
        variables, parameters = dict[str, None](), dict[str, None]()
        for node in walk(expression):
            if isinstance(node, Time):
                variables["time"] = None
            if not isinstance(node, Reference):
                continue
            quantity = node.owner.kind.quantities[node.name]
            if _is_hidden(node):
                for row in self._relations(kind, node, instance):
                    block = self.system.hybrid.parts["relation"].block(row)  # type: ignore[union-attr]
                    inner = (row - block.start) // max(int(np.prod(block.rule.shape)), 1)
                    names, given = self._leaves(block.kind, block.rule.residual, inner)
                    variables |= dict.fromkeys(names)
                    parameters |= dict.fromkeys(given)
            if quantity.declaration.auxiliary and quantity.role in ("discrete", "parameter"):
                continue
            for number in np.ravel(self.plant.numbers(kind, node)[instance])[:50]:
                name = self.plant.name_of(int(number), "known" if quantity.declaration.is_known else "variable")
                (parameters if quantity.role == "parameter" else variables)[f"der({name})" if node.order > 0 else name] = None
        return tuple(variables), tuple(parameters)

    # --- declaration ------------------------------------------------------------------------------------------------------
    def _declared(self, found: Explanation, kind: Kind, quantity: Quantity, instance: int, order: int) -> None:
        member = kind.member_of(instance)
        declaration = member._declaration(quantity.name)
        changed: dict[str, Any] = member.modifications.get(quantity.name) or {}
        unit = changed.get("unit", declaration.unit) or ""
        found.unit = self.plant.rate(unit, order)
        found.doc = changed.get("doc", declaration.doc) or ""
        found.declared_in, found.declared_at = declaration.declared_in, declaration.location
        if quantity.connector is not None:
            found.declared_in = f"{declaration.declared_in}, a connector of {quantity.connector.declared_in}"
        states = meaning_of(declaration).states
        if states and not order:
            now = next((value for name, value in found.attributes if name == "value"), "")
            found.attributes = (("states", ", ".join(states)), *((("initially", states[int(float(now))]),) if now else ()))
            return
        given = {a: changed.get(a, getattr(declaration, a, None)) for a in ("start", "fixed", "min", "max", "nominal")}
        said = [(a, _text(v)) for a, v in given.items() if v is not None and v is not False]
        found.attributes = (*found.attributes, *said) if not order else ()


def _is_hidden(node: Reference) -> bool:
    """Whether a reference is to a discrete cell that the translation added: the truth of a relation, say."""
    quantity = node.owner.kind.quantities[node.name]
    return bool(quantity.declaration.auxiliary) and quantity.role == "discrete"


def _text(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:g}"
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"
