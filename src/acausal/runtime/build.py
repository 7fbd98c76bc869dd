"""From a translated system to a problem that solvers can run: machine code, tables, pattern, numbers."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Diagnostic
from ..families.bends import bends
from ..families.lowering import Lowered
from ..families.pattern import jacobian_pattern
from ..families.plant import CONTINUATION
from ..families.starts import Starts
from ..families.template import Family, Template
from ..kernels import compile_kernels
from ..language.expression import Constant, Expression, Operation, apply
from .problem import Bends, Computed, JacobianKernel, Kernel, Problem, Rules, Words

if TYPE_CHECKING:
    from ..families.hybrid import Part


def build(lowered: Lowered, known: np.ndarray, starts: Starts) -> Problem:
    """The problem of a square system. Kernels that exist already are not compiled again."""
    system, kept, pattern = lowered.system, lowered.kept, lowered.pattern
    initial_families = lowered.initial_families()
    initial = jacobian_pattern(initial_families, system.initial_count, lowered.size)
    both = [*lowered.families, *lowered.assignments]
    residuals, jacobians, code = kernels(both, pattern.positions)
    first_residuals, first_jacobians, first_code = kernels(initial_families, initial.positions)
    count = len(lowered.families)
    rules, rule_code = _rules(lowered)
    bent, bend_code = _bends(both, lowered.size)
    problem = Problem(
        size=lowered.size,
        known=np.append(known, np.zeros(lowered.computed)),
        time_index=2 * lowered.size,
        pattern=(pattern.indptr, pattern.indices),
        residual_kernels=residuals[:count],
        jacobian_kernels=jacobians,
        differential=system.differential.take(kept),
        start=starts.start.take(kept),
        nominal=starts.nominal.take(kept),
        minimum=starts.minimum.take(kept),
        maximum=starts.maximum.take(kept),
        fixed=starts.fixed.take(kept),
        start_given=starts.given.take(kept),
        start_level=starts.level.take(kept),
        start_voices=starts.voices.take(kept),
        words=LoweredWords(lowered),
        continuation_index=CONTINUATION,
        pattern_parts=(pattern.by_value, pattern.by_slope),
        initial_pattern_parts=(initial.by_value, initial.by_slope),
        initial_size=system.initial_count,
        initial_pattern=(initial.indptr, initial.indices),
        initial_residual_kernels=first_residuals,
        initial_jacobian_kernels=first_jacobians,
        computed=Computed(lowered.computed, tuple(residuals[count:]), lowered.products, lowered.cells),
        rules=rules,
        bends=bent,
    )
    problem.lowered = lowered
    problem.code = [*code, *first_code, *rule_code, *bend_code]  # keeps the machine code in memory
    return problem


class LoweredWords(Words):
    """What a system calls the unknowns and equations that are left of it."""

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered

    def unknown(self, number: int) -> str:
        return self.lowered.system.name_of_unknown(int(self.lowered.kept[number]))

    def equation(self, row: int) -> Diagnostic | None:
        return self.lowered.system.describe_equation(int(self.lowered.kept_rows[row]))

    def initial_equation(self, row: int) -> Diagnostic | None:
        return self.lowered.system.describe_equation(row, initial=True)

    def fault(self, row: int, workspace: np.ndarray) -> Diagnostic | None:
        from .faults import explain_row  # most runs have none

        return explain_row(self.lowered.system, self.lowered.original_row(row, workspace), self.lowered.expand(workspace))

    def initial_fault(self, row: int, workspace: np.ndarray) -> Diagnostic | None:
        from .faults import explain_row

        return explain_row(self.lowered.system, row, self.lowered.expand(workspace), initial=True)


def kernels(families: list[Family], positions: list[np.ndarray]) -> tuple[list[Kernel], list[JacobianKernel], list[Any]]:
    """Residual and Jacobian kernels with their tables, and the objects that hold their code."""
    compiled = compile_kernels([(f.template, f.access) for f in families], [f.count for f in families])
    residuals, jacobians = list[Kernel](), list[JacobianKernel]()
    for family, kernel, place in zip(families, compiled, positions, strict=True):
        functions = addresses(family)
        residuals.append(Kernel(kernel.residual_address, family.slots, family.rows, functions))
        if kernel.jacobian_address:
            by = [entry.slot for entry in family.template.entries]
            jacobians.append(JacobianKernel(kernel.jacobian_address, family.slots, place, functions, by))
    return residuals, jacobians, compiled


def _bends(families: list[Family], size: int) -> tuple[Bends, list[Any]]:
    """Where equations bend without an event, compiled; and what must live as long as that, code and functions."""
    found, count = bends(families, size)
    compiled = compile_kernels([(f.template, f.signs) for f in found], [f.count for f in found])
    pairs = zip(compiled, found, strict=True)
    bent = tuple(Kernel(code.residual_address, f.slots, f.rows, addresses(f)) for code, f in pairs)
    return Bends(bent, count), [*compiled, *found]


def _rules(lowered: Lowered) -> tuple[Rules | None, list[Any]]:
    """What the model says about events, compiled; nothing for a model without."""
    hybrid = lowered.system.hybrid
    if hybrid is None:
        return None, []
    families = {role: lowered.moved(part.families) for role, part in hybrid.parts.items()}
    families["size"] = [_sizes(f) for f in families["relation"]]
    every = [f for found in families.values() for f in found]
    compiled = compile_kernels([(f.template, f.signs) for f in every], [f.count for f in every])
    code = iter(compiled)
    kernels_of = {
        role: tuple(Kernel(next(code).residual_address, f.slots, f.rows, addresses(f)) for f in found)
        for role, found in families.items()
    }
    counts = {role: part.count for role, part in hybrid.parts.items()}
    counts["size"] = counts["relation"]
    cells = hybrid.parts["step"].targets
    return Rules(
        kernels_of,
        counts,
        cells,
        _watched(lowered, kernels_of, cells),
        hybrid.parts["relation"].bands,
        _written(hybrid.parts["relation"]),
    ), compiled


def _written(part: Part) -> np.ndarray:
    """Of relations the sign of the crossing function that goes with the value that is written for zero."""
    from .events.relations import senses  # a model without events does without it

    sense, strict = senses(part.blocks, part.count)
    return np.where(strict, -sense, sense)


def _sizes(family: Family) -> Family:
    """How large the terms are that a crossing function is made of; rounding of it is a part of that."""
    outputs = tuple(sum((apply("abs", t) for t in _terms(o)), start=Constant(0.0)) for o in family.template.outputs)
    return Family(Template.of(outputs), family.slots, family.signs, family.rows)


def _terms(expression: Expression) -> list[Expression]:
    """What stands between the outermost plus and minus signs."""
    if isinstance(expression, Operation) and expression.operator.name in ("add", "sub", "neg"):
        return [term for a in expression.args for term in _terms(a)]
    return [expression]


def _watched(lowered: Lowered, kernels_of: dict[str, tuple[Kernel, ...]], cells: np.ndarray) -> np.ndarray:
    """Which of the cells are read by equations, or by rules other than their own."""
    if not len(cells):
        return np.zeros(0, dtype=bool)
    tables = [f.slots for f in (*lowered.families, *lowered.assignments)]
    tables += [k.slots for role, found in kernels_of.items() if role != "step" for k in found]
    places = 2 * lowered.size + cells
    tops = [int(places.max(initial=0)), *(max(int(t.max()), int(~t.min())) for t in tables if t.size)]
    read = np.zeros(1 + max(tops), dtype=bool)
    for table in tables:
        read[np.where(table < 0, ~table, table)] = True
    return read[places]


def addresses(family: Family) -> list[int]:
    return family.template.addresses


def without_rules(problem: Problem) -> Problem:
    """The problem of a model that says nothing about events, in the form of one that does."""
    from ..families.hybrid import ROLES, Hybrid, Part

    none, mask = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
    parts = {role: Part([], [], none, none, none) for role in ROLES}
    bare = copy.copy(problem)
    roles = (*ROLES, "size")
    bare.rules = Rules(dict.fromkeys(roles, ()), dict.fromkeys(roles, 0), none, mask, none, np.zeros(0))
    bare.lowered = copy.copy(problem.lowered)
    bare.lowered.system = replace(problem.lowered.system, hybrid=Hybrid(parts, none, none))
    return bare
