"""Which equations bend: why an iteration that started at one point did not converge by the time it had come to another.

Newton's method solves linear equations in one step, so what keeps it from converging are rows whose linearisation at the first
point says something else at the second than the row itself: |F(b) - F(a) - J(a)·(b - a)|, over the size of the row's terms. It
is evaluated on the system as it is stated, explicit variables included, so that it is the equation that bends that is named,
not the one that uses its result.
"""

from __future__ import annotations

import numpy as np

from ..families.evaluate import evaluate_arrays
from ..families.explicit import negative, unfolded
from ..families.system import System
from ..families.template import Family
from ..language.expression import Expression, Slot

Floats = np.ndarray


def bending(system: System, first: Floats, last: Floats) -> Floats:
    """For each row how far it is from linear between two workspaces: 0 is linear, about 1 means that nothing is left of it."""
    remainder, size = np.zeros(system.equation_count), np.zeros(system.equation_count)
    for family in system.families:
        a, b = _slots(family, first), _slots(family, last)
        for output, rows in enumerate(family.rows):
            residual = family.template.outputs[output]
            np.add.at(remainder, rows, _value(residual, b, family.count) - _value(residual, a, family.count))
        for output, slot, partial in family.template.jacobian:
            slope = _value(partial, a, family.count)
            np.add.at(remainder, family.rows[output], -slope * (b[slot] - a[slot]))
            np.add.at(size, family.rows[output], np.abs(slope) * np.maximum(np.abs(a[slot]), np.abs(b[slot])))
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.abs(remainder) / size
    return np.where(np.isfinite(share), share, 0.0)


def _slots(family: Family, workspace: Floats) -> Floats:
    """Values of a family's slots, (slot, row), signs applied."""
    found = np.empty(family.slots.shape)
    for k in range(len(family.slots)):
        value = workspace[unfolded(family, k)]
        found[k] = np.where(negative(family, k), -value, value)
    return found


def _value(expression: Expression, slots: Floats, count: int) -> Floats:
    def leaf(node: Expression) -> Floats:
        assert isinstance(node, Slot)
        return np.asarray(slots[node.number])

    with np.errstate(all="ignore"):
        return np.broadcast_to(evaluate_arrays(expression, leaf, batch=1), (count,))
