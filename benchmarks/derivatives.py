"""Exact derivatives against differences: how far apart they are, for a component by itself and for a whole model.

Differences are those of two step sizes, extrapolated, so that their own error is far below what is looked for. An entry is
measured against the largest term of its row: differences cannot see more.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import acausal as ac
from acausal.analysis.outputs import Outputs
from acausal.analysis.partials import by_known, derivative_matrix
from acausal.families.assemble import assemble, read
from acausal.families.plant import FIRST_PARAMETER
from acausal.families.system import System
from acausal.program.program import _numbers
from acausal.runtime.build import kernels
from acausal.runtime.parameters import Parameters
from acausal.runtime.problem import Equations

_STEP = 1e-4
_ENOUGH = 1e-7  # an error that nobody looks at
_SIZES = {"K": 300.0, "Pa": 5e5, "J/kg": 3e5, "kg/s": 0.01}


Function = Callable[[np.ndarray], np.ndarray]


def differences(function: Function, x: np.ndarray, columns: np.ndarray, length: float = _STEP, side: int = 0) -> np.ndarray:
    """d(function)/dx by its columns, dense: central, or from one side only (`side` 1 or -1), extrapolated from two steps."""
    found = []
    here = function(x) if side or not len(columns) else np.zeros(0)
    for k in columns:
        step = length * max(abs(x[k]), 1e-2)

        def at(part: float, k: int = int(k), step: float = step) -> np.ndarray:
            moved = x.copy()
            moved[k] += part * step
            return function(moved)

        if side:
            found.append(side * (4 * at(0.5 * side) - at(float(side)) - 3 * here) / step)
        else:
            whole, half = ((at(part) - at(-part)) / (2 * part * step) for part in (1.0, 0.5))
            found.append((4 * half - whole) / 3)
    return np.array(found).T if found else np.zeros((len(here), 0))


def apart(exact: np.ndarray, function: Function, x: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> float:
    """The largest error of an entry, in units of its row's largest term; `rows` are the values themselves.

    Functions without events have corners, such as that of ``no_event(max(a, b))``: where one lies within a step, a shorter one
    shows the slope, and at the corner itself the derivative is that of one side. So an entry is wrong where no difference agrees.
    """
    size = np.maximum(np.abs(x[columns]), 1e-2)
    scale = np.maximum(np.abs(exact * size).max(axis=1, initial=0.0), np.abs(rows))[:, None]
    scale = np.where(scale > 0, scale, 1.0)

    def errors(some: np.ndarray, length: float, side: int) -> np.ndarray:
        with np.errstate(all="ignore"):
            slopes = differences(function, x, columns[some], length, side)
            return np.asarray(np.nan_to_num(np.abs(exact[:, some] - slopes) * size[some] / scale, nan=np.inf))

    error = errors(np.arange(len(columns)), _STEP, 0)
    for length, side in ((1e-6, 0), (1e-7, 0), (_STEP, 1), (_STEP, -1), (1e-6, 1), (1e-6, -1), (1e-8, 1), (1e-8, -1)):
        some = np.flatnonzero(error.max(axis=0, initial=0.0) > _ENOUGH)
        if len(some):
            error[:, some] = np.minimum(error[:, some], errors(some, length, side))
    return float(error.max(initial=0.0))


class Rig(ac.Component):
    """A component with something at each of its connectors that says nothing, so that its potentials and flows are free."""

    def __init__(self, part: ac.Component) -> None:
        self.part = part
        ports = {name: found for name, found in part._all_declared().items() if isinstance(found, ac.Connector)}
        self.ends = [type("End", (ac.Component,), {"port": copy.copy(port)})() for port in ports.values()]
        self.ports = tuple(ports)

    def connections(self) -> Any:
        for name, end in zip(self.ports, self.ends, strict=True):
            yield getattr(self.part, name), end.port


def of_component(component: Any, seed: int = 0) -> float:
    """How far the kernels' derivatives of a component's own equations are from differences, at a point beside its start values."""
    system = assemble(read(Rig(component)))
    known = Parameters(system, _numbers(system)).known({})
    random = np.random.default_rng(seed)
    around = _values(system, random)
    w = np.concatenate([around, random.uniform(0.5, 1.5, system.size), known])
    w[2 * system.size] = 0.37
    parameters = _read(system, len(w))
    parameters[: 2 * system.size + FIRST_PARAMETER] = False
    w[parameters] *= random.uniform(0.95, 1.05, int(parameters.sum()))  # a declared value may be just where a table has a corner
    values = _residuals(system)
    columns = np.flatnonzero(_read(system, len(w)))
    size = (system.equation_count, len(w))
    exact = derivative_matrix(system.families, w, size) + derivative_matrix([by_known(f) for f in system.families], w, size)
    return apart(exact.toarray()[:, columns], values, w, columns, values(w))


def _values(system: System, random: np.random.Generator) -> np.ndarray:
    """Temperatures where temperatures are, states of fluids where fluids are, and numbers of the size of one elsewhere."""
    units = [system.plant.quantity_at(int(k))[1].declaration.unit for k in system.aliases.label[: system.size]]
    return np.array([_SIZES.get(u, 1.0) for u in units]) * random.uniform(0.9, 1.1, system.size)


def _residuals(system: System) -> Callable[[np.ndarray], np.ndarray]:
    nowhere = [np.zeros((len(f.template.jacobian), f.count), np.int32) for f in system.families]
    residuals, _, code = kernels(system.families, nowhere)
    pattern = (np.zeros(system.size + 1, np.int32), np.zeros(0, np.int32))
    n, m = system.size, system.known_count
    equations = Equations(n, system.equation_count, m, 2 * n, pattern, residuals, [])
    return lambda w, _code=code: equations.residual(w[2 * n], w[:n], w[n : 2 * n], w[2 * n :])  # type: ignore[misc]


def _read(system: System, size: int) -> np.ndarray:
    """Cells that an equation reads, frozen relations and marks aside."""
    read = np.zeros(size, dtype=bool)
    for family in system.families:
        cells = np.where(family.slots < 0, ~family.slots, family.slots)
        read[cells.ravel()] = True
    first = 2 * system.size
    read[first + np.concatenate([system.plant.discrete_cells(), system.plant.partner_cells(), np.arange(1, 6)])] = False
    return read


def of_model(model: Any, at: Any = None, outputs: list[str] | None = None, most: int = 60) -> float:
    """How far F_y, F_yp, F_u, F_p (and G of some outputs) are from differences at a point; of large models some columns."""
    found = model.partials(at, outputs=outputs or [])
    point = found._point
    problem, n = point.problem, point.problem.size
    known = point.w[2 * n : len(point.w) - problem.lowered.computed]
    y, yp = point.w[:n], point.w[n : 2 * n]

    def residual(y: np.ndarray, yp: np.ndarray, known: np.ndarray) -> np.ndarray:
        return np.array(problem.residual(point.time, y, yp, known=np.append(known, np.zeros(problem.lowered.computed))))

    here = np.max([_terms(found.F_y, y), _terms(found.F_yp, yp), _terms(found.F_p, known[found._parameters])], axis=0)
    some = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int)) if n else np.zeros(0, int)
    worst = [0.0]
    for matrix, function, x in (
        (found.F_y, lambda v: residual(v, yp, known), y),
        (found.F_yp, lambda v: residual(y, v, known), yp),
    ):
        worst.append(apart(matrix.values[:, some].toarray(), function, x, some, here))
    for matrix, cells in ((found.F_u, found._inputs), (found.F_p, found._parameters)):
        for k in np.unique(np.linspace(0, len(cells) - 1, min(len(cells), most)).astype(int)) if len(cells) else ():
            cell = int(cells[k])
            moved = _moved(model, known, cell, lambda v: residual(y, yp, v))
            worst.append(apart(matrix.values[:, [k]].toarray(), moved, known[[cell]], np.zeros(1, int), here))
    if outputs:
        worst.append(_of_outputs(found, outputs, some))
    return max(worst)


def _of_outputs(found: Any, outputs: list[str], some: np.ndarray) -> float:
    """G_y and G_yp, each output in units of its own size."""
    point, n = found._point, found._point.problem.size

    def value(x: np.ndarray) -> np.ndarray:
        known = point.w[2 * n :]
        return Outputs(replace(point, w=point.problem.equations.workspace(point.time, x[:n], x[n:], known)), outputs).value

    x, columns = point.w[: 2 * n], np.concatenate([some, n + some])
    exact = np.hstack([np.asarray(found.G_y), np.asarray(found.G_yp)])[:, columns]
    return apart(exact, value, x, columns, value(x))


def _terms(matrix: Any, x: np.ndarray) -> np.ndarray:
    """The largest term of each row."""
    entries = abs(matrix.values).multiply(np.maximum(np.abs(x), 1e-2)[None, :]).tocsr()
    return np.asarray(entries.max(axis=1).toarray()).ravel() if len(x) else np.zeros(matrix.shape[0])


def _moved(model: Any, known: np.ndarray, cell: int, function: Function) -> Function:
    """The function of one known cell, everything that is bound to it moved along."""
    values = model._parameters.values
    held = np.ones(len(known), dtype=bool)
    bound = [b.cells for b in values.bindings]
    for cells in bound:
        held[cells] = False
    held[cell] = True

    def at(x: np.ndarray) -> np.ndarray:
        whole = known.copy()
        whole[cell] = x[0]
        if bound:
            model._parameters.attributes.evaluate(values.bindings, whole, whole, held=held)
        for derived in model.system.derived:
            derived.evaluate(model.system.plant, whole)
        return function(whole)

    return at
