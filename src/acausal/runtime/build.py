"""From a translated system to a problem that solvers can run: machine code, tables, pattern, numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..families.pattern import Pattern, jacobian_pattern
from ..families.plant import CONTINUATION
from ..families.starts import Starts
from ..families.system import System
from ..families.template import Family
from ..kernels import compile_kernels
from .faults import explain_row
from .problem import Kernel, Problem


def build(system: System, pattern: Pattern, known: np.ndarray, starts: Starts) -> Problem:
    """The problem of a square system. Kernels that exist already are not compiled again."""
    initial = jacobian_pattern(system.initial_families, system.initial_count, system.size)
    residuals, jacobians, code = kernels(system.families, pattern)
    first_residuals, first_jacobians, first_code = kernels(system.initial_families, initial)
    problem = Problem(
        size=system.size,
        known=known,
        time_index=2 * system.size,
        pattern=(pattern.indptr, pattern.indices),
        residual_kernels=residuals,
        jacobian_kernels=jacobians,
        differential=system.differential,
        start=starts.start,
        nominal=starts.nominal,
        minimum=starts.minimum,
        maximum=starts.maximum,
        fixed=starts.fixed,
        start_given=starts.given,
        name_of_unknown=system.name_of_unknown,
        describe_equation=system.describe_equation,
        explain_row=lambda row, workspace: explain_row(system, row, workspace),
        continuation_index=CONTINUATION,
        initial_size=system.initial_count,
        initial_pattern=(initial.indptr, initial.indices),
        initial_residual_kernels=first_residuals,
        initial_jacobian_kernels=first_jacobians,
        describe_initial_equation=lambda k: system.describe_equation(k, initial=True),
    )
    problem.pattern_parts = (pattern.by_value, pattern.by_slope)
    problem.initial_pattern_parts = (initial.by_value, initial.by_slope)
    problem.code = [*code, *first_code]  # keeps the machine code in memory
    return problem


def kernels(families: list[Family], pattern: Pattern) -> tuple[list[Kernel], list[Kernel], list[Any]]:
    """Residual and Jacobian kernels with their tables, and the objects that hold their code."""
    compiled = compile_kernels([(f.template, f.signs) for f in families])
    residuals, jacobians = [], []
    for family, kernel, positions in zip(families, compiled, pattern.positions, strict=True):
        functions = [a for f in family.template.functions for a in (f.address, f.data_address)]
        residuals.append(Kernel(kernel.residual_address, family.slots, family.rows, functions))
        if kernel.jacobian_address:
            jacobians.append(Kernel(kernel.jacobian_address, family.slots, positions, functions))
    return residuals, jacobians, compiled
