"""Hoisting: what parameters alone determine is computed when parameters change, not whenever an equation is evaluated.

`dx = self.L / N` inside `equations` is a division in every equation that uses it. Here each largest sub-expression of a residual
that contains nothing but parameters and numbers, and costs more than a sum or a product, becomes a *derived* cell: a known value
for each instance, which the equations read as they read a parameter. So it is no reason to fuse equations, and coefficients made
of it are constant coefficients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..language.expression import Call, Constant, Derived, Expression, Literal, Operation, Reference, transform, walk
from ..records import dataclass
from .evaluate import evaluate_arrays
from .fuse import is_costly
from .plant import Kind, Plant


@dataclass(slots=True, eq=False)
class DerivedCells:
    """`known[cells] = expression`, for all instances of a kind; no two of these read each other."""

    cells: np.ndarray  # (instances, elements)
    expression: Expression
    kind: Kind

    def evaluate(self, plant: Plant, known: np.ndarray) -> None:
        """Write the values that these parameters give; where there is none, nan or inf."""
        value = evaluate_arrays(self.expression, lambda node: self._leaf(plant, known, node), batch=1)
        known[self.cells] = np.broadcast_to(value, (self.kind.count, *self.expression.shape)).reshape(self.cells.shape)

    def instance_with(self, cell: int) -> int:
        """The instance to which a cell belongs; -1: it is none of these."""
        found = np.argwhere(self.cells == cell)
        return int(found[0, 0]) if len(found) else -1

    def parameters(self, plant: Plant, instance: int) -> list[int]:
        """The known cells that are read for an instance."""
        nodes = [n for n in walk(self.expression) if isinstance(n, Reference)]
        return [int(c) for node in nodes for c in np.ravel(plant.numbers(self.kind, node)[instance])]

    def reading(self, plant: Plant, cell: int) -> np.ndarray:
        """The derived cells of all instances that read a known cell."""
        reads = np.zeros(self.kind.count, dtype=bool)
        for node in walk(self.expression):
            if isinstance(node, Reference):
                reads |= (plant.numbers(self.kind, node) == cell).reshape(self.kind.count, -1).any(axis=1)
        return self.cells[reads].ravel()

    def leaf_of(self, plant: Plant, known: np.ndarray, instance: int) -> Callable[[Expression], np.ndarray]:
        """Values of the leaves for one instance."""
        return lambda node: self._leaf(plant, known, node)[instance]

    def _leaf(self, plant: Plant, known: np.ndarray, node: Expression) -> np.ndarray:
        assert isinstance(node, Reference)
        return known[plant.numbers(self.kind, node)]


def hoisted(residual: Expression) -> Expression:
    """The residual with a `Derived` leaf for each largest costly part that only parameters determine."""
    steady: dict[Expression, bool] = {}
    costly: dict[Expression, bool] = {}
    for node in walk(residual):
        steady[node] = _is_steady(node) and all(steady[a] for a in node.args)
        costly[node] = is_costly(node) or any(costly[a] for a in node.args)
    if not any(steady[n] and costly[n] for n in steady):
        return residual
    return transform(residual, lambda n: Derived(n) if steady[n] and costly[n] else None)


def _is_steady(node: Expression) -> bool:
    """Whether a node changes with its arguments only."""
    if isinstance(node, Reference):
        return bool(node.declaration.role == "parameter") and node.order == 0
    return isinstance(node, (Constant, Literal, Operation, Call))
