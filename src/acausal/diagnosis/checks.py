"""What may be wrong with a model that translates: each check gives warnings that name component and equation, and a next step.

A check that finds nothing says nothing. Thresholds are wide: a warning that is usually wrong is not read the second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Diagnostic
from ..families.plant import FIRST_PARAMETER
from ..families.unit_check import report as unit_report
from ..readable import count, listed
from ..runtime.problem import Floats, Problem
from ..runtime.singular import NEARLY, explain_point
from .solution import Solution

LARGE_NONLINEAR, LARGE_LINEAR = 10, 500  # unknowns of a loop that is worth a word
FAR, FAR_FROM_DEFAULT = 1e3, 1e4  # a value over its nominal value: declared, or 1 because nobody said anything
_MOST = 8
_MOST_BLOCKS = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """A warning, and what to do about it in one sentence."""

    warning: Diagnostic
    step: str


@dataclass(slots=True, eq=False)
class Start:
    """The model at its start: consistent values, or the start values themselves where none were found."""

    model: Any
    solution: Solution
    problem: Problem
    y: Floats
    yp: Floats
    found: bool
    report: Any = None  # of the initialisation


Check = Callable[[Start], Iterator[Finding]]


def counted_wrong(start: Start) -> Iterator[Finding]:
    """Classes whose own equations do not match their own unknowns, though the whole is balanced."""
    for complaint in start.solution.system.complaints[:_MOST_BLOCKS]:
        yield Finding(complaint, "Mend the component whose own count of equations is off; elsewhere it will not fit.")


def singular(start: Start) -> Iterator[Finding]:
    """A Jacobian that is singular, or nearly, at the start."""
    step = "Remove the singularity first: nothing else will work before that."
    for found in explain_point(start.problem, 0.0, start.y, start.yp, limit=NEARLY):
        yield Finding(found, step)


def states_without_start(start: Start) -> Iterator[Finding]:
    """States that begin at zero because nobody said anything."""
    conditions = getattr(start.report, "conditions", None)
    if conditions is None or start.problem.start_given is None:
        return
    silent = [int(u) for u in conditions.taken if not start.problem.start_given[u]]
    if not silent:
        return
    names = [_name(start, u) for u in silent[:_MOST]]
    equation = _equation_of(start, silent[0])
    yield Finding(
        Diagnostic(
            f"{count(len(silent), 'state')} without a start value begin{'s' if len(silent) == 1 else ''} at 0: "
            f"{listed(names, _MOST, len(silent))}.",
            component=equation.component,
            equation=equation.equation,
            location=equation.location,
            remedy=f"Give start values: `ac.Variable(start=…)`, or `{names[0].rpartition('.')[2]}=ac.start(…)` for one component.",
        ),
        "Give every state a start value.",
    )


def guesses_missing(start: Start) -> Iterator[Finding]:
    """Nonlinear blocks that are iterated from 0 because nobody gave a start value."""
    solution, system = start.solution, start.solution.system
    given = start.model._starts.starts(start.problem.known[: system.known_count]).given
    counted = 0
    for block in np.flatnonzero(solution.nonlinear_blocks):
        rows, unknowns = solution.form.block(int(block))
        original = unknowns[(unknowns < system.aliases.unknown_count) & solution.nonlinear_unknowns[unknowns]]
        silent = original[~given[original] & ~system.differential[original]]
        if not len(silent):
            continue
        counted += 1
        if counted > _MOST_BLOCKS:
            return
        equation = system.describe_equation(int(rows[0]))
        names = [solution.name(int(u)) for u in silent[:_MOST]]
        yield Finding(
            Diagnostic(
                f"A nonlinear block of {count(len(rows), 'equation')} is iterated from 0 for {listed(names, _MOST, len(silent))}, "
                f"which {'has' if len(silent) == 1 else 'have'} no start value.",
                component=equation.component,
                equation=equation.equation,
                location=equation.location,
                remedy="Give start values of the right size; a bound (min, max) keeps iterations where equations have a value.",
            ),
            "Give start values to unknowns in nonlinear blocks: they decide whether the initialisation succeeds.",
        )


def large_loops(start: Start) -> Iterator[Finding]:
    """Algebraic loops of a size at which guesses and structure begin to matter."""
    solution, system = start.solution, start.solution.system
    sizes, nonlinear = solution.form.sizes, solution.nonlinear_blocks
    large = np.flatnonzero((sizes >= LARGE_LINEAR) | (nonlinear & (sizes >= LARGE_NONLINEAR)))
    for block in large[np.argsort(-sizes[large], kind="stable")][:_MOST_BLOCKS]:
        rows, unknowns = solution.form.block(int(block))
        equation = system.describe_equation(int(rows[0]))
        names = [solution.determined_name(int(u)) for u in unknowns[:_MOST]]
        kind = "nonlinear" if nonlinear[block] else "linear"
        yield Finding(
            Diagnostic(
                f"{count(len(rows), 'equation')} form one {kind} algebraic loop: {listed(names, _MOST, len(rows))}.",
                component=equation.component,
                equation=equation.equation,
                location=equation.location,
                remedy="A small storage (a volume, a capacity) between its components, or an assumption that makes flow and "
                "pressure drop linear, takes a loop apart; otherwise give it good start values.",
            ),
            "Look at the large algebraic loop: it is the part of the model that is hardest to start.",
        )


def scaling(start: Start) -> Iterator[Finding]:
    """Nominal values far from what the unknowns are."""
    problem = start.problem
    size = np.abs(np.where(start.y == 0, problem.start, start.y))
    ratio = size / problem.nominal
    limit = np.where(_nominal_given(start), FAR, FAR_FROM_DEFAULT)
    small = np.flatnonzero((size > 1e-12 * problem.nominal) & (ratio < 1 / limit))
    large = np.flatnonzero(ratio > limit)
    step = "Declare `nominal` where it is far from 1: it scales tolerances and iterations."
    if len(small):
        yield Finding(_far(start, small, "smaller", "errors of their own size pass unnoticed"), step)
    if len(large):
        yield Finding(_far(start, large, "larger", "iterations and tolerances near zero are scaled for something smaller"), step)


def _far(start: Start, unknowns: np.ndarray, word: str, effect: str) -> Diagnostic:
    problem, are = start.problem, "is" if len(unknowns) == 1 else "are"
    value = np.where(start.y == 0, problem.start, start.y)
    shown = [f"{_name(start, int(u))} is {value[u]:.3g}, nominal {problem.nominal[u]:.3g}" for u in unknowns[:_MOST]]
    equation = _equation_of(start, int(unknowns[0]))
    return Diagnostic(
        f"{count(len(unknowns), 'unknown')} {are} far {word} than the nominal value, so {effect}.",
        component=equation.component,
        equation=equation.equation,
        location=equation.location,
        details=(*(f"  {line}" for line in shown), *((f"  … and {len(unknowns) - _MOST} more",) if len(unknowns) > _MOST else ())),
        remedy="Declare `nominal=…` with the size the variable usually has, in its class or by `ac.modify(nominal=…)`.",
    )


def _nominal_given(start: Start) -> np.ndarray:
    """Per unknown of the problem, whether somebody said what its nominal value is."""
    aliases, reader = start.solution.system.aliases, start.model._starts
    said = np.zeros(start.solution.system.size, dtype=bool)
    members = reader.living_members(reader.nominal.given)
    said[aliases.index[members]] = True
    return said[start.problem.lowered.kept]


def at_bounds(start: Start) -> Iterator[Finding]:
    """Parameters and start values that lie on their own bounds."""
    parameters, plant = start.model._parameters, start.solution.system.plant
    known = parameters.known({})
    here = (known == parameters.low.cells) | (known == parameters.high.cells)
    here[:FIRST_PARAMETER] = False
    here[plant.known_count :] = False
    here[plant.varying_cells()] = False
    cells = np.flatnonzero(here)
    if len(cells):
        shown = [f"{plant.name_of(int(c), 'known')} = {known[c]:g}" for c in cells[:_MOST]]
        lie = "lies" if len(cells) == 1 else "lie"
        yield Finding(
            Diagnostic(
                f"{count(len(cells), 'parameter')} {lie} on a bound: {listed(shown, _MOST, len(cells))}.",
                remedy="Check that this is meant: many equations lose a term, or divide by it, there.",
            ),
            "Check the parameters that lie on their bounds.",
        )
    problem = start.problem
    unknowns = np.flatnonzero((start.y <= problem.minimum) | (start.y >= problem.maximum))
    if len(unknowns):
        shown = [f"{_name(start, int(u))} = {start.y[u]:g}" for u in unknowns[:_MOST]]
        equation = _equation_of(start, int(unknowns[0]))
        yield Finding(
            Diagnostic(
                f"{count(len(unknowns), 'unknown')} start{'s' if len(unknowns) == 1 else ''} on a bound: "
                f"{listed(shown, _MOST, len(unknowns))}.",
                component=equation.component,
                equation=equation.equation,
                location=equation.location,
                remedy="Bounds hold for iterations at the start; begin inside them.",
            ),
            "Start inside the bounds.",
        )


def units_missing(start: Start) -> Iterator[Finding]:
    """Quantities without a unit: what is not declared cannot be checked."""
    system = start.solution.system
    lines = unit_report(system.traced, system.definitions)
    if lines:
        more = (f"  … and {len(lines) - _MOST} more",) if len(lines) > _MOST else ()
        yield Finding(
            Diagnostic(
                "Some quantities have no unit, so the equations that contain them are checked in part only.",
                details=(*(f"  {line}" for line in lines[:_MOST]), *more),
                remedy='Declare the unit: `unit="W/K"`; `unit="1"` for a plain number.',
            ),
            "Declare the missing units; every equation is then checked where it is stated.",
        )


CHECKS: tuple[Check, ...] = (
    singular,
    counted_wrong,
    states_without_start,
    guesses_missing,
    scaling,
    large_loops,
    at_bounds,
    units_missing,
)


def _name(start: Start, unknown: int) -> str:
    return start.solution.name(int(start.problem.lowered.kept[unknown]))


def _equation_of(start: Start, unknown: int) -> Diagnostic:
    """The equation that determines an unknown of the problem."""
    row = start.solution.determining_row(int(start.problem.lowered.kept[unknown]))
    return start.solution.system.describe_equation(row)
