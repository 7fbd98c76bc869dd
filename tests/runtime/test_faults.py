"""From a residual row without a value to the operation, the component and the line."""

from __future__ import annotations

import numpy as np
import pytest

import acausal as ac
from acausal.runtime.faults import explain_row


class Unit(ac.Component):
    k = ac.Parameter(2.0)
    x, y = ac.Variable(start=1.0, fixed=True), ac.Variable(start=1.0)

    def equations(self):
        yield ac.der(self.x) == -self.x
        yield self.y + ac.exp(self.y) == ac.sqrt(self.x) / (self.k - 1) + ac.log(self.x + 2)


class Row(ac.Component):
    def __init__(self):
        self.u = ac.array(Unit, 4)


@pytest.mark.parametrize(
    "place, value, complaint",
    [
        ("x", -1.0, "square root of a negative number"),
        ("x", -3.0, "no value"),
        ("y", 1e4, "overflow"),
        ("k", 1.0, "division by zero"),
    ],
)
def test_the_operation_and_the_instance_are_named(place, value, complaint):
    model = ac.compile(Row())
    problem, system = model.problem, model.system
    workspace = np.concatenate([np.ones(2 * system.size), problem.known])
    located = system.plant.locate(f"u[2].{place}")
    quantity = located.kind.quantities[located.name]
    number = quantity.base + int(located.flat)
    cell = 2 * system.size + number if quantity.role == "parameter" else int(system.aliases.index[number])
    workspace[cell] = value
    y, yp, known = np.split(workspace, [system.size, 2 * system.size])
    (row,) = np.flatnonzero(~np.isfinite(problem.residual(0.0, y, yp, known=known)))
    found = explain_row(system, int(row), workspace)
    assert complaint in found.what
    assert found.component == "u[2] (Unit)"
    assert "ac.sqrt(self.x)" in found.equation and found.location.file == __file__
    assert found.remedy and any("u[2].x" in d for d in found.details)
    assert ("ac.sqrt(ac.max(x, 0))" in found.remedy) == ("root" in complaint)


def test_a_row_that_has_a_value_is_described_all_the_same():
    model = ac.compile(Row())
    workspace = np.concatenate([np.ones(2 * model.system.size), model.problem.known])
    assert explain_row(model.system, 0, workspace).component.endswith("(Unit)")
